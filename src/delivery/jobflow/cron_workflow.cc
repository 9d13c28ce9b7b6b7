#include "delivery/jobflow/cron_workflow.h"

#include <fmt/format.h>

#include "delivery/jobflow/admission.h"
#include "kube/cron_spec.h"
#include "kube/names.h"

namespace slipway::delivery::jobflow {

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
