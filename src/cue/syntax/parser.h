// Text to tree. Follows the grammar of the language specification as of v0.14, with the reserved forms of later versions
// recognised so that they give a clear error. Never recurses deeper than a fixed limit.
#pragma once

#include <string_view>

#include "cue/arena.h"
#include "cue/syntax/ast.h"

namespace slipway::cue {

struct ParseOptions {
  bool has_experiments = false;      // postfix aliases, postfix "...", try and else: language v0.15 and later
  bool wants_list_newlines = false;  // v0.17: a newline separates list items
  int minor_version = 0;             // of the language, 14 for v0.14: what experiments it knows; 0 when it is not said
  int max_depth = 1500;
};

/// `text` must outlive the tree. `base` is its position in the source map. The tree is usable only when nothing was
/// reported; after an error parsing goes on, to find more.
ast::File* parse_file(std::string_view name, std::string_view text, Pos base, Arena& arena, Diagnostics& diagnostics,
                      ParseOptions options = {});
/// One expression and nothing behind it; null when something was reported.
ast::Node* parse_expression(std::string_view text, Pos base, Arena& arena, Diagnostics& diagnostics, ParseOptions options = {});

}  // namespace slipway::cue
