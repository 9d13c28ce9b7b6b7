// What must hold of every rollout, whatever happens to it: targets that join, leave, are proposed, fall ill, people who approve
// by hand, pause, go on after a stop or publish a newer upstream, and crashes between the record, the effects and each other.
//   - After every approval no more targets are approved than the step allows, those approved by hand included.
//   - Nothing is approved after a stop was recorded, until a greater attempt was asked for.
//   - What is approved is among the first of the order.
//   - With faults over, it comes to its end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "delivery/package/rollout_plan.h"

namespace slipway::delivery::package {
namespace {

using Kind = RolloutEffect::Kind;
using Phase = RolloutPhase;

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::uint64_t roll(std::uint64_t below) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % below;
  }
  bool once_in(std::uint64_t count) { return roll(count) == 0; }

 private:
  std::uint64_t state_;
};

class Life {
 public:
  explicit Life(std::uint64_t seed) : dice_(seed) {
    spec_.upstream = {.repo = "bp", .package = "a", .revision = 2};
    for (const std::int64_t percent : {1, 5, 25, 60}) {
      if (dice_.once_in(3)) continue;
      spec_.steps.push_back({.percent = percent, .soak = std::chrono::minutes{dice_.roll(20)}});
      if (dice_.once_in(2)) spec_.steps.back().gates = {{.name = "errors", .metric = gate::MetricGate{.query = "q"}}};
    }
    if (dice_.once_in(3)) spec_.max_failures = json::Value(static_cast<std::int64_t>(dice_.roll(3)));
    if (dice_.once_in(2)) spec_.on_failure = OnRolloutFailure::BackOut;
    const std::uint64_t count = 1 + dice_.roll(60);
    for (std::uint64_t i = 0; i < count; ++i) join();
  }

  /// What went wrong; empty: nothing.
  std::string run(int steps) {
    for (int i = 0; i < steps && fault_.empty(); ++i) {
      minute_ += 1 + static_cast<int>(dice_.roll(5));
      disturb();
      pass(dice_.once_in(8));
    }
    if (!fault_.empty()) return fault_;
    return settle();
  }

 private:
  void join() {
    const std::string id = fmt::format("edge-{}/a", next_++);
    world_.targets.push_back({.id = id, .revision = id, .state = TargetState::Waiting});
  }
  TargetView& any() { return world_.targets[dice_.roll(world_.targets.size())]; }

  void disturb() {
    complete(2);
    for (TargetView& one : world_.targets) {
      if (one.state == TargetState::Waiting && !one.is_approved() && dice_.once_in(3) && !is_over())
        one.state = TargetState::Proposed;
      if (one.state == TargetState::Approved && dice_.once_in(2)) one.state = TargetState::Synced;
      if (one.state == TargetState::Synced && dice_.once_in(2)) one.state = TargetState::Healthy;
      if (one.back_out == BackOutState::Waiting && dice_.once_in(3)) one.back_out = BackOutState::Proposed;
    }
    if (dice_.once_in(40)) any().state = any().is_approved() ? TargetState::Failed : any().state;
    if (dice_.once_in(15)) join();
    if (dice_.once_in(60) && world_.targets.size() > 1) {
      world_.targets.erase(world_.targets.begin() + static_cast<std::ptrdiff_t>(dice_.roll(world_.targets.size())));
    }
    if (TargetView& one = any(); dice_.once_in(80) && one.state == TargetState::Proposed) {
      one.state = TargetState::Approved;  // by hand
    }
    if (TargetView& one = any(); dice_.once_in(30) && one.state == TargetState::Proposed && !pending_.contains(one.id)) {
      one.state = TargetState::Waiting;  // rejected
    }
    if (dice_.once_in(50)) spec_.is_paused = !spec_.is_paused;
    if (dice_.once_in(40)) ++spec_.attempt;
    if (dice_.once_in(250)) world_.newest_upstream = 3;
  }
  /// Approvals that the server has accepted become visible, one in so many of them.
  void complete(std::uint64_t one_in) {
    for (TargetView& one : world_.targets) {
      if (!pending_.contains(one.id) || !dice_.once_in(one_in)) continue;
      pending_.erase(one.id);
      if (!one.is_approved()) one.state = TargetState::Approved;
    }
  }
  bool is_over() const { return durable_.phase == Phase::Superseded || has_later(); }
  /// It was completed before the newer upstream revision: it stays so, and approves nothing more.
  bool has_later() const { return durable_.phase == Phase::Completed && world_.newest_upstream > durable_.revision; }

  void answer(const std::string& key) {
    using Verdict = gate::Verdict::Kind;
    const std::uint64_t how = dice_.roll(20);
    const Verdict kind = how == 0 ? Verdict::Fail : how == 1 ? Verdict::NoData : how < 8 ? Verdict::Wait : Verdict::Pass;
    world_.answers[key] = {.kind = kind};
  }

  void pass(bool crashes) {
    world_.now = Now(Time(std::chrono::hours{500'000}) + std::chrono::minutes{minute_});
    const RolloutDecision decision = decide(spec_, memory_, world_);
    judge(decision);
    memory_ = decision.record;
    if (crashes && dice_.once_in(2)) {
      memory_ = durable_;  // before the record was written
      return;
    }
    if (decision.is_urgent) durable_ = decision.record;
    // A crash between two effects carries out some of them.
    const std::size_t most = crashes ? dice_.roll(decision.effects.size() + 1) : decision.effects.size();
    for (std::size_t i = 0; i < most; ++i) carry_out(decision, decision.effects[i]);
    if (crashes) memory_ = durable_;
  }

  void judge(const RolloutDecision& decision) {
    const bool was_stopped =
        durable_.phase != Phase::Progressing && durable_.phase != Phase::Completed && durable_.attempt != 0;
    const bool is_same = spec_.attempt <= durable_.attempt && spec_.upstream.revision == durable_.revision;
    for (const RolloutEffect& one : decision.effects) {
      if (one.kind == Kind::Approve && was_stopped && is_same) fault_ = "approved after a stop";
      if (one.kind == Kind::Approve && has_later() && is_same) fault_ = "approved though a newer revision is there";
    }
    const bool is_stopping = decision.record.phase != Phase::Progressing && decision.record.phase != Phase::Completed;
    const bool approves = std::ranges::any_of(decision.effects, [](const auto& one) { return one.kind == Kind::Approve; });
    if (is_stopping && approves) fault_ = "approved while it stopped";
    if (decision.record.phase == durable_.phase && decision.record.attempt == durable_.attempt &&
        decision.record.step < durable_.step) {
      fault_ = "went back a step";
    }
  }

  void carry_out(const RolloutDecision& decision, const RolloutEffect& effect) {
    if (effect.kind == Kind::Ask) return answer(effect.target);
    const auto at = std::ranges::find(world_.targets, effect.target, &TargetView::id);
    if (at == world_.targets.end()) return;
    if (effect.kind == Kind::ReturnToDraft && !pending_.contains(at->id)) at->state = TargetState::Waiting;
    if (effect.kind == Kind::BackOut && at->back_out == BackOutState::None) at->back_out = BackOutState::Waiting;
    if (effect.kind == Kind::ApproveBackOut) at->back_out = BackOutState::Done;
    if (effect.kind != Kind::Approve || at->is_approved() || pending_.contains(at->id)) return;
    if (dice_.once_in(10)) return;  // refused: a gate has opened meanwhile
    // Accepted: it is in the server's log, and will be published whatever happens.
    if (dice_.once_in(2)) {
      pending_.insert(at->id);
    } else {
      at->state = TargetState::Approved;
    }
    check_bound(decision, effect.target);
  }

  void check_bound(const RolloutDecision& decision, const std::string& id) {
    const auto steps = steps_of(spec_);
    const auto order = cohort_order(spec_, world_.targets);
    const auto limit =
        allowed(steps[static_cast<std::size_t>(decision.record.step)].percent, static_cast<std::int64_t>(order.size()));
    const auto approved = std::ranges::count_if(
        world_.targets, [&](const TargetView& one) { return one.is_approved() || pending_.contains(one.id); });
    if (approved > limit) fault_ = fmt::format("{} of {} approved, {} allowed", approved, order.size(), limit);
    const auto place = std::ranges::find(order, id) - order.begin();
    if (place >= limit) fault_ = fmt::format("{} is number {}, {} are allowed", id, place, limit);
  }

  /// No more faults: everybody is proposed and well, gates pass, a person goes on.
  std::string settle() {
    spec_.is_paused = false;
    for (int i = 0; i < 400; ++i) {
      minute_ += 30;
      complete(1);
      if (durable_.phase == Phase::Stopped) ++spec_.attempt;
      for (TargetView& one : world_.targets) {
        if (one.state == TargetState::Waiting && durable_.phase != Phase::Superseded) one.state = TargetState::Proposed;
        if (one.is_approved()) one.state = TargetState::Healthy;
        if (one.back_out == BackOutState::Waiting) one.back_out = BackOutState::Proposed;
      }
      for (auto& [key, verdict] : world_.answers) verdict.kind = gate::Verdict::Kind::Pass;
      pass(false);
      if (!fault_.empty()) return fault_;
      const bool is_all = std::ranges::all_of(world_.targets, [](const TargetView& one) { return one.is_approved(); });
      if (durable_.phase == Phase::Completed && is_all) return "";
      if (has_later()) return "";
      const bool has_gone_back =
          std::ranges::none_of(world_.targets, [](const TargetView& one) { return one.state == TargetState::Proposed; });
      if (durable_.phase == Phase::Superseded && has_gone_back) return "";
      if (durable_.phase == Phase::BackedOut) return "";
    }
    return fmt::format("never ends: {} at step {}", json::enum_name(durable_.phase), durable_.step);
  }

  Dice dice_;
  PackageRolloutSpec spec_{};
  RolloutWorld world_{};
  RolloutRecord memory_{};
  RolloutRecord durable_{};
  std::set<std::string> pending_{};
  int minute_ = 0;
  int next_ = 0;
  std::string fault_{};
};

TEST(PackageRolloutProperty, the_bound_holds_in_every_life) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ASSERT_EQ(Life(seed).run(120), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace slipway::delivery::package
