// Walks a checked tree; see program.h.
#pragma once

#include "cel/program.h"

namespace slipway::cel {

Value evaluate(const Expr& root, const Activation& variables, Budget& budget);

/// Element `key` of a list or map; an Error when there is none.
Value element_of(const Value& container, const Value& key);

}  // namespace slipway::cel
