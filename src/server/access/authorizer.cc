#include "server/access/authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "json/quoted.h"
#include "kube/object.h"

namespace slipway::server {

namespace {

/// As Go's aggregated errors read.
std::string joined(const std::vector<std::string>& faults) {
  if (faults.size() == 1) return faults.front();
  return fmt::format("[{}]", fmt::join(faults, ", "));
}

std::string joined_names(const std::vector<kube::UserInfo>& users) {
  std::string names;
  for (const kube::UserInfo& one : users) names += fmt::format("{}{}", names.empty() ? "" : ", ", json::quoted(one.name));
  return names;
}

}  // namespace

bool is_in_group(const kube::UserInfo& user, std::string_view group) {
  return std::ranges::find(user.groups, group) != user.groups.end();
}

Authorizer::Decision Authorizer::decide(const kube::UserInfo& user, const Attributes& attributes) {
  if (user.narrowing) {
    if (Decision narrowed = decide_narrowing(*user.narrowing, attributes); !narrowed.is_allowed) return narrowed;
  }
  if (is_in_group(user, kMasters)) return {.is_allowed = true};
  std::vector<std::string> faults;
  for (const RoleIndex::Share* share : roles_.shares(user, attributes.ns)) {
    const RoleIndex::Grant& grant = *share->grant;
    if (grant.role->rules == nullptr) {
      if (std::ranges::find(faults, grant.missing_role) == faults.end()) faults.push_back(grant.missing_role);
      continue;
    }
    if (std::ranges::any_of(*grant.role->rules, [&](const PolicyRule& rule) { return allows(rule, attributes); })) {
      return {.is_allowed = true, .reason = fmt::format("RBAC: allowed by {} to {}", grant.description, share->subject)};
    }
  }
  return {.is_allowed = false, .reason = faults.empty() ? "" : "RBAC: " + joined(faults)};
}

Authorizer::Decision Authorizer::decide_narrowing(const kube::Narrowing& narrowing, const Attributes& attributes) {
  if (!narrowing.ns.empty() && (!attributes.is_resource() || attributes.ns != narrowing.ns)) {
    return {.is_allowed = false,
            .reason = fmt::format("it uses what others wrote ({}), and so reaches nothing outside the namespace {}",
                                  joined_names(narrowing.by), narrowing.ns)};
  }
  for (const kube::UserInfo& one : narrowing.by) {
    if (decide(one, attributes).is_allowed) continue;
    return {.is_allowed = false, .reason = fmt::format("it uses what {} wrote, who may not do this", json::quoted(one.name))};
  }
  return {.is_allowed = true};
}

Result<void> Authorizer::check(const kube::UserInfo& user, const Attributes& attributes) {
  const Decision decision = decide(user, attributes);
  if (decision.is_allowed) return {};
  return fail(forbidden(user, attributes, decision.reason));
}

std::vector<PolicyRule> Authorizer::rules_for(const kube::UserInfo& user, std::string_view ns) {
  std::vector<PolicyRule> result;
  for (const RoleIndex::Share* share : roles_.shares(user, ns)) {
    const auto& rules = share->grant->role->rules;
    if (rules != nullptr) std::ranges::copy(*rules, std::back_inserter(result));
  }
  return result;
}

Result<std::vector<PolicyRule>> Authorizer::rules_of(std::string_view kind, std::string_view name, std::string_view ns) const {
  if (const auto rules = roles_.role(kind, name, ns)) return *rules;
  const std::string plural = kind == "ClusterRole" ? "clusterroles" : "roles";
  return fail(kube::not_found({std::string(kRbacGroup), "v1", plural}, name));
}

}  // namespace slipway::server
