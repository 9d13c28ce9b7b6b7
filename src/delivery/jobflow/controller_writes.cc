#include <fmt/format.h>

#include <set>

#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/jobflow/author_client.h"
#include "delivery/jobflow/controller.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/object_step.h"
#include "delivery/jobflow/writes.h"

namespace slipway::delivery::jobflow {
namespace {

Value step_set(const kube::Object& workflow, const StepSetWrite& write) {
  return json::object(
      {{"apiVersion", kStepSetKind.api_version()},
       {"kind", kStepSetKind.kind},
       {"metadata", json::object({{"name", step_set_name(kube::name(workflow), kube::uid(workflow), write.index)},
                                  {"namespace", kube::ns(workflow)},
                                  {"labels", json::object({{kWorkflowLabel, label_value(kube::name(workflow))}})},
                                  {"ownerReferences", json::array({kube::owner_reference(workflow)})}})},
       {"spec", json::object({{"index", write.index}, {"count", write.count}, {"statuses", write.statuses}})}});
}

/// As in AuthorRecord::rights.
std::string right_text(std::string_view verb, const kube::Resource& resource) {
  return fmt::format("{} {}", verb, resource.group_resource());
}

/// Of the steps that create objects.
std::set<kube::GroupVersionKind> object_kinds(const Program& program) {
  std::set<kube::GroupVersionKind> kinds;
  for (graph::StepIndex step = 0; step < program.size(); ++step) {
    if (program.makes_object(step)) kinds.insert(object_kind(program, step));
  }
  return kinds;
}

}  // namespace

Task<WorkflowController::Carried> WorkflowController::carry_out(client::Client& client, Flow& flow, Actions actions) {
  Carried carried;
  const std::string ns(kube::ns(flow.workflow()));
  const auto limit = options_.parallel_writes;
  carried.result = co_await write_events(client, flow.workflow(), std::move(actions.events));
  if (!carried.result) co_return carried;
  carried.result = co_await write_all(env_, actions.sets.size(), limit, [&](std::size_t i) {
    return write_set(client, flow.workflow(), std::move(actions.sets[i]));
  });
  if (!carried.result) co_return carried;
  if (actions.status) {
    // Without the spec: only status is written, and large specs need not be read again.
    kube::Object wanted = flow.workflow().without("spec").with("status", std::move(*actions.status));
    auto written = co_await client::update_status(client, kWorkflows, std::move(wanted), field_manager());
    if (!written) {
      carried.result = fail(std::move(written).error());
      co_return carried;
    }
    flow.written(std::move(*written));
  }
  // What is recorded may take effect.
  carried.result = co_await write_all(env_, actions.create.size(), limit, [&](std::size_t i) {
    if (!flow.program().makes_object(actions.create[i].step)) {
      return create_job(client, flow, actions.create[i], carried);
    }
    carried.decides_again = true;
    return create_object(client, flow, actions.create[i], carried);
  });
  if (!carried.result && !carried.lost_right) co_return carried;
  // A missing right to create holds up nothing else.
  carried.decides_again |= !actions.discard.empty();
  carried.result = co_await write_all(env_, actions.discard.size(), limit,
                                      [&](std::size_t i) { return discard_object(client, flow, actions.discard[i], carried); });
  if (!carried.result) co_return carried;
  carried.result = co_await write_all(env_, actions.remove.size(), limit,
                                      [&](std::size_t i) { return remove_job(client, ns, actions.remove[i]); });
  if (!carried.result) co_return carried;
  carried.result = co_await write_all(env_, actions.release.size(), limit,
                                      [&](std::size_t i) { return release_job(client, {ns, actions.release[i]}); });
  co_return carried;
}

Task<Result<void>> WorkflowController::write_events(client::Client& client, kube::Object workflow,
                                                    std::vector<control::EventText> events) {
  co_return co_await write_all(env_, events.size(), events.size(), [&](std::size_t i) {
    return control::record_event(env_, client, workflow, events[i], field_manager());
  });
}

Task<Result<void>> WorkflowController::write_set(client::Client& client, kube::Object workflow, StepSetWrite write) {
  const Value wanted = step_set(workflow, write);
  const Value present = step_sets_->get(kube::key_of(wanted));
  if (present.is_null()) {
    auto made = co_await client::create(client, kStepSets, wanted, field_manager());
    if (!made) co_return fail(std::move(made).error());
    co_return Result<void>{};
  }
  auto written = co_await client::update(client, kStepSets, present.with("spec", wanted["spec"]), field_manager());
  if (!written) co_return fail(std::move(written).error());
  co_return Result<void>{};
}

Task<Result<void>> WorkflowController::create_job(client::Client& client, Flow& flow, StepAttempt attempt, Carried& carried) {
  control::ActingClient author = as_author(client, flow.workflow(), options_.acts_as);
  const kube::Object wanted = make_job(flow.workflow(), flow.program(), attempt.step, attempt.attempt);
  auto made = co_await client::create(author, kJobs, wanted, field_manager());
  if (!made && made.error().reason == Reason::AlreadyExists) {
    made = co_await client::get(client, kJobs, kube::key_of(wanted));  // ours, from a create whose answer was lost?
    if (made && !kube::is_owned_by(*made, kube::uid(flow.workflow()))) {
      flow.refuse_job(
          attempt.step, "JobNameTaken",
          fmt::format("Job {} exists and does not belong to this workflow: delete or rename it", kube::name(wanted)));
      carried.decides_again = true;
      co_return Result<void>{};
    }
  }
  if (made) {
    flow.see_job(job_view(*made));
  } else if (is_final(made.error())) {
    SLIPWAY_CO_TRY(has_lost, co_await has_lost_right(client, flow, "create", kJobs, made.error()));
    if (has_lost) co_return fail(carried.lost_right.emplace(std::move(made).error()));
    flow.refuse_job(attempt.step, "JobRefused", made.error().message);
    carried.decides_again = true;
  } else {
    co_return fail(std::move(made).error());
  }
  co_return Result<void>{};
}

Task<Result<void>> WorkflowController::record_author(client::Client& client, Flow& flow) {
  const auto author = author_of(flow.workflow(), options_.acts_as);
  if (author == nullptr || control::is_unknown(*author) || !flow.wants_author(author->name)) co_return Result<void>{};
  std::vector<std::pair<const char*, kube::Resource>> needed{{"create", kJobs}};
  for (const kube::GroupVersionKind& kind : object_kinds(flow.program())) {
    const auto mapped = co_await kinds_.find(client, "", kind);
    if (!mapped) continue;
    for (const auto* verb : {"create", "get", "delete"}) needed.emplace_back(verb, mapped->resource);
  }
  AuthorRecord record{.name = author->name, .rights = {}};
  for (const auto& [verb, resource] : needed) {
    control::NeededRight right{verb, resource, "", {std::string(kube::ns(flow.workflow())), ""}};
    SLIPWAY_CO_TRY(may, co_await control::has_right(client, author, std::move(right)));
    if (may) record.rights.push_back(right_text(verb, resource));
  }
  flow.record_author(std::move(record));
  co_return Result<void>{};
}

/// Asks for the right itself, because a quota's refusal is Forbidden too.
Task<Result<bool>> WorkflowController::has_lost_right(client::Client& client, const Flow& flow, std::string verb,
                                                      kube::Resource resource, const Status& refusal) {
  const auto author = author_of(flow.workflow(), options_.acts_as);
  if (!control::lacks_right(refusal, author.get())) co_return false;
  if (control::is_unknown(*author)) co_return true;
  if (!flow.had_right(right_text(verb, resource))) co_return false;
  control::NeededRight right{std::move(verb), std::move(resource), "", {std::string(kube::ns(flow.workflow())), ""}};
  SLIPWAY_CO_TRY(may, co_await control::has_right(client, author, std::move(right)));
  co_return !may;
}

/// Says in the workflow's status that it waits for a right of its author.
Task<control::Outcome> WorkflowController::wait_for_right(client::Client& client, const Flow& flow, const Status& refusal,
                                                          Duration pause) {
  const auto author = author_of(flow.workflow(), options_.acts_as);
  if (author == nullptr) co_return control::Outcome::failed(refusal);
  const std::string reason = control::is_unknown(*author) ? std::string(control::kAuthorUnknown) : "Forbidden";
  if (auto status = waiting_status(flow.workflow(), reason, control::lacks_right_text(refusal, *author), env_.clock.now())) {
    auto written = co_await control::write_status(client, kWorkflows, flow.workflow(), std::move(*status), field_manager());
    if (!written) co_return control::Outcome::failed(std::move(written).error());
  }
  co_return control::Outcome::retries_after(pause);
}

Task<Result<void>> WorkflowController::remove_job(client::Client& client, std::string ns, JobRemoval removal) {
  client::DeleteQuery query;
  query.uid = removal.uid;
  co_return co_await client::remove_exactly(client, kJobs, {ns, removal.name}, std::move(query));
}

}  // namespace slipway::delivery::jobflow
