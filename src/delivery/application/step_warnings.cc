// What the writer of an Application is told of its workflow and policies: properties that no parameter takes, and traffic-shift
// without anything that splits the traffic.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/application/step_check.h"

namespace slipway::delivery::application {
namespace {

using workflow::Step;

/// Those that the engine reads of the steps it delivers components with.
const std::set<std::string_view> kOfApplyComponent = {"component", "name", "cluster", "namespace", "patch", "value"};

/// Not a user's own type of that name.
bool rolls_out(const Definition& definition) {
  return definition.object["spec"]["schematic"]["cue"]["template"].as_string().contains("rolloutBatches");
}

const Step* first_unsplit(const std::vector<Step>& steps) {
  const auto found = std::ranges::find_if(
      steps, [](const Step& step) { return step.type == "blue-green-rollout" && step.properties["traffic"].is_null(); });
  return found == steps.end() ? nullptr : &*found;
}

std::string unknown_property(const char* what, const std::string& type, const std::string& path, const std::string& name) {
  return fmt::format("{}.properties.{}: {} type {} has no parameter of this name, so it has no effect", path, name, what, type);
}

}  // namespace

const Step* step_without_traffic(const workflow::Steps& steps) {
  const Step* found = first_unsplit(steps.steps);
  for (const Step& group : steps.steps) {
    if (found == nullptr) found = first_unsplit(group.sub_steps);
  }
  return found;
}

std::vector<std::string> step_warnings(const Step& step, const Definition* definition, const std::string& path,
                                       const Step* without_traffic, const cue::Limits& limits) {
  std::vector<std::string> unknown;
  if (definition != nullptr) {
    unknown = unknown_properties(step.properties, *definition, limits);
  } else {
    for (const auto& [name, value] : step.properties.members()) {
      if (!kOfApplyComponent.contains(name)) unknown.emplace_back(name);
    }
  }
  std::vector<std::string> warnings;
  warnings.reserve(unknown.size());
  for (const std::string& name : unknown) warnings.push_back(unknown_property("step", step.type, path, name));
  const bool shifts = step.type == "traffic-shift" && definition != nullptr && rolls_out(*definition);
  if (!shifts || without_traffic == nullptr) return warnings;
  warnings.push_back(
      fmt::format("{}: nothing splits the traffic of step {}, which has no property traffic: the share of the ready pods is "
                  "taken for the share of the traffic",
                  path, without_traffic->name));
  return warnings;
}

std::vector<std::string> policy_warnings(const PolicySpec& policy, const Definition& definition, const std::string& path,
                                         const cue::Limits& limits) {
  std::vector<std::string> warnings;
  for (const std::string& name : unknown_properties(policy.properties, definition, limits)) {
    warnings.push_back(unknown_property("policy", policy.type, path, name));
  }
  return warnings;
}

}  // namespace slipway::delivery::application
