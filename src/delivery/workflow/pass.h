// One pass of the engine while it is under way: the statuses of the steps by name, the slots that steps take while they run,
// and what the pass will report. engine.cc goes through lists and groups, step_run.cc runs one step. Used by run_pass() only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/env.h"
#include "delivery/workflow/engine.h"
#include "delivery/workflow/evaluation.h"
#include "delivery/workflow/inputs.h"
#include "delivery/workflow/secret_texts.h"
#include "delivery/workflow/step_index.h"

namespace slipway::delivery::workflow {

/// How the run of one step ended, to be recorded once those beside it have ended too.
struct StepOutcome {
  SubStepStatus status;
  bool terminates = false;
  bool has_begun_after_end = false;  // it was first run once the run was ended
  std::optional<Time> since{};       // of a suspended step
  std::optional<Time> until{};
  std::vector<std::pair<std::string, Value>> variables{};
  Value value{};  // what is concrete of the evaluated step; null when it was not evaluated
  std::vector<ResourceRef> watched{};
  bool is_secret = false;  // it was made from a Secret
  SecretTexts secrets{};   // what it has read from Secrets
};

/// The key of a note that belongs to one step.
inline std::string note(const SubStepStatus& step, std::string_view name) { return step.id + "." + std::string(name); }

class PassRun {
 public:
  PassRun(const Run& run, RunStatus status, RunStore store);
  /// `this` must outlive the task.
  Task<Pass> go();

 private:
  enum class Check : std::uint8_t { Run, Skip, Fail, TimeOut };
  struct Checked {
    Check check = Check::Run;
    std::string message{};
  };
  /// How many steps may run beside each other. Steps hold it, since a process that dies may drop the pass before them.
  struct Slots {
    Slots(Env& env, std::size_t count) : free(count), freed(env) {}
    std::size_t free;
    Signal freed;
  };
  /// Takes one of the slots; gives it back when it goes.
  class Slot;
  using StepList = std::vector<Step>;

  // engine.cc: the run as a whole.
  void begin();
  void terminate_if_asked();
  bool ends_run(const SubStepStatus& step) const;
  bool is_ended() const;
  bool has_begun_after_end(const SubStepStatus& step) const;
  bool end_suspended_steps();
  Now now() const;
  std::optional<Time> resumes_at(const SubStepStatus& step) const;
  void wake_due_steps();
  bool is_group_overdue(const Step& member) const;
  void conclude();
  std::string tell_termination();
  std::optional<Duration> delay() const;
  std::optional<Duration> delay_of(const Step& step) const;
  Duration pause_after_failure(const Step& step, const SubStepStatus& status) const;
  void compose_status();

  // engine.cc: lists and groups.
  Task<> run_list(const StepList& steps, Mode mode, const Step* group);
  Task<> run_one_by_one(const StepList& steps, const Step* group);
  Task<> run_as_graph(const StepList& steps, const Step* group);
  Task<> run_into(const Step& step, const StepList& list, const Step* group, std::optional<StepOutcome>& outcome);
  Task<> run_group(const Step& step, const StepList& list);
  void conclude_group(const Step& step);
  void end_members(const Step& step, const std::string& phase, const std::string& reason);
  bool may_begin(const Step& step) const;
  bool waits_for_pre_render(const Step& step) const;
  std::optional<std::string> pending_on(const Step& step) const;
  void record_pending(const Step& step, const std::string& message);
  void record(StepOutcome outcome);
  void keep_value(const StepOutcome& outcome);
  bool is_resting(const Step& step) const;
  bool has_suspended_step() const;

  // pre_render.cc
  bool is_pre_render(const Step& step) const;
  bool has_pre_render_ended() const;
  bool has_pre_render_succeeded() const;
  std::string refusal_of(const Step& step, const NextCall& call) const;

  // precheck.cc
  Task<Checked> precheck(const Step& step, const StepList& list, const Step* group);
  std::string skipped_step_in(const std::string& condition) const;
  bool awaits_decision(const SubStepStatus& status) const;
  bool is_held_back(const Step& step) const;
  bool may_follow(const Step& step, const StepList& list, const Step* group) const;
  bool have_all_succeeded(const Step& step) const;
  std::map<std::string, Value> condition_names(const Step& step) const;
  bool is_overdue(const Step& step) const;

  // step_run.cc
  Task<StepOutcome> run_step(const Step& step, const StepList& list, const Step* group);
  Task<> run_body(const Step& step, const Step* group, StepOutcome& outcome);
  Task<> run_calls(const Step& step, Evaluation& evaluation, StepOutcome& outcome);
  Task<bool> take_answer(const Step& step, NextCall call, Evaluation& evaluation, StepOutcome& outcome);
  Task<Answer> ask(const Step& step, const NextCall& call, const Evaluation& evaluation, const StepOutcome& outcome);
  Task<Evaluated> evaluate_in_pool(Evaluation evaluation);
  Task<Result<Value>> patched_in_pool(Evaluation evaluation, std::string path, Value base);
  Task<> run_operator_step(const Step& step, Value output, StepOutcome& outcome);
  Value operator_context(const std::string& step) const;
  Task<Result<Value>> parameter_in_pool(const Step& step, Value context);
  InputScope input_scope(const Step& step, Value context) const;
  Value context_of(const Step& step, const Step* group, const SubStepStatus& status) const;
  void fail_step(const Step& step, StepOutcome& outcome, const char* reason, std::string message) const;
  cue::Limits limits() const;

  const SubStepStatus* status_of(std::string_view name) const;
  SubStepStatus fresh_status(const Step& step) const;

  const Run& run_;
  const StepIndex index_;  // of run_.steps
  Env& env_;
  RunStatus status_;
  RunStore store_;
  std::map<std::string, SubStepStatus, std::less<>> by_name_;
  std::vector<ResourceRef> watched_;
  std::map<std::string, Value> debug_;
  std::shared_ptr<Slots> slots_;
  bool was_suspended_ = false;  // when the pass began to run steps
  bool is_ended_by_user_ = false;
  bool is_rendered_ = false;  // no step of stage pre-render was open then
};

}  // namespace slipway::delivery::workflow
