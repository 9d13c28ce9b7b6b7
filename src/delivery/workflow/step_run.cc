// One step: prechecks, parameter, evaluation and calls in turn, outputs.
#include <fmt/format.h>

#include <algorithm>

#include "base/compute_pool.h"
#include "delivery/workflow/pass.h"
#include "delivery/workflow/variable_path.h"
#include "json/members.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

/// Of one step in one pass.
constexpr std::size_t kMaxStepCalls = 500;

std::string journal_key(const std::string& path) { return path + ".answer"; }

/// Takes over what an answer says of the step; true when the evaluation goes on.
bool follow(const Answer& answer, StepOutcome& outcome) {
  SubStepStatus& status = outcome.status;
  const auto set = [&](const char* phase, const char* reason) {
    status.phase = phase;
    status.reason = reason;
  };
  if (!answer.message.empty()) status.message = answer.message;
  outcome.since = answer.since;
  outcome.until = answer.until;
  switch (answer.kind) {
    case Answer::Kind::Done:
      return true;
    case Answer::Kind::Wait:
      set(kRunning, kReasonWait);
      return false;
    case Answer::Kind::Suspend:
      set(kSuspending, kReasonSuspend);
      return false;
    case Answer::Kind::Fail:
      set(kFailed, kReasonAction);
      outcome.terminates = true;
      return false;
    case Answer::Kind::Break:
      set(kSucceeded, kReasonTerminate);
      outcome.terminates = true;
      return false;
    case Answer::Kind::Error:
      return false;
  }
  return false;
}

/// What a wait without a message waits for: what calls before it could not read, as their `err` says, else that its condition
/// has no value. Empty where the condition is false.
std::string why_it_waits(const NextCall& call, const std::vector<Answered>& answers) {
  std::string text;
  for (const Answered& one : answers) {
    const std::string error = one.returns["err"].str();
    if (!error.empty()) text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", one.path, error);
  }
  if (!text.empty() || !call.provider->takes_incomplete || call.params.has("continue")) return text;
  return fmt::format("{}: continue has no value yet", call.path);
}

}  // namespace

class PassRun::Slot {
 public:
  explicit Slot(Slots& slots) : slots_(slots) { --slots_.free; }
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  ~Slot() {
    ++slots_.free;
    slots_.freed.notify();
  }

 private:
  Slots& slots_;
};

Task<StepOutcome> PassRun::run_step(const Step& step, const StepList& list, const Step* group) {
  const std::shared_ptr<Slots> slots = slots_;
  while (slots->free == 0) co_await slots->freed.wait();
  const Slot slot(*slots);
  const Checked checked = co_await precheck(step, list, group);
  StepOutcome outcome{.status = fresh_status(step)};
  SubStepStatus& status = outcome.status;
  const SubStepStatus before = status;
  outcome.has_begun_after_end = (before.phase.empty() || before.phase == kPending) && is_ended();
  if (!status.first_execute_time || before.phase == kPending) status.first_execute_time = env_.clock.now();
  status.last_execute_time = env_.clock.now();
  status.phase = kSucceeded;
  status.reason.clear();
  status.message = checked.message;
  for (const StepOutput& output : step.outputs) outcome.variables.emplace_back(output.name, Value());
  if (checked.check == Check::Skip) {
    status.phase = kSkipped;
    status.reason = kReasonSkip;
    co_return outcome;
  }
  if (checked.check == Check::Fail) {
    fail_step(step, outcome, kReasonInput, checked.message);
    co_return outcome;
  }
  if (checked.check == Check::TimeOut) {
    // DIVERGES: upstream evaluates the step once more, with all its effects.
    status.phase = kFailed;
    status.reason = kReasonTimeout;
    outcome.terminates = true;
    co_return outcome;
  }
  co_await run_body(step, group, outcome);
  status.message = outcome.secrets.without(std::move(status.message));
  if (status.phase != kFailed) status.failures = 0;
  status.attempts = status.phase == before.phase && status.message == before.message ? before.attempts + 1 : 1;
  co_return outcome;
}

/// A retried error until the retries are used up; any other reason ends the run.
void PassRun::fail_step(const Step& step, StepOutcome& outcome, const char* reason, std::string message) const {
  SubStepStatus& status = outcome.status;
  status.phase = kFailed;
  status.reason = reason;
  status.message = std::move(message);
  if (status.reason != kReasonExecute) {
    outcome.terminates = true;
    return;
  }
  ++status.failures;
  if (status.failures <= (step.retry ? step.retry->limit : run_.options.max_failures)) return;
  status.reason = kReasonFailedAfterRetries;
  outcome.terminates = !run_.options.suspends_on_failure;
}

Task<> PassRun::run_body(const Step& step, const Step* group, StepOutcome& outcome) {
  // First of all: what goes wrong from here on may tell of it.
  for (const StepInput& input : step.inputs) {
    if (!store_.is_secret(input.from)) continue;
    outcome.is_secret = true;
    if (const Value* variable = look_up(store_.vars, input.from)) outcome.secrets.add(*variable);
  }
  const Value context = context_of(step, group, outcome.status);
  auto parameter = co_await parameter_in_pool(step, context);
  if (!parameter) {
    fail_step(step, outcome, kReasonInput, parameter.error().message);
    co_return;
  }
  auto definition = co_await run_.definition(step.type);
  if (!definition) {
    fail_step(step, outcome, kReasonExecute, definition.error().message);
    co_return;
  }
  Evaluation evaluation{.program = definition->program,
                        .parameter = std::move(*parameter),
                        .context = json::with_members(context, definition->context),
                        .answers = {},
                        .outputs = step.outputs,
                        .providers = &run_.providers,
                        .limits = {}};
  co_await run_calls(step, evaluation, outcome);
}

Task<> PassRun::run_calls(const Step& step, Evaluation& evaluation, StepOutcome& outcome) {
  for (std::size_t calls = 0; calls < kMaxStepCalls; ++calls) {
    Evaluated evaluated = co_await evaluate_in_pool(evaluation);
    if (!evaluated.error.empty()) {
      fail_step(step, outcome, kReasonExecute, std::move(evaluated.error));
      co_return;
    }
    if (!evaluated.call) {
      const Value& output = evaluated.value["output"];
      outcome.value = evaluated.value;
      if (!evaluated.has_calls && output["apiVersion"].is_string() && output["kind"].is_string()) {
        co_await run_operator_step(step, output, outcome);
      }
      if (!is_finished(outcome.status)) co_return;
      outcome.variables = std::move(evaluated.outputs);
      if (outcome.status.phase == kSucceeded && !evaluated.output_error.empty()) {
        outcome.status.message = std::move(evaluated.output_error);
      }
      co_return;
    }
    if (co_await take_answer(step, std::move(*evaluated.call), evaluation, outcome)) continue;
    if (is_finished(outcome.status)) {
      evaluation.is_last = true;
      evaluated = co_await evaluate_in_pool(evaluation);
      outcome.value = std::move(evaluated.value);
      outcome.variables = std::move(evaluated.outputs);
    }
    co_return;
  }
  fail_step(step, outcome, kReasonExecute, fmt::format("the step makes more than {} calls", kMaxStepCalls));
}

/// False when the step's pass ends with this call.
Task<bool> PassRun::take_answer(const Step& step, NextCall call, Evaluation& evaluation, StepOutcome& outcome) {
  const std::string key = note(outcome.status, journal_key(call.path));
  const bool is_once = call.provider->is_once && call.provider->is_once(call.params);
  Answered answered{.path = call.path, .is_flat = call.is_flat, .params = call.params, .returns = {}};
  if (const auto journaled = store_.notes.find(key); is_once && journaled != store_.notes.end()) {
    answered.returns = json::parse(journaled->second).value_or(Value());
    if (store_.secret_notes.contains(key)) {
      outcome.is_secret = true;
      outcome.secrets.add(answered.returns);
    }
    evaluation.answers.push_back(std::move(answered));
    co_return true;
  }
  std::string refusal = refusal_of(step, call);
  Answer answer = refusal.empty() ? co_await ask(step, call, evaluation, outcome) : Answer::error(std::move(refusal));
  outcome.is_secret = outcome.is_secret || answer.is_secret;
  if (answer.is_secret) outcome.secrets.add(answer.secret_part.is_null() ? answer.returns : answer.secret_part);
  if (answer.resource) {
    outcome.status.resource_ref = answer.resource;
    outcome.watched.push_back(*answer.resource);
  }
  for (ResourceRef& watched : answer.watched) outcome.watched.push_back(std::move(watched));
  if (answer.kind == Answer::Kind::Error) {
    fail_step(step, outcome, kReasonExecute, fmt::format("function call error for {}: {}", call.path, answer.message));
    co_return false;
  }
  if (answer.kind == Answer::Kind::Wait && answer.message.empty()) answer.message = why_it_waits(call, evaluation.answers);
  if (!follow(answer, outcome)) co_return false;
  if (is_once) {
    store_.notes[key] = json::print(answer.returns);
    if (outcome.is_secret) store_.secret_notes.insert(key);
    store_.has_changed = true;
  }
  answered.returns = std::move(answer.returns);
  evaluation.answers.push_back(std::move(answered));
  co_return true;
}

Task<Answer> PassRun::ask(const Step& step, const NextCall& call, const Evaluation& evaluation, const StepOutcome& outcome) {
  CallSetting setting = run_.setting;
  setting.context = evaluation.context;
  const SubStepStatus status = status_of(step.name) == nullptr ? outcome.status : *status_of(step.name);
  const auto apply_patch = [this, evaluation, path = call.path](Value base) {
    return patched_in_pool(evaluation, path, std::move(base));
  };
  co_return co_await call.provider->run(ProviderCall{.setting = setting,
                                                     .params = call.params,
                                                     .path = call.path,
                                                     .step = &step,
                                                     .status = &status,
                                                     .step_id = outcome.status.id,
                                                     .store = &store_,
                                                     .is_secret = outcome.is_secret,
                                                     .patched = apply_patch});
}

Task<Evaluated> PassRun::evaluate_in_pool(Evaluation evaluation) {
  Evaluated evaluated;
  evaluation.limits = limits();
  co_await compute_for(env_, std::string(kube::ns(run_.setting.owner)), [&] { evaluated = evaluate(evaluation); });
  co_return evaluated;
}

Task<Result<Value>> PassRun::patched_in_pool(Evaluation evaluation, std::string path, Value base) {
  Result<Value> result;
  evaluation.limits = limits();
  co_await compute_for(env_, std::string(kube::ns(run_.setting.owner)), [&] { result = patched(evaluation, path, base); });
  co_return result;
}

Task<Result<Value>> PassRun::parameter_in_pool(const Step& step, Value context) {
  const InputScope scope = input_scope(step, std::move(context));
  if (step.inputs.empty()) co_return with_inputs(step.inputs, scope, {});
  Result<Value> parameter;
  const cue::Limits limited = limits();
  co_await compute_for(env_, std::string(kube::ns(run_.setting.owner)),
                       [&] { parameter = with_inputs(step.inputs, scope, limited); });
  co_return parameter;
}

InputScope PassRun::input_scope(const Step& step, Value context) const {
  return {.variables = store_.vars, .context = std::move(context), .parameter = step.properties};
}

Value PassRun::context_of(const Step& step, const Step* group, const SubStepStatus& status) const {
  json::ObjectBuilder context(run_.setting.context);
  context.set("stepName", step.name).set("stepSessionID", status.id);
  if (group != nullptr) context.set("stepGroupName", group->name);
  context.set("spanID", fmt::format("{}.{}", kube::name(run_.setting.owner), status.id));
  return context.build();
}

cue::Limits PassRun::limits() const {
  cue::Limits limits = cue::Limits::for_template();
  limits.is_overdue = [&clock = env_.clock, deadline = env_.clock.steady() + run_.options.evaluation_deadline] {
    return clock.steady() >= deadline;
  };
  return limits;
}

}  // namespace slipway::delivery::workflow
