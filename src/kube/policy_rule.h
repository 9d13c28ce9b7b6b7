// A rule of RBAC (rbac.authorization.k8s.io/v1 PolicyRule): what it allows. Follows
// k8s.io/component-helpers/auth/rbac/validation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace slipway::kube {

struct PolicyRule {
  std::vector<std::string> verbs{};
  std::vector<std::string> groups{};
  std::vector<std::string> resources{};  // "pods", "pods/log", "*/scale", "*"
  std::vector<std::string> names{};      // empty: every name
  std::vector<std::string> paths{};      // nonResourceURLs; a trailing * stands for any rest

  auto operator<=>(const PolicyRule&) const = default;

  static PolicyRule of(const json::Value& rule);
  json::Value to_json() const;
  /// `resource` is the plural, with the subresource if there is one: "pods", "pods/log".
  bool allows(std::string_view verb, std::string_view group, std::string_view resource, std::string_view name) const;
  bool allows_path(std::string_view verb, std::string_view path) const;
  /// `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`.
  std::string to_string() const;
};

std::vector<PolicyRule> policy_rules(const json::Value& rules);

/// `["a" "b"]`, as Go prints a list of strings.
std::string go_list(const std::vector<std::string>& texts);

}  // namespace slipway::kube
