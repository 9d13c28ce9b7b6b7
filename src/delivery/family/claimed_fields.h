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

/// Digests of the claimed fields' values in the manifest as it was last applied: `PATH=DIGEST`, separated by commas. They tell,
/// also after a crash, an apply that changes a claimed field from one that repeats it.
inline constexpr const char* kClaimedValues = "slipway.dev/claimed-values";

/// The members of each path. Empty when nothing is claimed.
std::vector<std::vector<std::string>> claimed_fields(const kube::Object& object);
/// `manifest` with kClaimedValues, where it gives fields away.
kube::Object with_claimed_values(kube::Object manifest);
/// True if the value at the claimed `path` in `manifest` differs from the digest recorded in `live`. False if `live` records
/// none.
bool is_claim_changed(const kube::Object& manifest, const kube::Object& live, const std::vector<std::string>& path);
/// Returns the part of `manifest` that `manager` may apply over `live`:
/// - without the fields claimed in `live`;
/// - with the value from `live` for a claimed field that only `manager` has written, since an apply without it would remove it;
/// - whole, if the manifest makes the same claim and its spec outside the claimed fields differs from `live`;
/// - if both record kClaimedValues: also with each claimed field whose value the manifest has changed since it was last
/// applied. A
///   change beside the claimed fields does not make it whole then.
kube::Object without_claimed(kube::Object manifest, const kube::Object& live, std::string_view manager);
/// Returns managedFields of `live` in which `manager` owns what other managers wrote below each field that `live` claims and
/// `manifest` sets without claiming it. The next apply by `manager` then removes what the manifest leaves out. Nullopt when
/// nothing moves. Example: `live` claims spec.plan, and `cli` wrote spec.plan.onFailure there; manifest {spec: {plan: {batches:
/// 2}}} claims nothing: its apply removes onFailure.
std::optional<json::Value> taken_back_fields(const kube::Object& live, const kube::Object& manifest, std::string_view manager);

}  // namespace slipway::delivery
