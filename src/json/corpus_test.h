// Where tests of this room find the conformance data: $SLIPWAY_CORPUS, or beside the source tree.
#pragma once

#include <optional>
#include <string>

namespace slipway::json {

/// The text of a file below the corpus; nullopt when there is no corpus.
std::optional<std::string> corpus(const std::string& path);

}  // namespace slipway::json
