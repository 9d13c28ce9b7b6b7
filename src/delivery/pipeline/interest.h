// What wakes those who look at a target, as 32-bit hashes: an object, what was made by an agent, the pods of a namespace, the
// triggers or the releases of a cluster. Two that hash alike wake each other's followers, which costs a look and nothing else.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "delivery/pipeline/known_kinds.h"

namespace slipway::delivery::pipeline {

using Interest = std::uint32_t;

inline Interest interest_of(const std::string& text) {
  const std::uint64_t hash = std::hash<std::string>{}(text);
  return static_cast<Interest>(hash ^ hash >> 32U);
}
inline Interest interest_in(std::string_view cluster, const KindName& kind, std::string_view ns, std::string_view name) {
  return interest_of(fmt::format("{} object {}.{} {}/{}", cluster, kind.kind, kind.group, ns, name));
}
/// `key` as maker_keys() gives it.
inline Interest interest_in_made(std::string_view cluster, std::string_view key) {
  return interest_of(fmt::format("{} made {}", cluster, key));
}
inline Interest interest_in_pods(std::string_view cluster, std::string_view ns) {
  return interest_of(fmt::format("{} pods {}", cluster, ns));
}
inline Interest interest_in_releases(std::string_view cluster) { return interest_of(fmt::format("{} releases", cluster)); }
inline Interest interest_in_triggers(std::string_view cluster) { return interest_of(fmt::format("{} triggers", cluster)); }

}  // namespace slipway::delivery::pipeline
