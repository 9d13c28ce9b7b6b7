#include "delivery/jobflow/flow.h"

#include <fmt/format.h>

#include <cmath>

#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/object_step.h"
#include "json/quoted.h"
#include "json/text.h"

namespace slipway::delivery::jobflow {

using json::quoted;
namespace {

using graph::Phase;
using graph::StepIndex;

constexpr const char* kDeadlineExceeded = "Workflow was active longer than specified deadline";

std::string shortened(std::string text) {
  if (text.size() <= kMaxMessage) return text;
  std::size_t end = kMaxMessage - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not within a UTF-8 character
  return text.substr(0, end) + "…";
}

/// duration · factor^(failures - 1), cap at most.
Duration pause(const Backoff& backoff, std::int64_t failures) {
  const double longest = static_cast<double>(backoff.cap.value_or(std::chrono::hours{24 * 365}).count());
  const double wanted =
      static_cast<double>(backoff.duration.count()) * std::pow(backoff.factor, static_cast<double>(failures - 1));
  return Duration(static_cast<std::int64_t>(std::min(std::max(wanted, 0.0), longest)));
}

}  // namespace

Flow::Flow(std::shared_ptr<const Program> program, kube::Object workflow, const std::vector<Value>& step_sets)
    : program_(std::move(program)),
      workflow_(std::move(workflow)),
      records_(*program_, workflow_, step_sets),
      jobs_(program_->size()),
      due_(program_->size()) {
  const Value& status = workflow_["status"];
  start_time_ = kube::time_of(status["startTime"]);
  completion_time_ = kube::time_of(status["completionTime"]);
  rerun_ = status["rerun"].str();
  conditions_ = status["conditions"];
  if (auto author = json::decode<AuthorRecord>(status["author"], "status.author", {.allow_unknown = true})) {
    if (!author->name.empty()) author_ = *std::move(author);
  }
  is_new_ = !start_time_ && status["observedGeneration"].as_int() == 0;
  is_finished_ = jobflow::is_finished(workflow_);
  is_urgent_ = status["observedGeneration"].as_int() != kube::generation(workflow_);
  is_changed_ = is_urgent_ || is_large();  // of a large graph the status may be older than its step sets
  restart_progress();
}

bool Flow::wants_author(std::string_view name) const {
  const bool is_new_spec = workflow_["status"]["observedGeneration"].as_int() != kube::generation(workflow_);
  return is_new_spec || !author_ || author_->name != name;
}

void Flow::record_author(AuthorRecord author) {
  if (author_ && author_->name == author.name) {
    for (std::string& right : author_->rights) {
      if (std::ranges::find(author.rights, right) == author.rights.end()) author.rights.push_back(std::move(right));
    }
  }
  author_ = std::move(author);
  is_changed_ = true;
}

bool Flow::had_right(std::string_view right) const {
  return author_ && std::ranges::find(author_->rights, right) != author_->rights.end();
}

/// Sets everything that follows from the records.
void Flow::restart_progress() {
  missing_.clear();
  externals_.clear();
  active_.clear();
  failures_.clear();
  std::vector<Phase> phases(program_->size());
  for (StepIndex step = 0; step < program_->size(); ++step) {
    phases[step] = records_[step].phase;
    index(step);
    if (phases[step] != Phase::Running) continue;
    set_timer(step);
    if (program_->makes_job(step)) {
      seen_.insert(step);
    } else if (!records_[step].next_attempt_time) {
      externals_.emplace(step, std::nullopt);
    }
  }
  progress_ = std::make_unique<graph::Progress>(program_->graph(), rule(), std::move(phases));
}

graph::Rule Flow::rule() const {
  return {.parallelism = program_->spec().parallelism,
          .is_suspended = program_->spec().suspend || !start_time_ || is_finished_};
}

void Flow::see_job(const JobView& job) {
  const auto step = program_->graph().find(job.step);
  if (!step || !program_->makes_job(*step)) return drop_stray(job);
  auto& known = jobs_[*step];
  if (known && known->attempt > job.attempt) return drop_stray(job);
  if (known && known->attempt < job.attempt) drop_stray(*known);
  known = job;
  seen_.insert(*step);
}

void Flow::lose_job(JobView job) {
  const auto step = program_->graph().find(job.step);
  if (!step) return;
  auto& known = jobs_[*step];
  if (!known || known->attempt != job.attempt) return;
  known.reset();
  if (job.is_finished) {
    job.is_deleting = true;
    job.has_finalizer = false;
    known = std::move(job);
  }
  seen_.insert(*step);
}

void Flow::refuse_job(StepIndex step, std::string reason, std::string message) {
  refused_[step] = {std::move(reason), std::move(message)};
  seen_.insert(step);
}

std::vector<StepIndex> Flow::unseen_externals() const {
  std::vector<StepIndex> steps;
  for (const auto& [step, view] : externals_) {
    if (!view) steps.push_back(step);
  }
  return steps;
}

void Flow::see_external(StepIndex step, ExternalView view) {
  if (const auto found = externals_.find(step); found != externals_.end()) found->second = std::move(view);
}

void Flow::look_again() {
  for (auto& [step, view] : externals_) view.reset();
}

void Flow::decide(const Now& clock) {
  follow_clock(clock);
  const Time now = clock.time();
  if (!begin(now)) return;
  judge_seen(now);
  if (is_finished_) return;
  if (const auto end = deadline(); end && *end <= now) {
    if (!are_cleared(program_->graph().topological())) return;
    cancel_all(now);
  }
  run_timers(now);
  progress_->set_rule(rule());
  graph::Decisions decisions;
  do {
    decisions = progress_->take();
    apply(decisions, now);
  } while (progress_->has_more());
  if (decisions.is_finished && start_time_) finish(now);
}

/// Takes a new workflow up, notes suspension, begins a rerun. False: a rerun waits until the objects of its steps are gone.
bool Flow::begin(Time now) {
  const WorkflowSpec& spec = program_->spec();
  set_condition("Invalid", false, "Valid", "The spec can be run", now);
  if (std::exchange(is_new_, false)) {
    actions_.events.push_back(
        {.reason = "WorkflowCreated", .message = fmt::format("Workflow of {} steps", program_->size()), .instance = ""});
    is_changed_ = true;
    if (spec.rerun) rerun_ = spec.rerun->id;  // nothing has run yet that could run again
  }
  if (is_finished_ || start_time_) {
    if (spec.rerun && spec.rerun->id != rerun_) {
      const auto from = program_->graph().find(spec.rerun->from);
      if (!are_cleared(from ? program_->graph().downstream(*from) : program_->graph().topological())) return false;
      begin_rerun(*spec.rerun, now);
    }
  } else if (!spec.suspend) {
    start_time_ = now;
    is_changed_ = is_urgent_ = true;
    actions_.events.push_back({.reason = "WorkflowStarted", .message = "Workflow started", .instance = ""});
  }
  if (is_finished_) return true;
  if (spec.suspend) {
    set_condition("Suspended", true, "Suspended", "spec.suspend is true: nothing new starts", now);
  } else {
    set_condition("Suspended", false, "Resumed", "spec.suspend is false", now);
  }
  return true;
}

void Flow::begin_rerun(const Rerun& rerun, Time now) {
  rerun_ = rerun.id;
  is_changed_ = is_urgent_ = true;
  std::vector<StepIndex> again = program_->graph().topological();
  if (const auto from = program_->graph().find(rerun.from); from) again = program_->graph().downstream(*from);
  for (StepIndex step : again) {
    const std::int64_t attempts = records_[step].attempts;
    if (is_blank(records_[step])) continue;
    StepStatus fresh;
    fresh.attempts = fresh.earlier_attempts = attempts;
    records_.edit(step) = std::move(fresh);
    set_timer(step);
    if (jobs_[step]) drop_stray(*jobs_[step]);
  }
  Value kept = Value::empty_array();
  for (const Value& condition : conditions_.items()) {
    const auto type = condition["type"].as_string();
    if (type != "Complete" && type != "Failed") kept = kept.appended(condition);
  }
  conditions_ = kept;
  is_finished_ = false;
  start_time_ = now;
  completion_time_.reset();
  actions_.events.push_back(
      {.reason = "WorkflowStarted",
       .message = rerun.from.empty() ? "Rerun of all steps" : fmt::format("Rerun from step {}", quoted(rerun.from)),
       .instance = rerun.id});
  restart_progress();
}

void Flow::judge_seen(Time now) {
  while (!seen_.empty()) {
    const StepIndex step = *seen_.begin();
    seen_.erase(seen_.begin());
    judge_job(step, now);
  }
  for (auto& [step, view] : std::map(externals_)) {
    if (!view) continue;
    if (program_->makes_object(step)) {
      judge_object(step, *view, now);
    } else {
      judge_external(step, *view, now);
    }
  }
}

void Flow::judge_job(StepIndex step, Time now) {
  if (!program_->makes_job(step)) return;
  const StepStatus& record = records_[step];
  const auto& job = jobs_[step];
  missing_.erase(program_->graph().rank(step));
  if (record.phase == Phase::Running && !record.next_attempt_time) {
    if (take_refusal(step, now)) {
      // It has ended.
    } else if (!job || job->attempt != record.attempts) {
      missing_.insert(program_->graph().rank(step));
    } else if (job->is_finished) {
      finish_attempt(step, *job, now);
    }
  }
  if (job) drop_stray(*job);
}

/// True: what the step was to create was refused, and it has failed.
bool Flow::take_refusal(StepIndex step, Time now) {
  const auto refused = refused_.find(step);
  if (refused == refused_.end()) return false;
  auto [reason, message] = std::move(refused->second);
  refused_.erase(refused);
  end(step, Phase::Failed, std::move(reason), std::move(message), now);
  return true;
}

bool Flow::is_current(StepIndex step, const JobView& job) const {
  const StepStatus& record = records_[step];
  return record.phase == Phase::Running && !record.next_attempt_time && job.attempt == record.attempts;
}

/// Asks for the removal of a Job that runs and should not, and for the release of one that is done with.
void Flow::drop_stray(const JobView& job) {
  const auto step = program_->graph().find(job.step);
  const bool is_wanted = step && is_current(*step, job);
  if (!is_wanted && !job.is_finished && !job.is_deleting) actions_.remove.push_back({job.name, job.uid});
  if (job.has_finalizer && (job.is_finished ? !is_wanted : job.is_deleting)) actions_.release.push_back(job.name);
}

void Flow::finish_attempt(StepIndex step, const JobView& job, Time now) {
  if (!job.is_failed) return end(step, Phase::Succeeded, "", "", now);
  fail_attempt(step, job.reason.empty() ? "JobFailed" : job.reason, job.message, now);
}

void Flow::fail_attempt(StepIndex step, std::string reason, const std::string& message, Time now) {
  const auto& retry = program_->step(step).retry;
  const std::int64_t failures = records_[step].attempts - records_[step].earlier_attempts;
  if (!retry || failures > retry->limit) return end(step, Phase::Failed, std::move(reason), message, now);
  StepStatus& record = records_.edit(step);
  record.next_attempt_time = now + pause(retry->backoff, failures);
  record.message = shortened(fmt::format("attempt {} failed: {}: {}", record.attempts, reason, message));
  record.reason = "RetryBackOff";
  externals_.erase(step);
  is_changed_ = true;
  set_timer(step);
}

void Flow::judge_external(StepIndex step, const ExternalView& view, Time now) {
  using State = ExternalView::State;
  const StepStatus& record = records_[step];
  if (record.phase != Phase::Running) return;
  const ExternalRef& wanted = *program_->step(step).external_ref;
  const std::string& pinned = record.reference.uid;
  if (view.state == State::Unknown) return note(step, "ExternalUnknown", view.message);
  if (view.state == State::Missing) {
    if (pinned.empty()) return note(step, "ExternalMissing", view.message);
    return end(step, Phase::Failed, "ExternalGone", text_of(wanted) + " was deleted", now);
  }
  if ((!pinned.empty() && view.uid != pinned) || (!wanted.uid.empty() && view.uid != wanted.uid)) {
    return end(step, Phase::Failed, "ExternalGone", text_of(wanted) + " was replaced by another object of its name", now);
  }
  if (pinned.empty()) {
    records_.edit(step).reference.uid = view.uid;
    is_changed_ = true;
  }
  if (!view.cycle.empty()) {
    std::string path;
    for (const auto& name : view.cycle) path += name + " -> ";
    return end(step, Phase::Failed, "ExternalCycle", "workflows wait for each other: " + path + view.cycle.front(), now);
  }
  if (view.state == State::Reached) return end(step, Phase::Succeeded, "", "", now);
  if (view.state == State::Failed) return end(step, Phase::Failed, "ExternalFailed", view.message, now);
  note(step, "ExternalPending", view.message);
}

void Flow::run_timers(Time now) {
  std::vector<StepIndex> due;
  for (const auto& [time, step] : timers_) {
    if (time > now) break;
    due.push_back(step);
  }
  for (const StepIndex step : due) {
    const auto& timeout = program_->step(step).timeout_seconds;
    const StepStatus& record = records_[step];
    if (timeout && clock_.present(*record.start_time) + seconds_saturating(*timeout) <= now) {
      if (!is_cleared(step)) continue;
      end(step, Phase::Failed, "StepTimeout", fmt::format("not ended within {} s", *timeout), now);
      if (jobs_[step]) drop_stray(*jobs_[step]);
    } else {
      begin_attempt(step, now);
    }
  }
}

/// The earlier of the next attempt and the time-out.
void Flow::set_timer(StepIndex step) {
  if (due_[step]) timers_.erase({*due_[step], step});
  due_[step].reset();
  const StepStatus& record = records_[step];
  if (record.phase != Phase::Running) return;
  if (record.next_attempt_time && !program_->spec().suspend) due_[step] = next_attempt(step);
  if (const auto& timeout = program_->step(step).timeout_seconds; timeout && record.start_time) {
    const Time end = clock_.present(*record.start_time) + seconds_saturating(*timeout);
    due_[step] = std::min(due_[step].value_or(end), end);
  }
  if (due_[step]) timers_.insert({*due_[step], step});
}

/// The time in the record lies ahead, where no history of the clock tells what it means; the failure that it was counted from
/// lies behind.
Time Flow::next_attempt(StepIndex step) const {
  const StepStatus& record = records_[step];
  const auto& retry = program_->step(step).retry;
  const Duration wait = retry ? pause(retry->backoff, record.attempts - record.earlier_attempts) : Duration{0};
  return clock_.present(*record.next_attempt_time - wait) + wait;
}

/// After a step of the wall clock every timer is another time of it.
void Flow::follow_clock(const Now& now) {
  const bool is_set = now.steps() != clock_.steps();
  clock_ = now;
  if (!is_set) return;
  for (StepIndex step = 0; step < due_.size(); ++step) {
    if (due_[step]) set_timer(step);
  }
}

std::optional<Time> Flow::deadline() const {
  const auto& seconds = program_->spec().active_deadline_seconds;
  if (!seconds || !start_time_) return std::nullopt;
  return clock_.present(*start_time_) + seconds_saturating(*seconds);
}

void Flow::cancel_all(Time now) {
  for (StepIndex step : program_->graph().topological()) {
    if (graph::is_terminal(records_[step].phase)) continue;
    end(step, Phase::Cancelled, "DeadlineExceeded", "", now);
    if (jobs_[step]) drop_stray(*jobs_[step]);
  }
  set_condition("Failed", true, "DeadlineExceeded", kDeadlineExceeded, now);
}

void Flow::apply(const graph::Decisions& decisions, Time now) {
  // Which dependency was decisive depends on the order of events, so the record does not say it; readers see their phases.
  for (const auto& [step, phase] : decisions.ended) {
    const auto trigger = to_string(program_->graph().nodes()[step].trigger);
    end(step, phase, "JoinFailed", fmt::format("the trigger {} can hold no more", trigger), now);
  }
  for (StepIndex step : decisions.held) {
    records_.edit(step).phase = Phase::Suspended;
    records_.edit(step).reason = "StepSuspended";
    is_changed_ = true;
    index(step);
  }
  for (StepIndex step : decisions.start) start(step, now);
}

void Flow::start(StepIndex step, Time now) {
  StepStatus& record = records_.edit(step);
  record.phase = Phase::Running;
  record.start_time = now;
  record.reason.clear();
  index(step);
  is_changed_ = true;
  if (!program_->is_external(step)) return begin_attempt(step, now);
  const ExternalRef& wanted = *program_->step(step).external_ref;
  record.reference = {.api_version = wanted.api_version,
                      .kind = wanted.kind,
                      .ns = wanted.ns == kube::ns(workflow_) ? "" : wanted.ns,
                      .name = wanted.name,
                      .uid = "",
                      .cluster = wanted.cluster};
  externals_.emplace(step, std::nullopt);
  set_timer(step);
}

void Flow::begin_attempt(StepIndex step, Time now) {
  std::string hash = template_hash(*program_, step);
  const bool is_retry = records_[step].attempts > records_[step].earlier_attempts;
  if (is_retry && records_[step].template_hash != hash) {  // written past admission: a started step is pinned
    return end(step, Phase::Failed, "TemplateChanged", "the template was changed after the step had started", now);
  }
  StepStatus& record = records_.edit(step);
  ++record.attempts;
  record.next_attempt_time.reset();
  record.reason.clear();
  record.message.clear();
  record.template_hash = std::move(hash);
  if (program_->makes_object(step)) {
    record.reference = object_reference(workflow_, *program_, step, record.attempts);
    gone_.erase(step);
    externals_.insert_or_assign(step, std::nullopt);
  } else {
    record.reference = {.api_version = kJobKind.api_version(),
                        .kind = kJobKind.kind,
                        .ns = "",
                        .name = job_name(kube::name(workflow_), kube::uid(workflow_), program_->name(step), record.attempts),
                        .uid = "",
                        .cluster = ""};
    missing_.insert(program_->graph().rank(step));
  }
  is_changed_ = true;
  set_timer(step);
}

void Flow::end(StepIndex step, Phase phase, std::string reason, std::string message, Time now) {
  StepStatus& record = records_.edit(step);
  record.phase = phase;
  record.reason = std::move(reason);
  record.message = shortened(std::move(message));
  record.completion_time = now;
  record.next_attempt_time.reset();
  missing_.erase(program_->graph().rank(step));
  externals_.erase(step);
  set_timer(step);
  index(step);
  is_changed_ = true;
  if (!graph::is_terminal(progress_->phase(step))) progress_->set(step, phase);
}

void Flow::note(StepIndex step, std::string reason, std::string message) {
  if (records_[step].reason == reason && records_[step].message == shortened(message)) return;
  StepStatus& record = records_.edit(step);
  record.reason = std::move(reason);
  record.message = shortened(std::move(message));
  is_changed_ = true;
}

void Flow::finish(Time now) {
  is_finished_ = true;
  completion_time_ = now;
  const Counts ends = counts();
  const bool has_untolerated = std::ranges::any_of(
      failures_, [&](std::uint32_t rank) { return !program_->step(program_->graph().topological()[rank]).tolerated; });
  const bool is_past_deadline = phase_word() == "Failed";
  const bool is_failed = has_untolerated || is_past_deadline;
  std::string story = fmt::format("{} of {} steps succeeded", ends.succeeded, ends.steps);
  if (is_past_deadline) {
    story = kDeadlineExceeded;
  } else if (has_untolerated) {
    story = failed_text();
    set_condition("Failed", true, "StepFailed", story, now);
  } else {
    set_condition("Complete", true, "StepsEnded", story, now);
  }
  actions_.events.push_back({.type = is_failed ? "Warning" : "Normal",
                             .reason = "WorkflowEnded",
                             .message = fmt::format("Workflow {}: {}", is_failed ? "failed" : "complete", story),
                             .instance = rerun_});
  is_changed_ = true;
}

/// `step "x" failed: reason`, by level then name, so that it does not depend on which failed first.
std::string Flow::failed_text() const {
  std::string text;
  std::size_t others = 0;
  for (std::uint32_t rank : failures_) {
    const StepIndex step = program_->graph().topological()[rank];
    if (program_->step(step).tolerated) continue;
    if (!text.empty()) {
      ++others;
      continue;
    }
    text = fmt::format("step {} failed: {}", quoted(program_->name(step)), records_[step].reason);
    if (!records_[step].message.empty()) text += ": " + records_[step].message;
  }
  return others == 0 ? text : fmt::format("{} (and {} more)", text, others);
}

}  // namespace slipway::delivery::jobflow
