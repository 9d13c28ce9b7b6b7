// What steps of an Application apply belongs to it: it is recorded in its trackers and labelled before it is applied, kept
// afterwards like the objects of components, and collected when no step applies it any more.
#include <fmt/format.h>

#include "delivery/application/providers.h"
#include "delivery/workflow/older_forms.h"

namespace slipway::delivery::application {
namespace {

using workflow::Answer;
using workflow::ProviderCall;

/// With the names and labels that an application's objects have; a namespace that is not given is "default", as upstream.
Task<Result<Manifest>> manifest_of(AppRun& run, Value object, std::string cluster) {
  SLIPWAY_CO_TRY(client, run.on(cluster));
  const std::string name(kube::name(object));
  if (name.empty()) co_return fail(Reason::Invalid, "metadata.name: Required value");
  const std::string place = cluster.empty() ? kHub : cluster;
  SLIPWAY_CO_TRY(kind, co_await run.tools().live.kinds().find_for(*client, place, object));
  object = object.without_path({"metadata", "managedFields"}).without_path({"metadata", "resourceVersion"});
  if (kind.is_namespaced && kube::ns(object).empty()) object = object.with_path({"metadata", "namespace"}, "default");
  const std::pair<const char*, std::string> labels[] = {{kLabelName, std::string(kube::name(run.application()))},
                                                        {kLabelNamespace, std::string(kube::ns(run.application()))},
                                                        {kLabelCluster, cluster}};
  for (const auto& [key, value] : labels) object = object.with_path({"metadata", "labels", key}, value);
  co_return Manifest{.object = std::move(object), .cluster = place, .component = {}, .trait = {}};
}

workflow::ResourceRef reference_to(const Manifest& manifest) {
  const ObjectId id = manifest.id();
  return {manifest.object["apiVersion"].str(), id.kind, id.name, id.ns, id.cluster == kHub ? "" : id.cluster};
}

bool is_itself(const AppRun& run, const Value& object) {
  return object["kind"] == run.application()["kind"] && object["apiVersion"] == run.application()["apiVersion"] &&
         kube::key_of(object) == kube::key_of(run.application());
}

Task<Answer> apply(AppRun& run, ProviderCall call) {
  Value object = workflow::object_in(call.params);
  if (call.params.has("patch") && call.patched) {
    auto changed = co_await call.patched(std::move(object));
    if (!changed) co_return Answer::error(changed.error());
    object = std::move(*changed);
  }
  if (is_itself(run, object)) {  // a step of stage pre-render
    auto hub = run.on(kHub);
    if (!hub) co_return Answer::error(hub.error());
    auto applied = co_await client::apply(**hub, kApplications, std::move(object), kManager);
    if (!applied) co_return Answer::error(applied.error());
    co_return Answer::done(workflow::returned_object(call.params, shown(*applied)));
  }
  auto manifest = co_await manifest_of(run, std::move(object), call.params["cluster"].str());
  if (!manifest) co_return Answer::error(manifest.error());
  manifest->is_secret = call.is_secret;
  auto applied = co_await run.apply({*manifest});
  if (!applied) co_return Answer::error(applied.error());
  Answer answer = Answer::done(workflow::returned_object(call.params, shown(applied->front())));
  answer.resource = reference_to(*manifest);
  answer.is_secret = answer.resource->kind == "Secret";
  co_return answer;
}

Task<Answer> apply_in_parallel(AppRun& run, ProviderCall call) {
  std::vector<Manifest> manifests;
  Answer answer;
  for (const Value& object : call.params["value"].items()) {
    auto manifest = co_await manifest_of(run, object, call.params["cluster"].str());
    if (!manifest) co_return Answer::error(manifest.error());
    manifest->is_secret = call.is_secret;
    answer.watched.push_back(reference_to(*manifest));
    answer.is_secret = answer.is_secret || kube::kind(manifest->object) == "Secret";
    manifests.push_back(std::move(*manifest));
  }
  auto applied = co_await run.apply(std::move(manifests));
  if (!applied) co_return Answer::error(applied.error());
  json::ArrayBuilder objects;
  for (const Value& object : *applied) objects.add(shown(object));
  answer.returns = json::object({{"value", objects.build()}});
  co_return answer;
}

}  // namespace

std::vector<workflow::Provider> object_providers(AppRun& run) {
  return {
      {.package = "kube",
       .function = "apply",
       .params = {"cluster", "value", "resource", "patch"},
       .run = [&run](ProviderCall call) { return apply(run, std::move(call)); },
       .patches = true},
      {.package = "kube", .function = "apply-in-parallel", .params = {"cluster", "value"}, .run = [&run](ProviderCall call) {
         return apply_in_parallel(run, std::move(call));
       }}};
}

}  // namespace slipway::delivery::application
