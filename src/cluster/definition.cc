#include "cluster/definition.h"

#include "cluster/contents.h"
#include "cluster/names.h"
#include "cluster/writes.h"

namespace slipway::cluster {

namespace {

using control::Outcome;

constexpr const char* kManager = "slipway-definition";
constexpr std::string_view kCleanup = "customresourcecleanup.apiextensions.k8s.io";
/// Objects with finalizers of their own take as long as their controllers do.
constexpr Duration kLookAgain = std::chrono::seconds{1};

/// The resource in a version that is served; all versions show the same objects.
std::optional<kube::Resource> served_resource(const kube::Object& definition) {
  const json::Value& spec = definition["spec"];
  for (const json::Value& version : spec["versions"].items()) {
    if (version["served"].as_bool())
      return kube::Resource{spec["group"].str(), version["name"].str(), spec["names"]["plural"].str()};
  }
  return std::nullopt;
}

}  // namespace

void DefinitionController::watch(control::Watches& watches) { definitions_ = &watches.primary(kDefinitions); }

Task<Outcome> DefinitionController::reconcile(control::Reconcile& run) {
  const kube::Object definition = definitions_->get(run.key);
  if (definition.is_null() || !kube::is_deleting(definition) || !kube::has_finalizer(definition, kCleanup)) {
    co_return Outcome::settled();
  }
  if (const auto resource = served_resource(definition)) {
    const auto emptied = co_await empty(run.client, *resource, "");
    if (!emptied) co_return Outcome::failed(emptied.error());
    if (!*emptied) co_return Outcome::retries_after(kLookAgain);
  }
  const auto done = co_await remove_finalizer(run.client, kDefinitions, definition, kCleanup, kManager);
  co_return done ? Outcome::settled() : Outcome::failed(done.error());
}

}  // namespace slipway::cluster
