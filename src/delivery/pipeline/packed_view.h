// A target between two looks as one string of some 250 bytes where the struct takes about 1.5 KB: a hundred thousand targets
// are kept, and a few are looked at in a moment. The form is of this process alone: numbers in groups of seven bits, texts with
// their length before them; the version tried last and the one that runs cost a byte where they are the one asked for.
#pragma once

#include <string>
#include <string_view>

#include "delivery/pipeline/view.h"

namespace slipway::delivery::pipeline {

/// All but environment, target and was_looked_at, which are as in a new TargetView when it is unpacked.
std::string packed(const TargetView& view);
/// REQUIRES: made by packed(), or empty: a new TargetView.
TargetView unpacked(std::string_view text);

}  // namespace slipway::delivery::pipeline
