#include <algorithm>

#include "delivery/graph/graph.h"

namespace slipway::delivery::graph {
namespace {

bool wants_success(Trigger trigger) { return trigger == Trigger::AllSucceeded || trigger == Trigger::AllSucceededOrSkipped; }

bool is_open(Phase phase) { return phase == Phase::Blocked || phase == Phase::Ready || phase == Phase::Suspended; }

/// One evaluation: first all that ends (to a fixed point), then what starts.
class Evaluation {
 public:
  Evaluation(const Graph& graph, std::vector<Phase> phases, const Rule& rule)
      : graph_(graph), phases_(std::move(phases)), rule_(rule), failed_scopes_(graph.size() + 1) {}

  Decisions run() {
    for (StepIndex step = 0; step < graph_.size(); ++step) note_failure(step);
    // One pass settles a graph without groups: steps come after what they depend on. A group's end may reach back.
    bool again = true;
    while (again) {
      again = false;
      for (StepIndex step : graph_.topological()) again |= try_end(step) && has_groups();
      for (StepIndex group : graph_.groups()) again |= try_end_group(group);
    }
    start();
    std::ranges::sort(decisions_.ended, {}, [&](const Ended& one) { return graph_.rank(one.step); });
    decisions_.is_finished = std::ranges::all_of(phases_, is_terminal);
    decisions_.is_failed = failed_scopes_.back();
    return std::move(decisions_);
  }

 private:
  bool has_groups() const { return !graph_.groups().empty(); }
  std::size_t scope_of(StepIndex step) const { return graph_.nodes()[step].group.value_or(graph_.size()); }

  void note_failure(StepIndex step) {
    if (phases_[step] == Phase::Failed && !graph_.nodes()[step].is_tolerated) failed_scopes_[scope_of(step)] = true;
  }

  void end(StepIndex step, Phase phase) {
    phases_[step] = phase;
    decisions_.ended.push_back({step, phase});
    note_failure(step);
  }

  bool try_end(StepIndex step) {
    const Node& node = graph_.nodes()[step];
    if (!is_open(phases_[step])) return false;
    if (node.group && is_terminal(phases_[*node.group])) {
      const Phase group = phases_[*node.group];
      end(step, group == Phase::Skipped || group == Phase::Cancelled ? group : Phase::Unreachable);
    } else if (rule_.skips_after_failure && failed_scopes_[scope_of(step)] && wants_success(node.trigger)) {
      end(step, Phase::Skipped);
    } else if (join(graph_, step, phases_) == Truth::False) {
      end(step, Phase::Unreachable);
    } else {
      return false;
    }
    return true;
  }

  bool try_end_group(StepIndex group) {
    if (phases_[group] != Phase::Running) return false;
    const auto phase = group_end(graph_, group, phases_);
    if (phase) end(group, *phase);
    return phase.has_value();
  }

  void start() {
    std::int64_t taken = 0;
    for (StepIndex step = 0; step < graph_.size(); ++step) {
      if (phases_[step] == Phase::Running && takes_slot(step)) ++taken;
    }
    for (StepIndex step : graph_.topological()) {
      const Node& node = graph_.nodes()[step];
      if (!is_open(phases_[step]) || (node.group && phases_[*node.group] != Phase::Running)) continue;
      if (join(graph_, step, phases_) != Truth::True) continue;
      if (node.is_held) {
        if (phases_[step] != Phase::Suspended) decisions_.held.push_back(step);
      } else if (rule_.is_suspended || (takes_slot(step) && taken >= rule_.parallelism.value_or(INT64_MAX))) {
        decisions_.waiting.push_back(step);
      } else {
        taken += takes_slot(step) ? 1 : 0;
        decisions_.start.push_back(step);
      }
    }
  }

  bool takes_slot(StepIndex step) const { return graph_.nodes()[step].takes_slot && graph_.nodes()[step].members.empty(); }

  const Graph& graph_;
  std::vector<Phase> phases_;
  const Rule& rule_;
  std::vector<bool> failed_scopes_;  // by group; the last one is outside of groups
  Decisions decisions_;
};

}  // namespace

void Tally::add(Phase phase) {
  if (!is_terminal(phase)) return;
  auto& count = phase == Phase::Succeeded ? succeeded
                : phase == Phase::Failed  ? failed
                : phase == Phase::Skipped ? skipped
                                          : others;
  ++count;
}

Truth truth(Trigger trigger, const Tally& tally) {
  if (tally.all == 0) return Truth::True;
  const auto all_of = [&](std::uint32_t good) {
    if (tally.terminal() > good) return Truth::False;
    return good == tally.all ? Truth::True : Truth::NotYet;
  };
  const auto any_of = [&](std::uint32_t good) {
    if (good > 0) return Truth::True;
    return tally.terminal() == tally.all ? Truth::False : Truth::NotYet;
  };
  switch (trigger) {
    case Trigger::AllSucceeded:
      return all_of(tally.succeeded);
    case Trigger::AllSucceededOrSkipped:
      return all_of(tally.succeeded + tally.skipped);
    case Trigger::AllFailed:
      return all_of(tally.failed);
    case Trigger::AllTerminated:
      return all_of(tally.terminal());
    case Trigger::AnySucceeded:
      return any_of(tally.succeeded);
    case Trigger::AnyFailed:
      return any_of(tally.failed);
  }
  return Truth::NotYet;
}

Truth join(const Graph& graph, StepIndex step, std::span<const Phase> phases) {
  const Node& node = graph.nodes()[step];
  Tally tally{.all = static_cast<std::uint32_t>(node.dependencies.size())};
  for (StepIndex dependency : node.dependencies) tally.add(phases[dependency]);
  return truth(node.trigger, tally);
}

std::optional<Phase> group_end(const Graph& graph, StepIndex group, std::span<const Phase> phases) {
  bool is_all_skipped = true;
  bool is_failed = false;
  for (StepIndex member : graph.nodes()[group].members) {
    if (!is_terminal(phases[member])) return std::nullopt;
    is_all_skipped &= phases[member] == Phase::Skipped;
    is_failed |= phases[member] == Phase::Failed && !graph.nodes()[member].is_tolerated;
  }
  if (is_failed) return Phase::Failed;
  return is_all_skipped ? Phase::Skipped : Phase::Succeeded;
}

Decisions advance(const Graph& graph, const std::vector<Phase>& phases, const Rule& rule) {
  return Evaluation(graph, phases, rule).run();
}

}  // namespace slipway::delivery::graph
