#include "server/access/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "json/text.h"

namespace slipway::server {

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

/// One verb on one thing.
struct Atom {
  std::string group;
  std::string resource;
  std::string name;  // empty: every name
  std::string path;
  std::string verb;
};

bool covers(const PolicyRule& rule, const Atom& atom) {
  if (!has_or_all(rule.verbs, atom.verb)) return false;
  if (!atom.path.empty()) return matches_path(rule.paths, atom.path);
  const bool has_name = rule.names.empty() || (!atom.name.empty() && has(rule.names, atom.name));
  return has_name && has_or_all(rule.groups, atom.group) && matches_resource(rule.resources, atom.resource);
}

std::vector<Atom> atoms(const PolicyRule& rule) {
  std::vector<Atom> result;
  const std::vector<std::string> names = rule.names.empty() ? std::vector<std::string>{""} : rule.names;
  for (const std::string& verb : rule.verbs) {
    for (const std::string& group : rule.groups) {
      for (const std::string& resource : rule.resources) {
        for (const std::string& name : names) result.push_back({group, resource, name, "", verb});
      }
    }
    for (const std::string& path : rule.paths) result.push_back({"", "", "", path, verb});
  }
  return result;
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

bool PolicyRule::allows(const Attributes& what) const {
  if (!has_or_all(verbs, what.verb)) return false;
  if (!what.is_resource()) return matches_path(paths, what.path);
  const std::string resource = what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
  return has_or_all(groups, what.group) && matches_resource(resources, resource) && (names.empty() || has(names, what.name));
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

std::vector<PolicyRule> missing_rules(const std::vector<PolicyRule>& held, const std::vector<PolicyRule>& wanted) {
  std::map<PolicyRule, std::vector<std::string>> verbs_of;  // by a rule without verbs
  for (const PolicyRule& rule : wanted) {
    for (const Atom& atom : atoms(rule)) {
      if (std::ranges::any_of(held, [&](const PolicyRule& one) { return covers(one, atom); })) continue;
      PolicyRule thing;
      if (atom.path.empty()) {
        thing.groups = {atom.group};
        thing.resources = {atom.resource};
        if (!atom.name.empty()) thing.names = {atom.name};
      } else {
        thing.paths = {atom.path};
      }
      std::vector<std::string>& verbs = verbs_of[thing];
      if (!has(verbs, atom.verb)) verbs.push_back(atom.verb);
    }
  }
  std::vector<PolicyRule> result;
  for (auto& [thing, verbs] : verbs_of) {
    result.push_back(thing);
    result.back().verbs = std::move(verbs);
  }
  return result;
}

}  // namespace slipway::server
