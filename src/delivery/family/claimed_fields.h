// Fields of an object that another controller writes for a while: a rollout sets sizes and partitions of workloads that an
// application made. It says so in an annotation of the object; as long as that stands there, whoever made the object neither
// writes nor repairs those fields.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace slipway::delivery {

/// Paths of members, separated by commas: "spec.replicas,spec.paused".
inline constexpr const char* kClaimedFields = "slipway.dev/claimed-fields";

/// The members of each path. Empty when nothing is claimed.
std::vector<std::vector<std::string>> claimed_fields(const kube::Object& object);
/// What `manager` may apply of `manifest` on `live`: without what is claimed there. A claimed field that only `manager`
/// has written so far stays, as it is in `live`: one that is left out would be removed. A manifest that makes the same claim
/// itself gives the field away, until the rest of its spec is another: then the whole is meant.
kube::Object without_claimed(kube::Object manifest, const kube::Object& live, std::string_view manager);

}  // namespace slipway::delivery
