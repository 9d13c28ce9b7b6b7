// Whether a step that is not pending runs: its `if`, what came before it, its timeout.
#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "delivery/workflow/condition.h"
#include "delivery/workflow/pass.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

Value status_for_condition(const SubStepStatus& step) {
  return json::encode(step)
      .with("failed", step.phase == kFailed)
      .with("succeeded", step.phase == kSucceeded)
      .with("skipped", step.phase == kSkipped)
      .with("timeout", step.reason == kReasonTimeout)
      .with("failedAfterRetries", step.reason == kReasonFailedAfterRetries)
      .with("terminate", step.reason == kReasonTerminate);
}

}  // namespace

Task<PassRun::Checked> PassRun::precheck(const Step& step, const StepList& list, const Step* group) {
  if (is_overdue(step)) co_return Checked{Check::TimeOut};
  if (step.condition == "always") co_return Checked{};
  if (step.condition.empty()) co_return Checked{may_follow(step, list, group) ? Check::Run : Check::Skip};
  std::expected<bool, std::string> holds = false;
  std::map<std::string, Value> names = condition_names(step);
  const InputScope scope = input_scope(step, names["context"]);
  const cue::Limits limited = limits();
  co_await compute_for(env_, std::string(kube::ns(run_.setting.owner)), [&] {
    names["inputs"] = values_of(step.inputs, scope, limited);
    holds = evaluate_condition(step.condition, names, limited);
  });
  if (holds) co_return Checked{*holds ? Check::Run : Check::Skip};
  if (const std::string skipped = skipped_step_in(step.condition); !skipped.empty()) {
    co_return Checked{Check::Skip, fmt::format("its condition reads step {}, which was skipped", skipped)};
  }
  // DIVERGES: upstream skips the step, so that a workflow succeeds in which nothing has run.
  co_return Checked{Check::Fail, fmt::format("cannot evaluate if: {}: {}", step.condition, holds.error())};
}

/// The first step that was skipped and that the condition reads; empty: none.
std::string PassRun::skipped_step_in(const std::string& condition) const {
  for (const Reference& reference : references_of(condition)) {
    const std::string name = step_read_by(reference);
    const auto known = by_name_.find(name);
    if (known != by_name_.end() && known->second.phase == kSkipped) return name;
  }
  return "";
}

/// With --suspend-on-failure the run waits, once a step has used up its retries, for a user who resumes or ends it: the step is
/// tried again, or not. Until then nothing that follows it begins.
bool PassRun::awaits_decision(const SubStepStatus& status) const {
  return run_.options.suspends_on_failure && !status_.is_terminated && status.phase == kFailed &&
         status.reason == kReasonFailedAfterRetries;
}

bool PassRun::is_held_back(const Step& step) const {
  return std::ranges::any_of(step.depends_on, [&](const std::string& name) {
    const SubStepStatus* status = status_of(name);
    return status != nullptr && awaits_decision(*status);
  });
}

/// For steps without `if`: what they depend on has succeeded; in a sequence, what is before them has succeeded or was skipped.
/// Once the run was terminated, or a step has broken or failed it, none of them begins.
bool PassRun::may_follow(const Step& step, const StepList& list, const Step* group) const {
  const Mode mode = group == nullptr ? run_.steps.mode : group->mode.value_or(run_.steps.sub_mode);
  const auto known = by_name_.find(step.name);
  const bool has_begun = known != by_name_.end() && known->second.phase != kPending;
  if (is_ended() && !has_begun) return false;
  if (group == nullptr && !step.is_pre_render && !has_pre_render_succeeded()) return false;
  if (mode == Mode::DAG || !step.depends_on.empty()) {
    return have_all_succeeded(step);
  }
  for (const Step& earlier : list) {
    if (&earlier == &step) break;
    if (earlier.is_pre_render != step.is_pre_render) continue;
    const SubStepStatus* status = status_of(earlier.name);
    if (status == nullptr || (status->phase != kSucceeded && status->phase != kSkipped)) return false;
  }
  return true;
}

/// Whatever the step depends on, directly and through others.
bool PassRun::have_all_succeeded(const Step& step) const {
  std::set<const Step*> seen;
  std::vector<const Step*> open{&step};
  while (!open.empty()) {
    const Step* next = open.back();
    open.pop_back();
    for (const std::string& name : next->depends_on) {
      const SubStepStatus* status = status_of(name);
      if (status == nullptr || status->phase != kSucceeded) return false;
      const Step* dependency = index_.depended_on(name);
      if (dependency != nullptr && seen.insert(dependency).second) open.push_back(dependency);
    }
  }
  return true;
}

/// Steps by name, and the names that win over a step of the same name; without `inputs`.
std::map<std::string, Value> PassRun::condition_names(const Step& step) const {
  std::map<std::string, Value> names;
  for (const Step& one : run_.steps.steps) {
    names[one.name] = Value::empty_object();
    for (const Step& sub : one.sub_steps) names[sub.name] = Value::empty_object();
  }
  json::ObjectBuilder statuses;
  json::ObjectBuilder values;
  for (const auto& [name, status] : by_name_) {
    statuses.set(name, status_for_condition(status));
    const auto kept = store_.notes.find(note(status, "value"));
    if (kept == store_.notes.end()) continue;
    if (auto value = json::parse(kept->second)) {
      values.set(name, *value);
      names[name] = *value;
    }
    if (std::ranges::find(kReservedNames, name) != std::end(kReservedNames)) {
      env_.log.warn("the name of a step is reserved in conditions", {{"step", name}, {"condition of", step.name}});
    }
  }
  names["steps"] = values.build();
  names["status"] = statuses.build();
  names["context"] = context_of(step, nullptr, fresh_status(step));
  names["parameter"] = step.properties.is_null() ? Value::empty_object() : step.properties;
  return names;
}

bool PassRun::is_overdue(const Step& step) const {
  const auto timeout = parse_duration(step.timeout);
  const auto known = by_name_.find(step.name);
  if (!timeout || known == by_name_.end() || !known->second.first_execute_time || known->second.phase == kPending) return false;
  const Now present = now();
  return present.time() >= present.present(*known->second.first_execute_time) + *timeout;
}

}  // namespace slipway::delivery::workflow
