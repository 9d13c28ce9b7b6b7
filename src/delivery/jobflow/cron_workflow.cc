#include "delivery/jobflow/cron_workflow.h"

#include <fmt/format.h>

#include "base/cron_schedule.h"
#include "delivery/jobflow/admission.h"
#include "json/text.h"
#include "kube/cron_spec.h"
#include "kube/names.h"

namespace slipway::delivery::jobflow {
namespace {

/// Of the times of one minute only the first could start a Workflow.
void add_interval_cause(const Value& schedule, std::vector<Cause>& causes) {
  const std::string_view text = schedule.as_string();
  if (!text.starts_with("@every ") || schedule_fault(text)) return;
  const auto next = CronSchedule(text).next(Time{});
  if (!next || *next - Time{} >= std::chrono::minutes{1}) return;
  causes.push_back(field::invalid("spec.schedule", json::print(schedule),
                                  "must be @every 1m or more: a Workflow is named after the minute in which it is due, so of "
                                  "several in one minute only the first would start"));
}

}  // namespace

const control::CronKind& cron_workflow_kind() {
  static const control::CronKind kind{.controller = "cronworkflow",
                                      .manager = "slipway-cronworkflow",
                                      .resource = kCronWorkflows,
                                      .kind = kCronWorkflowKind,
                                      .children = kWorkflows,
                                      .child = kWorkflowKind,
                                      .template_field = "workflowTemplate",
                                      .successful_limit = "successfulWorkflowsHistoryLimit",
                                      .failed_limit = "failedWorkflowsHistoryLimit",
                                      .scheduled_annotation = "batch.slipway.dev/scheduled-at"};
  return kind;
}

std::vector<Cause> validate_cron(const kube::Object& cron, const kube::Object& old, const JobCheck& check) {
  std::vector<Cause> causes;
  if (kube::is_deleting(cron)) return causes;
  if (old.is_null()) kube::add_cron_name_causes(kube::name(cron), causes);
  const Value& spec = cron["spec"];
  if (!old.is_null() && spec == old["spec"]) return causes;
  kube::add_schedule_causes(spec, causes);
  if (old.is_null() || spec["schedule"] != old["spec"]["schedule"]) add_interval_cause(spec["schedule"], causes);
  const Value& pattern = spec["workflowTemplate"];
  if (!old.is_null() && pattern == old["spec"]["workflowTemplate"]) return causes;
  const std::string path = "spec.workflowTemplate.";
  for (auto& cause : kube::label_causes(pattern["metadata"]["labels"], path + "metadata.labels")) causes.push_back(cause);
  for (auto& cause : kube::annotation_causes(pattern["metadata"]["annotations"], path + "metadata.annotations")) {
    causes.push_back(cause);
  }
  // As the server would give it a uid: the Jobs that are checked name it as their owner.
  const kube::Object workflow =
      mutate(control::cron_child(cron_workflow_kind(), cron, Time{}), {}).with_path({"metadata", "uid"}, kube::uid(cron));
  std::vector<Cause> below = validate(workflow, {});
  if (below.empty()) below = check_jobs(workflow, {}, check);
  for (Cause& cause : below) {
    cause.field = path + cause.field;
    causes.push_back(std::move(cause));
  }
  return causes;
}

}  // namespace slipway::delivery::jobflow
