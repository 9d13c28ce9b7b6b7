// What a PackageRollout looks at, made of records, reports of clusters and policies: one target for each package whose content
// comes from the upstream package. Pure; rollout_plan.h decides on it.
//
// The revision that counts of a package is the published one that came from the wanted upstream revision, else its proposal,
// else its draft. The way back of a target is a revision with the annotation packages.slipway.dev/back-out-of, that names the
// one it takes back; a first revision has nothing to go back to and is proposed to be deleted.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/package/cluster_sync.h"
#include "delivery/package/policy_spec.h"
#include "delivery/package/record_index.h"
#include "delivery/package/rollout_plan.h"

namespace slipway::delivery::package {

inline constexpr std::string_view kBackOutOf = "packages.slipway.dev/back-out-of";

/// Where a Repository has a package; nullopt for one that cannot be read.
std::optional<SyncPlace> place_of(const kube::Object& repository, std::string_view path);
/// The revision's content came from the rollout's upstream revision, and it has the labels.
bool is_about(const PackageRolloutSpec& rollout, const kube::Object& upstream_repository, const StoredRecord& revision);

/// Questions about one revision.
struct RolloutSight {
  std::function<SyncView(const StoredRecord& published)> sync{};
  /// Why policies do not agree to a proposal; empty: they do.
  std::function<std::string(const StoredRecord& proposal)> objection{};
  Now now = Time{};
};
/// `followers`: all revisions whose content came from the upstream package. In the order of ids.
std::vector<TargetView> targets_of(const PackageRolloutSpec& rollout, const std::vector<RecordIndex::Known>& followers,
                                   const RolloutSight& sight);
/// The published revision from before, that a back-out goes on from; null: there is none.
RecordIndex::Known before(const std::vector<RecordIndex::Known>& revisions, const StoredRecord& approved);
/// The back-out of a revision, if there is one.
RecordIndex::Known back_out_of(const std::vector<RecordIndex::Known>& revisions, std::string_view approved);

}  // namespace slipway::delivery::package
