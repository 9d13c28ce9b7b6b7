#include "delivery/jobflow/kinds.h"

#include "delivery/family/field_table.h"
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

}  // namespace

std::vector<kube::CrdSpec> crd_specs() { return {workflow_crd(), step_set_crd()}; }

std::vector<json::Value> custom_resource_definitions() {
  std::vector<json::Value> out;
  for (const auto& spec : crd_specs()) out.push_back(kube::make_crd(spec));
  return out;
}

std::string field_table() {
  // Anything in the schema, so that an old spelling is refused with the new one; a list of names to those who write it.
  const FieldTypes written = {{"dependencies", "[]string"}};
  return delivery::field_table({{"spec", json::describe<WorkflowSpec>()}, {"status", json::describe<WorkflowStatus>()}},
                               written);
}

}  // namespace slipway::delivery::jobflow
