// What the controller writes of a Workflow, as described structs: its status, the durable records of its steps, and the
// WorkflowStepSets that hold them in large graphs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/graph/graph.h"
#include "delivery/jobflow/kind.h"
#include "json/codec.h"

namespace slipway::delivery::graph {

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

struct Reference {
  std::string api_version;
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  std::string cluster;

  static void describe(auto& d) {
    d.doc("The object of a step.");
    d.field("apiVersion", &Reference::api_version, "API version of the object.");
    d.field("kind", &Reference::kind, "Kind of the object.");
    d.field("namespace", &Reference::ns, "Namespace, when it is not the workflow's.");
    d.field("name", &Reference::name, "Name of the object.");
    d.field("uid", &Reference::uid, "Of an external object: pinned at first sight.");
    d.field("cluster", &Reference::cluster, "Cluster, when it is not the workflow's.");
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
    d.field("type", &ConditionStatus::type, "Complete, Failed, Suspended, Invalid or AuthorLacksRight.").required();
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

/// Whom a workflow acts as, and which of the rights that it may need this author had when the spec was taken up: a right that
/// is lost later is waited for.
struct AuthorRecord {
  std::string name;
  std::vector<std::string> rights;  // "create jobs.batch"

  static void describe(auto& d) {
    d.doc("The author, with whose rights the workflow acts.");
    d.field("name", &AuthorRecord::name, "User name.").required();
    d.field(
         "rights", &AuthorRecord::rights,
         "The rights on Jobs and on the kinds of its object templates that the author had when the spec was taken up, as `verb "
         "resource.group`. A step whose author has lost such a right waits; one whose author never had it fails.")
        .list_type("atomic");
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
  std::optional<AuthorRecord> author;

  static void describe(auto& d) {
    d.doc("How the workflow stands. Written by the controller only.");
    d.field("phase", &WorkflowStatus::phase,
            "Pending, Running, Suspended, Complete, Failed or Invalid: the conditions in one word.");
    d.field("progress", &WorkflowStatus::progress, "Terminal steps of all, e.g. `3/10`.");
    d.field("waitsFor", &WorkflowStatus::waits_for, "What it waits for now, in short.");
    d.field("observedGeneration", &WorkflowStatus::observed_generation, "The generation of the spec this status is about.");
    d.field("conditions", &WorkflowStatus::conditions, "Complete, Failed, Suspended, Invalid or AuthorLacksRight.")
        .list_type("map", {"type"});
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
    d.field("author", &WorkflowStatus::author, "Whom the workflow acts as; absent: the process.");
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
