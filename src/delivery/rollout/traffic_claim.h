// Marks on the Services and routes that a rollout moves traffic with, so that no two rollouts write to one. They are written
// before anything else is, in the order of the objects' names and each with the resourceVersion that was read: of two rollouts
// that begin together one gets all that both need. Objects that rollouts make carry no mark, for they go with their rollout.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/rollout/traffic.h"

namespace slipway::delivery::rollout {

/// "RolloutTrait/shop/UID".
inline constexpr std::string_view kTrafficOwner = "rollout.slipway.dev/traffic-of";

struct TrafficOwner {
  std::string kind;
  std::string name;
  std::string uid;
};
/// Nullopt where there is no mark, or the rollout's own.
std::optional<TrafficOwner> other_traffic_owner(const kube::Object& object, const kube::Object& rollout);

/// The marks that are missing. Conflict, naming the object and who works on it, when one is another rollout's.
Result<std::vector<Change>> claim_traffic(const Objects& objects, const kube::Object& rollout);
/// Own marks go.
std::vector<Change> release_traffic(const Objects& objects, const kube::Object& rollout);

}  // namespace slipway::delivery::rollout
