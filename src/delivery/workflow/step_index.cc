#include "delivery/workflow/step_index.h"

#include <algorithm>

namespace slipway::delivery::workflow {
namespace {

/// Tarjan's algorithm, with a stack of its own: a chain may be as long as a workflow has steps.
class Circles {
 public:
  explicit Circles(std::vector<std::vector<std::size_t>> edges)
      : edges_(std::move(edges)), order_(edges_.size(), 0), low_(edges_.size(), 0), circle_(edges_.size(), kNone) {}

  std::vector<std::size_t> run() {
    for (std::size_t step = 0; step < edges_.size(); ++step) {
      if (order_[step] == 0) visit(step);
    }
    return std::move(circle_);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Frame {
    std::size_t step;
    std::size_t next_edge = 0;
  };

  void visit(std::size_t first) {
    std::vector<Frame> frames;
    const auto enter = [&](std::size_t step) {
      order_[step] = low_[step] = ++visited_;
      open_.push_back(step);
      frames.push_back({step});
    };
    enter(first);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const std::size_t step = frame.step;
      if (frame.next_edge < edges_[step].size()) {
        const std::size_t next = edges_[step][frame.next_edge++];
        if (order_[next] == 0) {
          enter(next);
        } else if (circle_[next] == kNone) {
          low_[step] = std::min(low_[step], order_[next]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low_[frames.back().step] = std::min(low_[frames.back().step], low_[step]);
      if (low_[step] == order_[step]) close(step);
    }
  }

  void close(std::size_t root) {
    while (true) {
      const std::size_t step = open_.back();
      open_.pop_back();
      circle_[step] = root;
      if (step == root) return;
    }
  }

  const std::vector<std::vector<std::size_t>> edges_;
  std::vector<std::size_t> order_;  // of the first visit, from 1
  std::vector<std::size_t> low_;    // the earliest that is reached from there
  std::vector<std::size_t> circle_;
  std::vector<std::size_t> open_;
  std::size_t visited_ = 0;
};

}  // namespace

StepIndex::StepIndex(const Steps& steps) {
  const auto add = [&](const Step& step) {
    all_.push_back(&step);
    by_name_.emplace(step.name, &step);
    const Value& own = step.properties["name"];
    by_component_.emplace((own.as_string().empty() ? step.properties["component"] : own).as_string(), &step);
  };
  for (const Step& step : steps.steps) {
    add(step);
    for (const Step& sub : step.sub_steps) add(sub);
  }
}

const Step* StepIndex::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

const Step* StepIndex::depended_on(std::string_view name) const {
  if (const Step* step = find(name)) return step;
  const auto found = by_component_.find(name);
  return found == by_component_.end() ? nullptr : found->second;
}

std::vector<std::size_t> dependency_circles(const StepIndex& index) {
  std::map<const Step*, std::size_t> numbers;
  for (const Step* step : index.all()) numbers.emplace(step, numbers.size());
  std::vector<std::vector<std::size_t>> edges;
  edges.reserve(index.all().size());
  for (const Step* step : index.all()) {
    std::vector<std::size_t>& out = edges.emplace_back();
    for (const std::string& name : step->depends_on) {
      const Step* dependency = index.depended_on(name);
      if (dependency != nullptr) out.push_back(numbers.find(dependency)->second);
    }
  }
  return Circles(std::move(edges)).run();
}

}  // namespace slipway::delivery::workflow
