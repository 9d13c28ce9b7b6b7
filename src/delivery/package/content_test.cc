#include "delivery/package/content.h"

#include <gtest/gtest.h>

namespace slipway::delivery::package {
namespace {

constexpr const char* kGatedKptfile = R"(apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
        name: a
info:
        readinessGates:
        # the first gate
        - conditionType: "g1"   # why g1

        - conditionType: g2
        description: "as it is"
status:
        # conds
        conditions:
        - type: g1   # c1
          status: 'False'
)";

Gates gates(std::initializer_list<const char*> types) {
  Gates made;
  for (const char* type : types) made.push_back({.type = type});
  return made;
}

TEST(Content, a_gate_or_a_condition_more_leaves_the_others_as_they_are_written) {
  const std::string text = with_verdicts(kGatedKptfile, gates({"g1", "g2", "g5"}), {{.type = "g1", .status = Truth::False}});
  for (const char* line : {"# the first gate\n", "- conditionType: \"g1\"   # why g1\n", "description: \"as it is\"\n",
                           "# conds\n", "- type: g1   # c1\n", "status: 'False'\n", "conditionType: g5"}) {
    EXPECT_TRUE(text.contains(line)) << line << text;
  }
}

TEST(Content, only_what_changed_of_a_condition_is_written) {
  const std::string text =
      with_verdicts(kGatedKptfile, gates({"g1", "g2"}),
                    {{.type = "g1", .status = Truth::True, .reason = "Done"}, {.type = "g2", .status = Truth::Unknown}});
  const Verdicts said = *verdicts_of({{"Kptfile", text}});
  ASSERT_EQ(said.conditions->size(), 2U) << text;
  EXPECT_EQ(said.conditions->at(0).status, Truth::True);
  EXPECT_EQ(said.conditions->at(0).reason, "Done");
  EXPECT_EQ(said.conditions->at(1).type, "g2");
  EXPECT_TRUE(text.contains("- type: g1   # c1\n")) << text;
  EXPECT_TRUE(text.contains("# why g1\n")) << text;
}

TEST(Content, gates_that_are_gone_go_one_by_one) {
  const std::string text = with_verdicts(kGatedKptfile, gates({"g1"}), {});
  EXPECT_FALSE(text.contains("g2")) << text;
  EXPECT_FALSE(text.contains("conditions")) << text;
  EXPECT_TRUE(text.contains("- conditionType: \"g1\"   # why g1\n")) << text;
  const Verdicts said = *verdicts_of({{"Kptfile", text}});
  EXPECT_EQ(*said.gates, std::vector<std::string>{"g1"});
}

TEST(Content, an_order_of_its_own_is_kept_as_the_log_has_it) {
  const Verdicts said = *verdicts_of({{"Kptfile", with_verdicts(kGatedKptfile, gates({"g0", "g2", "g1"}), {})}});
  EXPECT_EQ(*said.gates, (std::vector<std::string>{"g0", "g2", "g1"}));
}

}  // namespace
}  // namespace slipway::delivery::package
