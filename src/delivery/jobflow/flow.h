// One workflow on its way: what is recorded of it, what is seen of its Jobs and external objects, and what to do next. It is
// fed changes and costs only what they touch, so that a graph of 10,000 steps is not walked for every Job that ends; plan()
// (plan.h), which makes a Flow from scratch, says the same from all there is to see, and is what tests use.
//
// Order of effects, for crashes at any point: events, then records (step sets, then status), then Jobs. A Job is created only
// after its attempt is recorded, and its name is a function of uid, step and attempt; an attempt that is recorded and has no
// Job gets one (again). So there is one Job per step and attempt, and a Job that is removed after its end is recorded never
// runs again. A Job that is deleted while it runs is created again.
//
// The objects of steps with an object template follow the same order, but for their end: no cache finds an object of any kind
// that an ended step has left, so the object of a step that is cut short (deadline, time-out, rerun) is deleted first, and the
// end is recorded once it is gone. After a crash in between the same rule asks for the deletion again.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/wall_steps.h"
#include "control/events.h"
#include "delivery/graph/progress.h"
#include "delivery/jobflow/external.h"
#include "delivery/jobflow/job.h"
#include "delivery/jobflow/records.h"

namespace slipway::delivery::jobflow {

struct StepAttempt {
  graph::StepIndex step = 0;
  std::int64_t attempt = 0;

  bool operator==(const StepAttempt&) const = default;
};

struct JobRemoval {
  std::string name;
  std::string uid;

  auto operator<=>(const JobRemoval&) const = default;
};

/// The object of a step that is to be deleted.
struct Discard {
  graph::StepIndex step = 0;
  /// Only this one; empty: whatever of the workflow has the name in the step's record. Then object_gone() is to be called.
  std::string uid;

  auto operator<=>(const Discard&) const = default;
};

/// What to do, in this order.
struct Actions {
  std::vector<control::EventText> events;
  std::vector<StepSetWrite> sets;
  std::optional<Value> status;       // the whole new status, when it changed
  std::vector<StepAttempt> create;   // Jobs and objects; by level, then name
  std::vector<Discard> discard;      // objects; decide again after it
  std::vector<JobRemoval> remove;    // Jobs that are not wanted any more
  std::vector<std::string> release;  // Jobs whose end is recorded: take kJobFinalizer off
  std::optional<Time> timer;         // look again then, by the clock that take() was given
};

class Flow {
 public:
  Flow(std::shared_ptr<const Program> program, kube::Object workflow, const std::vector<Value>& step_sets);
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  /// The present state of a Job the workflow owns.
  void see_job(const JobView& job);
  /// A Job that is gone, as it was last seen: an end it had reached still counts.
  void lose_job(JobView job);
  /// A Job or an object could not be made, and never can (its template is refused): the step fails.
  void refuse_job(graph::StepIndex step, std::string reason, std::string message);

  /// External steps, and steps that have created an object, that wait and were not seen since the last look_again().
  std::vector<graph::StepIndex> unseen_externals() const;
  void see_external(graph::StepIndex step, ExternalView view);
  /// What was seen of the step's object no longer holds.
  void unsee_external(graph::StepIndex step);
  /// What Discard without uid asked for has been done.
  void object_gone(graph::StepIndex step) { gone_.insert(step); }
  void look_again();
  /// Some external steps wait.
  bool has_externals() const { return !externals_.empty(); }

  /// Decides everything that follows. May make external steps wait: look at them and decide again, before take().
  void decide(const Now& now);
  /// What to do since the last take(). When one of the actions fails, this Flow is of no use any more: make a new one. The
  /// status of a large graph only sums up its step sets: it is written at most once in `summary_pause`, unless a condition or
  /// time in it changes.
  Actions take(const Now& now, Duration summary_pause = Duration{0});

  /// Whether the rights of the author `name` are to be recorded: of a spec that is new, or of another author.
  bool wants_author(std::string_view name) const;
  /// Records rights as in AuthorRecord. Those that the same author had for an earlier spec stay.
  void record_author(AuthorRecord author);
  /// Whether the author had a right when the spec was taken up.
  bool had_right(std::string_view right) const;

  const Program& program() const { return *program_; }
  const kube::Object& workflow() const { return workflow_; }
  /// Clears the condition AuthorLacksRight; called after all creates have succeeded. True if it was set.
  bool has_right_again(Time now);
  /// After a status write: the object as it was answered.
  void written(kube::Object workflow) { workflow_ = std::move(workflow); }
  const StepStatus& record(graph::StepIndex step) const { return records_[step]; }
  bool is_finished() const { return is_finished_; }
  bool is_large() const { return records_.sets() > 0; }

 private:
  bool begin(Time now);
  void begin_rerun(const Rerun& rerun, Time now);
  graph::Rule rule() const;
  void restart_progress();
  void judge_seen(Time now);
  void judge_job(graph::StepIndex step, Time now);
  void judge_external(graph::StepIndex step, const ExternalView& view, Time now);
  void judge_object(graph::StepIndex step, const ExternalView& view, Time now);
  bool take_refusal(graph::StepIndex step, Time now);
  void finish_attempt(graph::StepIndex step, const JobView& job, Time now);
  void fail_attempt(graph::StepIndex step, std::string reason, const std::string& message, Time now);
  bool is_cleared(graph::StepIndex step);
  bool are_cleared(const std::vector<graph::StepIndex>& steps);
  void run_timers(Time now);
  void cancel_all(Time now);
  void apply(const graph::Decisions& decisions, Time now);
  void start(graph::StepIndex step, Time now);
  void begin_attempt(graph::StepIndex step, Time now);
  void end(graph::StepIndex step, graph::Phase phase, std::string reason, std::string message, Time now);
  void note(graph::StepIndex step, std::string reason, std::string message);
  void finish(Time now);

  bool is_current(graph::StepIndex step, const JobView& job) const;
  void drop_stray(const JobView& job);
  void set_timer(graph::StepIndex step);
  Time next_attempt(graph::StepIndex step) const;
  void follow_clock(const Now& now);
  std::optional<Time> deadline() const;
  void set_condition(std::string type, bool holds, std::string reason, std::string message, Time now);
  void index(graph::StepIndex step);
  Value status_value();
  bool is_summary_due(const Now& now, Duration summary_pause) const;
  std::string phase_word() const;
  std::string waits_for() const;
  Counts counts() const;
  std::string failed_text() const;

  std::shared_ptr<const Program> program_;
  kube::Object workflow_;
  Records records_;
  std::unique_ptr<graph::Progress> progress_;

  // As in the status.
  std::optional<Time> start_time_;
  std::optional<Time> completion_time_;
  std::string rerun_;
  Value conditions_;
  std::optional<AuthorRecord> author_;
  bool is_new_ = false;
  bool is_finished_ = false;
  bool is_changed_ = false;
  bool is_urgent_ = false;            // the status says something new that its step sets do not
  std::optional<Time> last_summary_;  // when the status was last written

  std::vector<std::optional<JobView>> jobs_;                           // the latest attempt's, as last seen
  std::set<graph::StepIndex> seen_;                                    // whose Job to judge
  std::set<std::uint32_t> missing_;                                    // ranks of steps whose attempt has no Job
  std::map<graph::StepIndex, std::optional<ExternalView>> externals_;  // those that wait, and what was seen
  std::set<graph::StepIndex> gone_;                                    // whose object was deleted to cut the step short
  Now clock_{Time{}};                                                  // as last seen; by it times of the records are read
  std::vector<std::optional<Time>> due_;                               // by clock_, as timers_
  std::set<std::pair<Time, graph::StepIndex>> timers_;
  std::set<std::uint32_t> active_;                                           // ranks of Running and Suspended steps
  std::set<std::uint32_t> failures_;                                         // ranks of Failed steps
  std::map<graph::StepIndex, std::pair<std::string, std::string>> refused_;  // reason, message
  Actions actions_;
};

/// The status of a workflow whose author lacks a right: condition AuthorLacksRight with `reason`, everything else as it was.
/// Nullopt if unchanged.
std::optional<Value> waiting_status(const kube::Object& workflow, const std::string& reason, const std::string& message,
                                    Time now);

/// The status of a workflow whose spec cannot be run: condition Invalid, everything else as it was. Nullopt when it says so
/// already.
std::optional<Value> invalid_status(const kube::Object& workflow, const std::vector<Cause>& causes, Time now);

}  // namespace slipway::delivery::jobflow
