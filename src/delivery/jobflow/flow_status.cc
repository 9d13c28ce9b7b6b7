#include <fmt/format.h>

#include "control/author_right.h"
#include "delivery/jobflow/flow.h"
#include "kube/names.h"

namespace slipway::delivery::jobflow {
namespace {

using graph::Phase;
using graph::StepIndex;

constexpr std::size_t kNamesInShort = 3;

bool holds(const Value& conditions, std::string_view type) {
  for (const Value& condition : conditions.items()) {
    if (condition["type"].as_string() == type) return condition["status"].as_string() == "True";
  }
  return false;
}

bool has(const Value& conditions, std::string_view type) {
  return std::ranges::any_of(conditions.items(), [&](const Value& one) { return one["type"].as_string() == type; });
}

/// A Job may have been judged more than once.
template <class T>
void drop_doubles(std::vector<T>& list) {
  std::ranges::sort(list);
  const auto doubles = std::ranges::unique(list);
  list.erase(doubles.begin(), doubles.end());
}

}  // namespace

bool Flow::is_summary_due(const Now& now, Duration summary_pause) const {
  return !is_large() || is_urgent_ || !last_summary_ || now.present(*last_summary_) + summary_pause <= now.time();
}

Actions Flow::take(const Now& clock, Duration summary_pause) {
  follow_clock(clock);
  const Time now = clock.time();
  for (std::uint32_t rank : missing_) {
    const StepIndex step = program_->graph().topological()[rank];
    actions_.create.push_back({step, records_[step].attempts});
  }
  actions_.sets = records_.changed_sets();
  if (is_changed_ && is_summary_due(clock, summary_pause)) {
    is_changed_ = is_urgent_ = false;
    last_summary_ = now;
    Value status = status_value();
    if (status != workflow_["status"]) actions_.status = std::move(status);
  }
  if (is_changed_) actions_.timer = clock.present(*last_summary_) + summary_pause;
  if (!is_finished_) {
    if (!timers_.empty()) actions_.timer = std::min(actions_.timer.value_or(timers_.begin()->first), timers_.begin()->first);
    if (const auto end = deadline()) actions_.timer = std::min(actions_.timer.value_or(*end), *end);
    if (actions_.timer) actions_.timer = std::max(*actions_.timer, now);
  }
  drop_doubles(actions_.remove);
  drop_doubles(actions_.discard);
  drop_doubles(actions_.release);
  return std::exchange(actions_, {});
}

/// A condition that is not there and would be False stays away.
void Flow::set_condition(std::string type, bool is_true, std::string reason, std::string message, Time now) {
  if (!is_true && !has(conditions_, type)) return;
  const kube::Condition condition{std::move(type), is_true ? "True" : "False", std::move(reason), std::move(message)};
  Value next = kube::set_condition(conditions_, condition, now, true);
  if (next != conditions_) is_changed_ = is_urgent_ = true;
  conditions_ = std::move(next);
}

bool Flow::has_right_again(Time now) {
  if (!holds(conditions_, control::kAuthorLacksRight)) return false;
  set_condition(std::string(control::kAuthorLacksRight), false, "RightReturned", "", now);
  return true;
}

void Flow::index(StepIndex step) {
  const std::uint32_t rank = program_->graph().rank(step);
  const Phase phase = records_[step].phase;
  active_.erase(rank);
  failures_.erase(rank);
  if (phase == Phase::Running || phase == Phase::Suspended) active_.insert(rank);
  if (phase == Phase::Failed) failures_.insert(rank);
}

Counts Flow::counts() const {
  Counts counts{.steps = static_cast<std::int64_t>(program_->size())};
  for (StepIndex step = 0; step < program_->size(); ++step) {
    switch (records_[step].phase) {
      case Phase::Blocked:
      case Phase::Ready:
        ++counts.blocked;
        break;
      case Phase::Running:
        ++counts.running;
        break;
      case Phase::Suspended:
        ++counts.suspended;
        break;
      case Phase::Succeeded:
        ++counts.succeeded;
        break;
      case Phase::Failed:
        ++counts.failed;
        break;
      case Phase::Skipped:
        ++counts.skipped;
        break;
      case Phase::Unreachable:
        ++counts.unreachable;
        break;
      case Phase::Cancelled:
        ++counts.cancelled;
        break;
    }
  }
  return counts;
}

std::string Flow::phase_word() const {
  for (const auto* type : {"Failed", "Complete", "Suspended"}) {
    if (holds(conditions_, type)) return type;
  }
  return start_time_ ? "Running" : "Pending";
}

std::string Flow::waits_for() const {
  if (is_finished_) return "";
  std::string text;
  std::size_t shown = 0;
  for (std::uint32_t rank : active_) {
    if (++shown > kNamesInShort) break;
    const StepIndex step = program_->graph().topological()[rank];
    if (!text.empty()) text += ", ";
    text += program_->name(step).substr(0, 60);
    if (records_[step].phase == Phase::Suspended) text += " (suspended)";
    if (records_[step].next_attempt_time) text += " (retry)";
  }
  if (active_.size() > kNamesInShort) text += fmt::format(" (+{})", active_.size() - kNamesInShort);
  return text.empty() && program_->spec().suspend ? "spec.suspend" : text;
}

Value Flow::status_value() {
  WorkflowStatus status;
  const Counts counted = counts();
  status.phase = phase_word();
  status.progress = fmt::format(
      "{}/{}", counted.succeeded + counted.failed + counted.skipped + counted.unreachable + counted.cancelled, counted.steps);
  status.waits_for = waits_for();
  status.observed_generation = kube::generation(workflow_);
  status.start_time = start_time_;
  status.completion_time = completion_time_;
  status.counts = counted;
  status.rerun = rerun_;
  status.step_sets = records_.sets();
  status.author = author_;
  if (is_large()) {
    for (std::uint32_t rank : active_) {
      if (status.frontier.size() >= kMaxListed) break;
      status.frontier.push_back(program_->name(program_->graph().topological()[rank]));
    }
    for (std::uint32_t rank : failures_) {
      if (status.failures.size() >= kMaxListed) break;
      const StepIndex step = program_->graph().topological()[rank];
      status.failures.push_back({program_->name(step), records_[step].reason, records_[step].message});
    }
    status.started = records_.started_bits();
  }
  Value value = json::encode(status);
  if (!conditions_.empty()) value = value.with("conditions", conditions_);
  if (!is_large()) {
    if (Value statuses = records_.inline_statuses(); !statuses.empty()) value = value.with("statuses", std::move(statuses));
  }
  return value;
}

std::optional<Value> waiting_status(const kube::Object& workflow, const std::string& reason, const std::string& message,
                                    Time now) {
  const Value& status = workflow["status"];
  const kube::Condition condition{std::string(control::kAuthorLacksRight), "True", reason, message.substr(0, 1000)};
  Value next = status.with("conditions", kube::set_condition(status["conditions"], condition, now, true));
  if (next == status) return std::nullopt;
  return next;
}

std::optional<Value> invalid_status(const kube::Object& workflow, const std::vector<Cause>& causes, Time now) {
  const Status story = kube::invalid(kWorkflowKind, kube::name(workflow), causes);
  const Value& status = workflow["status"];
  const kube::Condition condition{"Invalid", "True", "InvalidSpec", story.message.substr(0, 1000)};
  Value next = status.with("conditions", kube::set_condition(status["conditions"], condition, now, true));
  next = next.with("phase", "Invalid").with("observedGeneration", kube::generation(workflow));
  if (next == status) return std::nullopt;
  return next;
}

}  // namespace slipway::delivery::jobflow
