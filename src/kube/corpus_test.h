// The conformance data as values.
#pragma once

#include <string>

#include "base/corpus_test.h"
#include "json/value.h"

namespace slipway::kube {

/// The parsed file below the corpus, of YAML the array of its documents; null when there is no corpus.
json::Value corpus_value(const std::string& path);

}  // namespace slipway::kube
