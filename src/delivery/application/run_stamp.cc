#include "delivery/application/run_stamp.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"
#include "delivery/family/protected_status.h"

namespace slipway::delivery::application {
namespace {

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

bool has_finished(const Value& run, const Value& before) { return run["finished"].as_bool() && before["finished"].as_bool(); }

/// Of an Application users write `workflow`, as `vela workflow` does: null, suspend, terminated, the phases of steps. What says
/// which revision and which record it runs with is the controller's. Members of others stay.
kube::Object with_own_members(const kube::Object& object, const kube::Object& old, const kube::Asker& asker) {
  if (!is_stamped_application(object)) return object;
  kube::Object kept = with_own_status(
      object, old, asker,
      {"conditions", "observedGeneration", "status", "latestRevision", "services", "appliedResources",
       "workflowRestartScheduledAt", "appliedApplicationPolicies", "applicationPoliciesConfigMap", "rolledBackTo"});
  if (asker.user == nullptr || !kept["status"]["workflow"].is_object() || may_write_status(asker)) return kept;
  for (const char* member : {"appRevision", "mode", "contextBackend"}) {
    const Value& before = old["status"]["workflow"][member];
    kept = before.is_null() ? kept.without_path({"status", "workflow", member})
                            : kept.with_path({"status", "workflow", member}, before);
  }
  return kept;
}

}  // namespace

Result<kube::Object> stamp_run(const kube::Object& written, const kube::Object& old, const kube::Asker& asker) {
  const kube::Object object = with_own_members(written, old, asker);
  Value run = stamped_run(object);
  const Value before = stamped_run(old);
  if (!run.is_object()) return object;
  if (has_finished(run, before) && run["suspend"].as_bool()) run = run.with("suspend", false);
  if (asker.user != nullptr) {
    for (const Flag& flag : kFlags) {
      const bool is_new = run[flag.name].as_bool() && !before[flag.name].as_bool();
      const Value by = is_new ? Value(asker.user->name) : run[flag.name].as_bool() ? before[flag.by] : Value();
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
  if (run["suspend"].as_bool() && !before["suspend"].as_bool()) {
    warnings.push_back(
        fmt::format("{}.suspend: the workflow has finished, so there is nothing to suspend: the field is cleared", path));
  }
  const bool asks_for_restart = is_stamped_application(object) && object["status"]["phase"].as_string() == "runningWorkflow";
  if (asks_for_restart && run == before) {
    warnings.push_back(
        fmt::format("status.workflow: {{}} in a merge patch or an apply changes nothing, so the workflow does not run "
                    "again: write `workflow: null`, or use `slipway workflow restart {}`",
                    what));
  }
  return warnings;
}

}  // namespace slipway::delivery::application
