// Which vertices are being completed, and which of those lie in each other. Structs that are shared may form rings: a field
// that is the same as something it lies in has no end. What is only looked at for its value may be open without being around
// it.
#pragma once

#include <cstddef>
#include <vector>

#include "cue/eval/vertex.h"

namespace slipway::cue {

class OpenVertices {
 public:
  void enter(const Vertex* v) { open_.push_back(v); }
  void leave() { open_.pop_back(); }
  /// What is entered from here on lies in nothing that is open now. Gives what `end_demand` needs.
  std::size_t begin_demand();
  void end_demand(std::size_t outer) { from_ = outer; }
  /// Whether the field, which is the same as something open, lies in it.
  bool holds(const Vertex* field);
  /// Something open was met that may be around what met it all the same: see endless_fields.
  bool may_have_rings() const { return may_have_rings_; }

 private:
  std::vector<const Vertex*> open_;  // outermost first
  std::size_t from_ = 0;             // those from here on lie in each other
  bool may_have_rings_ = false;
};

/// The fields by which something complete comes to lie in itself.
std::vector<Vertex*> endless_fields(Vertex* root, std::size_t max_depth);

}  // namespace slipway::cue
