#include "delivery/jobflow/kinds.h"

#include "delivery/family/field_table.h"
#include "delivery/jobflow/cron_workflow.h"
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

kube::CrdSpec cron_workflow_crd() {
  kube::CrdSpec spec;
  spec.group = kCronWorkflowKind.group;
  spec.version = kCronWorkflowKind.version;
  spec.kind = kCronWorkflowKind.kind;
  spec.plural = kCronWorkflows.plural;
  spec.short_names = {"cwf"};
  spec.categories = {"all"};
  spec.columns = {kube::column("Schedule", ".spec.schedule", "string", "When Workflows start."),
                  kube::column("Timezone", ".spec.timeZone", "string", "The time zone of the schedule; none: UTC."),
                  kube::column("Suspend", ".spec.suspend", "boolean", "No Workflow starts."),
                  kube::column("Active", ".status.active[0].name", "string", "The Workflow that runs, the oldest of several."),
                  kube::column("Last Schedule", ".status.lastScheduleTime", "date", "Since the last Workflow was due."),
                  kube::column("Age", ".metadata.creationTimestamp", "date", "Since it was created.")};
  spec.doc = "Starts a Workflow by the clock: a CronJob's fields over a template of a Workflow.";
  spec.spec_schema = kube::open_api_schema(json::describe<CronWorkflowSpec>());
  spec.status_schema = kube::open_api_schema(json::describe<CronWorkflowStatus>());
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

std::vector<kube::CrdSpec> crd_specs() { return {workflow_crd(), step_set_crd(), cron_workflow_crd()}; }

std::vector<json::Value> custom_resource_definitions() {
  std::vector<json::Value> out;
  for (const auto& spec : crd_specs()) out.push_back(kube::make_crd(spec));
  return out;
}

std::string cron_field_table() {
  json::Description spec = json::describe<CronWorkflowSpec>();
  for (json::Description& field : spec.fields) {
    if (field.name != "workflowTemplate") continue;
    for (json::Description& part : field.fields) {
      if (part.name == "spec") part.fields.clear();  // the fields of a Workflow's spec have a table of their own
    }
  }
  return delivery::field_table({{"spec", std::move(spec)}, {"status", json::describe<CronWorkflowStatus>()}});
}

std::string field_table() {
  return delivery::field_table({{"spec", json::describe<WorkflowSpec>()}, {"status", json::describe<WorkflowStatus>()}});
}

}  // namespace slipway::delivery::jobflow
