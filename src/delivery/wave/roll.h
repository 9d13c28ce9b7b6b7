// One pass of a roll, as a pure function: what the user wants, what is recorded and how the world looks go in; what to record,
// what to do and what is waited for come out. The same function runs in the controller, in the exhaustive exploration
// (explore.h) and in the property tests.
//
// The rule that makes a crash harmless: the caller first makes the new record durable (when `is_urgent`), then carries out the
// effects in order, each as often as it likes. An effect that was carried out and then forgotten is decided on again and finds
// nothing to do. decide() goes through as many states as it can in one pass; it stops where an effect or a wait is needed.
// A record that is not urgent is the input of the next pass all the same; a crash may lose it. Effects on a workload are
// written with the resourceVersion of the view that was decided on, so that a stale view never undoes a newer write.
//
// Sizes. T is the size of the whole, g the goal of the current batch, g' that of the one before, u its maxUnavailable.
//   IncreaseFirst: the target grows to g; when ready new pods + u >= g (and the traffic's share has moved and old connections
//     are drained), the sources shrink, the oldest first, to T - g together. Desired pods stay in [T, T + (g - g')].
//   DecreaseFirst: the sources shrink first, then the target grows. Desired pods stay in [T - (g - g'), T].
// Only new pods that are ready count as ready. With a target size above the sources' sum the target is sized to the difference
// before the first batch; with one below, the sources shrink to T. A pair whose sources have no pods is a scale of the target.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wall_steps.h"
#include "delivery/wave/batches.h"
#include "delivery/wave/record.h"

namespace slipway::delivery::wave {

enum class Strategy : std::uint8_t { IncreaseFirst, DecreaseFirst };
inline auto describe_enum(Strategy) {
  return json::enum_names<Strategy>({{Strategy::IncreaseFirst, "IncreaseFirst"}, {Strategy::DecreaseFirst, "DecreaseFirst"}});
}
enum class OnFailure : std::uint8_t { Stop, Revert };
inline auto describe_enum(OnFailure) {
  return json::enum_names<OnFailure>({{OnFailure::Stop, "Stop"}, {OnFailure::Revert, "Revert"}});
}
enum class OnDeadline : std::uint8_t { Hold, Fail, Pass };
inline auto describe_enum(OnDeadline) {
  return json::enum_names<OnDeadline>({{OnDeadline::Hold, "hold"}, {OnDeadline::Fail, "fail"}, {OnDeadline::Pass, "pass"}});
}

/// How the new pods come about.
enum class Shape : std::uint8_t {
  Pair,     // two objects or more: the target grows, the sources shrink
  InPlace,  // one object with a partition: `updated` of its pods are new (CloneSet, StatefulSet)
  Replace,  // one object whose old pods are deleted, and come back new (DaemonSet with OnDelete)
  Scale,    // one object; only its size changes
  Fields,   // one object whose numeric fields go from old to new by goal / T; nothing to be ready
};

/// When a gate is asked.
enum class Moment : std::uint8_t { Initialize, BeforeBatch, BeforeTraffic, AfterTraffic, AfterBatch, Throughout, Finalize };
inline auto describe_enum(Moment) {
  return json::enum_names<Moment>({{Moment::Initialize, "initialize"},
                                   {Moment::BeforeBatch, "before"},
                                   {Moment::BeforeTraffic, "pre-traffic"},
                                   {Moment::AfterTraffic, "post-traffic"},
                                   {Moment::AfterBatch, "after"},
                                   {Moment::Throughout, "throughout"},
                                   {Moment::Finalize, "finalize"}});
}

/// A gate or hook as far as the roll goes; what it asks is the caller's. Those of one moment are asked in order, the next one
/// when the one before has passed. Those of Throughout are asked all the time, also while the roll is held, and only their
/// failing counts.
struct Gate {
  std::string name;
  Moment at = Moment::AfterBatch;
  bool is_of_plan = false;      // asked at every batch's moment; its key then still has the batch
  bool needs_new_pods = false;  // a metric: may not pass at a batch that adds no pod
  std::optional<Duration> deadline{};
  OnDeadline on_deadline = OnDeadline::Fail;
  std::optional<OnDeadline> on_no_data{};  // where the last answer had no data; nullopt: as on_deadline
};
std::string gate_key(std::optional<std::int64_t> batch, Moment at, const std::string& name);

struct RollBatch {
  Batch sizes;
  Amount max_unavailable{};  // percents of T, rounded down
  Duration instance_interval{0};
  std::optional<std::int64_t> weight{};  // percent; absent: the share of new pods
  bool routes_matches = false;           // by header matches or a mirror: goes with the weight, and is accepted like it
  std::vector<Gate> gates{};             // of this batch, those of the plan first
};

/// What the user wants, as far as the pass goes. Read anew each time; batches that have begun keep their recorded goals.
struct Settings {
  Shape shape = Shape::Pair;
  Strategy strategy = Strategy::IncreaseFirst;
  std::optional<std::int64_t> target_size{};
  /// T of an attempt that begins, where target_size is absent and the workloads are sized; later it follows what others set.
  std::optional<std::int64_t> first_size{};
  std::vector<RollBatch> batches{};           // at least one, unless num_batches
  std::optional<std::int64_t> num_batches{};  // equal ones, when `batches` is empty
  RollBatch every_batch{};                    // what those get
  std::optional<std::int64_t> partition{};    // the last batch that may run; nullopt: all
  bool is_paused = false;
  OnFailure on_failure = OnFailure::Stop;
  bool reverts_on_delete = false;
  bool leaves_whole = false;  // what it gives back without a revert are T pods together, not those of an unfinished batch too
  Duration batch_deadline = std::chrono::seconds{600};
  bool has_traffic = false;
  bool drops_traffic =
      false;  // what an abandoned attempt has written on Services and routes is not what the next one writes on
  Duration settle = std::chrono::seconds{3};
  Duration drain = std::chrono::seconds{30};
  std::vector<Gate> gates{};  // Initialize, Finalize and Throughout
};

enum class Owner : std::uint8_t { Nobody, Us, Other };

/// A workload as it is seen now.
struct SetView {
  std::string id;
  std::string uid;           // empty: it is not there
  std::int64_t desired = 0;  // pods asked for
  std::int64_t present = 0;  // pods that are there, those being deleted left out
  std::int64_t ready = 0;    // of them; Pair: of its own revision
  std::int64_t updated = 0;  // pods of the new revision
  std::int64_t updated_ready = 0;
  std::int64_t asked_new = 0;  // InPlace: desired - partition; Fields: the goal that the fields stand at
  std::int64_t stamp = 0;      // SetRecord::stamp as it stands on the object; 0: no write of ours yet
  std::int64_t stamped = 0;    // the size that was written with it
  bool can_be_undone = false;  // InPlace, Replace: the template to go back to is known
  bool is_current = true;      // its status is about its newest spec; not: its counts of pods mean nothing
  Owner owner = Owner::Nobody;
  std::string owner_name{};             // of Other: for the message
  std::string resized_by{};             // the manager whose size it is, when that is not ours
  std::vector<std::string> old_pods{};  // Replace and podList: the pods that may go, in the order they would
  /// Why its pods do not become ready, of the first such pod ("pod web-v2-x: ImagePullBackOff"); empty: nothing is known.
  std::string trouble{};
};

/// What became of a gate that was asked.
struct GateAnswer {
  enum class Kind : std::uint8_t { Wait, Pass, Fail };
  Kind kind = Kind::Wait;
  std::string text{};
  std::string by{};
  bool has_no_data = false;  // Wait: there is nothing to judge by yet
};

struct TrafficView {
  /// That the objects ask for. Nullopt too where matches or the mirror of batch Record::shifted_batch are not written yet.
  std::optional<std::int64_t> weight{};
  bool is_accepted = false;     // the provider's controller says so, or says nothing and `settle` has passed
  std::string text{};           // why not
  bool is_unconfirmed = false;  // no report: accepted by time alone
  bool is_restored = false;     // nothing of the rollout's is left on Services and routes (but the last weight)
  /// The last weight, while it is recorded that the rollout has written on Services and routes, in whichever attempt.
  std::optional<std::int64_t> held_weight{};
};

struct World {
  Now now = Time{};               // knows when the wall clock was set: ages of recorded times are right all the same
  std::string target_revision;    // what the target's template is now; another one is another target
  std::optional<SetView> target;  // nullopt: it cannot be found
  std::string target_id{};        // of what spec names, there or not: for messages
  /// Those that spec names, oldest first, and those recorded that are still there; also the recorded target, once spec names
  /// another. One that is missing here is gone.
  std::vector<SetView> sources;
  std::vector<std::string> absent_pods{};  // those that Batch::pods name and that are no old pods
  TrafficView traffic{};
  std::map<std::string, GateAnswer> answers{};  // by key: what came since the last pass
  bool is_deleted = false;
  bool is_gone = false;     // the revision; during an attempt its workload too
  bool aborts = false;      // asked for by a person, and not heeded yet: fail now
  bool reverts = false;     // abort, and undo whatever onFailure says
  bool retries = false;     // a new attempt at the same target
  std::string held_back{};  // why no attempt may begin yet; empty: one may
  std::string yields_to{};  // who has asked for everything as it stands, and was not heeded yet; empty: no one
};

struct Effect {
  enum class Kind : std::uint8_t {
    Claim,    // become the controller owner of `set`, unpause it, and as Resize (Pair, Scale) or Renew (InPlace, Fields)
    Resize,   // size := number, with the stamp. `pods`: those that are to go, when it shrinks
    Renew,    // InPlace: number of its pods are to be new, `pods` first. Fields: interpolate to number / T. With the stamp
    Remove,   // delete these old pods
    Ask,      // the gate of `key`
    Shift,    // number percent of the traffic to the target, with the batch's matches and mirror
    Undo,     // of `set`: no pod is to be new (the partition back at the size, or the old template or fields; Replace: new
              // pods are deleted too). Emitted until SetView::updated (Fields: asked_new) is 0
    Restore,  // Services and routes as they were, with number percent of the traffic to the target
    Release,  // give `set` back
  };
  Kind kind;
  std::string set{};
  std::int64_t number = 0;
  std::int64_t stamp = 0;
  std::vector<std::string> pods{};
  std::string key{};  // of a gate
  std::int64_t batch = 0;

  bool operator==(const Effect&) const = default;
};

/// The text of a wait for a gate that has not said anything yet.
inline constexpr std::string_view kNoAnswerYet = "it was asked";

struct Waiting {
  std::string on;    // "pods of Deployment/web-v2", "gate smoke", "partition 1", "pause", "SizeContested", "traffic", …
  std::string text;  // "7 of 8 new pods are ready; pod web-v2-x: ImagePullBackOff"
  std::optional<Time> since;
};

struct Decision {
  Record record;
  /// The record must be durable before the effects; else it only counts pods, and may be written later with others.
  bool is_urgent = false;
  std::vector<Effect> effects;
  std::vector<Waiting> waits;
  bool has_dropped_traffic = false;  // of an abandoned attempt: nothing is left of it (Settings::drops_traffic)
  std::optional<Time> wake;          // run again then, whatever happens
  std::vector<std::string> news;     // what has happened, a line each, for events
};

/// An attempt is over and another is asked for: another target, template or targetSize. Of a rollout that is being deleted: no.
bool is_modified(const Settings& settings, const Record& record, const World& world);
/// Settings are checked (check_settings) where it matters; what is wrong with them fails the attempt before anything is
/// written.
Decision decide(const Settings& settings, const Record& record, const World& world);
/// What is wrong with settings for a roll of that size; nothing is written before it passes.
std::vector<std::string> check_settings(const Settings& settings, std::int64_t from, std::int64_t to);
/// Returns the settings without the batches that are whole numbers of pods, whose sum check_settings() compares with the way.
Settings without_numbers(Settings settings);

}  // namespace slipway::delivery::wave
