#include "delivery/workflow/kind_mapper.h"

#include <fmt/format.h>

#include "kube/builtin.h"
#include "kube/well_known.h"

namespace slipway::delivery::workflow {
namespace {

using Kinds = std::map<kube::GroupVersionKind, MappedKind>;

const Kinds& built_in() {
  static const Kinds kinds = [] {
    Kinds made;
    for (const kube::ResourceType& type : kube::builtin_types()) {
      // Subresources share kinds with what they belong to (pods/eviction); the first row is the resource itself.
      if (type.resource.plural.contains('/')) continue;
      made.emplace(type.kind, MappedKind{type.resource, type.kind, type.is_namespaced});
    }
    return made;
  }();
  return kinds;
}

Kinds kinds_of(const json::Value& definitions) {
  Kinds kinds;
  for (const json::Value& definition : definitions["items"].items()) {
    const json::Value& spec = definition["spec"];
    for (const json::Value& version : spec["versions"].items()) {
      if (!version["served"].as_bool()) continue;
      const std::string group = spec["group"].str();
      const std::string name = version["name"].str();
      const kube::GroupVersionKind kind{group, name, spec["names"]["kind"].str()};
      kinds[kind] = {{group, name, spec["names"]["plural"].str()}, kind, spec["scope"].as_string() == "Namespaced"};
    }
  }
  return kinds;
}

}  // namespace

Task<Result<MappedKind>> KindMapper::find(client::Client& client, std::string cluster, kube::GroupVersionKind kind) {
  if (const auto at = built_in().find(kind); at != built_in().end()) co_return at->second;
  if (const auto known = custom_.find(cluster); known != custom_.end()) {
    if (const auto at = known->second.find(kind); at != known->second.end()) co_return at->second;
  }
  auto definitions = co_await client::list(client, kube::kDefinitions, {});
  if (!definitions) co_return fail(std::move(definitions).error());
  Kinds& kinds = custom_[cluster] = kinds_of(*definitions);
  if (const auto at = kinds.find(kind); at != kinds.end()) co_return at->second;
  co_return fail(Reason::NotFound, fmt::format("no matches for kind \"{}\" in version \"{}\"", kind.kind, kind.api_version()));
}

Task<Result<MappedKind>> KindMapper::find_for(client::Client& client, std::string cluster, json::Value object) {
  auto kind = kube::GroupVersionKind::of(object);
  if (!kind) co_return fail(std::move(kind).error());
  co_return co_await find(client, std::move(cluster), std::move(*kind));
}

void KindMapper::forget(const std::string& cluster) { custom_.erase(cluster); }

}  // namespace slipway::delivery::workflow
