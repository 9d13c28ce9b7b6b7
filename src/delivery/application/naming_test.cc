#include "delivery/application/naming.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::application {
namespace {

TEST(Naming, dump_is_that_of_go) {
  const Value object = *json::parse(R"({"b": [1, "x", null, true], "a": {"f": 1.5, "e": {}, "l": []}})");
  EXPECT_EQ(go_dump(object),
            "(unstructured.Unstructured){Object:(map[string]interface {})map[a:(map[string]interface {})map["
            "e:(map[string]interface {})map[] f:(float64)1.5 l:([]interface {})[]] "
            "b:([]interface {})[(int64)1 (string)x (interface {})<nil> (bool)true]]}");
}

TEST(Naming, generated_names_have_no_vowels_and_depend_on_the_object) {
  const std::string one = generated_name("web", "Ingress", *json::parse(R"({"kind": "A"})"));
  EXPECT_TRUE(one.starts_with("web-ingress-")) << one;
  EXPECT_EQ(one.substr(12).find_first_of("aeiou013"), std::string::npos) << one;
  EXPECT_NE(one, generated_name("web", "Ingress", *json::parse(R"({"kind": "B"})")));
  EXPECT_TRUE(generated_name("web", "", json::object({})).starts_with("web-trait-"));
}

TEST(Naming, revision_of_a_component_is_blind_to_the_order_of_fields) {
  ComponentSpec one;
  one.name = "web";
  one.properties = *json::parse(R"({"a": 1, "b": {"c": [1], "d": 2}})");
  ComponentSpec other = one;
  other.properties = *json::parse(R"({"b": {"d": 2, "c": [1]}, "a": 1})");
  EXPECT_EQ(component_revision(one), component_revision(other));
  other.properties = *json::parse(R"({"b": {"d": 2, "c": [2]}, "a": 1})");
  EXPECT_NE(component_revision(one), component_revision(other));
}

TEST(Naming, revisions_of_definitions_are_named_with_a_dash) {
  EXPECT_EQ(revision_name("worker@v1.3"), "worker-v1.3");
  EXPECT_EQ(revision_name("worker"), "worker");
}

}  // namespace
}  // namespace slipway::delivery::application
