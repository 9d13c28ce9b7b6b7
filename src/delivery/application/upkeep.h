// What keeps an application after its workflow: health, repair of drift, and collection of what is not part of it any more.
// All of it starts from the trackers, so that it works after a restart without rendering. Follows kubevela/kubevela
// pkg/resourcekeeper; DIVERGES: drift is found in caches as it happens, not every five minutes.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delivery/application/app_run.h"
#include "delivery/application/rolling_back.h"

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
/// Deletes what the tracker of this generation holds beside what a rollback has applied again, but for what is_replaced_last();
/// once it is gone the tracker holds it no longer. What rollouts of the older revision have made stays, and is theirs again.
Task<Result<Collected>> collect_added(AppRun& run, Restored restored);
/// Call when the older revision serves. Deletes the rest, and what rollouts have made that nothing delivers now.
Task<Result<Collected>> collect_replaced(AppRun& run, Restored restored);
/// Deletes everything, for an application that goes.
Task<Result<Collected>> collect_all(AppRun& run, bool orphans);

}  // namespace slipway::delivery::application
