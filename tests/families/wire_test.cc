// On the wire: a kind that functions answer, paths of a family, and the rights that its group gives.
#include "../serve/wire_fixture.h"
#include "second_family.h"

namespace slipway::serve {
namespace {

constexpr const char* kPages = "/apis/second.example.test/v1/namespaces/default/pages";

class SecondFamily : public WireTest {
 public:
  SecondFamily() { families_.push_back(&families_test::second_family()); }

  /// As a user with the given role in namespace default.
  Task<http::Headers> as(std::string name, std::string role) {
    const Heard bound = co_await send(
        "POST", "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
        json::print(json::object(
            {{"apiVersion", "rbac.authorization.k8s.io/v1"},
             {"kind", "RoleBinding"},
             {"metadata", json::object({{"name", name}})},
             {"roleRef", json::object({{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", role}})},
             {"subjects",
              json::array({json::object({{"kind", "User"}, {"name", name}, {"apiGroup", "rbac.authorization.k8s.io"}})})}})));
    EXPECT_EQ(bound.status, 201) << bound.body;
    co_return http::Headers{{"Impersonate-User", name}};
  }
};

TEST_F(SecondFamily, an_answered_kind_is_read_like_any_other) {
  serve([this]() -> Task<> {
    const Value one = (co_await get(std::string(kPages) + "/one")).json();
    EXPECT_EQ(one["apiVersion"].as_string(), "second.example.test/v1");
    EXPECT_EQ(one["kind"].as_string(), "Page");
    EXPECT_EQ(one["spec"]["text"].as_string(), "text of one");
    const Heard none = co_await get(std::string(kPages) + "/three");
    EXPECT_EQ(none.status, 404);
    EXPECT_EQ(none.json()["message"].as_string(), "pages.second.example.test \"three\" not found");
    const Value list = (co_await get(std::string(kPages) + "?labelSelector=page%3Dtwo")).json();
    EXPECT_EQ(list["kind"].as_string(), "PageList");
    CO_ASSERT(list["items"].items().size() == 1);
    EXPECT_EQ(list["items"].item(0)["metadata"]["name"].as_string(), "two");
    EXPECT_EQ((co_await get("/apis/second.example.test/v1/pages")).json()["items"].items().size(), 2U);
    const Value table = (co_await get(kPages, kTable)).json();
    EXPECT_EQ(table["kind"].as_string(), "Table");
    CO_ASSERT(table["rows"].items().size() == 2);
    EXPECT_EQ(table["rows"].item(1)["cells"], yaml("[two, text of two]"));
    EXPECT_EQ((co_await get(std::string(kPages) + "/one/text")).status, 200);
  });
}

TEST_F(SecondFamily, what_has_no_function_is_not_allowed) {
  serve([this]() -> Task<> {
    const Heard watched = co_await get(std::string(kPages) + "?watch=true");
    EXPECT_EQ(watched.status, 405);
    EXPECT_EQ(watched.json()["reason"].as_string(), "MethodNotAllowed");
    EXPECT_EQ((co_await send("DELETE", std::string(kPages) + "/one")).status, 405);
    EXPECT_EQ((co_await send("PUT", std::string(kPages) + "/one", "{}")).status, 405);
    EXPECT_EQ((co_await send("DELETE", std::string(kPages))).status, 405);
    EXPECT_EQ((co_await send("POST", std::string(kPages) + "/one/text", "{}")).status, 405);
    EXPECT_EQ((co_await get(std::string(kPages) + "/one/other")).status, 404);
  });
}

TEST_F(SecondFamily, a_create_is_checked_answered_and_knows_who_asks) {
  serve([this]() -> Task<> {
    const Heard made = co_await send("POST", kPages, R"({"metadata": {"name": "new"}, "spec": {"text": "x"}})");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.json()["metadata"]["namespace"].as_string(), "default");
    EXPECT_TRUE(made.header("Warning").contains("kept elsewhere"));
    const Value map = (co_await get(std::string(kMaps) + "/new")).json();
    EXPECT_EQ(map["data"]["by"].as_string(), "kubernetes-admin");
    const Heard astray = co_await send("POST", kPages, R"({"metadata": {"name": "new", "namespace": "other"}})");
    EXPECT_EQ(astray.status, 400) << astray.body;
    const Heard other =
        co_await send("POST", kPages, R"({"apiVersion": "second.example.test/v1", "kind": "Note", "metadata": {"name": "n"}})");
    EXPECT_EQ(other.status, 400) << other.body;
  });
}

TEST_F(SecondFamily, discovery_and_documents_tell_of_it) {
  serve([this]() -> Task<> {
    const Value rows = (co_await get("/apis/second.example.test/v1")).json()["resources"];
    std::vector<std::string> told;
    for (const Value& row : rows.items()) {
      if (row["name"].as_string().starts_with("pages")) told.push_back(json::print(row));
    }
    EXPECT_EQ(
        told,
        (std::vector<std::string>{
            R"({"name":"pages","singularName":"page","namespaced":true,"kind":"Page","verbs":["create","get","list"],"shortNames":["pg"]})",
            R"({"name":"pages/text","singularName":"","namespaced":true,"kind":"Page","verbs":["get"]})"}));
    const Value document = (co_await get("/openapi/v3/apis/second.example.test/v1")).json();
    EXPECT_TRUE(document["paths"].has("/apis/second.example.test/v1/namespaces/{namespace}/pages/{name}"));
    EXPECT_TRUE(json::print(document["components"]).contains("test.example.second.v1.Page"));
  });
}

TEST_F(SecondFamily, roles_give_rights_on_its_group) {
  serve([this]() -> Task<> {
    const http::Headers viewer = co_await as("vera", "view");
    const http::Headers editor = co_await as("ed", "edit");
    const std::string body = R"({"metadata": {"name": "theirs"}})";
    EXPECT_EQ((co_await send("GET", std::string(kPages) + "/one", "", viewer)).status, 200);
    EXPECT_EQ((co_await send("POST", kPages, body, viewer)).status, 403);
    EXPECT_EQ((co_await send("POST", kPages, body, editor)).status, 201);
    const http::Headers stranger{{"Impersonate-User", "stranger"}};
    EXPECT_EQ((co_await send("GET", std::string(kPages) + "/one", "", stranger)).status, 403);
    EXPECT_EQ((co_await send("GET", std::string(kPages) + "?watch=true", "", stranger)).status, 403);
  });
}

TEST_F(SecondFamily, paths_are_answered_to_whom_their_row_allows) {
  serve([this]() -> Task<> {
    const http::Headers stranger{{"Impersonate-User", "stranger"}};
    const Heard hooked = co_await send("POST", "/hooks/second/main", "pushed", stranger);
    EXPECT_EQ(hooked.status, 202);
    EXPECT_EQ(hooked.body, "POST /hooks/second/main from stranger: pushed");
    EXPECT_EQ((co_await send("POST", "/hooks/second", "too long a body", stranger)).status, 413);
    EXPECT_EQ((co_await send("GET", "/hooks/second", "", stranger)).status, 405);
    EXPECT_EQ((co_await get("/second/state")).status, 202);
    EXPECT_EQ((co_await send("GET", "/second/state", "", stranger)).status, 403);
    EXPECT_EQ((co_await get("/seconds")).status, 404);
  });
}

TEST_F(SecondFamily, a_definition_does_not_take_the_place_of_an_answered_kind) {
  serve([this]() -> Task<> {
    const Heard defined = co_await send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json::print(yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pages.second.example.test}
spec:
  group: second.example.test
  scope: Namespaced
  names: {plural: pages, kind: Page}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)")));
    EXPECT_EQ(defined.status, 201) << defined.body;
    const Value conditions = defined.json()["status"]["conditions"];
    CO_ASSERT(conditions.items().size() == 2);
    EXPECT_EQ(conditions.item(0)["type"].as_string(), "NamesAccepted");
    EXPECT_EQ(conditions.item(0)["status"].as_string(), "False");
    EXPECT_EQ(conditions.item(0)["reason"].as_string(), "PluralConflict");
    EXPECT_EQ((co_await get(std::string(kPages) + "/one")).json()["spec"]["text"].as_string(), "text of one");
    EXPECT_EQ(
        (co_await send("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pages.second.example.test")).status,
        200);
    EXPECT_EQ((co_await get(std::string(kPages) + "/one")).status, 200);
  });
}

}  // namespace
}  // namespace slipway::serve
