// The status of a WorkflowRun, as a described struct: a run's status (workflow::RunStatus) with conditions beside it and the
// mode as an object (kubevela/workflow api/v1alpha1 WorkflowRunStatus).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/application/spec_shape.h"
#include "delivery/application/status.h"
#include "delivery/workflow/run_status.h"
#include "delivery/workflow/step.h"
#include "json/codec.h"

namespace slipway::delivery::application {

struct WorkflowRunStatus {
  std::vector<AppCondition> conditions;
  shape::Mode mode;
  std::string phase;
  std::string message;
  bool is_suspended = false;
  std::string suspend_state;
  std::string suspended_by;
  bool is_terminated = false;
  std::string terminated_by;
  bool is_finished = false;
  std::optional<workflow::ContextBackend> context_backend;
  std::vector<workflow::StepStatus> steps;
  std::int64_t step_index = 0;
  std::optional<Time> start_time;
  std::optional<Time> end_time;

  static void describe(auto& d) {
    using Self = WorkflowRunStatus;
    d.doc("How the run stands.");
    d.field("conditions", &Self::conditions, "WorkflowRun: True when it has succeeded, False when it cannot begin.")
        .list_type("map", {"type"});
    d.field("mode", &Self::mode, "How steps and sub-steps run.").always();
    d.field("status", &Self::phase, "initializing, executing, suspending, terminated, failed or succeeded.").always();
    d.field("message", &Self::message, "Why, in words.");
    d.field("suspend", &Self::is_suspended, "It is paused. Users set and clear it.").always();
    d.field("suspendState", &Self::suspend_state,
            "FailedAfterRetries: steps have used up their retries; resuming the run tries them again.");
    d.field("suspendedBy", &Self::suspended_by, "The user who paused it; absent where a step did, or nothing recorded it.");
    d.field("terminated", &Self::is_terminated, "It was ended before its end. Users set it.").always();
    d.field("terminatedBy", &Self::terminated_by, "The user who ended it; absent where a step did, or nothing recorded it.");
    d.field("finished", &Self::is_finished, "Nothing more will run.").always();
    d.field("contextBackend", &Self::context_backend, "The ConfigMap that keeps the variables of the run.");
    d.field("steps", &Self::steps, "The steps that have begun or wait.").list_type("atomic");
    d.field("stepIndex", &Self::step_index, "How many of the first steps have finished.").always();
    d.field("startTime", &Self::start_time, "When the run began.");
    d.field("endTime", &Self::end_time, "When it ended.");
    d.ignore_unknown();
  }

  /// As the engine works with it.
  workflow::RunStatus run() const;
  /// Takes over what a pass made of it, with the mode of `steps`.
  void take(workflow::RunStatus run, const workflow::Steps& steps);
};

}  // namespace slipway::delivery::application
