// How the objects of a component pass between the application and the rollouts over its revisions, as the application sees it
// (delivery/family/handover.h has the records both sides read). Who delivers a component now is what the current tracker says:
// a rollout that it records, else the application when it records the component's workload, unless a rollout has replaced that.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Before manifests are applied: asks the rollouts that work on their components to yield. ServiceUnavailable while one has not
/// done so.
Task<Result<void>> take_over(AppRun& run, std::vector<Manifest> manifests);

/// The workload of a component of which a rollout has made this very revision keeps the name it has there ("web-v2"), and the
/// autoscalers follow it: there is no second one.
void follow_rolled_out_names(const AppRun& run, std::vector<Manifest>& manifests);

/// A workload that declares no replicas gets as many as the rollout had whose place it takes. `live` are the objects of the
/// manifests, in their order.
Task<Result<void>> size_like_predecessor(AppRun& run, std::vector<Manifest> manifests, std::vector<Value> live);

/// After the workflow: what a rollout made of the present revision in the place of the application's own workload becomes the
/// application's, and that workload goes.
Task<Result<void>> adopt_rolled_out(AppRun& run);

/// What stands in the trackers of rollouts.
struct RolledOut {
  struct Entry {
    std::size_t tracker;  // index in rolled_out()
    ManagedResource resource;
  };
  std::set<ObjectId> held;  // a rollout that delivers its component needs it
  /// All of a rollout whose component something else delivers; of one that has succeeded what its revision no longer has, and
  /// workloads without pods whose revision is gone.
  std::vector<Entry> useless;
};
Task<Result<RolledOut>> rolled_out(AppRun& run);
/// Strikes these entries out of their trackers, and deletes those trackers that say nothing any more.
Task<Result<void>> clean_rolled_out(AppRun& run, std::vector<RolledOut::Entry> gone);

/// ControllerRevisions of components that the trait `rollout` delivers: the newest `limit` beside the present one stay.
std::set<ObjectId> kept_revisions(const AppRun& run, std::int64_t limit);

/// Before a rollout is deleted together with what it made: it must not go back to what is deleted too.
Task<Result<void>> ask_to_yield(AppRun& run, Value rollout);

}  // namespace slipway::delivery::application
