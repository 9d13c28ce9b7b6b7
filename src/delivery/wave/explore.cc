#include "delivery/wave/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "delivery/wave/explore_checks.h"
#include "delivery/wave/small_world.h"

namespace slipway::delivery::wave {
namespace {

constexpr std::size_t kMaxViolations = 5;
constexpr std::size_t kMaxWay = 500;  // steps after which an end is not to be expected any more

/// 128 bits: two states of a hundred million are taken for one with a chance of 1 in 10^22.
struct Fingerprint {
  std::uint64_t low = 0x9e3779b97f4a7c15, high = 0xc2b2ae3d27d4eb4f;

  explicit Fingerprint(const std::vector<std::int64_t>& key) {
    for (const std::int64_t number : key) {
      const auto word = static_cast<std::uint64_t>(number);
      low = (low ^ word) * 0xff51afd7ed558ccd, low ^= low >> 32;
      high = (high + word) * 0x9fb21c651e98df25, high ^= high >> 28;
    }
  }
  bool operator==(const Fingerprint&) const = default;
};
struct FingerprintHash {
  std::size_t operator()(const Fingerprint& print) const { return print.low; }
};

class Explorer {
 public:
  Explorer(const Scenario& scenario, Bug bug) : scenario_(scenario), bug_(bug) {}

  Exploration run() {
    reach(first_world(scenario_));
    while (!open_.empty() && found_.violations.size() < kMaxViolations) {
      const SmallWorld small = std::move(open_.back());
      open_.pop_back();
      follow_to_end(small);
      for (SmallWorld& next : natural_moves(scenario_, small)) reach(std::move(next));
      for (SmallWorld& next : disturbances(scenario_, small)) reach(std::move(next));
      for (SmallWorld& next : passes(small, true)) reach(std::move(next));
    }
    found_.states =
        static_cast<std::uint64_t>(std::ranges::count_if(known_, [](const auto& entry) { return entry.second.is_reached; }));
    return std::move(found_);
  }

 private:
  void reach(SmallWorld next) {
    ++found_.transitions;
    Known& known = known_[Fingerprint(next.key())];
    if (std::exchange(known.is_reached, true)) return;
    open_.push_back(std::move(next));
  }

  void report(const std::string& what, const SmallWorld& small) {
    if (found_.violations.size() < kMaxViolations) {
      found_.violations.push_back(fmt::format("{}: {} | {}", scenario_.text(), what, text_of(small)));
    }
  }

  /// The pass from here as it goes well, first; then as it is cut off, where that may happen.
  std::vector<SmallWorld> passes(const SmallWorld& small, bool is_checked) {
    Settings settings = settings_of(scenario_, small);
    World world = seen_world(scenario_, small);
    plant_before(bug_, small, settings, world);
    Decision decision = decide(settings, *small.memory, world);
    plant_after(bug_, small, decision);
    last_waits_ = decision.waits;
    if (is_checked) {
      if (const std::string wrong = check_pass(scenario_, small, decision); !wrong.empty()) report(wrong, small);
    }
    std::vector<SmallWorld> out;
    SmallWorld next = small;
    if (decision.record != *small.memory) next.memory = std::make_shared<Record>(std::move(decision.record));
    if (decision.is_urgent && bug_ != Bug::RecordIsLost) next.durable = next.memory;
    if (next.answer != GateAnswer::Kind::Wait) next.answer = GateAnswer::Kind::Wait, next.asked.clear();
    const bool may_crash = scenario_.disturbance == Disturbance::Crash && !small.is_disturbed;
    if (may_crash) out.push_back(crashed(next));
    for (const Effect& effect : decision.effects) {
      const SmallWorld before = next;
      carry_out(scenario_, next, effect, bug_ == Bug::StaleWriteWins);
      if (is_checked) {
        const std::string wrong = check_effect(scenario_, before, next, effect);
        if (!wrong.empty()) report(fmt::format("{} by {}", wrong, text_of_effect(effect)), before);
      }
      if (may_crash) out.push_back(crashed(next));
    }
    out.insert(out.begin(), std::move(next));
    return out;
  }

  static SmallWorld crashed(SmallWorld next) {
    next.memory = next.durable;
    next.is_disturbed = true;
    next.asked.clear();
    next.answer = GateAnswer::Kind::Wait;
    return next;
  }

  /// Faults are over, and everything is given its turn: how far to the end?
  void follow_to_end(SmallWorld small) {
    std::vector<Fingerprint> way;
    std::int64_t steps = 0;
    while (true) {
      const Fingerprint print(small.key());
      const auto known = known_.find(print);
      if (known != known_.end() && known->second.steps_to_end >= 0) {
        steps = known->second.steps_to_end + 1;
        break;
      }
      if (way.size() > kMaxWay || std::ranges::find(way, print) != way.end()) return report("goes round for ever", small);
      way.push_back(print);
      SmallWorld next = small;
      if (!is_calmed(next)) {
        if (auto moves = natural_moves(scenario_, small); !moves.empty()) {
          next = std::move(moves.front());
        } else {
          next = std::move(passes(small, false).front());
        }
      }
      if (Fingerprint(next.key()) == print) {
        const std::string wrong = check_end(scenario_, small, last_waits_);
        if (!wrong.empty()) return report(wrong, small);
        break;
      }
      small = std::move(next);
    }
    for (auto print = way.rbegin(); print != way.rend(); ++print) known_[*print].steps_to_end = steps++;
    if (!way.empty()) found_.longest_end = std::max(found_.longest_end, static_cast<std::uint64_t>(steps - 1));
  }

  const Scenario scenario_;
  const Bug bug_;
  Exploration found_;
  std::vector<SmallWorld> open_;
  struct Known {
    bool is_reached = false;
    std::int64_t steps_to_end = -1;
  };
  std::unordered_map<Fingerprint, Known, FingerprintHash> known_;
  std::vector<Waiting> last_waits_;
};

/// All ways to write `size` as a sum of `count` numbers, 0 among them.
void add_sums(std::int64_t size, std::int64_t count, std::vector<std::int64_t>& sum,
              std::vector<std::vector<std::int64_t>>& out) {
  if (count == 1) {
    out.push_back(sum);
    out.back().push_back(size);
    return;
  }
  for (std::int64_t first = 0; first <= size; ++first) {
    sum.push_back(first);
    add_sums(size - first, count - 1, sum, out);
    sum.pop_back();
  }
}

void add_disturbed(const Scenario& plain, std::vector<Scenario>& out) {
  const bool is_pair = plain.shape == Shape::Pair;
  for (const auto disturbance : {Disturbance::Crash, Disturbance::StaleRead, Disturbance::Pause, Disturbance::Hold,
                                 Disturbance::Retarget, Disturbance::PodLost}) {
    out.emplace_back(plain).disturbance = disturbance;
  }
  Scenario& resized = out.emplace_back(plain);
  resized.disturbance = Disturbance::Resize;
  if (is_pair) {
    Scenario& put_back = out.emplace_back(resized);
    put_back.target_size = plain.sources.front();
  }
  for (const bool reverts : {false, true}) {
    Scenario& refused = out.emplace_back(plain);
    refused.disturbance = Disturbance::HookRefused;
    refused.on_failure = reverts ? OnFailure::Revert : OnFailure::Stop;
    Scenario& deleted = out.emplace_back(plain);
    deleted.disturbance = Disturbance::Delete;
    deleted.reverts_on_delete = reverts;
  }
}

void add_undisturbed(const Scenario& plain, std::vector<Scenario>& out) {
  out.push_back(plain);
  const std::int64_t size = plain.sources.front();
  if (plain.shape != Shape::Pair) return;
  if (size >= 2) out.emplace_back(plain).sources = {1, size - 1};
  for (const std::int64_t by : {-1, 1}) {  // the plan is for `size`; there are more pods or fewer to begin with
    if (size + by < 1) continue;
    Scenario& sized = out.emplace_back(plain);
    sized.sources = {size + by};
    sized.target_size = size;
  }
}

}  // namespace

std::string Scenario::text() const {
  static constexpr const char* kNames[] = {"none",   "crash",    "stale read", "pause",        "hold",
                                           "resize", "retarget", "pod lost",   "hook refused", "delete"};
  return fmt::format(
      "{}{} {} batches {} u {}{}{}{}, {}", shape == Shape::Pair ? "pair " : "in place",
      shape == Shape::Pair ? json::enum_name(strategy) : "", fmt::join(sources, "+"), fmt::join(batches, ","), max_unavailable,
      target_size ? fmt::format(" to {}", *target_size) : "", has_traffic ? " with traffic" : "",
      on_failure == OnFailure::Revert || reverts_on_delete ? " reverting" : "", kNames[static_cast<std::size_t>(disturbance)]);
}

Exploration explore(const Scenario& scenario, Bug bug) { return Explorer(scenario, bug).run(); }

std::vector<Scenario> scenarios(std::int64_t max_size, std::int64_t max_batches, bool is_disturbed) {
  std::vector<Scenario> out;
  for (std::int64_t size = 1; size <= max_size; ++size) {
    std::vector<std::vector<std::int64_t>> plans;
    for (std::int64_t count = 1; count <= max_batches; ++count) {
      std::vector<std::int64_t> sum;
      add_sums(size, count, sum, plans);
    }
    for (const auto& plan : plans) {
      for (const auto& [shape, strategy] :
           {std::pair(Shape::Pair, Strategy::IncreaseFirst), std::pair(Shape::Pair, Strategy::DecreaseFirst),
            std::pair(Shape::InPlace, Strategy::IncreaseFirst)}) {
        for (std::int64_t unavailable = 0; unavailable <= 2; ++unavailable) {
          for (const bool has_traffic : {false, true}) {
            const bool shrinks_first = shape == Shape::InPlace || strategy == Strategy::DecreaseFirst;
            if (has_traffic && shrinks_first && size == 1) continue;  // refused
            const Scenario plain{.shape = shape,
                                 .strategy = strategy,
                                 .sources = {size},
                                 .batches = plan,
                                 .max_unavailable = unavailable,
                                 .has_traffic = has_traffic};
            is_disturbed ? add_disturbed(plain, out) : add_undisturbed(plain, out);
          }
        }
      }
    }
  }
  return out;
}

}  // namespace slipway::delivery::wave
