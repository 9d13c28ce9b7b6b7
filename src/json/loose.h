// JSON text as Go's encoding/json reads it where keys are doubled: the last one wins, and which were doubled is told, as the
// API server needs it for its field validation (k8s.io/apimachinery's strict decoding errors).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/text.h"

namespace slipway::json {

/// Doubled keys that are told; there may be more (as upstream, which tells a hundred strict errors).
inline constexpr std::size_t kMostDoubled = 100;
/// No more are told once their paths have this many bytes.
inline constexpr std::size_t kMostDoubledBytes = std::size_t{64} << 10;

struct LooseText {
  Value value;
  /// Paths as "spec.containers[0].name", each once, in the order in which they are closed; as many as the limits let through.
  std::vector<std::string> doubled;
};
/// As parse() for text without doubled keys, at its cost; other text is read again. Takes time as sorting the keys of each
/// object, however many are doubled.
Result<LooseText> parse_loosely(std::string_view text, Limits limits = {});

}  // namespace slipway::json
