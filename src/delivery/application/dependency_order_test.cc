#include "delivery/application/dependency_order.h"

#include <gtest/gtest.h>

namespace slipway::delivery::application {
namespace {

ComponentSpec component(const std::string& name, std::vector<std::string> depends_on) {
  ComponentSpec made;
  made.name = name;
  made.depends_on = std::move(depends_on);
  return made;
}

TEST(DependencyOrder, counts_the_longest_chain) {
  ApplicationSpec spec;
  spec.components = {component("a", {}), component("b", {"a"}), component("c", {"a", "b"}), component("d", {})};
  const DependencyOrder order(spec);
  EXPECT_EQ(order.depth("a"), 0U);
  EXPECT_EQ(order.depth("b"), 1U);
  EXPECT_EQ(order.depth("c"), 2U);
  EXPECT_EQ(order.depth("d"), 0U);
  EXPECT_EQ(order.depth(""), 0U);
  EXPECT_EQ(order.first_dependant("a", {"c", "d"}), "c");
  EXPECT_EQ(order.first_dependant("b", {"a", "b", "d"}), "");
}

TEST(DependencyOrder, an_input_from_an_output_is_a_dependency) {
  ApplicationSpec spec;
  spec.components = {component("user", {}), component("base", {})};
  spec.components[0].inputs = {{"address.host", "host"}};
  spec.components[1].outputs = {{"address", "output.status"}};
  const DependencyOrder order(spec);
  EXPECT_EQ(order.first_dependant("base", {"user"}), "user");
  EXPECT_EQ(order.depth("user"), 1U);
}

TEST(DependencyOrder, a_cycle_ends) {
  ApplicationSpec spec;
  spec.components = {component("a", {"b"}), component("b", {"a"})};
  EXPECT_LE(DependencyOrder(spec).depth("a"), 4U);
}

}  // namespace
}  // namespace slipway::delivery::application
