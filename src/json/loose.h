// JSON text as Go's encoding/json reads it where keys are doubled: the last one wins, and which were doubled is told, as the
// API server needs it for its field validation (k8s.io/apimachinery's strict decoding errors).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/text.h"

namespace slipway::json {

struct LooseText {
  Value value;
  std::vector<std::string> doubled;  // paths as "spec.containers[0].name", each once, in the order in which they are closed
};
/// As parse() for text without doubled keys, at its cost; other text is read again.
Result<LooseText> parse_loosely(std::string_view text, Limits limits = {});

}  // namespace slipway::json
