// The kind batch.slipway.dev/v1alpha1 CronWorkflow: a CronJob's fields over a template of a Workflow. What users write and what
// the controller reports, as described structs; the CRD and the field table of docs/workflow.md are made from them. When it
// starts what is decided by control/cron_plan.h, as for CronJobs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/cron_plan.h"
#include "delivery/jobflow/workflow.h"

namespace slipway::delivery::jobflow {

/// As control/cron_plan.h wants it.
const control::CronKind& cron_workflow_kind();
/// The condition of a CronWorkflow that cannot start its Workflows.
inline constexpr const char* kStalled = "Stalled";

struct TemplateMetadata {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;

  static void describe(auto& d) {
    d.doc("Metadata of the Workflows. Their names are the CronWorkflow's name, a dash and the minute that they were due in.");
    d.field("labels", &TemplateMetadata::labels, "Labels of every Workflow.");
    d.field("annotations", &TemplateMetadata::annotations, "Annotations of every Workflow.");
  }
};

struct WorkflowTemplate {
  TemplateMetadata metadata;
  WorkflowSpec spec;

  static void describe(auto& d) {
    d.doc("The Workflow to start.");
    d.field("metadata", &WorkflowTemplate::metadata, "Labels and annotations of every Workflow.");
    d.field("spec", &WorkflowTemplate::spec, "As the spec of a Workflow.").required();
  }
};

struct CronWorkflowSpec {
  std::string schedule;
  std::optional<std::string> time_zone;
  std::optional<std::int64_t> starting_deadline_seconds;
  std::string concurrency_policy = "Allow";
  bool suspend = false;
  WorkflowTemplate workflow_template;
  std::int64_t successful_workflows_history_limit = 3;
  std::int64_t failed_workflows_history_limit = 1;

  static void describe(auto& d) {
    d.doc("When Workflows start, and which.");
    d.field("schedule", &CronWorkflowSpec::schedule,
            "When a Workflow starts: minute, hour, day of month, month and day of week as cron has them, or a macro such as "
            "`@hourly` or `@every 90m`.")
        .required();
    d.field("timeZone", &CronWorkflowSpec::time_zone,
            "IANA name of the time zone whose clocks the schedule follows (`Europe/Berlin`). Default: UTC.");
    d.field("startingDeadlineSeconds", &CronWorkflowSpec::starting_deadline_seconds,
            "A Workflow that could not start in time still starts within these seconds. Default: no limit.")
        .minimum(0);
    d.field("concurrencyPolicy", &CronWorkflowSpec::concurrency_policy,
            "What happens when a Workflow is due while an earlier one runs. Allow: both run. Forbid: it starts once the "
            "earlier one "
            "has ended. Replace: the earlier one is deleted.")
        .one_of({"Allow", "Forbid", "Replace"})
        .with_default();
    d.field("suspend", &CronWorkflowSpec::suspend, "No Workflow starts; those that run go on.");
    d.field("workflowTemplate", &CronWorkflowSpec::workflow_template, "The Workflow to start.").required();
    d.field("successfulWorkflowsHistoryLimit", &CronWorkflowSpec::successful_workflows_history_limit,
            "How many complete Workflows are kept; the oldest are deleted.")
        .minimum(0)
        .with_default();
    d.field("failedWorkflowsHistoryLimit", &CronWorkflowSpec::failed_workflows_history_limit,
            "How many failed Workflows are kept; the oldest are deleted.")
        .minimum(0)
        .with_default();
  }
};

struct ActiveWorkflow {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;

  static void describe(auto& d) {
    d.doc("A Workflow that runs.");
    d.field("apiVersion", &ActiveWorkflow::api_version, "API version of the Workflow.");
    d.field("kind", &ActiveWorkflow::kind, "Workflow.");
    d.field("namespace", &ActiveWorkflow::ns, "Namespace of the Workflow.");
    d.field("name", &ActiveWorkflow::name, "Name of the Workflow.");
    d.field("uid", &ActiveWorkflow::uid, "UID of the Workflow.");
    d.field("resourceVersion", &ActiveWorkflow::resource_version, "Version of the Workflow when it was created.");
  }
};

struct CronWorkflowStatus {
  std::vector<ActiveWorkflow> active;
  std::optional<Time> last_schedule_time;
  std::optional<Time> last_successful_time;
  std::optional<Time> next_schedule_time;
  std::vector<ConditionStatus> conditions;

  static void describe(auto& d) {
    d.doc("What the schedule has started. Written by the controller only.");
    d.field("active", &CronWorkflowStatus::active, "The Workflows that run.").list_type("atomic");
    d.field("lastScheduleTime", &CronWorkflowStatus::last_schedule_time, "When the last Workflow was due.");
    d.field("lastSuccessfulTime", &CronWorkflowStatus::last_successful_time, "When a Workflow last completed.");
    d.field("nextScheduleTime", &CronWorkflowStatus::next_schedule_time,
            "When the next Workflow is due. Absent while suspended, and when the schedule never comes due.");
    d.field("conditions", &CronWorkflowStatus::conditions, "Stalled: no Workflow can start (UnknownTimeZone, FailedCreate).")
        .list_type("map", {"type"});
  }
};

}  // namespace slipway::delivery::jobflow
