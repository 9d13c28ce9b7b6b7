// The kinds of the room: names, annotations, limits. RolloutTrait rolls out a workload that it refers to, Rollout a revision of
// a component, AppRollout a revision of an application; one plan and one status serve all three.
#pragma once

#include <cstddef>
#include <string_view>

#include "kube/resource.h"
#include "kube/well_known.h"

namespace slipway::delivery::rollout {

inline constexpr std::string_view kTraitGroup = "standard.oam.dev";
inline constexpr std::string_view kAppGroup = "core.oam.dev";
inline const kube::GroupVersionKind kTraitKind{"standard.oam.dev", "v1alpha1", "RolloutTrait"};
inline const kube::GroupVersionKind kRolloutKind{"standard.oam.dev", "v1alpha1", "Rollout"};
inline const kube::GroupVersionKind kAppRolloutKind{"core.oam.dev", "v1beta1", "AppRollout"};
inline const kube::Resource kTraits{"standard.oam.dev", "v1alpha1", "rollouttraits"};
inline const kube::Resource kRollouts{"standard.oam.dev", "v1alpha1", "rollouts"};
inline const kube::Resource kAppRollouts{"core.oam.dev", "v1beta1", "approllouts"};

inline constexpr std::string_view kFinalizer = "rollout.slipway.dev/finalizer";

// What people ask of a rollout, as annotations on it. Each names the attempt (status.attempt) that it is about, so that it is
// heeded once however long it stands there, and means nothing to the attempts after.
inline constexpr std::string_view kAbort = "rollout.slipway.dev/abort";    // "3": fail attempt 3 now, under onFailure
inline constexpr std::string_view kRevert = "rollout.slipway.dev/revert";  // "3": fail it and undo it
inline constexpr std::string_view kRetry = "rollout.slipway.dev/retry";    // "3": begin attempt 4 at the same target
/// A JSON list of struct Approval (status.h). Admission fills in user, groups and time of entries that are new.
inline constexpr std::string_view kApprovals = "rollout.slipway.dev/approvals";
/// Present when admission stamped the approvals: without it they hold the gate, ApproverUnknown.
inline constexpr std::string_view kStampedBy = "rollout.slipway.dev/stamped";
/// The name of the user who wrote the present spec; admission writes it.
inline constexpr std::string_view kAuthor = "rollout.slipway.dev/author";

/// Entries and bytes of status.verdicts.
inline constexpr std::size_t kMaxVerdicts = 200;
inline constexpr std::size_t kMaxVerdictBytes = 8 * 1024;

}  // namespace slipway::delivery::rollout
