// What the family exports to admission: defaults and checks of Workflows, pure functions of the object and the one before.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kube/admission.h"

namespace slipway::delivery::jobflow {

/// At create: the finalizer, and the selector where there is none (the workflow's own label). At update: the selector is kept
/// when it was left out.
kube::Object mutate(const kube::Object& workflow, const kube::Object& old);

/// Moves old spellings of the template's steps to where validate_cron() names them.
kube::Object mutate_cron(const kube::Object& cron, const kube::Object& old);

/// Every violation. At update also: the selector is immutable, what has started is pinned, a finished workflow takes only
/// `rerun`, and a rerun needs a finished workflow or a step that has ended.
std::vector<Cause> validate(const kube::Object& workflow, const kube::Object& old);

/// What the API server would refuse a Job for, with the field paths of a Job; pure.
using JobCheck = std::function<std::vector<Cause>(const kube::Object& job)>;
/// What `check` says about the first Job of every step, at the place in the workflow where its template stands. Templates that
/// are as in `old` (null at a create) are not judged again. REQUIRES: validate() found nothing.
std::vector<Cause> check_jobs(const kube::Object& workflow, const kube::Object& old, const JobCheck& check);

/// Records in annotations of a Workflow or CronWorkflow who writes it: Jobs, objects and Workflows are created with this user's
/// rights.
kube::Object stamp_writer(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);

/// Restores the status of a Workflow or CronWorkflow: its controller alone writes it. Users of may_write_status() keep what
/// they wrote (family/protected_status.h).
Result<kube::Object> stamp_status(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);

/// Refuses a WorkflowStepSet that a user writes: it is a part of a Workflow's status. Its labels and annotations are free, and
/// so is its deletion once no Workflow owns it. Users of may_write_status() may write it.
std::vector<Cause> check_step_set_writer(const kube::Object& set, const kube::Object& old, const kube::Asker& asker);

/// Every violation: a CronJob's checks of name and schedule, and of the template all that a Workflow made from it would be
/// refused for, at its place below spec.workflowTemplate.
std::vector<Cause> validate_cron(const kube::Object& cron, const kube::Object& old, const JobCheck& check);

/// `check` is handed in by those who know the server's rules.
std::vector<kube::AdmissionRow> admission_rows(JobCheck check);

/// Complete or Failed is True.
bool is_finished(const kube::Object& workflow);

}  // namespace slipway::delivery::jobflow
