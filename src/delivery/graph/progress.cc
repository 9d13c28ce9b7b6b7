#include "delivery/graph/progress.h"

#include <algorithm>

#include "base/check.h"

namespace slipway::delivery::graph {
namespace {

bool has_not_started(Phase phase) { return phase == Phase::Blocked || phase == Phase::Ready || phase == Phase::Suspended; }

}  // namespace

Progress::Progress(const Graph& graph, Rule rule, std::vector<Phase> phases)
    : graph_(graph),
      rule_(rule),
      phases_(std::move(phases)),
      tallies_(graph.size()),
      unfinished_(graph.size()),
      failed_scopes_(graph.size() + 1) {
  SLIPWAY_CHECK(phases_.size() == graph_.size());
  for (StepIndex step = 0; step < graph_.size(); ++step) {
    const Node& node = graph_.nodes()[step];
    tallies_[step].all = static_cast<std::uint32_t>(node.dependencies.size());
    unfinished_[step] = static_cast<std::uint32_t>(node.members.size());
  }
  for (StepIndex step = 0; step < graph_.size(); ++step) {
    const Node& node = graph_.nodes()[step];
    if (is_terminal(phases_[step])) {
      for (StepIndex dependant : graph_.dependants(step)) tallies_[dependant].add(phases_[step]);
      if (node.group) --unfinished_[*node.group];
      if (phases_[step] == Phase::Failed && !node.is_tolerated) failed_scopes_[node.group.value_or(graph_.size())] = true;
      continue;
    }
    ++open_;
    if (phases_[step] == Phase::Running && takes_slot(step)) ++taken_;
    changed_.insert(graph_.rank(step));
  }
  for (StepIndex group : graph_.groups()) note_group(group);
}

void Progress::note_group(StepIndex group) {
  if (!graph_.nodes()[group].members.empty() && unfinished_[group] == 0)
    changed_groups_.emplace(-std::int64_t{graph_.level(group)}, group);
}

void Progress::set(StepIndex step, Phase phase) {
  SLIPWAY_CHECK(!is_terminal(phases_[step]), "a step that has ended changes no more");
  apply(step, phase);
}

void Progress::apply(StepIndex step, Phase phase) {
  const Phase before = std::exchange(phases_[step], phase);
  if (before == phase) return;
  if (takes_slot(step)) taken_ += (phase == Phase::Running ? 1 : 0) - (before == Phase::Running ? 1 : 0);
  if (!has_not_started(phase)) ready_of(step).erase(graph_.rank(step));
  if (is_terminal(phase)) became_terminal(step);
  if (has_not_started(phase)) changed_.insert(graph_.rank(step));
  const auto& members = graph_.nodes()[step].members;
  if (phase == Phase::Running && !members.empty()) next_.insert(graph_.rank(step));
  for (StepIndex member : members) {
    if (phase == Phase::Running) next_.insert(graph_.rank(member));
    if (is_terminal(phase)) changed_.insert(graph_.rank(member));
  }
}

void Progress::became_terminal(StepIndex step) {
  --open_;
  const Node& node = graph_.nodes()[step];
  for (StepIndex dependant : graph_.dependants(step)) {
    tallies_[dependant].add(phases_[step]);
    changed_.insert(graph_.rank(dependant));
  }
  if (node.group) {
    --unfinished_[*node.group];
    note_group(*node.group);
  }
  if (phases_[step] == Phase::Failed && !node.is_tolerated) fail_scope(node.group);
}

void Progress::fail_scope(std::optional<StepIndex> group) {
  const std::size_t scope = group.value_or(graph_.size());
  if (failed_scopes_[scope]) return;
  failed_scopes_[scope] = true;
  if (!rule_.skips_after_failure) return;
  for (StepIndex step = 0; step < graph_.size(); ++step) {
    if (graph_.nodes()[step].group == group) changed_.insert(graph_.rank(step));
  }
}

Decisions Progress::take() {
  Decisions decisions;
  for (std::uint32_t rank : next_) note_group(graph_.topological()[rank]);
  changed_.merge(next_);
  next_.clear();
  settle(decisions);
  if (!rule_.is_suspended) {
    start(ready_without_slot_, false, decisions);
    start(ready_with_slot_, true, decisions);
  }
  const auto by_rank = [this](StepIndex step) { return graph_.rank(step); };
  std::ranges::sort(decisions.start, {}, by_rank);
  std::ranges::sort(decisions.held, {}, by_rank);
  std::ranges::sort(decisions.ended, {}, [&](const Ended& one) { return by_rank(one.step); });
  decisions.is_finished = open_ == 0;
  decisions.is_failed = failed_scopes_.back();
  return decisions;
}

/// Looks at what changed until nothing ends any more, in the order of advance(): steps by rank, then groups from the inside.
void Progress::settle(Decisions& decisions) {
  while (!changed_.empty() || !changed_groups_.empty()) {
    while (!changed_.empty()) {
      const StepIndex step = graph_.topological()[*changed_.begin()];
      changed_.erase(changed_.begin());
      if (has_not_started(phases_[step])) look_at(step, decisions);
    }
    while (!changed_groups_.empty()) {
      const StepIndex group = changed_groups_.begin()->second;
      changed_groups_.erase(changed_groups_.begin());
      if (phases_[group] != Phase::Running) continue;
      const Phase phase = *group_end(graph_, group, phases_);
      decisions.ended.push_back({group, phase});
      apply(group, phase);
    }
  }
}

void Progress::look_at(StepIndex step, Decisions& decisions) {
  const Node& node = graph_.nodes()[step];
  const Truth holds = truth(node.trigger, tallies_[step]);
  std::optional<Phase> ended;
  if (node.group && is_terminal(phases_[*node.group])) {
    const Phase group = phases_[*node.group];
    ended = group == Phase::Skipped || group == Phase::Cancelled ? group : Phase::Unreachable;
  } else if (rule_.skips_after_failure && failed_scopes_[node.group.value_or(graph_.size())] &&
             (node.trigger == Trigger::AllSucceeded || node.trigger == Trigger::AllSucceededOrSkipped)) {
    ended = Phase::Skipped;
  } else if (holds == Truth::False) {
    ended = Phase::Unreachable;
  }
  if (ended) {
    decisions.ended.push_back({step, *ended});
    apply(step, *ended);
    return;
  }
  if (holds != Truth::True || (node.group && phases_[*node.group] != Phase::Running)) return;
  if (!node.is_held) {
    ready_of(step).insert(graph_.rank(step));
  } else if (phases_[step] != Phase::Suspended) {
    phases_[step] = Phase::Suspended;
    decisions.held.push_back(step);
  }
}

void Progress::start(std::set<std::uint32_t>& ready, bool wants_slot, Decisions& decisions) {
  while (!ready.empty() && (!wants_slot || taken_ < rule_.parallelism.value_or(INT64_MAX))) {
    const StepIndex step = graph_.topological()[*ready.begin()];
    decisions.start.push_back(step);
    apply(step, Phase::Running);
  }
}

bool Progress::takes_slot(StepIndex step) const {
  return graph_.nodes()[step].takes_slot && graph_.nodes()[step].members.empty();
}

std::vector<StepIndex> Progress::waiting() const {
  std::vector<std::uint32_t> ranks(ready_with_slot_.begin(), ready_with_slot_.end());
  ranks.insert(ranks.end(), ready_without_slot_.begin(), ready_without_slot_.end());
  std::ranges::sort(ranks);
  for (auto& rank : ranks) rank = graph_.topological()[rank];
  return ranks;
}

}  // namespace slipway::delivery::graph
