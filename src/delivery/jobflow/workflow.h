// The kind batch.slipway.dev/v1alpha1 Workflow as described structs: a graph of Jobs after the Kubernetes Workflow proposal
// (kubernetes/kubernetes #18827), and its child kind WorkflowStepSet, which holds the step statuses of large graphs. The CRDs
// and the field table of docs/workflow.md are made from these structs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/graph/graph.h"
#include "json/codec.h"
#include "kube/resource.h"

namespace slipway::delivery::graph {

/// The triggers a Workflow offers (the others belong to other families).
inline auto describe_enum(Trigger) {
  return json::enum_names<Trigger>({{Trigger::AllSucceeded, "AllSucceeded"},
                                    {Trigger::AllTerminated, "AllTerminated"},
                                    {Trigger::AllFailed, "AllFailed"},
                                    {Trigger::AnySucceeded, "AnySucceeded"},
                                    {Trigger::AnyFailed, "AnyFailed"}});
}

inline auto describe_enum(Phase) {
  return json::enum_names<Phase>({{Phase::Blocked, "Blocked"},
                                  {Phase::Ready, "Ready"},
                                  {Phase::Running, "Running"},
                                  {Phase::Suspended, "Suspended"},
                                  {Phase::Succeeded, "Succeeded"},
                                  {Phase::Failed, "Failed"},
                                  {Phase::Skipped, "Skipped"},
                                  {Phase::Unreachable, "Unreachable"},
                                  {Phase::Cancelled, "Cancelled"}});
}

}  // namespace slipway::delivery::graph

namespace slipway::delivery::jobflow {

using json::Value;

inline const kube::GroupVersionKind kWorkflowKind{"batch.slipway.dev", "v1alpha1", "Workflow"};
inline const kube::GroupVersionKind kStepSetKind{"batch.slipway.dev", "v1alpha1", "WorkflowStepSet"};
inline const kube::Resource kWorkflows{"batch.slipway.dev", "v1alpha1", "workflows"};
inline const kube::Resource kStepSets{"batch.slipway.dev", "v1alpha1", "workflowstepsets"};
inline const kube::GroupVersionKind kJobKind{"batch", "v1", "Job"};
inline const kube::Resource kJobs{"batch", "v1", "jobs"};

inline constexpr std::size_t kMaxSteps = 20'000;
inline constexpr std::size_t kMaxStepName = 253;
inline constexpr std::size_t kMaxTemplates = 1'000;
/// More steps than this, and statuses moves to WorkflowStepSets.
inline constexpr std::size_t kMaxInlineStatuses = 1'000;
/// Entries of status.failures and status.frontier.
inline constexpr std::size_t kMaxListed = 100;
/// Bytes of a message kept in a step's status.
inline constexpr std::size_t kMaxMessage = 256;

struct Backoff {
  Duration duration = std::chrono::seconds{1};
  double factor = 2;
  std::optional<Duration> cap = std::chrono::minutes{5};

  static void describe(auto& d) {
    d.doc("Pauses between attempts: duration, then each time factor times the one before, cap at most.");
    d.field("duration", &Backoff::duration, "Pause before the first retry, as Go writes durations (`10s`, `1m30s`).")
        .with_default();
    d.field("factor", &Backoff::factor, "What each further pause is multiplied by.").minimum(1).maximum(100).with_default();
    d.field("cap", &Backoff::cap, "The longest pause.").with_default();
  }
};

struct Retry {
  std::int64_t limit = 0;
  Backoff backoff;

  static void describe(auto& d) {
    d.doc("How a failed step is tried again. Each retry is a new Job; the Job's own backoffLimit counts within one attempt.");
    d.field("limit", &Retry::limit, "Retries after the first attempt.").required().minimum(0).maximum(1000);
    d.field("backoff", &Retry::backoff, "The pause between attempts.");
  }
};

struct EnvVar {
  std::string name;
  std::string value;
  std::optional<Value> value_from;

  static void describe(auto& d) {
    d.doc("An environment variable, as in a container.");
    d.field("name", &EnvVar::name, "Name of the variable.").required().min_length(1);
    d.field("value", &EnvVar::value, "Its value.");
    d.field("valueFrom", &EnvVar::value_from, "Where its value comes from, as in a container.").any_object();
  }
};

struct TemplateRef {
  std::string name;
  std::vector<EnvVar> env;

  static void describe(auto& d) {
    d.doc("A template of spec.templates, made the step's own by environment variables.");
    d.field("name", &TemplateRef::name, "A key of spec.templates.").required().min_length(1);
    d.field("env", &TemplateRef::env,
            "Set in every container and init container of the template; wins over one of the same name.")
        .list_type("map", {"name"});
  }
};

struct ExternalRef {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string cluster;

  static void describe(auto& d) {
    d.doc("An object that somebody else runs. It is waited for, never created, changed or deleted.");
    d.field("apiVersion", &ExternalRef::api_version, "API version of the object.").required().min_length(1);
    d.field("kind", &ExternalRef::kind, "Kind of the object.").required().min_length(1);
    d.field("name", &ExternalRef::name, "Name of the object.").required().min_length(1);
    d.field("namespace", &ExternalRef::ns, "The workflow's own namespace; others are not implemented.");
    d.field("uid", &ExternalRef::uid, "Only this object counts. Without it, the first object seen is the one.");
    d.field("cluster", &ExternalRef::cluster, "Not implemented: leave it out.");
  }
};

struct Until {
  std::string condition;
  std::string status = "True";

  static void describe(auto& d) {
    d.doc("The condition of the object that ends the wait.");
    d.field("condition", &Until::condition, "Type of the condition in status.conditions.").required().min_length(1);
    d.field("status", &Until::status, "The status it must have.").one_of({"True", "False", "Unknown"}).with_default();
  }
};

struct Step {
  std::optional<Value> job_template;
  std::optional<TemplateRef> template_ref;
  std::optional<ExternalRef> external_ref;
  std::optional<Until> until;
  /// A list of step names; anything else is refused by validate() with the new spelling, hence no schema type here.
  std::optional<Value> dependencies;
  std::optional<graph::Trigger> trigger;
  std::optional<Retry> retry;
  std::optional<std::int64_t> timeout_seconds;
  bool tolerated = false;
  bool suspend = false;
  std::optional<Value> object_reference;  // old spelling

  static void describe(auto& d) {
    d.doc(
        "One vertex of the graph: a Job to create, or an object to wait for. Exactly one of jobTemplate, template and "
        "externalRef.");
    d.field("jobTemplate", &Step::job_template, "The Job to create: a JobTemplateSpec {metadata, spec}.").any_object();
    d.field("template", &Step::template_ref, "The Job to create, by a template shared with other steps.");
    d.field("externalRef", &Step::external_ref, "An object to wait for.");
    d.field(
        "until", &Step::until,
        "When the object of externalRef counts as succeeded. Workflows and Jobs: Complete (and Failed fails the step); other "
        "kinds need it.");
    d.field("dependencies", &Step::dependencies, "Names of the steps this one comes after.");
    d.field("trigger", &Step::trigger, "When the step may start, given how its dependencies ended. Default: spec.trigger.");
    d.field("retry", &Step::retry, "How often and when a failed step is tried again. Not for externalRef.");
    d.field("timeoutSeconds", &Step::timeout_seconds,
            "Longest time from the step's start to its end, all attempts and pauses included; then it is Failed StepTimeout.")
        .minimum(1)
        .maximum(1e9);
    d.field("tolerated", &Step::tolerated, "The step's failure does not fail the workflow.");
    d.field("suspend", &Step::suspend, "The step becomes Suspended where it would start, until this is false again.");
    d.field("objectReference", &Step::object_reference, "Old spelling of externalRef; refused.");
  }
};

struct JobMetadata {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;

  static void describe(auto& d) {
    d.doc("What goes on every Job of the workflow.");
    d.field("labels", &JobMetadata::labels, "Labels of every Job. The template's own win.");
    d.field("annotations", &JobMetadata::annotations, "Annotations of every Job. The template's own win.");
  }
};

struct Rerun {
  std::string id;
  std::string from;

  static void describe(auto& d) {
    d.doc("Runs a part of the graph again. Finished steps outside of it are kept.");
    d.field("id", &Rerun::id, "A new id asks for a rerun; the one last done is in status.rerun.")
        .required()
        .min_length(1)
        .max_length(253);
    d.field("from", &Rerun::from, "The step to run again, with everything that depends on it; empty: all steps.");
  }
};

struct WorkflowSpec {
  std::map<std::string, Step> steps;
  std::map<std::string, Value> templates;
  graph::Trigger trigger = graph::Trigger::AllSucceeded;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int64_t> parallelism;
  bool suspend = false;
  std::optional<Value> selector;
  JobMetadata metadata;
  std::optional<Rerun> rerun;

  static void describe(auto& d) {
    d.doc("The graph and how it is run.");
    d.field("steps", &WorkflowSpec::steps, "The steps by name. A name is any text up to 253 bytes.")
        .required()
        .map_type("atomic")
        .max_properties(kMaxSteps);
    d.field("templates", &WorkflowSpec::templates, "JobTemplateSpecs shared by steps, by name.")
        .max_properties(kMaxTemplates)
        .items()
        .any_object();
    d.field("trigger", &WorkflowSpec::trigger, "The trigger of steps that name none.").with_default();
    d.field("activeDeadlineSeconds", &WorkflowSpec::active_deadline_seconds,
            "Longest time from status.startTime; then the workflow is Failed DeadlineExceeded. It goes on while suspended.")
        .minimum(1)
        .maximum(1e9);
    d.field("parallelism", &WorkflowSpec::parallelism, "How many steps may run at once. External steps do not count.")
        .minimum(1);
    d.field("suspend", &WorkflowSpec::suspend, "Nothing new starts; running Jobs end.");
    d.field("selector", &WorkflowSpec::selector,
            "Label selector of the Jobs. Default: the workflow's own label. Immutable; the labels of all templates must "
            "satisfy it.")
        .any_object();
    d.field("metadata", &WorkflowSpec::metadata, "Labels and annotations of every Job.");
    d.field("rerun", &WorkflowSpec::rerun, "The one change a finished workflow takes.");
  }
};

struct Reference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;

  static void describe(auto& d) {
    d.doc("The object of a step.");
    d.field("apiVersion", &Reference::api_version, "API version of the object.");
    d.field("kind", &Reference::kind, "Kind of the object.");
    d.field("namespace", &Reference::ns, "Namespace, when it is not the workflow's.");
    d.field("name", &Reference::name, "Name of the object.");
    d.field("uid", &Reference::uid, "Of an external object: pinned at first sight.");
  }
};

/// The durable record of a step. Steps that have not started and are still to be decided have none.
struct StepStatus {
  bool complete = false;
  graph::Phase phase = graph::Phase::Blocked;
  std::string reason;
  std::string message;
  Reference reference;
  std::int64_t attempts = 0;
  std::int64_t earlier_attempts = 0;
  std::optional<Time> start_time;
  std::optional<Time> completion_time;
  std::optional<Time> next_attempt_time;
  std::string template_hash;

  static void describe(auto& d) {
    d.doc("How a step stands. Steps without an entry are Blocked.");
    d.field("complete", &StepStatus::complete, "The phase is terminal.").always();
    d.field("phase", &StepStatus::phase, "Phase of the step.").always();
    d.field("reason", &StepStatus::reason, "Why, as one CamelCase word.");
    d.field("message", &StepStatus::message, "Why, in words.");
    d.field("reference", &StepStatus::reference, "The Job of the latest attempt, or the external object.");
    d.field("attempts", &StepStatus::attempts, "Jobs created for the step so far.");
    d.field("earlierAttempts", &StepStatus::earlier_attempts, "How many of them belong to runs before the last rerun.");
    d.field("startTime", &StepStatus::start_time, "When the step started.").micro_time();
    d.field("completionTime", &StepStatus::completion_time, "When it reached a terminal phase.").micro_time();
    d.field("nextAttemptTime", &StepStatus::next_attempt_time, "After a failed attempt: when the next one starts.")
        .micro_time();
    d.field("templateHash", &StepStatus::template_hash, "Digest of the Job template it was started with.");
  }
};

struct ConditionStatus {
  std::string type;
  std::string status;
  std::optional<Time> last_probe_time;
  std::optional<Time> last_transition_time;
  std::string reason;
  std::string message;

  static void describe(auto& d) {
    d.doc("A condition: Complete, Failed, Suspended or Invalid.");
    d.field("type", &ConditionStatus::type, "Complete, Failed, Suspended, Invalid.").required();
    d.field("status", &ConditionStatus::status, "True, False or Unknown.").required();
    d.field("lastProbeTime", &ConditionStatus::last_probe_time, "When it was last looked at.");
    d.field("lastTransitionTime", &ConditionStatus::last_transition_time, "When its status last changed.");
    d.field("reason", &ConditionStatus::reason, "Why, as one CamelCase word.");
    d.field("message", &ConditionStatus::message, "Why, in words.");
  }
};

struct Counts {
  std::int64_t steps = 0;
  std::int64_t blocked = 0;
  std::int64_t running = 0;
  std::int64_t suspended = 0;
  std::int64_t succeeded = 0;
  std::int64_t failed = 0;
  std::int64_t skipped = 0;
  std::int64_t unreachable = 0;
  std::int64_t cancelled = 0;

  static void describe(auto& d) {
    d.doc("Steps by phase.");
    d.field("steps", &Counts::steps, "All steps.").always();
    d.field("blocked", &Counts::blocked, "Not started, still to be decided (Blocked and Ready).");
    d.field("running", &Counts::running, "Running.");
    d.field("suspended", &Counts::suspended, "Suspended.");
    d.field("succeeded", &Counts::succeeded, "Succeeded.");
    d.field("failed", &Counts::failed, "Failed, tolerated or not.");
    d.field("skipped", &Counts::skipped, "Skipped.");
    d.field("unreachable", &Counts::unreachable, "Unreachable.");
    d.field("cancelled", &Counts::cancelled, "Cancelled.");
  }
};

struct Failure {
  std::string step;
  std::string reason;
  std::string message;

  static void describe(auto& d) {
    d.doc("A failed step.");
    d.field("step", &Failure::step, "Name of the step.").required();
    d.field("reason", &Failure::reason, "Its reason.");
    d.field("message", &Failure::message, "Its message.");
  }
};

struct WorkflowStatus {
  std::string phase;
  std::string progress;
  std::string waits_for;
  std::int64_t observed_generation = 0;
  std::vector<ConditionStatus> conditions;
  std::optional<Time> start_time;
  std::optional<Time> completion_time;
  std::optional<Counts> counts;
  std::map<std::string, StepStatus> statuses;
  std::string rerun;
  std::int64_t step_sets = 0;
  std::vector<std::string> frontier;
  std::vector<Failure> failures;
  std::string started;

  static void describe(auto& d) {
    d.doc("How the workflow stands. Written by the controller only.");
    d.field("phase", &WorkflowStatus::phase,
            "Pending, Running, Suspended, Complete, Failed or Invalid: the conditions in one word.");
    d.field("progress", &WorkflowStatus::progress, "Terminal steps of all, e.g. `3/10`.");
    d.field("waitsFor", &WorkflowStatus::waits_for, "What it waits for now, in short.");
    d.field("observedGeneration", &WorkflowStatus::observed_generation, "The generation of the spec this status is about.");
    d.field("conditions", &WorkflowStatus::conditions, "Complete, Failed, Suspended, Invalid.").list_type("map", {"type"});
    d.field("startTime", &WorkflowStatus::start_time, "When the controller took the workflow up (again, after a rerun).")
        .micro_time();
    d.field("completionTime", &WorkflowStatus::completion_time, "When the last step ended.").micro_time();
    d.field("counts", &WorkflowStatus::counts, "Steps by phase.");
    d.field("statuses", &WorkflowStatus::statuses, "The steps by name, up to 1,000; beyond that they are in WorkflowStepSets.")
        .map_type("atomic");
    d.field("rerun", &WorkflowStatus::rerun, "The id of the rerun last done.");
    d.field("stepSets", &WorkflowStatus::step_sets, "How many WorkflowStepSets hold the statuses; 0: they are here.");
    d.field("frontier", &WorkflowStatus::frontier, "Large graphs: running and suspended steps, the first 100.")
        .list_type("atomic");
    d.field("failures", &WorkflowStatus::failures, "Large graphs: failed steps, the first 100.").list_type("atomic");
    d.field(
        "started", &WorkflowStatus::started,
        "Large graphs: one bit per step in the order of names, base64: set when the step is decided and can change no more.");
  }
};

struct StepSetSpec {
  std::int64_t index = 0;
  std::int64_t count = 0;
  std::map<std::string, StepStatus> statuses;

  static void describe(auto& d) {
    d.doc("A part of the step statuses of a Workflow with more than 1,000 steps. Written by the controller only.");
    d.field("index", &StepSetSpec::index, "Which part, from 0.").always();
    d.field("count", &StepSetSpec::count, "Of how many parts.").always();
    d.field("statuses", &StepSetSpec::statuses, "The steps by name.").map_type("atomic");
  }
};

}  // namespace slipway::delivery::jobflow
