#include <fmt/format.h>

#include <algorithm>

#include "delivery/rollout/pass.h"

namespace slipway::delivery::rollout {
namespace {

using wave::Rolling;
using wave::Shape;

constexpr std::pair<Shape, std::string_view> kShapes[] = {{Shape::Pair, "Pair"},
                                                          {Shape::InPlace, "InPlace"},
                                                          {Shape::Replace, "Replace"},
                                                          {Shape::Scale, "Scale"},
                                                          {Shape::Fields, "Fields"}};

/// Waits that go by themselves as pods become ready; the others hold the rollout until something is done about them.
bool is_passing(const Wait& wait) {
  for (const char* beginning :
       {"pods of ", "fields of ", "status of ", "old pods", "writes", "weight", "cache", "drain", "instanceInterval"}) {
    if (wait.on.starts_with(beginning)) return true;
  }
  return false;
}

/// "gate smoke" is GateSmoke no one searches for: words become one CamelCase word only where they are one already.
std::string reason_of(const std::string& on) {
  const bool is_word = !on.empty() && on.front() >= 'A' && on.front() <= 'Z' && on.find_first_of(" /.") == std::string::npos;
  if (is_word) return on;
  if (on == "pause") return "Paused";
  if (on.starts_with("partition")) return "Partition";
  return on.starts_with("gate") ? "Gate" : "Waits";
}

void set_condition(std::vector<RolloutCondition>& conditions, RolloutCondition condition, Time now) {
  const auto at = std::ranges::find(conditions, condition.type, &RolloutCondition::type);
  condition.last_transition_time = std::chrono::floor<std::chrono::seconds>(now);
  if (at == conditions.end()) {
    conditions.push_back(std::move(condition));
    return;
  }
  if (at->status == condition.status) condition.last_transition_time = at->last_transition_time;
  *at = std::move(condition);
}

}  // namespace

std::string_view name_of(Shape shape) {
  const auto* at = std::ranges::find(kShapes, shape, &std::pair<Shape, std::string_view>::first);
  return at->second;
}

Shape shape_named(std::string_view name) {
  const auto* at = std::ranges::find(kShapes, name, &std::pair<Shape, std::string_view>::second);
  return at == std::end(kShapes) ? Shape::Pair : at->first;
}

std::vector<RolloutCondition> conditions_of(const RolloutStatus& status, Time now) {
  std::vector<RolloutCondition> made = status.conditions;
  const std::string current(wave::condition_type(status.position()));
  const auto holds = std::ranges::find_if_not(status.waits, is_passing);
  const Wait* first = status.waits.empty() ? nullptr : &status.waits.front();
  const std::string text = first != nullptr ? first->text : status.failure;
  const std::string state(status.rolling == Rolling::RollingInBatches ? json::enum_name(status.batch)
                                                                      : json::enum_name(status.rolling));
  // What the attempt has been through stays True; what it is in now says how it stands. DIVERGES: upstream's condition of a
  // rollout that looks for its target is RolloutFailed, which `kubectl wait` would take for its end.
  if (status.rolling != Rolling::Failed) {
    std::erase_if(made, [](const RolloutCondition& one) { return one.type == wave::kFailedCondition; });
  }
  if (status.rolling != Rolling::LocatingTarget) {
    set_condition(made, {.type = current, .status = "True", .last_transition_time = {}, .reason = state, .message = text}, now);
  }
  const bool is_held = holds != status.waits.end();
  const bool was_held = std::ranges::find(made, "Holding", &RolloutCondition::type) != made.end();
  if (is_held) {
    set_condition(made,
                  {.type = "Holding",
                   .status = "True",
                   .last_transition_time = {},
                   .reason = reason_of(holds->on),
                   .message = fmt::format("{}: {}", holds->on, holds->text)},
                  now);
  } else if (was_held) {
    set_condition(made, {.type = "Holding", .status = "False", .last_transition_time = {}, .reason = "GoesOn", .message = ""},
                  now);
  }
  const bool was_reverting = std::ranges::find(made, "RolloutReverting", &RolloutCondition::type) != made.end();
  if (status.is_reverting || was_reverting) {
    const bool is_busy = status.is_reverting && !status.position().is_end();
    const std::string reason = is_busy ? "Reverting" : status.is_reverting ? "Reverted" : "NewAttempt";
    set_condition(made,
                  {.type = "RolloutReverting",
                   .status = is_busy ? "True" : "False",
                   .last_transition_time = {},
                   .reason = reason,
                   .message = status.failure},
                  now);
  }
  return made;
}

RolloutStatus Pass::next_status(const wave::Decision& decision) const {
  const Time now = tools_.env.clock.now();
  RolloutStatus next = status_;
  static_cast<wave::Record&>(next) = decision.record;
  next.observed_generation = kube::generation(rollout_);
  const bool is_new_attempt = next.attempt != status_.attempt;
  // Another name for what is there already is rolled out without an attempt.
  const bool is_renamed = next.rolling == Rolling::Succeeded && next.target && next.target->id == target_->id &&
                          next.target_revision == memory_.target_revision.of(*target_);
  if (is_new_attempt || next.last_target_revision.empty() || (is_renamed && next.last_target_revision != wanted_.target_name)) {
    next.last_target_revision = wanted_.target_name;
    next.last_source_revision = wanted_.source_name;
  }
  next.selector = selector_text(*target_);
  next.waits.clear();
  for (const wave::Waiting& one : decision.waits) next.waits.push_back({.on = one.on, .text = one.text, .since = one.since});
  // Until what the author was refused is done, the missing right goes on being what holds it.
  if (memory_.lacks_right && !decision.effects.empty()) next.waits = status_.waits;
  if (is_new_attempt) {
    next.completed_revision.clear();
    next.conditions.clear();
    next.approvals.clear();
    next.skips_gates = false;
  }
  next.is_paused = std::ranges::any_of(decision.effects, [&](const wave::Effect& effect) {
    const gate::GateSpec* spec = effect.kind == wave::Effect::Kind::Ask ? plan_.find_gate(effect.key) : nullptr;
    return spec != nullptr && spec->approval;
  });
  add_snapshots(next, is_new_attempt);
  heed(next);
  next.conditions = conditions_of(next, now);
  next.open_gates.clear();
  for (const wave::GateRecord& gate : next.gates) {
    const auto open = memory_.open.find(gate.key);
    if (gate.state == "Asked" && open != memory_.open.end()) next.open_gates.push_back(open->second);
  }
  for (const gate::LogEntry& entry : memory_.verdicts) gate::append(next.verdicts, entry);
  note_attempt(next, now);
  note_traffic(next, decision);
  return next;
}

/// At the end nothing is left of it; until then it is known from before the first weight.
void Pass::note_traffic(RolloutStatus& next, const wave::Decision& decision) const {
  if (next.position().is_end() || decision.has_dropped_traffic) {
    next.held_traffic.reset();
  } else if (next.weight && traffic() != nullptr) {
    next.held_traffic = HeldTraffic{.traffic = *traffic(), .weight = *next.weight};
  }
}

void Pass::note_attempt(RolloutStatus& next, Time now) const {
  if (next.attempt == 0) return;
  const auto known = std::ranges::find(next.attempts, next.attempt, &AttemptRecord::attempt);
  AttemptRecord entry;
  entry.attempt = next.attempt;
  if (known != next.attempts.end()) entry = *known;
  if (!entry.began) entry.began = std::chrono::floor<std::chrono::seconds>(now);
  entry.target = next.last_target_revision;
  entry.revision = next.target_revision;
  if (next.position().is_end() && entry.outcome.empty()) {
    entry.ended = std::chrono::floor<std::chrono::seconds>(now);
    entry.outcome = json::enum_name(next.rolling);
    entry.text = next.failure;
  }
  for (AttemptRecord& earlier : next.attempts) {
    if (earlier.attempt == next.attempt || !earlier.outcome.empty()) continue;
    earlier.ended = entry.began;
    earlier.outcome = json::enum_name(Rolling::Abandoning);
    earlier.text = fmt::format("{} is rolled out in its place", entry.target);
  }
  set_attempt(next.attempts, std::move(entry));
}

/// A workload is remembered as it was before the attempt's first write. What an attempt that did not succeed has left is no
/// state to go back to: the older snapshot stays.
void Pass::add_snapshots(RolloutStatus& next, bool is_new_attempt) const {
  if (is_new_attempt && status_.rolling == Rolling::Succeeded) next.snapshots.clear();
  const auto is_recorded = [&](const Snapshot& one) {
    const bool is_source = std::ranges::find(next.sources, one.id, &wave::SetRecord::id) != next.sources.end();
    return is_source || (next.target && next.target->id == one.id);
  };
  std::erase_if(next.snapshots, [&](const Snapshot& one) { return !is_recorded(one); });
  const auto add = [&](const Workload& workload) {
    const auto known = std::ranges::find(next.snapshots, workload.id, &Snapshot::id);
    if (known != next.snapshots.end()) {
      if (is_new_attempt) known->new_label = new_pods_label(workload);
      return;
    }
    Snapshot made = snapshot_of(workload);
    made.new_label = new_pods_label(workload);
    made.old_label = old_pods_label(workload);
    if (is_recorded(made)) next.snapshots.push_back(std::move(made));
  };
  if (next.position().is_end()) return;
  for (const Workload& source : sources_) add(source);
  if (!target_->object.is_null()) add(*target_);
}

/// Requests are carried out once.
void Pass::heed(RolloutStatus& next) const {
  next.heeded.abort = kube::annotation(rollout_, kAbortRequest);
  next.heeded.revert = kube::annotation(rollout_, kRevertRequest);
  next.heeded.retry = kube::annotation(rollout_, kRetryRequest);
  next.heeded.yield = kube::annotation(rollout_, kYieldRequest);
  if (asks(kSkipGatesRequest, status_.heeded.skip_gates)) next.skips_gates = true;
  next.heeded.skip_gates = kube::annotation(rollout_, kSkipGatesRequest);
}

}  // namespace slipway::delivery::rollout
