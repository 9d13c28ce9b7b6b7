#include "delivery/jobflow/kinds.h"

#include <fmt/format.h>

#include "delivery/jobflow/workflow.h"

namespace slipway::delivery::jobflow {
namespace {

kube::Column column(std::string name, std::string type, std::string path, std::string description) {
  return {.name = std::move(name),
          .type = std::move(type),
          .format = "",
          .description = std::move(description),
          .json_path = std::move(path)};
}

kube::CrdSpec workflow_crd() {
  kube::CrdSpec spec;
  spec.group = kWorkflowKind.group;
  spec.version = kWorkflowKind.version;
  spec.kind = kWorkflowKind.kind;
  spec.plural = kWorkflows.plural;
  spec.short_names = {"wf"};
  spec.categories = {"all"};
  spec.columns = {column("Status", "string", ".status.phase", "The conditions in one word."),
                  column("Steps", "string", ".status.progress", "Steps that have ended, of all."),
                  column("Waits", "string", ".status.waitsFor", "What it waits for now."),
                  column("Age", "date", ".metadata.creationTimestamp", "Since it was created.")};
  spec.doc = "A graph of Jobs: each step is a Job, or waits for another object, and starts once its dependencies allow it.";
  spec.spec_schema = kube::open_api_schema(json::describe<WorkflowSpec>());
  spec.status_schema = kube::open_api_schema(json::describe<WorkflowStatus>());
  return spec;
}

kube::CrdSpec step_set_crd() {
  kube::CrdSpec spec;
  spec.group = kStepSetKind.group;
  spec.version = kStepSetKind.version;
  spec.kind = kStepSetKind.kind;
  spec.plural = kStepSets.plural;
  spec.has_status = false;
  spec.columns = {column("Part", "integer", ".spec.index", "Which part."),
                  column("Of", "integer", ".spec.count", "Of how many."),
                  column("Age", "date", ".metadata.creationTimestamp", "Since it was created.")};
  spec.doc = "A part of the step statuses of a Workflow with more than 1,000 steps. Written by its controller only.";
  spec.spec_schema = kube::open_api_schema(json::describe<StepSetSpec>());
  return spec;
}

std::string type_text(const json::Description& field) {
  if (!field.enum_values.empty()) return "string";
  if (field.type == "array") return "[]" + type_text(field.element.front());
  if (field.type == "object" && !field.element.empty()) return "map[string]" + type_text(field.element.front());
  if (field.format == "date-time") return "time";
  if (field.format == "duration") return "duration";
  // Anything in the schema, so that an old spelling is refused with the new one; a list of names to those who write it.
  if (field.type.empty()) return field.name == "dependencies" ? "[]string" : "any";
  return field.type;
}

std::string rules_text(const json::Description& field) {
  std::string text;
  const auto add = [&](const std::string& rule) { text += (text.empty() ? "" : ", ") + rule; };
  if (field.rules.required) add("required");
  if (field.default_value && !field.default_value->is_object()) {
    const auto& value = *field.default_value;
    if (value.is_string() && !value.as_string().empty()) add(fmt::format("default `{}`", value.as_string()));
    if (value.is_number() && value.as_double() != 0) add(fmt::format("default {}", value.number_text()));
  }
  if (field.rules.minimum) add(fmt::format("≥ {}", *field.rules.minimum));
  if (field.rules.maximum) add(fmt::format("≤ {}", *field.rules.maximum));
  std::string values;
  for (const auto& one : field.enum_values) values += (values.empty() ? "`" : ", `") + one + "`";
  if (!values.empty()) add("one of " + values);
  return text;
}

void add_rows(std::string& out, const json::Description& owner, const std::string& path) {
  for (const auto& field : owner.fields) {
    const std::string at = path + "." + field.name;
    const std::string rules = rules_text(field);
    out += fmt::format("| `{}` | {} | {}{} |\n", at, type_text(field), field.doc, rules.empty() ? "" : " (" + rules + ")");
    const bool is_list = field.type == "array";
    const auto* inner = field.element.empty() ? &field : &field.element.front();
    add_rows(out, *inner, field.element.empty() ? at : at + (is_list ? "[]" : "[name]"));
  }
}

}  // namespace

std::vector<kube::CrdSpec> crd_specs() { return {workflow_crd(), step_set_crd()}; }

std::vector<json::Value> custom_resource_definitions() {
  std::vector<json::Value> out;
  for (const auto& spec : crd_specs()) out.push_back(kube::make_crd(spec));
  return out;
}

std::string field_table() {
  std::string out = "| field | type | meaning |\n|---|---|---|\n";
  add_rows(out, json::describe<WorkflowSpec>(), "spec");
  add_rows(out, json::describe<WorkflowStatus>(), "status");
  return out;
}

}  // namespace slipway::delivery::jobflow
