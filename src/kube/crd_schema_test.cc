#include "kube/crd_schema.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "kube/builtin.h"
#include "kube/schema.h"

namespace slipway::kube {
namespace {

enum class Speed { Fast, Slow };
inline auto describe_enum(Speed) { return json::enum_names<Speed>({{Speed::Fast, "Fast"}, {Speed::Slow, "Slow"}}); }

struct Wheel {
  std::string name;
  std::int32_t size = 3;
  static void describe(auto& d) {
    d.doc("One wheel.");
    d.field("name", &Wheel::name, "Its place.").required().min_length(1);
    d.field("size", &Wheel::size, "In inches.").with_default().minimum(1);
  }
};

struct CartSpec {
  Speed speed = Speed::Slow;
  std::vector<Wheel> wheels;
  std::map<std::string, std::string> tags;
  json::Value load;
  static void describe(auto& d) {
    d.doc("What a cart is.");
    d.field("speed", &CartSpec::speed, "How fast it goes.");
    d.field("wheels", &CartSpec::wheels, "Its wheels.").list_type("map", {"name"}).max_items(4);
    d.field("tags", &CartSpec::tags, "Free text.");
    d.field("load", &CartSpec::load, "Anything.").any_object();
  }
};

CrdSpec cart() {
  CrdSpec spec;
  spec.group = "example.dev";
  spec.version = "v1";
  spec.kind = "Cart";
  spec.plural = "carts";
  spec.doc = "A cart.";
  spec.columns = {
      {.name = "Speed", .type = "string", .format = "", .description = "", .priority = 0, .json_path = ".spec.speed"}};
  spec.selectable_fields = {"spec.speed"};
  spec.spec_schema = open_api_schema(json::describe<CartSpec>());
  return spec;
}

TEST(CrdSchema, carries_the_rules_of_described_structs) {
  EXPECT_EQ(
      json::print(cart().spec_schema),
      R"({"description":"What a cart is.","type":"object","properties":{)"
      R"("speed":{"description":"How fast it goes.","type":"string","enum":["Fast","Slow"]},)"
      R"("wheels":{"description":"Its wheels.","type":"array","maxItems":4,"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],)"
      R"("items":{"description":"One wheel.","type":"object","properties":{"name":{"description":"Its place.","type":"string","minLength":1},)"
      R"("size":{"description":"In inches.","type":"integer","format":"int32","minimum":1,"default":3}},"required":["name"]}},)"
      R"("tags":{"description":"Free text.","type":"object","additionalProperties":{"type":"string"}},)"
      R"("load":{"description":"Anything.","type":"object","x-kubernetes-preserve-unknown-fields":true}}})");
}

TEST(CrdSchema, is_structural_and_works) {
  const json::Value crd = make_crd(cart());
  const auto schema = Schema::compile(crd["spec"]["versions"].item(0)["schema"]["openAPIV3Schema"]);
  ASSERT_TRUE(schema.has_value()) << schema.error().message;
  const json::Value filled = (*schema)->fill_defaults(json::parse(R"({"spec":{"wheels":[{"name":"a"}]}})").value());
  EXPECT_EQ(filled["spec"]["wheels"].item(0)["size"].as_int(), 3);
  EXPECT_EQ((*schema)->validate(json::parse(R"({"kind":"Cart"})").value()).size(), 1U);
}

TEST(CrdSchema, makes_a_crd_the_server_takes) {
  const json::Value crd = make_crd(cart());
  EXPECT_EQ(crd["metadata"]["name"].as_string(), "carts.example.dev");
  EXPECT_EQ(json::print(crd["spec"]["names"]), R"({"kind":"Cart","listKind":"CartList","plural":"carts","singular":"cart"})");
  EXPECT_EQ(json::print(crd["spec"]["versions"].item(0)["subresources"]), R"({"status":{}})");
  for (const ResourceType& type : builtin_types()) {
    if (type.kind.kind != "CustomResourceDefinition") continue;
    std::vector<std::string> dropped;
    type.schema->prune(crd, &dropped);
    EXPECT_TRUE(dropped.empty()) << dropped.front();
    EXPECT_TRUE(type.schema->validate(crd).empty());
  }
}

}  // namespace
}  // namespace slipway::kube
