#include "delivery/workflow/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/digest.h"
#include "delivery/workflow/pass.h"
#include "delivery/workflow/variable_path.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

/// Of a finished step's value.
constexpr std::size_t kMaxKeptBytes = 16'384;

bool is_group(const Step& step) { return step.type == kStepGroup; }

constexpr const char* kResumesAt = "resumeTimeStamp";
constexpr const char* kSuspendedSince = "suspendedSince";
constexpr const char* kKeptValue = "value";
constexpr const char* kBegunAfterEnd = "afterEnd";

/// Whether the step broke off the run: it succeeded, and nothing that needs it to go on runs.
bool breaks_run(const SubStepStatus& step) { return step.phase == kSucceeded && step.reason == kReasonTerminate; }

/// What a step needed while it ran; its value stays.
void erase_notes(RunStore& store, const SubStepStatus& step) {
  const std::string prefix = step.id + ".";
  for (auto at = store.notes.lower_bound(prefix); at != store.notes.end() && at->first.starts_with(prefix);) {
    if (at->first == note(step, kKeptValue)) {
      ++at;
      continue;
    }
    store.secret_notes.erase(at->first);
    at = store.notes.erase(at);
    store.has_changed = true;
  }
}

/// Of a run whose steps and step index are up to date.
std::string phase_of(const RunStatus& status, std::size_t step_count) {
  bool has_failed = false;
  bool is_terminated_by_hand = false;
  bool has_other_failure = false;
  for (const StepStatus& step : status.steps) {
    // What was suspended beside a Break was ended by it, not by a user.
    has_other_failure = has_other_failure || breaks_run(step) || std::ranges::any_of(step.sub_steps, breaks_run);
    if (step.phase != kFailed || !is_finished(step)) continue;
    has_failed = true;
    (step.reason == kReasonTerminate ? is_terminated_by_hand : has_other_failure) = true;
  }
  if (status.is_suspended) return kSuspending;
  if (static_cast<std::size_t>(status.step_index) < step_count) return kExecuting;
  if (!has_failed && !status.is_terminated) return kSucceeded;
  // Without a step that failed, only a user can have ended it.
  return (is_terminated_by_hand || !has_failed) && !has_other_failure ? kTerminated : kFailed;
}

std::optional<Duration> sooner(std::optional<Duration> a, std::optional<Duration> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

Task<Pass> run_pass(const Run& run, RunStatus status, RunStore store) {
  PassRun pass(run, std::move(status), std::move(store));
  co_return co_await pass.go();
}

Duration backoff_after(std::int64_t n, Duration cap) {
  const double seconds = std::floor(0.05 * std::pow(2.0, static_cast<double>(std::clamp<std::int64_t>(n, 1, 40) - 1)));
  return std::min<Duration>(std::chrono::seconds{std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds))}, cap);
}

PassRun::PassRun(const Run& run, RunStatus status, RunStore store)
    : run_(run),
      index_(run.steps),
      env_(run.setting.env),
      status_(std::move(status)),
      store_(std::move(store)),
      slots_(std::make_shared<Slots>(env_, std::max<std::size_t>(1, run.options.parallel_steps))) {}

Task<Pass> PassRun::go() {
  bool has_ended_suspended = false;
  if (!status_.is_finished) {
    begin();
    terminate_if_asked();
    if (status_.is_suspended) wake_due_steps();
    was_suspended_ = status_.is_suspended;
    is_rendered_ = has_pre_render_ended();
    co_await run_list(run_.steps.steps, run_.steps.mode, nullptr);
    has_ended_suspended = end_suspended_steps();
    conclude();
  }
  std::optional<Duration> again = status_.is_finished ? std::nullopt : delay();
  if (again && has_ended_suspended) again = std::chrono::milliseconds{1};
  // What these steps have changed is read before the others begin.
  if (again && !is_rendered_ && has_pre_render_ended()) again = std::chrono::milliseconds{1};
  co_return Pass{.status = std::move(status_),
                 .store = std::move(store_),
                 .again = again,
                 .watched = std::move(watched_),
                 .debug = std::move(debug_)};
}

void PassRun::begin() {
  if (!status_.start_time) status_.start_time = env_.clock.now();
  status_.mode = fmt::format("{}-{}", to_string(run_.steps.mode), to_string(run_.steps.sub_mode));
  for (const StepStatus& step : status_.steps) {
    by_name_[step.name] = step;
    for (const SubStepStatus& sub : step.sub_steps) by_name_[sub.name] = sub;
  }
  // Not when the step finishes: should the status of that pass be lost, the step is made again, with what it knew.
  for (const auto& [name, step] : by_name_) {
    if (is_finished(step)) erase_notes(store_, step);
  }
  // Clearing `suspend` resumes the run. A run that was suspended by failures tries them again.
  if (status_.is_suspended) return;
  const bool tries_again = status_.suspend_state == kSuspendedByFailure;
  for (auto& [name, step] : by_name_) {
    if (step.phase != kSuspending && !(tries_again && awaits_decision(step))) continue;
    step.phase = kRunning;
    step.reason.clear();
    step.failures = 0;
  }
}

/// A step that ended the run by itself, or was ended by a user.
bool PassRun::ends_run(const SubStepStatus& step) const {
  if (step.reason == kReasonTerminate) return true;
  if (step.phase != kFailed || !is_finished(step)) return false;
  return step.reason != kReasonFailedAfterRetries || !run_.options.suspends_on_failure;
}

/// A user has ended the run, or a step has broken it off or failed it: from then on only steps begin whose `if` says so.
bool PassRun::is_ended() const {
  return is_ended_by_user_ || std::ranges::any_of(by_name_, [](const auto& entry) {
           return entry.second.reason == kReasonTerminate || entry.second.reason == kReasonAction;
         });
}

/// Such a step runs to its own end.
bool PassRun::has_begun_after_end(const SubStepStatus& step) const { return store_.notes.contains(note(step, kBegunAfterEnd)); }

/// `terminated` without a step that ended the run was written by a user. Groups end with their steps. Where no step was ended
/// (all that had begun had used up their retries), each later pass comes to this again: it spares what has begun since.
void PassRun::terminate_if_asked() {
  if (!status_.is_terminated) return;
  if (std::ranges::any_of(by_name_, [&](const auto& entry) { return ends_run(entry.second); })) return;
  is_ended_by_user_ = true;
  for (auto& [name, step] : by_name_) {
    if (step.phase != kRunning && step.phase != kSuspending && !(step.phase == kFailed && !is_finished(step))) continue;
    if (step.type == kStepGroup || has_begun_after_end(step)) continue;
    step.phase = kFailed;
    step.reason = kReasonTerminate;
    step.message.clear();
  }
  status_.is_suspended = status_.is_suspended && has_suspended_step();
}

/// A step that breaks off or fails the run ends those that are suspended beside it: nothing would resume them. True when there
/// were some; the next pass runs what their suspension held back.
bool PassRun::end_suspended_steps() {
  if (!status_.is_suspended || !is_ended()) return false;
  const auto is_ender = [](const auto& entry) {
    return breaks_run(entry.second) || (entry.second.reason == kReasonAction && entry.second.type != kStepGroup);
  };
  const auto ender = std::ranges::find_if(by_name_, is_ender);
  if (ender == by_name_.end()) return false;
  const std::string message = fmt::format("step {} ended the run while this one was suspended", ender->first);
  bool has_ended = false;
  for (auto& [name, step] : by_name_) {
    if (step.phase != kSuspending || step.type == kStepGroup || has_begun_after_end(step)) continue;
    step.phase = kFailed;
    step.reason = kReasonTerminate;
    step.message = message;
    has_ended = true;
  }
  if (has_ended) status_.is_suspended = has_suspended_step();
  return has_ended;
}

Now PassRun::now() const { return run_.setting.now(); }

/// When a suspended step is to go on by itself. Its end was written together with its beginning: whoever has set the wall clock
/// since has moved both.
std::optional<Time> PassRun::resumes_at(const SubStepStatus& step) const {
  const auto time_of = [&](const char* name) {
    const auto at = store_.notes.find(note(step, name));
    const auto time = at == store_.notes.end() ? fail(Reason::NotFound, "") : parse_rfc3339(at->second);
    return time ? std::optional(*time) : std::nullopt;
  };
  const auto until = time_of(kResumesAt);
  const auto since = time_of(kSuspendedSince);
  return until && since ? now().present(*since) + (*until - *since) : until;
}

void PassRun::wake_due_steps() {
  bool has_woken = false;
  for (auto& [name, step] : by_name_) {
    if (step.phase != kSuspending) continue;
    const Step* spec = index_.find(name);
    if (spec == nullptr || is_group(*spec)) continue;
    const auto due = resumes_at(step);
    if (is_overdue(*spec) || is_group_overdue(*spec) || (due && *due <= now().time())) {
      step.phase = kRunning;
      has_woken = true;
    }
  }
  if (has_woken) status_.is_suspended = has_suspended_step();
}

/// Whether the time of the group that the step belongs to is up, and with it the step's.
bool PassRun::is_group_overdue(const Step& member) const {
  return std::ranges::any_of(run_.steps.steps, [&](const Step& group) {
    const auto is_member = [&](const Step& one) { return &one == &member; };
    return std::ranges::any_of(group.sub_steps, is_member) && is_overdue(group);
  });
}

const SubStepStatus* PassRun::status_of(std::string_view name) const {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return &found->second;
  const Step* meant = index_.depended_on(name);
  if (meant == nullptr) return nullptr;
  const auto found = by_name_.find(meant->name);
  return found == by_name_.end() ? nullptr : &found->second;
}

SubStepStatus PassRun::fresh_status(const Step& step) const {
  SubStepStatus status;
  if (const auto known = by_name_.find(step.name); known != by_name_.end()) status = known->second;
  if (status.id.empty()) {
    status.id = name_hash(fmt::format("{}/{}/{}", kube::uid(run_.setting.owner), to_rfc3339(*status_.start_time), step.name));
  }
  status.name = step.name;
  status.type = step.type;
  return status;
}

bool PassRun::waits_for_pre_render(const Step& step) const { return !is_rendered_ && !is_pre_render(step); }

/// While the run is suspended nothing begins; what has begun beside the step that suspended it goes on.
bool PassRun::may_begin(const Step& step) const {
  if (waits_for_pre_render(step) || is_held_back(step)) return false;
  if (!status_.is_suspended) return true;
  if (!was_suspended_) return false;
  const auto known = by_name_.find(step.name);
  if (known == by_name_.end()) return false;
  if (is_group(step)) return known->second.phase == kSuspending || known->second.phase == kRunning;
  return (known->second.phase == kRunning || known->second.phase == kFailed) && has_suspended_step();
}

/// The pause after a failure stands, whatever wakes the run meanwhile: retries are not used up by a busy object.
bool PassRun::is_resting(const Step& step) const {
  const auto known = by_name_.find(step.name);
  if (known == by_name_.end() || known->second.phase != kFailed || is_finished(known->second)) return false;
  if (is_group(step) || is_overdue(step) || !known->second.last_execute_time) return false;
  const Now present = now();
  return present.time() < present.present(*known->second.last_execute_time) + pause_after_failure(step, known->second);
}

bool PassRun::has_suspended_step() const {
  return std::ranges::any_of(by_name_, [&](const auto& entry) {
    const Step* spec = index_.find(entry.first);
    return entry.second.phase == kSuspending && spec != nullptr && !is_group(*spec);
  });
}

Task<> PassRun::run_list(const StepList& steps, Mode mode, const Step* group) {
  if (mode == Mode::DAG) {
    co_await run_as_graph(steps, group);
  } else {
    co_await run_one_by_one(steps, group);
  }
}

Task<> PassRun::run_one_by_one(const StepList& steps, const Step* group) {
  for (const Step& step : steps) {
    if (const SubStepStatus* known = status_of(step.name); known != nullptr && is_finished(*known)) {
      if (awaits_decision(*known)) co_return;
      continue;
    }
    if (waits_for_pre_render(step)) continue;
    if (!may_begin(step)) co_return;
    if (const auto why = pending_on(step)) {
      record_pending(step, *why);
      co_return;
    }
    if (is_resting(step)) co_return;
    std::optional<StepOutcome> outcome;
    co_await run_into(step, steps, group, outcome);
    if (outcome) record(std::move(*outcome));
    if (const SubStepStatus& known = by_name_[step.name]; !is_finished(known) || awaits_decision(known)) co_return;
  }
}

/// Rounds: whatever can run runs beside each other and is recorded in the order of the list, until nothing new can.
Task<> PassRun::run_as_graph(const StepList& steps, const Step* group) {
  std::set<std::string> tried;
  while (true) {
    std::vector<const Step*> ready;
    for (const Step& step : steps) {
      const SubStepStatus* known = status_of(step.name);
      if ((known != nullptr && is_finished(*known)) || tried.contains(step.name)) continue;
      if (may_begin(step) && !pending_on(step) && !is_resting(step)) ready.push_back(&step);
    }
    if (ready.empty()) break;
    std::vector<std::optional<StepOutcome>> outcomes(ready.size());
    Tasks children(env_);
    for (std::size_t i = 0; i < ready.size(); ++i) {
      tried.insert(ready[i]->name);
      children.spawn(run_into(*ready[i], steps, group, outcomes[i]));
    }
    co_await children.join();
    for (auto& outcome : outcomes) {
      if (outcome) record(std::move(*outcome));
    }
  }
  if (was_suspended_) co_return;
  for (const Step& step : steps) {
    const SubStepStatus* known = status_of(step.name);
    if ((known != nullptr && is_finished(*known)) || tried.contains(step.name)) continue;
    if (const auto why = pending_on(step)) record_pending(step, *why);
  }
}

/// A step; or a group, which records itself.
Task<> PassRun::run_into(const Step& step, const StepList& list, const Step* group, std::optional<StepOutcome>& outcome) {
  if (is_group(step)) {
    co_await run_group(step, list);
  } else {
    outcome = co_await run_step(step, list, group);
  }
}

Task<> PassRun::run_group(const Step& step, const StepList& list) {
  const Checked checked = co_await precheck(step, list, nullptr);
  SubStepStatus status = fresh_status(step);
  if (!status.first_execute_time || status.phase == kPending) status.first_execute_time = env_.clock.now();
  status.last_execute_time = env_.clock.now();
  status.phase = kRunning;
  status.reason.clear();
  status.message = checked.message;
  if (checked.check == Check::Skip) {
    status.phase = kSkipped;
    status.reason = kReasonSkip;
    end_members(step, kSkipped, kReasonSkip);
  } else if (checked.check == Check::TimeOut) {
    status.phase = kFailed;
    status.reason = kReasonTimeout;
    status_.is_terminated = true;
    end_members(step, kFailed, kReasonTimeout);
  } else if (checked.check == Check::Fail) {
    status.phase = kFailed;
    status.reason = kReasonInput;
    status_.is_terminated = true;
    end_members(step, kSkipped, kReasonSkip);
  }
  const bool is_over = is_finished(status);
  by_name_[step.name] = std::move(status);
  if (is_over) co_return;
  co_await run_list(step.sub_steps, step.mode.value_or(run_.steps.sub_mode), &step);
  conclude_group(step);
}

void PassRun::end_members(const Step& step, const std::string& phase, const std::string& reason) {
  for (const Step& member : step.sub_steps) {
    SubStepStatus status = fresh_status(member);
    if (is_finished(status)) continue;
    status.phase = phase;
    status.reason = reason;
    status.last_execute_time = env_.clock.now();
    StepOutcome outcome{.status = std::move(status)};
    for (const StepOutput& output : member.outputs) outcome.variables.emplace_back(output.name, Value());
    record(std::move(outcome));
  }
}

void PassRun::conclude_group(const Step& step) {
  std::map<std::string, std::size_t> phases;
  std::set<std::string> reasons;
  std::size_t known = 0;
  for (const Step& member : step.sub_steps) {
    const auto found = by_name_.find(member.name);
    if (found == by_name_.end()) continue;
    ++known;
    ++phases[is_finished(found->second) || found->second.phase != kFailed ? found->second.phase : kRunning];
    reasons.insert(found->second.reason);
  }
  SubStepStatus& status = by_name_[step.name];
  if (phases.contains(kSuspending)) {
    status.phase = kSuspending;
  } else if (known < step.sub_steps.size() || phases.contains(kRunning)) {
    status.phase = kRunning;
  } else if (phases.contains(kPending)) {
    status.phase = kPending;
  } else if (phases.contains(kFailed)) {
    status.phase = kFailed;
    for (const char* reason : {kReasonTerminate, kReasonAction, kReasonTimeout, kReasonInput, kReasonFailedAfterRetries}) {
      if (reasons.contains(reason)) status.reason = reason;
    }
  } else if (known > 0 && phases[kSkipped] == known) {
    status.phase = kSkipped;
    status.reason = kReasonSkip;
  } else {
    status.phase = kSucceeded;
  }
}

std::optional<std::string> PassRun::pending_on(const Step& step) const {
  for (const std::string& name : step.depends_on) {
    const SubStepStatus* status = status_of(name);
    if (status == nullptr || !is_finished(*status)) return "Pending on DependsOn: " + name;
  }
  if (step.inputs.empty()) return std::nullopt;
  const InputScope scope = input_scope(step, context_of(step, nullptr, fresh_status(step)));
  for (const StepInput& input : step.inputs) {
    if (has_value(input, scope)) continue;
    // When the run ends, no step will write the variable any more; the step's `if` decides.
    if (status_.is_terminated) continue;
    return "Pending on Input: " + input.from;
  }
  return std::nullopt;
}

void PassRun::record_pending(const Step& step, const std::string& message) {
  SubStepStatus status = fresh_status(step);
  if (!status.first_execute_time) status.first_execute_time = env_.clock.now();
  status.last_execute_time = env_.clock.now();
  status.attempts = status.phase == kPending && status.message == message ? status.attempts + 1 : 1;
  status.phase = kPending;
  status.reason.clear();
  status.message = message;
  by_name_[step.name] = std::move(status);
}

/// What later conditions may read of the step, as `<step>.output` and `<step>.outputs`, or below `steps`. What no condition
/// names is not kept: for an object that was applied it is the whole live object.
void PassRun::keep_value(const StepOutcome& outcome) {
  const auto may_read = [&](const Step& step) {
    return step.condition.contains(outcome.status.name) || step.condition.contains("steps");
  };
  const bool is_read = std::ranges::any_of(
      run_.steps.steps, [&](const Step& step) { return may_read(step) || std::ranges::any_of(step.sub_steps, may_read); });
  if (!is_read) return;
  json::ObjectBuilder kept;
  if (const Value& output = outcome.value["output"]; !output.is_null() && output["kind"].as_string() != "Secret") {
    kept.set("output", output);
  }
  json::ObjectBuilder outputs(outcome.value["outputs"]);
  for (const auto& [name, value] : outcome.variables) outputs.set(name, value);
  if (Value all = outputs.build(); !all.empty()) kept.set("outputs", std::move(all));
  if (kept.empty()) return;
  std::string text = json::print(kept.build());
  if (text.size() > kMaxKeptBytes) return;
  const std::string key = note(outcome.status, kKeptValue);
  store_.notes[key] = std::move(text);
  if (outcome.is_secret) store_.secret_notes.insert(key);
}

void PassRun::record(StepOutcome outcome) {
  SubStepStatus& status = outcome.status;
  // What a step gives that may be tried again is not known yet.
  if (is_finished(status) && !awaits_decision(status)) {
    keep_value(outcome);
    for (auto& [name, value] : outcome.variables) {
      if (auto vars = put(store_.vars, name, value, true)) store_.vars = std::move(*vars);
      store_.mark(name, outcome.is_secret && !value.is_null());
    }
    store_.has_changed = true;
  } else {
    for (ResourceRef& watched : outcome.watched) watched_.push_back(std::move(watched));
  }
  if (status.phase == kSuspending) {
    status_.is_suspended = true;
    const auto put_time = [&](const char* name, std::optional<Time> time) {
      store_.notes.erase(note(status, name));
      if (time) store_.notes[note(status, name)] = to_rfc3339(*time);
    };
    put_time(kResumesAt, outcome.until);
    put_time(kSuspendedSince, outcome.until ? outcome.since : std::nullopt);
    store_.has_changed = true;
  }
  if (outcome.has_begun_after_end && !is_finished(status)) {
    store_.notes[note(status, kBegunAfterEnd)] = "true";
    store_.has_changed = true;
  }
  status_.is_terminated = status_.is_terminated || outcome.terminates;
  if (run_.options.keeps_debug && !outcome.value.is_null() && !outcome.is_secret) debug_[status.id] = outcome.value;
  by_name_[status.name] = std::move(status);
}

void PassRun::compose_status() {
  status_.steps.clear();
  for (const Step& step : run_.steps.steps) {
    const auto found = by_name_.find(step.name);
    if (found == by_name_.end()) continue;
    StepStatus status;
    static_cast<SubStepStatus&>(status) = found->second;
    for (const Step& member : step.sub_steps) {
      if (const auto sub = by_name_.find(member.name); sub != by_name_.end()) status.sub_steps.push_back(sub->second);
    }
    status_.steps.push_back(std::move(status));
  }
  const auto first_open = std::ranges::find_if(run_.steps.steps, [&](const Step& step) {
    const auto found = by_name_.find(step.name);
    return found == by_name_.end() || !is_finished(found->second);
  });
  status_.step_index = first_open - run_.steps.steps.begin();
}

/// What steps say that a user has ended; empty: none. Those that an operator has ended have a message of their own.
std::string PassRun::tell_termination() {
  const std::string told = fmt::format("terminated by {}", status_.terminated_by.empty() ? "a user" : status_.terminated_by);
  bool is_by_user = status_.is_terminated && !status_.terminated_by.empty();
  for (auto& [name, step] : by_name_) {
    const bool is_ended = step.phase == kFailed && step.reason == kReasonTerminate && step.type != kStepGroup;
    if (!is_ended || (!step.message.empty() && step.message != told)) continue;
    is_by_user = true;
    step.message = told;
  }
  return is_by_user ? told : "";
}

void PassRun::conclude() {
  bool is_moving = false;
  bool has_failed_after_retries = false;
  for (const auto& [name, step] : by_name_) {
    const Step* spec = index_.find(name);
    if (spec == nullptr || is_group(*spec)) continue;
    is_moving = is_moving || step.phase == kRunning || (step.phase == kFailed && !is_finished(step)) ||
                (step.phase == kPending && !is_held_back(*spec) && !pending_on(*spec));
    has_failed_after_retries = has_failed_after_retries || step.reason == kReasonFailedAfterRetries;
  }
  status_.message = tell_termination();
  status_.suspend_state.clear();
  if (has_failed_after_retries && run_.options.suspends_on_failure) {
    if (!is_moving && !status_.is_terminated) {
      status_.is_suspended = true;
      status_.suspend_state = kSuspendedByFailure;
      status_.message = kMessageSuspendedOnFailure;
    }
  } else if (has_failed_after_retries) {
    status_.is_terminated = true;
    status_.message = kMessageRetriesExhausted;
  }
  compose_status();
  if (!status_.is_suspended) status_.suspended_by.clear();
  status_.phase = phase_of(status_, run_.steps.steps.size());
  status_.is_finished = status_.phase == kSucceeded || status_.phase == kFailed || status_.phase == kTerminated;
  if (status_.is_finished) {
    status_.is_suspended = false;
    status_.is_terminated = status_.phase != kSucceeded;
    status_.end_time = env_.clock.now();
  }
}

Duration PassRun::pause_after_failure(const Step& step, const SubStepStatus& status) const {
  if (!step.retry) return backoff_after(status.attempts, run_.options.max_wait);
  const double factor = std::pow(step.retry->factor, static_cast<double>(std::max<std::int64_t>(0, status.failures - 1)));
  const double micros = static_cast<double>(step.retry->duration.count()) * factor;
  return micros < static_cast<double>(step.retry->cap.count()) ? Duration{static_cast<std::int64_t>(micros)} : step.retry->cap;
}

std::optional<Duration> PassRun::delay_of(const Step& step) const {
  const auto found = by_name_.find(step.name);
  if (found == by_name_.end() || is_finished(found->second)) return std::nullopt;
  const SubStepStatus& status = found->second;
  const Now present = now();
  std::optional<Duration> delay;
  if (status.phase == kSuspending) {
    if (const auto due = resumes_at(status)) delay = std::max<Duration>(*due - present.time(), std::chrono::milliseconds{1});
  } else if (status.phase == kFailed && status.last_execute_time) {
    const Time due = present.present(*status.last_execute_time) + pause_after_failure(step, status);
    delay = std::max<Duration>(due - present.time(), std::chrono::milliseconds{1});
  } else if (!is_group(step) && (!status_.is_suspended || (status.phase != kPending && has_suspended_step()))) {
    delay = backoff_after(status.attempts, run_.options.max_wait);
  }
  const auto timeout = parse_duration(step.timeout);
  if (timeout && status.first_execute_time && status.phase != kPending) {
    const Time due = present.present(*status.first_execute_time) + *timeout;
    delay = sooner(delay, std::max<Duration>(due - present.time(), std::chrono::milliseconds{1}));
  }
  return delay;
}

std::optional<Duration> PassRun::delay() const {
  std::optional<Duration> delay;
  for (const auto& [name, status] : by_name_) {
    if (const Step* step = index_.find(name)) delay = sooner(delay, delay_of(*step));
  }
  if (!delay && !status_.is_suspended) return std::chrono::seconds{1};
  return delay;
}

}  // namespace slipway::delivery::workflow
