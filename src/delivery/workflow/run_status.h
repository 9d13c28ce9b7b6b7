// How a run of a workflow stands: status.workflow of an Application, and most of the status of a WorkflowRun. Field names,
// phases and reasons are KubeVela's; `stepIndex`, `failures`, `attempts` and `resourceRef` are further fields, so that nothing
// a run needs to know lives in memory only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "json/codec.h"

namespace slipway::delivery::workflow {

/// Phases of a run.
inline constexpr const char* kInitializing = "initializing";
inline constexpr const char* kExecuting = "executing";
inline constexpr const char* kSuspending = "suspending";
inline constexpr const char* kTerminated = "terminated";
inline constexpr const char* kFailed = "failed";  // of steps too
inline constexpr const char* kSucceeded = "succeeded";
/// Phases of a step.
inline constexpr const char* kPending = "pending";
inline constexpr const char* kRunning = "running";
inline constexpr const char* kSkipped = "skipped";

/// Reasons of steps.
inline constexpr const char* kReasonWait = "Wait";
inline constexpr const char* kReasonSkip = "Skip";
inline constexpr const char* kReasonExecute = "Execute";
inline constexpr const char* kReasonInput = "Input";
inline constexpr const char* kReasonSuspend = "Suspend";
inline constexpr const char* kReasonTerminate = "Terminate";
inline constexpr const char* kReasonTimeout = "Timeout";
inline constexpr const char* kReasonAction = "Action";
inline constexpr const char* kReasonFailedAfterRetries = "FailedAfterRetries";
/// A value of suspendState: steps have used up their retries, under --suspend-on-failure.
inline constexpr const char* kSuspendedByFailure = "FailedAfterRetries";
/// Messages of a run.
inline constexpr const char* kMessageRetriesExhausted =
    "The workflow terminates automatically because the failed times of steps have reached the limit";
inline constexpr const char* kMessageSuspendedOnFailure =
    "The workflow suspends automatically because the failed times of steps have reached the limit";

/// The object that a step made or watches, when it is one.
struct ResourceRef {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string ns;
  std::string cluster;

  static void describe(auto& d) {
    d.doc("The object that the step made or watches.");
    d.field("apiVersion", &ResourceRef::api_version, "API version of the object.");
    d.field("kind", &ResourceRef::kind, "Kind of the object.");
    d.field("name", &ResourceRef::name, "Name of the object.");
    d.field("namespace", &ResourceRef::ns, "Namespace of the object.");
    d.field("cluster", &ResourceRef::cluster, "Cluster of the object; absent: the hub.");
  }
};

/// Members of a step's and a sub-step's status.
struct SubStepStatus {
  std::string id;
  std::string name;
  std::string type;
  std::string phase;
  std::string reason;
  std::string message;
  std::optional<Time> first_execute_time;
  std::optional<Time> last_execute_time;
  std::int64_t failures = 0;
  std::int64_t attempts = 0;
  std::optional<ResourceRef> resource_ref;

  static void describe(auto& d) {
    d.doc("How a step stands.");
    d.field("id", &SubStepStatus::id, "Identifies the step within its run; stable across retries.").always();
    d.field("name", &SubStepStatus::name, "Name of the step.");
    d.field("type", &SubStepStatus::type, "Type of the step.");
    d.field("phase", &SubStepStatus::phase, "pending, running, suspending, succeeded, failed or skipped.");
    d.field("message", &SubStepStatus::message, "Why, in words.");
    d.field("reason", &SubStepStatus::reason,
            "Wait, Skip, Rendering, Execute, Suspend, Terminate, ProcessParameter, Input, Output, FailedAfterRetries, Timeout "
            "or Action.");
    d.field("firstExecuteTime", &SubStepStatus::first_execute_time, "When it was first run.");
    d.field("lastExecuteTime", &SubStepStatus::last_execute_time, "When it was last run.");
    d.field("failures", &SubStepStatus::failures, "How many times in a row it has failed.");
    d.field("attempts", &SubStepStatus::attempts, "How many times it was run since its message last changed.");
    d.field("resourceRef", &SubStepStatus::resource_ref, "The object that it made or watches.");
  }
};

/// Nothing more will be run for it: succeeded, skipped, or failed for another reason than an error that is retried.
bool is_finished(const SubStepStatus& step);

struct StepStatus : SubStepStatus {
  std::vector<SubStepStatus> sub_steps;

  static void describe(auto& d) {
    SubStepStatus::describe(d);
    d.field("subSteps", &StepStatus::sub_steps, "How the steps of a group stand.").list_type("atomic");
  }
};

struct ContextBackend {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string ns;
  std::string uid;

  static void describe(auto& d) {
    d.doc("The ConfigMap that keeps the variables of a run.");
    d.field("apiVersion", &ContextBackend::api_version, "v1.");
    d.field("kind", &ContextBackend::kind, "ConfigMap.");
    d.field("name", &ContextBackend::name, "Its name.");
    d.field("namespace", &ContextBackend::ns, "Its namespace.");
    d.field("uid", &ContextBackend::uid, "Its uid.");
  }
};

struct RunStatus {
  std::string app_revision;
  std::string mode;  // "<steps>-<subSteps>"
  std::string phase;
  std::string message;
  bool is_suspended = false;
  std::string suspend_state;
  std::string suspended_by;
  bool is_terminated = false;
  std::string terminated_by;
  bool is_finished = false;
  std::optional<ContextBackend> context_backend;
  std::vector<StepStatus> steps;
  std::int64_t step_index = 0;
  std::optional<Time> start_time;
  std::optional<Time> end_time;

  /// A step's or sub-step's status by name; null when it has none yet.
  const SubStepStatus* find(std::string_view name) const;

  static void describe(auto& d) {
    d.doc("How a run of the workflow stands.");
    d.field("appRevision", &RunStatus::app_revision, "The revision, or publish version, that the run delivers.");
    d.field("mode", &RunStatus::mode, "How steps and sub-steps run, e.g. `DAG-DAG`.").always();
    d.field("status", &RunStatus::phase, "initializing, executing, suspending, terminated, failed or succeeded.");
    d.field("message", &RunStatus::message, "Why, in words.");
    d.field("suspend", &RunStatus::is_suspended, "It is paused. Users set and clear it.").always();
    d.field("suspendState", &RunStatus::suspend_state,
            "FailedAfterRetries: steps have used up their retries; resuming the run tries them again.");
    d.field("suspendedBy", &RunStatus::suspended_by,
            "The user who paused it; absent where a step did, or nothing recorded it.");
    d.field("terminated", &RunStatus::is_terminated, "It was ended before its end. Users set it.").always();
    d.field("terminatedBy", &RunStatus::terminated_by,
            "The user who ended it; absent where a step did, or nothing recorded it.");
    d.field("finished", &RunStatus::is_finished, "Nothing more will run.").always();
    d.field("contextBackend", &RunStatus::context_backend, "The ConfigMap that keeps the variables of the run.")
        .map_type("atomic");
    d.field("steps", &RunStatus::steps, "The steps that have begun or wait.").list_type("atomic");
    d.field("stepIndex", &RunStatus::step_index, "How many of the first steps have finished.").always();
    d.field("startTime", &RunStatus::start_time, "When the run began.");
    d.field("endTime", &RunStatus::end_time, "When it ended.");
    d.ignore_unknown();
  }
};

/// Of a run that has ended: it is not suspended, and one that failed or was terminated says `terminated`, whatever was written
/// there since.
void settle_end(RunStatus& status);

}  // namespace slipway::delivery::workflow
