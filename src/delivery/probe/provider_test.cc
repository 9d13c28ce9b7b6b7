#include "delivery/probe/provider.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "delivery/gate/corpus_test.h"
#include "delivery/probe/builtin_queries.h"
#include "delivery/probe/paper_test.h"
#include "json/text_test.h"

namespace slipway::delivery::probe {
namespace {

using namespace std::chrono_literals;
using gate::Sample;
using json::Value;

constexpr Time kNow = VirtualClock::kStart;

/// The request for a row as "METHOD URL", its headers and its body on lines of their own; or the error.
std::string request_of(std::string_view name, Query query) {
  auto provider = find_provider(name, query.settings);
  if (!provider) return provider.error().message;
  query.now = kNow;
  query.interval = 1min;
  if (query.address.empty()) query.address = (*provider)->address;
  const auto call = (*provider)->request(query);
  if (!call) return call.error().message;
  std::string out = fmt::format("{} {}", call->method, call->url);
  for (const auto& [header, value] : call->headers) out += fmt::format("\n{}: {}", header, value);
  if (!call->body.empty()) out += "\n" + call->body;
  return out;
}

TEST(Provider, requests_are_as_documented) {
  const std::map<std::string, std::string> datadog{{"datadog_api_key", "A"}, {"datadog_application_key", "B"}};
  EXPECT_EQ(request_of("prometheus", {.address = "http://p/x", .text = "  sum(up)\n  > 1 ", .credentials = {{"token", "T"}}}),
            "GET http://p/x/api/v1/query?query=sum%28up%29%20%3E%201\nAuthorization: Bearer T");
  EXPECT_EQ(request_of("datadog", {.text = "avg:x{*}", .credentials = datadog}),
            "GET https://api.datadoghq.com/api/v1/query?query=avg%3Ax%7B%2A%7D&from=1767225000&to=1767225600\nDD-API-KEY: A\n"
            "DD-APPLICATION-KEY: B");
  EXPECT_EQ(request_of("datadog", {.text = "avg:x", .settings = parsed(R"({"apiVersion":"v2"})"), .credentials = datadog}),
            "POST https://api.datadoghq.com/api/v2/query/scalar\nContent-Type: application/json\nDD-API-KEY: A\n"
            "DD-APPLICATION-KEY: B\n"
            R"({"data":{"attributes":{"formulas":[{"formula":"query"}],"from":1767225000000,"queries":[{"aggregator":"last",)"
            R"("data_source":"metrics","name":"query","query":"avg:x"}],"to":1767225600000},"type":"scalar_request"}})");
  EXPECT_EQ(
      request_of("newrelic", {.text = "SELECT 1", .credentials = {{"newrelic_account_id", "7"}, {"newrelic_query_key", "K"}}}),
      "GET https://insights-api.newrelic.com/v1/accounts/7/query?nrql=SELECT%201%20SINCE%2060%20seconds%20ago\nX-Query-Key: K");
  EXPECT_EQ(request_of("graphite", {.address = "http://g",
                                    .text = " target=sum(a.*.b)&from=-2min ",
                                    .credentials = {{"username", "u"}, {"password", "p"}}}),
            "GET http://g/render?target=sum%28a.%2A.b%29&from=-2min&format=json\nAuthorization: Basic dTpw");
  EXPECT_EQ(
      request_of("influxdb",
                 {.address = "http://i", .text = "from(bucket: \"b\")", .credentials = {{"token", "T"}, {"org", "my org"}}}),
      "POST http://i/api/v2/query?org=my%20org\nAuthorization: Token T\nContent-Type: application/vnd.flux\n"
      "Accept: application/csv\nfrom(bucket: \"b\")");
  EXPECT_EQ(request_of("dynatrace", {.address = "http://d", .text = "builtin:x", .credentials = {{"dynatrace_token", "T"}}}),
            "GET http://d/api/v2/metrics/query?metricSelector=builtin%3Ax&resolution=Inf&from=1767225000000&to=1767225600000\n"
            "Authorization: Api-Token T");
  EXPECT_EQ(request_of("web", {.address = "http://w/x?y=1", .settings = parsed(R"({"method":"POST","jsonBody":{"a":1}})")}),
            "POST http://w/x?y=1\nContent-Type: application/json\n{\"a\":1}");
  EXPECT_EQ(request_of("datadog", {}), "the gate's Secret has no key datadog_api_key");
}

/// What a body comes to with the row's reducer: JSON, "nan", or the error.
std::string measured(const Provider& provider, Reducer reducer, const std::string& body, const Value& settings = {}) {
  const auto extracted = provider.extract(body, {.settings = settings});
  if (!extracted) return "error: " + extracted.error().message;
  const auto value = reduced(*extracted, settings, reducer);
  if (!value) return "error: " + value.error().message;
  if (value->type() == json::Type::Double && std::isnan(value->as_double())) return "nan";
  return json::print(*value);
}

struct AnswerRow {
  const char* provider;
  const char* settings;
  const char* body;
  const char* gives;
};

// Bodies are those of the documentation that the rows name, shortened.
TEST(Provider, answers_are_read_as_documented) {
  const AnswerRow kRows[] = {
      {"prometheus", "{}", R"({"status":"success","data":{"resultType":"scalar","result":[1,"0.5"]}})", "0.5"},
      {"prometheus", "{}",
       R"({"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"NaN"]},{"value":[1,"3"]}]}})",
       "[1,3]"},
      {"prometheus", R"({"reducer":"avg"})",
       R"({"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"NaN"]},{"value":[1,"3"]}]}})",
       "2"},
      {"prometheus", R"({"reducer":"all"})", R"({"status":"success","data":{"resultType":"vector","result":[]}})", "[]"},
      {"prometheus", R"({"reducer":"best"})", R"({"status":"success","data":{"resultType":"vector","result":[]}})",
       "error: reducer best is none of only, all, first, last, min, max, avg, sum"},
      {"prometheus", "{}", R"({"status":"success","data":{"resultType":"string","result":[1,"x"]}})",
       "error: the query gives a string: multiple values; it must give a number or a vector"},
      {"prometheus", "{}", R"({"status":"error","errorType":"bad_data","error":"parse error"})", "error: parse error"},
      {"datadog", "{}", R"({"status":"ok","series":[{"pointlist":[[1598867910000,0.002],[1598867925000,null]]}]})", "0.002"},
      {"newrelic", "{}", R"({"results":[{"average":1.5}]})", "1.5"},
      {"newrelic", "{}", R"({"results":[{"count":1},{"count":2}]})", "null"},
      {"dynatrace", "{}",
       R"({"totalCount":1,"nextPageKey":null,"result":[{"metricId":"builtin:x","data":[{"dimensions":[],
           "timestamps":[1589455320000],"values":[0.1]}]}]})",
       "0.1"},
      {"dynatrace", "{}", R"({"result":[{"metricId":"builtin:x","data":[]}]})", "null"},
      {"influxdb", "{}",
       "#datatype,string,long,dateTime:RFC3339,double,string\r\n#group,false,false,false,false,true\r\n"
       "#default,_result,,,,\r\n,result,table,_time,_value,host\r\n,,0,2026-01-01T00:00:00Z,1.25,\"a,b\"\r\n\r\n",
       "1.25"},
      {"influxdb", "{}", ",result,table,_value\r\n,,0,1\r\n,,0,2\r\n\r\n,result,table,_value\r\n,,1,3\r\n", "[1,2,3]"},
      {"influxdb", "{}", "\r\n", "null"},
      {"influxdb", "{}", ",error,reference\r\n,unknown bucket,897\r\n", "error: InfluxDB: unknown bucket"},
      {"influxdb", "{}", ",result,table,_value\r\n,,0,fast\r\n", "error: \"fast\" is no number"},
      {"graphite", R"({"reducer":"max"})",
       R"([{"target":"a","datapoints":[[9,1]]},{"target":"b","datapoints":[[1,1],[3,2],[null,3]]}])", "3"},
      {"web", R"({"jsonPath":"{.a[1].b}"})", R"({"a":[{},{"b":7}]})", "7"},
      {"web", "{}", "plain text", R"("plain text")"},
  };
  for (const AnswerRow& row : kRows) {
    const Value settings = parsed(row.settings);
    const Provider* provider = find_provider(row.provider, settings).value();
    EXPECT_EQ(measured(*provider, provider->reducer, row.body, settings), row.gives) << row.provider << " " << row.body;
  }
}

TEST(Provider, the_newest_point_is_known_where_the_answer_tells) {
  const auto newest = [](const char* name, const char* body) {
    return find_provider(name, {}).value()->extract(body, {}).value().newest;
  };
  EXPECT_EQ(newest("datadog", R"({"series":[{"pointlist":[[1000,1],[2000,1],[3000,null]]}]})"), Time(2s));
  EXPECT_EQ(newest("graphite", R"([{"datapoints":[[1,5],[null,6]]}])"), Time(5s));
  EXPECT_EQ(newest("dynatrace", R"({"result":[{"data":[{"timestamps":[1500],"values":[1]}]}]})"), Time(1500ms));
  EXPECT_EQ(newest("datadog", R"({"series":[{"pointlist":[[1e300,1]]}]})"), Time(std::chrono::seconds{kMostSeconds}));
  EXPECT_EQ(newest("influxdb", ",_time,_value\n,1970-01-01T00:00:09Z,1\n"), Time(9s));
  EXPECT_FALSE(newest("prometheus", R"({"status":"success","data":{"resultType":"scalar","result":[1,"1"]}})"));
}

TEST(ProviderCorpus, every_known_provider_is_a_row) {
  std::size_t all = 0;
  std::size_t rows = 0;
  for (const char* group : {"flagger", "argo"}) {
    const Value cases = gate::corpus_cases("metric-providers.json", group);
    if (cases.empty()) GTEST_SKIP() << "no corpus";
    for (const Value& one : cases.items()) {
      std::string_view name = one["id"].as_string();
      if (name.starts_with("argo:")) name.remove_prefix(5);
      const auto found = find_provider(name, {});
      ++all;
      rows += found ? 1 : 0;
      if (found) continue;
      fmt::print("not played: rollouts/metric-providers {}: {}\n", one["id"].as_string(), found.error().message);
      EXPECT_EQ(found.error().reason, Reason::NotImplemented) << name;
      EXPECT_TRUE(found.error().message.contains("; use ")) << found.error().message;
    }
  }
  fmt::print("rollouts/metric-providers/rows {}/{}\n", rows, all);
}

TEST(Provider, faults_of_a_gate_are_found_before_it_is_asked) {
  const auto faults = [](const gate::MetricGate& metric) {
    std::string out;
    for (const Cause& cause : check(metric, "m")) out += fmt::format("{}: {}\n", cause.field, cause.message);
    return out;
  };
  EXPECT_EQ(faults({.address = "http://p", .query = "up{x=\"{{ target }}\"}"}), "");
  EXPECT_EQ(faults({.template_ref = Value::empty_object()}), "");
  EXPECT_EQ(faults({.query = "up"}), "m.address: Required value\n");
  EXPECT_EQ(faults({.address = "http://p"}), "m.query: Required value\n");
  EXPECT_EQ(faults({.provider = "web", .address = "http://p"}), "");
  EXPECT_EQ(faults({.provider = "job"}), "m.settings.spec: Required value: a Job's\n");
  EXPECT_EQ(faults({.provider = "cloudwatch", .query = "[]"}), "");
  EXPECT_TRUE(
      faults({.provider = "kayenta"}).starts_with("m.provider: Invalid value: \"kayenta\": metric provider kayenta is not"));
  EXPECT_EQ(faults({.address = "http://p", .query = "{{ up"}),
            "m.query: Invalid value: \"{{ up\": the query has \"{{\" without \"}}\"\n");
  EXPECT_TRUE(faults({.address = "http://p", .query = "up", .settings = json::object({{"reducer", "best"}})})
                  .starts_with("m.settings.reducer: Invalid value: \"best\": reducer best is none of"));
}

TEST(Provider, variables_are_filled_in) {
  const std::map<std::string, std::string> variables{{"target", "web"}, {"x", "1"}};
  EXPECT_EQ(filled_in("a{{ target }}b{{target}}c{{ variables.x }}{{args.x}}", variables).value(), "awebbwebc11");
  EXPECT_EQ(filled_in("{{ y }}", variables).error().message, "the query's variable y is not known");
  EXPECT_FALSE(filled_in("{{ target", variables));
}

/// Without blanks, the matchers between braces in alphabetical order.
std::string normal(std::string_view query) {
  std::string out;
  std::vector<std::string> matchers;
  bool is_inside = false;
  for (const char c : query) {
    if (kBlanks.contains(c)) continue;
    if (c == '{') {
      is_inside = true;
      matchers.assign(1, "");
    } else if (c == '}') {
      is_inside = false;
      std::erase(matchers, "");
      std::ranges::sort(matchers);
      out += "{" + joined(matchers, ",") + "}";
    } else if (is_inside && c == ',') {
      matchers.emplace_back();
    } else {
      (is_inside ? matchers.back() : out) += c;
    }
  }
  return out;
}

TEST(ProviderCorpus, builtin_queries_ask_the_same_as_flagger) {
  const Value cases = gate::corpus_cases("flagger-builtin-queries.json", "observers");
  if (cases.empty()) GTEST_SKIP() << "no corpus";
  std::size_t passed = 0;
  std::size_t all = 0;
  for (const Value& one : cases.items()) {
    for (const Value& rendered : one["rendered"].items()) {
      std::map<std::string, std::string> variables{{"traffic", one["provider"].str()}};
      for (const auto [name, value] : rendered["model"].members()) variables[std::string(name)] = value.str();
      const bool is_duration = rendered["test"].as_string().contains("Duration");
      const auto query = query_text(is_duration ? "request-duration" : "request-success-rate", variables);
      ASSERT_TRUE(query) << query.error().message;
      EXPECT_EQ(normal(*query), normal(rendered["expected"].as_string()));
      passed += normal(*query) == normal(rendered["expected"].as_string()) ? 1 : 0;
      ++all;
    }
  }
  fmt::print("rollouts/flagger-builtin-queries/observers {}/{}\n", passed, all);
}

TEST(ProviderCorpus, flagger_reads_the_same_numbers) {
  const Value cases = gate::corpus_cases("flagger.json", "provider-responses");
  if (cases.empty()) GTEST_SKIP() << "no corpus";
  std::size_t passed = 0;
  for (const Value& one : cases.items()) {
    const Provider* provider = find_provider(one.item(0).as_string(), {}).value();
    std::string got = measured(*provider, provider->template_reducer, one.item(1).str());
    const std::string wanted = one.item(2).is_string() ? one.item(2).str() : json::print(one.item(2));
    if (got == "null" || got == "nan") got = "error: no values found";  // a gate's NoData
    const bool is_good = got == wanted || (wanted == "error: multiple values returned" && got.contains("multiple values"));
    EXPECT_TRUE(is_good) << json::print(one) << "\n" << got;
    passed += is_good ? 1 : 0;
  }
  fmt::print("rollouts/flagger/provider-responses {}/{}\n", passed, cases.size());
}

/// A MetricGate as an Argo metric says it; nullopt for what the extraction of the cases left open.
gate::MetricGate gate_of(const Value& metric) {
  return {.address = "http://test",
          .query = "q",
          .success_condition = metric["SuccessCondition"].str(),
          .failure_condition = metric["FailureCondition"].str()};
}

Sample asked(ManualEnv& env, PaperWeb& web, gate::MetricGate gate) {
  PaperCluster hub;
  hub.objects["secrets/shop/keys"] = json::object({{"stringData", json::object({{"api-key", "a"}, {"app-key", "b"}})}});
  Question question{.key = "k", .name = "web", .ns = "shop"};
  question.gate.name = "m";
  question.gate.metric = std::move(gate);
  return env.run(ask({.env = env, .client = hub, .http = &web}, question)).samples.at(0);
}

/// Empty when the sample is what Argo expects. No data is an error there.
std::string difference(const Sample& sample, const Value& one) {
  const std::string_view phase = sample.phase == Sample::Phase::NoData ? "Error" : json::enum_name(sample.phase);
  if (phase != one["expectedPhase"].as_string()) return fmt::format("{}: {}", phase, sample.text);
  const std::string wanted = one["expectedValue"].str();
  if (phase == "Error" || wanted.empty() || wanted == "[]") return "";
  const auto value = json::parse(sample.value).value();
  const auto expected = json::parse(wanted);
  const bool is_same = value == Value(wanted) || (expected && value == *expected);
  return is_same ? "" : "value " + sample.value;
}

template <class Play>
void play_argo(const std::string& group, std::size_t known_misses, Play play) {
  const Value cases = gate::corpus_cases("argo-analysis.json", group);
  if (cases.empty()) GTEST_SKIP() << "no corpus";
  std::size_t passed = 0;
  std::string misses;
  for (const Value& one : cases.items()) {
    const std::string wrong = play(one);
    passed += wrong.empty() ? 1 : 0;
    if (!wrong.empty()) misses += json::print(one) + "\n  " + wrong + "\n";
  }
  EXPECT_EQ(cases.size() - passed, known_misses) << misses;
  std::string name = group;
  std::ranges::replace(name, ':', '-');
  fmt::print("rollouts/argo-analysis/{} {}/{}\n", name, passed, cases.size());
}

TEST(ProviderCorpus, argo_web) {
  ManualEnv env;
  play_argo("web:TestRunSuite", 0, [&](const Value& one) {
    const Value& from = one["metric"]["Provider"]["Web"];
    gate::MetricGate gate = gate_of(one["metric"]);
    gate.provider = "web";
    if (from.has("URL")) gate.address = from["URL"].str();
    json::ObjectBuilder settings;
    if (from.has("JSONPath")) settings.set("jsonPath", from["JSONPath"]);
    if (from.has("Body")) settings.set("body", from["Body"]);
    if (from.has("JSONBody")) settings.set("jsonBody", parsed(from["JSONBody"]["args"].item(0).as_string()));
    const Value& oauth = from["Authentication"]["OAuth2"];
    if (!oauth.is_null()) {
      settings.set("authentication",
                   json::object({{"oauth2", json::object({{"tokenUrl", "http://test/" + oauth["TokenURL"].str()},
                                                          {"clientId", oauth["ClientID"]},
                                                          {"clientSecret", oauth["ClientSecret"]},
                                                          {"scopes", oauth["Scopes"]}})}}));
    }
    if (from.has("Method")) settings.set("method", upper(from["Method"].as_string().substr(sizeof("WebMetricMethod") - 1)));
    gate.settings = settings.build();
    PaperWeb web;
    web.replies = {{static_cast<int>(one["webServerStatus"].as_int(200)), one["webServerResponse"].str()}};
    const bool has_token = oauth["TokenURL"].as_string().ends_with("/ok");
    if (has_token) web.replies.push_front({200, R"({"access_token":"T","token_type":"Bearer"})"});
    if (!oauth.is_null() && !has_token) web.replies = {{401, one["webServerResponse"].str()}};
    const Sample sample = asked(env, web, gate);
    if (has_token && web.calls.at(1).headers.get("Authorization") != "Bearer T") return std::string("token");
    if (one.has("expectedMethod") && web.calls.at(0).method != one["expectedMethod"].as_string()) return std::string("method");
    if (one.has("expectedBody") && web.calls.at(0).body != one["expectedBody"].as_string()) return std::string("body");
    if (one.has("expectedJsonBody") && parsed(web.calls.at(0).body) != parsed(one["expectedJsonBody"].as_string())) {
      return std::string("JSON body");
    }
    return difference(sample, one);
  });
}

/// Datadog's cases tell how far back is asked by functions that are not in the data: answers and verdicts are compared.
std::string play_datadog(const Value& one, const Value& settings) {
  ManualEnv env;
  PaperWeb web;
  web.replies = {{static_cast<int>(one["webServerStatus"].as_int(200)), one["webServerResponse"].str()}};
  gate::MetricGate gate = gate_of(one["metric"]);
  gate.provider = "datadog";
  gate.settings = settings;
  gate.secret_ref = json::object({{"name", "keys"}});
  if (one.has("serverURL")) gate.address = one["serverURL"].str();
  return difference(asked(env, web, gate), one);
}

TEST(ProviderCorpus, argo_datadog_v1) {
  play_argo("datadogV1:TestRunSuite", 0, [](const Value& one) { return play_datadog(one, json::object({})); });
}

TEST(ProviderCorpus, argo_datadog_v2) {
  play_argo("TestRunSuiteV2", 0, [](const Value& one) { return play_datadog(one, json::object({{"apiVersion", "v2"}})); });
}

TEST(ProviderCorpus, argo_graphite) {
  play_argo("TestQuery", 0, [](const Value& one) -> std::string {
    const Provider* provider = find_provider("graphite", {}).value();
    const auto call = provider->request({.address = "http://g", .text = one["query"].str()});
    const bool is_error = !one["expectedErr"].is_null();
    if (!call) return is_error ? "" : call.error().message;
    const std::string target = "target=" + percent_encoded(one["expectedTarget"].as_string());
    const std::string from = "&from=" + percent_encoded(one["expectedFrom"].as_string());
    if (!call->url.contains(target + from)) return call->url;
    const auto status =
        check_status(call->method + " " + call->url, static_cast<int>(one["responseCode"].as_int()), one["body"].as_string());
    if (!status) return is_error ? "" : status.error().message;
    const std::string got = measured(*provider, Reducer::All, one["body"].str());
    if (is_error) return got.starts_with("error: ") ? "" : got;
    const bool is_good = one["expectedResult"].as_string() == "$goodResult";  // one point, 100 at 1621348430
    return got == (is_good ? "[100]" : "[]") ? "" : got;
  });
}

}  // namespace
}  // namespace slipway::delivery::probe
