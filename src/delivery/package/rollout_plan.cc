#include "delivery/package/rollout_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/lookup.h"
#include "base/text.h"
#include "delivery/wave/batches.h"

namespace slipway::delivery::package {
namespace {

using EffectKind = RolloutEffect::Kind;
using Phase = RolloutPhase;

constexpr std::size_t kMostShown = 5;

/// One pass over a record.
class Pass {
 public:
  Pass(const PackageRolloutSpec& spec, const RolloutRecord& record, const RolloutWorld& world)
      : spec_(spec), world_(world), steps_(steps_of(spec)), order_(cohort_order(spec, world.targets)) {
    out_.record = record;
    for (const TargetView& one : world.targets) targets_.emplace(one.id, &one);
    for (std::size_t i = 0; i < order_.size(); ++i) places_.emplace(order_[i], i);
    flying_.insert(record.in_flight.begin(), record.in_flight.end());
    known_.insert(record.order.begin(), record.order.end());
  }

  RolloutDecision run() {
    begin();
    if (is_superseded())
      end(Phase::Superseded, "NewerRevision", fmt::format("revision {} is published upstream", world_.newest_upstream));
    const bool is_lost = !world_.no_upstream.empty() && record().phase == Phase::Progressing;
    if (is_lost) out_.waits.push_back(world_.no_upstream);
    switch (record().phase) {
      case Phase::Progressing:
      case Phase::Completed:
        progress();
        break;
      case Phase::Superseded:
        withdraw();
        break;
      case Phase::BackingOut:
        back_out();
        break;
      case Phase::BackedOut:
        break;  // for good: targets that are lost to sight and come back are not touched again
      case Phase::Stopped:
        out_.waits.push_back(fmt::format("stopped: {}; a greater spec.attempt goes on", record().message));
        break;
    }
    return std::move(out_);
  }

 private:
  RolloutRecord& record() { return out_.record; }
  const RolloutStep& step() { return steps_[static_cast<std::size_t>(record().step)]; }
  Time now() const { return world_.now.time(); }

  void begin() {
    const bool is_new = record().attempt == 0 || record().revision != spec_.upstream.revision;
    if (is_new) {
      record() = {.attempt = spec_.attempt, .revision = spec_.upstream.revision, .step_since = now()};
      flying_.clear();
      known_.clear();
      out_.is_urgent = true;
    }
    if (spec_.attempt > record().attempt) {
      record().attempt = spec_.attempt;
      out_.is_urgent = true;
      if (record().phase == Phase::Stopped) {
        record().phase = Phase::Progressing;
        record().reason = record().message = "";
        begin_step(record().step);
      }
    }
    record().step = std::clamp<std::int64_t>(record().step, 0, static_cast<std::int64_t>(steps_.size()) - 1);
  }

  void begin_step(std::int64_t number) {
    record().step = number;
    record().step_since = now();
    record().healthy_since.reset();
    record().passed.clear();
  }

  bool is_outdated() { return world_.newest_upstream > record().revision; }

  bool is_superseded() {
    // A way back is gone to its end before. What was completed stays so: nothing of it was cut short.
    const bool may_be =
        record().phase == Phase::Progressing || record().phase == Phase::Stopped || record().phase == Phase::BackedOut;
    return may_be && is_outdated();
  }

  /// No approval is decided from here on. What is in flight may still happen, and counts when a person goes on.
  void end(Phase phase, std::string_view reason, std::string message) {
    record().phase = phase;
    record().reason = reason;
    record().message = std::move(message);
    record().healthy_since.reset();
    out_.is_urgent = true;
  }

  /// False, for the caller to return.
  bool fail(std::string_view reason, std::string message) {
    const bool goes_back = spec_.on_failure == OnRolloutFailure::BackOut;
    end(goes_back ? Phase::BackingOut : Phase::Stopped, reason, std::move(message));
    if (goes_back) {
      back_out();
    } else {
      out_.waits.push_back(fmt::format("stopped: {}; a greater spec.attempt goes on", record().message));
    }
    return false;
  }

  void progress() {
    forget_seen();
    const bool is_over = record().phase == Phase::Completed;  // what joins late is approved; what fails now is another story
    if (is_over && is_outdated()) {
      out_.waits.push_back(
          fmt::format("revision {} is published upstream: what joins late is not approved any more", world_.newest_upstream));
      return;
    }
    if (!is_over && !may_go_on()) return;
    if (spec_.is_paused) {
      out_.waits.emplace_back("paused");
      return;
    }
    if (is_over) return approve();
    ask_throughout();
    if (!have_passed("before")) return;
    approve();
    if (is_step_healthy()) finish_step();
  }

  bool may_go_on() {
    if (const std::string trouble = too_many_failures(); !trouble.empty()) return fail("TooManyFailures", trouble);
    if (const std::string trouble = failed_gate(); !trouble.empty()) return fail("GateFailed", trouble);
    if (is_late()) return fail("StepDeadline", fmt::format("step {} was not over in time", record().step + 1));
    return true;
  }

  /// Approvals that are seen, and targets that left or went back, are no more in flight. A proposal may still become published:
  /// its approval stands in the log.
  void forget_seen() {
    std::erase_if(record().in_flight, [&](const std::string& id) {
      const bool is_open = places_.contains(id) && target(id).state == TargetState::Proposed;
      if (!is_open) flying_.erase(id);
      return !is_open;
    });
  }

  const TargetView& target(const std::string& id) const {
    static const TargetView kGone{};
    const auto found = targets_.find(id);
    return found == targets_.end() ? kGone : *found->second;
  }

  std::int64_t seen_approved() const {
    return std::ranges::count_if(order_, [&](const std::string& id) { return target(id).is_approved(); });
  }

  std::string too_many_failures() {
    std::vector<std::string> failed;
    for (const std::string& id : order_) {
      const TargetView& one = target(id);
      if (one.state == TargetState::Failed) failed.push_back(one.text.empty() ? id : fmt::format("{} ({})", id, one.text));
    }
    const auto& limit = step().max_failures ? step().max_failures : spec_.max_failures;
    const auto amount = wave::parse_amount(limit.value_or(json::Value(0)), "spec.maxFailures");
    const std::int64_t forgiven = amount ? wave::rounded_down(*amount, seen_approved()) : 0;
    if (static_cast<std::int64_t>(failed.size()) <= forgiven) return "";
    return fmt::format("{} failed, {} forgiven: {}", failed.size(), forgiven, some_of(failed));
  }

  std::string failed_gate() {
    for (const gate::GateSpec& gate : step().gates) {
      const auto answer = world_.answers.find(key_of(gate));
      if (answer == world_.answers.end()) continue;
      const bool is_no_data = answer->second.kind == gate::Verdict::Kind::NoData && gate.at != "throughout";
      if (answer->second.kind == gate::Verdict::Kind::Fail || is_no_data) {
        return fmt::format("{}: {}{}", gate.name, is_no_data ? "no data: " : "", answer->second.text);
      }
    }
    return "";
  }

  bool is_late() {
    if (!spec_.step_deadline_seconds || !record().step_since) return false;
    const Time due = world_.now.present(*record().step_since) + seconds_saturating(*spec_.step_deadline_seconds);
    wake_at(due);
    return now() >= due;
  }

  void wake_at(Time time) { out_.wake = out_.wake ? std::min(*out_.wake, time) : time; }

  void ask_throughout() {
    for (const gate::GateSpec& gate : step().gates) {
      if (gate.at == "throughout") out_.effects.push_back({.kind = EffectKind::Ask, .target = key_of(gate)});
    }
  }

  std::string key_of(const gate::GateSpec& gate) { return gate_key(record().attempt, record().step, gate.name); }

  /// Asks the gates of a moment in order, the next one when the one before has passed.
  bool have_passed(std::string_view moment) {
    for (const gate::GateSpec& gate : step().gates) {
      if (gate.at != moment || std::ranges::find(record().passed, gate.name) != record().passed.end()) continue;
      const auto answer = world_.answers.find(key_of(gate));
      if (answer == world_.answers.end() || answer->second.kind != gate::Verdict::Kind::Pass) {
        out_.effects.push_back({.kind = EffectKind::Ask, .target = key_of(gate)});
        out_.waits.push_back(
            fmt::format("gate {}{}", gate.name, answer == world_.answers.end() ? "" : ": " + answer->second.text));
        return false;
      }
      record().passed.push_back(gate.name);
      out_.is_urgent = true;
    }
    return true;
  }

  void approve() {
    const std::span<const std::string> cohort = allowed_part(record().step);
    const std::int64_t budget_now = budget();
    // Decided before and not seen: once more, in case the effect was lost. Which of them were not is not known: when targets
    // have left, so that all of them would be too many, none is tried again before more is allowed.
    for (const std::string& id : record().in_flight) {
      const bool is_allowed = budget_now >= 0 && value_at(places_, id) < cohort.size();
      if (is_allowed) out_.effects.push_back({.kind = EffectKind::Approve, .target = id, .revision = target(id).revision});
    }
    std::int64_t left = budget_now;
    std::vector<std::string> waiting;
    std::vector<std::string> held;
    for (const std::string& id : cohort) {
      const TargetView& one = target(id);
      if (one.is_approved() || flying_.contains(id)) continue;
      if (one.state == TargetState::Waiting) {
        waiting.push_back(named(one));
      } else if (one.state == TargetState::Held) {
        held.push_back(named(one));
      } else if (left > 0) {
        --left;
        approve(one);
      } else {
        out_.waits.push_back(
            fmt::format("{} waits for the next step: {} of {} may be approved and are", id, cohort.size(), order_.size()));
      }
    }
    if (!waiting.empty()) out_.waits.push_back(fmt::format("{} not proposed: {}", waiting.size(), some_of(waiting)));
    if (!held.empty()) out_.waits.push_back(fmt::format("{} held by policies: {}", held.size(), some_of(held)));
  }

  /// How many more may be approved; below 0 when targets have left and too many are.
  std::int64_t budget() {
    const auto limit = static_cast<std::int64_t>(allowed_part(record().step).size());
    return limit - seen_approved() - static_cast<std::int64_t>(record().in_flight.size());
  }

  void approve(const TargetView& one) {
    record().in_flight.push_back(one.id);
    flying_.insert(one.id);
    if (known_.insert(one.id).second) record().order.push_back(one.id);
    out_.effects.push_back({.kind = EffectKind::Approve, .target = one.id, .revision = one.revision});
    out_.is_urgent = true;
  }

  /// The targets that a step may approve; none before the first.
  std::span<const std::string> allowed_part(std::int64_t step) const {
    if (step < 0) return {};
    const auto count = allowed(steps_[static_cast<std::size_t>(step)].percent, static_cast<std::int64_t>(order_.size()));
    return std::span(order_).first(static_cast<std::size_t>(count));
  }

  /// A step that could approve nothing of its own part has shown nothing: it is not over.
  bool has_shown_something() {
    const auto part = allowed_part(record().step);
    if (seen_approved() >= static_cast<std::int64_t>(part.size())) return true;  // a late joiner's place may be taken
    const auto own = part.subspan(std::min(allowed_part(record().step - 1).size(), part.size()));
    return own.empty() || std::ranges::any_of(own, [&](const std::string& id) { return target(id).is_approved(); });
  }

  /// All that is approved is well, and something is.
  bool is_step_healthy() {
    std::vector<std::string> open;
    std::int64_t healthy = 0;
    for (const std::string& id : order_) {
      const TargetView& one = target(id);
      healthy += one.state == TargetState::Healthy ? 1 : 0;
      if (one.state == TargetState::Approved || one.state == TargetState::Synced) open.push_back(named(one));
    }
    if (!open.empty()) out_.waits.push_back(fmt::format("{} not healthy yet: {}", open.size(), some_of(open)));
    const auto cohort = allowed_part(record().step);
    const bool is_flying =
        budget() >= 0 && std::ranges::any_of(cohort, [&](const std::string& id) { return flying_.contains(id); });
    const bool is_well = open.empty() && !is_flying && healthy > 0 && has_shown_something();
    if (is_well && !record().healthy_since) record().healthy_since = now();
    if (!is_well) record().healthy_since.reset();
    return is_well;
  }

  void finish_step() {
    const Time due = world_.now.present(*record().healthy_since) + step().soak;
    if (now() < due) {
      out_.waits.push_back(fmt::format("soak of step {}", record().step + 1));
      return wake_at(due);
    }
    if (!have_passed("after")) return;
    const bool is_last = record().step + 1 == static_cast<std::int64_t>(steps_.size());
    if (!is_last) {
      begin_step(record().step + 1);
      out_.is_urgent = true;
      out_.wake = now();
      return;
    }
    const bool is_all = std::ranges::all_of(order_, [&](const std::string& id) { return target(id).is_approved(); });
    if (!is_all) return;
    record().phase = Phase::Completed;
    out_.is_urgent = true;
  }

  /// Proposals of a revision that is not rolled out any more.
  void withdraw() {
    for (const std::string& id : order_) {
      const TargetView& one = target(id);
      const bool is_proposal = one.state == TargetState::Proposed || one.state == TargetState::Held;
      if (!is_proposal) continue;
      out_.effects.push_back({.kind = EffectKind::ReturnToDraft, .target = id, .revision = one.revision});
    }
  }

  /// What was approved, the last one first; approved by others before all that this rollout has approved.
  std::vector<std::string> backwards() {
    std::vector<std::string> ids;
    for (const std::string& id : order_) {
      if (target(id).is_approved() && !known_.contains(id)) ids.push_back(id);
    }
    for (auto id = record().order.rbegin(); id != record().order.rend(); ++id) {
      const auto found = targets_.find(*id);
      if (found != targets_.end() && found->second->is_approved()) ids.push_back(*id);
    }
    return ids;
  }

  void back_out() {
    // A repository that is not registered for a while takes its targets along: nothing is known of them until they are back.
    const bool is_blind = targets_.empty() && !record().order.empty();
    if (is_blind) out_.waits.emplace_back("none of the targets to be taken back is there");
    bool is_done = !is_blind;
    for (const std::string& id : backwards()) {
      const TargetView& one = target(id);
      is_done = is_done && one.back_out == BackOutState::Done;
      if (one.back_out == BackOutState::None) {
        out_.effects.push_back({.kind = EffectKind::BackOut, .target = id, .revision = one.revision});
      } else if (one.back_out == BackOutState::Proposed) {
        out_.effects.push_back({.kind = EffectKind::ApproveBackOut, .target = id, .revision = one.revision});
      } else if (one.back_out == BackOutState::Waiting) {
        out_.waits.push_back(fmt::format("the way back of {} is not proposed", id));
      }
    }
    const Phase phase = is_done ? Phase::BackedOut : Phase::BackingOut;
    out_.is_urgent = out_.is_urgent || phase != record().phase;
    record().phase = phase;
  }

  /// "edge/basens (no cluster reports it)"
  static std::string named(const TargetView& one) {
    return one.text.empty() ? one.id : fmt::format("{} ({})", one.id, one.text);
  }

  static std::string some_of(std::vector<std::string> ids) {
    const std::size_t more = ids.size() > kMostShown ? ids.size() - kMostShown : 0;
    ids.resize(ids.size() - more);
    return joined(ids, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
  }

  const PackageRolloutSpec& spec_;
  const RolloutWorld& world_;
  std::vector<RolloutStep> steps_;
  std::vector<std::string> order_;
  std::map<std::string, const TargetView*> targets_;  // excluded ones too
  std::map<std::string, std::size_t> places_;         // in order_
  std::set<std::string> flying_;                      // of record().in_flight
  std::set<std::string> known_;                       // of record().order
  RolloutDecision out_{};
};

}  // namespace

RolloutDecision decide(const PackageRolloutSpec& spec, const RolloutRecord& record, const RolloutWorld& world) {
  return Pass(spec, record, world).run();
}

}  // namespace slipway::delivery::package
