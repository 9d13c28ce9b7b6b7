// The scenarios about rollouts: what a user does to them in the middle, and what must hold of pods, owners, hooks and traffic
// at every moment.
#pragma once

#include "sim/scenario.h"

namespace slipway::sim {

/// Two Deployments with hooks before and after each batch that pass at their second try; a hold at the first batch, a pause,
/// the rest; then a version whose pods are never ready, which is undone.
Scenario gated_rollout_scenario();
/// A user scales the old version while the first batch holds; then another target; then the rollout is deleted, and what it
/// did is undone.
Scenario disturbed_rollout_scenario();
/// Two Deployments behind an Ingress, half of the traffic at a time; a hook that rejects the second half, and the way back.
Scenario shifted_rollout_scenario();
/// A StatefulSet by its partition, up to the end; then a template whose pods are never ready, which is undone.
Scenario in_place_rollout_scenario();

/// A part of the normalised state: the rollouts, their attempts and gates, and the weights of Ingresses.
std::string rollout_state(World& world);

}  // namespace slipway::sim
