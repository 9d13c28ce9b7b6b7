#include "delivery/package/variant_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lookup.h"
#include "base/text.h"
#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/package/kind.h"
#include "delivery/package/revision_writes.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;

constexpr const char* kVariantsByUpstream = "variant-upstream";
constexpr const char* kByDownstream = "variant-downstream";
constexpr const char* kByInjected = "variant-injected";

Value ready_and_stalled(const kube::Object& object, kube::Condition stalled, kube::Condition ready, Time now) {
  const Value conditions = kube::set_condition(object["status"]["conditions"], std::move(stalled), now);
  return kube::set_condition(conditions, std::move(ready), now);
}

std::string place_in(const kube::Object& variant, const char* side) {
  const Value& place = variant["spec"][side];
  return package_id(kube::ns(variant), place["repo"].as_string(), place["package"].as_string());
}

/// "namespace/name" of the objects that injectors mean, of whatever kind.
std::vector<std::string> injected_names(const kube::Object& variant) {
  std::vector<std::string> names;
  for (const Value& one : variant["spec"]["injectors"].items())
    names.push_back(fmt::format("{}/{}", kube::ns(variant), one["name"].as_string()));
  return names;
}

RevisionView view_of(const StoredRecord& stored, std::string_view uid) {
  const RevisionRecord& record = stored.record;
  const bool is_ours =
      std::ranges::any_of(record.owners.items(), [&](const Value& owner) { return owner["uid"].as_string() == uid; });
  return {.name = stored.key().name,
          .repository = record.repository,
          .package = record.path,
          .workspace = record.workspace,
          .revision = record.revision,
          .lifecycle = record.lifecycle,
          .is_ours = is_ours,
          .upstream_revision = upstream_number(record)};
}

/// What of a change is news for those who follow the package.
bool is_news_upstream(const kube::Object& before, const kube::Object& after) {
  if (before.is_null() || after.is_null()) return true;
  return before["spec"]["lifecycle"] != after["spec"]["lifecycle"] || before["spec"]["revision"] != after["spec"]["revision"];
}

/// The revisions downstream that the plan will look at: drafts, else the newest published one.
bool counts(const RevisionView& one, const Downstream& downstream, bool adopts) {
  const bool is_there = one.repository == downstream.repo && one.package == downstream.package;
  return is_there && (one.is_ours || adopts) && one.revision != kPlaceholder;
}

}  // namespace

VariantController::VariantController(const ControllerContext& context, std::shared_ptr<RecordIndex> records)
    : env_(context.env), acts_as_(context.acts_as), records_(std::move(records)) {}

void VariantController::watch(control::Watches& watches) {
  watches_ = &watches;
  enqueue_ = watches.enqueue();
  variants_ = &watches.primary(kVariants);
  variants_->add_index(kVariantsByUpstream, [](const Value& one) { return std::vector{place_in(one, "upstream")}; });
  variants_->add_index(kByDownstream, [](const Value& one) { return std::vector{place_in(one, "downstream")}; });
  variants_->add_index(kByInjected, injected_names);
  records_->attach(watches);
  // A kind that was asked for in vain may be there now.
  watches.changes(
      kube::kDefinitions,
      [this](const Value&, const Value&) {
        kinds_.forget("");
        std::vector<Key> keys;
        for (const auto& [key, one] : variants_->objects()) {
          if (!one["spec"]["injectors"].empty()) keys.push_back(key);
        }
        return keys;
      },
      control::Form::Metadata);
  watches.changes(kRecords, [this](const Value& before, const Value& after) {
    if (after.is_null()) memory_.erase(kube::key_of(before));
    return woken_by(before, after);
  });
}

void VariantController::follow_kind(const kube::Resource& resource) {
  if (sources_.contains(resource)) return;
  control::InformerLease lease = watches_->lease(watches_->home(), resource, control::Form::Metadata);
  if (!lease) return;
  lease.on_change([this](const kube::Object& before, const kube::Object& after) {
    const kube::Object& one = after.is_null() ? before : after;
    wake_injecting(std::string(kube::ns(one)), kube::name(one));
  });
  sources_.emplace(resource, std::move(lease));
}

void VariantController::wake_injecting(const std::string& ns, std::string_view name) {
  for (const Key& key : variants_->index_keys(kByInjected, fmt::format("{}/{}", ns, name))) enqueue_(key);
}

void VariantController::add_variants(std::vector<Key>& keys, const char* index, const std::string& id) const {
  for (Key& key : variants_->index_keys(index, id)) keys.push_back(std::move(key));
}

std::vector<kube::ObjectKey> VariantController::woken_by(const kube::Object& before, const kube::Object& after) const {
  std::vector<Key> keys;
  for (const kube::Object* one : {&before, &after}) {
    if (one->is_null()) continue;
    for (const Value& owner : (*one)["spec"]["owners"].items()) {
      if (owner["kind"].as_string() == kVariantKind.kind) keys.push_back({std::string(kube::ns(*one)), owner["name"].str()});
    }
    add_variants(keys, kByDownstream, package_id(*one));
    if (is_news_upstream(before, after)) add_variants(keys, kVariantsByUpstream, package_id(*one));
  }
  std::ranges::sort(keys);
  keys.erase(std::ranges::unique(keys).begin(), keys.end());
  return keys;
}

Task<Outcome> VariantController::reconcile(control::Reconcile& run) {
  kube::Object object = variants_->get(run.key);
  if (object.is_null()) co_return Outcome::settled();
  control::CleanUp clean = [this, &run, object] { return clean_up(run, object); };
  auto life = co_await control::finalize(run.client, kVariants, object, std::string(kVariantFinalizer), kVariantManager, clean);
  if (!life && control::lacks_right(life.error(), author_of(object, acts_as_).get()))
    co_return Outcome::retries_after(control::kAuthorRightPause);
  if (!life) co_return Outcome::failed(std::move(life).error());
  if (life->stage != control::Finalized::Stage::Live) co_return Outcome::settled();
  const Author author = author_of(life->object, acts_as_);
  Variant variant{.object = life->object, .author = &run.as(author)};
  auto spec = json::decode<VariantSpec>(variant.object["spec"], "spec", {.allow_unknown = true});
  std::vector<std::string> faults;
  if (!spec) faults.push_back(spec.error().message);
  if (spec) faults = check(*spec);
  if (!faults.empty()) {
    const Value status = variant_status(variant.object, {}, faults, {}, {}, author.get(), env_.clock.now());
    auto told = co_await control::write_status(run.client, kVariants, variant.object, status, kVariantManager);
    co_return told ? Outcome::settled() : Outcome::failed(std::move(told).error());
  }
  variant.spec = *std::move(spec);
  for (std::string* path : {&variant.spec.upstream->package, &variant.spec.downstream->package}) *path = plain_path(*path);
  variant.content = variant_content(kube::name(variant.object), variant.spec);
  VariantPlan plan;
  Result<void> done;
  auto there = co_await look(run, variant);
  if (!there) done = fail(std::move(there).error());
  const bool replaces = kube::annotation(variant.object, kSupersededDrafts) == "replace";
  if (there) plan = plan_variant(variant.spec, *there, replaces ? Superseded::Replace : Superseded::Keep);
  for (const VariantAction& action : plan.actions) {
    if (done) done = co_await carry_out(run, variant, action);
  }
  for (const std::string& target : plan.targets) {
    const auto known = memory_.find({run.key.ns, target});
    if (done && known != memory_.end()) done = co_await flip(variant, target, known->second.judged.conditions);
  }
  auto told = co_await tell(run, variant, plan, done);
  if (!told) co_return Outcome::failed(std::move(told).error());
  if (!done && control::lacks_right(done.error(), author.get())) co_return Outcome::retries_after(control::kAuthorRightPause);
  co_return done ? Outcome::settled() : Outcome::failed(std::move(done).error());
}

Task<Result<std::vector<RevisionView>>> VariantController::look(control::Reconcile& run, Variant variant) {
  const std::string& ns = run.key.ns;
  const std::string uid(kube::uid(variant.object));
  const Downstream& downstream = *variant.spec.downstream;
  std::map<Key, RecordIndex::Known> found;
  for (auto& one : records_->of_package(ns, {variant.spec.upstream->repo, variant.spec.upstream->package}))
    found.emplace(one->key(), one);
  for (auto& one : records_->of_package(ns, {downstream.repo, downstream.package})) found.emplace(one->key(), one);
  for (auto& one : records_->owned_by(uid)) found.emplace(one->key(), one);
  const bool adopts = variant.spec.adoption == AdoptionPolicy::AdoptExisting;
  std::vector<RevisionView> views;
  bool has_drafts = false;
  std::int64_t newest = 0;
  for (const auto& [key, one] : found) {
    if (kube::is_deleting(one->object)) continue;
    views.push_back(view_of(*one, uid));
    if (!counts(views.back(), downstream, adopts)) continue;
    has_drafts |= !is_published(one->record.lifecycle);
    if (is_published(one->record.lifecycle)) newest = std::max(newest, one->record.revision);
  }
  for (RevisionView& view : views) {
    const bool is_newest = !has_drafts && view.revision == newest && is_published(view.lifecycle);
    // The content of a proposal is not touched; that it is out of date is told.
    const bool is_judged = counts(view, downstream, adopts) && (is_newest || !is_published(view.lifecycle));
    if (!is_judged) continue;
    SLIPWAY_CO_TRY(judged, co_await judge(run, variant, value_at(found, Key{ns, view.name})));
    view.differs = judged.differs;
  }
  co_return views;
}

Task<Result<void>> VariantController::tell(control::Reconcile& run, Variant variant, VariantPlan plan, Result<void> done) {
  std::map<std::string, RenderStatus> renders;
  for (const std::string& target : plan.targets) {
    const auto known = memory_.find({run.key.ns, target});
    if (known != memory_.end() && known->second.judged.render) renders.emplace(target, *known->second.judged.render);
  }
  const Value status =
      variant_status(variant.object, plan, {}, done, renders, author_of(variant.object, acts_as_).get(), env_.clock.now());
  auto told = co_await control::write_status(run.client, kVariants, variant.object, status, kVariantManager);
  if (!told && told.error().reason != Reason::NotFound) co_return fail(std::move(told).error());
  co_return Result<void>{};
}

Task<Result<bool>> VariantController::clean_up(control::Reconcile& run, kube::Object object) {
  const std::string uid(kube::uid(object));
  Variant variant{.object = object, .author = &run.as(author_of(object, acts_as_))};
  // A spec that cannot be read asked for nothing else than the default.
  if (auto spec = json::decode<VariantSpec>(object["spec"], "spec", {.allow_unknown = true})) variant.spec = *std::move(spec);
  std::vector<RevisionView> views;
  for (const RecordIndex::Known& one : records_->owned_by(uid)) {
    if (!kube::is_deleting(one->object)) views.push_back(view_of(*one, uid));
  }
  for (const VariantAction& action : plan_removal(variant.spec, views).actions) {
    SLIPWAY_CO_TRY_VOID(co_await carry_out(run, variant, action));
  }
  co_return true;
}

Value variant_status(const kube::Object& object, const VariantPlan& plan, const std::vector<std::string>& faults,
                     const Result<void>& done, const std::map<std::string, RenderStatus>& renders, const kube::UserInfo* author,
                     Time now) {
  // Without the upstream revision there is nothing to be planned.
  const bool is_lost = !plan.error.empty() && plan.targets.empty() && plan.actions.empty();
  std::string fault = joined(faults, "; ");
  if (fault.empty() && is_lost) fault = plan.error;
  if (!fault.empty()) {
    return object["status"].with("conditions",
                                 ready_and_stalled(object, {"Stalled", "True", "ValidationError", fault},
                                                   {"Ready", "False", "Error", "invalid packagevariant object"}, now));
  }
  const std::string error = done ? plan.error : done.error().message;
  kube::Condition ready{"Ready", "True", "NoErrors", "successfully ensured downstream package variant"};
  if (!error.empty()) ready = {"Ready", "False", "Error", error};
  if (!done && control::lacks_right(done.error(), author)) {
    ready = {"Ready", "False", control::lacks_right_cause(*author), control::lacks_right_text(done.error(), *author)};
  }
  Value status = object["status"].with(
      "conditions", ready_and_stalled(object, {"Stalled", "False", "Valid", "all validation checks passed"}, ready, now));
  if (!error.empty()) return status;
  std::vector<Value> targets;
  std::vector<std::string> names = plan.targets;
  for (const VariantAction& action : plan.actions) {
    if (action.kind == VariantAction::Kind::Create) names = {action.name};
  }
  for (const std::string& name : names) {
    DownstreamTarget target{.name = name};
    if (const auto render = renders.find(name); render != renders.end()) target.render = render->second;
    targets.push_back(json::encode(target));
  }
  return status.with("downstreamTargets", json::array(targets));
}

}  // namespace slipway::delivery::package
