// Providers with credentials or a transport of their own: CloudWatch, Cloud Monitoring, SignalFlow, Wavefront, SkyWalking, and
// those that read objects of the cluster. Bodies are those of the documentation that the rows name, shortened.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "delivery/probe/paper_test.h"
#include "delivery/probe/provider.h"
#include "delivery/probe/service_account.h"
#include "json/text_test.h"

namespace slipway::delivery::probe {
namespace {

using namespace std::chrono_literals;
using gate::Sample;
using json::Value;

HttpCall call_of(const char* name, Query query) {
  const Provider* provider = find_provider(name, {}).value();
  query.now = VirtualClock::kStart;
  query.interval = 1min;
  if (query.address.empty()) query.address = provider->address;
  const auto call = provider->request(query);
  return call ? *call : HttpCall{.url = "error: " + call.error().message};
}

TEST(CloudProvider, cloudwatch_is_asked_with_a_signature) {
  const std::map<std::string, std::string> keys{{"aws_access_key_id", "A"}, {"aws_secret_access_key", "B\n"}};
  const Value region = parsed(R"({"region": "eu-west-1"})");
  const HttpCall call = call_of("cloudwatch", {.text = R"([{"Id": "e1"}])", .settings = region, .credentials = keys});
  EXPECT_EQ(call.url, "https://monitoring.eu-west-1.amazonaws.com/");
  EXPECT_EQ(call.headers.get("X-Amz-Target"), "GraniteServiceVersion20100801.GetMetricData");
  EXPECT_TRUE(call.headers.get("Authorization")
                  .starts_with("AWS4-HMAC-SHA256 Credential=A/20260101/eu-west-1/monitoring/aws4_request, "
                               "SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature="));
  EXPECT_EQ(parsed(call.body),
            parsed(R"({"MetricDataQueries":[{"Id":"e1"}],"StartTime":1767225000,"EndTime":1767225600,"MaxDatapoints":20})"));
  EXPECT_EQ(call_of("cloudwatch", {.text = "[]", .credentials = keys}).url,
            "error: neither the gate's Secret nor its settings have region");
  EXPECT_EQ(call_of("cloudwatch", {.text = "e1", .settings = region, .credentials = keys}).url,
            "error: the query must be a JSON list of MetricDataQuery, as GetMetricData takes it");
}

TEST(CloudProvider, the_others_are_asked_as_documented) {
  const HttpCall monitoring = call_of("stackdriver", {.text = "fetch x", .credentials = {{"project", "p 1"}, {"token", "T"}}});
  EXPECT_EQ(monitoring.url, "https://monitoring.googleapis.com/v3/projects/p%201/timeSeries:query");
  EXPECT_EQ(monitoring.body, R"({"query":"fetch x"})");
  EXPECT_EQ(monitoring.headers.get("Authorization"), "Bearer T");
  const HttpCall splunk =
      call_of("splunk", {.address = "https://s", .text = "data('x').publish()", .credentials = {{"sf_token_key", "T"}}});
  EXPECT_EQ(splunk.url, "https://s/v2/signalflow/execute?start=1767225000000&stop=1767225600000&immediate=true");
  EXPECT_EQ(splunk.body, "data('x').publish()");
  EXPECT_EQ(splunk.headers.get("X-SF-Token"), "T");
  const HttpCall wavefront = call_of("wavefront", {.address = "https://w", .text = "ts(x)", .credentials = {{"token", "T"}}});
  EXPECT_EQ(wavefront.url, "https://w/api/v2/chart/api?q=ts%28x%29&s=1767225000000&e=1767225600000&g=m&autoEvents=false");
  const HttpCall skywalking = call_of("skywalking", {.address = "http://o", .text = "query q"});
  EXPECT_EQ(skywalking.url, "http://o/graphql");
  EXPECT_EQ(parsed(skywalking.body)["variables"]["duration"],
            parsed(R"({"start":"2025-12-31 2350","end":"2026-01-01 0000","step":"MINUTE"})"));
}

/// What a body comes to with the row's reducer: JSON, or the error.
std::string measured(const char* name, const std::string& body) {
  const Provider* provider = find_provider(name, {}).value();
  const auto extracted = provider->extract(body, {});
  if (!extracted) return "error: " + extracted.error().message;
  return json::print(reduced(*extracted, {}, provider->reducer).value());
}

TEST(CloudProvider, answers_are_read_as_documented) {
  const char* kRows[][3] = {
      {"cloudwatch", R"({"MetricDataResults":[{"Id":"e1","Timestamps":[1700000060,1700000000],"Values":[2.5,1]}]})", "2.5"},
      {"cloudwatch", R"({"MetricDataResults":[{"Id":"e1","Timestamps":[],"Values":[]}],"Messages":[]})", "null"},
      {"cloudwatch", R"({"__type":"ThrottlingException"})", "error: the answer has no list \"MetricDataResults\""},
      {"stackdriver",
       R"({"timeSeriesData":[{"pointData":[{"values":[{"doubleValue":0.5}],"timeInterval":{"endTime":"2026-01-01T00:01:00Z"}},
           {"values":[{"doubleValue":0.25}],"timeInterval":{"endTime":"2026-01-01T00:00:00Z"}}]}]})",
       "0.5"},
      {"stackdriver", R"({"timeSeriesData":[{"pointData":[{"values":[{"int64Value":"7"}]}]}]})", "7"},
      {"stackdriver", "{}", "null"},
      {"splunk",
       "event: control-message\ndata: {\ndata: \"event\" : \"STREAM_START\"\ndata: }\n\n"
       "event: data\nid: data-1\ndata: {\ndata:   \"data\" : [ {\"tsId\": \"A\", \"value\": 2.0} ],\n"
       "data:   \"logicalTimestampMs\" : 1000\ndata: }\n\n"
       "event: data\ndata: {\"data\" : [{\"tsId\": \"A\", \"value\": 3.0}], \"logicalTimestampMs\": 2000}\n\n",
       "3.0"},
      {"splunk", "event: data\ndata: {\"data\": [{\"tsId\": \"A\", \"value\": 1}, {\"tsId\": \"B\", \"value\": 1}]}\n\n",
       "error: the program gives multiple values; it must publish one time series"},
      {"splunk", "event: error\ndata: {\"error\": 400}\n\n", "error: SignalFlow: {\"error\":400}"},
      {"splunk", "event: control-message\ndata: {\"event\": \"END_OF_CHANNEL\"}\n", "null"},
      {"wavefront", R"({"timeseries":[{"label":"x","data":[[60,8],[120,9]]}]})", "9"},
      {"wavefront", R"({"timeseries":[{"data":[[60,8],[120,9]]},{"data":[[60,1]]}]})", "[9,1]"},
      {"wavefront", R"({"query":"x"})", "null"},
      {"wavefront", R"({"errorMessage":"bad query"})", "error: Wavefront: bad query"},
      {"skywalking", R"({"data":{"result":{"values":[{"value":3}]}}})", R"({"values":[{"value":3}]})"},
      {"skywalking", R"({"data":{"result":null}})", "null"},
      {"skywalking", R"({"errors":[{"message":"no such service"}]})", "error: SkyWalking: no such service"},
  };
  for (const auto& [name, body, gives] : kRows) EXPECT_EQ(measured(name, body), gives) << name << " " << body;
  EXPECT_EQ(find_provider("splunk", {})
                .value()
                ->extract("event: data\ndata: {\"data\":[{\"tsId\":\"A\",\"value\":1}],"
                          "\"logicalTimestampMs\":9000}\n\n",
                          {})
                .value()
                .newest,
            Time(9s));
}

std::string new_rsa_key() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

TEST(ServiceAccount, asks_for_a_token_with_a_signed_claim) {
  const Value file =
      json::object({{"client_email", "me@p.test"}, {"private_key", new_rsa_key()}, {"token_uri", "https://t.test/token"}});
  const auto call = service_account_call(json::print(file), "scope", VirtualClock::kStart);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->url, "https://t.test/token");
  const std::string start = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
  ASSERT_TRUE(call->body.starts_with(start));
  const std::string token = call->body.substr(start.size());
  const std::string claims =
      R"({"aud":"https://t.test/token","exp":1767229200,"iat":1767225600,"iss":"me@p.test","scope":"scope"})";
  EXPECT_EQ(token.substr(0, token.find('.')), base64url_encode(R"({"alg":"RS256","typ":"JWT"})"));
  const std::size_t second = token.find('.') + 1;
  std::string told;
  ASSERT_TRUE(base64_decode(token.substr(second, token.find('.', second) - second), told));
  EXPECT_EQ(parsed(told), parsed(claims));
  EXPECT_EQ(token.size() - token.rfind('.') - 1, 342U);  // 256 bytes
  EXPECT_EQ(service_account_call("{}", "s", Time{}).error().message, "serviceAccountKey has no client_email");
  EXPECT_EQ(service_account_call(json::print(file.with("private_key", "x")), "s", Time{}).error().message,
            "private_key of the service account is no RSA key in PEM");
}

Sample asked(PaperCluster& hub, PaperWeb& web, gate::MetricGate metric) {
  ManualEnv env;
  Question question{.key = "k", .name = "web", .ns = "shop"};
  question.gate.name = "m";
  question.gate.metric = std::move(metric);
  return env.run(ask({.env = env, .client = hub, .http = &web}, question)).samples.at(0);
}

TEST(ServiceAccount, a_gate_of_cloud_monitoring_asks_for_a_token_first) {
  const Value file =
      json::object({{"client_email", "me@p.test"}, {"private_key", new_rsa_key()}, {"token_uri", "https://t.test/token"}});
  PaperCluster hub;
  hub.objects["secrets/shop/keys"] =
      json::object({{"stringData", json::object({{"project", "p"}, {"serviceAccountKey", json::print(file)}})}});
  PaperWeb web;
  web.replies = {{200, R"({"access_token": "T"})"},
                 {200, R"({"timeSeriesData":[{"pointData":[{"values":[{"int64Value":"7"}]}]}]})"}};
  const Sample sample = asked(
      hub, web, {.provider = "stackdriver", .query = "fetch x", .secret_ref = json::object({{"name", "keys"}}), .min = 5});
  EXPECT_EQ(sample.value, "7") << sample.text;
  EXPECT_EQ(web.calls.at(0).url, "https://t.test/token");
  EXPECT_EQ(web.calls.at(1).headers.get("Authorization"), "Bearer T");
}

TEST(ClusterProvider, reads_objects_of_the_own_namespace_only) {
  PaperCluster hub;
  PaperWeb web;
  hub.objects["keptnmetrics/shop/latency"] = parsed(R"({"status": {"value": "2.5"}})");
  hub.objects["keptnmetrics/other/latency"] = parsed(R"({"status": {"value": "9"}})");
  const auto keptn = [&](const char* query) { return asked(hub, web, {.provider = "keptn", .query = query, .min = 1}); };
  EXPECT_EQ(keptn("keptnmetric/shop/latency").value, "2.5");
  EXPECT_EQ(keptn("keptnmetric/other/latency").text, "the query names namespace other; a gate reads its own, shop");
  EXPECT_TRUE(keptn("analysis/shop/a/1m").text.contains("is not run"));
  hub.lists["requests/shop?app=web"] = parsed(R"({"items": [{"metricName": "requests", "value": "1500m"}]})");
  const auto external = [&](const char* query) {
    return asked(hub, web, {.provider = "externalmetrics", .query = query, .min = 1});
  };
  EXPECT_EQ(external("shop/requests?labelSelector=app=web").value, "1.5");
  EXPECT_EQ(external("/requests?labelSelector=app=web").value, "1.5");
  EXPECT_EQ(external("requests").phase, Sample::Phase::NoData);
  EXPECT_EQ(external("other/requests").text, "the query names namespace other; a gate reads its own, shop");
  EXPECT_TRUE(web.calls.empty());
}

}  // namespace
}  // namespace slipway::delivery::probe
