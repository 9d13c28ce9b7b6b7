// What users ask for on the status of a run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "delivery/workflow/engine.h"
#include "delivery/workflow/step_index.h"

namespace slipway::delivery::workflow {
namespace {

/// Every step and sub-step, groups included.
std::vector<SubStepStatus*> all_of(RunStatus& status) {
  std::vector<SubStepStatus*> all;
  for (StepStatus& step : status.steps) {
    all.push_back(&step);
    for (SubStepStatus& sub : step.sub_steps) all.push_back(&sub);
  }
  return all;
}

bool belongs_to(const RunStatus& status, std::string_view sub, std::string_view group) {
  return std::ranges::any_of(status.steps, [&](const StepStatus& step) {
    return step.name == group && std::ranges::any_of(step.sub_steps, [&](const SubStepStatus& s) { return s.name == sub; });
  });
}

/// The steps that an operation on `step` ("" for all) means.
Result<std::vector<SubStepStatus*>> chosen(RunStatus& status, const std::string& step) {
  if (status.is_finished) return fail(Reason::BadRequest, "the workflow has finished");
  if (!step.empty() && status.find(step) == nullptr) {
    return fail(Reason::BadRequest, fmt::format("the workflow has no step {} that has begun", step));
  }
  std::vector<SubStepStatus*> steps = all_of(status);
  std::erase_if(steps, [&](const SubStepStatus* one) {
    return !step.empty() && one->name != step && !belongs_to(status, one->name, step);
  });
  return steps;
}

}  // namespace

Result<RunStatus> suspend(RunStatus status, const std::string& step) {
  SLIPWAY_TRY(steps, chosen(status, step));
  if (status.is_terminated) return fail(Reason::BadRequest, "the workflow is terminated");
  bool has_suspended = step.empty();
  for (SubStepStatus* one : steps) {
    if (one->phase != kRunning) continue;
    one->phase = kSuspending;
    has_suspended = true;
  }
  if (!has_suspended) return fail(Reason::BadRequest, fmt::format("step {} is not running", step));
  status.is_suspended = true;
  return status;
}

Result<RunStatus> resume(RunStatus status, const std::string& step) {
  SLIPWAY_TRY(steps, chosen(status, step));
  // A run that has been ended may still have suspended steps: those of a graph beside one that timed out, and `if: always`.
  if (!status.is_suspended) {
    return fail(Reason::BadRequest, status.is_terminated ? "the workflow is terminated" : "the workflow is not suspended");
  }
  bool has_resumed = step.empty();
  for (SubStepStatus* one : steps) {
    if (one->phase != kSuspending) continue;
    one->phase = kRunning;
    one->reason.clear();
    has_resumed = true;
  }
  if (!has_resumed) return fail(Reason::BadRequest, fmt::format("step {} is not suspended", step));
  for (StepStatus& group : status.steps) {
    const bool has_suspended_member =
        std::ranges::any_of(group.sub_steps, [](const SubStepStatus& sub) { return sub.phase == kSuspending; });
    if (group.phase == kSuspending && !group.sub_steps.empty() && !has_suspended_member) group.phase = kRunning;
  }
  status.is_suspended = std::ranges::any_of(all_of(status), [](const SubStepStatus* one) { return one->phase == kSuspending; });
  return status;
}

Result<RunStatus> terminate(RunStatus status) {
  if (status.is_finished) return fail(Reason::BadRequest, "the workflow has finished");
  for (SubStepStatus* step : all_of(status)) {
    const bool is_retried = step->phase == kFailed && !is_finished(*step);
    if (step->phase != kRunning && step->phase != kSuspending && !is_retried) continue;
    if (step->type == kStepGroup) continue;  // it ends with its steps
    step->phase = kFailed;
    step->reason = kReasonTerminate;
    step->message.clear();  // the engine says who did it
  }
  status.is_suspended = false;
  status.is_terminated = true;
  return status;
}

namespace {

/// The names of steps that must be run again with `first`: in a sequence all that follow, else what depends on one of them.
class Followers {
 public:
  explicit Followers(const Steps& steps) : steps_(steps), index_(steps) {
    for (const Step* step : index_.all()) {
      for (const StepOutput& output : step->outputs) writers_[output.name].push_back(step);
    }
  }

  std::set<std::string> of(const std::string& first) {
    add_named(first);
    bool has_grown = true;
    while (has_grown) {
      const std::size_t before = names_.size();
      add_from(steps_.steps, steps_.mode);
      has_grown = names_.size() != before;
    }
    return names_;
  }

 private:
  void add(const Step& step) {
    names_.insert(step.name);
    for (const Step& sub : step.sub_steps) names_.insert(sub.name);
  }
  /// A step, and the group around it.
  void add_named(const std::string& name) {
    for (const Step& step : steps_.steps) {
      if (step.name == name) add(step);
      for (const Step& sub : step.sub_steps) {
        if (sub.name == name) names_.insert({step.name, name});
      }
    }
  }
  bool uses(const Step& step) const {
    for (const std::string& dependency : step.depends_on) {
      const Step* meant = index_.depended_on(dependency);
      if (meant != nullptr && names_.contains(meant->name)) return true;
    }
    return std::ranges::any_of(step.inputs, [&](const StepInput& input) {
      const auto writers = writers_.find(std::string_view(input.from).substr(0, input.from.find_first_of(".[")));
      return writers != writers_.end() && std::ranges::any_of(writers->second, [&](const Step* one) {
               return index_.find(one->name) == one && names_.contains(one->name);
             });
    });
  }
  void add_from(const std::vector<Step>& list, Mode mode) {
    bool follows = false;
    for (const Step& step : list) {
      if (!names_.contains(step.name) && ((follows && mode == Mode::StepByStep) || uses(step))) add(step);
      if (names_.contains(step.name)) follows = true;
      if (!step.sub_steps.empty()) add_from(step.sub_steps, step.mode.value_or(steps_.sub_mode));
    }
  }

  const Steps& steps_;
  const StepIndex index_;
  std::map<std::string_view, std::vector<const Step*>> writers_;  // by the variable that is an output of theirs
  std::set<std::string> names_;
};

}  // namespace

Result<std::pair<RunStatus, RunStore>> restart_from(const Steps& steps, RunStatus status, RunStore store,
                                                    const std::string& step) {
  const SubStepStatus* failed = status.find(step);
  if (failed == nullptr || steps.find(step) == nullptr) {
    return fail(Reason::BadRequest, fmt::format("the workflow has no step {} that has begun", step));
  }
  if (failed->phase != kFailed) return fail(Reason::BadRequest, fmt::format("step {} has not failed", step));
  const std::set<std::string> names = Followers(steps).of(step);
  const bool is_sub_step = std::ranges::none_of(steps.steps, [&](const Step& one) { return one.name == step; });
  for (const std::string& name : names) {
    if (const Step* spec = steps.find(name)) {
      for (const StepOutput& output : spec->outputs) store.vars = store.vars.without(output.name);
    }
    const SubStepStatus* one = status.find(name);
    if (one == nullptr) continue;
    std::erase_if(store.notes, [&](const auto& entry) { return entry.first.starts_with(one->id + "."); });
  }
  store.has_changed = true;
  for (StepStatus& one : status.steps) {
    std::erase_if(one.sub_steps, [&](const SubStepStatus& sub) { return names.contains(sub.name); });
    if (!is_sub_step || !names.contains(one.name) || one.sub_steps.empty()) continue;
    one.phase = kRunning;
    one.reason.clear();
    one.first_execute_time.reset();
  }
  std::erase_if(status.steps, [&](const StepStatus& one) { return names.contains(one.name) && one.sub_steps.empty(); });
  status.is_suspended = false;
  status.suspend_state.clear();
  status.suspended_by.clear();
  status.terminated_by.clear();
  status.is_terminated = false;
  status.is_finished = false;
  status.end_time.reset();
  status.message.clear();
  status.phase = kExecuting;
  return std::pair{std::move(status), std::move(store)};
}

}  // namespace slipway::delivery::workflow
