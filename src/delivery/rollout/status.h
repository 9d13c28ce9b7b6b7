// The status of the rollout kinds: what delivery/wave records (with the OAM rollout's names), and what the controller itself
// must find again after a crash: the snapshots that a revert is exact by, samples of metrics, verdicts, approvals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/log.h"
#include "delivery/rollout/history.h"
#include "delivery/rollout/requests.h"
#include "delivery/rollout/spec.h"
#include "delivery/wave/record.h"
#include "json/codec.h"

namespace slipway::delivery::rollout {

/// lastTransitionTime moves only when the status changes.
struct RolloutCondition {
  std::string type;
  std::string status;
  std::optional<Time> last_transition_time;
  std::string reason;
  std::string message;

  static void describe(auto& d) {
    d.doc("A condition: of the state it is in, Holding, RolloutReverting.");
    d.ignore_unknown();
    d.field("type", &RolloutCondition::type, "Which one.").required();
    d.field("status", &RolloutCondition::status, "True, False or Unknown.").required();
    d.field("lastTransitionTime", &RolloutCondition::last_transition_time, "When its status last changed.");
    d.field("reason", &RolloutCondition::reason, "Why, as one CamelCase word.");
    d.field("message", &RolloutCondition::message, "Why, in words.");
  }
};

/// A workload as it was before the attempt's first write: what a revert goes back to.
struct Snapshot {
  std::string id;
  std::string api_version;
  std::string kind;
  std::string name;
  std::string new_label;                      // of the pods that the attempt makes
  std::string old_label;                      // of those before, in one object
  std::map<std::string, json::Value> fields;  // by path of the row: size, partition, pause, template, numeric fields

  static void describe(auto& d) {
    d.doc("A workload before the rollout.");
    d.field("id", &Snapshot::id, "Kind and name.").required();
    d.field("apiVersion", &Snapshot::api_version, "Its API version.");
    d.field("kind", &Snapshot::kind, "Its kind.");
    d.field("name", &Snapshot::name, "Its name.");
    d.field("newRevision", &Snapshot::new_label, "The revision label of the pods that the attempt makes.");
    d.field("oldRevision", &Snapshot::old_label, "The revision label of the pods before.");
    d.field("fields", &Snapshot::fields, "Its fields that the rollout writes, by path.");
  }
};

/// A gate that is asked now.
struct OpenGate {
  std::string key;
  std::optional<Time> next;  // when it is asked again

  static void describe(auto& d) {
    d.doc("A gate that is asked now.");
    d.field("key", &OpenGate::key, "Batch, moment and name.").required();
    d.field("next", &OpenGate::next, "When it is asked again.");
  }
};

/// What the rollout waits for now; the first is what holds it.
struct Wait {
  std::string on;
  std::string text;
  std::optional<Time> since;

  static void describe(auto& d) {
    d.doc("Something that is waited for.");
    d.field("on", &Wait::on, "What.").required();
    d.field("text", &Wait::text, "How it stands.");
    d.field("since", &Wait::since, "Since when.");
  }
  bool operator==(const Wait&) const = default;
};

/// What the rollout has written on, from before its first weight until nothing of it is left: a newer revision may have a plan
/// without traffic, or with another.
struct HeldTraffic {
  Traffic traffic;
  std::int64_t weight = 0;

  static void describe(auto& d) {
    d.doc("Services and routes that the rollout has changed and not restored yet.");
    d.field("traffic", &HeldTraffic::traffic,
            "The traffic section of the plan that was in force when the first weight was written.")
        .required();
    d.field("weight", &HeldTraffic::weight, "The last weight of the target, in percent, 0 to 100.").always();
  }
};

struct RolloutStatus : wave::Record {
  std::int64_t observed_generation = 0;
  std::vector<RolloutCondition> conditions;
  std::string last_target_revision;  // the target of the present attempt: "Deployment/web-v2"
  std::string last_source_revision;
  std::string completed_revision;  // whose scalers were made, at the end of its attempt: completion_of()
  bool is_paused = false;          // an approval is waited for
  std::string selector;            // for /scale
  std::string shape;               // of the present attempt: Pair, InPlace, Replace, Scale, Fields
  std::vector<Wait> waits;
  std::vector<Snapshot> snapshots;
  std::optional<HeldTraffic> held_traffic;
  std::vector<OpenGate> open_gates;
  std::vector<AttemptRecord> attempts;  // the present one is the last
  std::vector<gate::LogEntry> verdicts;
  std::vector<gate::Approval> approvals;  // of the present attempt
  Heeded heeded;
  bool skips_gates = false;  // in the present attempt

  static void describe(auto& d) {
    wave::Record::describe(d);
    d.doc("How far a rollout is.");
    d.ignore_unknown();
    d.field("observedGeneration", &RolloutStatus::observed_generation, "The generation that this is about.");
    d.field("conditions", &RolloutStatus::conditions, "One for each state it was in, Holding, RolloutReverting.")
        .list_type("map", {"type"});
    d.field("lastTargetRevision", &RolloutStatus::last_target_revision, "The target of the present attempt.");
    d.field("LastSourceRevision", &RolloutStatus::last_source_revision, "Its newest source.");
    d.field("completedRevision", &RolloutStatus::completed_revision, "The revision whose autoscalers are in force again.");
    d.field("pause", &RolloutStatus::is_paused,
            "An approval is waited for. Whoever may approve the rollout writes false to give it.");
    d.field("selector", &RolloutStatus::selector, "Selects the pods of the target; for autoscalers.");
    d.field("shape", &RolloutStatus::shape, "How the new pods of the present attempt come about.");
    d.field("waits", &RolloutStatus::waits, "What it waits for now.").list_type("atomic");
    d.field("snapshots", &RolloutStatus::snapshots, "The workloads before the attempt.").list_type("map", {"id"});
    d.field("heldTraffic", &RolloutStatus::held_traffic,
            "The Services and routes that it has written on, until they are given back.");
    d.field("openGates", &RolloutStatus::open_gates, "Gates that are asked now.").list_type("map", {"key"});
    d.field("attempts", &RolloutStatus::attempts, "The attempts; the present one is the last.").list_type("atomic");
    d.field("verdicts", &RolloutStatus::verdicts, "What gates said, the newest last; 200 entries and 8 KiB at most.")
        .list_type("atomic");
    d.field("approvals", &RolloutStatus::approvals, "What people said to gates of the present attempt.").list_type("atomic");
    d.field("heeded", &RolloutStatus::heeded, "The requests that were carried out.");
    d.field("skipsGates", &RolloutStatus::skips_gates, "In the present attempt all gates but approvals count as passed.");
  }
};

/// Whether an attempt, perhaps an abandoned one, still holds something: split traffic, or workloads that are claimed.
inline bool holds_any(const RolloutStatus& status) {
  return status.held_traffic || (status.target && status.target->is_held()) ||
         std::ranges::any_of(status.sources, &wave::SetRecord::is_held);
}

}  // namespace slipway::delivery::rollout
