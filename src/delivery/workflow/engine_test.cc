#include "delivery/workflow/engine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/workflow/engine_play_test.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using namespace std::chrono_literals;

class EngineTest : public EnginePlay {};

TEST(Backoff, is_that_of_the_seed) {
  const std::int64_t kSeconds[] = {1, 1, 1, 1, 1, 1, 3, 6, 12, 25, 51, 60, 60};
  for (std::int64_t n = 1; n <= 13; ++n) EXPECT_EQ(backoff_after(n, 60s), std::chrono::seconds{kSeconds[n - 1]}) << n;
}

TEST_F(EngineTest, runs_steps_in_turn_to_the_end) {
  run(steps_of("[{name: a, type: ok}, {name: b, type: message, properties: {message: hello}}]"));
  EXPECT_EQ(shown(), "a:succeeded b:succeeded");
  EXPECT_EQ(status.phase, kSucceeded);
  EXPECT_EQ(status.mode, "StepByStep-DAG");
  EXPECT_EQ(message("b"), "hello");
  EXPECT_EQ(status.step_index, 2);
  EXPECT_TRUE(status.is_finished);
  EXPECT_FALSE(status.is_terminated);
  EXPECT_EQ(status.steps.at(0).id.size(), 10U);
  EXPECT_NE(status.steps.at(0).id, status.steps.at(1).id);
  EXPECT_TRUE(status.end_time);
}

TEST_F(EngineTest, a_waiting_step_is_looked_at_by_the_table_until_it_goes_on) {
  const Steps steps = steps_of("[{name: a, type: wait}, {name: b, type: ok}]");
  std::vector<std::int64_t> delays;
  for (int n = 0; n < 9; ++n) {
    const Pass made = pass(steps);
    delays.push_back(std::chrono::duration_cast<std::chrono::seconds>(*made.again).count());
    env.advance(*made.again);
  }
  EXPECT_EQ(delays, (std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 3, 6, 12}));
  EXPECT_EQ(shown(), "a:running/Wait");
  EXPECT_EQ(message("a"), "not yet");
  EXPECT_EQ(status.phase, kExecuting);
  EXPECT_EQ(status.step_index, 0);
  goes = true;
  pass(steps);
  EXPECT_EQ(shown(), "a:succeeded b:succeeded");
}

TEST_F(EngineTest, an_error_is_retried_ten_times_and_then_ends_the_run) {
  const Steps steps = steps_of("[{name: a, type: error}, {name: b, type: ok}, {name: c, type: ok, if: always}]");
  for (int n = 1; n <= 10; ++n) {
    const auto again = pass(steps).again;
    ASSERT_EQ(shown(), "a:failed/Execute") << n;
    ASSERT_EQ(again, backoff_after(n, 60s)) << n;
    env.advance(*again);
  }
  pass(steps);
  EXPECT_EQ(errors, 11);
  EXPECT_EQ(shown(), "a:failed/FailedAfterRetries b:skipped/Skip c:succeeded");
  EXPECT_EQ(status.phase, kFailed);
  EXPECT_TRUE(status.is_terminated);
  EXPECT_TRUE(status.is_finished);
  EXPECT_EQ(status.message, "The workflow terminates automatically because the failed times of steps have reached the limit");
  EXPECT_EQ(message("a"), "function call error for e: it broke");
}

TEST_F(EngineTest, a_template_that_never_holds_is_never_success) {
  define("broken", "a: 1 & 2");
  run(steps_of("[{name: a, type: broken}]"));
  EXPECT_EQ(shown(), "a:failed/FailedAfterRetries");
  EXPECT_EQ(status.phase, kFailed);
}

TEST_F(EngineTest, a_step_may_bring_its_own_retries) {
  const Steps steps = steps_of("[{name: a, type: error, retry: {limit: 2, backoff: {duration: 2s, factor: 10, cap: 15s}}}]");
  EXPECT_EQ(pass(steps).again, Duration(2s));
  env.advance(2s);
  EXPECT_EQ(pass(steps).again, Duration(15s));
  env.advance(15s);
  pass(steps);
  EXPECT_EQ(shown(), "a:failed/FailedAfterRetries");
}

TEST_F(EngineTest, waking_a_run_early_uses_up_no_retries) {
  for (const char* mode : {"{steps: StepByStep}", "{steps: DAG}"}) {
    status = {};
    errors = 0;
    const Steps steps = steps_of("[{name: a, type: error}, {name: b, type: wait}]", mode);
    pass(steps);
    for (int n = 0; n < 30; ++n) {
      env.advance(10ms);
      EXPECT_LE(pass(steps).again, Duration(990ms));
    }
    EXPECT_EQ(errors, 1) << mode;
    EXPECT_EQ(status.find("a")->failures, 1) << mode;
    env.advance(700ms);
    pass(steps);
    EXPECT_EQ(errors, 2) << mode;
  }
}

TEST_F(EngineTest, pre_render_steps_run_first_and_the_rest_in_the_next_pass) {
  for (const char* mode : {"{steps: StepByStep}", "{steps: DAG}"}) {
    status = {};
    store = {};
    goes = false;
    const Steps steps = steps_of("[{name: a, type: ok}, {name: p, type: wait, stage: pre-render}, {name: c, type: ok}]", mode);
    pass(steps);
    EXPECT_EQ(shown(), "p:running/Wait") << mode;
    goes = true;
    env.advance(1s);
    EXPECT_EQ(pass(steps).again, Duration(1ms));
    EXPECT_EQ(shown(), "p:succeeded") << mode;
    pass(steps);
    EXPECT_EQ(shown(), "a:succeeded p:succeeded c:succeeded") << mode;
    EXPECT_EQ(status.phase, kSucceeded);
  }
}

TEST_F(EngineTest, nothing_follows_a_failed_pre_render_step_but_what_says_so) {
  for (const char* mode : {"{steps: StepByStep}", "{steps: DAG}"}) {
    status = {};
    store = {};
    run(steps_of("[{name: a, type: ok}, {name: p, type: fail, stage: pre-render}, {name: c, type: ok, if: always}]", mode));
    EXPECT_EQ(shown(), "a:skipped/Skip p:failed/Action c:succeeded") << mode;
    EXPECT_EQ(status.phase, kFailed);
  }
}

TEST_F(EngineTest, what_was_stored_before_a_crash_resumes_nothing) {
  define("ask", "import \"vela/op\"\nw: op.#ConditionalWait & {continue: context.goes}\ns: op.#Suspend & {}");
  const Steps steps = steps_of("[{name: a, type: ask}]");
  pass(steps);
  EXPECT_EQ(shown(), "a:running/Wait");
  const RunStatus before = status;
  goes = true;
  pass(steps);
  EXPECT_EQ(shown(), "a:suspending/Suspend");
  status = before;  // the variables were written, the status was not
  pass(steps);
  EXPECT_EQ(shown(), "a:suspending/Suspend");
  status = resume(status).value();
  pass(steps);
  EXPECT_EQ(shown(), "a:succeeded");
}

TEST_F(EngineTest, a_step_that_waits_after_it_was_resumed_is_not_suspended_again) {
  define("ask", "import \"vela/op\"\ns: op.#Suspend & {}\nw: op.#ConditionalWait & {continue: context.goes}");
  const Steps steps = steps_of("[{name: a, type: ask}]");
  pass(steps);
  status = resume(status).value();
  pass(steps);
  EXPECT_EQ(shown(), "a:running/Wait");
  env.advance(1s);
  pass(steps);
  EXPECT_EQ(shown(), "a:running/Wait");
  goes = true;
  env.advance(1s);
  pass(steps);
  EXPECT_EQ(shown(), "a:succeeded");
}

TEST_F(EngineTest, failures_may_suspend_the_run_instead) {
  options.suspends_on_failure = true;
  options.max_failures = 0;
  const Steps steps = steps_of("[{name: a, type: error}]");
  pass(steps);
  EXPECT_EQ(shown(), "a:failed/FailedAfterRetries");
  EXPECT_EQ(status.phase, kSuspending);
  EXPECT_TRUE(status.is_suspended);
  EXPECT_FALSE(status.is_terminated);
  errors_wanted = 0;
  status.is_suspended = false;
  pass(steps);
  EXPECT_EQ(status.phase, kSucceeded);
}

TEST_F(EngineTest, break_ends_the_run_and_fail_fails_the_step) {
  run(steps_of("[{name: a, type: break}, {name: b, type: ok}]"));
  EXPECT_EQ(shown(), "a:succeeded/Terminate b:skipped/Skip");
  EXPECT_EQ(message("a"), "enough");
  EXPECT_EQ(status.phase, kFailed);
  EXPECT_TRUE(status.is_terminated);
  status = {};
  store = {};
  run(steps_of("[{name: a, type: fail}, {name: b, type: ok}]"));
  EXPECT_EQ(shown(), "a:failed/Action b:skipped/Skip");
  EXPECT_EQ(message("a"), "no good");
  EXPECT_EQ(errors, 0);
}

TEST_F(EngineTest, a_suspended_step_waits_for_somebody) {
  const Steps steps = steps_of("[{name: a, type: suspend}, {name: b, type: ok}]");
  EXPECT_FALSE(pass(steps).again);
  EXPECT_EQ(shown(), "a:suspending/Suspend");
  EXPECT_EQ(message("a"), "Suspended by field suspend");
  EXPECT_EQ(status.phase, kSuspending);
  EXPECT_TRUE(status.is_suspended);
  pass(steps);
  EXPECT_EQ(status.phase, kSuspending);
  status.is_suspended = false;  // a user clears it
  pass(steps);
  EXPECT_EQ(shown(), "a:succeeded b:succeeded");
  EXPECT_EQ(status.phase, kSucceeded);
}

TEST_F(EngineTest, a_suspended_step_with_a_duration_goes_on_by_itself) {
  const Steps steps = steps_of("[{name: a, type: suspend, properties: {duration: 30s}}, {name: b, type: ok}]");
  EXPECT_EQ(pass(steps).again, Duration(30s));
  env.advance(10s);
  EXPECT_EQ(pass(steps).again, Duration(20s));
  EXPECT_EQ(status.phase, kSuspending);
  env.advance(20s);
  pass(steps);
  EXPECT_EQ(shown(), "a:succeeded b:succeeded");
}

TEST_F(EngineTest, two_suspends_of_a_step_work_one_after_the_other) {
  define("twice", "import \"vela/op\"\nfirst: op.#Suspend\nsecond: op.#Suspend");
  const Steps steps = steps_of("[{name: a, type: twice}]");
  pass(steps);
  EXPECT_EQ(message("a"), "Suspended by field first");
  status = resume(status).value();
  pass(steps);
  EXPECT_EQ(message("a"), "Suspended by field second");
  status = resume(status).value();
  pass(steps);
  EXPECT_EQ(shown(), "a:succeeded");
}

TEST_F(EngineTest, nothing_runs_while_somebody_has_suspended_the_run) {
  const Steps steps = steps_of("[{name: a, type: ok}]");
  status.is_suspended = true;
  pass(steps);
  EXPECT_EQ(shown(), "");
  EXPECT_EQ(status.phase, kSuspending);
  status.is_suspended = false;
  pass(steps);
  EXPECT_EQ(status.phase, kSucceeded);
}

TEST_F(EngineTest, writing_terminated_ends_what_runs_and_skips_the_rest) {
  const Steps steps = steps_of("[{name: a, type: wait}, {name: b, type: ok}, {name: c, type: ok, if: always}]");
  pass(steps);
  status.is_terminated = true;
  pass(steps);
  EXPECT_EQ(shown(), "a:failed/Terminate b:skipped/Skip c:succeeded");
  EXPECT_EQ(status.phase, kTerminated);
}

TEST_F(EngineTest, what_a_user_has_ended_says_so_and_who_it_was) {
  for (const char* user : {"", "ann"}) {
    status = {};
    store = {};
    const Steps steps = steps_of("[{name: a, type: suspend}, {name: b, type: ok}]");
    pass(steps);
    status = terminate(status).value();
    status.terminated_by = user;
    pass(steps);
    const std::string told = fmt::format("terminated by {}", *user == 0 ? "a user" : user);
    EXPECT_EQ(message("a"), told);
    EXPECT_EQ(status.message, told);
    EXPECT_EQ(shown(), "a:failed/Terminate b:skipped/Skip");
  }
}

TEST_F(EngineTest, a_timeout_fails_the_step_and_shortens_the_wait) {
  const Steps steps = steps_of("[{name: a, type: wait, timeout: 500ms}, {name: b, type: suspend, if: always, timeout: 10s}]");
  EXPECT_EQ(pass(steps).again, Duration(500ms));
  env.advance(500ms);
  EXPECT_EQ(pass(steps).again, Duration(10s));
  EXPECT_EQ(shown(), "a:failed/Timeout b:suspending/Suspend");
  env.advance(10s);
  pass(steps);
  EXPECT_EQ(shown(), "a:failed/Timeout b:failed/Timeout");
  EXPECT_EQ(status.phase, kFailed);
}

TEST_F(EngineTest, data_passes_from_step_to_step) {
  define("sum", "parameter: {a: int, list: [...{v: string}]}\noutput: {sum: parameter.a + 1, first: parameter.list[0].v}");
  run(steps_of(R"yaml(
- name: a
  type: ok
  properties: {x: 4}
  outputs: [{name: v, valueFrom: output.x}, {name: who, valueFrom: '"\(context.name)-\(output.x)"'}]
- name: b
  type: sum
  inputs: [{from: v, parameterKey: a}, {from: who, parameterKey: 'list[0].v'}]
  outputs: [{name: deep, valueFrom: output}, {name: text, valueFrom: "import \"strings\"\nstrings.ToUpper(output.first)"}]
- {name: c, type: ok, inputs: [{from: deep.sum, parameterKey: x}], outputs: [{name: last, valueFrom: output.x}]}
)yaml"));
  EXPECT_EQ(shown(), "a:succeeded b:succeeded c:succeeded") << message("a") << message("b") << message("c");
  EXPECT_EQ(json::print(store.vars), R"({"v":4,"who":"app-4","deep":{"sum":5,"first":"app-4"},"text":"APP-4","last":5})");
}

TEST_F(EngineTest, an_output_that_has_no_value_is_null_and_told) {
  run(
      steps_of("[{name: a, type: ok, outputs: [{name: v, valueFrom: output.y}]}, {name: b, type: ok, if: 'false', outputs: "
               "[{name: m, valueFrom: output.x}]}]"));
  EXPECT_EQ(shown(), "a:succeeded b:skipped/Skip");
  EXPECT_EQ(json::print(store.vars), R"({"v":null,"m":null})");
  EXPECT_TRUE(message("a").starts_with("failed to get output from output.y")) << message("a");
}

TEST_F(EngineTest, expressions_of_inputs_share_one_budget_and_fail_the_step_beyond_it) {
  std::string inputs;
  for (int i = 0; i < 40; ++i) {
    inputs += fmt::format(
        "{{from: 'len([for a in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] for b in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] for c in [0, 1, 2, 3, "
        "4, 5, 6, "
        "7, 8, 9] for d in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] if a + b + c + d < {} {{a}}])', parameterKey: x{}}}, ",
        -i, i);
  }
  run(steps_of(fmt::format("[{{name: a, type: ok, inputs: [{}]}}]", inputs)));
  EXPECT_EQ(shown(), "a:failed/Input");
  EXPECT_TRUE(message("a").contains("the expression has no value")) << message("a");
  status = {};
  run(steps_of(
      "[{name: a, type: ok, inputs: [{from: 'len([for a in [0, 1] {a}])', parameterKey: x}], outputs: [{name: v, valueFrom: "
      "output.x}]}]"));
  EXPECT_EQ(shown(), "a:succeeded") << message("a");
}

TEST_F(EngineTest, inputs_that_contradict_the_properties_fail_the_step) {
  run(
      steps_of("[{name: a, type: ok, outputs: [{name: v, valueFrom: output.x}]}, {name: b, type: ok, properties: {x: 7}, "
               "inputs: [{from: v, parameterKey: x}]}]"));
  EXPECT_EQ(shown(), "a:succeeded b:failed/Input");
  EXPECT_EQ(status.phase, kFailed);
}

struct Condition {
  const char* text;
  const char* shown;
};

TEST_F(EngineTest, conditions) {
  const Condition kConditions[] = {
      {"always", "succeeded"},
      {"status.a.succeeded", "succeeded"},
      {"status.a.failed", "skipped/Skip"},
      {"status[\"a-b\"].phase == \"skipped\"", "succeeded"},
      {"a.output.x == 200", "succeeded"},
      {"a.output.x == 400", "skipped/Skip"},
      {"steps[\"a\"].outputs.v == 200", "succeeded"},
      {"context.name == \"app\" && parameter.x == 3", "succeeded"},
      {"inputs.v == 200", "succeeded"},
      {"status[\"a-b\"].output.x == 1", "skipped/Skip"},
      {"later.output != _|_", "skipped/Skip"},
      {"later.output.x == 1", "failed/Input"},
      {"nobody.output", "failed/Input"},
      {"1 + 1", "failed/Input"},
  };
  for (const Condition& condition : kConditions) {
    status = {};
    store = {};
    const std::string text = fmt::format(R"(
- {{name: a, type: ok, properties: {{x: 200}}, outputs: [{{name: v, valueFrom: output.x}}]}}
- {{name: a-b, type: ok, if: 'false'}}
- {{name: b, type: ok, if: '{}', properties: {{x: 3}}, inputs: [{{from: v}}]}}
- {{name: later, type: ok, if: 'false'}}
)",
                                         condition.text);
    run(steps_of(text));
    EXPECT_EQ(shown(), fmt::format("a:succeeded a-b:skipped/Skip b:{} later:skipped/Skip", condition.shown))
        << condition.text << message("b");
    EXPECT_EQ(status.phase == kFailed, std::string_view(condition.shown) == "failed/Input") << condition.text;
  }
  EXPECT_EQ(message("b"), "cannot evaluate if: 1 + 1: it is not true or false");
}

TEST_F(EngineTest, steps_of_a_graph_overlap_up_to_the_limit) {
  options.parallel_steps = 2;
  const Time began = env.now();
  run(steps_of("[{name: a, type: slow}, {name: b, type: slow}, {name: c, type: slow}, {name: d, type: ok, dependsOn: [a, c]}]",
               "{steps: DAG}"));
  EXPECT_EQ(shown(), "a:succeeded b:succeeded c:succeeded d:succeeded");
  EXPECT_EQ(most_running, 2);
  EXPECT_EQ(env.now() - began, 10s);
}

TEST_F(EngineTest, a_graph_waits_for_dependencies_and_inputs) {
  const Steps steps = steps_of(
      "[{name: d, type: ok, dependsOn: [a]}, {name: i, type: ok, inputs: [{from: v, parameterKey: x}]}, {name: a, type: wait, "
      "outputs: [{name: v, valueFrom: '5'}]}, {name: free, type: ok}]",
      "{steps: DAG}");
  pass(steps);
  EXPECT_EQ(shown(), "d:pending i:pending a:running/Wait free:succeeded");
  EXPECT_EQ(message("d"), "Pending on DependsOn: a");
  EXPECT_EQ(message("i"), "Pending on Input: v");
  goes = true;
  pass(steps);
  EXPECT_EQ(shown(), "d:succeeded i:succeeded a:succeeded free:succeeded");
}

TEST_F(EngineTest, who_depends_on_a_failed_or_skipped_step_of_a_graph_is_skipped) {
  run(
      steps_of("[{name: a, type: fail}, {name: s, type: ok, if: 'false'}, {name: b, type: ok, dependsOn: [a]}, {name: c, type: "
               "ok, dependsOn: [s]}, "
               "{name: d, type: ok, dependsOn: [b], if: always}, {name: free, type: ok}]",
               "{steps: DAG}"));
  EXPECT_EQ(shown(), "a:failed/Action s:skipped/Skip b:skipped/Skip c:skipped/Skip d:succeeded free:succeeded");
  EXPECT_EQ(status.phase, kFailed);
}

TEST_F(EngineTest, in_a_graph_what_runs_beside_a_suspended_step_goes_on) {
  const Steps steps =
      steps_of("[{name: a, type: suspend}, {name: w, type: wait}, {name: z, type: ok, dependsOn: [w]}]", "{steps: DAG}");
  EXPECT_EQ(pass(steps).again, Duration(1s));
  EXPECT_EQ(shown(), "a:suspending/Suspend w:running/Wait z:pending");
  goes = true;
  EXPECT_FALSE(pass(steps).again);
  EXPECT_EQ(shown(), "a:suspending/Suspend w:succeeded z:pending");
  EXPECT_EQ(status.phase, kSuspending);
  status = resume(status).value();
  pass(steps);
  EXPECT_EQ(shown(), "a:succeeded w:succeeded z:succeeded");
}

struct Group {
  const char* subs;
  const char* shown;
  const char* phase;
};

TEST_F(EngineTest, the_phase_of_a_group_follows_its_steps) {
  const Group kGroups[] = {
      {"{name: x, type: ok}, {name: s, type: ok}", "g:succeeded(x:succeeded s:succeeded)", kSucceeded},
      {"{name: x, type: ok}, {name: s, type: wait}", "g:running(x:succeeded s:running/Wait)", kExecuting},
      {"{name: x, type: suspend}, {name: s, type: wait}", "g:suspending(x:suspending/Suspend s:running/Wait)", kSuspending},
      {"{name: x, type: fail}, {name: s, type: ok}", "g:failed/Action(x:failed/Action s:succeeded)", kFailed},
      {"{name: x, type: ok, if: 'false'}, {name: s, type: ok, if: 'false'}", "g:skipped/Skip(x:skipped/Skip s:skipped/Skip)",
       kSucceeded},
      {"{name: x, type: ok, if: 'false'}, {name: s, type: ok}", "g:succeeded(x:skipped/Skip s:succeeded)", kSucceeded},
      {"{name: x, type: ok, dependsOn: [s]}, {name: s, type: wait}", "g:running(x:pending s:running/Wait)", kExecuting},
  };
  for (const Group& group : kGroups) {
    status = {};
    store = {};
    pass(steps_of(fmt::format("[{{name: g, type: step-group, subSteps: [{}]}}]", group.subs)));
    EXPECT_EQ(shown(), group.shown);
    EXPECT_EQ(status.phase, group.phase) << group.shown;
  }
}

TEST_F(EngineTest, a_group_that_is_skipped_or_late_ends_its_steps) {
  pass(steps_of("[{name: g, type: step-group, if: 'false', subSteps: [{name: x, type: ok}]}]"));
  EXPECT_EQ(shown(), "g:skipped/Skip(x:skipped/Skip)");
  status = {};
  store = {};
  const Steps steps = steps_of(
      "[{name: g, type: step-group, timeout: 5s, subSteps: [{name: x, type: ok}, {name: s, type: wait}]}, {name: z, type: "
      "ok}]");
  pass(steps);
  env.advance(5s);
  pass(steps);
  EXPECT_EQ(shown(), "g:failed/Timeout(x:succeeded s:failed/Timeout) z:skipped/Skip");
  EXPECT_EQ(status.phase, kFailed);
}

TEST_F(EngineTest, a_group_that_is_late_ends_what_is_suspended_in_it_and_the_run_goes_on) {
  for (const char* mode : {"", "{steps: DAG, subSteps: DAG}"}) {
    SCOPED_TRACE(mode);
    status = {};
    store = {};
    const Steps steps = steps_of(
        "[{name: g, type: step-group, timeout: 2s, subSteps: [{name: s, type: suspend}]}, {name: after, type: ok, if: always, "
        "dependsOn: [g]}]",
        mode);
    const Pass first = pass(steps);
    EXPECT_EQ(status.phase, kSuspending) << shown();
    ASSERT_EQ(first.again, 2s);
    env.advance(2s);
    pass(steps);
    EXPECT_EQ(shown(), "g:failed/Timeout(s:failed/Timeout) after:succeeded");
    EXPECT_EQ(status.phase, kFailed);
    EXPECT_TRUE(status.is_finished);
    EXPECT_FALSE(status.is_suspended);
  }
}

/// The other suspended step still holds the run.
TEST_F(EngineTest, a_group_that_is_late_resumes_nothing_beside_it) {
  const Steps steps =
      steps_of("[{name: g, type: step-group, timeout: 2s, subSteps: [{name: s, type: suspend}]}, {name: t, type: suspend}]",
               "{steps: DAG}");
  pass(steps);
  env.advance(2s);
  pass(steps);
  EXPECT_EQ(shown(), "g:failed/Timeout(s:failed/Timeout) t:suspending/Suspend");
  EXPECT_TRUE(status.is_suspended);
}

TEST_F(EngineTest, calls_run_one_after_another_and_later_ones_see_earlier_answers) {
  define("counts", R"(
first: {#do: "count", #provider: "test", $params: {by: 2}, $returns?: {total: int}}
if first.$returns != _|_ {
	second: {#do: "count", #provider: "test", $params: {by: first.$returns.total * 10}, $returns?: {total: int}}
}
)");
  run(steps_of(
      "[{name: a, type: counts, outputs: [{name: t, valueFrom: second.$returns.total}, {name: u, valueFrom: second.total}]}]"));
  EXPECT_EQ(shown(), "a:succeeded") << message("a");
  EXPECT_EQ(json::print(store.vars), R"({"t":22,"u":22})");
}

TEST_F(EngineTest, what_must_not_be_repeated_is_done_once_while_the_step_waits) {
  const Steps steps = steps_of("[{name: a, type: once, outputs: [{name: v, valueFrom: o.$returns.n}]}]");
  pass(steps);
  pass(steps);
  EXPECT_EQ(shown(), "a:running/Wait");
  EXPECT_EQ(effects, 1);
  goes = true;
  pass(steps);
  EXPECT_EQ(json::print(store.vars), R"({"v":1})");
  EXPECT_EQ(effects, 1);
}

TEST_F(EngineTest, an_unknown_function_or_definition_fails_the_step) {
  define("unknown", "x: {#do: \"dance\", #provider: \"test\"}");
  const Steps steps = steps_of("[{name: a, type: unknown}, {name: b, type: nowhere}]", "{steps: DAG}");
  pass(steps);
  EXPECT_EQ(shown(), "a:failed/Execute b:failed/Execute");
  EXPECT_EQ(message("a"), "NotImplemented: x: there is no function dance of provider test");
  EXPECT_EQ(message("b"), "no definition nowhere");
}

}  // namespace
}  // namespace slipway::delivery::workflow
