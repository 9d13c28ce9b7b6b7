// What those find who may not do what they ask: nothing of theirs is parsed, kept or told back.
#include <random>

#include "wire_fixture.h"

namespace slipway::serve {
namespace {

using Strangers = WireTest;

constexpr const char* kDecoded = "slipway_request_bodies_decoded_total";

/// Lines of /metrics that are series.
std::size_t series_in(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n')) - static_cast<std::size_t>(std::ranges::count(text, '#'));
}

TEST_F(Strangers, bodies_of_those_who_may_not_are_never_parsed) {
  serve([this]() -> Task<> {
    const auto anonymous = stranger();
    const http::Headers account = nobody();
    const double before = co_await metric(kDecoded);
    EXPECT_EQ(before, 0);
    struct Row {
      const char* method;
      const char* path;
      const char* content_type;
    };
    const Row rows[] = {{"POST", kMaps, "application/json"},
                        {"POST", kMaps, "application/yaml"},
                        {"POST", kMaps, "application/vnd.kubernetes.protobuf"},
                        {"POST", kMaps, "text/xml"},
                        {"PUT", "/api/v1/namespaces/default/configmaps/a", "application/json"},
                        {"PATCH", "/api/v1/namespaces/default/configmaps/a", "application/apply-patch+yaml"},
                        {"PATCH", "/api/v1/namespaces/default/configmaps/a", "application/nonsense"},
                        {"DELETE", "/api/v1/namespaces/default/configmaps/a", "application/json"},
                        {"DELETE", kMaps, "application/json"},
                        {"POST", "/api/v1/namespaces/default/pods/p/eviction", "application/json"},
                        {"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "application/json"},
                        {"POST", "/apis/nobody.example.com/v1/things", "application/json"},
                        {"POST", "/version", "application/json"}};
    for (const Row& row : rows) {
      for (const http::Headers& who : {http::Headers{}, account}) {
        http::Headers headers = who;
        headers.set("Content-Type", row.content_type);
        const Heard heard = co_await send_by(*anonymous, row.method, row.path, "{\"a\":1,", headers);
        EXPECT_EQ(heard.status, 403) << row.method << " " << row.path << " " << heard.body;
      }
    }
    EXPECT_EQ(co_await metric(kDecoded), before);
    EXPECT_EQ((co_await send("POST", kMaps, "{\"a\":1,")).status, 400);
    EXPECT_EQ(co_await metric(kDecoded), before + 1);
  });
}

TEST_F(Strangers, what_they_make_up_is_no_label) {
  serve([this]() -> Task<> {
    const auto anonymous = stranger();
    const http::Headers account = nobody();
    std::mt19937 random(11);
    const auto made_up = [&random](const char* stem) { return fmt::format("{}{}", stem, random() % 100'000); };
    std::size_t series = 0;
    for (int i = 0; i < 600; ++i) {
      const std::string paths[] = {"/apis/a%22%7D%201%0Afake_series%20999/v1/x",
                                   "/apis/" + made_up("g") + "/v1/" + made_up("p"),
                                   "/api/v1/namespaces/" + made_up("n") + "/" + made_up("fake_series") + "/a/b",
                                   "/api/v1/namespaces/default/pods/a/" + made_up("sub"),
                                   "/api/v1/secrets",
                                   "/" + made_up("path")};
      const std::string methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", made_up("FAKE"), "OPTIONS"};
      co_await send_by(*anonymous, methods[random() % 8], paths[random() % 6], "", i % 2 == 0 ? account : http::Headers{});
      if (i == 300) series = series_in((co_await get("/metrics", "*/*")).body);
    }
    const std::string text = (co_await get("/metrics", "*/*")).body;
    EXPECT_FALSE(text.contains("fake_series"));
    EXPECT_FALSE(text.contains("FAKE"));
    EXPECT_EQ(series_in(text), series);
    EXPECT_TRUE(text.contains("slipway_logic_turn_seconds_count"));
  });
}

TEST_F(Strangers, who_is_refused_takes_no_place) {
  api_options_.reads_in_flight = 0;
  api_options_.writes_in_flight = 0;
  serve([this]() -> Task<> {
    const auto anonymous = stranger();
    EXPECT_EQ((co_await send_by(*anonymous, "POST", kMaps, "{")).status, 403);
    EXPECT_EQ((co_await send_by(*anonymous, "GET", kMaps)).status, 403);
    EXPECT_EQ((co_await send("POST", kMaps, "{")).status, 429);
    EXPECT_EQ(co_await metric(kDecoded), 0);
    EXPECT_EQ((co_await get(kMaps)).status, 429);
  });
}

TEST_F(Strangers, a_name_in_a_field_selector_counts_before_anything_is_read) {
  serve([this]() -> Task<> {
    const http::Headers account = nobody();
    co_await send("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
                  R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"one"},
                      "rules":[{"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"],"verbs":["list"]}]})");
    co_await send("POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
                  R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"one"},
                      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"one"},
                      "subjects":[{"kind":"User","name":"nobody","apiGroup":"rbac.authorization.k8s.io"}]})");
    const auto by = stranger();
    const std::string named = std::string(kMaps) + "?fieldSelector=metadata.name%3Da";
    EXPECT_EQ((co_await send_by(*by, "GET", named, "", account)).status, 200);
    EXPECT_EQ((co_await send_by(*by, "GET", kMaps, "", account)).status, 403);
    EXPECT_EQ((co_await send_by(*by, "GET", std::string(kMaps) + "?limit=x", "", account)).status, 403);
  });
}

}  // namespace
}  // namespace slipway::serve
