// String literals of a C++ source, and those among them that name what belongs to a family.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plane/families.h"

namespace slipway::house {

struct Literal {
  std::string text;  // as written between the quotes: escapes are kept
  std::size_t line = 0;
};
/// Every string literal of `source`, raw ones included, outside comments; from line 1.
std::vector<Literal> string_literals(std::string_view source);

/// What belongs to one family, read from its definitions and groups.
struct OwnNames {
  std::string room;                   // "src/delivery/jobflow/": the only folder whose sources may name it
  std::vector<std::string> words;     // kinds and plurals: no literal may be one
  std::vector<std::string> groups{};  // no literal may contain one
};
OwnNames own_names(const delivery::Family& family);

/// Of the literals of the source at `path` (below the root of the tree) those that name what is another room's:
/// `12: "Workflow" belongs to src/delivery/jobflow/`.
std::vector<std::string> foreign_names(std::string_view path, std::string_view source, const std::vector<OwnNames>& families);

}  // namespace slipway::house
