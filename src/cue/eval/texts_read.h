// The texts that functions like json.Validate have read. What they made of a text carries places by number, so that an error in
// it tells the line and column in that text, which is read again only for that.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cue/std/registry.h"

namespace slipway::cue {

/// A place in a text that a function has read, under the name of the function.
struct FoundPlace {
  std::string reader;
  int line;
  int column;
};

class TextsRead {
 public:
  /// What `next_place` gives from here on are places of this text; `reader` is "json.Validate" and the like.
  void begin(const TextRead& text, std::string reader) { texts_.push_back({text, std::move(reader), next_place_}); }
  Pos next_place() { return next_place_++; }
  /// None for a position that `next_place` did not give.
  std::optional<FoundPlace> find(Pos pos) const;

 private:
  struct ReadText {
    TextRead text;
    std::string reader;
    Pos first;  // number of its places
  };
  static constexpr Pos kFirst = 0xC0000000;  // below are places in sources
  Pos next_place_ = kFirst;
  std::vector<ReadText> texts_;
};

}  // namespace slipway::cue
