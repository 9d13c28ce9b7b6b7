#include "delivery/jobflow/kinds.h"

#include "delivery/family/field_table.h"
#include "delivery/jobflow/workflow.h"

namespace slipway::delivery::jobflow {
namespace {

kube::CrdSpec workflow_crd() {
  kube::CrdSpec spec;
  spec.group = kWorkflowKind.group;
  spec.version = kWorkflowKind.version;
  spec.kind = kWorkflowKind.kind;
  spec.plural = kWorkflows.plural;
  spec.short_names = {"wf"};
  spec.categories = {"all"};
  spec.columns = {kube::column("Status", ".status.phase", "string", "The conditions in one word."),
                  kube::column("Steps", ".status.progress", "string", "Steps that have ended, of all."),
                  kube::column("Waits", ".status.waitsFor", "string", "What it waits for now."),
                  kube::column("Age", ".metadata.creationTimestamp", "date", "Since it was created.")};
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
  spec.columns = {kube::column("Part", ".spec.index", "integer", "Which part."),
                  kube::column("Of", ".spec.count", "integer", "Of how many."),
                  kube::column("Age", ".metadata.creationTimestamp", "date", "Since it was created.")};
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
