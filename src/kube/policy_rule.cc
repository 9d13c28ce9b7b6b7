#include "kube/policy_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"

namespace slipway::kube {

namespace {

using json::Value;

std::vector<std::string> texts(const Value& list) {
  std::vector<std::string> result;
  for (const Value& one : list.items()) result.push_back(one.str());
  return result;
}

bool has(const std::vector<std::string>& list, std::string_view text) { return std::ranges::find(list, text) != list.end(); }
bool has_or_all(const std::vector<std::string>& list, std::string_view text) { return has(list, "*") || has(list, text); }

/// `resource` is "pods" or "pods/log".
bool matches_resource(const std::vector<std::string>& rules, std::string_view resource) {
  if (has_or_all(rules, resource)) return true;
  const std::size_t slash = resource.find('/');
  return slash != std::string_view::npos && has(rules, "*" + std::string(resource.substr(slash)));
}

bool matches_path(const std::vector<std::string>& rules, std::string_view path) {
  return std::ranges::any_of(rules, [&](std::string_view rule) {
    if (rule == "*" || rule == path) return true;
    return rule.ends_with('*') && path.starts_with(rule.substr(0, rule.size() - 1));
  });
}

void add_list(std::string& text, std::string_view label, const std::vector<std::string>& list) {
  if (list.empty()) return;
  if (text.size() > 1) text += ", ";
  text += fmt::format("{}:{}", label, go_list(list));
}

}  // namespace

std::string go_list(const std::vector<std::string>& list) {
  std::string text = "[";
  for (const std::string& one : list) text += (text.size() == 1 ? "" : " ") + json::print(Value(one));
  return text + "]";
}

PolicyRule PolicyRule::of(const Value& rule) {
  return {.verbs = texts(rule["verbs"]),
          .groups = texts(rule["apiGroups"]),
          .resources = texts(rule["resources"]),
          .names = texts(rule["resourceNames"]),
          .paths = texts(rule["nonResourceURLs"])};
}

Value PolicyRule::to_json() const {
  json::ObjectBuilder made;
  if (!groups.empty()) made.add("apiGroups", json::array(groups));
  if (!paths.empty()) made.add("nonResourceURLs", json::array(paths));
  if (!names.empty()) made.add("resourceNames", json::array(names));
  if (!resources.empty()) made.add("resources", json::array(resources));
  made.add("verbs", json::array(verbs));
  return made.build();
}

bool PolicyRule::allows(std::string_view verb, std::string_view group, std::string_view resource, std::string_view name) const {
  return has_or_all(verbs, verb) && has_or_all(groups, group) && matches_resource(resources, resource) &&
         (names.empty() || has(names, name));
}

bool PolicyRule::allows_path(std::string_view verb, std::string_view path) const {
  return has_or_all(verbs, verb) && matches_path(paths, path);
}

std::string PolicyRule::to_string() const {
  std::string text = "{";
  add_list(text, "APIGroups", groups);
  add_list(text, "Resources", resources);
  add_list(text, "NonResourceURLs", paths);
  add_list(text, "ResourceNames", names);
  add_list(text, "Verbs", verbs);
  return text + "}";
}

std::vector<PolicyRule> policy_rules(const Value& rules) {
  std::vector<PolicyRule> result;
  for (const Value& rule : rules.items()) result.push_back(PolicyRule::of(rule));
  return result;
}

}  // namespace slipway::kube
