// Requests of those who may, but ask for much: places, headers, sizes.
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

using RequestLimits = WireTest;

TEST_F(RequestLimits, who_waits_for_a_revision_to_come_holds_no_place) {
  api_options_.reads_in_flight = 1;
  serve([this]() -> Task<> {
    const std::int64_t now = std::atoll((co_await get(kMaps)).json()["metadata"]["resourceVersion"].str().c_str());
    std::vector<int> waited;
    const auto wait = [&](std::string path) -> Task<> { waited.push_back((co_await get(std::move(path))).status); };
    Tasks tasks(env());
    for (int i = 0; i < 8; ++i) {
      tasks.spawn(wait(fmt::format("{}?resourceVersion={}", kMaps, now + 1)));
      tasks.spawn(wait(fmt::format("/api/v1/namespaces/default?resourceVersion={}", now + 1)));
    }
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ((co_await get("/api/v1/namespaces/default")).status, 200);
    }
    const bool is_late = !waited.empty();  // a read waits for 3 s, which a slow machine needs for less
    EXPECT_EQ((co_await send("POST", kMaps, config_map("comes"))).status, 201);
    co_await tasks.join();
    EXPECT_EQ(waited.size(), 16U);
    for (const int status : waited) EXPECT_TRUE(status == 200 || status == 429 || (is_late && status == 504)) << status;
  });
}

TEST_F(RequestLimits, warnings_take_a_few_kilobytes_of_headers_however_many_there_are) {
  serve([this]() -> Task<> {
    std::string fields;
    for (int i = 0; i < 50'000; ++i) fields += fmt::format("\"f{}\":1,", i);
    const Heard made = co_await send("POST", kMaps, "{" + fields + config_map("odd").substr(1));
    EXPECT_EQ(made.status, 201) << made.body.substr(0, 300);
    std::size_t bytes = 0;
    for (const std::string_view value : made.headers.all("Warning")) bytes += value.size();
    EXPECT_GT(bytes, 1000U);
    EXPECT_LT(bytes, 8192U);
    const Heard strict =
        co_await send("POST", std::string(kMaps) + "?fieldValidation=Strict", "{" + fields + config_map("strict").substr(1));
    EXPECT_EQ(strict.status, 400);
    EXPECT_LT(strict.body.size(), 8192U);
  });
}

TEST_F(RequestLimits, a_body_of_doubled_keys_is_answered) {
  serve([this]() -> Task<> {
    std::string pairs;
    for (int i = 0; i < 100'000; ++i) pairs += fmt::format("\"k{}\":\"\",", i % 50'000);
    const std::string head = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"doubled"},"data":{)";
    const Heard made = co_await send("POST", kMaps, head + pairs + "\"z\":\"\"}}");
    EXPECT_EQ(made.status, 201) << made.body.substr(0, 300);
    EXPECT_EQ(made.json()["data"].size(), 50'001U);
    EXPECT_TRUE(made.header("Warning").contains("duplicate field")) << made.header("Warning");
  });
}

TEST_F(RequestLimits, defaults_that_would_make_an_object_too_large_are_refused_at_once) {
  serve([this]() -> Task<> {
    const std::string schema =
        R"({"type":"object","properties":{"spec":{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","default":")" +
        std::string(100'000, 'x') + R"("}}}}}}}})";
    const Heard defined = co_await send(
        "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"bigs.example.com"},
            "spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"bigs","kind":"Big"},
            "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)" +
            schema + "}}]}}");
    EXPECT_EQ(defined.status, 201) << defined.body.substr(0, 300);
    std::string items;
    for (int i = 0; i < 100'000; ++i) items += "{},";
    const Heard big =
        co_await send("POST", "/apis/example.com/v1/namespaces/default/bigs",
                      R"({"apiVersion":"example.com/v1","kind":"Big","metadata":{"name":"b"},"spec":{"l":[)" + items + "{}]}}");
    EXPECT_EQ(big.status, 413) << big.body.substr(0, 300);
    const Heard small =
        co_await send("POST", "/apis/example.com/v1/namespaces/default/bigs",
                      R"({"apiVersion":"example.com/v1","kind":"Big","metadata":{"name":"s"},"spec":{"l":[{}]}})");
    EXPECT_EQ(small.status, 201) << small.body.substr(0, 300);
    EXPECT_EQ(small.json()["spec"]["l"].item(0)["a"].as_string().size(), 100'000U);
  });
}

TEST_F(RequestLimits, a_strategic_patch_of_many_items_is_answered) {
  serve([this]() -> Task<> {
    const Heard made = co_await send("POST", "/apis/apps/v1/namespaces/default/deployments",
                                     R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{
        "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"c","image":"i"}]}}}})");
    EXPECT_EQ(made.status, 201) << made.body;
    std::string items;
    for (int i = 0; i < 20'000; ++i) items += fmt::format("{}{{\"name\":\"c{}\",\"$patch\":\"delete\"}}", i == 0 ? "" : ",", i);
    const Heard patched = co_await send("PATCH", "/apis/apps/v1/namespaces/default/deployments/d?dryRun=All",
                                        "{\"spec\":{\"template\":{\"spec\":{\"containers\":[" + items + "]}}}}",
                                        {{"Content-Type", "application/strategic-merge-patch+json"}});
    EXPECT_EQ(patched.status, 200) << patched.body.substr(0, 300);
    items.clear();
    for (int i = 0; i < 20'000; ++i) items += fmt::format("{}{{\"name\":\"n{}\",\"image\":\"i\"}}", i == 0 ? "" : ",", i);
    const Heard grown = co_await send("PATCH", "/apis/apps/v1/namespaces/default/deployments/d?dryRun=All",
                                      "{\"spec\":{\"template\":{\"spec\":{\"containers\":[" + items + "]}}}}",
                                      {{"Content-Type", "application/strategic-merge-patch+json"}});
    EXPECT_EQ(grown.status, 413) << grown.body.substr(0, 300);
  });
}

TEST_F(RequestLimits, a_role_of_many_words_is_compared_and_told_in_few) {
  serve([this]() -> Task<> {
    const http::Headers account = nobody();
    co_await send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
                  R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"maker"},
                      "rules":[{"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"verbs":["create"]}]})");
    co_await send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                  R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"maker"},
                      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"maker"},
                      "subjects":[{"kind":"User","name":"nobody","apiGroup":"rbac.authorization.k8s.io"}]})");
    const auto list = [](const char* stem) {
      std::string text;
      for (int i = 0; i < 300; ++i) text += fmt::format("{}\"{}{}\"", i == 0 ? "" : ",", stem, i);
      return "[" + text + "]";
    };
    const auto by = stranger();
    const Heard refused = co_await send_by(
        *by, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"cube"},"rules":[{"verbs":)" +
            list("v") + ",\"apiGroups\":" + list("g") + ",\"resources\":" + list("r") + "}]}",
        account);
    EXPECT_EQ(refused.status, 403) << refused.body.substr(0, 300);
    EXPECT_TRUE(refused.body.contains("attempting to grant")) << refused.body.substr(0, 300);
    EXPECT_LT(refused.body.size(), 40'000U);
  });
}

TEST_F(RequestLimits, a_timeout_that_is_no_duration_is_refused) {
  serve([this]() -> Task<> {
    EXPECT_EQ((co_await get(std::string(kMaps) + "?timeout=30s")).status, 200);
    const Heard heard = co_await get(std::string(kMaps) + "?timeout=invalid");
    EXPECT_EQ(heard.status, 400);
    EXPECT_EQ(heard.json()["message"].str(),
              "invalid timeout specified in the request URL - time: invalid duration \"invalid\"");
  });
}

}  // namespace
}  // namespace slipway::serve
