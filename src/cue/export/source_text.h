// Compiled expressions as text of the language again, for values that are not known yet.
#pragma once

#include <set>
#include <string>

#include "cue/compile/ir.h"

namespace slipway::cue {

class Evaluator;

/// The expression as it might have been written: names stay names. Adds the standard packages it calls to `packages`.
std::string source_text(Evaluator& evaluator, const ir::Expr& expr, std::set<std::string>& packages);

}  // namespace slipway::cue
