#include "kube/resource_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace slipway::kube {
namespace {

bool has_name(const ResourceType& type, std::string_view name) {
  return name == type.resource.plural || name == type.singular || name == lower(type.kind.kind);
}

bool has_short_name(const ResourceType& type, std::string_view name) {
  return std::ranges::find(type.short_names, name) != type.short_names.end();
}

/// The types that `matches`, one of each group: built-in ones alone where there are any.
template <class Matches>
std::vector<ResourceTypePtr> candidates(std::span<const ResourceTypePtr> types, Matches matches) {
  std::vector<ResourceTypePtr> found;
  for (const ResourceTypePtr& type : types) {
    if (!matches(*type)) continue;
    const bool is_known =
        std::ranges::any_of(found, [&](const ResourceTypePtr& one) { return one->resource.group == type->resource.group; });
    if (!is_known) found.push_back(type);
  }
  const auto built_in = std::ranges::find(found, false, [](const ResourceTypePtr& type) { return type->is_custom; });
  if (built_in != found.end()) return {*built_in};
  return found;
}

}  // namespace

Result<ResourceTypePtr> find_by_word(std::span<const ResourceTypePtr> types, std::string_view word) {
  const std::string wanted = lower(word);
  const auto dot = wanted.find('.');
  const std::string name = wanted.substr(0, dot);
  const auto is_of_group = [&](const ResourceType& type) {
    return dot == std::string::npos || type.resource.group == wanted.substr(dot + 1);
  };
  auto found = candidates(types, [&](const ResourceType& type) { return is_of_group(type) && has_name(type, name); });
  if (found.empty()) {
    found = candidates(types, [&](const ResourceType& type) { return is_of_group(type) && has_short_name(type, name); });
  }
  if (found.empty()) return fail(Reason::NotFound, fmt::format("the server doesn't have a resource type \"{}\"", word));
  // As kubectl takes the first group of discovery, which has them by name.
  return *std::ranges::min_element(found, {}, [](const ResourceTypePtr& type) { return type->resource.group; });
}

}  // namespace slipway::kube
