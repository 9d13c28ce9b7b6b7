// Fields of an object that another controller writes for a while: a rollout sets sizes and partitions of workloads that an
// application made. It says so in an annotation of the object; as long as that stands there, whoever made the object neither
// writes nor repairs those fields.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace slipway::delivery {

/// Paths of members, separated by commas: "spec.replicas,spec.paused".
inline constexpr const char* kClaimedFields = "slipway.dev/claimed-fields";

/// What the fields were that a manifest gives away: `PATH=DIGEST` of each, separated by commas. An apply that changes one of
/// them is then known from one that repeats it, after a crash too.
inline constexpr const char* kClaimedValues = "slipway.dev/claimed-values";

/// The members of each path. Empty when nothing is claimed.
std::vector<std::vector<std::string>> claimed_fields(const kube::Object& object);
/// `manifest` with kClaimedValues, where it gives fields away.
kube::Object with_claimed_values(kube::Object manifest);
/// Whether `manifest` gives a field away with another value than when it was applied last. False where `live` does not say.
bool is_claim_changed(const kube::Object& manifest, const kube::Object& live, const std::vector<std::string>& path);
/// What `manager` may apply of `manifest` on `live`: without what is claimed there. A claimed field that only `manager`
/// has written so far stays, as it is in `live`: one that is left out would be removed. A manifest that makes the same claim
/// itself gives the field away, until the rest of its spec is another: then the whole is meant. Where both say what the values
/// were (kClaimedValues), a field that the manifest changes is applied, and a change beside it means only itself.
kube::Object without_claimed(kube::Object manifest, const kube::Object& live, std::string_view manager);
/// managedFields of `live` in which `manager` has applied all that others wrote below a field that `live` gives away and
/// `manifest` says itself: an apply then removes what the manifest leaves out. Nullopt when there is no such field.
///   live gives spec.plan away, and `cli` has written spec.plan.onFailure; manifest {spec: {plan: {batches: 2}}} gives nothing
///   away: onFailure goes with the apply
std::optional<json::Value> taken_back_fields(const kube::Object& live, const kube::Object& manifest, std::string_view manager);

}  // namespace slipway::delivery
