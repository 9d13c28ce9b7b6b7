// What ends a run while steps of it are suspended, or while none of it runs: by a step or by a user.
#include <gtest/gtest.h>

#include "delivery/workflow/engine_play_test.h"

namespace slipway::delivery::workflow {
namespace {

using namespace std::chrono_literals;

constexpr const char* kGraphBesideApproval = R"(
- {name: approve, type: suspend}
- {name: x, type: %}
- {name: prod, type: ok, dependsOn: [approve]}
- {name: clean, type: ok, if: always, dependsOn: [approve]}
)";
constexpr const char* kGroupWithApproval = R"(
- {name: g, type: step-group, subSteps: [{name: approve, type: suspend}, {name: x, type: %}]}
- {name: prod, type: ok}
- {name: clean, type: ok, if: always}
)";

struct EnderRow {
  const char* steps;
  const char* mode;
  const char* type;
  const char* shown;
};

void PrintTo(const EnderRow& row, std::ostream* out) { *out << row.type << " " << row.mode; }

class EndBesideApproval : public EnginePlay, public testing::WithParamInterface<EnderRow> {};

TEST_P(EndBesideApproval, fails_the_suspended_step_and_ends_the_run) {
  define("break-later", "import \"vela/op\"\nw: op.#ConditionalWait & {continue: context.goes}\nb: op.#Break & {}");
  for (const bool flag : {false, true}) {
    status = {};
    store = {};
    goes = false;
    options.suspends_on_failure = flag;
    std::string text = GetParam().steps;
    text.replace(text.find('%'), 1, GetParam().type);
    const Steps steps = steps_of(text, GetParam().mode);
    pass(steps);
    goes = true;
    env.advance(1s);
    run(steps);
    EXPECT_EQ(shown(), GetParam().shown) << flag;
    EXPECT_EQ(message("approve"), "step x ended the run while this one was suspended");
    EXPECT_EQ(status.phase, kFailed);
    EXPECT_FALSE(status.is_suspended);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rows, EndBesideApproval,
    testing::Values(EnderRow{kGraphBesideApproval, "{steps: DAG}", "break",
                             "approve:failed/Terminate x:succeeded/Terminate prod:skipped/Skip clean:succeeded"},
                    EnderRow{kGraphBesideApproval, "{steps: DAG}", "break-later",
                             "approve:failed/Terminate x:succeeded/Terminate prod:skipped/Skip clean:succeeded"},
                    EnderRow{kGraphBesideApproval, "{steps: DAG}", "fail",
                             "approve:failed/Terminate x:failed/Action prod:skipped/Skip clean:succeeded"},
                    EnderRow{
                        kGroupWithApproval, "", "break",
                        "g:failed/Terminate(approve:failed/Terminate x:succeeded/Terminate) prod:skipped/Skip clean:succeeded"},
                    EnderRow{kGroupWithApproval, "", "fail",
                             "g:failed/Action(approve:failed/Terminate x:failed/Action) prod:skipped/Skip clean:succeeded"}));

class RunEnd : public EnginePlay {};

TEST_F(RunEnd, a_step_that_suspends_after_the_end_waits_until_it_is_resumed) {
  for (const char* first : {"suspend", "break", "fail"}) {
    status = {};
    store = {};
    const Steps steps =
        steps_of(fmt::format("[{{name: a, type: {}}}, {{name: b, type: suspend, if: always}}, {{name: c, type: ok}}]", first));
    pass(steps);
    if (status.is_suspended && !status.is_terminated) status = terminate(status).value();
    run(steps);
    pass(steps);
    EXPECT_TRUE(shown().ends_with("b:suspending/Suspend")) << shown();
    EXPECT_TRUE(status.is_terminated);
    status = resume(status).value();
    run(steps);
    EXPECT_TRUE(shown().ends_with("b:succeeded c:skipped/Skip")) << shown();
    EXPECT_TRUE(status.is_finished);
  }
}

TEST_F(RunEnd, an_approval_beside_a_step_that_timed_out_can_be_given) {
  const Steps steps = steps_of(
      "[{name: x, type: wait, timeout: 5s}, {name: approve, type: suspend}, {name: prod, type: ok, dependsOn: [approve]}]",
      "{steps: DAG}");
  pass(steps);
  env.advance(5s);
  pass(steps);
  EXPECT_TRUE(status.is_terminated);
  EXPECT_EQ(message("approve"), "Suspended by field suspend");
  status = resume(status).value();
  run(steps);
  EXPECT_EQ(shown(), "x:failed/Timeout approve:succeeded prod:succeeded");
  EXPECT_EQ(status.phase, kFailed);
}

TEST_F(RunEnd, what_always_runs_comes_to_its_end_in_turn_after_a_run_of_used_up_retries_is_terminated) {
  options.suspends_on_failure = true;
  options.max_failures = 0;
  for (const bool is_by_hand : {true, false}) {
    status = {};
    store = {};
    goes = false;
    const Steps steps = steps_of(
        "[{name: x, type: error}, {name: one, type: wait, if: always}, {name: two, type: wait, if: always}, {name: after, "
        "type: ok}]");
    run(steps);
    if (is_by_hand) {
      status = terminate(status).value();
    } else {
      status.is_terminated = true;
    }
    for (int n = 0; n < 3; ++n) {
      pass(steps);
      EXPECT_EQ(shown(), "x:failed/FailedAfterRetries one:running/Wait") << is_by_hand;
      env.advance(1s);
    }
    goes = true;
    run(steps);
    EXPECT_EQ(shown(), "x:failed/FailedAfterRetries one:succeeded two:succeeded after:skipped/Skip") << is_by_hand;
    EXPECT_EQ(status.phase, kFailed);
  }
}

}  // namespace
}  // namespace slipway::delivery::workflow
