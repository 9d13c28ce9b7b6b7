// Where tests of this room find the conformance data: $SLIPWAY_CORPUS, or beside the source tree.
#pragma once

#include <set>
#include <string>

#include "json/value.h"

namespace slipway::kube {

/// The parsed file below the corpus, of YAML the array of its documents; null when there is no corpus.
json::Value corpus_value(const std::string& path);
/// The ids in tests/known_failures/kube_<suite>.txt ("id  # reason" per line): what is known not to pass. The list may only
/// shrink: a case that passes while it is in it fails.
std::set<std::string> known_failures(const std::string& suite);

}  // namespace slipway::kube
