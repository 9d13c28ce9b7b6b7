// What is durable of a roll: all that a process that was killed needs in order to go on. It is the rollout kinds' status, with
// the OAM rollout's field names and Slipway's own beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delivery/wave/state.h"
#include "json/codec.h"

namespace slipway::delivery::wave {

/// A workload that takes part. Sources and target of two-object rolls each have one; a workload that is updated in place is the
/// target.
struct SetRecord {
  std::string id;             // as the caller names it: "Deployment/web-v1"
  std::string uid;            // of the object that was claimed
  std::int64_t original = 0;  // its size before the attempt's first write; of an abandoned target, what it was then
  std::int64_t written = 0;   // the size decided on last
  std::int64_t before = 0;    // the size seen when that was decided
  std::int64_t stamp = 0;     // counts the sizes decided on; stands on the object beside the size, so that one knows which
                              // write took effect, and what others changed since
  std::int64_t claim = 0;     // the stamp that it was claimed with
  std::int64_t put_back = 0;  // how often a size that others set was put back
  bool is_claimed = false;
  bool is_released = false;

  /// Claimed, and not given back.
  bool is_held() const { return is_claimed && !is_released; }
  bool operator==(const SetRecord&) const = default;
  static void describe(auto& d) {
    d.doc("A workload of the rollout, and what was done to its size.");
    d.field("id", &SetRecord::id, "Kind and name.").required();
    d.field("uid", &SetRecord::uid, "Uid of the object that was claimed.");
    d.field("originalSize", &SetRecord::original, "Its size before the rollout.").always();
    d.field("writtenSize", &SetRecord::written, "The size that the rollout decided on last.").always();
    d.field("sizeBefore", &SetRecord::before, "The size seen when that was decided.");
    d.field("stamp", &SetRecord::stamp, "Counts the sizes decided on; the object carries it too.");
    d.field("claimStamp", &SetRecord::claim, "The stamp that it was claimed with.");
    d.field("putBack", &SetRecord::put_back, "How often a size that somebody else set was put back.");
    d.field("claimed", &SetRecord::is_claimed, "It is the rollout's now.");
    d.field("released", &SetRecord::is_released, "It was given back.");
  }
};

/// What came of a gate or a hook: one entry for each that was asked in this attempt. Once passed, it is not asked again.
struct GateRecord {
  std::string key;            // "3/before/smoke": batch (or "-"), moment, name
  std::string state;          // Asked, Passed, Failed; Skipped: it judges new pods, and the batch adds none
  std::optional<Time> since;  // first asked: deadlines count from here
  std::optional<Time> ended;
  std::int64_t tries = 0;
  std::string text;  // the last verdict's words, at most 256 bytes
  std::string by;    // who approved
  bool has_no_data = false;

  bool operator==(const GateRecord&) const = default;
  static void describe(auto& d) {
    d.doc("A gate or hook that was asked.");
    d.field("key", &GateRecord::key, "Batch, moment and name.").required();
    d.field("state", &GateRecord::state, "How it stands.").one_of({"Asked", "Passed", "Failed", "Skipped"});
    d.field("since", &GateRecord::since, "When it was first asked.");
    d.field("ended", &GateRecord::ended, "When it was decided.");
    d.field("tries", &GateRecord::tries, "How often it was asked.");
    d.field("text", &GateRecord::text, "What it said last.");
    d.field("by", &GateRecord::by, "Who approved.");
    d.field("noData", &GateRecord::has_no_data, "The last answer had nothing to judge by.");
  }
};

struct Record {
  // As the OAM rollout's status.
  Rolling rolling = Rolling::LocatingTarget;
  BatchState batch = BatchState::Initializing;
  std::int64_t current_batch = 0;
  std::int64_t original_size = 0;
  std::int64_t target_size = -1;  // T; -1: not known yet
  std::int64_t upgraded = 0;
  std::int64_t upgraded_ready = 0;
  std::string target_revision;  // what identifies the target's template
  std::string last_applied;     // of the last attempt that succeeded
  // Slipway's own.
  std::int64_t attempt = 0;        // from 1
  std::vector<SetRecord> sources;  // oldest first: drained in this order
  std::optional<SetRecord> target;
  std::vector<std::int64_t> goals;     // pods that are new (or the size, of a scale) after each batch
  std::optional<std::int64_t> weight;  // decided on last, percent to the target
  std::int64_t shifted_batch = -1;     // whose matches and mirror go with it
  std::optional<Time> weight_accepted;
  std::optional<Time> batch_started;  // pods not ready are waited for since then; a pause does not count
  std::optional<Time> last_start;     // of a single replacement, for instanceInterval
  bool is_start_planned = false;      // the next one is decided on, and is written when instanceInterval has passed
  std::vector<GateRecord> gates;
  std::string failure;  // why it fails; empty: it does not
  bool is_reverting = false;
  std::vector<std::string> kept_changes;  // of others, that a revert left as they are

  static void describe(auto& d) {
    d.doc("How far a rollout is.");
    d.field("rollingState", &Record::rolling, "The state of the rollout.").always();
    d.field("batchRollingState", &Record::batch, "The state of the current batch.").always();
    d.field("currentBatch", &Record::current_batch, "Index of the current batch, from 0.").always();
    d.field("rolloutOriginalSize", &Record::original_size, "Pods before the rollout.").always();
    d.field("rolloutTargetSize", &Record::target_size, "Pods after it; -1: not known yet.").always();
    d.field("upgradedReplicas", &Record::upgraded, "Pods that are new.").always();
    d.field("upgradedReadyReplicas", &Record::upgraded_ready, "Pods that are new and ready.").always();
    d.field("targetGeneration", &Record::target_revision, "Identifies the template that is rolled out.");
    d.field("lastAppliedPodTemplateIdentifier", &Record::last_applied, "The template of the last success.");
    d.field("attempt", &Record::attempt, "Counts the targets and sizes that were rolled to, from 1.");
    d.field("sources", &Record::sources, "The old workloads, oldest first.").list_type("atomic");
    d.field("target", &Record::target, "The new workload, or the one that is updated in place.");
    d.field("goals", &Record::goals, "Pods that are new after each batch.").list_type("atomic");
    d.field("weight", &Record::weight, "Percent of the traffic that goes to the target.");
    d.field("weightBatch", &Record::shifted_batch, "The batch whose matches and mirror are in force.");
    d.field("weightAccepted", &Record::weight_accepted, "Since when that weight is in force.");
    d.field("batchStarted", &Record::batch_started, "Since when the current batch waits for pods.");
    d.field("lastStart", &Record::last_start, "When a pod was last replaced.");
    d.field("startPlanned", &Record::is_start_planned, "The next replacement begins an instanceInterval after that.");
    d.field("gates", &Record::gates, "Gates and hooks of this attempt that were asked.").list_type("map", {"key"});
    d.field("failure", &Record::failure, "Why it fails.");
    d.field("reverting", &Record::is_reverting, "What was done is being undone.");
    d.field("keptChanges", &Record::kept_changes, "Changes by others that a revert left alone.").list_type("atomic");
  }

  bool operator==(const Record&) const = default;
  Position position() const { return {rolling, batch, current_batch}; }
  void set_position(const Position& p) { rolling = p.rolling, batch = p.batch, current_batch = p.current_batch; }
};

}  // namespace slipway::delivery::wave
