#include "krm/kptfile.h"

#include <gtest/gtest.h>

namespace slipway::krm {
namespace {

constexpr std::string_view kHead = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n";

Kptfile read(const std::string& rest) {
  auto made = read_kptfile(std::string(kHead) + rest);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *made : Kptfile{};
}

TEST(Kptfile, is_ready_without_gates) { EXPECT_TRUE(is_ready(read(""))); }

TEST(Kptfile, waits_for_each_gate_to_be_true) {
  const Kptfile file = read(
      "info:\n  readinessGates:\n  - conditionType: a\n  - conditionType: b\n  - conditionType: c\n  - conditionType: d\n"
      "status:\n  conditions:\n  - type: a\n    status: \"True\"\n  - type: b\n    status: \"False\"\n    reason: Pending\n    "
      "message: no prefix left\n"
      "  - type: c\n    status: Unknown\n  - type: other\n    status: \"False\"\n");
  EXPECT_FALSE(is_ready(file));
  EXPECT_EQ(punch_list(unmet_gates(file)), "b: False, Pending: no prefix left\nc: Unknown\nd: no condition yet\n");
}

TEST(Kptfile, refuses_fields_that_it_has_not_and_names_their_lines) {
  const std::string text = std::string(kHead) + "pipeline:\n  mutators:\n  - image: x\n    targetResources: []\nextra: 1\n";
  EXPECT_EQ(read_kptfile(text, "sub/Kptfile").error().message,
            "sub/Kptfile can't be read.\n\nDetails:\nyaml: unmarshal errors:\n"
            "  line 8: field targetResources not found in type v1.Function (sub/Kptfile:8)\n"
            "  line 9: field extra not found in type v1.KptFile (sub/Kptfile:9)");
}

TEST(Kptfile, refuses_other_statuses_and_old_versions) {
  EXPECT_EQ(read_kptfile(std::string(kHead) + "status:\n  conditions:\n  - type: a\n    status: yes\n").error().reason,
            Reason::BadRequest);
  EXPECT_TRUE(
      read_kptfile("apiVersion: kpt.dev/v1alpha2\nkind: Kptfile\n").error().message.contains("Please migrate the package"));
}

TEST(Kptfile, sets_a_condition_and_keeps_every_other_byte) {
  const std::string text =
      std::string(kHead) +
      "# facts\nstatus:\r\n  conditions:\n    - type: a   # mine\n      status: 'False'\n      reason:  Old\n\n\nx-end:  1\n";
  auto made = with_condition(text, {.type = "a", .status = "True", .reason = "", .message = "done"});
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(*made, std::string(kHead) +
                       "# facts\nstatus:\r\n  conditions:\n    - type: a   # mine\n      status: 'True'\r\n      message: "
                       "done\n\n\nx-end:  1\n");
  auto added = with_condition(std::string(kHead), {.type = "a", .status = "True", .reason = "R", .message = ""});
  ASSERT_TRUE(added.has_value());
  EXPECT_EQ(*added, std::string(kHead) + "status:\n  conditions:\n  - type: a\n    status: \"True\"\n    reason: R\n");
}

TEST(Kptfile, adds_and_removes_gates) {
  auto one = with_gate(std::string(kHead), "a");
  ASSERT_TRUE(one.has_value());
  auto two = with_gate(*one, "b");
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(*two, std::string(kHead) + "info:\n  readinessGates:\n  - conditionType: a\n  - conditionType: b\n");
  EXPECT_EQ(*with_gate(*two, "b"), *two);
  EXPECT_EQ(*without_gate(*two, "b"), *one);
  EXPECT_EQ(without_gate(*two, "z").error().reason, Reason::NotFound);
}

}  // namespace
}  // namespace slipway::krm
