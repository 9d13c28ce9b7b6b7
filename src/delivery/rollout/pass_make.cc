#include <fmt/format.h>

#include "delivery/family/claimed_fields.h"
#include "delivery/rollout/application_template.h"
#include "delivery/rollout/fields.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/pass.h"

namespace slipway::delivery::rollout {

using json::Value;
using kube::Object;
using wave::Rolling;

namespace {

/// As it is written first: without pods or, where `live` has some, so that its own controller replaces none of them.
Value at_beginning(Value workload, const WorkloadRow& row, const Object& live) {
  const Value size = live.is_null() ? Value(0) : field_at(live, row.size);
  if (!row.size.empty()) workload = with_field_at(workload, row.size, size);
  if (!live.is_null()) workload = with_field_at(workload, row.partition, size);
  if (!row.held_path.empty()) workload = with_field_at(workload, row.held_path, row.held_value);
  return workload;
}

}  // namespace

bool Pass::is_target_asked() const {
  const bool is_asked = status_.rolling == Rolling::LocatingTarget || status_.last_target_revision != wanted_.target_name;
  return is_asked && !kube::is_deleting(rollout_);
}

/// What the spec names for the first time is made, or renewed in place. What was made and has gone since is not.
Task<Result<void>> Pass::make_target() {
  const bool may_write = is_target_asked() && !wanted_.plan.is_paused;
  if (wanted_.workload.is_null() || target_->row == nullptr || !may_write) co_return Result<void>{};
  const Object live = target_->object;
  const bool is_in_place = target_->row->with_sources != wave::Shape::Pair;
  const bool is_made = !live.is_null() && (!is_in_place || kube::annotation(live, kRevisionAnnotation) == wanted_.target_name);
  const Value& owner = kube::controller_of(live);
  const bool is_others = !owner.is_null() && owner["uid"].as_string() != kube::uid(rollout_);
  if (is_made || is_others) co_return Result<void>{};
  // What is under way shifts the traffic by the Services as they are.
  if (is_at_rest()) {
    SLIPWAY_CO_TRY_VOID(co_await remove_objects(wanted_.source_scalers));
    SLIPWAY_CO_TRY_VOID(co_await apply_objects(wanted_.others));
  }
  const auto resource = tools_.workloads.known_resource(target_->kind);
  SLIPWAY_CO_TRY(workload, co_await with_copies(wanted_.workload));
  Value object = at_beginning(workload, *target_->row, live);
  if (live.is_null()) object = object.with_path({"metadata", "annotations", kCreating}, "true");
  SLIPWAY_CO_TRY(made, co_await client::apply(author_, *resource, object, std::string(kFieldManager)));
  target_->object = std::move(made);
  co_return Result<void>{};
}

Task<Result<void>> Pass::apply_objects(std::vector<Value> objects) {
  for (const Value& object : objects) {
    SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(object));
    SLIPWAY_CO_TRY(live, co_await tools_.workloads.find_object(run_.client, kind, kube::key_of(object)));
    const auto resource = tools_.workloads.known_resource(kind);
    if (!wanted_.is_as_rendered && tools_.workloads.is_cluster_scoped(kind)) {
      co_return fail(Reason::Forbidden,
                     fmt::format("{} {} of revision {} is cluster-scoped, and the ConfigMap {} was not written by "
                                 "the Application's controller: apply it yourself, or roll out a revision that "
                                 "the Application rendered",
                                 kind.kind, kube::name(object), wanted_.target_name, wanted_.target_name));
    }
    const Value wanted = live.is_null() ? object : without_claimed(object, live, kFieldManager);
    SLIPWAY_CO_TRY_VOID(co_await client::apply(author_, *resource, wanted, std::string(kFieldManager)));
  }
  co_return Result<void>{};
}

Task<Result<void>> Pass::remove_objects(std::vector<Value> objects) {
  for (const Value& object : objects) {
    SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(object));
    SLIPWAY_CO_TRY(live, co_await tools_.workloads.find_object(run_.client, kind, kube::key_of(object)));
    if (live.is_null() || live["spec"]["scaleTargetRef"]["name"] != object["spec"]["scaleTargetRef"]["name"]) continue;
    client::DeleteQuery query;
    query.uid = kube::uid(live);
    const auto resource = tools_.workloads.known_resource(kind);
    auto removed = co_await client::remove_exactly(author_, *resource, kube::key_of(object), std::move(query));
    if (!removed) co_return fail(std::move(removed).error());
  }
  co_return Result<void>{};
}

/// Autoscalers would work against the rollout: they are away until it is over.
Task<Result<void>> Pass::complete() {
  const bool is_over = status_.rolling == Rolling::Succeeded && !kube::is_deleting(rollout_);
  const bool is_undone = status_.rolling == Rolling::Failed && status_.is_reverting;
  const std::string& name = is_over ? wanted_.target_name : wanted_.source_name;
  const bool is_due = (is_over || is_undone) && status_.last_target_revision == wanted_.target_name;
  if (!is_due || wanted_.workload.is_null() || status_.completed_revision == name) co_return Result<void>{};
  if (is_over) SLIPWAY_CO_TRY_VOID(co_await apply_objects(wanted_.others));
  if (is_over) {
    ApplicationTemplate application(author_, rollout_, wanted_.application);
    SLIPWAY_CO_TRY_VOID(co_await application.give_back());
  }
  SLIPWAY_CO_TRY_VOID(co_await apply_objects(is_over ? wanted_.scalers : wanted_.source_scalers));
  status_.completed_revision = name;
  co_return Result<void>{};
}

/// T is what the revision says, until the attempt has begun.
bool Pass::is_first_deploy() const {
  const bool begins = status_.rolling == Rolling::LocatingTarget || !status_.target || status_.target->id != target_->id;
  if (!begins || !sources_.empty() || target_->row == nullptr) return false;
  return target_->object.is_null() || field_at(target_->object, target_->row->size).as_int() == 0;
}

}  // namespace slipway::delivery::rollout
