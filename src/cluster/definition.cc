#include "cluster/definition.h"

#include <algorithm>
#include <optional>

#include "cluster/contents.h"
#include "cluster/names.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kDefinitionManager = "slipway-definition";
constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";
/// Objects with finalizers of their own take as long as their controllers do.
constexpr Duration kRecheckDefinition = std::chrono::seconds{1};

/// The resource in a version that the server answers while the definition goes: one that is served, or else the storage
/// version. All versions show the same objects.
std::optional<kube::Resource> reachable_resource(const kube::Object& definition) {
  const json::Value& spec = definition["spec"];
  const auto versions = spec["versions"].items();
  const auto has = [](const char* flag) { return [flag](const json::Value& version) { return version[flag].as_bool(); }; };
  auto found = std::ranges::find_if(versions, has("served"));
  if (found == versions.end()) found = std::ranges::find_if(versions, has("storage"));
  if (found == versions.end()) return std::nullopt;
  return kube::Resource{spec["group"].str(), (*found)["name"].str(), spec["names"]["plural"].str()};
}

}  // namespace

void DefinitionController::watch(control::Watches& watches) { definitions_ = &watches.primary(kDefinitions); }

Task<Outcome> DefinitionController::reconcile(control::Reconcile& run) {
  const kube::Object definition = definitions_->get(run.key);
  if (definition.is_null() || !kube::is_deleting(definition) || !kube::has_finalizer(definition, kCleanup)) {
    co_return Outcome::settled();
  }
  // One that was never established has no objects: those of its name, if there are any, are another's.
  const bool has_objects = kube::is_true(definition, "Established");
  if (const auto resource = reachable_resource(definition); resource && has_objects) {
    const auto emptied = co_await empty(run.client, *resource, "");
    if (!emptied) co_return Outcome::failed(emptied.error());
    if (!emptied->empty()) co_return Outcome::retries_after(kRecheckDefinition);
  }
  const auto done = co_await remove_finalizer(run.client, kDefinitions, definition, kCleanup, kDefinitionManager);
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

}  // namespace slipway::cluster
