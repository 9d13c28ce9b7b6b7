// A rollback (step rollback) to a revision whose objects are recorded: what the objects of that revision are applied as, and
// what of the present revision is deleted for them. A rollout of the older revision is asked to roll its workload out again,
// or, if it serves still, only to restore the objects beside it. In both cases it alone applies those.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// What a rollback applies again.
struct Restored {
  std::set<ObjectId> objects;
  std::set<std::string> components;  // that have such objects
  std::set<std::string> holders;     // rollouts over revisions among the objects, by holder_name()
  std::set<std::string> rolled;      // components that AppRollouts among them deliver
};
Restored restored_by(const std::vector<Manifest>& manifests);

/// Returns the manifests with each rollout as the rollback applies it. `request` is an id of this rollback. A rollout that
/// serves with its revision is kept as it is. Another one gets the batches of its plan without gates, partition, pause and
/// revert: a rollback needs no approval. One that this rollback has already applied is kept unchanged.
Task<Result<std::vector<Manifest>>> with_rollouts_to_restore(AppRun& run, std::vector<Manifest> manifests, std::string request);

/// Returns the first rollout of `applied` that has not done what `request` asks, and how far it is; empty: all have.
Task<Result<std::string>> first_unrestored(AppRun& run, std::vector<Value> applied);

/// Whether the rollback is done with the object last, when the older revision serves: its pods serve until then.
bool is_replaced_last(const Restored& restored, const ManagedResource& resource);

}  // namespace slipway::delivery::application
