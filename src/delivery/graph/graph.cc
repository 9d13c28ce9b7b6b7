#include "delivery/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::graph {

using json::quoted;
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::size_t kMaxSuggestions = 10;  // each costs a look at every name

/// Edits between two names, or `limit` + 1 when there are more.
std::size_t edits(std::string_view a, std::string_view b, std::size_t limit) {
  if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > limit) return limit + 1;
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    std::size_t best = row[0];
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      best = std::min(best, row[j + 1]);
      diagonal = above;
    }
    if (best > limit) return limit + 1;
  }
  return row.back();
}

}  // namespace

/// Checks steps and turns them into a Graph. For order and cycles each step is two vertices, its start and its end, with a
/// group's members between those of the group: a dependency is an edge from an end to a start.
class GraphBuilder {
 public:
  GraphBuilder(std::vector<Graph::Step> steps, std::string path) : steps_(std::move(steps)), path_(std::move(path)) {}

  std::expected<Graph, std::vector<Cause>> run() {
    std::ranges::sort(steps_, {}, &Graph::Step::name);
    find_doubles();
    make_nodes();
    link();
    if (causes_.empty()) sort_vertices();
    if (!causes_.empty()) return std::unexpected(std::move(causes_));
    finish();
    return std::move(graph_);
  }

 private:
  using Vertex = std::uint32_t;
  static Vertex start_of(StepIndex step) { return 2 * step; }
  static Vertex end_of(StepIndex step) { return 2 * step + 1; }

  void report(Cause cause) {
    if (causes_.size() < Graph::kMaxCauses) causes_.push_back(std::move(cause));
  }

  std::string path_of(std::string_view step) const { return fmt::format("{}[{}]", path_, step); }

  void find_doubles() {
    for (std::size_t i = 1; i < steps_.size(); ++i) {
      if (steps_[i].name == steps_[i - 1].name) report(field::duplicate(path_of(steps_[i].name), quoted(steps_[i].name)));
    }
  }

  void make_nodes() {
    auto& nodes = graph_.nodes_;
    nodes.reserve(steps_.size());
    for (const auto& step : steps_) {
      nodes.push_back({.name = step.name,
                       .dependencies = {},
                       .trigger = step.trigger,
                       .is_tolerated = step.is_tolerated,
                       .takes_slot = step.takes_slot,
                       .is_held = step.is_held,
                       .group = {}});
    }
    graph_.dependants_.resize(nodes.size());
  }

  void link() {
    for (StepIndex step = 0; step < steps_.size(); ++step) {
      for (std::size_t i = 0; i < steps_[step].dependencies.size(); ++i) link_dependency(step, i);
      auto& dependencies = graph_.nodes_[step].dependencies;
      std::ranges::sort(dependencies);
      for (StepIndex dependency : dependencies) graph_.dependants_[dependency].push_back(step);
      if (!steps_[step].group.empty()) link_group(step);
    }
  }

  void link_dependency(StepIndex step, std::size_t index) {
    const std::string& wanted = steps_[step].dependencies[index];
    const auto path = [&] { return fmt::format("{}.dependencies[{}]", path_of(steps_[step].name), index); };
    if (wanted == steps_[step].name) return report(field::invalid(path(), quoted(wanted), "a step cannot depend on itself"));
    const auto found = graph_.find(wanted);
    if (!found) return report(field::invalid(path(), quoted(wanted), "no such step" + suggestion(wanted)));
    auto& seen = last_seen_by_[*found];
    if (seen == step + 1) return report(field::duplicate(path(), quoted(wanted)));
    seen = step + 1;
    graph_.nodes_[step].dependencies.push_back(*found);
  }

  void link_group(StepIndex step) {
    const std::string& wanted = steps_[step].group;
    const auto found = graph_.find(wanted);
    if (!found || *found == step) {
      const auto why = found ? std::string("a step cannot be its own group") : "no such step" + suggestion(wanted);
      return report(field::invalid(path_of(steps_[step].name) + ".group", quoted(wanted), why));
    }
    graph_.nodes_[step].group = found;
    graph_.nodes_[*found].members.push_back(step);
  }

  std::string suggestion(std::string_view wanted) {
    if (suggested_++ >= kMaxSuggestions) return "";
    const std::size_t limit = wanted.size() < 4 ? 1 : 2;
    std::size_t best = limit + 1;
    const Node* nearest = nullptr;
    for (const auto& node : graph_.nodes_) {
      const auto distance = edits(wanted, node.name, limit);
      if (distance >= best) continue;
      best = distance;
      nearest = &node;
    }
    return nearest == nullptr ? "" : fmt::format("; did you mean {}?", quoted(nearest->name));
  }

  template <class Visit>
  void for_each_predecessor(Vertex vertex, Visit visit) const {
    const Node& node = graph_.nodes_[vertex / 2];
    if (vertex % 2 == 1) {
      visit(start_of(vertex / 2));
      for (StepIndex member : node.members) visit(end_of(member));
      return;
    }
    for (StepIndex dependency : node.dependencies) visit(end_of(dependency));
    if (node.group) visit(start_of(*node.group));
  }

  template <class Visit>
  void for_each_successor(Vertex vertex, Visit visit) const {
    const Node& node = graph_.nodes_[vertex / 2];
    if (vertex % 2 == 0) {
      visit(end_of(vertex / 2));
      for (StepIndex member : node.members) visit(start_of(member));
      return;
    }
    for (StepIndex dependant : graph_.dependants_[vertex / 2]) visit(start_of(dependant));
    if (node.group) visit(end_of(*node.group));
  }

  /// Kahn's algorithm with longest distances. What is left over lies on or behind a cycle.
  void sort_vertices() {
    const std::size_t count = 2 * graph_.nodes_.size();
    waits_.assign(count, 0);
    distance_.assign(count, 0);
    std::vector<Vertex> ready;
    for (Vertex vertex = 0; vertex < count; ++vertex) {
      for_each_predecessor(vertex, [&](Vertex) { ++waits_[vertex]; });
      if (waits_[vertex] == 0) ready.push_back(vertex);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const Vertex vertex = ready[i];
      for_each_successor(vertex, [&](Vertex next) {
        distance_[next] = std::max(distance_[next], distance_[vertex] + (next % 2 == 0 ? 1 : 0));
        if (--waits_[next] == 0) ready.push_back(next);
      });
    }
    if (ready.size() < count) report_cycle();
  }

  /// Each vertex left over has a predecessor left over: walking back meets itself. From there the shortest way round.
  void report_cycle() {
    Vertex at = 0;
    while (waits_[at] == 0) ++at;
    std::vector<bool> seen(waits_.size());
    while (!seen[at]) {
      seen[at] = true;
      at = first_waiting_predecessor(at);
    }
    std::vector<StepIndex> cycle;
    for (Vertex vertex : shortest_cycle(at)) {
      if (cycle.empty() || cycle.back() != vertex / 2) cycle.push_back(vertex / 2);
    }
    while (cycle.size() > 1 && cycle.front() == cycle.back()) cycle.pop_back();
    std::ranges::rotate(cycle, std::ranges::min_element(cycle));
    report(cause_of(cycle));
  }

  Vertex first_waiting_predecessor(Vertex vertex) const {
    Vertex found = kNone;
    for_each_predecessor(vertex, [&](Vertex before) {
      if (waits_[before] > 0) found = std::min(found, before);
    });
    return found;
  }

  /// In the direction "waits for".
  std::vector<Vertex> shortest_cycle(Vertex from) const {
    std::vector<Vertex> came_from(waits_.size(), kNone);
    std::vector<Vertex> queue = {from};
    for (std::size_t i = 0; i < queue.size() && came_from[from] == kNone; ++i) {
      for_each_predecessor(queue[i], [&](Vertex before) {
        if (waits_[before] == 0 || came_from[before] != kNone) return;
        came_from[before] = queue[i];
        queue.push_back(before);
      });
    }
    std::vector<Vertex> cycle = {from};
    for (Vertex at = came_from[from]; at != from; at = came_from[at]) cycle.push_back(at);
    std::ranges::reverse(cycle.begin() + 1, cycle.end());
    return cycle;
  }

  Cause cause_of(const std::vector<StepIndex>& cycle) const {
    const auto& nodes = graph_.nodes_;
    std::string text;
    const std::size_t shown = std::min(cycle.size(), Graph::kMaxNamesInCycle);
    for (std::size_t i = 0; i < shown; ++i) text += nodes[cycle[i]].name + " -> ";
    if (shown < cycle.size()) text += fmt::format("… ({} more) -> ", cycle.size() - shown);
    text += nodes[cycle.front()].name;
    std::string path = path_of(nodes[cycle.front()].name);
    const StepIndex next = cycle[1 % cycle.size()];
    const auto& listed = steps_[cycle.front()].dependencies;
    const auto place = std::ranges::find(listed, nodes[next].name);
    path += place == listed.end() ? ".group" : fmt::format(".dependencies[{}]", place - listed.begin());
    return field::invalid(path, quoted(nodes[next].name),
                          fmt::format("a cycle of {} steps, each waits for the next: {}", cycle.size(), text));
  }

  void finish() {
    const auto count = static_cast<StepIndex>(graph_.nodes_.size());
    graph_.levels_.resize(count);
    graph_.ranks_.resize(count);
    graph_.order_.resize(count);
    std::iota(graph_.order_.begin(), graph_.order_.end(), 0);
    for (StepIndex step = 0; step < count; ++step) {
      graph_.levels_[step] = distance_[start_of(step)];
      if (!graph_.nodes_[step].members.empty()) graph_.groups_.push_back(step);
    }
    std::ranges::sort(graph_.order_, {}, [&](StepIndex step) { return std::pair(graph_.levels_[step], step); });
    for (std::uint32_t rank = 0; rank < count; ++rank) graph_.ranks_[graph_.order_[rank]] = rank;
    std::ranges::sort(graph_.groups_, {}, [&](StepIndex step) { return std::pair(-std::int64_t{graph_.levels_[step]}, step); });
  }

  std::vector<Graph::Step> steps_;
  std::string path_;
  Graph graph_;
  std::vector<Cause> causes_;
  std::map<StepIndex, StepIndex> last_seen_by_;  // dependency → the step (+ 1) that named it last
  std::vector<std::uint32_t> waits_;             // predecessors not yet sorted
  std::vector<std::uint32_t> distance_;
  std::size_t suggested_ = 0;
};

std::expected<Graph, std::vector<Cause>> Graph::build(std::vector<Step> steps, std::string path) {
  return GraphBuilder(std::move(steps), std::move(path)).run();
}

std::optional<StepIndex> Graph::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(nodes_, name, {}, [](const Node& node) { return std::string_view(node.name); });
  if (found == nodes_.end() || found->name != name) return std::nullopt;
  return static_cast<StepIndex>(found - nodes_.begin());
}

std::vector<StepIndex> Graph::downstream(StepIndex step) const {
  enum : std::uint8_t { kOut, kItself, kWhole };  // kItself: a group that is in because of one of its members
  std::vector<std::uint8_t> reach(nodes_.size(), kOut);
  std::vector<StepIndex> found = {step};
  reach[step] = kWhole;
  const auto visit = [&](StepIndex next, std::uint8_t how) {
    if (reach[next] >= how) return;
    reach[next] = how;
    found.push_back(next);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const StepIndex at = found[i];
    for (StepIndex dependant : dependants_[at]) visit(dependant, kWhole);
    if (nodes_[at].group) visit(*nodes_[at].group, kItself);
    if (reach[at] != kWhole) continue;
    for (StepIndex member : nodes_[at].members) visit(member, kWhole);
  }
  std::ranges::sort(found, {}, [this](StepIndex one) { return ranks_[one]; });
  const auto doubles = std::ranges::unique(found);
  found.erase(doubles.begin(), doubles.end());
  return found;
}

std::vector<Graph::Step> one_by_one(std::vector<Graph::Step> steps) {
  std::map<std::string, std::string> last;  // group → its last step so far
  for (auto& step : steps) {
    std::string& before = last[step.group];
    if (!before.empty() && std::ranges::find(step.dependencies, before) == step.dependencies.end()) {
      step.dependencies.push_back(before);
    }
    if (step.trigger == Trigger::AllSucceeded) step.trigger = Trigger::AllSucceededOrSkipped;
    before = step.name;
  }
  return steps;
}

}  // namespace slipway::delivery::graph
