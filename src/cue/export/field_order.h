// In which order the fields of a value are told.
#pragma once

#include <vector>

namespace slipway::cue {

class Evaluator;
struct Vertex;

/// Puts the fields of a complete value, and of all below it, into the order they are shown in: what one struct declares stays
/// in its order, what it embeds comes before its own fields, several declarations of a field follow each other. Operands of &
/// and different files say nothing about each other: of what may come next the smallest name does, and where the orders
/// contradict each other the names decide. (Upstream: internal/core/toposort.)
void order_fields(Evaluator& evaluator, Vertex* root);
/// The fields of a vertex in that order; the vertex stays as it is.
std::vector<Vertex*> fields_in_order(Evaluator& evaluator, Vertex* v);

}  // namespace slipway::cue
