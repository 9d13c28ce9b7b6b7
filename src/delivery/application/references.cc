#include "delivery/application/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "json/text.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kType = "ref-objects";

/// As a user would write it.
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

/// The objects in a file, each with where it came from.
Result<std::vector<Value>> objects_in(const std::string& text, const std::string& url) {
  SLIPWAY_TRY(documents, json::parse_yaml_all(text));
  std::vector<Value> found;
  const auto add = [&](const Value& object) -> Result<void> {
    auto kind = kube::GroupVersionKind::of(object);
    if (!kind) return fail(std::move(kind).error());
    found.push_back(object.with_path({"metadata", "annotations", kResourceUrl}, url));
    return {};
  };
  for (const json::YamlDocument& document : documents) {
    if (document.value.is_null()) continue;
    if (document.value["items"].is_array() && document.value["kind"].as_string().ends_with("List")) {
      for (const Value& item : document.value["items"].items()) SLIPWAY_TRY_VOID(add(item));
    } else {
      SLIPWAY_TRY_VOID(add(document.value));
    }
  }
  return found;
}

Task<Result<std::vector<Value>>> fetch(HttpClient& http, std::string url) {
  if (!url.starts_with("https://") && !url.starts_with("http://")) {
    co_return fail(Reason::Invalid, "must begin with https:// or http://");
  }
  SLIPWAY_CO_TRY(response, co_await http.send({.url = url, .max_answer_bytes = kMaxUrlBytes}));
  if (response.status != 200) co_return fail(Reason::Invalid, fmt::format("the server answers {}", response.status));
  if (response.body.size() > kMaxUrlBytes) {
    co_return fail(Reason::Invalid,
                   fmt::format("{} bytes are more than the {} that may stand behind a URL: apply them as an object "
                               "of the cluster and refer to that",
                               response.body.size(), kMaxUrlBytes));
  }
  co_return objects_in(response.body, url);
}

}  // namespace

Task<Result<Value>> fetch_references(HttpClient* http, Value spec) {
  json::ArrayBuilder objects;
  std::set<std::string> fetched;
  std::size_t count = 0;
  for (const Value& component : spec["components"].items()) {
    if (component["type"].as_string() != kType) continue;
    const Value urls = component["properties"]["urls"];
    for (std::size_t i = 0; i < urls.size(); ++i) {
      const std::string url = urls.item(i).str();
      const auto invalid = [&](const std::string& why) {
        return fail(Reason::Invalid, fmt::format("failed to parse component {}: properties.urls[{}]: {}: {}",
                                                 component["name"].as_string(), i, url, why));
      };
      if (!fetched.insert(url).second) continue;
      if (http == nullptr) co_return invalid("calls of foreign servers are not available here");
      auto found = co_await fetch(*http, url);
      if (!found) co_return invalid(found.error().message);
      count += found->size();
      if (count > kMaxUrlObjects) co_return invalid(fmt::format("more than {} objects", kMaxUrlObjects));
      for (Value& object : *found) objects.add(std::move(object));
    }
  }
  co_return fetched.empty() ? Value() : objects.build();
}

bool has_urls(const Value& spec) {
  return std::ranges::any_of(spec["components"].items(), [](const Value& component) {
    return component["type"].as_string() == kType && !component["properties"]["urls"].empty();
  });
}

bool has_references(const ComponentSpec& component) { return component.type == kType; }

Task<Result<ComponentSpec>> with_references(AppRun& run, ComponentSpec component) {
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
  for (const Value& url : component.properties["urls"].items()) {
    for (const Value& object : run.parsed().referred.items()) {
      if (kube::annotation(object, kResourceUrl) == url.as_string()) objects.add(object);
    }
  }
  component.properties = json::object({{"objects", objects.build()}});
  co_return component;
}

}  // namespace slipway::delivery::application
