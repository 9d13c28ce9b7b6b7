// Where tests of gates find foreign cases: $SLIPWAY_CORPUS, or beside the source tree.
#pragma once

#include <string>

#include "json/value.h"

namespace slipway::delivery::gate {

/// The cases of a group in a file below rollouts/; empty when there is no corpus.
json::Value corpus_cases(const std::string& file, const std::string& group);

}  // namespace slipway::delivery::gate
