#include "delivery/application/show_steps.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/application/render_test.h"

namespace slipway::delivery::application {
namespace {

using testing::yaml;

/// "what (Reason): message", one per line.
std::string waits(const char* run) {
  std::string text;
  for (const control::Wait& wait : waits_of_steps(yaml(run), "resume it")) {
    text += fmt::format("{} ({}): {}\n", wait.on, wait.reason, wait.message);
  }
  return text;
}

TEST(ShowSteps, a_run_that_a_user_paused_waits_for_that_user_and_for_no_gate) {
  EXPECT_EQ(
      waits("{suspend: true, suspendedBy: ann, steps: [{name: two, type: w, phase: running, reason: Wait, message: not yet}]}"),
      "the workflow (Suspend): ann paused it: `resume it` goes on\n");
  EXPECT_EQ(waits("{suspend: true, steps: []}"), "the workflow (Suspend): a user paused it: `resume it` goes on\n");
  EXPECT_EQ(waits("{suspend: true, steps: [{name: two, type: w, phase: suspending, reason: Wait, message: not yet}]}"),
            "step \"two\" (Suspend): a user paused it: `resume it` goes on\n");
}

TEST(ShowSteps, a_step_that_suspended_itself_waits_for_a_person) {
  EXPECT_EQ(
      waits("{suspend: true, steps: [{name: ask, type: suspend, phase: suspending, reason: Suspend, message: ok?}, {name: b, "
            "type: w, phase: running, reason: Wait, message: not yet}]}"),
      "step \"ask\" (Suspend): ok?; waits for a person: `resume it` goes on\nstep \"b\" (Wait): not yet\n");
}

TEST(ShowSteps, a_run_that_failures_have_suspended_names_the_steps) {
  EXPECT_EQ(waits("{suspend: true, suspendState: FailedAfterRetries, steps: [{name: x, type: w, phase: failed, reason: "
                  "FailedAfterRetries, message: it broke}]}"),
            "step \"x\" (FailedAfterRetries): it has used up its retries: it broke; `resume it` tries it again\n");
}

TEST(ShowSteps, a_run_that_goes_on_waits_for_its_steps) {
  EXPECT_EQ(waits("{suspend: false, steps: [{name: two, type: w, phase: running, reason: Wait, message: not yet}]}"),
            "step \"two\" (Wait): not yet\n");
  EXPECT_EQ(waits("{suspend: false, steps: [{name: two, type: w, phase: running, reason: Wait}]}"),
            "step \"two\" (Wait): the condition that it waits for is false\n");
}

TEST(ShowSteps, a_step_that_is_suspended_after_the_end_of_the_run_waits_for_a_person) {
  const Value spec = yaml("[{name: a, type: w, timeout: 5s}, {name: ask, type: suspend}]");
  const char* asks = "{name: ask, type: suspend, phase: suspending, reason: Suspend}";
  const auto held = hold_of(
      yaml(fmt::format("{{suspend: true, terminated: true, steps: [{{name: a, type: w, phase: failed, reason: Timeout}}, {}]}}",
                       asks)
               .c_str()),
      spec);
  ASSERT_TRUE(held);
  EXPECT_EQ(held->text, "step ask waits for a person");
  EXPECT_FALSE(hold_of(yaml(fmt::format("{{suspend: true, terminated: true, steps: [{}]}}", asks).c_str()), spec))
      << "the user who has just ended the run waits for nobody";
}

}  // namespace
}  // namespace slipway::delivery::application
