#include "server/access/authorizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kube/object.h"

namespace slipway::server {

namespace {

using json::Value;

constexpr std::string_view kPrefix = "/registry/rbac.authorization.k8s.io/";

std::string role_key(std::string_view kind, std::string_view name, std::string_view ns) {
  if (kind == "ClusterRole") return fmt::format("{}clusterroles/{}", kPrefix, name);
  return fmt::format("{}roles/{}/{}", kPrefix, ns, name);
}

std::string missing_role(std::string_view kind, std::string_view name) {
  return fmt::format("{}.{} \"{}\" not found", kind == "ClusterRole" ? "clusterrole" : "role", kRbacGroup, name);
}

/// As Go's aggregated errors read.
std::string joined(const std::vector<std::string>& faults) {
  if (faults.size() == 1) return faults.front();
  return fmt::format("[{}]", fmt::join(faults, ", "));
}

}  // namespace

std::string account_user(std::string_view ns, std::string_view name) {
  return fmt::format("system:serviceaccount:{}:{}", ns, name);
}

bool is_in_group(const kube::UserInfo& user, std::string_view group) {
  return std::ranges::find(user.groups, group) != user.groups.end();
}

Authorizer::Decision Authorizer::decide(const kube::UserInfo& user, const Attributes& attributes) {
  if (is_in_group(user, kMasters)) return {.is_allowed = true};
  refresh();
  std::vector<std::string> faults;
  for (const Share* share : shares(user, attributes.ns)) {
    const Grant& grant = grants_[share->first];
    if (grant.rules == nullptr) {
      if (std::ranges::find(faults, grant.fault) == faults.end()) faults.push_back(grant.fault);
      continue;
    }
    if (std::ranges::any_of(*grant.rules, [&](const PolicyRule& rule) { return rule.allows(attributes); })) {
      return {.is_allowed = true, .reason = fmt::format("RBAC: allowed by {} to {}", grant.description, share->second)};
    }
  }
  return {.is_allowed = false, .reason = faults.empty() ? "" : "RBAC: " + joined(faults)};
}

Result<void> Authorizer::check(const kube::UserInfo& user, const Attributes& attributes) {
  const Decision decision = decide(user, attributes);
  if (decision.is_allowed) return {};
  return fail(forbidden(user, attributes, decision.reason));
}

std::vector<PolicyRule> Authorizer::rules_for(const kube::UserInfo& user, std::string_view ns) {
  refresh();
  std::vector<PolicyRule> result;
  for (const Share* share : shares(user, ns)) {
    const Grant& grant = grants_[share->first];
    if (grant.rules != nullptr) std::ranges::copy(*grant.rules, std::back_inserter(result));
  }
  return result;
}

Result<std::vector<PolicyRule>> Authorizer::rules_of(std::string_view kind, std::string_view name, std::string_view ns) const {
  const auto entry = store_.get(role_key(kind, name, ns));
  if (entry) return policy_rules(entry->value["rules"]);
  const std::string plural = kind == "ClusterRole" ? "clusterroles" : "roles";
  return fail(kube::not_found({std::string(kRbacGroup), "v1", plural}, name));
}

std::vector<const Authorizer::Share*> Authorizer::shares(const kube::UserInfo& user, std::string_view ns) const {
  std::vector<const Share*> result;
  const auto take = [&](const auto& index, const std::string& subject) {
    const auto found = index.find(subject);
    if (found == index.end()) return;
    for (const Share& share : found->second) {
      const std::string& where = grants_[share.first].ns;
      if (where.empty() || where == ns) result.push_back(&share);
    }
  };
  take(of_users_, user.name);
  for (const std::string& group : user.groups) take(of_groups_, group);
  std::ranges::sort(result, {}, [](const Share* share) { return *share; });
  return result;
}

void Authorizer::refresh() {
  if (is_current_) return;
  grants_.clear();
  roles_.clear();
  of_users_.clear();
  of_groups_.clear();
  for (const std::string_view plural : {"clusterroles/", "roles/"}) {
    const auto range = store_.range({.prefix = std::string(kPrefix) + std::string(plural)});
    if (!range) return;
    for (const auto& [key, entry] : range->entries) {
      roles_.emplace(key, std::make_shared<const Rules>(policy_rules(entry.value["rules"])));
    }
  }
  read_bindings("clusterrolebindings/");
  read_bindings("rolebindings/");
  is_current_ = true;
}

void Authorizer::read_bindings(std::string_view plural) {
  const auto range = store_.range({.prefix = std::string(kPrefix) + std::string(plural)});
  if (!range) return;
  for (const auto& [key, entry] : range->entries) {
    const Value& binding = entry.value;
    const std::string_view ns = kube::ns(binding);
    const std::string_view kind = binding["roleRef"]["kind"].as_string();
    const std::string_view name = binding["roleRef"]["name"].as_string();
    Grant grant{.ns = std::string(ns), .description = {}, .rules = role(kind, name, ns), .fault = {}};
    if (grant.rules == nullptr) grant.fault = missing_role(kind, name);
    const std::string binding_name =
        ns.empty() ? std::string(kube::name(binding)) : fmt::format("{}/{}", kube::name(binding), ns);
    grant.description =
        fmt::format("{} \"{}\" of {} \"{}\"", ns.empty() ? "ClusterRoleBinding" : "RoleBinding", binding_name, kind, name);
    grants_.push_back(std::move(grant));
    for (const Value& subject : binding["subjects"].items()) add_subject(grants_.size() - 1, subject, ns);
  }
}

void Authorizer::add_subject(std::size_t grant, const Value& subject, std::string_view binding_ns) {
  const std::string_view kind = subject["kind"].as_string();
  const std::string name = subject["name"].str();
  if (kind == "User") of_users_[name].emplace_back(grant, fmt::format("User \"{}\"", name));
  if (kind == "Group") of_groups_[name].emplace_back(grant, fmt::format("Group \"{}\"", name));
  if (kind != "ServiceAccount") return;
  const std::string_view own = subject["namespace"].as_string();
  const std::string_view ns = own.empty() ? binding_ns : own;
  if (!ns.empty()) of_users_[account_user(ns, name)].emplace_back(grant, fmt::format("ServiceAccount \"{}/{}\"", name, ns));
}

std::shared_ptr<const Authorizer::Rules> Authorizer::role(std::string_view kind, std::string_view name,
                                                          std::string_view ns) const {
  const auto found = roles_.find(role_key(kind, name, ns));
  return found == roles_.end() ? nullptr : found->second;
}

}  // namespace slipway::server
