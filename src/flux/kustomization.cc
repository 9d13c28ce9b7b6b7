#include "flux/kustomization.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "control/author_right.h"
#include "control/object_writes.h"
#include "flux/git_repository.h"
#include "flux/kinds.h"
#include "json/text.h"

namespace slipway::flux {
namespace {

using control::Outcome;
using json::Value;
using kube::Object;

constexpr const char* kKustomizeManager = "kustomize-controller";
constexpr Duration kRetry = std::chrono::seconds{30};

kube::ObjectKey source_key(const Object& object) {
  const Value& ref = object["spec"]["sourceRef"];
  return {ref["namespace"].as_string().empty() ? std::string(kube::ns(object)) : ref["namespace"].str(), ref["name"].str()};
}

/// "./dev/" → "dev".
std::string path_of(const Object& object) {
  std::string path = object["spec"]["path"].str();
  while (path.starts_with("./")) path.erase(0, 2);
  while (path.ends_with('/')) path.pop_back();
  return path == "." ? "" : path;
}

Object labelled(const Object& manifest, const Object& owner) {
  const Value labels = manifest["metadata"]["labels"];
  const Value own = (labels.is_null() ? json::object({}) : labels)
                        .with("kustomize.toolkit.fluxcd.io/name", kube::name(owner))
                        .with("kustomize.toolkit.fluxcd.io/namespace", kube::ns(owner));
  return manifest.with("metadata", manifest["metadata"].with("labels", own));
}

std::string id_of(const kube::ObjectKey& key, const kube::GroupVersionKind& kind) {
  return fmt::format("{}_{}_{}_{}", key.ns, key.name, kind.group, kind.kind);
}

/// The parts of an inventory's id; names hold no underscore.
std::vector<std::string> parts_of(std::string_view id) {
  std::vector<std::string> parts(1);
  for (const char c : id) {
    if (c == '_') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Value with_condition(const Object& object, std::string status, std::string reason, std::string text, Time now) {
  const Value conditions = kube::set_condition(object["status"]["conditions"],
                                               {"Ready", std::move(status), std::move(reason), std::move(text)}, now);
  return object["status"].with("conditions", conditions).with("observedGeneration", kube::generation(object));
}

/// Namespaces and definitions first, as server-side appliers do.
bool is_first(const Object& manifest) {
  const std::string_view kind = kube::kind(manifest);
  return kind == "Namespace" || kind == "CustomResourceDefinition";
}

/// Fields that change what is applied, where, or with whose rights.
std::optional<std::string> not_simulated(const Object& object) {
  for (const char* field : {"commonMetadata", "components", "decryption", "dependsOn", "images", "kubeConfig", "namePrefix",
                            "nameSuffix", "patches", "postBuild"}) {
    if (object["spec"].has(field)) return fmt::format("spec.{}: the simulated Flux does not do this: leave it out", field);
  }
  return std::nullopt;
}

Task<Outcome> tell(control::Reconcile& run, Object object, Value status, Duration again) {
  const auto told = co_await control::write_status(run.client, kKustomizations, object, std::move(status), kKustomizeManager);
  co_return told ? Outcome::retries_after(again) : Outcome::failed(told.error());
}

}  // namespace

void KustomizationController::watch(control::Watches& watches) {
  objects_ = &watches.primary(kKustomizations);
  objects_->add_index("source", [](const Object& object) { return std::vector{source_key(object).to_string()}; });
  watches.also(kGitRepositories, [this](const Object& source) {
    std::vector<kube::ObjectKey> keys;
    for (const Object& object : objects_->index("source", kube::key_of(source).to_string()))
      keys.push_back(kube::key_of(object));
    return keys;
  });
}

Task<Result<std::vector<Object>>> KustomizationController::build(client::Client& client, Object object, Object source,
                                                                 std::string revision) {
  if (env_.git == nullptr) co_return fail(Reason::NotImplemented, "this process reads no Git repositories");
  SLIPWAY_CO_TRY(remote, co_await remote_of(client, source));
  const GitId commit = revision.substr(revision.rfind(':') + 1);
  SLIPWAY_CO_TRY(files, co_await env_.git->read_tree(remote, commit, {.path = path_of(object), .suffixes = {".yaml", ".yml"}}));
  std::vector<Object> manifests;
  for (const GitFile& file : files) {
    if (!file.content || file.path.ends_with("kustomization.yaml")) continue;
    const auto documents = json::parse_yaml_all(*file.content);
    if (!documents) co_return fail(Reason::BadRequest, fmt::format("{}: {}", file.path, documents.error().message));
    for (const json::YamlDocument& document : *documents) manifests.push_back(labelled(document.value, object));
  }
  std::vector<Object> ordered;
  std::ranges::copy_if(manifests, std::back_inserter(ordered), is_first);
  std::ranges::copy_if(manifests, std::back_inserter(ordered), std::not_fn(is_first));
  co_return ordered;
}

Task<Result<std::vector<KustomizationController::Entry>>> KustomizationController::apply(control::Reconcile& run, Acting acting,
                                                                                         Object object,
                                                                                         std::vector<Object> manifests) {
  std::vector<Entry> entries;
  const std::string target = object["spec"]["targetNamespace"].str();
  client::Client& writer = run.as(acting.user);
  for (Object& manifest : manifests) {
    SLIPWAY_CO_TRY(mapped, co_await kinds_.find_for(run.client, "", manifest));
    if (mapped.is_namespaced && (!target.empty() || kube::ns(manifest).empty())) {
      const std::string ns = target.empty() ? std::string(kube::ns(object)) : target;
      manifest = manifest.with("metadata", manifest["metadata"].with("namespace", ns));
    }
    entries.push_back({id_of(kube::key_of(manifest), mapped.kind), mapped.kind.version});
    const auto applied = co_await client::apply(writer, mapped.resource, manifest, kKustomizeManager);
    if (!applied) co_return fail(applied.error());
  }
  std::ranges::sort(entries);
  co_return entries;
}

Task<Result<void>> KustomizationController::prune(control::Reconcile& run, Acting acting, Value inventory,
                                                  std::vector<Entry> kept) {
  client::Client& writer = run.as(acting.user);
  for (const Value& entry : inventory["entries"].items()) {
    const std::string id = entry["id"].str();
    if (std::ranges::find(kept, id, &Entry::id) != kept.end()) continue;
    const std::vector<std::string> parts = parts_of(id);
    if (parts.size() != 4) continue;
    const auto mapped = co_await kinds_.find(run.client, "", {parts[2], entry["v"].str(), parts[3]});
    if (!mapped) continue;  // its kind is not served any more
    const auto removed = co_await client::remove(writer, mapped->resource, {parts[0], parts[1]});
    if (removed || removed.error().reason == Reason::NotFound) continue;
    // What is gone takes no right: with its namespace the bindings of the author may have gone first.
    const auto there = co_await client::get(run.client, mapped->resource, {parts[0], parts[1]});
    if (there || there.error().reason != Reason::NotFound) co_return fail(removed.error());
  }
  co_return Result<void>{};
}

/// While a right is missing that it takes to prune, the object stays and says so.
Task<Outcome> KustomizationController::remove(control::Reconcile& run, Object object) {
  if (object["spec"]["prune"].as_bool()) {
    const auto author = delivery::author_of(kAuthor, object, acts_as_);
    // An account that may not be acted as is replaced by a user without rights: what is gone already takes none.
    const auto acting = co_await acting_for(run.client, object, acts_as_);
    auto unknown = std::make_shared<kube::UserInfo>();
    unknown->name = control::kUnknownAuthor;
    const Acting nobody{.author = author, .user = std::move(unknown)};
    const auto pruned = co_await prune(run, acting ? *acting : nobody, object["status"]["inventory"], {});
    if (!pruned) {
      const std::string text =
          acting ? refusal_text(pruned.error(), acting->user.get()) : refusal_text(acting.error(), author.get());
      const Value status = with_condition(object, "False", "PruneFailed", text, env_.clock.now());
      co_return co_await tell(run, object, status, kRetry);
    }
  }
  const auto gone = co_await control::remove_finalizer(run.client, kKustomizations, object, kFinalizer, kKustomizeManager);
  co_return gone ? Outcome::settled() : Outcome::failed(gone.error());
}

Task<Outcome> KustomizationController::reconcile(control::Reconcile& run) {
  Object object = objects_->get(run.key);
  if (object.is_null()) co_return Outcome::settled();
  if (kube::is_deleting(object)) co_return co_await remove(run, object);
  if (object["spec"]["suspend"].as_bool()) co_return Outcome::settled();
  const Time now = env_.clock.now();
  if (auto problem = not_simulated(object)) {
    co_return co_await tell(run, object, with_condition(object, "False", "BuildFailed", *std::move(problem), now), kRetry);
  }
  auto marked = co_await control::add_finalizer(run.client, kKustomizations, object, kFinalizer, kKustomizeManager);
  if (!marked) co_return Outcome::failed(marked.error());
  object = *std::move(marked);
  const auto acting = co_await acting_for(run.client, object, acts_as_);
  if (!acting) {
    const std::string text = refusal_text(acting.error(), delivery::author_of(kAuthor, object, acts_as_).get());
    const Value status = with_condition(object, "False", "ReconciliationFailed", text, now);
    co_return co_await tell(run, object, status, kRetry);
  }
  co_return co_await deliver(run, *acting, object);
}

Task<Outcome> KustomizationController::deliver(control::Reconcile& run, Acting acting, Object object) {
  const Time now = env_.clock.now();
  const auto found = co_await client::get(run.as(acting.author), kGitRepositories, source_key(object));
  if (!found && found.error().reason != Reason::NotFound) {
    const std::string text = refusal_text(found.error(), acting.author.get());
    co_return co_await tell(run, object, with_condition(object, "False", "ArtifactFailed", text, now), kRetry);
  }
  const Object source = found ? *found : Object();
  const std::string revision = source["status"]["artifact"]["revision"].str();
  if (revision.empty()) {
    const std::string text = fmt::format("Source artifact not found, retrying in {}s", kRetry / std::chrono::seconds{1});
    co_return co_await tell(run, object, with_condition(object, "False", "ArtifactFailed", text, now), kRetry);
  }
  const auto owner = delivery::author_of(kAuthor, source, acts_as_);
  const auto manifests = co_await build(run.as(owner), object, source, revision);
  if (!manifests) {
    const std::string text = refusal_text(manifests.error(), owner.get());
    const Value status = with_condition(object, "False", "BuildFailed", text, now);
    co_return co_await tell(run, object, status.with("lastAttemptedRevision", revision), kRetry);
  }
  const auto entries = co_await apply(run, acting, object, *manifests);
  const bool prunes = entries && object["spec"]["prune"].as_bool();
  const auto pruned = prunes ? co_await prune(run, acting, object["status"]["inventory"], *entries) : Result<void>{};
  if (!entries || !pruned) {
    const Status& error = entries ? pruned.error() : entries.error();
    const std::string text = refusal_text(error, acting.user.get());
    const Value status = with_condition(object, "False", entries ? "PruneFailed" : "ReconciliationFailed", text, now);
    co_return co_await tell(run, object, status.with("lastAttemptedRevision", revision), kRetry);
  }
  std::vector<Value> inventory;
  for (const Entry& entry : *entries) inventory.push_back(json::object({{"id", entry.id}, {"v", entry.version}}));
  const Value status = with_condition(object, "True", "ReconciliationSucceeded", "Applied revision: " + revision, now)
                           .with("lastAttemptedRevision", revision)
                           .with("lastAppliedRevision", revision)
                           .with("inventory", json::object({{"entries", json::array(inventory)}}));
  co_return co_await tell(run, object, status, interval_of(object));
}

}  // namespace slipway::flux
