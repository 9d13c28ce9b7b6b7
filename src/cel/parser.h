// From the text of a CEL expression to its tree, macros recognised (cel-spec, "Syntax" and "Macros"; the two-variable macros
// and the optional syntax of cel-go). Depth is limited, so that no text exhausts the stack.
#pragma once

#include "cel/ast.h"
#include "cel/lexer.h"

namespace slipway::cel {

inline constexpr std::size_t kMostDepth = 250;
inline constexpr std::size_t kMostTextBytes = 100'000;

std::expected<ExprPtr, Fault> parse(std::string_view text);

}  // namespace slipway::cel
