#include "delivery/family/kind_mapper.h"

#include <fmt/format.h>

#include "base/text.h"
#include "kube/builtin.h"
#include "kube/well_known.h"

namespace slipway::delivery {
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

using Names = std::map<std::string, MappedKind>;

const Names& built_in_names() {
  static const Names names = [] {
    Names made;
    for (const kube::ResourceType& type : kube::builtin_types()) {
      if (type.resource.plural.contains('/')) continue;
      std::vector<std::string> words = type.short_names;
      words.insert(words.end(), {type.resource.plural, type.singular, lower(type.kind.kind)});
      for (const std::string& word : words) {
        made.emplace(word + "." + type.resource.group, MappedKind{type.resource, type.kind, type.is_namespaced});
      }
    }
    return made;
  }();
  return names;
}

Names names_of(const json::Value& definitions) {
  Names made;
  for (const json::Value& definition : definitions["items"].items()) {
    const json::Value& spec = definition["spec"];
    const json::Value& names = spec["names"];
    for (const json::Value& version : spec["versions"].items()) {
      if (!version["storage"].as_bool()) continue;
      const std::string group = spec["group"].str();
      const kube::GroupVersionKind kind{group, version["name"].str(), names["kind"].str()};
      const MappedKind mapped{{group, kind.version, names["plural"].str()}, kind, spec["scope"].as_string() == "Namespaced"};
      std::vector<std::string> words = {names["plural"].str(), names["singular"].str(), lower(kind.kind)};
      for (const json::Value& word : names["shortNames"].items()) words.push_back(word.str());
      for (const std::string& word : words) made.emplace(word + "." + group, mapped);
    }
  }
  return made;
}

}  // namespace

Task<Result<MappedKind>> KindMapper::find(client::Client& client, std::string cluster, kube::GroupVersionKind kind) {
  if (const auto at = built_in().find(kind); at != built_in().end()) co_return at->second;
  if (const auto known = custom_.find(cluster); known != custom_.end()) {
    if (const auto at = known->second.find(kind); at != known->second.end()) co_return at->second;
  }
  SLIPWAY_CO_TRY_VOID(co_await learn(client, cluster));
  const Kinds& kinds = custom_[cluster];
  if (const auto at = kinds.find(kind); at != kinds.end()) co_return at->second;
  co_return fail(Reason::NotFound, fmt::format("no matches for kind \"{}\" in version \"{}\"", kind.kind, kind.api_version()));
}

Task<Result<MappedKind>> KindMapper::find_for(client::Client& client, std::string cluster, json::Value object) {
  auto kind = kube::GroupVersionKind::of(object);
  if (!kind) co_return fail(std::move(kind).error());
  co_return co_await find(client, std::move(cluster), std::move(*kind));
}

Task<Result<void>> KindMapper::learn(client::Client& client, std::string cluster) {
  auto definitions = co_await client::list(client, kube::kDefinitions, {});
  if (!definitions) co_return fail(std::move(definitions).error());
  custom_[cluster] = kinds_of(*definitions);
  named_[cluster] = names_of(*definitions);
  co_return Result<void>{};
}

Task<Result<MappedKind>> KindMapper::find_named(client::Client& client, std::string cluster, std::string group,
                                                std::string word) {
  const std::string key = lower(word) + "." + group;
  if (const auto at = built_in_names().find(key); at != built_in_names().end()) co_return at->second;
  if (!named_[cluster].contains(key)) SLIPWAY_CO_TRY_VOID(co_await learn(client, cluster));
  if (const auto at = named_[cluster].find(key); at != named_[cluster].end()) co_return at->second;
  co_return fail(Reason::NotFound, fmt::format("no resource \"{}\" in group \"{}\"", word, group));
}

void KindMapper::forget(const std::string& cluster) {
  custom_.erase(cluster);
  named_.erase(cluster);
}

}  // namespace slipway::delivery
