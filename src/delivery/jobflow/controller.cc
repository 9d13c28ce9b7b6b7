#include "delivery/jobflow/controller.h"

#include <fmt/format.h>

#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/author_client.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/writes.h"

namespace slipway::delivery::jobflow {
namespace {

using control::Outcome;
using kube::ObjectKey;

constexpr const char* kByExternal = "workflow-external";

std::vector<std::string> owner_uid(const Value& object) {
  const Value& owner = kube::controller_of(object);
  if (!kube::refers_to(owner, kWorkflowKind.group, kWorkflowKind.kind)) return {};
  return {owner["uid"].str()};
}

std::string external_key(std::string_view kind, std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}/{}", kind, ns, name);
}

std::vector<std::string> external_keys(const Value& workflow) {
  std::vector<std::string> keys;
  for (auto [name, step] : workflow["spec"]["steps"].members()) {
    const Value& reference = step["externalRef"];
    if (reference.is_object()) {
      const std::string_view ns = reference["namespace"].as_string();
      if (!reference["cluster"].as_string().empty()) continue;
      keys.push_back(
          external_key(reference["kind"].as_string(), ns.empty() ? kube::ns(workflow) : ns, reference["name"].as_string()));
    }
  }
  std::ranges::sort(keys);
  const auto doubles = std::ranges::unique(keys);
  keys.erase(doubles.begin(), doubles.end());
  return keys;
}

/// Whether a change of the object wakes the workflows that wait for it.
bool is_watched_kind(const ExternalRef& reference, std::string_view ns) {
  return !is_far(reference, ns) && (is_workflow(reference) || is_job(reference));
}

bool is_finished_job(const Value& job) { return kube::is_true(job, "Complete") || kube::is_true(job, "Failed"); }

/// The workflow that is to hear of a Job's change.
struct Concerned {
  ObjectKey key;
  std::string uid;
};

/// Only a Job's end and its going matter; its beginning is known from the create.
std::optional<Concerned> concerned_by(const Value& before, const Value& after) {
  const Value& job = after.is_null() ? before : after;
  const Value& owner = kube::controller_of(job);
  if (!kube::refers_to(owner, kWorkflowKind.group, kWorkflowKind.kind)) return std::nullopt;
  const bool has_ended = is_finished_job(after) && !is_finished_job(before);
  const bool is_going = kube::is_deleting(after) && !kube::is_deleting(before);
  if (!has_ended && !is_going && !after.is_null()) return std::nullopt;
  return Concerned{{std::string(kube::ns(job)), owner["name"].str()}, owner["uid"].str()};
}

}  // namespace

void WorkflowController::watch(control::Watches& watches) {
  watches_ = &watches;
  enqueue_ = watches.enqueue();
  workflows_ =
      &watches.changes(kWorkflows, [this](const Value& before, const Value& after) { return keys_of_workflow(before, after); });
  workflows_->add_index(kByExternal, external_keys);
  jobs_ = &watches.changes(kJobs, [this](const Value& before, const Value& after) { return keys_of_job(before, after); });
  jobs_->add_index(kByOwner, owner_uid);
  // Told before keys_of_job: a change is recorded when its key is queued.
  job_changes_ = watches.lease(watches.home(), kJobs, control::Form::Whole);
  job_changes_.on_change([this](const Value& before, const Value& after) { record_change(before, after); });
  step_sets_ = &watches.cache(kStepSets);
  step_sets_->add_index(kByOwner, owner_uid);
}

/// A workflow's own status writes need no further look; those who wait for it want one.
std::vector<ObjectKey> WorkflowController::keys_of_workflow(const Value& before, const Value& after) const {
  const Value& object = after.is_null() ? before : after;
  std::vector<ObjectKey> keys = waiting_for("Workflow", object);
  if (const Value& owner = kube::controller_of(object); kube::refers_to(owner, kWorkflowKind.group, kWorkflowKind.kind)) {
    keys.push_back({std::string(kube::ns(object)), owner["name"].str()});  // whose step has created it
  }
  const bool is_only_status = !before.is_null() && !after.is_null() && kube::generation(before) == kube::generation(after) &&
                              kube::uid(before) == kube::uid(after) && kube::is_deleting(before) == kube::is_deleting(after) &&
                              before["metadata"]["finalizers"] == after["metadata"]["finalizers"];
  if (!is_only_status) keys.push_back(kube::key_of(object));
  return keys;
}

std::vector<ObjectKey> WorkflowController::keys_of_job(const Value& before, const Value& after) const {
  const Value& job = after.is_null() ? before : after;
  std::vector<ObjectKey> keys = waiting_for("Job", job);
  const auto concerned = concerned_by(before, after);
  if (!concerned) return keys;
  const auto live = entries_.find(concerned->key);
  const bool is_live = live != entries_.end() && live->second.uid == concerned->uid;
  const Value workflow = workflows_->get(concerned->key);
  // Nothing is left to do about Jobs that end or go after their workflow has.
  const bool is_over =
      !is_live && !workflow.is_null() && is_finished(workflow) && (after.is_null() || !kube::has_finalizer(job, kJobFinalizer));
  if (!is_over) keys.push_back(concerned->key);
  return keys;
}

void WorkflowController::record_change(const Value& before, const Value& after) {
  const auto concerned = concerned_by(before, after);
  if (!concerned) return;
  const auto live = entries_.find(concerned->key);
  if (live == entries_.end() || live->second.uid != concerned->uid) return;
  const Value& job = after.is_null() ? before : after;
  live->second.changes[std::string(kube::name(job))] = {job, after.is_null()};
}

std::vector<ObjectKey> WorkflowController::waiting_for(const char* kind, const Value& object) const {
  std::vector<ObjectKey> keys;
  const auto waiting = workflows_->index(kByExternal, external_key(kind, kube::ns(object), kube::name(object)));
  for (const Value& workflow : waiting) {
    if (!is_finished(workflow)) keys.push_back(kube::key_of(workflow));
  }
  return keys;
}

Task<Outcome> WorkflowController::reconcile(control::Reconcile& run) {
  kube::Object workflow = workflows_->get(run.key);
  if (workflow.is_null() || kube::is_deleting(workflow)) forget(run.key);
  if (workflow.is_null()) co_return Outcome::settled();
  if (kube::is_deleting(workflow)) co_return co_await let_go(run.client, workflow);
  auto held =
      co_await control::add_finalizer(run.client, kWorkflows, workflow, std::string(kWorkflowFinalizer), field_manager());
  if (!held) co_return Outcome::failed(std::move(held).error());
  workflow = std::move(*held);
  if (is_settled(workflow)) {
    forget(run.key);
    co_return Outcome::settled();
  }
  co_return co_await run_live(run, std::move(workflow));
}

/// It has finished, nothing new is asked of it, and its Jobs have all ended: what most workflows are when a controller starts.
bool WorkflowController::is_settled(const kube::Object& workflow) const {
  if (!is_finished(workflow) || workflow["status"]["observedGeneration"].as_int() != kube::generation(workflow)) return false;
  return std::ranges::all_of(jobs_->index(kByOwner, std::string(kube::uid(workflow))), [](const Value& job) {
    return (is_finished_job(job) || kube::is_deleting(job)) && !kube::has_finalizer(job, kJobFinalizer);
  });
}

Task<Outcome> WorkflowController::run_live(control::Reconcile& run, kube::Object workflow) {
  const ObjectKey key = run.key;
  Entry& entry = entries_[key];
  if (entry.uid != kube::uid(workflow)) {
    entry = Entry{};
    entry.uid = kube::uid(workflow);
  }
  if (!entry.program || entry.generation != kube::generation(workflow)) {
    auto program = Program::compile(workflow);
    if (!program) {
      forget(key);
      co_return co_await refuse(run.client, std::move(workflow), std::move(program).error());
    }
    entry.program = std::move(*program);
    entry.generation = kube::generation(workflow);
    entry.flow.reset();
  }
  std::unique_ptr<Flow> flow = take_flow(entry, workflow);
  std::optional<Steady> timer;
  bool polls = false;
  for (bool again = true; again;) {
    if (auto recorded = co_await record_author(run.client, *flow); !recorded) {
      co_return Outcome::failed(std::move(recorded).error());
    }
    std::optional<Status> lost_right;
    auto settled = co_await settle(run, *flow, lost_right);
    if (!settled) co_return Outcome::failed(std::move(settled).error());
    polls |= *settled;
    const Now now = wall_.now();
    Actions actions = flow->take(now, options_.summary_pause);
    timer.reset();
    if (actions.timer) timer = env_.clock.steady() + (*actions.timer - now.time());
    Carried carried = co_await carry_out(run.client, *flow, std::move(actions));
    if (!carried.result) co_return Outcome::failed(std::move(carried.result).error());
    if (carried.lost_right || lost_right) {
      if (carried.lost_right) lost_right = std::move(carried.lost_right);
      const Duration due = timer ? std::max(*timer - env_.clock.steady(), Duration{0}) : control::kAuthorRightPause;
      co_return co_await wait_for_right(run.client, *flow, *lost_right, std::min(due, control::kAuthorRightPause));
    }
    again = carried.decides_again || flow->has_right_again(now.time());
  }
  // Nothing else touches this workflow's entry while it is reconciled; but others may have come and gone.
  const auto found = entries_.find(key);
  if (flow->is_finished()) {
    if (found != entries_.end() && found->second.changes.empty()) forget(key);
    co_return Outcome::settled();
  }
  if (found != entries_.end()) found->second.flow = std::move(flow);
  const Steady now = env_.clock.steady();
  if (polls) timer = std::min(timer.value_or(now + options_.poll), now + options_.poll);
  co_return timer ? Outcome::retries_after(std::max(*timer - now, Duration{0})) : Outcome::settled();
}

/// The kept Flow with what has changed since, or a new one when there is none or another writer has changed the workflow.
std::unique_ptr<Flow> WorkflowController::take_flow(Entry& entry, const kube::Object& workflow) {
  std::unique_ptr<Flow> flow = std::move(entry.flow);
  const auto changes = std::exchange(entry.changes, {});
  if (flow && kube::revision(flow->workflow()) == kube::revision(workflow)) {
    for (const auto& [name, change] : changes) {
      if (change.is_gone) {
        flow->lose_job(job_view(change.job));
      } else {
        flow->see_job(job_view(change.job));
      }
    }
    flow->look_again();
    return flow;
  }
  flow = std::make_unique<Flow>(entry.program, workflow, step_sets_of(workflow));
  for (const Value& job : jobs_->index(kByOwner, entry.uid)) flow->see_job(job_view(job));
  // A Job that ended and went unseen: its end still counts.
  for (const auto& [name, change] : changes) {
    if (!change.is_gone) continue;
    flow->see_job(job_view(change.job));
    flow->lose_job(job_view(change.job));
  }
  return flow;
}

/// Decides, looking at external objects as they are asked for. True when some of them must be polled.
Task<Result<bool>> WorkflowController::settle(control::Reconcile& run, Flow& flow, std::optional<Status>& lost_right) {
  bool polls = false;
  flow.decide(wall_.now());
  for (;;) {
    const auto unseen = flow.unseen_externals();
    if (unseen.empty()) break;
    for (graph::StepIndex step : unseen) {
      const Step& spec = flow.program().step(step);
      const bool is_made = flow.program().makes_object(step);
      Look look{.is_watched = !is_made && is_watched_kind(*spec.external_ref, kube::ns(flow.workflow()))};
      auto view =
          is_made ? co_await look_at_object(run.client, flow, step, look) : co_await look_at(run, flow.workflow(), spec);
      if (!view) co_return fail(std::move(view).error());
      using enum ExternalView::State;
      const bool has_ended = view->state == Foreign || view->state == Reached || view->state == Failed;
      polls |= !has_ended && (!look.is_watched || view->state == Unknown);  // no watch tells of rights
      if (look.lost_right) lost_right = std::move(look.lost_right);
      flow.see_external(step, std::move(*view));
    }
    flow.decide(wall_.now());
  }
  co_return polls;
}

Task<Result<ExternalView>> WorkflowController::look_at(control::Reconcile& run, kube::Object workflow, Step step) {
  const ExternalRef& reference = *step.external_ref;
  const ObjectKey key{std::string(kube::ns(workflow)), reference.name};
  const bool is_near = !is_far(reference, key.ns);
  if (is_near && is_job(reference)) co_return view_external(step, jobs_->get(key));
  if (is_near && !is_workflow(reference)) co_return co_await look_as_author(run, workflow, step);
  ExternalView view;
  if (is_near) {
    view = view_external(step, workflows_->get(key));
  } else {
    SLIPWAY_CO_TRY(seen, co_await look_as_author(run, workflow, step));
    view = std::move(seen);
  }
  const bool may_wait = view.state == ExternalView::State::Waiting || view.state == ExternalView::State::Failed;
  if (may_wait && is_workflow(reference) && reference.cluster.empty()) view.cycle = find_cycle_of(workflow, reference);
  co_return view;
}

/// What no cache of the controller has, with the rights of who wrote the workflow. What cannot be looked at is not gone.
Task<Result<ExternalView>> WorkflowController::look_as_author(control::Reconcile& run, kube::Object workflow, Step step) {
  const ExternalRef& reference = *step.external_ref;
  ExternalView unknown;
  unknown.state = ExternalView::State::Unknown;
  client::Client* own = &run.client;
  if (!reference.cluster.empty()) {
    auto found = run.on(reference.cluster);
    unknown.message = fmt::format("cluster {} is not known", reference.cluster);
    if (!found) co_return unknown;
    own = *found;
  }
  control::ActingClient author = as_author(*own, workflow, options_.acts_as);
  ObjectKey key{reference.ns.empty() ? std::string(kube::ns(workflow)) : reference.ns, reference.name};
  auto seen = co_await poll(*own, author, std::move(key), step);
  if (seen) co_return seen;
  const Status& error = seen.error();
  if (reference.cluster.empty() && error.reason != Reason::Forbidden) co_return seen;
  unknown.message = fmt::format("{} cannot be looked at: {}", text_of(reference), error.message);
  co_return unknown;
}

/// Objects that are not watched are asked for. Which kinds there are is learnt by `own`, the object is read by `as`.
Task<Result<ExternalView>> WorkflowController::poll(client::Client& own, client::Client& as, ObjectKey key, Step step) {
  const ExternalRef& reference = *step.external_ref;
  ExternalView unknown;
  unknown.message = fmt::format("{} of {} is not served", reference.kind, reference.api_version);
  auto kind = kube::GroupVersionKind::of(json::object({{"apiVersion", reference.api_version}, {"kind", reference.kind}}));
  if (!kind) co_return unknown;
  const std::string cluster = reference.cluster;
  auto mapped = co_await kinds_.find(own, cluster, std::move(*kind));
  if (!mapped && mapped.error().reason == Reason::NotFound) co_return unknown;
  if (!mapped) co_return fail(std::move(mapped).error());
  if (!mapped->is_namespaced) key.ns.clear();
  auto object = co_await client::get(as, mapped->resource, key);
  if (!object && object.error().reason != Reason::NotFound) co_return fail(std::move(object).error());
  if (!object && object.error().name.empty()) {  // the resource, not the object, is missing
    kinds_.forget(cluster);
    co_return unknown;
  }
  co_return view_external(step, object ? *object : Value());
}

/// Names of workflows that wait for each other; those of its own namespace without it. Empty: none do.
std::vector<std::string> WorkflowController::find_cycle_of(const kube::Object& workflow, const ExternalRef& reference) const {
  const std::string prefix = fmt::format("{}/", kube::ns(workflow));
  const std::string target = reference.ns.empty() ? prefix + reference.name : reference.ns + "/" + reference.name;
  std::vector<std::string> cycle = find_cycle(fmt::format("{}{}", prefix, kube::name(workflow)), target,
                                              [this](const std::string& name) { return waits_of(name); });
  for (std::string& name : cycle) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return cycle;
}

std::vector<std::string> WorkflowController::waits_of(const std::string& workflow) const {
  const std::size_t slash = workflow.find('/');
  const Value object = workflows_->get({workflow.substr(0, slash), workflow.substr(slash + 1)});
  if (object.is_null()) return {};
  const std::vector<Value> sets = step_sets_of(object);
  return waited_workflows(object, [&](const std::string& step) {
    for (const Value& set : sets) {
      if (const Value* record = set["spec"]["statuses"].find(step)) return *record;
    }
    return object["status"]["statuses"][step];
  });
}

std::vector<Value> WorkflowController::step_sets_of(const kube::Object& workflow) const {
  return step_sets_->index(kByOwner, std::string(kube::uid(workflow)));
}

Task<Outcome> WorkflowController::refuse(client::Client& client, kube::Object workflow, std::vector<Cause> causes) {
  auto status = invalid_status(workflow, causes, env_.clock.now());
  if (!status) co_return Outcome::settled();
  auto written = co_await control::write_status(client, kWorkflows, workflow, std::move(*status), field_manager());
  if (!written) co_return Outcome::failed(std::move(written).error());
  co_return Outcome::settled();
}

/// The last word about a workflow that is being deleted. Its Jobs are the garbage collector's.
Task<Outcome> WorkflowController::let_go(client::Client& client, kube::Object workflow) {
  if (!kube::has_finalizer(workflow, kWorkflowFinalizer)) co_return Outcome::settled();
  control::EventText event{.reason = "WorkflowDeleted", .message = "Workflow deleted", .instance = ""};
  auto told = co_await control::record_event(env_, client, workflow, std::move(event), field_manager());
  if (!told && told.error().reason != Reason::Forbidden && told.error().reason != Reason::NotFound) {
    co_return Outcome::failed(std::move(told).error());  // Forbidden, NotFound: its namespace goes too
  }
  for (const Value& job : jobs_->index(kByOwner, std::string(kube::uid(workflow)))) {
    if (!kube::has_finalizer(job, kJobFinalizer)) continue;
    auto released = co_await release_job(client, kube::key_of(job));
    if (!released) co_return Outcome::failed(std::move(released).error());
  }
  const auto freed = co_await control::remove_finalizer(client, kWorkflows, workflow, kWorkflowFinalizer, field_manager());
  co_return freed ? Outcome::settled() : Outcome::failed(freed.error());
}

Task<Result<void>> WorkflowController::release_job(client::Client& client, ObjectKey key) {
  co_return co_await control::remove_finalizer(client, kJobs, jobs_->get(key), kJobFinalizer, field_manager());
}

}  // namespace slipway::delivery::jobflow
