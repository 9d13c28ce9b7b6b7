#include "delivery/application/step_check.h"

#include "delivery/application/component_check.h"
#include "delivery/application/render_error.h"
#include "delivery/workflow/evaluation.h"
#include "json/quoted.h"

namespace slipway::delivery::application {

std::vector<Cause> check_condition(const workflow::Step& step, const std::string& path) {
  if (step.condition.empty() || step.condition == "always") return {};
  const std::string fault = workflow::syntax_fault(step.condition);
  if (fault.empty()) return {};
  return {field::invalid(path + ".if", json::quoted(step.condition), fault)};
}

std::vector<Cause> check_parameters(const workflow::Step& step, const Definition& definition, const kube::Object& application,
                                    const std::string& path) {
  if (definition.program == nullptr) return {};
  const Value given = step.properties.is_null() ? Value::empty_object() : step.properties;
  const Value name = application["metadata"]["name"];
  const Value context = json::object({{"name", name},
                                      {"appName", name},
                                      {"namespace", application["metadata"]["namespace"]},
                                      {"appRevision", name.str() + "-v1"},
                                      {"appRevisionNum", 1},
                                      {"workflowName", name},
                                      {"stepName", step.name}});
  const std::vector<cue::Hole> holes = {{definition.parameter_field, given}, {"context", context}};
  const cue::Cursor root = cue::evaluate(definition.program->program, holes, cue::Limits::for_template());
  const cue::Errors errors = root.field(definition.parameter_field).validate(cue::Demand::Valid);
  std::vector<ParameterFault> faults = describe_errors(errors, definition).parameters;
  if (faults.empty() && step.inputs.empty()) faults = missing_parameters(root, definition);
  std::vector<Cause> causes;
  causes.reserve(faults.size());
  for (const ParameterFault& one : faults) causes.push_back(cause_of(one, given, path));
  return causes;
}

}  // namespace slipway::delivery::application
