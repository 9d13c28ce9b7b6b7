#include "cue/eval/rings.h"

#include <algorithm>
#include <set>
#include <utility>

namespace slipway::cue {

std::size_t OpenVertices::begin_demand() { return std::exchange(from_, open_.size()); }

bool OpenVertices::holds(const Vertex* field) {
  auto begin = open_.begin() + static_cast<std::ptrdiff_t>(from_);
  bool is_inside = std::find(begin, open_.end(), deref(field)) != open_.end();
  may_have_rings_ = may_have_rings_ || !is_inside;
  return is_inside;
}

namespace {

struct Walk {
  std::size_t max_depth;
  std::vector<Vertex*> above = {};
  std::set<const Vertex*> seen = {};
  std::vector<Vertex*> found = {};

  void visit(Vertex* v) {
    if (!seen.insert(v).second || above.size() > max_depth) return;
    above.push_back(v);
    for (Vertex* field : v->arcs) {
      if (field->mark != ArcMark::Member) continue;
      if (field->shared != nullptr && std::ranges::find(above, deref(field)) != above.end())
        found.push_back(field);
      else
        visit(deref(field));
    }
    above.pop_back();
  }
};

}  // namespace

std::vector<Vertex*> endless_fields(Vertex* root, std::size_t max_depth) {
  Walk walk{max_depth};
  walk.visit(deref(root));
  return walk.found;
}

}  // namespace slipway::cue
