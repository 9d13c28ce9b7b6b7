#include "delivery/wave/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "delivery/wave/explore_checks.h"
#include "delivery/wave/small_world.h"

namespace slipway::delivery::wave {
namespace {

constexpr std::size_t kMaxViolations = 5;
constexpr std::size_t kMaxWay = 500;  // steps after which an end is not to be expected any more

struct Known {
  Fingerprint next{};  // by a fair schedule without faults
  std::int64_t steps_to_end = -1;
};

class Explorer {
 public:
  Explorer(const Scenario& scenario, Bug bug) : scenario_(scenario), bug_(bug) {}

  Exploration run() {
    reach(first_world(scenario_));
    while (!open_.empty() && found_.violations.size() < kMaxViolations) {
      const SmallWorld small = std::move(open_.back());
      open_.pop_back();
      expand(small);
    }
    found_.states = known_.size();
    if (found_.violations.empty()) follow_to_ends();
    return std::move(found_);
  }

 private:
  Fingerprint reach(SmallWorld next) {
    ++found_.transitions;
    const Fingerprint print = next.fingerprint();
    if (known_.try_emplace(print).second) open_.push_back(std::move(next));
    return print;
  }

  /// Faults are over, and everything is given its turn: the first of the natural moves, else a pass.
  void expand(const SmallWorld& small) {
    const Fingerprint print = small.fingerprint();
    std::optional<Fingerprint> fair;
    const auto reach_all = [&](std::vector<SmallWorld> all) {
      for (SmallWorld& next : all) {
        const Fingerprint reached = reach(std::move(next));
        if (!fair) fair = reached;
      }
    };
    SmallWorld calm = small;
    if (is_calmed(calm)) fair = reach(std::move(calm));
    reach_all(natural_moves(scenario_, small));
    reach_all(passes(small));
    reach_all(disturbances(scenario_, small));
    known_[print].next = *fair;
    if (*fair != print) return;
    known_[print].steps_to_end = 0;
    if (const std::string wrong = check_end(scenario_, small, last_waits_); !wrong.empty()) report(wrong, small);
  }

  void report(const std::string& what, const SmallWorld& small) {
    if (found_.violations.size() < kMaxViolations) {
      found_.violations.push_back(fmt::format("{}: {} | {}", scenario_.text(), what, text_of(small)));
    }
  }

  /// The pass from here as it goes well, first; then as it is cut off, where that may happen.
  std::vector<SmallWorld> passes(const SmallWorld& small) {
    Settings settings = settings_of(scenario_, small);
    World world = seen_world(scenario_, small);
    plant_before(bug_, small, settings, world);
    Decision decision = decide(settings, *small.memory, world);
    plant_after(bug_, small, decision);
    last_waits_ = decision.waits;
    if (const std::string wrong = check_pass(scenario_, small, decision); !wrong.empty()) report(wrong, small);
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
      const std::string wrong = check_effect(scenario_, before, next, effect);
      if (!wrong.empty()) report(fmt::format("{} by {}", wrong, text_of_effect(effect)), before);
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

  /// From every state, how far is it to the end?
  void follow_to_ends() {
    for (const auto& [print, known] : known_) {
      std::vector<Known*> way;
      Known* at = &known_[print];
      for (; at->steps_to_end < 0; at = &known_[at->next]) {
        way.push_back(at);
        if (way.size() > kMaxWay) return report("goes round for ever", first_world(scenario_));
      }
      std::int64_t steps = at->steps_to_end;
      for (; !way.empty(); way.pop_back()) way.back()->steps_to_end = ++steps;
      found_.longest_end = std::max(found_.longest_end, static_cast<std::uint64_t>(steps));
    }
  }

  const Scenario scenario_;
  const Bug bug_;
  Exploration found_;
  std::vector<SmallWorld> open_;
  std::map<Fingerprint, Known> known_;
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

/// What cannot happen to it: fields have no pods and no size; another template of what is scaled is no other target.
bool is_spared(Shape shape, Disturbance disturbance) {
  if (shape == Shape::Fields) return disturbance == Disturbance::PodLost || disturbance == Disturbance::Resize;
  return shape == Shape::Scale && disturbance == Disturbance::Retarget;
}

void add_disturbed(const Scenario& plain, std::vector<Scenario>& out) {
  const bool is_pair = plain.shape == Shape::Pair;
  for (const auto disturbance : {Disturbance::Crash, Disturbance::StaleRead, Disturbance::Pause, Disturbance::Hold,
                                 Disturbance::Retarget, Disturbance::PodLost, Disturbance::Resize}) {
    if (!is_spared(plain.shape, disturbance)) out.emplace_back(plain).disturbance = disturbance;
  }
  if (is_pair) {
    Scenario& put_back = out.emplace_back(plain);
    put_back.disturbance = Disturbance::Resize;
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
  static constexpr const char* kShapes[] = {"pair ", "in place", "replace", "scale", "fields"};
  return fmt::format(
      "{}{} {} batches {} u {}{}{}{}, {}", kShapes[static_cast<std::size_t>(shape)],
      shape == Shape::Pair ? json::enum_name(strategy) : "", fmt::join(sources, "+"), fmt::join(batches, ","), max_unavailable,
      target_size ? fmt::format(" to {}", *target_size) : "", has_traffic ? " with traffic" : "",
      on_failure == OnFailure::Revert || reverts_on_delete ? " reverting" : "", kNames[static_cast<std::size_t>(disturbance)]);
}

Exploration explore(const Scenario& scenario, Bug bug) { return Explorer(scenario, bug).run(); }

namespace {

void add_plan(const Scenario& plain, bool is_disturbed, std::vector<Scenario>& out) {
  is_disturbed ? add_disturbed(plain, out) : add_undisturbed(plain, out);
}

/// From `size` pods to none and back; the plan is the way.
void add_scales(Scenario plain, std::int64_t size, bool is_disturbed, std::vector<Scenario>& out) {
  plain.sources = {0};
  plain.target_size = size;
  add_plan(plain, is_disturbed, out);
  plain.sources = {size + 1};
  plain.target_size = 1;
  add_plan(plain, is_disturbed, out);
}

void add_shapes(std::int64_t size, const std::vector<std::int64_t>& plan, bool is_disturbed, std::vector<Scenario>& out) {
  constexpr std::pair<Shape, Strategy> kShapes[] = {
      {Shape::Pair, Strategy::IncreaseFirst},    {Shape::Pair, Strategy::DecreaseFirst},
      {Shape::InPlace, Strategy::IncreaseFirst}, {Shape::Replace, Strategy::IncreaseFirst},
      {Shape::Scale, Strategy::IncreaseFirst},   {Shape::Fields, Strategy::IncreaseFirst}};
  for (const auto& [shape, strategy] : kShapes) {
    Scenario plain{.shape = shape, .strategy = strategy, .sources = {size}, .batches = plan};
    for (plain.max_unavailable = 0; plain.max_unavailable <= 2; ++plain.max_unavailable) {
      plain.has_traffic = false;
      if (shape == Shape::Scale) {
        add_scales(plain, size, is_disturbed, out);
        continue;
      }
      add_plan(plain, is_disturbed, out);
      const bool shrinks_first = shape != Shape::Pair || strategy == Strategy::DecreaseFirst;
      if (shape == Shape::Fields || (shrinks_first && size == 1)) continue;  // refused
      plain.has_traffic = true;
      add_plan(plain, is_disturbed, out);
    }
  }
}

}  // namespace

std::vector<Scenario> scenarios(std::int64_t max_size, std::int64_t max_batches, bool is_disturbed) {
  std::vector<Scenario> out;
  for (std::int64_t size = 1; size <= max_size; ++size) {
    for (std::int64_t count = 1; count <= max_batches; ++count) {
      std::vector<std::vector<std::int64_t>> plans;
      std::vector<std::int64_t> sum;
      add_sums(size, count, sum, plans);
      for (const auto& plan : plans) add_shapes(size, plan, is_disturbed, out);
    }
  }
  return out;
}

}  // namespace slipway::delivery::wave
