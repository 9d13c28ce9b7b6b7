#include "delivery/application/delivery_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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

}  // namespace

/// Gathers the faults of one Application in the order of its fields.
class DeliveryCheck::Reading {
 public:
  Reading(const kube::Object& application, const kube::Object& old, const Lookup& lookup, DeliveryCheck& check)
      : application_(application), old_(old), lookup_(lookup), check_(check) {}

  void run() {
    check_annotations();
    if (!read()) return;
    check_workflow();
    check_policies();
    check_components();
  }

 private:
  void add(Cause cause) { check_.causes_.push_back(std::move(cause)); }
  void add(std::vector<Cause> causes) { std::ranges::move(causes, std::back_inserter(check_.causes_)); }

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
      RenderingCheck rendering = check.rendering(component, templates, lookup_, fed_.contains(component.name), path);
      check_.renderings_.push_back({check_.causes_.size(), std::move(rendering), {}});
    }
    check_.context_ = check.context();
  }

  const kube::Object& application_;
  const kube::Object& old_;
  const Lookup& lookup_;
  DeliveryCheck& check_;
  ApplicationSpec spec_;
  workflow::Steps steps_;
  std::vector<std::string> step_names_;
  std::vector<PolicySpec> overrides_;  // of the spec and of shared policies that steps name
  std::set<std::string> fed_;          // components into whose step a variable goes
};

DeliveryCheck::DeliveryCheck(kube::Object application, kube::Object old)
    : application_(std::move(application)), old_(std::move(old)) {}

bool DeliveryCheck::read(const Lookup& lookup) {
  if (stage_ == Stage::Start) {
    stage_ = Stage::Renderings;
    if (kube::is_deleting(application_) || is_as_before(application_, old_)) return false;
    stage_ = Stage::Policies;
    policies_ = scoped_policies(application_, lookup);
    if (!policies_.empty()) return true;
    scoped_ = Scoped{.application = application_, .custom = {}, .policies = {}, .record = {}};
  }
  if (stage_ == Stage::Policies) {
    stage_ = Stage::Renderings;
    if (!take_scoped()) return false;
    Reading((*scoped_)->application, old_, lookup, *this).run();
    context_.limits.cancelled = &is_cancelled_;
  }
  return judged_ < renderings_.size();
}

void DeliveryCheck::read_as_written(const Lookup& lookup) {
  stage_ = Stage::Renderings;
  if (kube::is_deleting(application_) || is_as_before(application_, old_)) return;
  Reading(application_, old_, lookup, *this).run();
}

bool DeliveryCheck::take_scoped() {
  if (*scoped_) return true;
  const Status& error = scoped_->error();
  causes_ = error.causes;
  if (causes_.empty()) {
    causes_ = {field::invalid("spec.policies", json::print(application_["spec"]["policies"]), error.message)};
  }
  return false;
}

void DeliveryCheck::compute() {
  if (stage_ == Stage::Policies) {
    scoped_ = with_scoped_policies(application_, policies_, &is_cancelled_);
  } else {
    render();
  }
}

void DeliveryCheck::render() {
  for (std::size_t i = judged_; i < renderings_.size() && !is_cancelled_; ++i) {
    Rendering& one = renderings_[i];
    std::vector<Cause> faults = one.check->faults(context_);
    if (is_cancelled_) return;  // what was found may be the cancellation itself
    one.faults = std::move(faults);
    one.check.reset();
    judged_.store(i + 1, std::memory_order_release);
  }
}

bool DeliveryCheck::is_cut_short() const {
  return is_cancelled_ && (stage_ == Stage::Policies || judged_.load(std::memory_order_acquire) < renderings_.size());
}

std::vector<Cause> DeliveryCheck::causes() const {
  const std::size_t judged = judged_.load(std::memory_order_acquire);
  std::vector<Cause> out;
  std::size_t at = 0;
  const auto take = [&](std::size_t end) {
    for (; at < end; ++at) out.push_back(causes_[at]);
  };
  for (std::size_t i = 0; i < judged; ++i) {
    take(renderings_[i].after);
    std::ranges::copy(renderings_[i].faults, std::back_inserter(out));
  }
  take(causes_.size());
  return out;
}

std::vector<Cause> check_delivery(const kube::Object& application, const kube::Object& old, const Lookup& lookup) {
  DeliveryCheck check(application, old);
  while (check.read(lookup)) check.compute();
  return check.causes();
}

}  // namespace slipway::delivery::application
