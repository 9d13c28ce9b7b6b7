#include "delivery/application/step_check.h"

#include "base/text.h"
#include "delivery/application/component_check.h"
#include "delivery/application/render_error.h"
#include "delivery/workflow/condition.h"
#include "json/quoted.h"

namespace slipway::delivery::application {

namespace {

/// `context` as it is known before anything runs.
Value step_context(const kube::Object& application) {
  const Value name = application["metadata"]["name"];
  return json::object({{"name", name},
                       {"appName", name},
                       {"namespace", application["metadata"]["namespace"]},
                       {"appRevision", name.str() + "-v1"},
                       {"appRevisionNum", 1},
                       {"workflowName", name}});
}

std::vector<Cause> check_properties(const Value& properties, const Value& context, const Definition& definition, bool may_lack,
                                    const std::string& path, const cue::Limits& limits) {
  if (definition.program == nullptr) return {};
  const Value given = properties.is_null() ? Value::empty_object() : properties;
  const std::vector<cue::Hole> holes = {{definition.parameter_field, given}, {"context", context}};
  const cue::Cursor root = cue::evaluate(definition.program->program, holes, limits);
  const cue::Errors errors = root.field(definition.parameter_field).validate(cue::Demand::Valid);
  std::vector<ParameterFault> faults = describe_errors(errors, definition).parameters;
  if (faults.empty() && !may_lack) faults = missing_parameters(root, definition);
  std::vector<Cause> causes;
  causes.reserve(faults.size());
  for (const ParameterFault& one : faults) causes.push_back(cause_of(one, given, path));
  return causes;
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

/// Whether a struct somewhere in the text is open: "..." that is not the element of a list.
bool opens_struct(std::string_view text) {
  for (std::size_t at = text.find("..."); at != std::string_view::npos; at = text.find("...", at + 3)) {
    const auto before = text.substr(0, at).find_last_not_of(" \t");
    if (before == std::string_view::npos || text[before] != '[') return true;
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

}  // namespace

/// Names of parameters that are there only under a condition are found in the text.
std::vector<std::string> unknown_properties(const Value& properties, const Definition& definition, const cue::Limits& limits) {
  std::vector<std::string> unknown;
  if (definition.program == nullptr || !properties.is_object() || properties.empty()) return unknown;
  const cue::Cursor root = cue::evaluate(definition.program->program, {}, limits);
  if (takes_any(root.field(definition.parameter_field))) return unknown;
  const std::string text = definition.object["spec"]["schematic"]["cue"]["template"].str();
  if (opens_struct(text)) return unknown;
  for (const auto& [name, value] : properties.members()) {
    if (!names_word(text, name)) unknown.emplace_back(name);
  }
  return unknown;
}

std::vector<Cause> check_condition(const workflow::Step& step, const std::vector<std::string>& steps, const std::string& path) {
  if (step.condition.empty() || step.condition == "always") return {};
  const std::string fault = workflow::condition_fault(step.condition, steps);
  if (fault.empty()) return {};
  return {field::invalid(path + ".if", json::quoted(step.condition), fault)};
}

std::vector<Cause> check_parameters(const workflow::Step& step, const Definition& definition, const kube::Object& application,
                                    const std::string& path, const cue::Limits& limits) {
  const Value context = step_context(application).with("stepName", step.name);
  return check_properties(step.properties, context, definition, !step.inputs.empty(), path, limits);
}

std::vector<Cause> check_parameters(const PolicySpec& policy, const Definition& definition, const kube::Object& application,
                                    const std::string& path, const cue::Limits& limits) {
  const Value context = step_context(application).with("name", policy.name);
  return check_properties(policy.properties, context, definition, false, path, limits);
}

}  // namespace slipway::delivery::application
