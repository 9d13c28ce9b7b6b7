#include "server/access/bootstrap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>

#include "kube/object.h"
#include "kube/selector.h"
#include "server/access/policy.h"

namespace slipway::server {

namespace {

using json::Value;

constexpr std::string_view kRead = "get list watch";
constexpr std::string_view kWrite = "create update patch delete deletecollection";
constexpr std::string_view kReadWrite = "get list watch create update patch delete deletecollection";

/// One rule; the parts are words apart. "core" is the group "".
struct Rule {
  std::string_view verbs;
  std::string_view groups;
  std::string_view resources;
  std::string_view paths = "";
};

struct Role {
  std::string_view name;
  std::string_view gathers;     // the roles labelled to be aggregated to this
  std::string_view aggregates;  // to which role it is added
  std::span<const Rule> rules;
};

constexpr std::array kAnything{Rule{"*", "*", "*"}, Rule{"*", "", "", "*"}};
constexpr std::array kDiscovery{
    Rule{"get", "", "", "/livez /readyz /healthz /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*"}};
constexpr std::array kPublicInfo{Rule{"get", "", "", "/livez /readyz /healthz /version /version/"}};
constexpr std::array kMonitoring{
    Rule{"get", "", "", "/metrics /metrics/slis /livez /readyz /healthz /livez/* /readyz/* /healthz/*"},
    Rule{"get", "core", "nodes/metrics"}};
constexpr std::array kBasicUser{Rule{"create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"},
                                Rule{"create", "authentication.k8s.io", "selfsubjectreviews"}};
constexpr std::array kAuthDelegator{Rule{"create", "authentication.k8s.io", "tokenreviews"},
                                    Rule{"create", "authorization.k8s.io", "subjectaccessreviews"}};
constexpr std::array kIssuerDiscovery{Rule{
    "get", "", "", "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/"}};

constexpr std::array kAdmin{Rule{"create", "authorization.k8s.io", "localsubjectaccessreviews"},
                            Rule{kReadWrite, "rbac.authorization.k8s.io", "roles rolebindings"}};

constexpr std::array kEdit{
    Rule{kRead, "core", "pods/attach pods/proxy pods/exec pods/portforward secrets services/proxy"},
    Rule{"impersonate", "core", "serviceaccounts"},
    Rule{kWrite, "core", "pods pods/attach pods/proxy pods/exec pods/portforward"},
    Rule{"create", "core", "pods/eviction"},
    Rule{kWrite, "core",
         "replicationcontrollers replicationcontrollers/scale serviceaccounts services services/proxy persistentvolumeclaims "
         "configmaps secrets"},
    Rule{"create", "core", "serviceaccounts/token"},
    Rule{kWrite, "core events.k8s.io", "events"},
    Rule{kWrite, "apps",
         "statefulsets statefulsets/scale daemonsets deployments deployments/scale deployments/rollback replicasets "
         "replicasets/scale"},
    Rule{kWrite, "autoscaling", "horizontalpodautoscalers"},
    Rule{kWrite, "batch", "jobs cronjobs"},
    Rule{kWrite, "extensions",
         "daemonsets deployments deployments/scale deployments/rollback ingresses replicasets replicasets/scale "
         "replicationcontrollers/scale networkpolicies"},
    Rule{kWrite, "policy", "poddisruptionbudgets"},
    Rule{kWrite, "networking.k8s.io", "networkpolicies ingresses"},
    Rule{kReadWrite, "coordination.k8s.io", "leases"}};

constexpr std::array kView{
    Rule{kRead, "core",
         "pods replicationcontrollers replicationcontrollers/scale serviceaccounts services services/status endpoints "
         "persistentvolumeclaims persistentvolumeclaims/status configmaps"},
    Rule{kRead, "core",
         "limitranges resourcequotas bindings pods/status resourcequotas/status namespaces/status "
         "replicationcontrollers/status pods/log"},
    Rule{kRead, "core", "namespaces"},
    Rule{kRead, "core events.k8s.io", "events"},
    Rule{kRead, "discovery.k8s.io", "endpointslices"},
    Rule{kRead, "apps",
         "controllerrevisions statefulsets statefulsets/status statefulsets/scale daemonsets daemonsets/status deployments "
         "deployments/status deployments/scale replicasets replicasets/status replicasets/scale"},
    Rule{kRead, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"},
    Rule{kRead, "batch", "jobs cronjobs cronjobs/status jobs/status"},
    Rule{kRead, "extensions",
         "daemonsets daemonsets/status deployments deployments/scale deployments/status ingresses ingresses/status replicasets "
         "replicasets/scale replicasets/status replicationcontrollers/scale networkpolicies"},
    Rule{kRead, "policy", "poddisruptionbudgets poddisruptionbudgets/status"},
    Rule{kRead, "networking.k8s.io", "networkpolicies ingresses ingresses/status"}};

constexpr std::array kRoles{Role{"admin", "admin", "", {}},
                            Role{"cluster-admin", "", "", kAnything},
                            Role{"edit", "edit", "admin", {}},
                            Role{"system:aggregate-to-admin", "", "admin", kAdmin},
                            Role{"system:aggregate-to-edit", "", "edit", kEdit},
                            Role{"system:aggregate-to-view", "", "view", kView},
                            Role{"system:auth-delegator", "", "", kAuthDelegator},
                            Role{"system:basic-user", "", "", kBasicUser},
                            Role{"system:discovery", "", "", kDiscovery},
                            Role{"system:monitoring", "", "", kMonitoring},
                            Role{"system:public-info-viewer", "", "", kPublicInfo},
                            Role{"system:service-account-issuer-discovery", "", "", kIssuerDiscovery},
                            Role{"view", "view", "edit", {}}};

struct Binding {
  std::string_view role;  // and its own name
  std::string_view groups;
};
constexpr std::array kBindings{Binding{"cluster-admin", "system:masters"},
                               Binding{"system:basic-user", "system:authenticated"},
                               Binding{"system:discovery", "system:authenticated"},
                               Binding{"system:monitoring", "system:monitoring"},
                               Binding{"system:public-info-viewer", "system:authenticated system:unauthenticated"},
                               Binding{"system:service-account-issuer-discovery", "system:serviceaccounts"}};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    result.emplace_back(word == "core" ? std::string_view() : word);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return result;
}

std::string aggregation_label(std::string_view role) { return fmt::format("rbac.authorization.k8s.io/aggregate-to-{}", role); }

Value metadata(std::string_view name, std::string_view aggregates) {
  json::ObjectBuilder labels;
  labels.add("kubernetes.io/bootstrapping", "rbac-defaults");
  if (!aggregates.empty()) labels.add(aggregation_label(aggregates), "true");
  return json::object({{"name", name},
                       {"labels", labels.build()},
                       {"annotations", json::object({{"rbac.authorization.kubernetes.io/autoupdate", "true"}})}});
}

Value rules_of(const Role& role) {
  json::ArrayBuilder rules;
  for (const Rule& rule : role.rules) {
    const PolicyRule made{.verbs = words(rule.verbs),
                          .groups = words(rule.groups),
                          .resources = words(rule.resources),
                          .names = {},
                          .paths = words(rule.paths)};
    rules.add(made.to_json());
  }
  return rules.build();
}

Value role_object(const Role& role) {
  json::ObjectBuilder made;
  made.add("apiVersion", "rbac.authorization.k8s.io/v1").add("kind", "ClusterRole");
  made.add("metadata", metadata(role.name, role.aggregates));
  if (!role.gathers.empty()) {
    const Value selector = json::object({{"matchLabels", json::object({{aggregation_label(role.gathers), "true"}})}});
    made.add("aggregationRule", json::object({{"clusterRoleSelectors", json::array({selector})}}));
  }
  made.add("rules", rules_of(role));
  return made.build();
}

/// An entry of the guarded groups that is one subresource.
struct GuardedPart {
  std::string group;
  std::string resource;
  std::string subresource;

  std::string path() const { return resource + "/" + subresource; }
};

std::vector<GuardedPart> guarded_parts(const std::vector<std::string>& guarded_groups) {
  std::vector<GuardedPart> parts;
  for (const std::string& one : guarded_groups) {
    const std::size_t first = one.find('/');
    const std::size_t second = one.find('/', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    parts.push_back({one.substr(0, first), one.substr(first + 1, second - first - 1), one.substr(second + 1)});
  }
  return parts;
}

/// What `edit` writes of a group, as words.
std::string edited_resources(const std::string& group, const std::vector<GuardedPart>& parts,
                             const std::vector<client::AnsweredKind>& answered) {
  if (std::ranges::find(parts, group, &GuardedPart::group) == parts.end()) return "*";
  std::set<std::string> names;
  for (const client::AnsweredKind& kind : answered) {
    if (kind.type.resource.group != group) continue;
    for (const client::AnsweredVerb& row : kind.verbs)
      names.insert(kind.type.resource.plural + (row.subresource.empty() ? "" : "/") + row.subresource);
  }
  for (const GuardedPart& one : parts) names.erase(one.path());
  return fmt::format("{}", fmt::join(names, " "));
}

/// The role that writes a guarded part, and reads its group.
Value guardian(const GuardedPart& part) {
  const std::string name = part.resource + "-" + part.subresource;
  const std::string path = part.path();
  const std::array rules{Rule{kRead, part.group, "*"}, Rule{"update patch", part.group, path}};
  return role_object({.name = name, .gathers = "", .aggregates = "admin", .rules = rules});
}

}  // namespace

bool is_before_guards(const Value& role, const Value& wanted) {
  const Value& group = wanted["rules"].item(0)["apiGroups"].item(0);
  if (wanted["rules"].item(0)["resources"].item(0) == Value("*") || role["rules"] == wanted["rules"]) return false;
  const std::string name(group.as_string());
  const std::array wide{Rule{kWrite, name, "*"}};
  return role["rules"] == rules_of({.name = "", .gathers = "", .aggregates = "", .rules = wide});
}

std::vector<Value> bootstrap_roles(const std::vector<std::string>& own_groups, const std::vector<std::string>& guarded_groups,
                                   const std::vector<client::AnsweredKind>& answered) {
  const std::vector<GuardedPart> parts = guarded_parts(guarded_groups);
  std::vector<Value> roles;
  for (const Role& role : kRoles) roles.push_back(role_object(role));
  const auto add_role = [&](std::string_view role, const std::string& group, std::string_view verbs,
                            const std::string& resources = "*") {
    const std::string name = fmt::format("system:aggregate-to-{}:{}", role, group);
    const std::array rules{Rule{verbs, group, resources}};
    roles.push_back(role_object({.name = name, .gathers = "", .aggregates = role, .rules = rules}));
  };
  for (const std::string& group : own_groups) {
    add_role("edit", group, kWrite, edited_resources(group, parts, answered));
    add_role("view", group, kRead);
  }
  for (const GuardedPart& part : parts) roles.push_back(guardian(part));
  for (const std::string& group : guarded_groups) {
    if (group.contains('/')) continue;
    add_role("admin", group, kWrite);
    add_role("view", group, kRead);
  }
  std::ranges::sort(roles, {}, [](const Value& role) { return kube::name(role); });
  // In the order in which one builds on the other.
  for (const std::string_view name : {"view", "edit", "admin"}) {
    const auto found = std::ranges::find(roles, name, [](const Value& role) { return kube::name(role); });
    *found = found->with("rules", aggregated_rules(*found, roles));
  }
  return roles;
}

std::vector<Value> bootstrap_bindings() {
  std::vector<Value> bindings;
  for (const Binding& one : kBindings) {
    json::ArrayBuilder subjects;
    for (const std::string& group : words(one.groups)) {
      subjects.add(json::object({{"kind", "Group"}, {"apiGroup", "rbac.authorization.k8s.io"}, {"name", group}}));
    }
    bindings.push_back(json::object(
        {{"apiVersion", "rbac.authorization.k8s.io/v1"},
         {"kind", "ClusterRoleBinding"},
         {"metadata", metadata(one.role, "")},
         {"subjects", subjects.build()},
         {"roleRef", json::object({{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", one.role}})}}));
  }
  return bindings;
}

Value aggregated_rules(const Value& role, const std::vector<Value>& roles) {
  json::ArrayBuilder rules;
  std::set<PolicyRule> known;
  for (const Value& selector : role["aggregationRule"]["clusterRoleSelectors"].items()) {
    const auto wanted = kube::LabelSelector::from_object(selector);
    if (!wanted) continue;
    for (const Value& other : roles) {
      if (kube::name(other) == kube::name(role) || !wanted->matches(other["metadata"]["labels"])) continue;
      for (const Value& rule : other["rules"].items()) {
        if (known.insert(PolicyRule::of(rule)).second) rules.add(rule);
      }
    }
  }
  return rules.build();
}

}  // namespace slipway::server
