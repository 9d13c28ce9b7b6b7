// What the controller does for steps that create an object from a template: everything with the rights of the author.
#include <fmt/format.h>

#include "delivery/jobflow/author_client.h"
#include "delivery/jobflow/controller.h"
#include "delivery/jobflow/object_step.h"
#include "delivery/jobflow/writes.h"

namespace slipway::delivery::jobflow {

using kube::ObjectKey;
namespace {

constexpr const char* kRefused = "ObjectRefused";

/// Not a Forbidden answer to a create in a namespace that is going.
bool is_denied(const Status& status) { return status.reason == Reason::Forbidden && is_final(status); }

}  // namespace

/// True once the cache of the kind has its first list. Only metadata is asked for: the object is read with the rights of the
/// author.
bool WorkflowController::follow(const ObjectKey& workflow, const kube::Resource& resource) {
  const auto [at, is_new] = followed_.try_emplace(resource);
  Followed& followed = at->second;
  followed.workflows.insert(workflow);
  if (is_new) {
    followed.lease = watches_->lease(watches_->home(), resource, control::Form::Metadata);
    if (!followed.lease) return false;
    followed.lease.on_change([this](const Value& before, const Value& after) {
      for (const Value* one : {&before, &after}) wake_owner(*one);  // who was the owner hears of it too
    });
  }
  return followed.lease && followed.lease->is_synced();
}

void WorkflowController::wake_owner(const Value& object) {
  const Value& owner = kube::controller_of(object);
  if (!kube::refers_to(owner, kWorkflowKind.group, kWorkflowKind.kind)) return;
  const ObjectKey key{std::string(kube::ns(object)), owner["name"].str()};
  if (entries_.contains(key)) enqueue_(key);
}

void WorkflowController::forget(const ObjectKey& workflow) {
  entries_.erase(workflow);
  for (auto& [kind, followed] : followed_) followed.workflows.erase(workflow);
  std::erase_if(followed_, [](const auto& one) { return one.second.workflows.empty(); });
}

Task<Result<ExternalView>> WorkflowController::look_at_object(client::Client& client, Flow& flow, graph::StepIndex step,
                                                              Look& look) {
  ExternalView unknown;
  unknown.state = ExternalView::State::Unknown;
  const kube::GroupVersionKind kind = object_kind(flow.program(), step);
  auto mapped = co_await kinds_.find(client, "", kind);
  if (!mapped && mapped.error().reason != Reason::NotFound) co_return fail(std::move(mapped).error());
  if (!mapped) {
    unknown.message = fmt::format("{} of {} is not served", kind.kind, kind.api_version());
    co_return unknown;
  }
  if (!mapped->is_namespaced) {
    flow.refuse_job(
        step, kRefused,
        fmt::format("{} does not live in namespaces: a workflow creates objects of its own namespace only", kind.kind));
    co_return unknown;
  }
  if (kind == kWorkflowKind) {
    look.is_watched = true;
  } else if (flow.program().step(step).until) {
    look.is_watched = follow(kube::key_of(flow.workflow()), mapped->resource);
  }
  const StepStatus record = flow.record(step);
  control::ActingClient author = as_author(client, flow.workflow(), options_.acts_as);
  auto found = co_await client::get(author, mapped->resource, {std::string(kube::ns(flow.workflow())), record.reference.name});
  if (!found && found.error().reason == Reason::NotFound) {
    if (found.error().name.empty()) kinds_.forget("");  // the resource, not the object, is missing
    found = Value();
  }
  if (!found && !is_denied(found.error())) co_return fail(std::move(found).error());
  if (!found) {
    SLIPWAY_CO_TRY(has_lost, co_await has_lost_right(client, flow, "get", mapped->resource, found.error()));
    if (has_lost) {
      look.lost_right = std::move(found).error();
      co_return unknown;
    }
    unknown.message = fmt::format("cannot read {} {}: {}", kind.kind, record.reference.name, found.error().message);
    if (record.reference.uid.empty()) flow.refuse_job(step, kRefused, unknown.message);
    co_return unknown;
  }
  co_return view_object(flow.workflow(), flow.program(), step, record.attempts, *found);
}

/// The object of an attempt that is recorded. One that exists already was made by a create whose answer was lost, or stands in
/// the way: the next look finds out.
Task<Result<void>> WorkflowController::create_object(client::Client& client, Flow& flow, StepAttempt attempt,
                                                     Carried& carried) {
  auto mapped = co_await kinds_.find(client, "", object_kind(flow.program(), attempt.step));
  if (!mapped) co_return fail(std::move(mapped).error());
  control::ActingClient author = as_author(client, flow.workflow(), options_.acts_as);
  const kube::Object wanted = make_object(flow.workflow(), flow.program(), attempt.step, attempt.attempt);
  auto made = co_await client::create(author, mapped->resource, wanted, field_manager());
  if (made) {
    flow.see_external(attempt.step, view_object(flow.workflow(), flow.program(), attempt.step, attempt.attempt, *made));
    co_return Result<void>{};
  }
  if (made.error().reason == Reason::AlreadyExists) {
    flow.unsee_external(attempt.step);
    co_return Result<void>{};
  }
  if (!is_final(made.error())) co_return fail(std::move(made).error());
  SLIPWAY_CO_TRY(has_lost, co_await has_lost_right(client, flow, "create", mapped->resource, made.error()));
  if (has_lost) co_return fail(carried.lost_right.emplace(std::move(made).error()));
  flow.refuse_job(attempt.step, kRefused, made.error().message);
  co_return Result<void>{};
}

/// Deletes the step's object if the workflow owns it. What the author may not delete stays until the workflow is deleted.
Task<Result<void>> WorkflowController::discard_object(client::Client& client, Flow& flow, Discard discard, Carried& carried) {
  const bool cuts_short = discard.uid.empty();
  const ObjectKey key{std::string(kube::ns(flow.workflow())), flow.record(discard.step).reference.name};
  auto mapped = co_await kinds_.find(client, "", object_kind(flow.program(), discard.step));
  if (!mapped && mapped.error().reason != Reason::NotFound) co_return fail(std::move(mapped).error());
  control::ActingClient author = as_author(client, flow.workflow(), options_.acts_as);
  Result<void> done;
  if (mapped && cuts_short) {
    auto found = co_await client::get(author, mapped->resource, key);
    if (found && kube::is_owned_by(*found, kube::uid(flow.workflow()))) discard.uid = kube::uid(*found);
    if (!found && found.error().reason != Reason::NotFound) done = fail(std::move(found).error());
  }
  if (mapped && done && !discard.uid.empty()) {
    client::DeleteQuery query{.propagation = "Background", .uid = discard.uid, .resource_version = "", .grace_seconds = {}};
    done = co_await client::remove_exactly(author, mapped->resource, key, std::move(query));
  }
  if (!done && !is_denied(done.error())) co_return done;
  if (!done && mapped) {
    const std::string verb = discard.uid.empty() ? "get" : "delete";
    SLIPWAY_CO_TRY(has_lost, co_await has_lost_right(client, flow, verb, mapped->resource, done.error()));
    if (has_lost) carried.lost_right = std::move(done).error();
    if (has_lost) co_return Result<void>{};
  }
  if (cuts_short) {
    flow.object_gone(discard.step);
  } else if (done) {
    flow.unsee_external(discard.step);
  } else {
    flow.refuse_job(discard.step, kRefused, done.error().message);
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::jobflow
