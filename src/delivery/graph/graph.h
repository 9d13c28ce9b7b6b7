// The step graph shared by all families: names, edges, join rules, groups. Pure functions: advance(graph, states, rule) says
// which steps may start, which can no longer run, and how the whole stands. Joins are three-valued (true, false, not yet), so
// the outcome never depends on the order of events, and a step starts or becomes Unreachable at the earliest moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

/// When a step may start, given its dependencies.
enum class Trigger : std::uint8_t { AllSucceeded, AllTerminated, AllFailed, AnySucceeded, AnyFailed, AllSucceededOrSkipped };
std::string_view to_string(Trigger trigger);
std::optional<Trigger> trigger_of(std::string_view text);

enum class Truth : std::uint8_t { False, True, NotYet };

using StepIndex = std::uint32_t;

struct Node {
  std::string name;
  std::vector<StepIndex> dependencies;  // sorted, unique
  Trigger trigger = Trigger::AllSucceeded;
  bool is_tolerated = false;       // its failure does not fail the whole
  bool takes_slot = true;          // counts against parallelism (external steps do not)
  std::optional<StepIndex> group;  // the step this one is nested in
};

/// A checked graph: no unknown, own or cyclic edges. Nodes are in the order of their names.
class Graph {
 public:
  struct Step {
    std::string name;
    std::vector<std::string> dependencies;
    Trigger trigger = Trigger::AllSucceeded;
    bool is_tolerated = false;
    bool takes_slot = true;
    std::string group;  // name of the enclosing step; empty for none
  };
  /// Causes with paths below `path`, e.g. `spec.steps[a].dependencies[0]`: unknown or own dependency (did you mean …),
  /// duplicates, a cycle named with its steps. Time O(steps + edges), whatever the number of paths.
  static std::expected<Graph, std::vector<Cause>> build(std::vector<Step> steps, std::string path = "spec.steps");

  const std::vector<Node>& nodes() const { return nodes_; }
  std::optional<StepIndex> find(std::string_view name) const;
  /// Steps that depend on this one.
  const std::vector<StepIndex>& dependants(StepIndex step) const { return dependants_[step]; }
  /// Longest distance from a root: 0 for steps without dependencies.
  std::uint32_t level(StepIndex step) const { return levels_[step]; }
  /// By level, then name.
  std::vector<StepIndex> topological() const;
  /// The step and everything that depends on it, transitively.
  std::vector<StepIndex> downstream(StepIndex step) const;

 private:
  std::vector<Node> nodes_;
  std::vector<std::vector<StepIndex>> dependants_;
  std::vector<std::uint32_t> levels_;
};

/// Whether the step's join holds.
Truth join(const Graph& graph, StepIndex step, const std::vector<Phase>& phases);

struct Rule {
  std::optional<std::int64_t> parallelism;  // steps with a slot that may be Running at once
  bool is_suspended = false;                // nothing new starts
  bool skips_after_failure = false;         // step-by-step families: a failure skips what has not started
};

struct Decisions {
  std::vector<StepIndex> start;        // may start now, within parallelism, in order of level then name
  std::vector<StepIndex> unreachable;  // can never start; includes the transitive ones
  std::vector<StepIndex> waiting;      // join holds but no slot is free, or suspended
  bool is_finished = false;            // every step terminal (after the above)
  bool is_failed = false;              // some step Failed that is not tolerated
};

/// Pure; linear in steps + edges. `phases` has one entry per node: Blocked or Ready for what has not started.
Decisions advance(const Graph& graph, const std::vector<Phase>& phases, const Rule& rule);

}  // namespace slipway::delivery::graph
