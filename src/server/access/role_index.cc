#include "server/access/role_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "kube/object.h"

namespace slipway::server {

namespace {

using json::Value;

constexpr std::string_view kRolesPrefix = "/registry/rbac.authorization.k8s.io/";

std::string role_key(std::string_view kind, std::string_view name, std::string_view ns) {
  if (kind == "ClusterRole") return fmt::format("{}clusterroles/{}", kRolesPrefix, name);
  return fmt::format("{}roles/{}/{}", kRolesPrefix, ns, name);
}

/// "rolebindings" of the key of one.
std::string_view plural_of(std::string_view key) {
  key.remove_prefix(kRolesPrefix.size());
  return key.substr(0, key.find('/'));
}

/// The name under which a subject is found and how it is told; nothing for a subject that names no user.
struct Named {
  bool is_group = false;
  std::string name;
  std::string text;
};
std::optional<Named> named(const Value& subject, std::string_view binding_ns) {
  const std::string_view kind = subject["kind"].as_string();
  std::string name = subject["name"].str();
  if (kind == "User" || kind == "Group") {
    std::string text = fmt::format("{} \"{}\"", kind, name);
    return Named{kind == "Group", std::move(name), std::move(text)};
  }
  if (kind != "ServiceAccount") return std::nullopt;
  const std::string_view own = subject["namespace"].as_string();
  const std::string_view ns = own.empty() ? binding_ns : own;
  if (ns.empty()) return std::nullopt;
  return Named{false, account_user(ns, name), fmt::format("ServiceAccount \"{}/{}\"", name, ns)};
}

RoleIndex::Grant grant_of(const std::string& key, const Value& binding) {
  const std::string_view ns = kube::ns(binding);
  const std::string_view kind = binding["roleRef"]["kind"].as_string();
  const std::string_view role = binding["roleRef"]["name"].as_string();
  const std::string name = ns.empty() ? std::string(kube::name(binding)) : fmt::format("{}/{}", kube::name(binding), ns);
  const std::string_view own_kind = ns.empty() ? "ClusterRoleBinding" : "RoleBinding";
  return {
      .key = key,
      .ns = std::string(ns),
      .description = fmt::format("{} \"{}\" of {} \"{}\"", own_kind, name, kind, role),
      .role_key = role_key(kind, role, ns),
      .role = {},
      .missing_role = fmt::format("{}.{} \"{}\" not found", kind == "ClusterRole" ? "clusterrole" : "role", kRbacGroup, role)};
}

}  // namespace

std::string account_user(std::string_view ns, std::string_view name) {
  return fmt::format("system:serviceaccount:{}:{}", ns, name);
}

bool RoleIndex::Share::operator<(const Share& other) const {
  return std::tie(grant->key, subject) < std::tie(other.grant->key, other.subject);
}

RoleIndex::RoleIndex(store::Store& store) : following_(store.follow(std::string(kRolesPrefix), *this, store::Sight::Durable)) {}

void RoleIndex::apply(const store::Change& change) {
  ++objects_read_;
  const std::string_view plural = plural_of(change.key);
  if (plural == "roles" || plural == "clusterroles") {
    change.value ? put_role(change.key, *change.value) : remove_role(change.key);
  } else if (plural == "rolebindings" || plural == "clusterrolebindings") {
    change.value ? put_binding(change.key, *change.value) : remove_binding(change.key);
  }
}

std::vector<const RoleIndex::Share*> RoleIndex::shares(const kube::UserInfo& user, std::string_view ns) const {
  std::vector<const Share*> result;
  const auto take = [&](bool is_group, const std::string& name, std::string_view where) {
    const auto found = shares_.find(Subject{is_group, name, std::string(where)});
    if (found == shares_.end()) return;
    for (const Share& share : found->second) result.push_back(&share);
  };
  const auto take_all = [&](bool is_group, const std::string& name) {
    take(is_group, name, "");
    if (!ns.empty()) take(is_group, name, ns);
  };
  take_all(false, user.name);
  for (const std::string& group : user.groups) take_all(true, group);
  std::ranges::sort(result, [](const Share* a, const Share* b) { return *a < *b; });
  return result;
}

std::shared_ptr<const RoleIndex::Rules> RoleIndex::role(std::string_view kind, std::string_view name,
                                                        std::string_view ns) const {
  const auto found = roles_.find(role_key(kind, name, ns));
  return found == roles_.end() ? nullptr : found->second->rules;
}

void RoleIndex::put_role(const std::string& key, const Value& role) {
  place_of(key)->rules = std::make_shared<const Rules>(policy_rules(role["rules"]));
}

void RoleIndex::remove_role(const std::string& key) {
  place_of(key)->rules.reset();
  drop_if_unused(key);
}

void RoleIndex::put_binding(const std::string& key, const Value& object) {
  remove_binding(key);
  Binding& binding = bindings_[key];
  binding.grant = grant_of(key, object);
  binding.grant.role = place_of(binding.grant.role_key);
  for (const Value& subject : object["subjects"].items()) {
    auto one = named(subject, binding.grant.ns);
    if (!one) continue;
    binding.subjects.emplace_back(Subject{one->is_group, std::move(one->name), binding.grant.ns},
                                  Share{&binding.grant, std::move(one->text)});
  }
  for (const auto& [subject, share] : binding.subjects) shares_[subject].insert(share);
}

void RoleIndex::remove_binding(const std::string& key) {
  const auto found = bindings_.find(key);
  if (found == bindings_.end()) return;
  for (const auto& [subject, share] : found->second.subjects) {
    const auto at = shares_.find(subject);
    if (at == shares_.end()) continue;  // the binding named the subject twice
    at->second.erase(share);
    if (at->second.empty()) shares_.erase(at);
  }
  const std::string role = found->second.grant.role_key;
  bindings_.erase(found);
  drop_if_unused(role);
}

std::shared_ptr<RoleIndex::Role>& RoleIndex::place_of(const std::string& role_key) {
  std::shared_ptr<Role>& place = roles_[role_key];
  if (place == nullptr) place = std::make_shared<Role>();
  return place;
}

void RoleIndex::drop_if_unused(const std::string& role_key) {
  const auto found = roles_.find(role_key);
  if (found != roles_.end() && found->second->rules == nullptr && found->second.use_count() == 1) roles_.erase(found);
}

}  // namespace slipway::server
