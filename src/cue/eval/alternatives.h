// What is left of a vertex with several disjunctions, while one after the other is met.
#pragma once

#include <span>
#include <vector>

#include "cue/eval/vertex.h"

namespace slipway::cue {

/// One way to choose of every disjunction so far, and what it comes to.
struct Alternative {
  Value value;
  DefaultMode mode;
  DefaultMode mark = DefaultMode::Maybe;  // of the disjunct it comes from
  std::span<const Choice> choices = {};   // that lead to it
};

/// What unifying one alternative with one disjunct comes to: several when the disjunct is a disjunction itself.
struct Crossing {
  DefaultMode left;
  DefaultMode left_mark;
  DefaultMode mark;
  bool is_nested = false;
  std::vector<Alternative> found = {};

  Crossing(DefaultMode left_in, DefaultMode left_mark_in, DefaultMode mark_in)
      : left(left_in), left_mark(left_mark_in), mark(mark_in) {}
};

}  // namespace slipway::cue
