// Why a package is not delivered: gate → condition → owner → object. A revision waits for its gates; a gate for its condition;
// a condition for who has to see to it, and that is often an object: the claim that the condition is called after, the variant,
// policy or rollout that asked for the gate. A ready draft waits for who proposes it, a proposal for who approves it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/zone.h"
#include "control/explain.h"
#include "delivery/package/commands.h"

namespace slipway::delivery::package {

/// For PackageRevision (a part is a gate), Repository, PackageVariant, PackageVariantSet and PackageRollout.
std::vector<control::ExplainRow> explain_rows();

/// What policies need to know beside the revision.
struct PolicySight {
  bool has_published = false;           // another revision of the package is published
  std::map<std::string, Zone> zones{};  // by name
  Time now{};
};
/// What the ApprovalPolicies that select a proposal wait for: votes, a window.
std::vector<control::Wait> policy_waits(const ShownRevision& revision, const std::vector<json::Value>& policies,
                                        const PolicySight& sight);

/// The object that a condition is called after: "ipam.example.org/v1.IPClaim.n3" (as Nephio's functions do; the reference has
/// no namespace), "config.injection.ConfigMap.region" without a group. Null for other types.
json::Value object_of_condition(std::string_view type);

}  // namespace slipway::delivery::package
