// What wakes those who look at a target, as 64-bit hashes: an object, what was made by an agent, the pods of a namespace, the
// triggers of a cluster. Two that hash alike wake each other's followers, which costs a look and nothing else.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "delivery/pipeline/known_kinds.h"

namespace slipway::delivery::pipeline {

inline std::uint64_t interest_in(std::string_view cluster, const KindName& kind, std::string_view ns, std::string_view name) {
  return std::hash<std::string>{}(fmt::format("{} object {}.{} {}/{}", cluster, kind.kind, kind.group, ns, name));
}
/// `key` as maker_keys() gives it.
inline std::uint64_t interest_in_made(std::string_view cluster, std::string_view key) {
  return std::hash<std::string>{}(fmt::format("{} made {}", cluster, key));
}
inline std::uint64_t interest_in_pods(std::string_view cluster, std::string_view ns) {
  return std::hash<std::string>{}(fmt::format("{} pods {}", cluster, ns));
}
inline std::uint64_t interest_in_triggers(std::string_view cluster) {
  return std::hash<std::string>{}(fmt::format("{} triggers", cluster));
}

}  // namespace slipway::delivery::pipeline
