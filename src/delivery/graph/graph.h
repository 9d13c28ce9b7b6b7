// The step graph shared by all families: names, edges, join rules, groups. Pure functions: advance(graph, phases, rule) says
// which steps may start, which have ended without running, and how the whole stands. Joins are three-valued (true, false, not
// yet), so the outcome never depends on the order of events, and a step starts or becomes Unreachable at the earliest moment.
//
// Groups: a step that others name as their group runs nothing itself. It is Running while they run and ends by them: Failed
// when one of them Failed and is not tolerated, Skipped when all were Skipped, Succeeded otherwise. Its members start only
// while it is Running; those that have not started when it ends, end with it (Skipped or Cancelled as the group, else
// Unreachable). A group takes no slot.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace slipway::delivery::graph {

/// Phases of a step. Terminal: Succeeded, Failed, Skipped, Unreachable, Cancelled.
enum class Phase : std::uint8_t { Blocked, Ready, Running, Suspended, Succeeded, Failed, Skipped, Unreachable, Cancelled };
std::string_view to_string(Phase phase);
std::optional<Phase> phase_of(std::string_view text);
bool is_terminal(Phase phase);

/// When a step may start, given its dependencies. A step without dependencies may start under any of them.
enum class Trigger : std::uint8_t { AllSucceeded, AllTerminated, AllFailed, AnySucceeded, AnyFailed, AllSucceededOrSkipped };
std::string_view to_string(Trigger trigger);
std::optional<Trigger> trigger_of(std::string_view text);

enum class Truth : std::uint8_t { False, True, NotYet };

using StepIndex = std::uint32_t;

struct Node {
  std::string name;
  std::vector<StepIndex> dependencies;  // sorted, unique
  Trigger trigger = Trigger::AllSucceeded;
  bool is_tolerated = false;         // its failure does not fail the whole (or its group)
  bool takes_slot = true;            // counts against parallelism (external steps and groups do not)
  bool is_held = false;              // becomes Suspended where it would start
  std::optional<StepIndex> group;    // the step this one is nested in
  std::vector<StepIndex> members{};  // of a group, by name
};

/// A checked graph: no unknown, own or cyclic edges. Nodes are in the order of their names.
class Graph {
 public:
  struct Step {
    std::string name{};
    std::vector<std::string> dependencies{};
    Trigger trigger = Trigger::AllSucceeded;
    bool is_tolerated = false;
    bool takes_slot = true;
    bool is_held = false;
    std::string group{};  // name of the enclosing step; empty for none
  };
  /// Causes with paths below `path`, e.g. `spec.steps[a].dependencies[0]`: unknown or own dependency (did you mean …),
  /// duplicates, a cycle named with its steps. Time O(steps + edges), whatever the number of paths; no recursion. At most
  /// kMaxCauses.
  static std::expected<Graph, std::vector<Cause>> build(std::vector<Step> steps, std::string path = "spec.steps");
  static constexpr std::size_t kMaxCauses = 100;
  static constexpr std::size_t kMaxNamesInCycle = 70;

  const std::vector<Node>& nodes() const { return nodes_; }
  std::size_t size() const { return nodes_.size(); }
  std::optional<StepIndex> find(std::string_view name) const;
  /// Steps that depend on this one.
  const std::vector<StepIndex>& dependants(StepIndex step) const { return dependants_[step]; }
  /// Longest distance from a root: 0 for steps without dependencies. Members of a group lie above it, what depends on a group
  /// above its members.
  std::uint32_t level(StepIndex step) const { return levels_[step]; }
  /// By level, then name: dependencies and groups come first.
  const std::vector<StepIndex>& topological() const { return order_; }
  /// Place of a step in topological().
  std::uint32_t rank(StepIndex step) const { return ranks_[step]; }
  /// The step and everything that depends on it, transitively, by rank: what a rerun from here runs again. The members of a
  /// group belong to it; a member's group is in, but not its other members.
  std::vector<StepIndex> downstream(StepIndex step) const;
  /// Groups, inner before outer.
  const std::vector<StepIndex>& groups() const { return groups_; }

 private:
  friend class GraphBuilder;
  std::vector<Node> nodes_;
  std::vector<std::vector<StepIndex>> dependants_;
  std::vector<std::uint32_t> levels_;
  std::vector<std::uint32_t> ranks_;
  std::vector<StepIndex> order_;
  std::vector<StepIndex> groups_;
};

/// Step-by-step as edges: each step depends on the one before it in the same group, and passes over skipped ones
/// (AllSucceeded becomes AllSucceededOrSkipped).
std::vector<Graph::Step> one_by_one(std::vector<Graph::Step> steps);

/// Dependencies by how they ended.
struct Tally {
  std::uint32_t all = 0;
  std::uint32_t succeeded = 0;
  std::uint32_t failed = 0;
  std::uint32_t skipped = 0;
  std::uint32_t others = 0;  // Unreachable, Cancelled

  void add(Phase phase);
  std::uint32_t terminal() const { return succeeded + failed + skipped + others; }
};
/// The three-valued tables of the triggers.
Truth truth(Trigger trigger, const Tally& tally);
/// Whether the step's join holds.
Truth join(const Graph& graph, StepIndex step, std::span<const Phase> phases);

struct Rule {
  std::optional<std::int64_t> parallelism{};  // steps with a slot that may be Running at once
  bool is_suspended = false;                  // nothing new starts
  /// Step-by-step families: once a step failed that is not tolerated, those of the same group that have not started and want
  /// success are Skipped.
  bool skips_after_failure = false;
};

struct Ended {
  StepIndex step = 0;
  Phase phase = Phase::Unreachable;

  bool operator==(const Ended&) const = default;
};

/// All lists are by rank.
struct Decisions {
  std::vector<StepIndex> start{};    // may start now, within parallelism
  std::vector<Ended> ended{};        // ended without running (transitively), and groups by their members
  std::vector<StepIndex> held{};     // would start but is_held: becomes Suspended
  std::vector<StepIndex> waiting{};  // join holds but no slot is free, or the whole is suspended
  bool is_finished = false;          // every step terminal (after the above)
  bool is_failed = false;            // some step outside of groups Failed that is not tolerated
};

/// Pure; linear in steps + edges (times the depth of groups). `phases` has one entry per node: Blocked or Ready for what has
/// not started; Suspended counts as not started unless the node is_held. For the same question asked after each of many changes
/// see progress.h.
Decisions advance(const Graph& graph, const std::vector<Phase>& phases, const Rule& rule);

/// How a group ends by its members; nullopt while one is not terminal.
std::optional<Phase> group_end(const Graph& graph, StepIndex group, std::span<const Phase> phases);

}  // namespace slipway::delivery::graph
