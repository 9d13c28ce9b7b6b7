// Expressions as messages show them: {a:1,b?:(x & int)}, without blanks and comments, names as they were written.
#pragma once

#include <string>

#include "cue/compile/ir.h"

namespace slipway::cue {

class Evaluator;

/// What lies too deep is "…".
std::string expression_text(Evaluator& evaluator, const ir::Expr& expr);

}  // namespace slipway::cue
