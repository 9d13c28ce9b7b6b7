#include "delivery/application/controller.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/digest.h"
#include "control/object_writes.h"
#include "delivery/application/conditions.h"
#include "delivery/application/debug_values.h"
#include "delivery/application/definition_changes.h"
#include "delivery/application/delivered_notes.h"
#include "delivery/application/events.h"
#include "delivery/application/handing_over.h"
#include "delivery/application/plan_writes.h"
#include "delivery/application/policy_outputs.h"
#include "delivery/application/pre_render.h"
#include "delivery/application/provider_rows.h"
#include "delivery/application/providers.h"
#include "delivery/application/resources.h"
#include "delivery/application/rolled_services.h"
#include "delivery/application/run_context.h"
#include "delivery/application/run_record.h"
#include "delivery/application/standstill.h"
#include "delivery/application/step_context.h"
#include "delivery/application/taking_over.h"
#include "delivery/application/upkeep.h"
#include "delivery/family/template_owner.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::application {
namespace {

using control::Outcome;
using kube::ObjectKey;

constexpr const char* kByApplication = "application";
constexpr const char* kByCluster = "cluster";
constexpr const char* kUnresolved = "unresolved";
constexpr const char* kByDefinition = "definition";
/// How many applications are looked at until what was read of one is forgotten.
constexpr std::uint64_t kParsedKept = 512;
constexpr const char* kPlanApplied = "PlanApplied";
constexpr const char* kRollingOut = "rollingOut";  // a rollout delivers it
constexpr const char* kScheduledRestart = "workflowRestartScheduledAt";

std::string application_key(const Value& object) {
  return fmt::format("{}/{}", kube::label(object, kLabelNamespace), kube::label(object, kLabelName));
}

/// The clusters that its status tells of.
std::vector<std::string> clusters_in(const Value& status) {
  std::set<std::string> names;
  for (const char* list : {"services", "appliedResources"}) {
    for (const Value& one : status[list].items()) names.insert(one["cluster"].str());
  }
  return {names.begin(), names.end()};
}

std::string phase_of(const workflow::RunStatus& run) {
  if (run.phase == workflow::kSuspending) return "workflowSuspending";
  if (run.phase == workflow::kTerminated) return "workflowTerminated";
  if (run.phase == workflow::kFailed) return "workflowFailed";
  return "runningWorkflow";
}

/// `context` of steps.
Value step_context(const RenderContext& base) {
  const Value context = json::object({{"name", base.app_name},
                                      {"namespace", base.ns},
                                      {"appName", base.app_name},
                                      {"appRevision", base.app_revision},
                                      {"appRevisionNum", base.app_revision_number},
                                      {"appLabels", base.app_labels},
                                      {"appAnnotations", base.app_annotations},
                                      {"publishVersion", base.publish_version},
                                      {"workflowName", base.workflow_name}});
  return base.custom.is_null() ? context : context.with("custom", base.custom);
}

/// What a run delivers: changes restart it.
std::string run_marker(const kube::Object& application, const LatestRevision& revision) {
  const auto version = kube::annotation(application, kPublishVersion);
  return version.empty() ? revision.name : std::string(version);
}

/// KubeVela adds a digest of values that a chart is rendered with.
bool is_run_of(std::string_view app_revision, const std::string& marker) {
  return app_revision == marker || app_revision.starts_with(marker + "-vf-");
}

/// Whether the run of this marker is under way, or has ended.
bool has_begun(const ApplicationStatus& status, const std::string& marker) {
  return status.workflow && is_run_of(status.workflow->app_revision, marker) && status.workflow->start_time;
}

/// What was delivered to clusters that do not answer is still told of.
void begin_run(ApplicationStatus& status, const std::string& marker, const LiveObjects& live, bool has_pre_render) {
  status.workflow = workflow::RunStatus{};
  status.workflow->app_revision = marker;
  std::erase_if(status.services, [&](const ServiceStatus& one) { return live.is_reachable(one.cluster); });
  for (ServiceStatus& one : status.services) {
    if (!one.is_unknown()) one.become_unknown(live.clusters().reach(live.known_as(one.cluster)).problem.message);
  }
  status.applied.clear();
  status.rolled_back_to.clear();
  for (const char* type : {kProgressing, kContested}) drop_condition(status, type);
  drop_conditions_after(status, has_pre_render ? "Revision" : "Render");
}

void pass_rendering(ApplicationStatus& status, Time now) {
  for (const char* type : {"Policy", "Render"}) pass_condition(status, type, now);
}

/// Rendering waits for steps of stage pre-render.
void pass_parsing(ApplicationStatus& status, bool is_pre_rendered, Time now) {
  for (const char* type : {"Parsed", "Revision"}) pass_condition(status, type, now);
  if (!is_pre_rendered) pass_rendering(status, now);
}

/// The rendered resources for readers, and the objects of policies. Why one of these cannot be applied; empty: all are.
Task<Result<std::string>> render_all(AppRun& app) {
  SLIPWAY_CO_TRY_VOID(co_await write_resources(app));
  auto made = co_await apply_policy_outputs(app);
  co_return made ? std::string() : made.error().message;
}

/// Once for each run, after its steps of stage pre-render: they decide what there is to render. That it is done is condition
/// Render.
bool is_to_be_rendered(const workflow::Steps& steps, const ApplicationStatus& status, bool restarts) {
  if (!has_pre_render(steps)) return restarts;
  return !restarts && !has_passed(status, "Render") && has_pre_render_succeeded(steps, *status.workflow);
}

/// With one that cannot be read in hand, objects would count as no longer wanted.
Result<std::vector<Tracker>> read_trackers(const std::vector<Value>& trackers) {
  std::vector<Tracker> read;
  for (const Value& tracker : trackers) {
    read.push_back(Tracker::from_object(tracker));
    if (read.back().is_readable) continue;
    return fail(Reason::InternalError, fmt::format("ResourceTracker {} cannot be read (compression {}): nothing is done",
                                                   kube::name(tracker), tracker["spec"]["compression"]["type"].as_string()));
  }
  return read;
}

/// With an empty status in the place of one that cannot be read everything would run again.
Result<ApplicationStatus> read_status(const Value& status) {
  if (status.is_null()) return ApplicationStatus{};
  SLIPWAY_TRY(read, json::decode<ApplicationStatus>(status, "status", {.allow_unknown = true}));
  if (read.workflow && read.workflow->is_finished) workflow::settle_end(*read.workflow);
  return read;
}

/// Whether the user has to mend it.
bool is_fault_of_user(Reason reason) {
  return reason == Reason::NotFound || reason == Reason::Invalid || reason == Reason::BadRequest;
}

}  // namespace

ApplicationController::ApplicationController(Env& env, HttpClient* http, ControllerOptions options)
    : env_(env),
      http_(http),
      options_(std::move(options)),
      wall_(env.clock),
      other_(env),
      definitions_(options_.definition_namespace) {
  template_providers_.add(workflow::standard_providers());
}

void ApplicationController::watch(control::Watches& watches) {
  live_.watch(watches, [this](const ObjectKey& key) { wake(key); });
  watched_.watch(watches);
  applications_ = &watches.changes(kApplications, [](const Value& before, const Value& after) -> std::vector<ObjectKey> {
    const Value& object = after.is_null() ? before : after;
    return {kube::key_of(object)};
  });
  applications_->add_index(kUnresolved, [](const Value& application) -> std::vector<std::string> {
    const bool is_parsed = kube::condition(application, "Parsed")["status"].as_string() != "False";
    return is_parsed ? std::vector<std::string>{} : std::vector<std::string>{"yes"};
  });
  applications_->add_index(kByCluster, [](const Value& application) { return clusters_in(application["status"]); });
  // What is told of a cluster is looked at again when it comes, goes or is another.
  clusters_ = watches.clusters().subscribe([this, enqueue = watches.enqueue()](const std::string& cluster) {
    for (const ObjectKey& key : applications_->index_keys(kByCluster, cluster)) {
      wake(key);
      enqueue(key);
    }
  });
  revisions_ = &watches.cache(kRevisions);
  revisions_->add_index(kByApplication, [](const Value& revision) -> std::vector<std::string> {
    return {fmt::format("{}/{}", kube::ns(revision), kube::label(revision, kLabelName))};
  });
  trackers_ = &watches.cache(kTrackers);
  trackers_->add_index(kByApplication,
                       [](const Value& tracker) -> std::vector<std::string> { return {application_key(tracker)}; });
  definitions_.watch(watches);
  applications_->add_index(kByDefinition, [](const Value& application) { return named_definitions(application["spec"]); });
  // Whoever could not be read may be readable now, and who uses a definition is to say that it has changed, or to follow it.
  for (const kube::Resource& resource : {kComponentDefinitions, kTraitDefinitions, kPolicyDefinitions, kStepDefinitions}) {
    watches.changes(resource, [this](const Value& before, const Value& after) -> std::vector<ObjectKey> {
      if (before["spec"] == after["spec"]) return {};
      std::vector<ObjectKey> keys = unresolved("");
      for (const ObjectKey& key : users_of(before, after)) keys.push_back(key);
      return keys;
    });
  }
  policies_ = &watches.also(kPolicies, [this](const Value& policy) { return unresolved(std::string(kube::ns(policy))); });
  workflows_ = &watches.also(kWorkflows, [this](const Value& one) { return unresolved(std::string(kube::ns(one))); });
}

std::vector<ObjectKey> ApplicationController::unresolved(const std::string& ns) {
  std::vector<ObjectKey> keys;
  for (ObjectKey& key : applications_->index_keys(kUnresolved, "yes")) {
    if (ns.empty() || key.ns == ns) keys.push_back(std::move(key));
  }
  for (const ObjectKey& key : keys) wake(key);
  return keys;
}

std::vector<ObjectKey> ApplicationController::users_of(const kube::Object& before, const kube::Object& after) {
  const kube::Object& definition = after.is_null() ? before : after;
  const std::string named = fmt::format("{}/{}", kube::kind(definition), kube::name(definition));
  std::vector<ObjectKey> keys = applications_->index_keys(kByDefinition, named);
  if (is_global_policy(before) || is_global_policy(after)) {
    keys.clear();
    for (const ObjectKey& key : applications_->keys()) keys.push_back(key);
  }
  const std::string ns(kube::ns(definition));
  std::erase_if(keys, [&](const ObjectKey& key) { return !definitions_.is_for_all(ns) && key.ns != ns; });
  for (const ObjectKey& key : keys) wake(key);
  return keys;
}

void ApplicationController::wake(const ObjectKey& key) {
  if (const auto known = memories_.find(key); known != memories_.end()) known->second.is_woken = true;
}

/// What was read from specs and revisions is several KiB for each; at rest each is looked at every few minutes.
void ApplicationController::forget_parsed() {
  for (auto& [key, memory] : memories_) {
    if (memory.look + kParsedKept > looks_) continue;
    memory.parsed.reset();
    memory.frozen.reset();
    memory.parsed_key = memory.frozen_key = {};
  }
}

std::vector<Value> ApplicationController::trackers_of(const kube::Object& application) const {
  std::vector<Value> mine;
  const std::string key = fmt::format("{}/{}", kube::ns(application), kube::name(application));
  for (const Value& tracker : trackers_->index(kByApplication, key)) {
    if (belongs_to(tracker, application)) mine.push_back(tracker);
  }
  return mine;
}

Lookup ApplicationController::live_lookup(const kube::Object& application) {
  const std::string ns(kube::ns(application));
  return {.definition = [this, ns](DefinitionKind kind, const std::string& type) { return definitions_.find(kind, ns, type); },
          .policy = [this, ns](const std::string& name) { return policies_->get({ns, name}); },
          .workflow = [this, ns](const std::string& name) { return workflows_->get({ns, name}); },
          .global_policies = [this, ns] { return definitions_.global_policies(ns); }};
}

Task<Outcome> ApplicationController::reconcile(control::Reconcile& run) {
  if (options_.acts_as == ActsAs::Controller) {
    auto leader = co_await other_.who(run.client);
    if (!leader) co_return Outcome::failed(std::move(leader).error());
    if (!leader->empty()) co_return Outcome::retries_after(OtherLeader::kPause);
  }
  kube::Object application = applications_->get(run.key);
  if (application.is_null()) {
    watched_.forget(run.key);
    memories_.erase(run.key);
    co_return Outcome::settled();
  }
  Memory& memory = memories_[run.key];
  if (memory.uid != kube::uid(application)) {
    memory = Memory{};
    memory.uid = std::string(kube::uid(application));
  }
  memory.look = ++looks_;
  if (looks_ % kParsedKept == 0) forget_parsed();
  if (!asks_for_other(application).empty()) co_return Outcome::settled();
  if (kube::is_deleting(application)) co_return co_await let_go(run, std::move(application), memory);
  if (!standstill(application).empty()) co_return Outcome::settled();
  const Steady now = env_.clock.steady();
  if (memory.last_pass && now - *memory.last_pass < options_.pause) {
    co_return Outcome::retries_after(options_.pause - (now - *memory.last_pass));
  }
  // Its own write of the status is no news.
  const bool is_woken = watched_.take_change(run.key) || memory.is_woken;
  if (!is_woken && memory.written == kube::revision(application) && memory.due && now < *memory.due) {
    co_return *memory.due == Steady::max() ? Outcome::settled() : Outcome::retries_after(*memory.due - now);
  }
  memory.due.reset();
  memory.last_pass = now;
  memory.is_woken = false;
  if (is_rollout_template(application) || !rolled_out_by(application).is_null()) {
    co_return co_await prepare(run, std::move(application), memory);
  }
  auto held = co_await control::add_finalizer(run.client, kApplications, application, kFinalizer, kManager);
  if (!held) co_return Outcome::failed(std::move(held).error());
  co_return co_await deliver(run, std::move(*held), memory);
}

/// Of an application that a rollout delivers: revision and rendered resources, of which nothing is applied.
Task<Outcome> ApplicationController::prepare(control::Reconcile& run, kube::Object application, Memory& memory) {
  const Value before = application["status"];
  auto decoded = read_status(before);
  if (!decoded) co_return Outcome::failed(std::move(decoded).error());
  Status status = std::move(*decoded);
  auto resolved = co_await resolve(run, application, status, memory);
  if (!resolved) {
    const auto& error = resolved.error();
    if (!is_fault_of_user(error.reason)) co_return Outcome::failed(error);
    co_return co_await stop_at(run.client, std::move(application), std::move(status), before,
                               {"Parsed", "rendering", "FailedParse", error.message});
  }
  const bool is_rendered =
      status.phase == kRollingOut && status.latest_revision && status.latest_revision->name == resolved->revision.name;
  status.latest_revision = resolved->revision;
  AppRun app(AppTools{env_, run.outgoing(http_), live_, verdicts_, template_providers_, options_.acts_as, options_.apply_mode},
             run, resolved->scoped.application, resolved->parsed, resolved->lookup, memory);
  app.set_revision(resolved->revision.name, resolved->revision.revision);
  app.set_custom(resolved->scoped.custom);
  app.narrow_to_author_of(resolved->written_before);
  if (!is_rendered) {
    auto written = co_await write_resources(app);
    if (!written) co_return Outcome::failed(std::move(written).error());
  }
  for (const char* type : {"Parsed", "Revision", "Render"}) pass_condition(status, type, env_.clock.now());
  status.phase = kRollingOut;
  co_return co_await write(run.client, std::move(application), std::move(status), before, Outcome::settled());
}

Task<Outcome> ApplicationController::deliver(control::Reconcile& run, kube::Object application, Memory& memory) {
  const Value before = application["status"];
  auto decoded = read_status(before);
  if (!decoded) co_return Outcome::failed(std::move(decoded).error());
  Status status = std::move(*decoded);
  const Time now = env_.clock.now();
  const RestartPlan restart = restart_plan(application, status);
  if (restart.removes_annotation) co_return co_await remove_restart(run.client, std::move(application));
  status.restart_at = restart.at;
  auto resolved = co_await resolve(run, application, status, memory);
  if (!resolved) {
    const auto& error = resolved.error();
    if (!is_fault_of_user(error.reason)) co_return Outcome::failed(error);
    co_await tell_faults(env_, application, live_lookup(application), memory.faults, status);
    co_return co_await stop_at(run.client, std::move(application), std::move(status), before,
                               {"Parsed", "rendering", "FailedParse", error.message});
  }
  status.latest_revision = resolved->revision;
  const kube::Object as_written = std::exchange(application, resolved->scoped.application);
  AppRun app(AppTools{env_, run.outgoing(http_), live_, verdicts_, template_providers_, options_.acts_as, options_.apply_mode},
             run, application, resolved->parsed, resolved->lookup, memory);
  app.set_revision(resolved->revision.name, resolved->revision.revision);
  app.set_custom(resolved->scoped.custom);
  app.narrow_to_author_of(resolved->written_before);
  auto trackers = read_trackers(trackers_of(application));
  if (!trackers) co_return Outcome::failed(std::move(trackers).error());
  app.load_trackers(std::move(*trackers));
  const std::string marker = run_marker(application, resolved->revision);
  const bool restarts = restart.restarts || !has_begun(status, marker);
  if (!restarts) app.continue_run();
  const bool is_pre_rendered = has_pre_render(resolved->parsed->steps);
  pass_parsing(status, is_pre_rendered, now);
  note_definitions(application, *resolved->parsed, status);
  if (restarts) begin_run(status, marker, live_, is_pre_rendered);
  const bool renders = is_to_be_rendered(resolved->parsed->steps, status, restarts);
  if (restarts || !resolved->scoped.policies.empty()) {
    auto recorded = co_await record_policies(run.client, application, resolved->scoped, status);
    if (!recorded) co_return Outcome::failed(std::move(recorded).error());
  }
  app.services() = status.services, app.applied() = status.applied;
  if (renders) {
    auto obstacle = co_await render_all(app);
    if (!obstacle) co_return Outcome::failed(std::move(obstacle).error());
    if (!obstacle->empty()) {
      // Steps of stage pre-render are not run again for it.
      if (!is_pre_rendered) status.workflow.reset();
      co_return co_await stop_at(run.client, as_written, std::move(status), before,
                                 {"Policy", "generatingPolicy", "FailedApply", *obstacle});
    }
    pass_rendering(status, now);
  }
  if (!restarts) co_await write_plans(app, status);
  const bool was_finished = status.workflow->is_finished;
  auto went = co_await go_on(run, app, status);
  if (!went) co_return Outcome::failed(std::move(went).error());
  std::optional<Duration> again = *went;
  const std::string unrendered = pre_render_failure(resolved->parsed->steps, *status.workflow);
  if (!unrendered.empty()) fail_condition(status, "Render", unrendered, now);
  co_await tell_faults_of_steps(env_, application, resolved->lookup, memory.faults, status);
  status.services = app.services();
  status.applied = app.applied();
  if (const auto left = until_restart(application, status)) again = std::min(again.value_or(*left), *left);
  if (const auto look = judge_progress(memory.progress, status, options_.progress_deadline, env_.clock.steady(), now)) {
    again = std::min(again.value_or(*look), *look);
  }
  auto told = co_await tell_of(run.client, application, status, {.before = before, .was_finished = was_finished});
  if (!told) co_return Outcome::failed(std::move(told).error());
  co_return co_await write(run.client, as_written, std::move(status), before,
                           again ? Outcome::retries_after(*again) : Outcome::settled());
}

/// Says why the application cannot be delivered; it is looked at again when something changes, and after a pause.
Task<Outcome> ApplicationController::stop_at(client::Client& client, kube::Object application, Status status, Value before,
                                             Obstacle obstacle) {
  status.phase = obstacle.phase;
  fail_condition(status, obstacle.condition, obstacle.message, env_.clock.now());
  if (is_news(before, status, obstacle.condition)) {
    auto told = co_await tell_failure(env_, client, application, obstacle.event, obstacle.message);
    if (!told) co_return Outcome::failed(std::move(told).error());
  }
  co_return co_await write(client, std::move(application), std::move(status), before,
                           Outcome::retries_after(options_.parse_pause));
}

/// Of a run that has ended and is to begin again at a time.
std::optional<Duration> ApplicationController::until_restart(const kube::Object& application, Status& status) const {
  if (const RestartPlan next = restart_plan(application, status); next.at) status.restart_at = next.at;
  if (!status.restart_at || !status.workflow->is_finished) return std::nullopt;
  return std::max<Duration>(*status.restart_at - env_.clock.now(), std::chrono::milliseconds{1});
}

/// Reports what a rollout refuses; the write is repeated until the plan is another.
Task<> ApplicationController::write_plans(AppRun& app, Status& status) {
  auto written = co_await application::write_plans(app);
  if (written) {
    drop_condition(status, kPlanApplied);
  } else {
    set_condition(status, kPlanApplied, false, "Refused", written.error().message, env_.clock.now());
  }
}

/// A pass of the workflow, and what comes after its end. When to look again.
Task<Result<std::optional<Duration>>> ApplicationController::go_on(control::Reconcile& run, AppRun& app, Status& status) {
  std::optional<Duration> again;
  if (!status.workflow->is_finished) SLIPWAY_CO_TRY_VOID(co_await run_pass(run, app, status, again));
  if (!status.workflow->is_finished) {
    SLIPWAY_CO_TRY_VOID(co_await judge_rolled_services(app));
    status.phase = phase_of(*status.workflow);
    co_return again;
  }
  app.memory().renders.clear();  // from now on manifests come from the trackers
  auto kept = co_await keep_up(app, status);
  if (!kept) {
    fail_condition(status, "StateKeep", kept.error().message, env_.clock.now());
    co_return options_.collect_pause;
  }
  drop_condition(status, "StateKeep");
  co_return *kept;
}

RestartPlan ApplicationController::restart_plan(const kube::Object& application, const Status& status) const {
  RunEnd run;
  if (status.workflow) run = {status.workflow->is_finished, status.workflow->end_time};
  return plan_restart(kube::annotation(application, kRestartWorkflow), status.restart_at, run, env_.clock.now());
}

/// The change of the application calls for the next reconcile.
Task<Outcome> ApplicationController::remove_restart(client::Client& client, kube::Object application) {
  const Value annotations = json::object({{kRestartWorkflow, Value()}});
  const Value patch = json::object({{"metadata", json::object({{"annotations", annotations}})}});
  auto removed = co_await client::merge_patch(client, kApplications, kube::key_of(application), patch, kManager);
  if (!removed && removed.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(removed).error());
  co_return Outcome::settled();
}

Task<Result<void>> ApplicationController::run_pass(control::Reconcile& reconcile, AppRun& app, Status& status,
                                                   std::optional<Duration>& again) {
  SLIPWAY_CO_TRY(client, app.own(kHub));
  Memory& memory = app.memory();
  if (!memory.context) {
    SLIPWAY_CO_TRY(loaded, co_await load_context(*client, app.application()));
    memory.context = std::move(loaded);
  }
  LoadedContext context = *std::exchange(memory.context, std::nullopt);
  const bool is_first = !status.workflow->start_time;
  if (is_first) SLIPWAY_CO_TRY_VOID(co_await begin_context(*client, kApplications, app.application(), context));
  if (const auto own = check_context(context); !own) {
    fail_condition(status, "Workflow", own.error().message, env_.clock.now());
    again = options_.collect_pause;
    co_return Result<void>{};
  }
  if (is_first) memory.delivered.clear();
  co_await follow_rights(app.acting(), app.application(), context.store, is_first);
  remember_notes(memory, context.store);
  if (note_in(context.store, kRollsBack).empty()) SLIPWAY_CO_TRY_VOID(co_await restore_rollouts(app));
  workflow::Providers providers(&template_providers_);
  providers.add(application_providers(app));
  providers.add(object_providers(app));
  const RenderContext base = app.render_context({});
  const Value labels = json::object({{kLabelName, base.app_name}, {kLabelNamespace, base.ns}});
  workflow::Run run{.setting = {.env = env_,
                                .http = app.tools().http,
                                .on = [&app](const std::string& cluster) { return app.on(cluster); },
                                .discover = [&app](const std::string& cluster) { return app.own(cluster); },
                                .uses = [&app](const Value& object) { app.confine_to_author_of(object); },
                                .manager = kManager,
                                .owner = app.application(),
                                .labels = labels,
                                .context = step_context(base),
                                .wall = &wall_},
                    .steps = app.parsed().steps,
                    .providers = providers,
                    .definition = {},
                    .options = options_.engine};
  run.options.keeps_debug = app.parsed().keep.is_debug;
  run.definition = [this, &app](std::string type) -> Task<Result<workflow::StepDefinition>> {
    const auto known = app.parsed().step_types.find(type);
    const bool is_users = known != app.parsed().step_types.end() && !definitions_.is_for_all(kube::ns(known->second->object));
    const std::string found = type == kApplyComponent && !is_users ? kBuiltinApplyComponent : type;
    auto definition = found == type && known != app.parsed().step_types.end()
                          ? Result<DefinitionPtr>(known->second)
                          : app.lookup().definition(DefinitionKind::WorkflowStep, found);
    if (!definition) co_return fail(std::move(definition).error());
    SLIPWAY_CO_TRY(context, co_await step_context_of(app, *definition));
    auto made = step_definition(type, **definition);
    if (made) made->context = std::move(context);
    co_return made;
  };
  workflow::Pass pass = co_await workflow::run_pass(run, *status.workflow, std::move(context.store));
  note_delivered(memory, pass.store);
  const bool has_secret = !context.secret.is_null() || !pass.store.secret_vars.empty() || !pass.store.secret_notes.empty();
  SLIPWAY_CO_TRY(stored, co_await save_context(*client, std::move(context), pass.store));
  SLIPWAY_CO_TRY_VOID(co_await keep_debug_values(*client, app.application(), std::move(pass.debug), kManager));
  status.rolled_back_to = note_in(pass.store, kRolledBackTo);
  pass.store.has_changed = false;
  if (!pass.status.is_finished && !has_secret) {
    memory.context = LoadedContext{.store = std::move(pass.store), .object = stored, .secret = {}};
  }
  SLIPWAY_CO_TRY_VOID(co_await complete_resources(app));
  pass.status.context_backend = backend_of(stored);
  status.workflow = std::move(pass.status);
  again = app.acting().sooner_without_right(pass.again);
  co_await watched_.replace(reconcile, std::move(pass.watched));
  co_return Result<void>{};
}

/// After the workflow: health, and while it succeeded drift and collection. When to look again.
Task<Result<std::optional<Duration>>> ApplicationController::keep_up(AppRun& app, Status& status) {
  const Time now = env_.clock.now();
  const bool has_succeeded = status.workflow->phase == workflow::kSucceeded;
  if (!has_succeeded) status.phase = phase_of(*status.workflow);
  const bool collects = has_succeeded || app.parsed().keep.continues_on_failure;
  Collected collected;
  if (collects) {
    const std::int64_t kept = app.parsed().keep.revision_limit.value_or(options_.revision_limit);
    SLIPWAY_CO_TRY(done, co_await collect_outdated(app, kept));
    collected = std::move(done);
  }
  SLIPWAY_CO_TRY(client, app.own(kHub));
  const Value revision = revisions_->get({std::string(kube::ns(app.application())), app.revision()});
  if (!revision.is_null()) SLIPWAY_CO_TRY_VOID(co_await note_run(*client, revision, *status.workflow));
  if (!has_succeeded && status.rolled_back_to.empty()) {
    SLIPWAY_CO_TRY_VOID(co_await judge_rolled_services(app));
    co_return collected.is_done() ? std::nullopt : std::optional<Duration>(options_.collect_pause);
  }
  if (!app.memory().has_notes) {
    SLIPWAY_CO_TRY(context, co_await load_context(*client, app.application()));
    remember_notes(app.memory(), context.store);
  }
  SLIPWAY_CO_TRY_VOID(co_await adopt_rolled_out(app));
  SLIPWAY_CO_TRY(repair, co_await repair_drift(app));
  const std::optional<Duration> quiet = note_contested(app.memory().repairs, status);
  SLIPWAY_CO_TRY_VOID(co_await judge_services(app));
  Duration again = collected.is_done() ? options_.resync : options_.collect_pause;
  for (const auto& sooner : {repair, quiet}) again = std::min(again, sooner.value_or(again));
  if (!has_succeeded) co_return again;
  const bool is_healthy = std::ranges::all_of(app.services(), &ServiceStatus::is_healthy);
  status.phase = is_healthy ? "running" : "unhealthy";
  pass_condition(status, "Workflow", now);
  set_condition(status, "Ready", true, "ReconcileSuccess", "", now);
  const std::int64_t limit = app.parsed().keep.revision_limit.value_or(options_.revision_limit);
  SLIPWAY_CO_TRY(has_removed, co_await limit_revisions(*client, app.application(), limit, app.revision()));
  // What only those revisions were kept for is collected now, not at the next resync.
  co_return has_removed ? std::min(again, options_.collect_pause) : again;
}

/// Whether it has removed some.
Task<Result<bool>> ApplicationController::limit_revisions(client::Client& client, kube::Object application, std::int64_t limit,
                                                          std::string current) {
  std::vector<Value> all =
      revisions_->index(kByApplication, fmt::format("{}/{}", kube::ns(application), kube::name(application)));
  std::erase_if(all, [&](const Value& one) { return !kube::is_owned_by(one, kube::uid(application)); });
  std::ranges::sort(all, {}, number_of_revision);
  std::size_t spare = all.size() > static_cast<std::size_t>(limit) + 1 ? all.size() - static_cast<std::size_t>(limit) - 1 : 0;
  const bool has_spare = spare > 0;
  for (const Value& revision : all) {
    if (spare == 0) break;
    if (kube::name(revision) == current) continue;
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(
        client, kRevisions, kube::key_of(revision),
        {.propagation = "Background", .uid = std::string(kube::uid(revision)), .resource_version = "", .grace_seconds = {}}));
    SLIPWAY_CO_TRY_VOID(co_await remove_resources(client, application, std::string(kube::name(revision))));
    --spare;
  }
  co_return has_spare;
}

Task<Outcome> ApplicationController::write(client::Client& client, kube::Object application, Status status, Value before,
                                           Outcome outcome) {
  status.observed_generation = kube::generation(application);
  const Value ours = json::encode(status);
  json::ObjectBuilder all(ours);
  // Members of others stay; `phase` is a way to ask for a restart, together with an empty `workflow`.
  for (const auto& [key, value] : before.members()) {
    const bool is_ours = key == "phase" || key == "services" || key == "appliedResources" || key == "workflow" ||
                         key == kScheduledRestart || key == "appliedApplicationPolicies" ||
                         key == "applicationPoliciesConfigMap" || key == kRolledBackTo;
    if (!ours.has(key) && !is_ours) all.add(key, value);
  }
  Value wanted = all.build();
  const ObjectKey key = kube::key_of(application);
  auto written = co_await control::write_status(client, kApplications, std::move(application), std::move(wanted), kManager);
  if (!written) co_return Outcome::failed(std::move(written).error());
  if (const auto known = memories_.find(key); known != memories_.end()) {
    known->second.written = kube::revision(*written);
    const bool has_timer = outcome.kind == Outcome::Kind::RetriesAfter;
    known->second.due = has_timer ? env_.clock.steady() + outcome.after : Steady::max();
  }
  co_return outcome;
}

/// What an application was delivered from last: as policies of scope Application made it, whose result its revision has.
Value ApplicationController::delivered_spec(const kube::Object& application, const Status& status) const {
  if (status.policies.empty() || !status.latest_revision) return application["spec"];
  const Value revision = revisions_->get({std::string(kube::ns(application)), status.latest_revision->name});
  if (!kube::is_owned_by(revision, kube::uid(application))) return application["spec"];
  const Value spec = revision_content(revision)["application"]["spec"];
  return spec.is_object() ? spec : application["spec"];
}

Task<Outcome> ApplicationController::let_go(control::Reconcile& run, kube::Object application, Memory& memory) {
  if (!kube::has_finalizer(application, kFinalizer)) co_return Outcome::settled();
  const Value before = application["status"];
  auto decoded = json::decode<Status>(before, "status", {.allow_unknown = true});
  Status status = decoded ? std::move(*decoded) : Status{};
  auto parsed = std::make_shared<Parsed>();
  if (auto spec = read_application(delivered_spec(application, status))) {
    parsed->spec = std::move(*spec);
    if (auto keep = keep_policies(parsed->spec.policies)) parsed->keep = std::move(*keep);
  }
  AppRun app(AppTools{env_, run.outgoing(http_), live_, verdicts_, template_providers_, options_.acts_as, options_.apply_mode},
             run, application, parsed, live_lookup(application), memory);
  auto trackers = read_trackers(trackers_of(application));
  if (!trackers) co_return Outcome::failed(std::move(trackers).error());
  app.load_trackers(std::move(*trackers));
  const bool orphans = kube::has_finalizer(application, kOrphanFinalizer);
  auto collected = co_await collect_all(app, orphans);
  if (!collected) co_return Outcome::failed(std::move(collected).error());
  if (!collected->is_done()) {
    status.phase = "deleting";
    if (!collected->fault.empty() && !before["conditions"].empty() && memory.told_fault != collected->fault) {
      auto told = co_await tell_failure(env_, run.client, application, "FailedGC", collected->fault);
      if (!told) co_return Outcome::failed(std::move(told).error());
      memory.told_fault = collected->fault;
    }
    set_condition(status, "Deleting", true, "Deleting",
                  fmt::format("{} left: {}", collected->remaining.size(), collected->remaining.front()), env_.clock.now());
    co_return co_await write(run.client, std::move(application), std::move(status), before,
                             Outcome::retries_after(options_.collect_pause));
  }
  if (orphans) {
    kube::Object without = kube::without_finalizer(application, kOrphanFinalizer);
    without = kube::without_finalizer(without, kFinalizer);
    auto updated = co_await client::update(run.client, kApplications, without, kManager);
    if (!updated && updated.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(updated).error());
    co_return Outcome::settled();
  }
  auto released = co_await control::remove_finalizer(run.client, kApplications, application, kFinalizer, kManager);
  if (!released) co_return Outcome::failed(std::move(released).error());
  co_return Outcome::settled();
}

}  // namespace slipway::delivery::application
