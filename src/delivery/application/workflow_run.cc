#include "delivery/application/workflow_run.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "control/object_writes.h"
#include "delivery/application/acting.h"
#include "delivery/application/authors.h"
#include "delivery/application/debug_values.h"
#include "delivery/application/events.h"
#include "delivery/application/identity.h"
#include "delivery/application/providers.h"
#include "delivery/application/run_context.h"
#include "delivery/application/standstill.h"

namespace slipway::delivery::application {
namespace {

using control::Outcome;
using kube::ObjectKey;

constexpr const char* kUnresolvedRuns = "unresolved";
constexpr const char* kRunManager = "slipway-workflow-run";

void set_condition(WorkflowRunStatus& status, bool is_true, const std::string& message, Time now) {
  AppCondition condition{.type = kRunCondition,
                         .status = is_true ? "True" : "False",
                         .last_transition_time = now,
                         .reason = is_true ? "Available" : "ReconcileError",
                         .message = message};
  if (!status.conditions.empty() && status.conditions.front().status == condition.status) {
    condition.last_transition_time = status.conditions.front().last_transition_time;
  }
  status.conditions = {std::move(condition)};
}

/// `context` of steps: what users give may shadow what every run has.
Value run_context(const kube::Object& object) {
  json::ObjectBuilder context;
  context.set("name", kube::name(object)).set("namespace", kube::ns(object));
  for (const auto& [name, value] : object["spec"]["context"].members()) context.set(name, value);
  return context.build();
}

const char* end_message(const std::string& phase) {
  if (phase == workflow::kSucceeded) return "WorkflowRun finished successfully";
  return phase == workflow::kTerminated ? "WorkflowRun finished with termination" : "WorkflowRun finished with failure";
}

}  // namespace

workflow::RunStatus WorkflowRunStatus::run() const {
  workflow::RunStatus run;
  run.phase = phase;
  run.message = message;
  run.is_suspended = is_suspended;
  run.suspend_state = suspend_state;
  run.suspended_by = suspended_by;
  run.terminated_by = terminated_by;
  run.is_terminated = is_terminated;
  run.is_finished = is_finished;
  run.context_backend = context_backend;
  run.steps = steps;
  run.step_index = step_index;
  run.start_time = start_time;
  run.end_time = end_time;
  return run;
}

void WorkflowRunStatus::take(workflow::RunStatus run, const workflow::Steps& of) {
  mode = {std::string(workflow::to_string(of.mode)), std::string(workflow::to_string(of.sub_mode))};
  phase = std::move(run.phase);
  message = std::move(run.message);
  is_suspended = run.is_suspended;
  suspend_state = std::move(run.suspend_state);
  suspended_by = std::move(run.suspended_by);
  terminated_by = std::move(run.terminated_by);
  is_terminated = run.is_terminated;
  is_finished = run.is_finished;
  context_backend = std::move(run.context_backend);
  steps = std::move(run.steps);
  step_index = run.step_index;
  start_time = run.start_time;
  end_time = run.end_time;
}

WorkflowRunController::WorkflowRunController(Env& env, HttpClient* http, WorkflowRunOptions options)
    : env_(env),
      http_(http),
      options_(std::move(options)),
      wall_(env.clock),
      other_(env),
      definitions_(options_.definition_namespace) {
  providers_.add(workflow::standard_providers());
  providers_.add(providers_without_application());
}

void WorkflowRunController::watch(control::Watches& watches) {
  watched_.watch(watches);
  runs_ = &watches.primary(kWorkflowRuns);
  runs_->add_index(kUnresolvedRuns, [](const Value& run) -> std::vector<std::string> {
    const bool is_stuck = kube::condition(run, kRunCondition)["status"].as_string() == "False";
    return is_stuck ? std::vector<std::string>{"yes"} : std::vector<std::string>{};
  });
  definitions_.watch(watches);
  watches.also(kStepDefinitions, [this](const Value&) { return unresolved(""); });
  workflows_ = &watches.also(kWorkflows, [this](const Value& one) { return unresolved(std::string(kube::ns(one))); });
}

std::vector<ObjectKey> WorkflowRunController::unresolved(const std::string& ns) const {
  std::vector<ObjectKey> keys;
  for (ObjectKey& key : runs_->index_keys(kUnresolvedRuns, "yes")) {
    if (ns.empty() || key.ns == ns) keys.push_back(std::move(key));
  }
  return keys;
}

Task<Outcome> WorkflowRunController::reconcile(control::Reconcile& run) {
  if (options_.acts_as == ActsAs::Controller) {
    auto leader = co_await other_.who(run.client);
    if (!leader) co_return Outcome::failed(std::move(leader).error());
    if (!leader->empty()) co_return Outcome::retries_after(OtherLeader::kPause);
  }
  const kube::Object object = runs_->get(run.key);
  if (object.is_null() || kube::is_deleting(object)) {
    watched_.forget(run.key);
    memories_.erase(run.key);
    co_return Outcome::settled();
  }
  if (!asks_for_other(object).empty()) co_return Outcome::settled();
  const Value& before = object["status"];
  WorkflowRunStatus status;
  if (!before.is_null()) {
    auto decoded = json::decode<WorkflowRunStatus>(before, "status", {.allow_unknown = true});
    // With an empty status in its place everything would run again.
    if (!decoded) co_return Outcome::failed(std::move(decoded).error());
    status = std::move(*decoded);
  }
  if (status.is_finished) {
    watched_.forget(run.key);
    memories_.erase(run.key);
    co_return co_await settle(run.client, object, std::move(status));
  }
  Memory& memory = memories_[run.key];
  if (memory.uid != kube::uid(object))
    memory = {.uid = std::string(kube::uid(object)), .status = {}, .due = {}, .last_pass = {}};
  if (const auto outcome = rest(object, memory)) co_return *outcome;
  memory.last_pass = env_.clock.steady();
  std::optional<Duration> again;
  auto steps = steps_of(object);
  if (!steps) {
    if (!status.start_time) status.phase = workflow::kInitializing;
    set_condition(status, false, steps.error().message, env_.clock.now());
    if (kube::condition(object, kRunCondition)["message"].as_string() != steps.error().message) {
      const std::string text = "fail to generate workflow runners: " + steps.error().message;
      auto told = co_await tell_of_run(env_, run.client, object, "Generate", text, name_hash(text));
      if (!told) co_return Outcome::failed(std::move(told).error());
    }
    again = options_.resync;
  } else {
    auto passed = co_await run_pass(run, object, status, std::move(*steps));
    if (!passed) co_return Outcome::failed(std::move(passed).error());
    again = *passed;
  }
  auto written = co_await control::write_status(run.client, kWorkflowRuns, object, json::encode(status), kRunManager);
  if (!written && written.error().reason == Reason::NotFound) {  // deleted while it ran
    memories_.erase(run.key);
    co_return Outcome::settled();
  }
  if (!written) co_return Outcome::failed(std::move(written).error());
  if (status.is_finished) {
    const Value& end = (*written)["status"];
    auto recorded =
        co_await tell_of_run(env_, run.client, *written, "Execute", end_message(end["status"].str()), end["startTime"].str());
    if (!recorded) co_return Outcome::failed(std::move(recorded).error());
    co_return Outcome::settled();
  }
  memory.generation = kube::generation(*written);
  memory.status = (*written)["status"];
  memory.due = again ? std::optional(env_.clock.steady() + *again) : std::nullopt;
  co_return again ? Outcome::retries_after(*again) : Outcome::settled();
}

/// A run that has ended says so, whatever was written to its status since.
Task<Outcome> WorkflowRunController::settle(client::Client& client, kube::Object object, WorkflowRunStatus status) {
  workflow::RunStatus ended = status.run();
  workflow::settle_end(ended);
  if (ended.is_suspended == status.is_suspended && ended.is_terminated == status.is_terminated) co_return Outcome::settled();
  status.is_suspended = ended.is_suspended;
  status.is_terminated = ended.is_terminated;
  auto written = co_await control::write_status(client, kWorkflowRuns, std::move(object), json::encode(status), kRunManager);
  if (!written && written.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(written).error());
  co_return Outcome::settled();
}

std::optional<Outcome> WorkflowRunController::rest(const kube::Object& object, const Memory& memory) {
  if (!memory.last_pass) return std::nullopt;
  const Steady now = env_.clock.steady();
  if (now - *memory.last_pass < options_.pause) return Outcome::retries_after(options_.pause - (now - *memory.last_pass));
  const bool is_stuck = kube::condition(object, kRunCondition)["status"].as_string() == "False";
  const bool is_as_left = memory.generation == kube::generation(object) && memory.status == object["status"];
  if (watched_.take_change(kube::key_of(object)) || is_stuck || !is_as_left) return std::nullopt;
  if (!memory.due) return Outcome::settled();
  if (*memory.due <= now) return std::nullopt;
  return Outcome::retries_after(*memory.due - now);
}

Result<workflow::Steps> WorkflowRunController::steps_of(const kube::Object& object) {
  const Value& spec = object["spec"];
  const std::string ns(kube::ns(object));
  Value list = spec["workflowSpec"]["steps"];
  Value mode = spec["mode"];
  std::string path = "spec.workflowSpec.steps";
  if (!spec["workflowSpec"].is_object()) {
    const std::string name = spec["workflowRef"].str();
    if (name.empty()) return fail(Reason::Invalid, "spec.workflowSpec or spec.workflowRef is required");
    const Value workflow = workflows_->get({ns, name});
    if (workflow.is_null()) return fail(Reason::NotFound, fmt::format("Workflow.{} \"{}\" not found", kGroup, name));
    list = workflow["steps"];
    if (mode.is_null()) mode = workflow["mode"];
    path = fmt::format("Workflow {}: steps", name);
  }
  SLIPWAY_TRY(steps, workflow::read_steps(list, mode, path));
  SLIPWAY_TRY_VOID(check_types(ns, steps.steps));
  return steps;
}

Result<void> WorkflowRunController::check_types(const std::string& ns, const std::vector<workflow::Step>& steps) {
  for (const workflow::Step& step : steps) {
    SLIPWAY_TRY_VOID(check_types(ns, step.sub_steps));
    if (step.type == kStepGroup) continue;
    auto found = definitions_.find(DefinitionKind::WorkflowStep, ns, step.type);
    if (!found) return fail(std::move(found).error());
  }
  return {};
}

Task<Result<std::optional<Duration>>> WorkflowRunController::run_pass(control::Reconcile& run, kube::Object object,
                                                                      WorkflowRunStatus& status, workflow::Steps steps) {
  SLIPWAY_CO_TRY(context, co_await load_context(run.client, object));
  Acting acting(run, identity_of(object, options_.acts_as), namer_of(object));
  const bool is_first = !status.start_time;  // a new run, or one that was started again
  if (is_first) SLIPWAY_CO_TRY_VOID(co_await begin_context(run.client, kWorkflowRuns, object, context));
  SLIPWAY_CO_TRY_VOID(check_context(context));
  co_await follow_rights(acting, object, context.store, is_first);
  const auto look_at_author = [&](const Value& used) {
    if (options_.acts_as != ActsAs::User) return;
    if (auto other = other_author(object, used)) {
      acting.confine(std::string(kube::ns(object)), std::move(other->why), other->user);
    }
  };
  if (!object["spec"]["workflowSpec"].is_object()) {
    look_at_author(workflows_->get({std::string(kube::ns(object)), object["spec"]["workflowRef"].str()}));
  }
  workflow::EngineOptions options = options_.engine;
  options.keeps_debug = kube::annotation(object, kDebugAnnotation) == "true";
  const workflow::Run made{
      .setting = {.env = env_,
                  .http = run.outgoing(http_),
                  .on = [&acting](const std::string& cluster) { return acting.on(cluster); },
                  .discover = [&acting](const std::string& cluster) { return acting.own(cluster); },
                  .uses = look_at_author,
                  .manager = kRunManager,
                  .owner = object,
                  .labels = json::object({{kLabelRunName, kube::name(object)}, {kLabelRunNamespace, kube::ns(object)}}),
                  .context = run_context(object),
                  .wall = &wall_},
      .steps = steps,
      .providers = providers_,
      .definition = [this, look_at_author,
                     ns = std::string(kube::ns(object))](std::string type) -> Task<Result<workflow::StepDefinition>> {
        auto definition = definitions_.find(DefinitionKind::WorkflowStep, ns, type);
        if (!definition) co_return fail(std::move(definition).error());
        look_at_author((*definition)->object);
        co_return step_definition(type, **definition);
      },
      .options = options};
  workflow::Pass pass = co_await workflow::run_pass(made, status.run(), std::move(context.store));
  SLIPWAY_CO_TRY(stored, co_await save_context(run.client, std::move(context), pass.store));
  SLIPWAY_CO_TRY_VOID(co_await keep_debug_values(run.client, object, std::move(pass.debug), kRunManager));
  pass.status.context_backend = backend_of(stored);
  status.take(std::move(pass.status), steps);
  status.conditions.clear();
  if (status.phase == workflow::kSucceeded) set_condition(status, true, "", env_.clock.now());
  co_await watched_.replace(run, std::move(pass.watched));
  co_return acting.sooner_without_right(pass.again);
}

}  // namespace slipway::delivery::application
