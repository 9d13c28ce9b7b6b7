#include "delivery/application/run_actions.h"

#include <fmt/format.h>

#include "base/text.h"
#include "delivery/application/definition_store.h"
#include "delivery/application/kind.h"
#include "delivery/application/revision.h"
#include "delivery/application/revision_actions.h"
#include "delivery/application/rollout_plans.h"
#include "delivery/application/run_context.h"
#include "delivery/workflow/engine.h"
#include "json/codec.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

using workflow::RunStatus;

constexpr int kMaxTries = 5;

bool is_application(const ActionCall& call) { return call.resource.plural == kApplications.plural; }

std::string option(const ActionCall& call, const std::string& name) {
  const auto at = call.options.find(name);
  return at == call.options.end() ? "" : at->second;
}

/// `--step S`, or KIND/NAME/S.
std::string step_of(const ActionCall& call) {
  const std::string step = option(call, "step");
  return step.empty() ? call.part : step;
}

std::string title(const kube::Object& object) { return fmt::format("{}/{}", lower(kube::kind(object)), kube::name(object)); }

/// A refusal names the object.
Status refused(const kube::Object& object, Status error) {
  error.message = fmt::format("{}: {}", title(object), error.message);
  return error;
}

/// Where the run stands in the object. A WorkflowRun's `mode` is a struct, which no operation touches.
Value acted_run(const kube::Object& object, bool is_app) {
  return is_app ? object["status"]["workflow"] : object["status"].without("mode");
}

Result<RunStatus> read_run(const kube::Object& object, bool is_app) {
  const Value run = acted_run(object, is_app);
  if (!run.is_object() || run.empty()) return fail(Reason::BadRequest, "its workflow has not begun");
  return json::decode<RunStatus>(run, is_app ? "status.workflow" : "status", {.allow_unknown = true});
}

/// The object with the run as it shall stand; members that Slipway does not know stay.
kube::Object with_run(const kube::Object& object, const RunStatus& run, bool is_app) {
  const Value before = is_app ? object["status"]["workflow"] : object["status"];
  const Value known = json::encode(RunStatus{});
  const Value wanted = json::encode(run);
  json::ObjectBuilder merged;
  const auto decoded = json::decode<RunStatus>(acted_run(object, is_app), "", {.allow_unknown = true});
  const Value understood = decoded ? json::encode(*decoded) : known;
  for (const auto& [key, value] : before.members()) {
    if (!understood.has(key) || key == "mode") merged.set(key, value);
  }
  for (const auto& [key, value] : wanted.members()) {
    if (is_app || key != "mode") merged.set(key, value);
  }
  return is_app ? object.with_path({"status", "workflow"}, merged.build()) : object.with("status", merged.build());
}

using Operation = std::function<Result<RunStatus>(RunStatus run, const std::string& step)>;

Task<Result<CommandAnswer>> write_run(ActionCall call, Operation operation, std::string done, bool follows) {
  const bool is_app = is_application(call);
  for (int tried = 1;; ++tried) {
    SLIPWAY_CO_TRY(object, co_await client::get(call.client, call.resource, call.key));
    auto run = read_run(object, is_app);
    if (run) run = operation(std::move(*run), step_of(call));
    if (!run) co_return fail(refused(object, std::move(run).error()));
    auto written = co_await client::update_status(call.client, call.resource, with_run(object, *run, is_app), kManager);
    if (!written && written.error().reason == Reason::Conflict && tried < kMaxTries) continue;
    if (!written) co_return fail(std::move(written).error());
    const std::string step = step_of(call);
    co_return CommandAnswer{.text = fmt::format("{}{}: {}\n", title(object), step.empty() ? "" : " step " + step, done),
                            .follows = follows};
  }
}

Task<Result<CommandAnswer>> suspend(ActionCall call) {
  co_return co_await write_run(std::move(call), workflow::suspend, "suspended", false);
}

/// What lets rollouts go on that wait for an approval: no step is suspended meanwhile. Empty when there is none.
Task<std::string> commands_of_rollouts(ActionCall call) {
  std::vector<std::string> commands;
  const auto application = co_await client::get(call.client, call.resource, call.key);
  if (!application) co_return "";
  for (const Value& made : (*application)["status"]["appliedResources"].items()) {
    const auto kind = kube::GroupVersionKind::of(made);
    const bool is_here = made["cluster"].as_string().empty() || made["cluster"].as_string() == kHub;
    if (!kind || !is_here) continue;
    // Kinds that have plans are named regularly.
    const kube::Resource resource{kind->group, kind->version, lower(kind->kind) + "s"};
    const auto live = co_await client::get(call.client, resource, {made["namespace"].str(), made["name"].str()});
    if (!live || !has_plan(*live) || !(*live)["status"]["pause"].as_bool()) continue;
    commands.push_back(fmt::format("slipway rollout approve {}/{} -n {}", lower(kind->kind), made["name"].as_string(),
                                   made["namespace"].as_string()));
  }
  co_return joined(commands, ", ");
}

Task<Result<CommandAnswer>> resume(ActionCall call) {
  auto resumed = co_await write_run(call, workflow::resume, "resumed", true);
  if (resumed || !is_application(call)) co_return resumed;
  const std::string commands = co_await commands_of_rollouts(std::move(call));
  if (commands.empty()) co_return resumed;
  Status error = std::move(resumed).error();
  error.message += fmt::format("; its rollout waits for an approval: {}", commands);
  co_return fail(std::move(error));
}

Task<Result<CommandAnswer>> terminate(ActionCall call) {
  const auto operation = [](RunStatus run, const std::string& step) -> Result<RunStatus> {
    if (!step.empty()) return fail(Reason::BadRequest, "a run is terminated whole: leave the step out");
    return workflow::terminate(std::move(run));
  };
  co_return co_await write_run(std::move(call), operation, "terminated", false);
}

/// Everything runs again: the status of the run goes, and with it what it has stored.
Task<Result<CommandAnswer>> restart_whole(ActionCall call) {
  const bool is_app = is_application(call);
  for (int tried = 1;; ++tried) {
    SLIPWAY_CO_TRY(object, co_await client::get(call.client, call.resource, call.key));
    if (const auto run = read_run(object, is_app); !run) co_return fail(refused(object, run.error()));
    if (!is_app) {
      SLIPWAY_CO_TRY(context, co_await load_context(call.client, object));
      const bool is_stored = context.object["metadata"].has("resourceVersion");
      if (is_stored) SLIPWAY_CO_TRY_VOID(co_await save_context(call.client, std::move(context), {}));
    }
    const kube::Object wanted = is_app ? object.without_path({"status", "workflow"}) : object.with("status", json::object({}));
    auto written = co_await client::update_status(call.client, call.resource, wanted, kManager);
    if (!written && written.error().reason == Reason::Conflict && tried < kMaxTries) continue;
    if (!written) co_return fail(std::move(written).error());
    co_return CommandAnswer{.text = fmt::format("{}: runs again\n", title(object)), .follows = true};
  }
}

/// The steps as the run knows them. Definitions come from its revision; those that are not there are the built-in ones.
Task<Result<workflow::Steps>> steps_of_application(ActionCall call, kube::Object application) {
  const std::string name = application["status"]["latestRevision"]["name"].str();
  SLIPWAY_CO_TRY(revision, co_await client::get(call.client, kRevisions, {call.key.ns, name}));
  DefinitionStore store;
  const Lookup built_in{.definition = [&](DefinitionKind kind, const std::string& type) { return store.find(kind, "", type); },
                        .policy = [](const std::string&) { return Value(); },
                        .workflow = [](const std::string&) { return Value(); }};
  const auto frozen = read_revision(revision, store);
  SLIPWAY_CO_TRY(parsed, parse(application, frozen->spec, lookup_in(frozen, built_in)));
  co_return parsed.steps;
}

Task<Result<workflow::Steps>> steps_of_run(ActionCall call, kube::Object run) {
  Value list = run["spec"]["workflowSpec"]["steps"];
  Value mode = run["spec"]["mode"];
  if (const std::string name = run["spec"]["workflowRef"].str(); !name.empty()) {
    SLIPWAY_CO_TRY(shared, co_await client::get(call.client, kWorkflows, {call.key.ns, name}));
    list = shared["steps"];
    if (mode.is_null()) mode = shared["mode"];
  }
  co_return workflow::read_steps(list, mode, "spec.workflowSpec.steps");
}

Task<Result<CommandAnswer>> restart_step(ActionCall call, std::string step) {
  const bool is_app = is_application(call);
  for (int tried = 1;; ++tried) {
    SLIPWAY_CO_TRY(object, co_await client::get(call.client, call.resource, call.key));
    auto run = read_run(object, is_app);
    if (!run) co_return fail(refused(object, std::move(run).error()));
    auto steps = is_app ? co_await steps_of_application(call, object) : co_await steps_of_run(call, object);
    if (!steps) co_return fail(refused(object, std::move(steps).error()));
    SLIPWAY_CO_TRY(context, co_await load_context(call.client, object));
    SLIPWAY_CO_TRY_VOID(check_context(context));
    auto wanted = workflow::restart_from(*steps, std::move(*run), context.store, step);
    if (!wanted) co_return fail(refused(object, std::move(wanted).error()));
    // First the variables: a status that says that a step has not run must never meet what it has left.
    auto stored = co_await save_context(call.client, std::move(context), std::move(wanted->second));
    const bool is_late = !stored && stored.error().reason == Reason::Conflict;
    if (!stored && !is_late) co_return fail(std::move(stored).error());
    auto written =
        is_late ? fail(stored.error())
                : co_await client::update_status(call.client, call.resource, with_run(object, wanted->first, is_app), kManager);
    if (!written && written.error().reason == Reason::Conflict && tried < kMaxTries) continue;
    if (!written) co_return fail(std::move(written).error());
    co_return CommandAnswer{.text = fmt::format("{}: runs again from step {}\n", title(object), step), .follows = true};
  }
}

Task<Result<CommandAnswer>> restart(ActionCall call) {
  const std::string step = step_of(call);
  if (step.empty()) co_return co_await restart_whole(std::move(call));
  co_return co_await restart_step(std::move(call), step);
}

CommandOption step_option(const char* help) { return {.name = "step", .help = help}; }

std::vector<Action> run_actions() {
  return {{.verb = "workflow suspend",
           .help = "pause a workflow, or one running step of it",
           .options = {step_option("pause only this step (default: all that run)")},
           .run = suspend},
          {.verb = "workflow resume",
           .help = "let a suspended workflow, or one step of it, go on: also the approval of a step that waits for one",
           .options = {step_option("go on only with this step (default: all that are suspended)")},
           .run = resume},
          {.verb = "workflow terminate",
           .help = "end a workflow before its end: steps that run are failed, the others do not run",
           .run = terminate},
          {.verb = "workflow restart",
           .help = "run a workflow again, whole or from a step that has failed",
           .options = {step_option("run this failed step and what follows it (default: all)")},
           .run = restart}};
}

}  // namespace

std::vector<Action> application_run_actions() {
  std::vector<Action> actions = run_actions();
  actions.push_back({.verb = "workflow rollback",
                     .help = "bring back the spec of the last revision before this one that was delivered",
                     .options = {},
                     .run = roll_back});
  for (Action& action : actions) action.takes_bare_name = true;
  return actions;
}

std::vector<Action> workflow_run_actions() { return run_actions(); }

}  // namespace slipway::delivery::application
