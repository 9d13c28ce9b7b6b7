#include "delivery/probe/probe.h"

#include <gtest/gtest.h>

#include "delivery/probe/paper_test.h"

namespace slipway::delivery::probe {
namespace {

using namespace std::chrono_literals;
using gate::Sample;
using gate::Verdict;
using json::Value;

std::string vector_of(std::string_view number) {
  return fmt::format(R"({{"status":"success","data":{{"resultType":"vector","result":[{{"metric":{{}},"value":[1,"{}"]}}]}}}})",
                     number);
}

class MetricProbeTest : public testing::Test {
 protected:
  MetricProbeTest() {
    question.gate.name = "success-rate";
    question.gate.metric = gate::MetricGate{.address = "http://prometheus.test:9090/base/",
                                            .query = "rate(x{app=\"{{ target }}\"}[{{interval}}])",
                                            .min = Value(99)};
    question.key = "uid-1/2/3/after/success-rate";
    question.name = "web";
    question.ns = "shop";
    question.variables = {{"target", "web-v2"}};
    question.since = env.clock().now();
  }
  ~MetricProbeTest() override { env.drop_all(); }
  /// Asks, and keeps the samples as a caller does.
  Answer asked() {
    Answer answer = env.run(ask({.env = env, .client = hub, .http = &web}, question));
    question.samples = answer.samples;
    ++question.tries;
    return answer;
  }

  ManualEnv env;
  PaperCluster hub;
  PaperWeb web;
  Question question;
};

TEST_F(MetricProbeTest, one_good_number_passes) {
  web.replies = {{200, vector_of("99.5")}};
  const Answer answer = asked();
  EXPECT_EQ(answer.verdict.kind, Verdict::Kind::Pass) << answer.verdict.text;
  EXPECT_FALSE(answer.ask_again);
  ASSERT_EQ(web.calls.size(), 1U);
  EXPECT_EQ(web.calls[0].url,
            "http://prometheus.test:9090/base/api/v1/query?query=rate%28x%7Bapp%3D%22web-v2%22%7D%5B60s%5D%29");
  EXPECT_EQ(asked().verdict, answer.verdict) << "what is decided is not asked again";
  EXPECT_EQ(web.calls.size(), 1U);
}

TEST_F(MetricProbeTest, a_bad_number_fails_and_says_why) {
  web.replies = {{200, vector_of("93.1")}};
  const Answer answer = asked();
  EXPECT_EQ(answer.verdict.kind, Verdict::Kind::Fail);
  EXPECT_EQ(answer.verdict.text, "1 of 1 samples failed: 93.1 is not at least 99");
}

TEST_F(MetricProbeTest, samples_are_an_interval_apart) {
  question.gate.metric->count = 3;
  question.gate.metric->initial_delay = 30s;
  web.replies = {{200, vector_of("100")}};
  EXPECT_EQ(asked().ask_again, 30s);
  EXPECT_TRUE(web.calls.empty());
  env.advance(30s);
  Answer answer = asked();
  EXPECT_EQ(answer.verdict, (Verdict{Verdict::Kind::Wait, "1 of 3 samples, 0 failed", ""}));
  EXPECT_EQ(answer.ask_again, 60s);
  env.advance(10s);
  EXPECT_EQ(asked().ask_again, 50s) << "asked too early, it only says when";
  EXPECT_EQ(web.calls.size(), 1U);
  env.advance(50s);
  asked();
  env.advance(60s);
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Pass);
  EXPECT_EQ(web.calls.size(), 3U);
}

TEST_F(MetricProbeTest, errors_are_retried_soon_and_fail_in_the_end) {
  web.replies = {{0, ""}, {500, "oops"}, {200, "no json"}, {200, R"({"status":"error","error":"bad query"})"}, {403, ""}};
  const std::string texts[] = {"connection refused", "500 Internal Server Error: oops", "json: ", "bad query", "403 Forbidden"};
  for (const std::string& text : texts) {
    const Answer answer = asked();
    EXPECT_TRUE(answer.verdict.text.contains(text)) << answer.verdict.text;
    const bool is_last = text == texts[4];
    EXPECT_EQ(answer.verdict.kind, is_last ? Verdict::Kind::Fail : Verdict::Kind::Unknown);
    if (!is_last) EXPECT_EQ(answer.ask_again, 10s);
    env.advance(10s);
  }
}

TEST_F(MetricProbeTest, no_data_is_waited_for) {
  web.replies = {{200, R"({"status":"success","data":{"resultType":"vector","result":[]}})"},
                 {200, vector_of("NaN")},
                 {200, vector_of("100")}};
  EXPECT_EQ(asked().verdict, (Verdict{Verdict::Kind::NoData, "there is no data", ""}));
  env.advance(10s);
  EXPECT_EQ(asked().verdict, (Verdict{Verdict::Kind::NoData, "there is no data: NaN", ""}));
  env.advance(10s);
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Pass);
}

TEST_F(MetricProbeTest, throughout_never_passes_but_fails) {
  question.gate.at = "throughout";
  web.replies = {{200, vector_of("100")}, {200, vector_of("100")}, {200, vector_of("5")}};
  for (int i = 0; i < 2; ++i) {
    const Answer answer = asked();
    EXPECT_EQ(answer.verdict.kind, Verdict::Kind::Wait) << answer.verdict.text;
    EXPECT_EQ(answer.ask_again, 60s);
    env.advance(60s);
  }
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Fail);
}

TEST_F(MetricProbeTest, cel_compares_with_the_old_version) {
  question.gate.metric->min.reset();
  question.gate.metric->cel = "baseline - result < 0.5";
  question.gate.metric->baseline_query = "rate(x{app=\"{{ target }}\"}[1m])";
  question.baseline_variables = {{"target", "web-v1"}};
  web.replies = {{200, vector_of("99")}, {200, vector_of("100")}};
  EXPECT_EQ(asked().verdict.text, "1 of 1 samples failed: 99 does not meet baseline - result < 0.5");
  ASSERT_EQ(web.calls.size(), 2U);
  EXPECT_TRUE(web.calls[1].url.contains("web-v1"));
}

TEST_F(MetricProbeTest, credentials_come_from_the_secret) {
  question.gate.metric->secret_ref = json::object({{"name", "prom"}});
  web.replies = {{200, vector_of("100")}};
  EXPECT_EQ(asked().verdict.text, "Secret shop/prom: secrets/shop/prom not found");
  hub.objects["secrets/shop/prom"] =
      json::object({{"data", json::object({{"username", base64_encode("ann")}, {"password", base64_encode("pw")}})}});
  env.advance(10s);
  asked();
  EXPECT_EQ(web.calls.at(0).headers.get("Authorization"), "Basic " + base64_encode("ann:pw"));
}

TEST_F(MetricProbeTest, queries_reach_no_further_back_than_the_batch) {
  question.data_since = env.clock().now();
  env.advance(20s);
  asked();
  EXPECT_TRUE(web.calls.at(0).url.contains("%5B20s%5D")) << web.calls.at(0).url;
}

TEST_F(MetricProbeTest, a_template_of_flagger_stands_in_for_provider_and_query) {
  hub.objects["metrictemplates/mesh/latency"] = json::parse_yaml(R"(
spec:
  provider: {type: prometheus, address: 'http://mesh.test', secretRef: {name: auth}, headers: {X-Scope: [a, b]}}
  query: |
    histogram_quantile(0.99, sum(rate(d{ns="{{ namespace }}",
      app="{{ target }}", zone="{{ variables.zone }}"}[{{ interval }}])))
)")
                                                    .value();
  hub.objects["secrets/mesh/auth"] = json::object({{"stringData", json::object({{"token", "T"}})}});
  question.gate.metric =
      gate::MetricGate{.template_ref = json::object({{"name", "latency"}, {"namespace", "mesh"}}), .max = Value(500)};
  question.variables["zone"] = "eu";
  web.replies = {
      {200, R"({"status":"success","data":{"resultType":"vector","result":[{"value":[1,"900"]},{"value":[1,"400"]}]}})"}};
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Pass) << "of several series the last counts";
  const HttpCall& call = web.calls.at(0);
  EXPECT_TRUE(call.url.starts_with("http://mesh.test/api/v1/query?query=histogram_quantile%280.99%2C%20sum")) << call.url;
  EXPECT_TRUE(call.url.contains("shop%22%2C%20app%3D%22web-v2%22%2C%20zone%3D%22eu%22")) << call.url;
  EXPECT_EQ(call.headers.get("Authorization"), "Bearer T");
  EXPECT_EQ(call.headers.all("X-Scope").size(), 2U);
}

TEST_F(MetricProbeTest, a_template_of_another_namespace_is_asked_as_it_says_and_not_as_the_gate_does) {
  hub.objects["metrictemplates/mesh/latency"] = json::parse_yaml(R"(
spec: {provider: {type: prometheus, address: 'http://prom.mesh:9090', secretRef: {name: p}}, query: 'latency'})")
                                                    .value();
  hub.objects["secrets/mesh/p"] =
      json::object({{"data", json::object({{"clientId", base64_encode("id")}, {"clientSecret", base64_encode("S3CRET")}})}});
  web.replies = {{200, R"({"status":"success","data":{"resultType":"vector","result":[{"value":[1700000000,"400"]}]}})"}};
  const Value settings =
      json::parse_yaml("{authentication: {oauth2: {tokenUrl: 'http://attacker.test/token'}}, headers: {X-A: b}}").value();
  question.gate.metric = gate::MetricGate{.settings = settings,
                                          .template_ref = json::object({{"name", "latency"}, {"namespace", "mesh"}}),
                                          .max = Value(500),
                                          .baseline_query = "anything"};
  EXPECT_EQ(asked().verdict.kind, gate::Verdict::Kind::Pass);
  ASSERT_EQ(web.calls.size(), 1U) << "no token is fetched, and no other query is made";
  EXPECT_TRUE(web.calls[0].url.starts_with("http://prom.mesh:9090/"));
  EXPECT_EQ(web.calls[0].headers.get("X-A"), "");
}

TEST_F(MetricProbeTest, a_right_that_is_missing_is_waited_for_and_no_failed_sample) {
  Status forbidden;
  forbidden.reason = Reason::Forbidden;
  forbidden.kind = "secrets";
  forbidden.message = "secrets \"auth\" is forbidden";
  hub.refusal = forbidden;
  question.gate.metric->secret_ref = json::object({{"name", "auth"}});
  for (int i = 0; i < 10; ++i) {
    const Answer answer = asked();
    EXPECT_EQ(answer.verdict.kind, Verdict::Kind::Unknown);
    EXPECT_EQ(answer.verdict.text, "AuthorLacksRight: Secret shop/auth: secrets \"auth\" is forbidden");
    EXPECT_EQ(answer.ask_again, Duration{30s});
    EXPECT_TRUE(answer.samples.empty());
    env.advance(30s);
  }
}

TEST_F(MetricProbeTest, templates_that_cannot_work_say_why) {
  question.gate.metric = gate::MetricGate{.template_ref = json::object({{"name", "t"}})};
  EXPECT_EQ(asked().verdict.text, "MetricTemplate shop/t: metrictemplates/shop/t not found");
  hub.objects["metrictemplates/shop/t"] = json::parse(R"({"spec":{"provider":{"type":"kayenta"},"query":"q"}})").value();
  question.samples.clear();
  EXPECT_TRUE(asked().verdict.text.starts_with("metric provider kayenta is not implemented"));
  hub.objects["metrictemplates/shop/t"] =
      json::parse(R"({"spec":{"provider":{"type":"prometheus","insecureSkipVerify":true},"query":"q"}})").value();
  question.samples.clear();
  EXPECT_TRUE(asked().verdict.text.starts_with("insecureSkipVerify is not supported"));
}

TEST_F(MetricProbeTest, builtin_metrics_go_by_their_name) {
  question.gate.metric->query = "request-success-rate";
  question.variables["traffic"] = "istio";
  asked();
  EXPECT_TRUE(web.calls.at(0).url.contains("istio_requests_total")) << web.calls.at(0).url;
  question.variables["traffic"] = "pigeon";
  question.samples.clear();
  EXPECT_EQ(asked().verdict.text, "there is no built-in query request-success-rate for \"pigeon\"; write a query");
}

class JobProbeTest : public MetricProbeTest {
 protected:
  JobProbeTest() {
    question.gate.name = "smoke";
    question.gate.metric = gate::MetricGate{
        .provider = "job",
        .settings = json::parse(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}})").value()};
    question.owner = json::object({{"kind", "Rollout"}, {"name", "web"}, {"uid", "u"}});
  }
  /// The jobs there are.
  std::vector<std::string> jobs() const {
    std::vector<std::string> names;
    for (const auto& [key, object] : hub.objects) names.push_back(key);
    return names;
  }
  void end(const std::string& key, const char* condition) {
    hub.objects[key] = hub.objects[key].with_path({"status", "conditions"},
                                                  json::array({json::object({{"type", condition}, {"status", "True"}})}));
  }
};

TEST_F(JobProbeTest, the_end_of_a_job_is_the_answer) {
  EXPECT_EQ(asked().verdict, (Verdict{Verdict::Kind::Wait, "the Job has not ended", ""}));
  ASSERT_EQ(jobs().size(), 1U);
  const std::string key = jobs()[0];
  EXPECT_TRUE(key.starts_with("jobs/shop/smoke-")) << key;
  const Value job = hub.objects[key];
  EXPECT_EQ(job["metadata"]["ownerReferences"].item(0)["uid"].as_string(), "u");
  EXPECT_EQ(job["spec"]["template"]["spec"]["restartPolicy"].as_string(), "Never");
  EXPECT_EQ(job["spec"]["backoffLimit"].as_int(-1), 0);
  question.samples.clear();  // as after a crash: what was begun is found again
  EXPECT_EQ(asked().ask_again, 2s);
  EXPECT_EQ(jobs().size(), 1U);
  end(key, "Complete");
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Pass);
  EXPECT_TRUE(web.calls.empty());
}

TEST_F(JobProbeTest, each_sample_is_a_job_of_its_own) {
  question.gate.metric->count = 2;
  question.gate.metric->failure_limit = 1;
  asked();
  end(jobs()[0], "Failed");
  EXPECT_EQ(asked().verdict, (Verdict{Verdict::Kind::Wait, "1 of 2 samples, 1 failed", ""}));
  env.advance(60s);
  asked();
  ASSERT_EQ(jobs().size(), 2U);
  for (const std::string& key : jobs()) {
    if (!hub.objects[key].has("status")) end(key, "Complete");
  }
  EXPECT_EQ(asked().verdict.kind, Verdict::Kind::Pass);
}

TEST_F(JobProbeTest, without_a_spec_it_says_so) {
  question.gate.metric->settings.reset();
  EXPECT_EQ(asked().verdict.text, "provider job needs settings.spec, a Job's");
}

TEST_F(MetricProbeTest, an_answer_that_repeats_a_secret_is_not_shown) {
  hub.objects["secrets/shop/auth"] = json::object({{"stringData", json::object({{"token", "TOKEN-SECRET"}})}});
  question.gate.metric->secret_ref = json::object({{"name", "auth"}});
  web.replies = {{200, R"({"status":"success","data":{"resultType":"scalar","result":[1,"TOKEN-SECRET"]}})"}};
  const std::string text = asked().verdict.text;
  EXPECT_TRUE(text.contains(": the answer repeats a value of the Secret")) << text;
  EXPECT_FALSE(text.contains("TOKEN-SECRET")) << text;
}

TEST_F(MetricProbeTest, an_address_out_of_a_secret_is_never_shown) {
  hub.objects["secrets/shop/hidden"] =
      json::object({{"stringData", json::object({{"address", "http://vault.test/PATH-SECRET?k=QUERY-SECRET"}})}});
  question.gate.metric->secret_ref = json::object({{"name", "hidden"}});
  const std::pair<PaperWeb::Reply, std::string> kRows[] = {
      {{403, "vault.test/PATH-SECRET is closed"}, "GET address of Secret hidden: 403 Forbidden"},
      {{0, "dial tcp vault.test:80: connection refused"}, "GET address of Secret hidden: cannot be reached"},
  };
  for (const auto& [reply, text] : kRows) {
    question.samples.clear();
    web.replies = {reply};
    const Answer answer = asked();
    EXPECT_TRUE(answer.verdict.text.contains(text)) << answer.verdict.text;
    ASSERT_FALSE(answer.samples.empty());
    for (const std::string& shown : {answer.verdict.text, answer.samples[0].text}) {
      EXPECT_FALSE(shown.contains("SECRET") || shown.contains("vault.test")) << shown;
    }
  }
  EXPECT_TRUE(web.calls.back().url.starts_with("http://vault.test/PATH-SECRET?k=QUERY-SECRET/api/v1/query?"))
      << web.calls.back().url;
  hub.objects["secrets/shop/hidden"] = json::object({{"stringData", json::object({{"address", "ftp://SECRET"}})}});
  question.samples.clear();
  EXPECT_TRUE(asked().verdict.text.contains("the address of Secret hidden is no http:// or https:// URL"));
}

TEST_F(MetricProbeTest, settings_that_cannot_work_are_errors_with_a_way_out) {
  const auto text = [&] {
    question.samples.clear();
    return asked().verdict.text;
  };
  question.gate.metric->provider = "kayenta";
  EXPECT_TRUE(text().starts_with("metric provider kayenta is not implemented; use a webhook gate"));
  question.gate.metric->provider = "promtheus";
  EXPECT_TRUE(text().starts_with("there is no metric provider promtheus; there are prometheus, web, "));
  question.gate.metric->provider = "prometheus";
  question.gate.metric->query = "up{pod=\"{{ pod }}\"}";
  EXPECT_EQ(text(), "the query's variable pod is not known");
  question.gate.metric->query = "up";
  question.gate.metric->address = "ftp://x";
  EXPECT_EQ(text(), "address \"ftp://x\" is no http:// or https:// URL");
}

}  // namespace
}  // namespace slipway::delivery::probe
