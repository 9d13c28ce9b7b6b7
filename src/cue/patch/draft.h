// A value spelled out as a tree that can be rewritten: fields and items in order, with the markers of the comments above them.
// Leaves are values of the evaluation the result will live in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cue/evaluation.h"

namespace slipway::cue {

/// "+key=value" lines of a comment.
using Markers = std::map<std::string, std::string, std::less<>>;
Markers markers_of(const std::vector<std::string>& doc);

struct Draft {
  enum class Kind : std::uint8_t { Leaf, Struct, List };
  Kind kind = Kind::Leaf;
  Value leaf;
  Pos pos = 0;
  std::vector<std::string> names;  // of a struct, as long as `children`
  std::vector<Markers> markers;
  std::vector<Draft> children;
  bool is_open = false;  // of a list
  Value rest;            // what further items must be; none when anything

  Draft* field(std::string_view name);
  void append(std::string name, Markers marks, Draft child);
};

/// Regular fields only: hidden and optional ones and definitions have no place in a patched object.
Draft draft_of(Evaluation& into, Evaluation& from, Vertex* v, int depth = 0);
Value value_of(Evaluation& into, const Draft& draft);

}  // namespace slipway::cue
