// Source files to trees, data files among them: JSON is nearly a file of the language; YAML and plain text become the tree such
// a file would have, every node with its place in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cue/compile/program.h"
#include "cue/syntax/ast.h"

namespace slipway::cue {

/// Never null. `source` must outlive the tree; `base` is its position in the source map.
ast::File* parse_source(const SourceText& source, Pos base, Arena& arena, Diagnostics& diagnostics);

/// "key=value" or "value" of an attribute's body; values without quotes.
struct AttributeArgument {
  std::string key;
  std::string value;
};
std::vector<AttributeArgument> attribute_arguments(std::string_view body);

}  // namespace slipway::cue
