// Both forms of discovery, and that they follow what is served.
#include "serve/version_order.h"
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

using Discovery = WireTest;

constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// The item whose member `key` is `value`.
Value item_of(const Value& items, std::string_view key, std::string_view value) {
  for (const Value& item : items.items()) {
    if (item[key].as_string() == value) return item;
  }
  return {};
}

TEST(VersionOrder, puts_stable_before_beta_before_alpha_and_newer_first) {
  const NewerVersionFirst before;
  EXPECT_TRUE(before("v2", "v1"));
  EXPECT_TRUE(before("v1", "v2beta1"));
  EXPECT_TRUE(before("v1beta2", "v1beta1"));
  EXPECT_TRUE(before("v1beta1", "v2alpha1"));
  EXPECT_TRUE(before("v10", "v9"));
  EXPECT_TRUE(before("v1alpha1", "foo"));
  const GroupOrder group_before;
  EXPECT_TRUE(group_before("", "apps"));
  EXPECT_TRUE(group_before("apps", "batch"));
  EXPECT_TRUE(group_before("batch", "a.example.com"));
}

TEST_F(Discovery, legacy_lists_name_versions_groups_and_resources) {
  serve([this]() -> Task<> {
    EXPECT_EQ((co_await get("/api")).json()["versions"], yaml("[v1]"));
    const Value groups = (co_await get("/apis")).json();
    EXPECT_EQ(groups["kind"].as_string(), "APIGroupList");
    EXPECT_EQ(item_of(groups["groups"], "name", "batch")["preferredVersion"]["groupVersion"].as_string(), "batch/v1");
    EXPECT_EQ((co_await get("/apis/batch")).json()["kind"].as_string(), "APIGroup");
    const Value core = (co_await get("/api/v1")).json();
    EXPECT_EQ(core["kind"].as_string(), "APIResourceList");
    EXPECT_EQ(core["groupVersion"].as_string(), "v1");
    const Value pods = item_of(core["resources"], "name", "pods");
    EXPECT_EQ(pods["singularName"].as_string(), "pod");
    EXPECT_EQ(pods["shortNames"], yaml("[po]"));
    EXPECT_EQ(pods["verbs"], yaml("[create, delete, deletecollection, get, list, patch, update, watch]"));
    EXPECT_EQ(item_of(core["resources"], "name", "pods/status")["verbs"], yaml("[get, patch, update]"));
    EXPECT_EQ((co_await get("/apis/example.com")).status, 404);
    EXPECT_EQ((co_await get("/apis/batch/v9")).status, 404);
  });
}

TEST_F(Discovery, the_aggregated_form_echoes_its_type_and_is_not_sent_twice) {
  serve([this]() -> Task<> {
    const Heard first = co_await get("/apis", kAggregated);
    EXPECT_EQ(first.header("Content-Type"), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    EXPECT_EQ(first.header("Vary"), "Accept");
    EXPECT_EQ(first.json()["apiVersion"].as_string(), "apidiscovery.k8s.io/v2");
    const std::string etag = first.header("ETag");
    EXPECT_EQ(etag.size(), 130U);
    http::Headers again = accepting(kAggregated);
    again.add("If-None-Match", etag);
    const Heard second = co_await send("GET", "/apis", "", again);
    EXPECT_EQ(second.status, 304);
    EXPECT_EQ(second.body, "");
    const Heard beta = co_await get("/api", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList");
    EXPECT_EQ(beta.json()["apiVersion"].as_string(), "apidiscovery.k8s.io/v2beta1");
    const Value core = beta.json()["items"].item(0)["versions"].item(0);
    EXPECT_EQ(core["freshness"].as_string(), "Current");
    const Value pods = item_of(core["resources"], "resource", "pods");
    EXPECT_EQ(pods["scope"].as_string(), "Namespaced");
    EXPECT_EQ(item_of(pods["subresources"], "subresource", "status")["responseKind"]["kind"].as_string(), "Pod");
  });
}

TEST_F(Discovery, a_new_definition_appears_at_once) {
  serve([this]() -> Task<> {
    const std::string before = (co_await get("/apis", kAggregated)).header("ETag");
    EXPECT_EQ((co_await define_widgets()).status, 201);
    const Heard after = co_await get("/apis", kAggregated);
    EXPECT_NE(after.header("ETag"), before);
    EXPECT_TRUE(after.body.contains("widgets"));
    const Value widgets = (co_await get("/apis/example.com/v1")).json()["resources"].item(0);
    EXPECT_EQ(widgets["kind"].as_string(), "Widget");
    EXPECT_EQ(widgets["categories"], yaml("[all]"));
  });
}

}  // namespace
}  // namespace slipway::serve
