// Tables, metadata only, YAML, pretty: what an Accept header brings.
#include "serve/negotiate.h"
#include "wire_fixture.h"

namespace slipway::serve {
namespace {

using Forms = WireTest;

Form form_of(std::string accept, std::string_view query = "") {
  const auto form = negotiate({{"Accept", std::move(accept)}}, *net::Query::parse(query), Purpose::Answer);
  if (!form) ADD_FAILURE() << form.error().message;
  return form ? *form : Form{};
}

TEST(Negotiate, takes_the_first_range_that_is_served) {
  EXPECT_EQ(
      form_of("application/json;as=Table;v=v2;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io").meta_version,
      "v1beta1");
  EXPECT_EQ(form_of("application/vnd.kubernetes.protobuf,application/json").encoding, Encoding::Json);
  EXPECT_EQ(form_of("application/json;q=0.5, application/yaml").encoding, Encoding::Yaml);
  EXPECT_EQ(form_of("text/html, */*;q=0.1").encoding, Encoding::Json);
  EXPECT_TRUE(form_of("application/json", "pretty=true").is_pretty);
}

TEST(Negotiate, refuses_what_is_not_served) {
  const auto refused = negotiate({{"Accept", "text/html"}}, {}, Purpose::Answer);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::NotAcceptable);
  EXPECT_FALSE(negotiate({{"Accept", "application/yaml"}}, {}, Purpose::Stream));
  EXPECT_FALSE(negotiate({{"Accept", "application/json;as=Foo;v=v1;g=meta.k8s.io"}}, {}, Purpose::Answer));
}

TEST_F(Forms, a_list_as_a_table_has_rows_with_metadata) {
  serve([this]() -> Task<> {
    co_await send("POST", kMaps, config_map("a"));
    const Value table = (co_await get(kMaps, kTable)).json();
    EXPECT_EQ(table["kind"].as_string(), "Table");
    EXPECT_EQ(table["apiVersion"].as_string(), "meta.k8s.io/v1");
    EXPECT_EQ(table["columnDefinitions"].item(0)["name"].as_string(), "Name");
    CO_ASSERT(table["rows"].size() == 1);
    EXPECT_EQ(table["rows"].item(0)["cells"].item(0).as_string(), "a");
    EXPECT_EQ(table["rows"].item(0)["object"]["kind"].as_string(), "PartialObjectMetadata");
    EXPECT_TRUE(table["metadata"].has("resourceVersion"));
    const Value whole = (co_await get(std::string(kMaps) + "?includeObject=Object", kTable)).json();
    EXPECT_EQ(whole["rows"].item(0)["object"]["data"]["k"].as_string(), "1");
    const Value bare = (co_await get(std::string(kMaps) + "/a?includeObject=None", kTable)).json();
    EXPECT_FALSE(bare["rows"].item(0).has("object"));
    EXPECT_EQ((co_await get(std::string(kMaps) + "?includeObject=Some", kTable)).status, 422);
  });
}

TEST_F(Forms, metadata_alone_is_given_for_one_and_for_lists) {
  serve([this]() -> Task<> {
    co_await send("POST", kMaps, config_map("a"));
    const std::string one = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    const std::string many = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    const Value object = (co_await get(std::string(kMaps) + "/a", one)).json();
    EXPECT_EQ(object["kind"].as_string(), "PartialObjectMetadata");
    EXPECT_EQ(object["metadata"]["name"].as_string(), "a");
    EXPECT_FALSE(object.has("data"));
    const Value list = (co_await get(kMaps, many)).json();
    EXPECT_EQ(list["kind"].as_string(), "PartialObjectMetadataList");
    EXPECT_EQ(list["items"].item(0)["kind"].as_string(), "PartialObjectMetadata");
    EXPECT_EQ((co_await get(kMaps, one)).status, 406);
    EXPECT_EQ((co_await get(std::string(kMaps) + "/a", many)).status, 406);
  });
}

TEST_F(Forms, yaml_and_pretty_json_are_spoken) {
  serve([this]() -> Task<> {
    co_await send("POST", kMaps, config_map("a"));
    const Heard text = co_await get(std::string(kMaps) + "/a", "application/yaml");
    EXPECT_EQ(text.header("Content-Type"), "application/yaml");
    EXPECT_EQ(yaml(text.body)["data"]["k"].as_string(), "1");
    EXPECT_TRUE((co_await get(std::string(kMaps) + "/a?pretty=1")).body.contains("\n  \"kind\""));
    EXPECT_EQ((co_await get(kMaps, "text/html")).status, 406);
  });
}

}  // namespace
}  // namespace slipway::serve
