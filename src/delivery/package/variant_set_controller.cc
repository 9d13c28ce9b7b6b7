#include "delivery/package/variant_set_controller.h"

#include <fmt/format.h>

#include "base/compute_pool.h"
#include "base/text.h"
#include "control/author_right.h"
#include "control/object_writes.h"
#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;

constexpr const char* kVariantSetManager = "slipway-package-variant-set";
constexpr const char* kBySet = "variant-set-uid";
constexpr const char* kSetsByUpstream = "variant-set-upstream";
constexpr Duration kPause = std::chrono::seconds{1};

}  // namespace

VariantSetController::VariantSetController(const ControllerContext& context, std::shared_ptr<RecordIndex> records)
    : env_(context.env), acts_as_(context.acts_as), records_(std::move(records)) {}

void VariantSetController::watch(control::Watches& watches) {
  watches_ = &watches;
  sets_ = &watches.primary(kVariantSets);
  sets_->add_index(kSetsByUpstream, [](const Value& set) {
    const Value& upstream = set["spec"]["upstream"];
    return std::vector{package_id(kube::ns(set), upstream["repo"].as_string(), upstream["package"].as_string())};
  });
  variants_ = &watches.also(kVariants, control::Watches::owner_of_kind(kVariantSetKind.group, kVariantSetKind.kind));
  variants_->add_index(kBySet, [](const Value& one) {
    const std::string_view uid = kube::label(one, kVariantSetLabel);
    return uid.empty() ? std::vector<std::string>{} : std::vector{std::string(uid)};
  });
  repositories_ = &watches.changes(kRepositories, [this](const Value& before, const Value& after) {
    const bool is_news = before.is_null() || after.is_null() || before["metadata"]["labels"] != after["metadata"]["labels"] ||
                         before["metadata"]["annotations"] != after["metadata"]["annotations"];
    return is_news ? sets_of(kube::ns(after.is_null() ? before : after)) : std::vector<kube::ObjectKey>{};
  });
  records_->attach(watches);
  watches.changes(kRecords, [this](const Value& before, const Value& after) {
    const bool is_news = before.is_null() || after.is_null() || before["spec"]["revision"] != after["spec"]["revision"] ||
                         before["spec"]["lifecycle"] != after["spec"]["lifecycle"];
    if (!is_news) return std::vector<kube::ObjectKey>{};
    return sets_->index_keys(kSetsByUpstream, package_id(after.is_null() ? before : after));
  });
}

std::vector<kube::ObjectKey> VariantSetController::sets_of(std::string_view ns) const {
  std::vector<kube::ObjectKey> keys;
  for (const kube::ObjectKey& key : sets_->keys(ns)) keys.push_back(key);
  return keys;
}

/// By number, or by workspace where that is given.
kube::Object VariantSetController::upstream(const std::string& ns, const Upstream& wanted) const {
  for (const RecordIndex::Known& one : records_->of_package(ns, {wanted.repo, plain_path(wanted.package)})) {
    const bool is_meant = wanted.workspace.empty() ? one->record.revision == wanted.revision && wanted.revision != kUnpublished
                                                   : one->record.workspace == wanted.workspace;
    if (is_meant) return shown_revision(*one, Now(env_.clock.now()));
  }
  return {};
}

Task<Outcome> VariantSetController::reconcile(control::Reconcile& run) {
  const kube::Object set = sets_->get(run.key);
  // Its variants go with it: they have owner references.
  if (set.is_null() || kube::is_deleting(set)) co_return Outcome::settled();
  auto spec = json::decode<VariantSetSpec>(set["spec"], "spec", {.allow_unknown = true});
  if (!spec) co_return co_await tell(run, set, {"ValidationError", spec.error().message});
  if (const std::vector<std::string> faults = check(*spec); !faults.empty())
    co_return co_await tell(run, set, {"ValidationError", joined(faults, "; ")});
  FanOutView view{.name = run.key.name, .uid = std::string(kube::uid(set))};
  auto fault = co_await look(run, author_of(set, acts_as_), *spec, view);
  if (!fault) co_return co_await tell_failure(run, set, std::move(fault).error());
  if (fault->is_passing) co_return Outcome::retries_after(kPause);
  if (!fault->reason.empty()) co_return co_await tell(run, set, *fault);
  Result<std::vector<WantedVariant>> wanted;  // its expressions are the user's
  co_await compute_for(env_, run.key.ns, [&] { wanted = unroll(*spec, view); });
  if (!wanted) co_return co_await tell(run, set, {"UnexpectedError", wanted.error().message});
  auto done = co_await carry_out(run, set, changes(*wanted, variants_of(set)));
  if (!done) co_return co_await tell_failure(run, set, std::move(done).error());
  co_return co_await tell(run, set, {});
}

/// What is looked at is cached for the process: whether the author may list it is asked for at each look.
Task<Result<VariantSetController::Fault>> VariantSetController::look(control::Reconcile& run, Author author,
                                                                     VariantSetSpec spec, FanOutView& view) {
  view.upstream = upstream(run.key.ns, *spec.upstream);
  if (view.upstream.is_null()) {
    co_return Fault{"UpstreamNotFound", fmt::format("could not find upstream package revision '{}/{}' in repo '{}'",
                                                    spec.upstream->package, spec.upstream->revision, spec.upstream->repo)};
  }
  SLIPWAY_CO_TRY_VOID(co_await require_right(run.client, author, {"list", kRepositories, "", {run.key.ns, ""}}));
  for (const auto& [key, repository] : repositories_->objects(run.key.ns)) view.repositories.push_back(repository);
  view.selected.resize(spec.targets.size());
  for (std::size_t i = 0; i < spec.targets.size(); ++i) {
    if (!spec.targets[i].object_selector) continue;
    const std::string& api = spec.targets[i].object_selector->api_version;
    const std::size_t slash = api.find('/');
    const kube::GroupVersionKind kind{slash == std::string::npos ? "" : api.substr(0, slash),
                                      slash == std::string::npos ? api : api.substr(slash + 1),
                                      spec.targets[i].object_selector->kind};
    auto mapped = co_await kinds_.find(run.client, "", kind);
    if (!mapped && mapped.error().reason == Reason::NotFound) co_return Fault{"NoMatchingTargets", mapped.error().message};
    if (!mapped) co_return fail(std::move(mapped).error());
    control::InformerLease& lease = selected_[mapped->resource];
    if (!lease) {
      lease = watches_->lease(watches_->home(), mapped->resource, client::Form::Metadata);
      lease.on_change([this, enqueue = watches_->enqueue()](const Value& before, const Value& after) {
        for (const kube::ObjectKey& key : sets_of(kube::ns(after.is_null() ? before : after))) enqueue(key);
      });
    }
    SLIPWAY_CO_TRY_VOID(co_await require_right(run.client, author, {"list", mapped->resource, "", {run.key.ns, ""}}));
    if (!lease->is_synced()) co_return Fault{.is_passing = true};
    for (const auto& [key, object] : lease->objects(run.key.ns)) view.selected[i].push_back(object);
  }
  co_return Fault{};
}

std::vector<WantedVariant> VariantSetController::variants_of(const kube::Object& set) const {
  std::vector<WantedVariant> there;
  for (const Value& one : variants_->index(kBySet, std::string(kube::uid(set)))) {
    if (kube::is_deleting(one) || kube::ns(one) != kube::ns(set)) continue;
    WantedVariant known{.name = std::string(kube::name(one))};
    // One that cannot be read is not what is wanted: it goes, as one without downstream.
    if (auto spec = json::decode<VariantSpec>(one["spec"], "spec", {.allow_unknown = true})) known.spec = *std::move(spec);
    there.push_back(std::move(known));
  }
  return there;
}

Task<Result<void>> VariantSetController::carry_out(control::Reconcile& run, kube::Object set, VariantChanges changes) {
  const std::string uid(kube::uid(set));
  client::Client& author = run.as(author_of(set, acts_as_));  // the variants bear its stamp
  for (const std::string& name : changes.remove) {
    auto removed = co_await client::remove(author, kVariants, {run.key.ns, name});
    if (!removed && removed.error().reason != Reason::NotFound) co_return fail(std::move(removed).error());
  }
  for (const WantedVariant& one : changes.update) {
    const kube::Object there = variants_->get({run.key.ns, one.name});
    if (there.is_null()) continue;
    SLIPWAY_CO_TRY_VOID(
        co_await client::update(author, kVariants, there.with("spec", json::encode(one.spec)), kVariantSetManager));
  }
  for (const WantedVariant& one : changes.create) {
    Value metadata = json::object({{"name", one.name},
                                   {"namespace", run.key.ns},
                                   {"finalizers", json::array({std::string(kVariantFinalizer)})},
                                   {"labels", json::object({{kVariantSetLabel, uid}})},
                                   {"ownerReferences", json::array({kube::owner_reference(set)})}});
    if (const auto drafts = kube::annotation(set, kSupersededDrafts); !drafts.empty()) {
      metadata = metadata.with("annotations", json::object({{kSupersededDrafts, drafts}}));
    }
    const Value object = json::object({{"apiVersion", kVariantKind.api_version()},
                                       {"kind", kVariantKind.kind},
                                       {"metadata", metadata},
                                       {"spec", json::encode(one.spec)}});
    auto made = co_await client::create(author, kVariants, object, kVariantSetManager);
    if (!made) co_return fail(std::move(made).error());
  }
  co_return Result<void>{};
}

Task<Outcome> VariantSetController::tell_failure(control::Reconcile& run, kube::Object set, Status error) {
  const Author author = author_of(set, acts_as_);
  const bool lacks = control::lacks_right(error, author.get());
  const Fault fault = lacks ? Fault{control::lacks_right_cause(*author), control::lacks_right_text(error, *author)}
                            : Fault{"UnexpectedError", error.message};
  const Outcome told = co_await tell(run, std::move(set), fault);
  if (told.kind == Outcome::Kind::Failed) co_return told;
  co_return lacks ? Outcome::retries_after(control::kAuthorRightPause) : Outcome::failed(std::move(error));
}

Task<Outcome> VariantSetController::tell(control::Reconcile& run, kube::Object set, Fault fault) {
  const bool is_well = fault.reason.empty();
  kube::Condition stalled{"Stalled", "True", fault.reason, fault.message};
  kube::Condition ready{"Ready", "False", fault.reason, fault.message};
  if (is_well) {
    stalled = {"Stalled", "False", "Valid", "all validation checks passed"};
    ready = {"Ready", "True", "Reconciled", "package variants successfully reconciled"};
  }
  const Time now = env_.clock.now();
  const Value conditions = kube::set_condition(kube::set_condition(set["status"]["conditions"], stalled, now), ready, now);
  auto told = co_await control::write_status(run.client, kVariantSets, set, set["status"].with("conditions", conditions),
                                             kVariantSetManager);
  if (!told && told.error().reason != Reason::NotFound) co_return Outcome::failed(std::move(told).error());
  co_return Outcome::settled();
}

}  // namespace slipway::delivery::package
