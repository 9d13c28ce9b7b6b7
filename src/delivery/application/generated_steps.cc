#include <algorithm>
#include <set>

#include "delivery/application/policy.h"
#include "delivery/application/policy_properties.h"

namespace slipway::delivery::application {

namespace {

Value step(const std::string& name, std::string_view type, Value properties) {
  return json::object({{"name", name}, {"type", type}, {"properties", std::move(properties)}});
}

std::vector<std::string> names_of(const ApplicationSpec& spec, std::string_view type) {
  std::vector<std::string> names;
  for (const PolicySpec& policy : spec.policies) {
    if (policy.type == type) names.push_back(policy.name);
  }
  return names;
}

/// One `deploy` per topology; a single one where there are only overrides, or objects that are referred to.
Value deploy_steps(const ApplicationSpec& spec) {
  const std::vector<std::string> topologies = names_of(spec, "topology");
  const std::vector<std::string> overrides = names_of(spec, "override");
  json::ArrayBuilder steps;
  for (const std::string& topology : topologies) {
    std::vector<std::string> policies = overrides;
    policies.push_back(topology);
    steps.add(step("deploy-" + topology, "deploy", json::object({{"policies", json::array(policies)}})));
  }
  const bool has_references = contains(spec.components, "ref-objects", &ComponentSpec::type);
  if (topologies.empty() && (has_references || !overrides.empty())) {
    steps.add(step("deploy", "deploy", json::object({{"policies", json::array(overrides)}})));
  }
  return steps.build();
}

Value environment_steps(const ApplicationSpec& spec) {
  json::ArrayBuilder steps;
  for (const PolicySpec& policy : spec.policies) {
    if (policy.type != "env-binding" && policy.type != "envbinding") continue;
    for (const Value& env : policy.properties["envs"].items()) {
      const std::string name = env["name"].str();
      steps.add(
          step("deploy-" + policy.name + "-" + name, "deploy2env", json::object({{"policy", policy.name}, {"env", name}})));
    }
  }
  return steps.build();
}

/// With a rollout plan a step rolls the component out; else one applies it.
Value delivery_step(const ApplicationSpec& spec, const ComponentSpec& component) {
  if (spec.rollout_plan.is_null()) {
    return step(component.name, "apply-component", json::object({{"component", component.name}}));
  }
  return step(component.name, "app-rollout", json::object({{"component", component.name}, {"plan", spec.rollout_plan}}));
}

/// Of components with one name the first is delivered; admission refuses them.
Value component_steps(const ApplicationSpec& spec) {
  json::ArrayBuilder steps;
  std::set<std::string> names;
  for (const ComponentSpec& component : spec.components) {
    if (!names.insert(component.name).second) continue;
    Value made = delivery_step(spec, component);
    if (!component.depends_on.empty()) made = made.with("dependsOn", json::array(component.depends_on));
    steps.add(std::move(made));
  }
  return steps.build();
}

}  // namespace

Value generated_steps(const ApplicationSpec& spec) {
  if (Value steps = deploy_steps(spec); !steps.empty()) return steps;
  if (Value steps = environment_steps(spec); !steps.empty()) return steps;
  return component_steps(spec);
}

}  // namespace slipway::delivery::application
