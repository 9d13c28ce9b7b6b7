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
      : application_(application), old_(old), lookup_(lookup), check_(check), known_(check.known_) {}

  void run() {
    check_annotations();
    if (!read()) return;
    known_.is_sound = true;
    check_workflow();
    check_policies();
  }

  /// After the override policies were applied.
  void run_components() {
    if (known_.is_sound) check_components();
  }

 private:
  void add(Cause cause) { check_.causes_.push_back(std::move(cause)); }
  void add(std::vector<Cause> causes) { std::ranges::move(causes, std::back_inserter(check_.causes_)); }
  void compute(Piece piece) { check_.computed_.push_back({check_.causes_.size(), std::move(piece)}); }

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
    known_.spec = std::move(*spec);
    std::vector<Cause> faults = check_application(known_.spec);
    const bool is_sound = faults.empty();
    add(std::move(faults));
    return is_sound;
  }

  void check_workflow() {
    if (!known_.spec.has_workflow) return check_dependencies();
    if (!known_.spec.workflow_ref.empty()) {
      const Value shared = lookup_.workflow(known_.spec.workflow_ref);
      if (shared.is_null())
        return add(not_found("spec.workflow.ref", known_.spec.workflow_ref, "no such Workflow in the namespace"));
      const Value& mode = known_.spec.workflow_mode.is_null() ? shared["mode"] : known_.spec.workflow_mode;
      if (auto steps = workflow::read_steps(shared["steps"], mode, "steps")) {
        known_.steps = std::move(*steps);
        check_shared_conditions();
        warn_of_shared_steps();
      } else {
        add(field::invalid("spec.workflow.ref", quoted(known_.spec.workflow_ref), steps.error().message));
      }
      return;
    }
    auto steps = workflow::read_steps(known_.spec.workflow_steps, known_.spec.workflow_mode, "spec.workflow.steps");
    if (!steps) return add(std::move(steps.error().causes));
    known_.steps = std::move(*steps);
    known_.step_names = known_.steps.names();
    without_traffic_ = step_without_traffic(known_.steps);
    for (std::size_t i = 0; i < known_.steps.steps.size(); ++i)
      check_step(known_.steps.steps[i], fmt::format("spec.workflow.steps[{}]", i));
  }

  /// The Workflow object itself is not looked at when it is written: what it names is known only here.
  void check_shared_conditions() {
    known_.step_names = known_.steps.names();
    const auto check = [&](const workflow::Step& step) {
      if (step.condition.empty()) return;
      compute([&step, &known = known_](const RenderContext&, const cue::Limits&) {
        Finding finding;
        for (const Cause& cause : check_condition(step, known.step_names, "step " + step.name)) {
          finding.causes.push_back(field::invalid("spec.workflow.ref", quoted(known.spec.workflow_ref),
                                                  fmt::format("{}: {}", cause.field, cause.message)));
        }
        return finding;
      });
    };
    for (const workflow::Step& step : known_.steps.steps) {
      check(step);
      for (const workflow::Step& sub : step.sub_steps) check(sub);
    }
  }

  /// What is wrong in a Workflow that is named is found when it runs; of what has no effect its user is told here.
  void warn_of_shared_steps() {
    without_traffic_ = step_without_traffic(known_.steps);
    const auto look = [&](const workflow::Step& step, std::string path) {
      if (step.type == kStepGroup) return;
      const bool is_apply = step.type == kApplyComponent || step.type == kBuiltinApplyComponent;
      const auto found =
          is_apply ? Result<DefinitionPtr>(nullptr) : lookup_.definition(DefinitionKind::WorkflowStep, step.type);
      if (!found) return;
      compute([&step, definition = *found, path = std::move(path), without_traffic = without_traffic_](
                  const RenderContext&, const cue::Limits& limits) {
        return Finding{{}, step_warnings(step, definition.get(), path, without_traffic, limits)};
      });
    };
    for (std::size_t i = 0; i < known_.steps.steps.size(); ++i) {
      const workflow::Step& step = known_.steps.steps[i];
      const std::string path = fmt::format("spec.workflow.ref: Workflow {}: steps[{}]", known_.spec.workflow_ref, i);
      look(step, path);
      for (std::size_t j = 0; j < step.sub_steps.size(); ++j) look(step.sub_steps[j], fmt::format("{}.subSteps[{}]", path, j));
    }
  }

  /// Without a workflow what components wait for becomes what their steps wait for.
  void check_dependencies() {
    const Value mode = json::object({{"steps", "DAG"}, {"subSteps", "DAG"}});
    const Value generated = generated_steps(known_.spec);
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
      } else if (known_.spec.find(name) == nullptr) {
        add(not_found(path + ".properties.component", name, "the application has no component of this name"));
      }
      if (!step.inputs.empty()) known_.fed.insert(name);
    }
    const DefinitionPtr definition =
        is_apply || step.type == kStepGroup ? nullptr : check_type(DefinitionKind::WorkflowStep, step.type, path);
    const bool has_warnings = is_apply || definition != nullptr;
    const workflow::Step* without_traffic = without_traffic_;
    compute([&step, &known = known_, application = application_, definition, has_warnings, without_traffic, path](
                const RenderContext&, const cue::Limits& limits) {
      Finding finding;
      if (definition != nullptr) finding.causes = check_parameters(step, *definition, application, path, limits);
      std::ranges::move(check_condition(step, known.step_names, path), std::back_inserter(finding.causes));
      if (has_warnings) finding.warnings = step_warnings(step, definition.get(), path, without_traffic, limits);
      return finding;
    });
    if (step.type == "deploy") check_deploy(step, path);
    for (std::size_t i = 0; i < step.sub_steps.size(); ++i) {
      check_step(step.sub_steps[i], fmt::format("{}.subSteps[{}]", path, i));
    }
  }

  void check_deploy(const workflow::Step& step, const std::string& path) {
    const Value& names = step.properties["policies"];
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string name = names.item(i).str();
      if (name.empty() || contains(known_.spec.policies, name, &PolicySpec::name)) continue;
      const Value shared = lookup_.policy(name);
      if (shared.is_null()) {
        add(not_found(fmt::format("{}.properties.policies[{}]", path, i), name, "no policy of the application, and no Policy"));
      } else if (shared["type"].as_string() == "override" && shared_.insert(name).second) {
        known_.overrides.push_back({name, shared["type"].str(), shared["properties"]});
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
    for (std::size_t i = 0; i < known_.spec.policies.size(); ++i) {
      const PolicySpec& policy = known_.spec.policies[i];
      const std::string path = fmt::format("spec.policies[{}]", i);
      if (!is_own_policy(policy.type)) {
        const DefinitionPtr definition = check_type(DefinitionKind::Policy, policy.type, path);
        if (definition == nullptr) continue;
        compute([&policy, application = application_, definition, path](const RenderContext&, const cue::Limits& limits) {
          return Finding{check_parameters(policy, *definition, application, path, limits),
                         policy_warnings(policy, *definition, path, limits)};
        });
      } else {
        compute([&policy, &known = known_, path](const RenderContext&, const cue::Limits&) {
          const auto wrong = fault_of(policy, known.spec);
          return wrong ? Finding{policy_faults(*wrong, policy, path), {}} : Finding();
        });
      }
      if (policy.type == "override") known_.overrides.push_back(policy);
    }
  }

  static std::optional<Status> fault_of(const PolicySpec& policy, const ApplicationSpec& spec) {
    const auto error_of = [](const auto& read) { return read ? std::nullopt : std::optional(read.error()); };
    if (policy.type == "topology") return error_of(read_properties<TopologyProperties>(policy));
    if (policy.type == "override") return error_of(override_components(spec.components, policy));
    if (policy.type == "replication") return error_of(replicate_components(spec.components, policy));
    return error_of(keep_policies({policy}));
  }

  static std::vector<Cause> policy_faults(const Status& wrong, const PolicySpec& policy, const std::string& path) {
    std::vector<Cause> causes = wrong.causes;
    for (Cause& cause : causes) cause.field = fmt::format("{}.{}", path, cause.field);
    if (!causes.empty()) return causes;
    const std::string prefix = fmt::format("{} policy {}: ", policy.type, policy.name);
    std::string_view message = wrong.message;
    if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    return {field::invalid(path + ".properties", json::print(policy.properties), std::string(message))};
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
    const ComponentCheck check(application_, old_, known_.spec, check_.overridden_);
    for (std::size_t i = 0; i < known_.spec.components.size(); ++i) {
      const ComponentSpec& component = known_.spec.components[i];
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
      compute([rendering = check.rendering(component, templates, lookup_, known_.fed.contains(component.name), path)](
                  const RenderContext& context, const cue::Limits&) { return Finding{rendering.faults(context), {}}; });
    }
    check_.context_ = check.context();
  }

  const kube::Object& application_;
  const kube::Object& old_;
  const Lookup& lookup_;
  DeliveryCheck& check_;
  Known& known_;
  const workflow::Step* without_traffic_ = nullptr;
  std::set<std::string> shared_;  // override policies beside the application's own, in known_.overrides
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
    stage_ = Stage::Parameters;
    if (done_ < computed_.size() || !known_.overrides.empty()) return true;
  }
  if (stage_ == Stage::Parameters) {
    stage_ = Stage::Renderings;
    Reading((*scoped_)->application, old_, lookup, *this).run_components();
    context_.limits = limits();
  }
  return done_ < computed_.size();
}

cue::Limits DeliveryCheck::limits() const {
  cue::Limits limits = cue::Limits::for_template();
  limits.cancelled = &is_cancelled_;
  return limits;
}

void DeliveryCheck::read_as_written(const Lookup& lookup) {
  stage_ = Stage::Renderings;
  if (kube::is_deleting(application_) || is_as_before(application_, old_)) return;
  Reading reading(application_, old_, lookup, *this);
  reading.run();
  reading.run_components();
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
    return;
  }
  if (stage_ == Stage::Parameters) {
    overridden_ = overridden_components(known_.spec.components, known_.overrides, is_cancelled_);
  }
  compute_pieces();
}

void DeliveryCheck::compute_pieces() {
  const cue::Limits limited = limits();
  for (std::size_t i = done_; i < computed_.size() && !is_cancelled_; ++i) {
    Computed& one = computed_[i];
    Finding finding = one.piece(context_, limited);
    if (is_cancelled_) return;  // what was found may be the cancellation itself
    one.finding = std::move(finding);
    one.piece = nullptr;
    done_.store(i + 1, std::memory_order_release);
  }
}

bool DeliveryCheck::is_cut_short() const {
  return is_cancelled_ && (stage_ != Stage::Renderings || done_.load(std::memory_order_acquire) < computed_.size());
}

std::vector<Cause> DeliveryCheck::causes() const {
  const std::size_t done = done_.load(std::memory_order_acquire);
  std::vector<Cause> out;
  std::size_t at = 0;
  const auto take = [&](std::size_t end) {
    for (; at < end; ++at) out.push_back(causes_[at]);
  };
  for (std::size_t i = 0; i < done; ++i) {
    take(computed_[i].after);
    std::ranges::copy(computed_[i].finding.causes, std::back_inserter(out));
  }
  take(causes_.size());
  return out;
}

std::vector<std::string> DeliveryCheck::warnings() const {
  const std::size_t done = done_.load(std::memory_order_acquire);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < done; ++i) std::ranges::copy(computed_[i].finding.warnings, std::back_inserter(out));
  return out;
}

std::vector<Cause> check_delivery(const kube::Object& application, const kube::Object& old, const Lookup& lookup) {
  DeliveryCheck check(application, old);
  while (check.read(lookup)) check.compute();
  return check.causes();
}

}  // namespace slipway::delivery::application
