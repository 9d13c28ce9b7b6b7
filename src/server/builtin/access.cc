// Role, ClusterRole, RoleBinding, ClusterRoleBinding: defaults and validation (k8s.io/kubernetes pkg/apis/rbac). Who may write
// what into them is server/access/escalation.h.
#include <fmt/format.h>

#include <array>

#include "json/text.h"
#include "kube/names.h"
#include "kube/selector.h"
#include "server/access/authorizer.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

void segment_causes(const Value& name, const std::string& path, std::vector<Cause>& causes) {
  for (const std::string& fault : path_segment_faults(name.as_string())) {
    causes.push_back(field::invalid(path, json::print(name), fault));
  }
}

void rule_causes(const Value& rule, const std::string& path, bool is_namespaced, std::vector<Cause>& causes) {
  if (rule["verbs"].empty()) causes.push_back(field::required(path + ".verbs", "verbs must contain at least one value"));
  const Value& paths = rule["nonResourceURLs"];
  if (!paths.empty()) {
    const bool has_resources = !rule["apiGroups"].empty() || !rule["resources"].empty() || !rule["resourceNames"].empty();
    const char* fault = is_namespaced   ? "namespaced rules cannot apply to non-resource URLs"
                        : has_resources ? "rules cannot apply to both regular resources and non-resource URLs"
                                        : nullptr;
    if (fault != nullptr) causes.push_back(field::invalid(path + ".nonResourceURLs", json::print(paths), fault));
    return;
  }
  if (rule["apiGroups"].empty()) {
    causes.push_back(field::required(path + ".apiGroups", "resource rules must supply at least one api group"));
  }
  if (rule["resources"].empty()) {
    causes.push_back(field::required(path + ".resources", "resource rules must supply at least one resource"));
  }
}

void rules_causes(const Object& object, bool is_namespaced, std::vector<Cause>& causes) {
  const Value& rules = object["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i) rule_causes(rules.item(i), fmt::format("rules[{}]", i), is_namespaced, causes);
}

void validate_role(const Object& object, const Object&, std::vector<Cause>& causes) { rules_causes(object, true, causes); }

void validate_cluster_role(const Object& object, const Object&, std::vector<Cause>& causes) {
  rules_causes(object, false, causes);
  if (!object["aggregationRule"].is_object()) return;
  const Value& selectors = object["aggregationRule"]["clusterRoleSelectors"];
  if (selectors.empty()) {
    causes.push_back(field::required("aggregationRule.clusterRoleSelectors",
                                     "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    if (const auto selector = kube::LabelSelector::from_object(selectors.item(i)); !selector) {
      causes.push_back(field::invalid(fmt::format("aggregationRule.clusterRoleSelectors[{}]", i),
                                      json::print(selectors.item(i)), selector.error().message));
    }
  }
}

Object fill_subjects(const Object& object) {
  const Value& subjects = object["subjects"];
  Value filled = subjects;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Value& subject = subjects.item(i);
    const std::string_view kind = subject["kind"].as_string();
    if ((kind == "User" || kind == "Group") && subject["apiGroup"].as_string().empty()) {
      filled = filled.with_item(i, subject.with("apiGroup", kRbacGroup));
    }
  }
  Object next = filled.is_same(subjects) ? object : object.with("subjects", filled);
  if (!next["roleRef"]["apiGroup"].as_string().empty() || !next["roleRef"].is_object()) return next;
  return next.with_path({"roleRef", "apiGroup"}, kRbacGroup);
}

/// `is_namespaced`: the binding lies in a namespace, which is that of an account that names none.
void subject_causes(const Value& subject, const std::string& path, bool is_namespaced, std::vector<Cause>& causes) {
  const std::string_view kind = subject["kind"].as_string();
  const Value& group = subject["apiGroup"];
  if (subject["name"].as_string().empty()) causes.push_back(field::required(path + ".name"));
  if (kind == "ServiceAccount") {
    if (!subject["name"].as_string().empty()) {
      for (const std::string& fault : kube::dns1123_subdomain_faults(subject["name"].as_string())) {
        causes.push_back(field::invalid(path + ".name", json::print(subject["name"]), fault));
      }
    }
    if (!group.as_string().empty()) causes.push_back(field::not_supported(path + ".apiGroup", json::print(group), {""}));
    if (!is_namespaced && subject["namespace"].as_string().empty()) causes.push_back(field::required(path + ".namespace"));
  } else if (kind == "User" || kind == "Group") {
    if (group.as_string() != kRbacGroup) {
      causes.push_back(field::not_supported(path + ".apiGroup", json::print(group), {std::string(kRbacGroup)}));
    }
  } else {
    causes.push_back(field::not_supported(path + ".kind", json::print(Value(kind)), {"ServiceAccount", "User", "Group"}));
  }
}

void binding_causes(const Object& object, const Object& old, std::vector<std::string> kinds, std::vector<Cause>& causes) {
  const Value& role = object["roleRef"];
  if (role["apiGroup"].as_string() != kRbacGroup) {
    causes.push_back(
        field::not_supported("roleRef.apiGroup", json::print(Value(role["apiGroup"].as_string())), {std::string(kRbacGroup)}));
  }
  if (std::ranges::find(kinds, role["kind"].as_string()) == kinds.end()) {
    causes.push_back(field::not_supported("roleRef.kind", json::print(Value(role["kind"].as_string())), kinds));
  }
  if (role["name"].as_string().empty()) {
    causes.push_back(field::required("roleRef.name"));
  } else {
    segment_causes(role["name"], "roleRef.name", causes);
  }
  const Value& subjects = object["subjects"];
  const bool is_namespaced = object["kind"].as_string() == "RoleBinding";
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    subject_causes(subjects.item(i), fmt::format("subjects[{}]", i), is_namespaced, causes);
  }
  if (!old.is_null() && old["roleRef"] != role) {
    causes.push_back(field::invalid("roleRef", json::print(role), "cannot change roleRef"));
  }
}

void validate_binding(const Object& object, const Object& old, std::vector<Cause>& causes) {
  binding_causes(object, old, {"Role", "ClusterRole"}, causes);
}

void validate_cluster_binding(const Object& object, const Object& old, std::vector<Cause>& causes) {
  binding_causes(object, old, {"ClusterRole"}, causes);
}

}  // namespace

std::span<const Strategy> access_strategies() {
  static constexpr std::array kRows{
      Strategy{.group = kRbacGroup, .kind = "Role", .name_rule = NameRule::PathSegment, .validate = validate_role},
      Strategy{
          .group = kRbacGroup, .kind = "ClusterRole", .name_rule = NameRule::PathSegment, .validate = validate_cluster_role},
      Strategy{.group = kRbacGroup,
               .kind = "RoleBinding",
               .name_rule = NameRule::PathSegment,
               .fill_defaults = fill_subjects,
               .validate = validate_binding},
      Strategy{.group = kRbacGroup,
               .kind = "ClusterRoleBinding",
               .name_rule = NameRule::PathSegment,
               .fill_defaults = fill_subjects,
               .validate = validate_cluster_binding}};
  return kRows;
}

}  // namespace slipway::server
