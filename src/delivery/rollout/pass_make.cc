#include <fmt/format.h>

#include "delivery/family/claimed_fields.h"
#include "delivery/family/managers.h"
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

/// The revision that a rollout over revisions rolls out.
std::string_view target_revision_of(const Object& rollout) {
  const Value& spec = rollout["spec"];
  return spec[spec.has("targetAppRevisionName") ? "targetAppRevisionName" : "targetRevisionName"].as_string();
}

/// Whether a reference names a rollout over revisions.
bool is_over_revisions(const Value& reference) {
  const auto kind = kube::GroupVersionKind::of(reference);
  return kind && (*kind == kAppRolloutKind || *kind == kRolloutKind);
}

}  // namespace

bool Pass::is_target_asked() const {
  const bool is_asked = status_.rolling == Rolling::LocatingTarget || status_.last_target_revision != wanted_.target_name;
  return is_asked && !kube::is_deleting(rollout_);
}

/// What the spec names for the first time is made, or renewed in place. What was made and has gone since is not.
Task<Result<void>> Pass::make_target() {
  const bool may_write = is_target_asked() && !wanted_.plan.is_paused && !has_yielded() && held_back_.empty();
  if (wanted_.workload.is_null() || target_->row == nullptr || !may_write) co_return Result<void>{};
  const Object live = target_->object;
  const bool is_in_place = target_->row->with_sources != wave::Shape::Pair;
  const bool is_made = !live.is_null() && (!is_in_place || kube::annotation(live, kRevisionAnnotation) == wanted_.target_name);
  const Value& owner = kube::controller_of(live);
  const bool is_others = !owner.is_null() && owner["uid"].as_string() != kube::uid(rollout_);
  if (is_others) co_return Result<void>{};
  SLIPWAY_CO_TRY_VOID(co_await record_target());
  // What was rolled out before, and comes back: the objects beside it are those of a revision since.
  const bool comes_back =
      kube::annotation(live, kCreating).empty() && status_.completed_revision != completion_of(rollout_, wanted_.target_name);
  if (is_made && !comes_back) co_return Result<void>{};
  // What is under way shifts the traffic by the Services as they are.
  if (is_at_rest()) {
    SLIPWAY_CO_TRY_VOID(co_await remove_objects(wanted_.source_scalers));
    SLIPWAY_CO_TRY_VOID(co_await apply_objects(wanted_.others));
  }
  if (is_made) co_return Result<void>{};
  const auto resource = tools_.workloads.known_resource(target_->kind);
  SLIPWAY_CO_TRY(workload, co_await with_copies(wanted_.workload));
  Value object = at_beginning(workload, *target_->row, live);
  if (live.is_null()) object = object.with_path({"metadata", "annotations", kCreating}, "true");
  SLIPWAY_CO_TRY(made, co_await client::apply(author_, *resource, object, std::string(kFieldManager)));
  target_->object = std::move(made);
  co_return Result<void>{};
}

/// What is about to be made is recorded first, so that the application finds it whatever becomes of the rollout.
Task<Result<void>> Pass::record_target() {
  const bool is_by_trait = kube::kind(rollout_) == kRolloutKind.kind && !wanted_.app_name.empty();
  // What a user has written is no application's: the application would delete what that user names.
  if ((wanted_.app_uid.empty() && !is_by_trait) || !wanted_.is_as_rendered) co_return Result<void>{};
  const auto kind = read_kind(wanted_.holdings_kind);
  if (!kind || kind->group != kAppGroup) co_return Result<void>{};
  SLIPWAY_CO_TRY(resource, co_await tools_.workloads.resource_of(run_.client, *kind));
  // A user may have named the kind. Of those that are for the whole cluster only the application's records are in the group.
  if (!tools_.workloads.is_cluster_scoped(*kind)) co_return Result<void>{};
  Holdings holding{.rollout = rollout_,
                   .application = wanted_.app_name,
                   .application_uid = wanted_.app_uid,
                   .component = wanted_.component,
                   .revision = wanted_.target_name,
                   .objects = wanted_.others,
                   .kind = *kind,
                   .resource = std::move(resource)};
  holding.objects.push_back(wanted_.workload);
  holding.objects.insert(holding.objects.end(), wanted_.scalers.begin(), wanted_.scalers.end());
  co_return co_await record_held(run_.client, std::move(holding), std::string(kFieldManager));
}

/// Before an attempt begins: another rollout of the component that still works on its workloads ends for this one, which was
/// asked for later. Says which one that is; empty: there is none. One that rolls the same revision out is let finish: of two
/// that ask each other to yield neither would deliver it.
Task<Result<std::string>> Pass::ask_owner_to_yield() {
  const bool begins = status_.rolling == Rolling::LocatingTarget || status_.rolling == Rolling::VerifyingSpec ||
                      status_.last_target_revision != wanted_.target_name;
  if (!begins || wanted_.app_name.empty() || kube::is_deleting(rollout_) || has_yielded()) co_return "";
  std::vector<Workload> workloads = sources_;
  workloads.push_back(*target_);
  for (const Workload& workload : workloads) {
    const Value owner = kube::controller_of(workload.object);
    const bool is_others = !owner.is_null() && owner["uid"].as_string() != kube::uid(rollout_) && is_over_revisions(owner);
    if (!is_others || kube::label(workload.object, kComponentLabel) != wanted_.component) continue;
    SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(owner));
    const kube::Resource resource = kind == kAppRolloutKind ? kAppRollouts : kRollouts;
    const kube::ObjectKey key{run_.key.ns, owner["name"].str()};
    auto other = co_await client::get(author_, resource, key);
    if (!other && other.error().reason == Reason::NotFound) continue;
    if (!other) co_return fail(std::move(other).error());
    const std::string what =
        fmt::format("{} belongs to {}, which is asked to yield", workload.id, holder_text(holder_name(*other)));
    const std::int64_t attempt = (*other)["status"]["attempt"].as_int();
    if (kube::uid(*other) != owner["uid"].as_string()) continue;
    if (target_revision_of(*other) == wanted_.target_name) {
      if (!is_at_rest()) continue;  // the roll waits for the owner, and does what it is asked meanwhile
      co_return fmt::format("{} belongs to {}, which rolls {} out too: this rollout begins when that one has ended",
                            workload.id, holder_text(holder_name(*other)), wanted_.target_name);
    }
    if (is_asked_to_yield(*other, attempt)) co_return what;
    const Value asked = json::object({{kYieldRequest, yield_request(wanted_.target_name, attempt)}});
    const Value patch = json::object({{"metadata", json::object({{"annotations", asked}})}});
    SLIPWAY_CO_TRY_VOID(co_await client::merge_patch(author_, resource, key, patch, std::string(kFieldManager)));
    co_return what;
  }
  co_return "";
}

/// What the application has applied is the rollout's from here on.
Task<Result<Object>> Pass::take_fields(kube::Resource resource, Object live) {
  const auto fields = handed_over_fields(live, kApplicationManager, kFieldManager);
  if (!fields) co_return live;
  FieldPatch patch(live);
  patch.test("metadata.uid");
  patch.test("metadata.resourceVersion");
  patch.set("metadata.managedFields", *fields);
  client::Request request;
  request.verb = client::Verb::Patch;
  request.resource = std::move(resource);
  request.ns = kube::ns(live);
  request.name = kube::name(live);
  request.body = patch.build();
  request.patch_type = client::PatchType::Json;
  request.field_manager = kFieldManager;
  SLIPWAY_CO_TRY(reply, co_await author_.call(std::move(request)));
  co_return reply.object;
}

/// Read once, as the author: a cache of a kind that a ConfigMap names would stay for the life of the process.
Task<Result<Value>> Pass::find_live(kube::Resource resource, kube::ObjectKey key) {
  auto live = co_await client::get(author_, std::move(resource), std::move(key));
  if (!live && live.error().reason == Reason::NotFound) co_return Value();
  co_return live;
}

Task<Result<void>> Pass::apply_objects(std::vector<Value> objects) {
  for (const Value& object : objects) {
    SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(object));
    SLIPWAY_CO_TRY(resource, co_await tools_.workloads.resource_of(run_.client, kind));
    if (!wanted_.is_as_rendered && tools_.workloads.is_cluster_scoped(kind)) {
      Status refusal;
      refusal.reason = Reason::Forbidden;
      refusal.kind = kind.kind;
      refusal.message = fmt::format(
          "{} {} of revision {} is cluster-scoped, and the ConfigMap {} was not written by the Application's "
          "controller: apply it yourself, or roll out a revision that the Application rendered",
          kind.kind, kube::name(object), wanted_.target_name, wanted_.target_name);
      co_return fail(std::move(refusal));
    }
    SLIPWAY_CO_TRY(live, co_await find_live(resource, kube::key_of(object)));
    if (!live.is_null()) {
      SLIPWAY_CO_TRY(taken, co_await take_fields(resource, live));
      live = std::move(taken);
    }
    const Value wanted = live.is_null() ? object : without_claimed(object, live, kFieldManager);
    SLIPWAY_CO_TRY_VOID(co_await client::apply(author_, resource, wanted, std::string(kFieldManager)));
  }
  co_return Result<void>{};
}

Task<Result<void>> Pass::remove_objects(std::vector<Value> objects) {
  for (const Value& object : objects) {
    SLIPWAY_CO_TRY(kind, kube::GroupVersionKind::of(object));
    SLIPWAY_CO_TRY(resource, co_await tools_.workloads.resource_of(run_.client, kind));
    SLIPWAY_CO_TRY(live, co_await find_live(resource, kube::key_of(object)));
    if (live.is_null() || live["spec"]["scaleTargetRef"]["name"] != object["spec"]["scaleTargetRef"]["name"]) continue;
    client::DeleteQuery query;
    query.uid = kube::uid(live);
    auto removed = co_await client::remove_exactly(author_, resource, kube::key_of(object), std::move(query));
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
  const std::string completion = completion_of(rollout_, name);
  if (!is_due || wanted_.workload.is_null() || status_.completed_revision == completion) co_return Result<void>{};
  if (is_over) SLIPWAY_CO_TRY_VOID(co_await apply_objects(wanted_.others));
  if (is_over) {
    ApplicationTemplate application(author_, rollout_, wanted_.application);
    SLIPWAY_CO_TRY_VOID(co_await application.give_back());
  }
  SLIPWAY_CO_TRY_VOID(co_await apply_objects(is_over ? wanted_.scalers : wanted_.source_scalers));
  status_.completed_revision = completion;
  co_return Result<void>{};
}

/// T of an attempt that begins, where targetSize does not say it: what the revision declares, unless an autoscaler sizes what
/// serves; else what serves; else 1. Of workloads that are there by themselves the roll knows best.
std::optional<std::int64_t> Pass::first_size() const {
  if (wanted_.workload.is_null() || target_->row == nullptr || target_->row->size.empty()) return std::nullopt;
  const auto size_of = [](const Workload& workload) {
    return workload.object.is_null() ? 0 : field_at(workload.object, workload.row->size).as_int();
  };
  std::int64_t live = size_of(*target_);
  for (const Workload& source : sources_) live += size_of(source);
  const bool is_scaled = live > 0 && !(wanted_.scalers.empty() && wanted_.source_scalers.empty());
  if (wanted_.size && !is_scaled) return wanted_.size;
  if (live == 0) return 1;
  return status_.target_size > 0 ? std::nullopt : std::optional(live);
}

}  // namespace slipway::delivery::rollout
