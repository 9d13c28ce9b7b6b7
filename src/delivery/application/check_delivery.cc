#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/application/admission.h"
#include "delivery/application/component_check.h"
#include "delivery/application/kind.h"
#include "delivery/application/policy_properties.h"
#include "delivery/application/scoped_policies.h"
#include "delivery/application/step_check.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

using json::quoted;

bool is_as_before(const kube::Object& application, const kube::Object& old) {
  if (old.is_null() || application["spec"] != old["spec"]) return false;
  return std::ranges::all_of(std::initializer_list<const char*>{kPublishVersion, kAutoUpdate},
                             [&](const char* key) { return kube::annotation(application, key) == kube::annotation(old, key); });
}

/// Gathers the faults of one Application in the order of its fields.
class Check {
 public:
  Check(const kube::Object& application, const kube::Object& old, const Lookup& lookup)
      : application_(application), old_(old), lookup_(lookup) {}

  std::vector<Cause> run() {
    check_annotations();
    if (!read()) return std::move(causes_);
    check_workflow();
    check_policies();
    check_components();
    return std::move(causes_);
  }

 private:
  void add(Cause cause) { causes_.push_back(std::move(cause)); }
  void add(std::vector<Cause> causes) { std::ranges::move(causes, std::back_inserter(causes_)); }

  void check_annotations() {
    const Value& annotations = application_["metadata"]["annotations"];
    if (!annotations.has(kPublishVersion) || !annotations.has(kAutoUpdate)) return;
    add(field::forbidden(fmt::format("metadata.annotations[{}]", kAutoUpdate),
                         fmt::format("an application is updated by {} or by itself, not both", kPublishVersion)));
  }

  /// False when the rest makes no sense.
  bool read() {
    if (auto too_large = check_size(application_["spec"])) {
      add(std::move(*too_large));
      return false;
    }
    auto spec = read_application(application_["spec"]);
    if (!spec) {
      add(std::move(spec.error().causes));
      return false;
    }
    spec_ = std::move(*spec);
    std::vector<Cause> faults = check_application(spec_);
    const bool is_sound = faults.empty();
    add(std::move(faults));
    return is_sound;
  }

  void check_workflow() {
    if (!spec_.has_workflow) return check_dependencies();
    if (!spec_.workflow_ref.empty()) {
      const Value shared = lookup_.workflow(spec_.workflow_ref);
      if (shared.is_null()) return add(not_found("spec.workflow.ref", spec_.workflow_ref, "no such Workflow in the namespace"));
      const Value& mode = spec_.workflow_mode.is_null() ? shared["mode"] : spec_.workflow_mode;
      if (auto steps = workflow::read_steps(shared["steps"], mode, "steps")) {
        steps_ = std::move(*steps);
        check_shared_conditions();
      } else {
        add(field::invalid("spec.workflow.ref", quoted(spec_.workflow_ref), steps.error().message));
      }
      return;
    }
    auto steps = workflow::read_steps(spec_.workflow_steps, spec_.workflow_mode, "spec.workflow.steps");
    if (!steps) return add(std::move(steps.error().causes));
    steps_ = std::move(*steps);
    step_names_ = steps_.names();
    for (std::size_t i = 0; i < steps_.steps.size(); ++i)
      check_step(steps_.steps[i], fmt::format("spec.workflow.steps[{}]", i));
  }

  /// The Workflow object itself is not looked at when it is written: what it names is known only here.
  void check_shared_conditions() {
    const std::vector<std::string> names = steps_.names();
    const auto check = [&](const workflow::Step& step) {
      for (const Cause& cause : check_condition(step, names, "step " + step.name)) {
        add(field::invalid("spec.workflow.ref", quoted(spec_.workflow_ref), fmt::format("{}: {}", cause.field, cause.message)));
      }
    };
    for (const workflow::Step& step : steps_.steps) {
      check(step);
      for (const workflow::Step& sub : step.sub_steps) check(sub);
    }
  }

  /// Without a workflow what components wait for becomes what their steps wait for.
  void check_dependencies() {
    const Value mode = json::object({{"steps", "DAG"}, {"subSteps", "DAG"}});
    const Value generated = generated_steps(spec_);
    if (generated.item(0)["type"].as_string() != kApplyComponent) return;
    const auto steps = workflow::read_steps(generated, mode, "spec.components");
    if (!steps) add(steps.error().causes);
  }

  void check_step(const workflow::Step& step, const std::string& path) {
    const bool is_apply = step.type == kApplyComponent || step.type == kBuiltinApplyComponent;
    if (is_apply) {
      const std::string name = step.properties[step.properties.has("component") ? "component" : "name"].str();
      if (name.empty()) {
        add(field::required(path + ".properties.component"));
      } else if (spec_.find(name) == nullptr) {
        add(not_found(path + ".properties.component", name, "the application has no component of this name"));
      }
      if (!step.inputs.empty()) fed_.insert(name);
    } else if (step.type != kStepGroup) {
      const DefinitionPtr definition = check_type(DefinitionKind::WorkflowStep, step.type, path);
      if (definition != nullptr) add(check_parameters(step, *definition, application_, path));
    }
    add(check_condition(step, step_names_, path));
    if (step.type == "deploy") check_deploy(step, path);
    for (std::size_t i = 0; i < step.sub_steps.size(); ++i) {
      check_step(step.sub_steps[i], fmt::format("{}.subSteps[{}]", path, i));
    }
  }

  void check_deploy(const workflow::Step& step, const std::string& path) {
    const Value& names = step.properties["policies"];
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = names.item(i).str();
      if (name.empty() || contains(spec_.policies, name, &PolicySpec::name)) continue;
      const Value shared = lookup_.policy(name);
      if (shared.is_null()) {
        add(not_found(fmt::format("{}.properties.policies[{}]", path, i), name, "no policy of the application, and no Policy"));
      } else if (shared["type"].as_string() == "override") {
        overrides_.push_back({name, shared["type"].str(), shared["properties"]});
      }
    }
  }

  DefinitionPtr check_type(DefinitionKind kind, const std::string& type, const std::string& path) {
    auto found = lookup_.definition(kind, type);
    if (found) return *found;
    add(unknown_type(path + ".type", type, found.error()));
    return nullptr;
  }

  void check_policies() {
    for (std::size_t i = 0; i < spec_.policies.size(); ++i) {
      const PolicySpec& policy = spec_.policies[i];
      const std::string path = fmt::format("spec.policies[{}]", i);
      if (!is_own_policy(policy.type)) {
        const DefinitionPtr definition = check_type(DefinitionKind::Policy, policy.type, path);
        if (definition != nullptr) add(check_parameters(policy, *definition, application_, path));
      } else if (auto wrong = fault_of(policy)) {
        add_policy_fault(*wrong, policy, path);
      }
      if (policy.type == "override") overrides_.push_back(policy);
    }
  }

  std::optional<Status> fault_of(const PolicySpec& policy) const {
    const auto error_of = [](const auto& read) { return read ? std::nullopt : std::optional(read.error()); };
    if (policy.type == "topology") return error_of(read_properties<TopologyProperties>(policy));
    if (policy.type == "override") return error_of(override_components(spec_.components, policy));
    if (policy.type == "replication") return error_of(replicate_components(spec_.components, policy));
    return error_of(keep_policies({policy}));
  }

  void add_policy_fault(const Status& wrong, const PolicySpec& policy, const std::string& path) {
    for (Cause cause : wrong.causes) {
      cause.field = fmt::format("{}.{}", path, cause.field);
      add(std::move(cause));
    }
    if (!wrong.causes.empty()) return;
    const std::string prefix = fmt::format("{} policy {}: ", policy.type, policy.name);
    std::string_view message = wrong.message;
    if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    add(field::invalid(path + ".properties", json::print(policy.properties), std::string(message)));
  }

  /// A trait that makes the workload itself cannot share it; other conflicts are warnings.
  void check_conflicts(const ComponentSpec& component, const ComponentTemplates& templates, const std::string& path) {
    for (std::size_t i = 0; i < component.traits.size(); ++i) {
      const DefinitionPtr& trait = templates.traits[i];
      if (trait == nullptr || !trait->manages_workload) continue;
      for (std::size_t j = 0; j < component.traits.size(); ++j) {
        const std::string& other = component.traits[j].type;
        if (j == i || std::ranges::find(trait->conflicts_with, other) == trait->conflicts_with.end()) continue;
        add(field::forbidden(fmt::format("{}.traits[{}].type", path, j),
                             fmt::format("trait {} sizes the workload too, and trait {} ({}.traits[{}]) does that alone: "
                                         "take {} away",
                                         other, component.traits[i].type, path, i, other)));
      }
    }
  }

  void check_components() {
    const ComponentCheck check(application_, old_, spec_, overrides_);
    for (std::size_t i = 0; i < spec_.components.size(); ++i) {
      const ComponentSpec& component = spec_.components[i];
      const std::string path = fmt::format("spec.components[{}]", i);
      ComponentTemplates templates{check_type(DefinitionKind::Component, component.type, path), {}};
      bool is_known = templates.component != nullptr;
      for (std::size_t j = 0; j < component.traits.size(); ++j) {
        templates.traits.push_back(
            check_type(DefinitionKind::Trait, component.traits[j].type, fmt::format("{}.traits[{}]", path, j)));
        is_known = is_known && templates.traits.back() != nullptr;
      }
      check_conflicts(component, templates, path);
      if (!is_known) continue;
      add(check.immutable(component, templates, path));
      add(check.rendering(component, templates, lookup_, fed_.contains(component.name), path));
    }
  }

  const kube::Object& application_;
  const kube::Object& old_;
  const Lookup& lookup_;
  std::vector<Cause> causes_;
  ApplicationSpec spec_;
  workflow::Steps steps_;
  std::vector<std::string> step_names_;
  std::vector<PolicySpec> overrides_;  // of the spec and of shared policies that steps name
  std::set<std::string> fed_;          // components into whose step a variable goes
};

}  // namespace

std::vector<Cause> check_delivery(const kube::Object& application, const kube::Object& old, const Lookup& lookup) {
  if (kube::is_deleting(application) || is_as_before(application, old)) return {};
  auto scoped = with_scoped_policies(application, lookup);
  if (!scoped && !scoped.error().causes.empty()) return scoped.error().causes;
  if (!scoped) return {field::invalid("spec.policies", json::print(application["spec"]["policies"]), scoped.error().message)};
  return Check(scoped->application, old, lookup).run();
}

}  // namespace slipway::delivery::application
