// advance() for a graph that changes step by step: it is told each change of a phase and gives what follows from it, at a cost
// of the edges touched, so that a graph of 10,000 steps is not walked 10,000 times. It takes the same decisions as advance(),
// which is its specification (graph_test compares the two on random graphs), and applies them to its own phases: what starts
// is Running, what ended has ended, what is held is Suspended.
#pragma once

#include <set>

#include "delivery/graph/graph.h"

namespace slipway::delivery::graph {

class Progress {
 public:
  /// `graph` must outlive this. `phases` as for advance(). O(steps + edges).
  Progress(const Graph& graph, Rule rule, std::vector<Phase> phases);

  /// A started or suspended step changed: Running to any phase, or anything to a terminal one.
  /// REQUIRES: the present phase is not terminal (to run steps again, make a new Progress).
  void set(StepIndex step, Phase phase);
  void set_rule(Rule rule) { rule_ = rule; }
  /// What follows from everything told since the last call. `waiting` is left empty: see waiting(). Members of a group that
  /// starts now are decided by the next call; has_more() says when there are such.
  Decisions take();
  bool has_more() const { return !next_.empty(); }

  const std::vector<Phase>& phases() const { return phases_; }
  Phase phase(StepIndex step) const { return phases_[step]; }
  /// Joins hold but no slot is free, or the whole is suspended; by rank.
  std::vector<StepIndex> waiting() const;

 private:
  void apply(StepIndex step, Phase phase);
  void note_group(StepIndex group);
  void became_terminal(StepIndex step);
  void fail_scope(std::optional<StepIndex> group);
  void settle(Decisions& decisions);
  void look_at(StepIndex step, Decisions& decisions);
  void start(std::set<std::uint32_t>& ready, bool wants_slot, Decisions& decisions);
  bool takes_slot(StepIndex step) const;
  std::set<std::uint32_t>& ready_of(StepIndex step) { return takes_slot(step) ? ready_with_slot_ : ready_without_slot_; }

  const Graph& graph_;
  Rule rule_;
  std::vector<Phase> phases_;
  std::vector<Tally> tallies_;                                   // of each step's dependencies
  std::vector<std::uint32_t> unfinished_;                        // members of a group that are not terminal
  std::set<std::uint32_t> changed_;                              // ranks of steps to look at before take() returns
  std::set<std::pair<std::int64_t, StepIndex>> changed_groups_;  // whose members have all ended; from the inside
  std::set<std::uint32_t> next_;                                 // ranks to look at in the next take()
  std::set<std::uint32_t> ready_with_slot_;                      // ranks of steps whose join holds
  std::set<std::uint32_t> ready_without_slot_;
  std::vector<bool> failed_scopes_;  // by group; the last one is outside of groups
  std::int64_t taken_ = 0;
  std::size_t open_ = 0;  // steps that are not terminal
};

}  // namespace slipway::delivery::graph
