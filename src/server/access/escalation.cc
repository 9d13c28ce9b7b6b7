#include "server/access/escalation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace slipway::server {

namespace {

using json::Value;

bool is_allowed(Authorizer& authorizer, const kube::UserInfo& user, std::string_view verb, std::string_view plural,
                std::string_view name, std::string_view ns) {
  return authorizer
      .decide(user, {.verb = std::string(verb),
                     .group = std::string(kRbacGroup),
                     .version = "v1",
                     .resource = std::string(plural),
                     .ns = std::string(ns),
                     .name = std::string(name)})
      .is_allowed;
}

const std::vector<PolicyRule>& everything() {
  static const std::vector<PolicyRule> kRules{{.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}},
                                              {.verbs = {"*"}, .paths = {"*"}}};
  return kRules;
}

/// "" when the user holds all of `wanted` in `ns`, else what upstream says.
std::string lacking(Authorizer& authorizer, const kube::UserInfo& user, const std::vector<PolicyRule>& wanted,
                    std::string_view ns) {
  const MissingRules missing = missing_rules(authorizer.rules_for(user, ns), wanted);
  if (missing.empty()) return {};
  std::vector<std::string> lines;
  for (const PolicyRule& rule : missing.rules) lines.push_back(rule.to_string());
  std::ranges::sort(lines);
  if (missing.is_cut) lines.emplace_back("and more, or more than can be compared");
  return fmt::format("user \"{}\" (groups={}) is attempting to grant RBAC permissions not currently held:\n{}", user.name,
                     kube::go_list(user.groups), fmt::join(lines, "\n"));
}

Result<void> check_role(Authorizer& authorizer, const kube::UserInfo& user, const kube::Resource& resource, const Value& object,
                        const Value& old) {
  const Value& aggregation = object["aggregationRule"];
  if (!old.is_null() && object["rules"] == old["rules"] && aggregation == old["aggregationRule"]) return {};
  const std::string_view ns = kube::ns(object);
  if (is_allowed(authorizer, user, "escalate", resource.plural, kube::name(object), ns)) return {};
  if (std::string why = lacking(authorizer, user, policy_rules(object["rules"]), ns); !why.empty()) {
    return fail(forbidden_because(resource, kube::name(object), why));
  }
  // What a role gathers by its aggregation rule may be anything.
  const bool gathers = aggregation.is_object() || old["aggregationRule"].is_object();
  if (gathers && !lacking(authorizer, user, everything(), "").empty()) {
    return fail(
        forbidden_because(resource, kube::name(object), "must have cluster-admin privileges to use the aggregationRule"));
  }
  return {};
}

Result<void> check_binding(Authorizer& authorizer, const kube::UserInfo& user, const kube::Resource& resource,
                           const Value& object) {
  const std::string_view ns = kube::ns(object);
  const Value& role = object["roleRef"];
  const std::string_view kind = role["kind"].as_string();
  const std::string_view plural = kind == "ClusterRole" ? "clusterroles" : "roles";
  if (is_allowed(authorizer, user, "bind", plural, role["name"].as_string(), ns)) return {};
  SLIPWAY_TRY(rules, authorizer.rules_of(kind, role["name"].as_string(), ns));
  if (std::string why = lacking(authorizer, user, rules, ns); !why.empty()) {
    return fail(forbidden_because(resource, kube::name(object), why));
  }
  return {};
}

}  // namespace

Result<void> check_escalation(Authorizer& authorizer, const kube::UserInfo& user, const kube::Resource& resource,
                              const kube::Object& object, const kube::Object& old) {
  if (resource.group != kRbacGroup) return {};
  if (user.narrowing) {
    for (const kube::UserInfo& one : user.narrowing->by) {
      SLIPWAY_TRY_VOID(check_escalation(authorizer, one, resource, object, old));
    }
  }
  if (is_in_group(user, kMasters)) return {};
  if (resource.plural == "roles" || resource.plural == "clusterroles") {
    return check_role(authorizer, user, resource, object, old);
  }
  if (resource.plural == "rolebindings" || resource.plural == "clusterrolebindings") {
    return check_binding(authorizer, user, resource, object);
  }
  return {};
}

}  // namespace slipway::server
