#include "delivery/application/run_stamp.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"
#include "delivery/family/protected_status.h"

namespace slipway::delivery::application {
namespace {

Value with_kept_phases(const Value& steps, const Value& before);

bool is_stamped_application(const kube::Object& object) { return kube::kind(object) == kApplicationKind.kind; }

Value stamped_run(const kube::Object& object) {
  return is_stamped_application(object) ? object["status"]["workflow"] : object["status"];
}

kube::Object with_run(const kube::Object& object, Value run) {
  return is_stamped_application(object) ? object.with_path({"status", "workflow"}, std::move(run))
                                        : object.with("status", std::move(run));
}

/// A flag that users set, and the field that says who did.
struct Flag {
  const char* name;
  const char* by;
};
constexpr Flag kFlags[] = {{"suspend", "suspendedBy"}, {"terminated", "terminatedBy"}};

bool is_ended_by_hand(const Value& step) {
  return step["phase"].as_string() == "failed" && step["reason"].as_string() == "Terminate";
}

/// Whether the write ends a step that had not ended, of a list of steps or sub-steps.
bool ends_step(const Value& steps, const Value& before) {
  return std::ranges::any_of(steps.items(), [&](const Value& step) {
    const auto known = std::ranges::find_if(before.items(), [&](const Value& one) { return one["name"] == step["name"]; });
    const Value earlier = known == before.items().end() ? Value() : *known;
    return (is_ended_by_hand(step) && !is_ended_by_hand(earlier)) || ends_step(step["subSteps"], earlier["subSteps"]);
  });
}

/// Whether a user's write sets the flag. A run may have `terminated` already, since a step timed out beside others that go on:
/// who ends these has ended the run.
bool sets_flag(const Flag& flag, const Value& run, const Value& before) {
  if (!run[flag.name].as_bool()) return false;
  if (!before[flag.name].as_bool()) return true;
  return std::string_view(flag.name) == "terminated" && ends_step(run["steps"], before["steps"]);
}

bool has_finished(const Value& run, const Value& before) { return run["finished"].as_bool() && before["finished"].as_bool(); }

bool is_set_anew(const Value& run, const Value& before, std::string_view flag) {
  return run[flag].as_bool() && !before[flag].as_bool();
}

/// The phase by which a user asks for another run, in the field that KubeVela has it in or that of its design.
bool asks_for_run(const kube::Object& object, const kube::Object& old) {
  constexpr std::string_view kRunning = "runningWorkflow";
  const Value& status = object["status"];
  const bool is_by_status = status["status"].as_string() == kRunning && old["status"]["status"].as_string() != kRunning;
  return is_stamped_application(object) && (is_by_status || status["phase"].as_string() == kRunning);
}

/// A step that waits for a person, or a group, which stands as its steps do.
bool is_free_phase(const Value& step) {
  return step["type"].as_string() == "suspend" || step["phase"].as_string() == "suspending" || step["subSteps"].is_array();
}

/// A step as a user may leave it: of suspends any phase; of others one that has not ended may become failed, as terminate makes
/// it, and everything else stays.
Value with_kept_phase(const Value& step, const Value& before) {
  const std::string_view was = before["phase"].as_string();
  const bool has_ended = was == "succeeded" || was == "failed" || was == "skipped";
  const bool is_ended_now = !has_ended && step["phase"].as_string() == "failed";
  if (!is_free_phase(before) && !is_ended_now) return before;
  Value kept = step;
  if (before["subSteps"].is_array()) kept = kept.with("subSteps", with_kept_phases(step["subSteps"], before["subSteps"]));
  return kept;
}

/// Steps that the run did not have are left out; those that are gone run again.
Value with_kept_phases(const Value& steps, const Value& before) {
  json::ArrayBuilder kept;
  for (const Value& step : steps.items()) {
    const auto is_it = [&](const Value& one) { return one["name"] == step["name"]; };
    const auto known = std::ranges::find_if(before.items(), is_it);
    if (known != before.items().end()) kept.add(with_kept_phase(step, *known));
  }
  return kept.build();
}

/// Users write of a run, as `vela workflow` does: null or nothing (it starts again), suspend, terminated, the phases of
/// suspended steps, and steps that are to run again. What says which revision and which record it runs with, and what steps
/// have come to, is the controller's: who wrote it could have a step of another user pass.
Value with_own_run(Value run, const Value& before) {
  const bool starts_again = run["steps"].empty() && !run.has("startTime");
  if (!run.is_object()) return run;
  if (starts_again) return run.without("contextBackend");
  for (const char* member : {"appRevision", "mode", "contextBackend"}) {
    run = before[member].is_null() ? run.without(member) : run.with(member, before[member]);
  }
  return run.has("steps") ? run.with("steps", with_kept_phases(run["steps"], before["steps"])) : run;
}

kube::Object with_own_members(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  kube::Object kept = object;
  if (is_stamped_application(object)) {
    kept = with_own_status(
        object, old, asker,
        {"conditions", "observedGeneration", "status", "latestRevision", "services", "appliedResources",
         "workflowRestartScheduledAt", "appliedApplicationPolicies", "applicationPoliciesConfigMap", "rolledBackTo"});
  }
  const Value run = stamped_run(kept);
  if (asker.user == nullptr || !run.is_object() || may_write_status(asker)) return kept;
  return with_run(kept, with_own_run(run, stamped_run(old)));
}

}  // namespace

Result<kube::Object> stamp_run(const kube::Object& written, const kube::Object& old, const kube::Asker& asker) {
  const kube::Object object = with_own_members(written, old, asker);
  Value run = stamped_run(object);
  const Value before = stamped_run(old);
  if (!run.is_object()) return object;
  if (has_finished(run, before) && run["suspend"].as_bool()) run = run.with("suspend", false);
  if (asker.user != nullptr && has_finished(run, before) && is_set_anew(run, before, "terminated")) {
    run = run.with("terminated", false);
  }
  if (asker.user != nullptr) {
    for (const Flag& flag : kFlags) {
      const Value by = sets_flag(flag, run, before) ? Value(asker.user->name)
                       : run[flag.name].as_bool()   ? before[flag.by]
                                                    : Value();
      run = by.is_null() ? run.without(flag.by) : run.with(flag.by, by);
    }
  }
  return run == stamped_run(object) ? object : with_run(object, std::move(run));
}

std::vector<std::string> run_warnings(const kube::Object& object, const kube::Object& old) {
  std::vector<std::string> warnings;
  const Value run = stamped_run(object);
  const Value before = stamped_run(old);
  if (old.is_null() || !has_finished(run, before)) return warnings;
  const std::string path = is_stamped_application(object) ? "status.workflow" : "status";
  const std::string what = fmt::format("{}/{}", is_stamped_application(object) ? "app" : "workflowrun", kube::name(object));
  for (const auto& [flag, what_for] : {std::pair("suspend", "suspend"), std::pair("terminated", "terminate")}) {
    if (!is_set_anew(run, before, flag)) continue;
    warnings.push_back(
        fmt::format("{}.{}: the workflow has finished, so there is nothing to {}: the field is cleared", path, flag, what_for));
  }
  if (asks_for_run(object, old) && run == before) {
    warnings.push_back(
        fmt::format("status.workflow: {{}} in a merge patch or an apply changes nothing, so the workflow does not run "
                    "again: write `workflow: null`, or use `slipway workflow restart {}`",
                    what));
  }
  return warnings;
}

}  // namespace slipway::delivery::application
