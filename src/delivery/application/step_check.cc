#include "delivery/application/step_check.h"

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
                                    const std::string& path) {
  if (definition.program == nullptr) return {};
  const Value given = properties.is_null() ? Value::empty_object() : properties;
  const std::vector<cue::Hole> holes = {{definition.parameter_field, given}, {"context", context}};
  const cue::Cursor root = cue::evaluate(definition.program->program, holes, cue::Limits::for_template());
  const cue::Errors errors = root.field(definition.parameter_field).validate(cue::Demand::Valid);
  std::vector<ParameterFault> faults = describe_errors(errors, definition).parameters;
  if (faults.empty() && !may_lack) faults = missing_parameters(root, definition);
  std::vector<Cause> causes;
  causes.reserve(faults.size());
  for (const ParameterFault& one : faults) causes.push_back(cause_of(one, given, path));
  return causes;
}

}  // namespace

std::vector<Cause> check_condition(const workflow::Step& step, const std::vector<std::string>& steps, const std::string& path) {
  if (step.condition.empty() || step.condition == "always") return {};
  const std::string fault = workflow::condition_fault(step.condition, steps);
  if (fault.empty()) return {};
  return {field::invalid(path + ".if", json::quoted(step.condition), fault)};
}

std::vector<Cause> check_parameters(const workflow::Step& step, const Definition& definition, const kube::Object& application,
                                    const std::string& path) {
  const Value context = step_context(application).with("stepName", step.name);
  return check_properties(step.properties, context, definition, !step.inputs.empty(), path);
}

std::vector<Cause> check_parameters(const PolicySpec& policy, const Definition& definition, const kube::Object& application,
                                    const std::string& path) {
  const Value context = step_context(application).with("name", policy.name);
  return check_properties(policy.properties, context, definition, false, path);
}

}  // namespace slipway::delivery::application
