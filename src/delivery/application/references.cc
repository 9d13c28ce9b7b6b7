#include "delivery/application/references.h"

#include <fmt/format.h>

namespace slipway::delivery::application {
namespace {

constexpr const char* kType = "ref-objects";

/// As somebody would write it.
Value as_written(const Value& object) {
  Value metadata = object["metadata"];
  for (const char* member : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink",
                             "ownerReferences", "deletionTimestamp", "finalizers", "namespace"}) {
    metadata = metadata.without(member);
  }
  metadata = metadata.without_path({"annotations", "kubectl.kubernetes.io/last-applied-configuration"});
  return object.without("status").with("metadata", metadata);
}

std::string selector_of(const Value& labels) {
  std::string text;
  for (const auto& [key, value] : labels.members())
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value.as_string());
  return text;
}

Task<Result<std::vector<Value>>> read_reference(AppRun& run, Value reference) {
  const std::string cluster = reference["cluster"].str();
  SLIPWAY_CO_TRY(client, run.on(cluster));
  const std::string word = reference["resource"].as_string().empty() ? reference["kind"].str() : reference["resource"].str();
  SLIPWAY_CO_TRY(discovery, run.own(cluster));
  SLIPWAY_CO_TRY(kind, co_await run.tools().live.kinds().find_named(*discovery, cluster, reference["group"].str(), word));
  const std::string named = reference["namespace"].str();
  const std::string ns = !kind.is_namespaced ? "" : named.empty() ? std::string(kube::ns(run.application())) : named;
  std::vector<Value> found;
  if (const std::string name = reference["name"].str(); !name.empty()) {
    SLIPWAY_CO_TRY(object, co_await client::get(*client, kind.resource, {ns, name}));
    found.push_back(as_written(object));
    co_return found;
  }
  SLIPWAY_CO_TRY(list, co_await client::list(*client, kind.resource, {ns, selector_of(reference["labelSelector"]), ""}));
  for (const Value& item : list["items"].items()) {
    found.push_back(as_written(item).with("apiVersion", kind.kind.api_version()).with("kind", kind.kind.kind));
  }
  co_return found;
}

}  // namespace

bool has_references(const ComponentSpec& component) { return component.type == kType; }

Task<Result<ComponentSpec>> with_references(AppRun& run, ComponentSpec component) {
  if (!component.properties["urls"].empty()) {
    co_return fail(Reason::NotImplemented, fmt::format("component {}: objects behind URLs are not read yet", component.name));
  }
  json::ArrayBuilder objects;
  for (const Value& reference : component.properties["objects"].items()) {
    // An object that stands there whole needs no reading.
    if (reference.has("apiVersion") && reference.has("metadata")) {
      objects.add(reference);
      continue;
    }
    auto found = co_await read_reference(run, reference);
    if (!found) {
      Status error = std::move(found).error();
      error.message = fmt::format("component {}: {}", component.name, error.message);
      co_return fail(std::move(error));
    }
    for (Value& object : *found) objects.add(std::move(object));
  }
  component.properties = json::object({{"objects", objects.build()}});
  co_return component;
}

}  // namespace slipway::delivery::application
