// The kinds of the room, by name. RolloutTrait rolls out a workload that it refers to, Rollout a revision of
// a component, AppRollout a revision of an application; one plan and one status serve all three.
#pragma once

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
/// "true" on a workload that a rollout has made, until it has taken charge of it: there are no pods of it yet.
/// DIVERGES: the OAM rollout marks the Application for it and its ApplicationConfiguration. A revision is never reconciled by
/// itself here; what is delivered for the first time is the workload.
inline constexpr std::string_view kCreating = "app.oam.dev/creating";

/// On what an Application has made: its name, and the component.
inline constexpr const char* kNameLabel = "app.oam.dev/name";
inline constexpr const char* kComponentLabel = "app.oam.dev/component";

}  // namespace slipway::delivery::rollout
