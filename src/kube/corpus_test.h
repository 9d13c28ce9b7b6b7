// Where tests of this room find the conformance data: $SLIPWAY_CORPUS, or beside the source tree.
#pragma once

#include <string>

#include "json/value.h"

namespace slipway::kube {

/// The parsed file below the corpus, of YAML the array of its documents; null when there is no corpus.
json::Value corpus_value(const std::string& path);

}  // namespace slipway::kube
