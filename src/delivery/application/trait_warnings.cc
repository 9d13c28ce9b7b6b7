// What traits and workloads say about each other in their definitions: appliesToWorkloads and conflictsWith.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/application/admission.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

/// The names that a component's workload goes by: "deployments.apps", and the type of the component. Empty: not known.
std::vector<std::string> workload_names(const Definition& component) {
  std::vector<std::string> names;
  const std::string declared = component.object["spec"]["workload"]["type"].str();
  if (!declared.empty() && declared != "autodetects.core.oam.dev") names.push_back(declared);
  if (!component.workload_kind.empty()) {
    const std::size_t slash = component.workload_api_version.find('/');
    const std::string group = slash == std::string::npos ? "" : "." + component.workload_api_version.substr(0, slash);
    names.push_back(lower(component.workload_kind) + "s" + group);
  }
  if (!names.empty()) names.push_back(component.name);
  return names;
}

/// `pattern` is a name, "*", or "*.group".
bool is_meant(const std::string& pattern, const std::string& name) {
  return pattern == "*" || pattern == name || (pattern.starts_with("*.") && name.ends_with(pattern.substr(1)));
}

bool are_meant(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return is_meant(pattern, name); });
}

void warn_of_traits(const ComponentSpec& component, const std::string& path, const Lookup& lookup,
                    std::vector<std::string>& told) {
  const auto own = lookup.definition(DefinitionKind::Component, component.type);
  const std::vector<std::string> workload = own ? workload_names(**own) : std::vector<std::string>{};
  for (std::size_t i = 0; i < component.traits.size(); ++i) {
    const std::string& type = component.traits[i].type;
    const auto trait = lookup.definition(DefinitionKind::Trait, type);
    if (!trait) continue;
    const std::string at = fmt::format("{}.traits[{}]", path, i);
    const std::vector<std::string>& wanted = (*trait)->applies_to;
    const auto is_wanted = [&](const std::string& name) { return are_meant(wanted, name); };
    if (!wanted.empty() && !workload.empty() && std::ranges::none_of(workload, is_wanted)) {
      told.push_back(fmt::format("{}: trait {} is made for workloads {}, and the component has {}", at, type,
                                 joined(wanted, ", "), workload.front()));
    }
    for (std::size_t j = 0; j < component.traits.size(); ++j) {
      const std::string& other = component.traits[j].type;
      if (other == type || !are_meant((*trait)->conflicts_with, other)) continue;
      told.push_back(fmt::format("{}: trait {} conflicts with trait {} ({}.traits[{}])", at, type, other, path, j));
    }
  }
}

}  // namespace

std::vector<std::string> trait_warnings(const kube::Object& application, const kube::Object& old, const Lookup& lookup) {
  if (kube::is_deleting(application) || (!old.is_null() && application["spec"] == old["spec"])) return {};
  const auto spec = read_application(application["spec"]);
  std::vector<std::string> told;
  if (!spec) return told;
  for (std::size_t i = 0; i < spec->components.size(); ++i) {
    warn_of_traits(spec->components[i], fmt::format("spec.components[{}]", i), lookup, told);
  }
  return told;
}

}  // namespace slipway::delivery::application
