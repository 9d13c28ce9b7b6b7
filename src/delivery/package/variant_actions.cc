// What a variant does to revisions, and how it finds out whether they have its changes; the rest of the controller is
// variant_controller.cc.
#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "delivery/package/kind.h"
#include "delivery/package/revision_writes.h"
#include "delivery/package/variant_controller.h"
#include "json/members.h"
#include "json/text.h"
#include "krm/kptfile.h"
#include "krm/package.h"

namespace slipway::delivery::package {
namespace {

using json::Value;
using ActionKind = VariantAction::Kind;

/// Revisions whose content a task begins with.
std::vector<std::string> sources_of(const RevisionSpec& draft) {
  std::vector<std::string> names;
  for (const RevisionTask& task : draft.tasks) {
    if (task.clone && task.clone->upstream.revision) names.push_back(task.clone->upstream.revision->name);
    if (task.edit && task.edit->source) names.push_back(task.edit->source->name);
    if (task.upgrade) {
      names.push_back(task.upgrade->new_upstream.name);
      names.push_back(task.upgrade->local.name);
    }
  }
  return names;
}

Result<std::string> with_gates(std::string kptfile, const std::vector<std::string>& gates) {
  for (const std::string& gate : gates) {
    SLIPWAY_TRY(next, krm::with_gate(std::move(kptfile), gate));
    kptfile = std::move(next);
  }
  return kptfile;
}

Value map_of(const std::map<std::string, std::string>& entries) {
  json::ObjectBuilder map;
  for (const auto& [key, value] : entries) map.add(key, value);
  return map.build();
}

Value with_entries(const Value& object, const char* field, const std::map<std::string, std::string>& entries) {
  if (entries.empty()) return object;
  return object.with_path({"metadata", field}, json::with_members(object["metadata"][field], map_of(entries)));
}

}  // namespace

Task<Result<Files>> VariantController::files_of(Variant variant, std::string name, std::optional<RenderStatus>& render) {
  SLIPWAY_CO_TRY(object, co_await client::get(*variant.author, kResources, {std::string(kube::ns(variant.object)), name}));
  SLIPWAY_CO_TRY(spec, json::decode<ResourcesSpec>(object["spec"], "spec", {.allow_unknown = true}));
  if (object["status"].has("renderStatus")) {
    auto status = json::decode<ResourcesStatus>(object["status"], "status", {.allow_unknown = true});
    if (status) render = status->render;
  }
  co_return std::move(spec.resources);
}

/// Published content does not change; that of drafts is told apart by its digest.
Task<Result<std::vector<kube::GroupVersionKind>>> VariantController::kinds_in(const Variant& variant,
                                                                              RecordIndex::Known revision) {
  const Key key = revision->key();
  if (const auto known = memory_.find(key); known != memory_.end() && known->second.digest == revision->record.digest)
    co_return known->second.kinds;
  std::optional<RenderStatus> render;
  SLIPWAY_CO_TRY(files, co_await files_of(variant, key.name, render));
  SLIPWAY_CO_TRY(points, injection_points(files));
  std::vector<kube::GroupVersionKind> kinds;
  for (const InjectionPoint& point : points) {
    if (std::ranges::find(kinds, point.kind) == kinds.end()) kinds.push_back(point.kind);
  }
  memory_[key] = {.digest = revision->record.digest, .kinds = kinds, .judged = {.render = std::move(render)}};
  co_return kinds;
}

/// A kind that the cluster does not have gives nothing to inject; the condition then says so.
Task<Result<std::vector<Injectable>>> VariantController::load(control::Reconcile& run, Variant variant,
                                                              std::vector<kube::GroupVersionKind> kinds) {
  std::vector<Injectable> objects;
  for (const kube::GroupVersionKind& kind : kinds) {
    auto mapped = co_await kinds_.find(run.client, "", kind);
    if (!mapped && mapped.error().reason == Reason::NotFound) continue;
    if (!mapped) co_return fail(std::move(mapped).error());
    if (!mapped->is_namespaced) continue;
    follow_kind(mapped->resource);
    SLIPWAY_CO_TRY(list, co_await client::list(*variant.author, mapped->resource,
                                               {.ns = run.key.ns, .label_selector = "", .field_selector = ""}));
    for (const Value& item : list["items"].items()) {
      Injectable one = injectable(item);
      one.api_version = kind.api_version();
      one.kind = kind.kind;
      objects.push_back(std::move(one));
    }
  }
  co_return objects;
}

Task<Result<VariantController::Judged>> VariantController::judge(control::Reconcile& run, Variant variant,
                                                                 RecordIndex::Known revision) {
  const Key key = revision->key();
  VariantContent content = variant.content;
  SLIPWAY_CO_TRY(kinds, co_await kinds_in(variant, revision));
  if (!content.injectors.empty()) {
    SLIPWAY_CO_TRY(objects, co_await load(run, variant, kinds));
    // Others than those that injectors name change nothing.
    std::erase_if(objects, [&](const Injectable& one) {
      return std::ranges::find(content.injectors, one.name, &Injector::name) == content.injectors.end();
    });
    content.objects = std::move(objects);
  }
  const Lifecycle lifecycle = revision->record.lifecycle;
  const std::string changes = sha256_hex(fmt::format("{} {}", json::enum_name(lifecycle), json::print(json::encode(content))));
  if (const Memory& known = memory_[key]; known.digest == revision->record.digest && known.changes == changes)
    co_return known.judged;
  Judged judged;
  SLIPWAY_CO_TRY(files, co_await files_of(variant, key.name, judged.render));
  SLIPWAY_CO_TRY(made, with_variant(files, content));
  const bool lacks_gate =
      std::ranges::any_of(made.gates, [&](const std::string& gate) { return find(revision->record.gates, gate) == nullptr; });
  judged.differs = content_digest(made.files) != content_digest(files) || lacks_gate;
  judged.conditions = made.conditions;
  if (lifecycle != Lifecycle::Draft) judged.conditions.clear();
  if (!judged.differs && !is_published(lifecycle))
    judged.conditions.insert(judged.conditions.begin(), drafted(variant.content.variant));
  if (judged.differs && lifecycle == Lifecycle::Proposed) judged.conditions = {out_of_date(key.name)};
  memory_[key] = {.digest = revision->record.digest, .changes = changes, .kinds = kinds, .judged = judged};
  co_return judged;
}

Task<Result<void>> VariantController::carry_out(control::Reconcile& run, Variant variant, VariantAction action) {
  const Key key{run.key.ns, action.name};
  const std::string uid(kube::uid(variant.object));
  RevisionChange change;
  switch (action.kind) {
    case ActionKind::Create:
      co_return co_await create(run, std::move(variant), *std::move(action.draft));
    case ActionKind::Write:
      co_return co_await write(run, std::move(variant), std::move(action.name));
    case ActionKind::Delete:
      co_return co_await remove_revision(*variant.author, key);
    case ActionKind::Adopt:
      change = [reference = kube::owner_reference(variant.object), spec = variant.spec](const kube::Object& one) {
        return with_entries(with_entries(with_owner(one, reference), "labels", spec.labels), "annotations", spec.annotations);
      };
      break;
    case ActionKind::TakeBack:
      change = [](const kube::Object& one) { return with_lifecycle(one, Lifecycle::Published); };
      break;
    case ActionKind::ProposeDeletion:
      change = [](const kube::Object& one) { return with_lifecycle(one, Lifecycle::DeletionProposed); };
      break;
    case ActionKind::Orphan:
      change = [uid](const kube::Object& one) { return without_owner(one, uid); };
      break;
  }
  co_return co_await change_revision(*variant.author, key, std::move(change), kVariantManager);
}

Task<Result<void>> VariantController::create(control::Reconcile& run, Variant variant, RevisionSpec draft) {
  std::vector<kube::GroupVersionKind> kinds;
  const std::vector<std::string> sources = variant.content.injectors.empty() ? std::vector<std::string>{} : sources_of(draft);
  for (const std::string& source : sources) {
    const RecordIndex::Known known = records_->find({run.key.ns, source});
    if (known == nullptr) continue;
    SLIPWAY_CO_TRY(there, co_await kinds_in(variant, known));
    for (const auto& kind : there) {
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
    }
  }
  SLIPWAY_CO_TRY(objects, co_await load(run, variant, kinds));
  std::erase_if(objects, [&](const Injectable& one) {
    return std::ranges::find(variant.content.injectors, one.name, &Injector::name) == variant.content.injectors.end();
  });
  variant.content.objects = std::move(objects);
  draft.variant = variant.content;
  const std::string name = RevisionKey{{draft.repository, plain_path(draft.package_name)}, draft.workspace}.object_name();
  Value metadata = json::object(
      {{"name", name}, {"namespace", run.key.ns}, {"ownerReferences", json::array({kube::owner_reference(variant.object)})}});
  if (!variant.spec.labels.empty()) metadata = metadata.with("labels", map_of(variant.spec.labels));
  if (!variant.spec.annotations.empty()) metadata = metadata.with("annotations", map_of(variant.spec.annotations));
  const Value conditions = json::array({json::encode(drafted(variant.content.variant))});
  const Value object = json::object({{"apiVersion", kRevisionKind.api_version()},
                                     {"kind", kRevisionKind.kind},
                                     {"metadata", metadata},
                                     {"spec", json::encode(draft)},
                                     {"status", json::object({{"conditions", conditions}})}});
  auto made = co_await client::create(*variant.author, kRevisions, object, kVariantManager);
  if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  co_return Result<void>{};
}

Task<Result<void>> VariantController::write(control::Reconcile& run, Variant variant, std::string name) {
  const Key key{run.key.ns, name};
  SLIPWAY_CO_TRY(object, co_await client::get(*variant.author, kResources, key));
  SLIPWAY_CO_TRY(spec, json::decode<ResourcesSpec>(object["spec"], "spec", {.allow_unknown = true}));
  VariantContent content = variant.content;
  if (!content.injectors.empty()) {
    SLIPWAY_CO_TRY(points, injection_points(spec.resources));
    std::vector<kube::GroupVersionKind> kinds;
    for (const InjectionPoint& point : points) kinds.push_back(point.kind);
    std::ranges::sort(kinds);
    kinds.erase(std::ranges::unique(kinds).begin(), kinds.end());
    SLIPWAY_CO_TRY(objects, co_await load(run, variant, kinds));
    content.objects = std::move(objects);
  }
  SLIPWAY_CO_TRY(made, with_variant(spec.resources, content));
  std::string& kptfile = made.files[std::string(krm::kKptfile)];
  SLIPWAY_CO_TRY(gated, with_gates(kptfile, made.gates));
  kptfile = std::move(gated);
  if (made.files == spec.resources) co_return Result<void>{};
  const Value changed = object.with_path({"spec", "resources"}, map_of(made.files));
  auto written = co_await client::update(*variant.author, kResources, changed, kVariantManager);
  if (!written && written.error().reason != Reason::NotFound) co_return fail(std::move(written).error());
  co_return Result<void>{};
}

/// Says what is so about the draft as it is; no condition of other owners is touched.
Task<Result<void>> VariantController::flip(Variant variant, std::string name, std::vector<Condition> wanted) {
  const RecordIndex::Known known = records_->find({std::string(kube::ns(variant.object)), name});
  if (known == nullptr || is_published(known->record.lifecycle)) co_return Result<void>{};
  std::erase_if(wanted, [&](const Condition& one) {
    const Condition* there = find(known->record.conditions, one.type);
    return there != nullptr && there->status == one.status && there->reason == one.reason && there->message == one.message;
  });
  if (wanted.empty()) co_return Result<void>{};
  co_return co_await change_revision(
      *variant.author, known->key(), [wanted](const kube::Object& one) { return with_conditions(one, wanted); },
      kVariantManager);
}

}  // namespace slipway::delivery::package
