// What the writer of an Application is told of its workflow and policies: properties that no parameter takes, and traffic-shift
// without anything that splits the traffic.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "delivery/application/admission.h"

namespace slipway::delivery::application {
namespace {

using workflow::Step;

/// Those that the engine reads of the steps it delivers components with.
const std::set<std::string_view> kOfApplyComponent = {"component", "name", "cluster", "namespace", "patch", "value"};

std::string cue_template(const Definition& definition) {
  return definition.object["spec"]["schematic"]["cue"]["template"].str();
}

bool is_part_of_word(char c) { return c == '_' || c == '-' || is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z'); }

/// Whether a text names a word, as `word:`, `parameter.word` or `"word"`.
bool names_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_part_of_word(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !is_part_of_word(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

/// Whether the parameters are open: no struct, or one with a pattern or "...".
bool takes_any(const cue::Cursor& parameter) {
  if (!parameter.exists() || parameter.kind() != cue::Kind::Struct) return true;
  const std::string text = parameter.to_cue();
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with("...") || line.starts_with("[") || line.starts_with("{...")) return true;
  }
  return false;
}

/// Names of parameters that are there only under a condition are found in the text.
std::vector<std::string> unknown_properties(const Value& properties, const Definition& definition) {
  std::vector<std::string> unknown;
  if (definition.program == nullptr || !properties.is_object() || properties.empty()) return unknown;
  const cue::Cursor root = cue::evaluate(definition.program->program, {}, cue::Limits::for_template());
  if (takes_any(root.field(definition.parameter_field))) return unknown;
  const std::string text = cue_template(definition);
  for (const auto& [name, value] : properties.members()) {
    if (!names_word(text, name)) unknown.emplace_back(name);
  }
  return unknown;
}

std::string unknown_property(const char* what, const std::string& type, const std::string& path, const std::string& name) {
  return fmt::format("{}.properties.{}: {} type {} has no parameter of this name, so it has no effect", path, name, what, type);
}

class StepWarnings {
 public:
  /// `path` is that of the list of steps.
  StepWarnings(const Lookup& lookup, const workflow::Steps& steps, std::string path)
      : lookup_(lookup), steps_(steps), path_(std::move(path)) {}

  std::vector<std::string> run() {
    for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
      const Step& step = steps_.steps[i];
      const std::string path = fmt::format("{}[{}]", path_, i);
      look(step, path);
      for (std::size_t j = 0; j < step.sub_steps.size(); ++j) look(step.sub_steps[j], fmt::format("{}.subSteps[{}]", path, j));
    }
    return std::move(warnings_);
  }

 private:
  void look(const Step& step, const std::string& path) {
    if (step.type == kStepGroup) return;
    if (step.type == kApplyComponent || step.type == kBuiltinApplyComponent) {
      for (const auto& [name, value] : step.properties.members()) {
        if (!kOfApplyComponent.contains(name)) warn_of_property(step, path, std::string(name));
      }
      return;
    }
    const auto definition = lookup_.definition(DefinitionKind::WorkflowStep, step.type);
    if (!definition) return;
    for (const std::string& name : unknown_properties(step.properties, **definition)) warn_of_property(step, path, name);
    if (step.type == "traffic-shift" && rolls_out(**definition)) warn_of_traffic(path);
  }

  void warn_of_property(const Step& step, const std::string& path, const std::string& name) {
    warnings_.push_back(unknown_property("step", step.type, path, name));
  }

  /// Not a user's own type of that name.
  static bool rolls_out(const Definition& definition) { return cue_template(definition).contains("rolloutBatches"); }

  void warn_of_traffic(const std::string& path) {
    const Step* unsplit = first_unsplit(steps_.steps);
    for (const Step& group : steps_.steps) {
      if (unsplit == nullptr) unsplit = first_unsplit(group.sub_steps);
    }
    if (unsplit == nullptr) return;
    warnings_.push_back(
        fmt::format("{}: nothing splits the traffic of step {}, which has no property traffic: the share of the "
                    "ready pods is taken for the share of the traffic",
                    path, unsplit->name));
  }

  static const Step* first_unsplit(const std::vector<Step>& steps) {
    const auto found = std::ranges::find_if(
        steps, [](const Step& step) { return step.type == "blue-green-rollout" && step.properties["traffic"].is_null(); });
    return found == steps.end() ? nullptr : &*found;
  }

  const Lookup& lookup_;
  const workflow::Steps& steps_;
  std::string path_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> policy_warnings(const kube::Object& application, const kube::Object& old, const Lookup& lookup) {
  if (kube::is_deleting(application) || (!old.is_null() && application["spec"] == old["spec"])) return {};
  std::vector<std::string> warnings;
  const Value& policies = application["spec"]["policies"];
  for (std::size_t i = 0; i < policies.size() && policies.is_array(); ++i) {
    const std::string type = policies.item(i)["type"].str();
    // What the own ones do not take is refused.
    if (is_own_policy(type)) continue;
    const auto definition = lookup.definition(DefinitionKind::Policy, type);
    if (!definition) continue;
    for (const std::string& name : unknown_properties(policies.item(i)["properties"], **definition)) {
      warnings.push_back(unknown_property("policy", type, fmt::format("spec.policies[{}]", i), name));
    }
  }
  return warnings;
}

std::vector<std::string> step_warnings(const kube::Object& application, const kube::Object& old, const Lookup& lookup) {
  if (kube::is_deleting(application) || (!old.is_null() && application["spec"] == old["spec"])) return {};
  const Value& workflow = application["spec"]["workflow"];
  const std::string ref = workflow["ref"].str();
  const Value shared = ref.empty() ? Value() : lookup.workflow(ref);
  const Value& written = ref.empty() ? workflow : shared;
  const std::string path = ref.empty() ? "spec.workflow.steps" : fmt::format("spec.workflow.ref: Workflow {}: steps", ref);
  const auto steps = workflow::read_steps(written["steps"], written["mode"], path);
  if (!steps) return {};
  return StepWarnings(lookup, *steps, path).run();
}

}  // namespace slipway::delivery::application
