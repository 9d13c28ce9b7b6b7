// slipway pipeline dora [NAME]: the four keys of a pipeline, or of all of a namespace (dora.h says what is counted).
#pragma once

#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/pipeline/dora.h"

namespace slipway::delivery::pipeline {

/// The row of the command line; listed in family.cc.
Command dora_command();

/// `form`: table, json or csv. With several pipelines the last row is of all.
std::string dora_text(const std::vector<DoraFacts>& facts, Time from, Time to, const std::string& form);

}  // namespace slipway::delivery::pipeline
