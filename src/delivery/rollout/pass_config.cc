#include <fmt/format.h>

#include <map>

#include "delivery/rollout/config_copies.h"
#include "delivery/rollout/fields.h"
#include "delivery/rollout/pass.h"
#include "kube/well_known.h"

namespace slipway::delivery::rollout {

using json::Value;
using kube::Object;

namespace {

/// Makes the copies that are not there yet; the template with their names.
Task<Result<Value>> frozen(client::Client& client, Value pod_template, std::string ns, std::string id, Value owners) {
  std::map<ConfigReference, std::string> names;
  for (const ConfigReference& one : config_references(pod_template)) {
    const kube::Resource resource = one.is_secret ? kube::kSecrets : kube::kConfigMaps;
    auto config = co_await client::get(client, resource, {ns, one.name});
    if (!config && config.error().reason == Reason::NotFound && one.is_optional) continue;
    if (!config) {
      co_return fail(config.error().reason,
                     fmt::format("snapshotConfig of {}: {} {}: {}", id, one.is_secret ? "Secret" : "ConfigMap", one.name,
                                 config.error().message));
    }
    if (is_config_copy(*config)) continue;
    const Object copy = config_copy(*config, id, owners);
    auto made = co_await client::create(client, resource, copy, std::string(kFieldManager));
    if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
    names[{one.is_secret, one.name, false}] = kube::name(copy);
  }
  co_return with_config_names(pod_template, [&](const ConfigReference& one) {
    const auto known = names.find({one.is_secret, one.name, false});
    return known == names.end() ? one.name : known->second;
  });
}

/// Its template can be another without its own controller replacing pods that serve.
bool may_change(const Workload& workload) {
  const bool is_pair = workload.row->alone == wave::Shape::Scale;
  return is_pair ? field_at(workload.object, workload.row->size).as_int() == 0 : has_old_pods(workload);
}

}  // namespace

/// Of a workload that is made: it has copies from its first pod on.
Task<Result<Value>> Pass::with_copies(Value workload) {
  if (!wanted_.plan.snapshot_config) co_return workload;
  const std::string path = target_->row->template_path;
  SLIPWAY_CO_TRY(made, co_await frozen(author_, field_at(workload, path), run_.key.ns, target_->id,
                                       workload["metadata"]["ownerReferences"]));
  co_return with_field_at(workload, path, made);
}

/// Of a workload that others have made: before an attempt at a new template of it begins.
Task<Result<void>> Pass::freeze_target() {
  const bool may_write = !kube::is_deleting(rollout_) && !wanted_.plan.is_paused;
  const bool is_there = target_->row != nullptr && !target_->object.is_null();
  if (!wanted_.plan.snapshot_config || !may_write || !is_there) co_return Result<void>{};
  if (memory_.target_revision.of(*target_) == status_.target_revision || !may_change(*target_)) co_return Result<void>{};
  const Value& owner = kube::controller_of(target_->object);
  if (!owner.is_null() && owner["uid"].as_string() != kube::uid(rollout_)) co_return Result<void>{};
  const std::string& path = target_->row->template_path;
  const Value owners =
      json::array({kube::owner_reference(target_->object).without("controller").without("blockOwnerDeletion")});
  SLIPWAY_CO_TRY(made, co_await frozen(author_, field_at(target_->object, path), run_.key.ns, target_->id, owners));
  FieldPatch patch(target_->object);
  patch.test("metadata.uid");
  patch.test("metadata.resourceVersion");
  patch.set(path, made);
  if (!patch.changes_something()) co_return Result<void>{};
  SLIPWAY_CO_TRY(written, co_await patch_workload(*target_, patch.build()));
  target_->object = std::move(written);
  co_return Result<void>{};
}

}  // namespace slipway::delivery::rollout
