#include <gtest/gtest.h>

#include <fmt/format.h>

#include "delivery/workflow/engine.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

StepStatus step(const std::string& name, const std::string& phase, const std::string& reason = "") {
  StepStatus status;
  status.id = "id-" + name;
  status.name = name;
  status.phase = phase;
  status.reason = reason;
  return status;
}

std::string shown(const RunStatus& status) {
  std::string text = fmt::format("{}{}", status.is_suspended ? "S" : "-", status.is_terminated ? "T" : "-");
  for (const StepStatus& one : status.steps) {
    text += fmt::format(" {}:{}{}{}", one.name, one.phase, one.reason.empty() ? "" : "/", one.reason);
    for (const SubStepStatus& sub : one.sub_steps) text += fmt::format(" {}.{}:{}", one.name, sub.name, sub.phase);
  }
  return text;
}

RunStatus running() {
  RunStatus status;
  status.phase = kExecuting;
  status.steps = {step("a", kSucceeded), step("g", kRunning), step("p", kPending), step("e", kFailed, kReasonExecute)};
  status.steps[1].sub_steps = {step("x", kRunning), step("y", kSucceeded)};
  return status;
}

TEST(Suspend, pauses_what_runs) {
  EXPECT_EQ(shown(suspend(running()).value()),
            "S- a:succeeded g:suspending g.x:suspending g.y:succeeded p:pending e:failed/Execute");
  EXPECT_EQ(shown(suspend(running(), "x").value()),
            "S- a:succeeded g:running g.x:suspending g.y:succeeded p:pending e:failed/Execute");
}

TEST(Suspend, is_refused_for_what_does_not_run) {
  EXPECT_EQ(suspend(running(), "a").error().message, "step a is not running");
  EXPECT_EQ(suspend(running(), "z").error().message, "the workflow has no step z that has begun");
  RunStatus finished = running();
  finished.is_finished = true;
  EXPECT_EQ(suspend(finished).error().reason, Reason::BadRequest);
}

TEST(Resume, continues_all_or_one) {
  EXPECT_EQ(shown(resume(suspend(running()).value()).value()),
            "-- a:succeeded g:running g.x:running g.y:succeeded p:pending e:failed/Execute");
  RunStatus two = running();
  two.steps = {step("a", kSuspending, kReasonSuspend), step("b", kSuspending, kReasonSuspend)};
  two.is_suspended = true;
  EXPECT_EQ(shown(resume(two, "a").value()), "S- a:running b:suspending/Suspend");
  EXPECT_EQ(resume(running()).error().message, "the workflow is not suspended");
}

TEST(Terminate, fails_what_is_under_way) {
  EXPECT_EQ(shown(terminate(running()).value()),
            "-T a:succeeded g:failed/Terminate g.x:failed g.y:succeeded p:pending e:failed/Terminate");
}

struct Restart {
  const char* steps;
  const char* from;
  const char* left;
  const char* vars;
};

TEST(RestartFrom, forgets_the_step_and_what_follows_or_uses_it) {
  const Restart kRestarts[] = {
      {R"({"mode": "StepByStep",
           "steps": [{"name": "a", "type": "t"}, {"name": "b", "type": "t"}, {"name": "c", "type": "t"}]})",
       "b", "-- a:failed/Action", R"({"a":1})"},
      {R"({"mode": "DAG", "steps": [{"name": "a", "type": "t"}, {"name": "b", "type": "t"}, {"name": "c", "type": "t"}]})", "b",
       "-- a:failed/Action c:failed/Action", R"({"a":1,"c":1})"},
      {R"({"mode": "DAG", "steps": [{"name": "a", "type": "t"}, {"name": "b", "type": "t", "dependsOn": ["a"]},
           {"name": "c", "type": "t", "inputs": [{"from": "b.x"}]}]})",
       "a", "--", "{}"},
  };
  for (const Restart& restart : kRestarts) {
    const Value spec = json::parse(restart.steps).value();
    Value list = Value::empty_array();
    for (const Value& one : spec["steps"].items()) {
      list = list.appended(one.with("outputs", json::array({json::object({{"name", one["name"]}, {"valueFrom", "output"}})})));
    }
    const Steps steps = read_steps(list, json::object({{"steps", spec["mode"]}}), "steps").value();
    RunStatus status;
    status.is_terminated = true;
    status.is_finished = true;
    RunStore store;
    for (const char* name : {"a", "b", "c"}) {
      status.steps.push_back(step(name, kFailed, kReasonAction));
      store.vars = store.vars.with(name, 1);
      store.notes[fmt::format("id-{}.value", name)] = "{}";
    }
    const auto restarted = restart_from(steps, status, store, restart.from);
    ASSERT_TRUE(restarted) << restarted.error().message;
    EXPECT_EQ(shown(restarted->first), restart.left) << restart.steps;
    EXPECT_EQ(json::print(restarted->second.vars), restart.vars) << restart.steps;
    EXPECT_EQ(restarted->second.notes.size(), restarted->first.steps.size());
    EXPECT_FALSE(restarted->first.is_finished);
  }
}

TEST(RestartFrom, runs_a_group_again_from_its_failed_step) {
  const Steps steps = read_steps(json::parse(R"([{"name": "g", "type": "step-group", "subSteps": [{"name": "x", "type": "t"},
                                  {"name": "y", "type": "t"}]}, {"name": "z", "type": "t"}])")
                                     .value(),
                                 Value(), "steps")
                          .value();
  RunStatus status;
  status.steps = {step("g", kFailed, kReasonAction), step("z", kSkipped, kReasonSkip)};
  status.steps[0].sub_steps = {step("x", kFailed, kReasonAction), step("y", kSucceeded)};
  EXPECT_EQ(shown(restart_from(steps, status, {}, "x")->first), "-- g:running g.y:succeeded");
  EXPECT_EQ(restart_from(steps, status, {}, "y").error().message, "step y has not failed");
}

}  // namespace
}  // namespace slipway::delivery::workflow
