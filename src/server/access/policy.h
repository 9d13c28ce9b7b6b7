// The rules of RBAC (rbac.authorization.k8s.io/v1 PolicyRule): what one allows, and whether a set of them covers another, which
// decides who may grant what. Follows k8s.io/component-helpers/auth/rbac/validation.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "server/access/attributes.h"

namespace slipway::server {

struct PolicyRule {
  std::vector<std::string> verbs{};
  std::vector<std::string> groups{};
  std::vector<std::string> resources{};  // "pods", "pods/log", "*/scale", "*"
  std::vector<std::string> names{};      // empty: every name
  std::vector<std::string> paths{};      // nonResourceURLs; a trailing * stands for any rest

  auto operator<=>(const PolicyRule&) const = default;

  static PolicyRule of(const json::Value& rule);
  json::Value to_json() const;
  bool allows(const Attributes& attributes) const;
  /// `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`.
  std::string to_string() const;
};

std::vector<PolicyRule> policy_rules(const json::Value& rules);

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

/// `["a" "b"]`, as Go prints a list of strings.
std::string go_list(const std::vector<std::string>& texts);

}  // namespace slipway::server
