// How the objects of a component pass between the application and the rollouts over its revisions, on the application's side
// (delivery/family/handover.h defines the records that both sides read). The current tracker says who delivers a component now:
// a rollout that it records, else the application when it records the component's workload, unless a rollout has replaced that.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Call before manifests are applied. Asks the rollouts that work on their components to yield, and deletes an older workload
/// of the application's that does not serve yet, whose rolling update would add pods to 2T. ServiceUnavailable until both are
/// done.
Task<Result<void>> take_over(AppRun& run, std::vector<Manifest> manifests);

/// Renames the workload of a component to the name ("web-v2") that a rollout gave it for this revision, and the target of its
/// autoscalers with it, so that no second workload is made.
void follow_rolled_out_names(const AppRun& run, std::vector<Manifest>& manifests);

/// Sizes a workload that declares no replicas to T of the rollout whose place it takes. `live` are the objects of the
/// manifests, in their order.
Task<Result<void>> size_like_predecessor(AppRun& run, std::vector<Manifest> manifests, std::vector<Value> live);

/// Call while the workflow runs, unless it rolls back, which deletes rollouts itself. Makes rollouts again that the present run
/// has applied and a user has deleted: steps that have ended do not.
Task<Result<void>> restore_rollouts(AppRun& run);

/// Call after the workflow. Adopts the workload that a rollout made of the present revision, and deletes the application's own
/// one that it replaced, or that this run had made before it went on under the other name.
Task<Result<void>> adopt_rolled_out(AppRun& run);

/// The objects in the trackers of rollouts.
struct RolledOut {
  struct Entry {
    std::size_t tracker;  // index in rolled_out()
    ManagedResource resource;
  };
  std::set<ObjectId> held;  // needed by the rollout that delivers their component
  /// To be deleted: all objects of a rollout whose component something else delivers, or is no component any more; of a rollout
  /// that has succeeded, objects that its revision no longer has, and workloads without pods whose revision is gone.
  std::vector<Entry> useless;
};
/// `components` are those that the application has as it is delivered now. A rollout that is still at work on another one keeps
/// its objects until it ends.
Task<Result<RolledOut>> rolled_out(AppRun& run, std::set<std::string> components);
/// The names of the components of the present revision.
std::set<std::string> component_names(const AppRun& run);
/// Call after the workflow where objects of older versions are kept. Workloads that rollouts made stay, but without pods, once
/// something else delivers their component.
Task<Result<void>> drain_kept(AppRun& run);
/// Removes these entries from their trackers, and deletes trackers that are empty then.
Task<Result<void>> clean_rolled_out(AppRun& run, std::vector<RolledOut::Entry> gone);

/// Returns the newest `limit` ControllerRevisions beside the present one, of each component that the trait `rollout` delivers.
std::set<ObjectId> kept_revisions(const AppRun& run, std::int64_t limit);

/// Call before a rollout is deleted together with what it made, so that it does not revert to workloads that are deleted too.
Task<Result<void>> ask_to_yield(AppRun& run, Value rollout);

}  // namespace slipway::delivery::application
