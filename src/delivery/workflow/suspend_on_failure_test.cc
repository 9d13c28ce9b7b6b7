// What ends or holds a run, with --suspend-on-failure and without it: the flag changes only what happens when the retries of a
// step are used up.
#include <gtest/gtest.h>

#include "delivery/workflow/engine_play_test.h"

namespace slipway::delivery::workflow {
namespace {

using namespace std::chrono_literals;

enum class Event : std::uint8_t {
  TerminateByHand,
  TerminateByStatus,
  Break,
  Fail,
  IfFalse,
  IfFaulty,
  RetriesUsedUp,
  SuspendByHand,
  TimeOut,
};
constexpr const char* kEventNames[] = {"terminate_by_hand", "terminate_by_status", "break",           "fail",    "if_false",
                                       "if_faulty",         "retries_used_up",     "suspend_by_hand", "time_out"};

/// The step x to which it happens.
constexpr const char* kEventSteps[] = {"{name: x, type: wait",
                                       "{name: x, type: wait",
                                       "{name: x, type: break",
                                       "{name: x, type: fail",
                                       "{name: x, type: ok, if: '1 == 2'",
                                       "{name: x, type: ok, if: 'context.nothing == 1'",
                                       "{name: x, type: error",
                                       "{name: x, type: wait",
                                       "{name: x, type: wait, timeout: 5s"};

constexpr const char* kSequence = R"(
- %}
- {name: after, type: ok}
- {name: always, type: ok, if: always}
- {name: met, type: ok, if: 'context.name == "app"'}
- {name: unmet, type: ok, if: '1 == 2'}
)";
/// `open` runs beside x, and `later` begins after it.
constexpr const char* kGraph = R"(
- %}
- {name: after, type: ok, dependsOn: [x]}
- {name: always, type: ok, if: always, dependsOn: [x]}
- {name: met, type: ok, if: 'context.name == "app"', dependsOn: [x]}
- {name: unmet, type: ok, if: '1 == 2', dependsOn: [x]}
- {name: open, type: wait}
- {name: later, type: ok, dependsOn: [open]}
)";
constexpr const char* kGroup = R"(
- name: g
  type: step-group
  subSteps:
  - %}
  - {name: sub, type: ok, dependsOn: [x]}
  - {name: sub-always, type: ok, if: always, dependsOn: [x]}
- {name: after, type: ok}
- {name: always, type: ok, if: always}
- {name: met, type: ok, if: 'context.name == "app"'}
- {name: unmet, type: ok, if: '1 == 2'}
)";
constexpr const char* kSkipsAfter = " after:skipped/Skip always:succeeded met:succeeded unmet:skipped/Skip";
constexpr const char* kRunsAfter = " after:succeeded always:succeeded met:succeeded unmet:skipped/Skip";

struct FlagRow {
  const char* mode;
  const char* steps;
  Event event;
  /// At rest before it is resumed; empty: it is never suspended.
  std::string held;
  std::string shown;
  const char* phase;
  std::optional<bool> flag{};  // absent: with the flag and without it
};

void PrintTo(const FlagRow& row, std::ostream* out) { *out << row.mode; }

std::vector<FlagRow> sequence_rows() {
  const auto row = [](Event event, std::string held, std::string shown, const char* phase, std::optional<bool> flag = {}) {
    return FlagRow{"sequence", kSequence, event, std::move(held), std::move(shown), phase, flag};
  };
  const std::string skips = kSkipsAfter;
  const std::string runs = kRunsAfter;
  return {
      row(Event::TerminateByHand, "", "x:failed/Terminate" + skips, kTerminated),
      row(Event::TerminateByStatus, "", "x:failed/Terminate" + skips, kTerminated),
      row(Event::Break, "", "x:succeeded/Terminate" + skips, kFailed),
      row(Event::Fail, "", "x:failed/Action" + skips, kFailed),
      row(Event::IfFalse, "", "x:skipped/Skip" + runs, kSucceeded),
      row(Event::IfFaulty, "", "x:failed/Input" + skips, kFailed),
      row(Event::RetriesUsedUp, "", "x:failed/FailedAfterRetries" + skips, kFailed, false),
      row(Event::RetriesUsedUp, "x:failed/FailedAfterRetries", "x:succeeded" + runs, kSucceeded, true),
      row(Event::SuspendByHand, "x:suspending/Wait", "x:succeeded" + runs, kSucceeded),
      row(Event::TimeOut, "", "x:failed/Timeout" + skips, kFailed),
  };
}

std::vector<FlagRow> graph_rows() {
  const auto row = [](Event event, std::string held, std::string shown, const char* phase, std::optional<bool> flag = {}) {
    return FlagRow{"graph", kGraph, event, std::move(held), std::move(shown), phase, flag};
  };
  const std::string skips = kSkipsAfter;
  const std::string runs = kRunsAfter;
  const std::string ended = " open:failed/Terminate later:skipped/Skip";
  const std::string held_back = " open:succeeded later:skipped/Skip";
  const std::string goes_on = " open:succeeded later:succeeded";
  return {
      row(Event::TerminateByHand, "", "x:failed/Terminate" + skips + ended, kTerminated),
      row(Event::TerminateByStatus, "", "x:failed/Terminate" + skips + ended, kTerminated),
      row(Event::Break, "", "x:succeeded/Terminate" + skips + held_back, kFailed),
      row(Event::Fail, "", "x:failed/Action" + skips + held_back, kFailed),
      // What depends on a skipped step of a graph is skipped, as KubeVela has it.
      row(Event::IfFalse, "", "x:skipped/Skip" + skips + goes_on, kSucceeded),
      row(Event::IfFaulty, "", "x:failed/Input" + skips + goes_on, kFailed),
      row(Event::RetriesUsedUp, "", "x:failed/FailedAfterRetries" + skips + goes_on, kFailed, false),
      row(Event::RetriesUsedUp, "x:failed/FailedAfterRetries" + goes_on, "x:succeeded" + runs + goes_on, kSucceeded, true),
      row(Event::SuspendByHand,
          "x:suspending/Wait after:pending always:pending met:pending unmet:pending open:suspending/Wait later:pending",
          "x:succeeded" + runs + goes_on, kSucceeded),
      row(Event::TimeOut, "", "x:failed/Timeout" + skips + goes_on, kFailed),
  };
}

std::vector<FlagRow> group_rows() {
  const auto row = [](Event event, std::string held, std::string shown, const char* phase, std::optional<bool> flag = {}) {
    return FlagRow{"group", kGroup, event, std::move(held), std::move(shown), phase, flag};
  };
  const std::string skips = std::string(" sub:skipped/Skip sub-always:succeeded)") + kSkipsAfter;
  const std::string runs = std::string(" sub:succeeded sub-always:succeeded)") + kRunsAfter;
  return {
      row(Event::TerminateByHand, "", "g:failed/Terminate(x:failed/Terminate" + skips, kTerminated),
      row(Event::TerminateByStatus, "", "g:failed/Terminate(x:failed/Terminate" + skips, kTerminated),
      row(Event::Break, "", "g:succeeded(x:succeeded/Terminate" + skips, kFailed),
      row(Event::Fail, "", "g:failed/Action(x:failed/Action" + skips, kFailed),
      row(Event::IfFalse, "", "g:succeeded(x:skipped/Skip sub:skipped/Skip sub-always:succeeded)" + std::string(kRunsAfter),
          kSucceeded),
      row(Event::IfFaulty, "", "g:failed/Input(x:failed/Input" + skips, kFailed),
      row(Event::RetriesUsedUp, "", "g:failed/FailedAfterRetries(x:failed/FailedAfterRetries" + skips, kFailed, false),
      row(Event::RetriesUsedUp, "g:running(x:failed/FailedAfterRetries)", "g:succeeded(x:succeeded" + runs, kSucceeded, true),
      row(Event::SuspendByHand, "g:suspending(x:suspending/Wait sub:pending sub-always:pending)",
          "g:succeeded(x:succeeded" + runs, kSucceeded),
      row(Event::TimeOut, "", "g:failed/Timeout(x:failed/Timeout" + skips, kFailed),
  };
}

/// Each row with the flag and without it.
std::vector<FlagRow> rows() {
  std::vector<FlagRow> all;
  for (const auto& some : {sequence_rows(), graph_rows(), group_rows()}) {
    for (const FlagRow& row : some) {
      for (const bool flag : {false, true}) {
        if (row.flag && *row.flag != flag) continue;
        all.push_back(row);
        all.back().flag = flag;
      }
    }
  }
  return all;
}

class SuspendOnFailure : public EnginePlay, public testing::WithParamInterface<FlagRow> {
 protected:
  Steps steps() {
    std::string text = GetParam().steps;
    text.replace(text.find('%'), 1, kEventSteps[static_cast<std::size_t>(GetParam().event)]);
    return steps_of(text, GetParam().steps == kGraph ? "{steps: DAG}" : "");
  }
  void happen() {
    switch (GetParam().event) {
      case Event::TerminateByHand:
        status = terminate(status).value();
        break;
      case Event::TerminateByStatus:
        status.is_terminated = true;
        break;
      case Event::SuspendByHand:
        status = suspend(status).value();
        break;
      case Event::TimeOut:
        env.advance(5s);
        break;
      case Event::Break:
      case Event::Fail:
      case Event::IfFalse:
      case Event::IfFaulty:
      case Event::RetriesUsedUp:
        break;
    }
  }
};

TEST_P(SuspendOnFailure, changes_only_what_follows_used_up_retries) {
  options.suspends_on_failure = *GetParam().flag;
  options.max_failures = 0;
  const Steps all = steps();
  pass(all);
  happen();
  pass(all);
  goes = GetParam().event != Event::SuspendByHand;
  run(all);
  if (!GetParam().held.empty()) {
    EXPECT_EQ(shown(), GetParam().held);
    EXPECT_EQ(status.phase, kSuspending);
    EXPECT_LE(errors, 1) << "what used up its retries is not run again before it is resumed";
    goes = true;
    errors_wanted = 0;
    status.is_suspended = false;
    run(all);
  }
  EXPECT_EQ(shown(), GetParam().shown) << message("x");
  EXPECT_EQ(status.phase, GetParam().phase);
  EXPECT_TRUE(status.is_finished);
}

INSTANTIATE_TEST_SUITE_P(Rows, SuspendOnFailure, testing::ValuesIn(rows()), [](const auto& at) {
  const FlagRow& row = at.param;
  return fmt::format("{}_{}_{}", row.mode, kEventNames[static_cast<std::size_t>(row.event)],
                     *row.flag ? "with_flag" : "without_flag");
});

class SuspendedByFailure : public EnginePlay {
 protected:
  SuspendedByFailure() {
    options.suspends_on_failure = true;
    options.max_failures = 0;
  }
};

TEST_F(SuspendedByFailure, a_run_that_is_terminated_then_ends_with_what_may_still_run) {
  for (const bool is_by_hand : {true, false}) {
    status = {};
    store = {};
    errors = 0;
    const Steps steps = steps_of("[{name: x, type: error}, {name: after, type: ok}, {name: always, type: ok, if: always}]");
    run(steps);
    EXPECT_EQ(shown(), "x:failed/FailedAfterRetries");
    if (is_by_hand) {
      status = terminate(status).value();
    } else {
      status.is_terminated = true;
    }
    run(steps);
    EXPECT_EQ(shown(), "x:failed/FailedAfterRetries after:skipped/Skip always:succeeded") << is_by_hand;
    EXPECT_EQ(status.phase, kFailed);
    EXPECT_EQ(errors, 1);
  }
}

TEST_F(SuspendedByFailure, terminating_by_status_ends_what_runs_beside_the_failed_step) {
  const Steps steps = steps_of("[{name: x, type: error}, {name: open, type: wait}]", "{steps: DAG}");
  pass(steps);
  EXPECT_EQ(shown(), "x:failed/FailedAfterRetries open:running/Wait");
  status.is_terminated = true;
  run(steps);
  EXPECT_EQ(shown(), "x:failed/FailedAfterRetries open:failed/Terminate");
  EXPECT_TRUE(status.is_finished);
}

TEST_F(SuspendedByFailure, a_break_beside_the_failed_step_ends_the_run) {
  define("break-later", "import \"vela/op\"\nw: op.#ConditionalWait & {continue: context.goes}\nb: op.#Break & {}");
  const Steps steps = steps_of(
      "[{name: x, type: error}, {name: b, type: break-later}, {name: after, type: ok, dependsOn: [x]}]", "{steps: DAG}");
  pass(steps);
  goes = true;
  env.advance(1s);
  run(steps);
  EXPECT_EQ(shown(), "x:failed/FailedAfterRetries b:succeeded/Terminate after:skipped/Skip");
  EXPECT_EQ(status.phase, kFailed);
  EXPECT_EQ(errors, 1);
}

TEST_F(SuspendedByFailure, a_step_that_needs_what_the_failed_one_gives_does_not_run_without_it) {
  const Steps steps = steps_of(
      "[{name: x, type: error, outputs: [{name: v, valueFrom: '5'}]}, {name: use, type: ok, inputs: [{from: v, parameterKey: "
      "x}]}]",
      "{steps: DAG}");
  run(steps);
  EXPECT_EQ(shown(), "x:failed/FailedAfterRetries use:pending");
  EXPECT_EQ(status.phase, kSuspending);
  errors_wanted = 0;
  status.is_suspended = false;
  run(steps);
  EXPECT_EQ(shown(), "x:succeeded use:succeeded") << message("use");
}

TEST_F(SuspendedByFailure, a_pause_that_ends_by_itself_does_not_resume_the_run) {
  const Steps steps =
      steps_of("[{name: x, type: error}, {name: pause, type: suspend, properties: {duration: 30s}}]", "{steps: DAG}");
  pass(steps);
  env.advance(30s);
  run(steps);
  EXPECT_EQ(shown(), "x:failed/FailedAfterRetries pause:succeeded");
  EXPECT_EQ(status.phase, kSuspending);
  EXPECT_EQ(errors, 1);
}

}  // namespace
}  // namespace slipway::delivery::workflow
