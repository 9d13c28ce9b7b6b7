#include "delivery/application/parsed.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/application/kind.h"

namespace slipway::delivery::application {
namespace {

Status about(std::string what, Status error) {
  error.message = fmt::format("failed to parse {}: {}", what, error.message);
  return error;
}

Result<DefinitionPtr> look_up(DefinitionsByType& known, const Lookup& lookup, DefinitionKind kind, const std::string& type) {
  if (const auto at = known.find(type); at != known.end()) return at->second;
  auto found = lookup.definition(kind, type);
  if (found) known[type] = *found;
  return found;
}

constexpr std::string_view kOwnPolicies[] = {"topology",        "override",        "replication", "garbage-collect",
                                             "apply-once",      "shared-resource", "take-over",   "read-only",
                                             "resource-update", "debug",           "env-binding", "ref-objects"};

Result<void> look_up_components(Parsed& parsed, const Lookup& lookup) {
  for (const ComponentSpec& component : parsed.spec.components) {
    auto found = look_up(parsed.components, lookup, DefinitionKind::Component, component.type);
    if (!found) return fail(about(fmt::format("component {}", component.name), std::move(found).error()));
    for (const TraitSpec& trait : component.traits) {
      auto known = look_up(parsed.traits, lookup, DefinitionKind::Trait, trait.type);
      if (!known)
        return fail(about(fmt::format("component {}, trait {}", component.name, trait.type), std::move(known).error()));
    }
  }
  return {};
}

/// The names of policies that a step's properties list (`deploy`).
void collect_policy_names(const std::vector<workflow::Step>& steps, std::vector<std::string>& names) {
  for (const workflow::Step& step : steps) {
    if (step.type == "deploy") {
      for (const Value& name : step.properties["policies"].items()) names.push_back(name.str());
    }
    collect_policy_names(step.sub_steps, names);
  }
}

Result<void> look_up_policies(Parsed& parsed, const Lookup& lookup) {
  std::vector<std::string> named;
  collect_policy_names(parsed.steps.steps, named);
  for (const std::string& name : named) {
    if (parsed.find_policy(name) != nullptr) continue;
    const Value shared = lookup.policy(name);
    if (shared.is_null())
      return fail(Reason::NotFound, fmt::format("failed to parse policies: external policy {} not found", name));
    parsed.shared_policies[name] = shared;
    parsed.spec.policies.push_back({name, shared["type"].str(), shared["properties"]});
  }
  for (const PolicySpec& policy : parsed.spec.policies) {
    if (is_own_policy(policy.type)) continue;
    auto found = look_up(parsed.policies, lookup, DefinitionKind::Policy, policy.type);
    if (!found) return fail(about(fmt::format("policy {}", policy.name), std::move(found).error()));
  }
  return {};
}

/// Where a component's input goes in the properties of the step that applies it.
std::string key_in_step(const std::string& key) {
  if (key.empty()) return "";
  return key.starts_with("properties") || key.starts_with("traits[") ? "value." + key : "value.properties." + key;
}

Result<void> complete_step(workflow::Step& step, const ApplicationSpec& spec) {
  if (step.type == kApplyComponent || step.type == kBuiltinApplyComponent) {
    const std::string name = step.properties[step.properties.has("component") ? "component" : "name"].str();
    const ComponentSpec* component = spec.find(name);
    if (name.empty()) {
      return fail(Reason::Invalid, fmt::format("failed to parse workflow step {}: component: Required value", step.name));
    }
    if (component == nullptr) {
      return fail(
          Reason::Invalid,
          fmt::format("failed to parse workflow step {}: there is no component \"{}\" in the application", step.name, name));
    }
    json::ObjectBuilder properties(step.properties);
    properties.set("value", component->to_json().without("inputs").without("outputs").without("dependsOn"));
    step.properties = properties.build();
    for (const workflow::StepInput& input : component->inputs) {
      step.inputs.push_back({input.from, key_in_step(input.parameter_key)});
    }
    step.outputs.insert(step.outputs.end(), component->outputs.begin(), component->outputs.end());
    for (const std::string& other : component->depends_on) {
      if (std::ranges::find(step.depends_on, other) == step.depends_on.end()) step.depends_on.push_back(other);
    }
  }
  for (workflow::Step& sub : step.sub_steps) SLIPWAY_TRY_VOID(complete_step(sub, spec));
  return {};
}

Result<void> look_up_steps(const std::vector<workflow::Step>& steps, Parsed& parsed, const Lookup& lookup) {
  for (const workflow::Step& step : steps) {
    if (step.type != kStepGroup) {
      auto found = look_up(parsed.step_types, lookup, DefinitionKind::WorkflowStep, step.type);
      const bool is_own = step.type == kApplyComponent || step.type == kBuiltinApplyComponent;
      if (!found && !is_own) return fail(about(fmt::format("workflow step {}", step.name), std::move(found).error()));
    }
    SLIPWAY_TRY_VOID(look_up_steps(step.sub_steps, parsed, lookup));
  }
  return {};
}

/// Whether all that the steps do is to write the application.
bool only_renders(const workflow::Steps& steps) {
  return !steps.steps.empty() && std::ranges::all_of(steps.steps, &workflow::Step::is_pre_render);
}

/// What follows steps of stage pre-render that no other step follows: the steps of an application without a workflow, beside
/// each other.
Result<void> add_default_delivery(Parsed& parsed) {
  const Value mode = json::object({{"steps", "DAG"}, {"subSteps", "DAG"}});
  SLIPWAY_TRY(generated, workflow::read_steps(generated_steps(parsed.spec), mode, "spec.workflow.steps"));
  if (generated.steps.empty()) return {};
  const auto takes_name = [&](const workflow::Step& step) { return parsed.steps.find(step.name) != nullptr; };
  workflow::Step group;
  group.name = "deliver";
  while (parsed.steps.find(group.name) != nullptr || generated.find(group.name) != nullptr) group.name += "-default";
  group.type = kStepGroup;
  group.mode = workflow::Mode::DAG;
  for (workflow::Step& step : generated.steps) {
    if (takes_name(step)) {
      return fail(Reason::Invalid, fmt::format("failed to parse workflow steps: step {} has the name of a component, whose "
                                               "delivery follows under that name; give the step another name",
                                               step.name));
    }
    group.sub_steps.push_back(std::move(step));
  }
  parsed.steps.steps.push_back(std::move(group));
  return {};
}

Result<void> read_workflow(const kube::Object& application, Parsed& parsed, const Lookup& lookup) {
  parsed.workflow_name = std::string(kube::annotation(application, kWorkflowName));
  if (!parsed.spec.has_workflow) {
    const Value mode = json::object({{"steps", "DAG"}, {"subSteps", "DAG"}});
    SLIPWAY_TRY(steps, workflow::read_steps(generated_steps(parsed.spec), mode, "spec.workflow.steps"));
    parsed.steps = std::move(steps);
    return {};
  }
  Value list = parsed.spec.workflow_steps;
  Value mode = parsed.spec.workflow_mode;
  std::string path = "spec.workflow.steps";
  if (!parsed.spec.workflow_ref.empty()) {
    parsed.shared_workflow = lookup.workflow(parsed.spec.workflow_ref);
    if (parsed.shared_workflow.is_null()) {
      return fail(Reason::NotFound, fmt::format("failed to parse workflow steps: Workflow.{} \"{}\" not found", kGroup,
                                                parsed.spec.workflow_ref));
    }
    list = parsed.shared_workflow["steps"];
    if (mode.is_null()) mode = parsed.shared_workflow["mode"];
    parsed.workflow_name = parsed.spec.workflow_ref;
    path = "steps";
  }
  SLIPWAY_TRY(steps, workflow::read_steps(list, mode, path));
  parsed.steps = std::move(steps);
  if (only_renders(parsed.steps)) SLIPWAY_TRY_VOID(add_default_delivery(parsed));
  return {};
}

}  // namespace

bool is_own_policy(std::string_view type) { return std::ranges::find(kOwnPolicies, type) != std::end(kOwnPolicies); }

const PolicySpec* Parsed::find_policy(std::string_view name) const {
  const auto at = std::ranges::find(spec.policies, name, &PolicySpec::name);
  return at == spec.policies.end() ? nullptr : &*at;
}

Result<Parsed> parse(const kube::Object& application, const Value& spec, const Lookup& lookup) {
  Parsed parsed;
  if (const auto too_large = check_size(spec)) {
    return fail(Reason::Invalid, fmt::format("{}: {}", too_large->field, too_large->message));
  }
  SLIPWAY_TRY(read, read_application(spec));
  parsed.spec = std::move(read);
  SLIPWAY_TRY_VOID(look_up_components(parsed, lookup));
  SLIPWAY_TRY_VOID(read_workflow(application, parsed, lookup));
  for (workflow::Step& step : parsed.steps.steps) SLIPWAY_TRY_VOID(complete_step(step, parsed.spec));
  SLIPWAY_TRY_VOID(look_up_policies(parsed, lookup));
  SLIPWAY_TRY_VOID(look_up_steps(parsed.steps.steps, parsed, lookup));
  SLIPWAY_TRY(keep, keep_policies(parsed.spec.policies));
  parsed.keep = std::move(keep);
  if (lookup.global_policies) parsed.global_policies = lookup.global_policies();
  parsed.referred = lookup.referred;
  return parsed;
}

Result<std::pair<DefinitionPtr, std::vector<DefinitionPtr>>> definitions_of(const ComponentSpec& component,
                                                                            const Parsed& parsed, const Lookup& lookup) {
  const auto find = [&](const DefinitionsByType& known, DefinitionKind kind, const std::string& type) -> Result<DefinitionPtr> {
    const auto at = known.find(type);
    return at != known.end() ? Result<DefinitionPtr>(at->second) : lookup.definition(kind, type);
  };
  SLIPWAY_TRY(own, find(parsed.components, DefinitionKind::Component, component.type));
  std::vector<DefinitionPtr> traits;
  for (const TraitSpec& trait : component.traits) {
    SLIPWAY_TRY(one, find(parsed.traits, DefinitionKind::Trait, trait.type));
    traits.push_back(std::move(one));
  }
  return std::pair(std::move(own), std::move(traits));
}

}  // namespace slipway::delivery::application
