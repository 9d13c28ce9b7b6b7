// Whether rules of RBAC allow a request, and whether a set of them covers another, which decides who may grant what.
#pragma once

#include <vector>

#include "kube/policy_rule.h"
#include "server/access/attributes.h"

namespace slipway::server {

using kube::policy_rules;
using kube::PolicyRule;

bool allows(const PolicyRule& rule, const Attributes& attributes);

/// What `held` lacks of what is wanted.
struct MissingRules {
  /// One group, resource and name, or one path, per rule, with the verbs that are missing. Empty when all is covered.
  std::vector<PolicyRule> rules{};
  /// There is more missing than is told here, or so much to compare that it was given up: what is not covered for sure counts
  /// as missing.
  bool is_cut = false;

  bool empty() const { return rules.empty() && !is_cut; }
};

/// Whether `held` covers `wanted`: every verb on every resource of every group under every name, as upstream's Covers. A rule
/// of k verbs, groups and resources is not taken apart into k³: words that the held rules tell apart in nothing are one, so the
/// work depends on how many differences there are, and it is bounded. At most about 8 KiB of text are told.
MissingRules missing_rules(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted);

}  // namespace slipway::server
