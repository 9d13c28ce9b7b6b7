#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "control/object_writes.h"
#include "delivery/package/author.h"
#include "delivery/package/kind.h"
#include "delivery/package/names.h"
#include "delivery/package/sync.h"
#include "json/text.h"
#include "kube/well_known.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;

constexpr const char* kSyncManager = "slipway-root-sync";
constexpr std::string_view kManagedBy = "configsync.gke.io/manager";
constexpr Duration kPeriod = std::chrono::seconds{15};
constexpr Duration kLeastPeriod = std::chrono::seconds{1};
constexpr Duration kWhole = std::chrono::minutes{10};
const kube::Resource kConfigMaps{"", "v1", "configmaps"};

GitRemote remote_of(const kube::Object& object) {
  return {.url = object["spec"]["git"]["repo"].str(), .space = std::string(kube::ns(object))};
}

std::string branch_of(const kube::Object& object) {
  const std::string branch = object["spec"]["git"]["branch"].str();
  return branch.empty() ? "master" : branch;
}

Duration period_of(const kube::Object& object) {
  const auto given = parse_duration(object["spec"]["git"]["period"].as_string());
  return given ? std::max(*given, kLeastPeriod) : kPeriod;
}

std::string manager_of(const kube::Object& object) { return fmt::format(":root_{}_{}", kube::ns(object), kube::name(object)); }

std::string inventory_name(const std::string& sync) { return "root-sync-" + sync; }

Value errors_of(const std::vector<std::string>& errors) {
  std::vector<Value> made;
  made.reserve(errors.size());
  for (const std::string& one : errors) made.push_back(json::object({{"code", "2009"}, {"errorMessage", one}}));
  return json::array(made);
}

/// What one part, source or sync, says of a commit.
Value part_of(const std::string& commit, const std::vector<std::string>& errors, Time now) {
  const auto count = static_cast<std::int64_t>(errors.size());
  Value part = json::object({{"commit", commit},
                             {"errorSummary", json::object({{"totalCount", count}, {"errorCountAfterTruncation", count}})},
                             {"lastUpdate", to_rfc3339(now)}});
  return errors.empty() ? part : part.with("errors", errors_of(errors));
}

/// The part without its time, to see whether there is news in it.
Value timeless(const Value& part) { return part.is_object() ? part.without("lastUpdate") : part; }

Value with_part(const Value& status, const char* name, const Value& part) {
  return timeless(status[name]) == timeless(part) ? status : status.with(name, part);
}

Value with_conditions(const kube::Object& object, Value status, const std::string& stalled, const std::string& commit,
                      Time now) {
  Value conditions = object["status"]["conditions"];
  const bool is_stalled = !stalled.empty();
  conditions =
      kube::set_condition(conditions, {"Stalled", is_stalled ? "True" : "False", is_stalled ? "Spec" : "Sync", stalled}, now);
  conditions = kube::set_condition(conditions, {"Reconciling", "False", "Sync", ""}, now);
  const std::string text = commit.empty() ? "" : "Sync Completed";
  conditions = kube::set_condition(conditions, {"Syncing", "False", "Sync", text}, now);
  if (!status.is_object()) status = Value::empty_object();
  return status.with("conditions", conditions).with("observedGeneration", kube::generation(object));
}

std::vector<std::string> declared_twice(const std::vector<SyncedObject>& wanted) {
  std::vector<std::string> errors;
  std::set<std::tuple<std::string, std::string, std::string, std::string>> seen;
  for (const SyncedObject& one : wanted) {
    if (seen.emplace(one.group, one.kind, one.ns, one.name).second) continue;
    errors.push_back(fmt::format("{} {} is declared more than once: give one of them another name or namespace", one.kind,
                                 kube::ObjectKey{one.ns, one.name}.to_string()));
  }
  return errors;
}

}  // namespace

void SyncController::watch(control::Watches& watches) { objects_ = &watches.primary(kRootSyncs); }

Task<Outcome> SyncController::reconcile(control::Reconcile& run) {
  const kube::Object object = objects_->get(run.key);
  if (object.is_null() || kube::is_deleting(object)) {
    whole_.erase(run.key);
    co_return Outcome::settled();
  }
  const Time now = env_.clock.now();
  Value status = object["status"].is_object() ? object["status"] : Value::empty_object();
  std::string stalled = not_synced(object["spec"]);
  if (stalled.empty() && kube::annotation(object, "configsync.gke.io/deletion-propagation-policy") == "Foreground") {
    stalled = "configsync.gke.io/deletion-propagation-policy: Foreground is not implemented here: what was applied stays";
  }
  if (!stalled.empty()) {
    auto told = co_await tell(run, object, with_conditions(object, status, stalled, "", now));
    co_return told ? Outcome::settled() : Outcome::failed(std::move(told).error());
  }
  std::vector<std::string> source_errors;
  std::vector<std::string> sync_errors;
  Source source;
  auto commit = co_await fetch(object);
  const bool is_due = !whole_.contains(run.key) || env_.clock.steady() >= whole_[run.key] + kWhole;
  const bool is_done = commit && status["sync"]["commit"].as_string() == *commit &&
                       status["observedGeneration"].as_int() == kube::generation(object) && status["sync"]["errors"].empty() &&
                       !is_due;
  if (is_done) co_return Outcome::retries_after(period_of(object));
  const std::string seen = commit ? *commit : status["source"]["commit"].str();
  if (!commit) source_errors.push_back(commit.error().message);
  if (commit) {
    auto read_now = co_await read(object, *commit);
    if (!read_now) {
      source_errors.push_back(read_now.error().message);
    } else {
      source = *std::move(read_now);
    }
  }
  status = with_part(status, "source", part_of(seen, source_errors, now));
  if (source_errors.empty()) {
    sync_errors = co_await apply(run, object, source);
    status = with_part(status, "sync", part_of(source.commit, sync_errors, env_.clock.now()));
    if (sync_errors.empty()) {
      status = status.with("lastSyncedCommit", source.commit);
      whole_[run.key] = env_.clock.steady();
    }
  }
  auto told = co_await tell(run, object, with_conditions(object, status, "", source.commit, env_.clock.now()));
  if (!told) co_return Outcome::failed(std::move(told).error());
  co_return Outcome::retries_after(period_of(object));
}

Task<Result<GitId>> SyncController::fetch(kube::Object object) {
  if (env_.git == nullptr) co_return fail(Reason::NotImplemented, "this process reads no Git repositories");
  co_return co_await env_.git->fetch(remote_of(object), "refs/heads/" + branch_of(object));
}

Task<Result<SyncController::Source>> SyncController::read(kube::Object object, GitId commit) {
  GitTreeQuery query{.path = plain_path(object["spec"]["git"]["dir"].as_string()),
                     .suffixes = {".yaml", ".yml", ".json"},
                     .large = GitTreeQuery::Large::refuse};
  SLIPWAY_CO_TRY(tree, co_await env_.git->read_tree(remote_of(object), commit, std::move(query)));
  Files files;
  for (const GitFile& file : tree) {
    if (file.content) files.emplace(file.path, *file.content);
  }
  SLIPWAY_CO_TRY(manifests, manifests_in(files));
  co_return Source{.commit = std::move(commit), .manifests = std::move(manifests)};
}

/// What may be applied is written down before, so that a crash leaves nothing unknown behind.
Task<std::vector<std::string>> SyncController::apply(control::Reconcile& run, kube::Object object, Source source) {
  std::vector<std::string> errors;
  auto before = co_await inventory(run);
  if (!before) co_return std::vector{before.error().message};
  std::vector<SyncedObject> wanted;
  std::vector<kube::Object> placed;
  for (kube::Object& manifest : source.manifests) {
    auto kind = kube::GroupVersionKind::of(manifest);
    auto mapped = co_await kinds_.find_for(run.client, "", manifest);
    if (mapped && mapped->is_namespaced && kube::ns(manifest).empty()) {
      manifest = manifest.with_path({"metadata", "namespace"}, "default");
    }
    wanted.push_back(
        {kind->group, kind->version, kind->kind, std::string(kube::ns(manifest)), std::string(kube::name(manifest))});
    placed.push_back(std::move(manifest));
  }
  if (errors = declared_twice(wanted); !errors.empty()) co_return errors;
  std::vector<SyncedObject> either = *before;
  either.insert(either.end(), wanted.begin(), wanted.end());
  auto stored = co_await store(run, object, std::move(either));
  if (!stored) co_return std::vector{stored.error().message};
  for (const kube::Object& manifest : placed) {
    auto applied = co_await apply_one(run, object, manifest);
    if (applied) continue;
    errors.push_back(
        fmt::format("{} {}: {}", kube::kind(manifest), kube::key_of(manifest).to_string(), applied.error().message));
  }
  if (!errors.empty()) co_return errors;
  std::vector<SyncedObject> gone = *before;
  std::erase_if(gone, [&](const SyncedObject& one) {
    return std::ranges::any_of(wanted, [&](const SyncedObject& other) {
      return other.group == one.group && other.kind == one.kind && other.ns == one.ns && other.name == one.name;
    });
  });
  auto pruned = co_await prune(run, object, std::move(gone));
  if (!pruned) co_return std::vector{pruned.error().message};
  stored = co_await store(run, object, std::move(wanted));
  if (!stored) errors.push_back(stored.error().message);
  co_return errors;
}

Task<Result<void>> SyncController::apply_one(control::Reconcile& run, kube::Object object, kube::Object manifest) {
  SLIPWAY_CO_TRY(mapped, co_await kinds_.find_for(run.client, "", manifest));
  client::Client& author = run.as(author_of(object));
  const auto now = co_await client::get(author, mapped.resource, kube::key_of(manifest));
  if (!now && now.error().reason != Reason::NotFound) co_return fail(now.error());
  const std::string other = now ? other_manager(object, *now) : "";
  if (!other.empty()) {
    co_return fail(Reason::Conflict, fmt::format("it is managed by RootSync {}: take it out of one of the two", other));
  }
  const Value& there = manifest["metadata"]["annotations"];
  const Value annotations = (there.is_object() ? there : Value::empty_object()).with(kManagedBy, manager_of(object));
  manifest = manifest.with_path({"metadata", "annotations"}, annotations);
  SLIPWAY_CO_TRY_VOID(co_await client::apply(author, mapped.resource, std::move(manifest), kSyncManager));
  co_return Result<void>{};
}

std::string SyncController::other_manager(const kube::Object& object, const kube::Object& there) const {
  const std::string_view manager = kube::annotation(there, kManagedBy);
  if (manager.empty() || manager == manager_of(object)) return "";
  for (const auto& [key, one] : objects_->objects()) {
    if (manager == manager_of(one) && !kube::is_deleting(one)) return key.to_string();
  }
  return "";
}

Task<Result<void>> SyncController::prune(control::Reconcile& run, kube::Object object, std::vector<SyncedObject> gone) {
  client::Client& author = run.as(author_of(object));
  // In the opposite order: namespaces and definitions last.
  for (auto one = gone.rbegin(); one != gone.rend(); ++one) {
    const auto mapped = co_await kinds_.find(run.client, "", {one->group, one->version, one->kind});
    if (!mapped && mapped.error().reason == Reason::NotFound) continue;  // its kind has gone, and it with that
    if (!mapped) co_return fail(mapped.error());
    const kube::ObjectKey key{one->ns, one->name};
    const auto there = co_await client::get(author, mapped->resource, key);
    if (!there && there.error().reason == Reason::NotFound) continue;
    if (!there) co_return fail(there.error());
    if (kube::annotation(*there, kManagedBy) != manager_of(object)) continue;
    client::DeleteQuery query;
    query.uid = std::string(kube::uid(*there));
    SLIPWAY_CO_TRY_VOID(co_await client::remove_exactly(author, mapped->resource, key, std::move(query)));
  }
  co_return Result<void>{};
}

Task<Result<std::vector<SyncedObject>>> SyncController::inventory(control::Reconcile& run) {
  const auto found = co_await client::get(run.client, kConfigMaps, {run.key.ns, inventory_name(run.key.name)});
  if (!found && found.error().reason == Reason::NotFound) co_return std::vector<SyncedObject>{};
  if (!found) co_return fail(found.error());
  SLIPWAY_CO_TRY(text, json::parse((*found)["data"]["objects"].as_string()));
  std::vector<SyncedObject> objects;
  for (const Value& item : text.items()) {
    SLIPWAY_CO_TRY(one, json::decode<SyncedObject>(item, "objects", {.allow_unknown = true}));
    objects.push_back(std::move(one));
  }
  co_return objects;
}

Task<Result<void>> SyncController::store(control::Reconcile& run, kube::Object object, std::vector<SyncedObject> objects) {
  std::vector<Value> items;
  std::ranges::sort(objects, {}, [](const SyncedObject& one) {
    const bool is_early = one.kind == "Namespace" || one.kind == "CustomResourceDefinition";
    return std::pair{!is_early, one};
  });
  objects.erase(std::ranges::unique(objects).begin(), objects.end());
  items.reserve(objects.size());
  for (const SyncedObject& one : objects) items.push_back(json::encode(one));
  const Value made =
      json::object({{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", json::object({{"name", inventory_name(run.key.name)},
                                               {"namespace", run.key.ns},
                                               {"ownerReferences", json::array({kube::owner_reference(object)})}})},
                    {"data", json::object({{"objects", json::print(json::array(items))}})}});
  SLIPWAY_CO_TRY_VOID(co_await client::apply(run.client, kConfigMaps, made, kSyncManager));
  co_return Result<void>{};
}

Task<Result<void>> SyncController::tell(control::Reconcile& run, kube::Object object, Value status) {
  auto told = co_await control::write_status(run.client, kRootSyncs, object, std::move(status), kSyncManager);
  if (!told && told.error().reason != Reason::NotFound) co_return fail(std::move(told).error());
  co_return Result<void>{};
}

}  // namespace slipway::delivery::package
