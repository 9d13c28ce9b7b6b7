// How a value was written: the printer and the YAML writer keep the spelling of numbers and texts that stand as items of a list
// (`[0x1F, 5M, "\u0041"]`), as upstream does; elsewhere values have one form.
#pragma once

#include <string_view>

#include "cue/compile/value.h"

namespace slipway::cue {

class Evaluator;

/// The literal of the source that gave an item of a list its value; empty when there is none. `item` is evaluated.
std::string_view spelling_of_item(const Evaluator& evaluator, const Vertex* item);

}  // namespace slipway::cue
