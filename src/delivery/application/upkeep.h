// What keeps an application after its workflow: health, repair of drift, and collection of what is not part of it any more.
// All of it starts from the trackers, so that it works after a restart without rendering. Follows kubevela/kubevela
// pkg/resourcekeeper; DIVERGES: drift is found in caches as it happens, not every five minutes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"

namespace slipway::delivery::application {

/// Looks at every delivered component and records its service anew.
Task<Result<void>> judge_services(AppRun& run);

/// Brings objects back that are gone or were changed in fields that the application owns. When it is to be called again for
/// fields that are contested (drift.h).
Task<Result<std::optional<Duration>>> repair_drift(AppRun& run);

/// How far a collection is.
struct Collected {
  /// Objects that are still being deleted, and those that cannot be: in words.
  std::vector<std::string> remaining;
  std::string fault;  // the first that cannot be deleted now; empty: none
  bool is_done() const { return remaining.empty(); }
};
/// Deletes what outdated trackers hold and neither the current ones nor rollouts do, then those trackers; likewise what
/// rollouts have made and nothing delivers now. Old revisions of the trait `rollout` stay up to `revision_limit`.
Task<Result<Collected>> collect_outdated(AppRun& run, std::int64_t revision_limit);
/// Deletes what the tracker of this generation holds beside `kept`; once it is gone the tracker holds it no longer.
Task<Result<Collected>> collect_all_but(AppRun& run, std::set<ObjectId> kept);
/// Deletes everything, for an application that goes.
Task<Result<Collected>> collect_all(AppRun& run, bool orphans);

}  // namespace slipway::delivery::application
