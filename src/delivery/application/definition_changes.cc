#include "delivery/application/definition_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace slipway::delivery::application {
namespace {

void add_steps(const Value& steps, const auto& add) {
  for (const Value& step : steps.items()) {
    add(DefinitionKind::WorkflowStep, step["type"]);
    add_steps(step["subSteps"], add);
  }
}

/// Names of those that are new, other or gone.
std::set<std::string> changed_global_policies(const Parsed& parsed, const Lookup& live) {
  if (!live.global_policies) return {};
  std::map<std::string, std::string> was, is;  // digest by name
  for (const DefinitionPtr& one : parsed.global_policies) was[one->name] = one->digest;
  for (const DefinitionPtr& one : live.global_policies()) is[one->name] = one->digest;
  std::set<std::string> names;
  for (const auto& [name, digest] : was) {
    if (!is.contains(name) || is[name] != digest) names.insert(name);
  }
  for (const auto& [name, digest] : is) {
    if (!was.contains(name)) names.insert(name);
  }
  return names;
}

}  // namespace

std::vector<std::string> changed_definitions(const Parsed& parsed, const Lookup& live) {
  const std::pair<DefinitionKind, const DefinitionsByType*> kinds[] = {{DefinitionKind::Component, &parsed.components},
                                                                       {DefinitionKind::Trait, &parsed.traits},
                                                                       {DefinitionKind::Policy, &parsed.policies},
                                                                       {DefinitionKind::WorkflowStep, &parsed.step_types}};
  std::vector<std::string> changed;
  for (const auto& [kind, definitions] : kinds) {
    for (const auto& [type, frozen] : *definitions) {
      const auto now = live.definition(kind, type);
      if (!now || (*now)->digest != frozen->digest) changed.push_back(fmt::format("{} {}", kind_of(kind), type));
    }
  }
  for (const std::string& name : changed_global_policies(parsed, live)) {
    std::string text = fmt::format("{} {}", kind_of(DefinitionKind::Policy), name);
    if (std::ranges::find(changed, text) == changed.end()) changed.push_back(std::move(text));
  }
  return changed;
}

std::vector<std::string> named_definitions(const Value& spec) {
  std::set<std::string> named;
  const auto add = [&](DefinitionKind kind, const Value& type) {
    const std::string_view text = type.as_string();
    if (!text.empty()) named.insert(fmt::format("{}/{}", kind_of(kind), text.substr(0, text.find('@'))));
  };
  for (const Value& component : spec["components"].items()) {
    add(DefinitionKind::Component, component["type"]);
    for (const Value& trait : component["traits"].items()) add(DefinitionKind::Trait, trait["type"]);
  }
  for (const Value& policy : spec["policies"].items()) add(DefinitionKind::Policy, policy["type"]);
  add_steps(spec["workflow"]["steps"], add);
  return {named.begin(), named.end()};
}

}  // namespace slipway::delivery::application
