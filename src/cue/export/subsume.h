// Whether one value is an instance of another.
#pragma once

namespace slipway::cue {

class Evaluator;
struct Vertex;

struct SubsumeOptions {
  bool takes_defaults = false;  // of the instance
  bool is_final = false;        // the instance gets no more fields
  bool is_schema = false;       // of the general value the defaults count like all other values
};

/// True when every value that is an instance of `instance` is one of `general`, too: their meet is `instance` itself.
/// REQUIRES: both are complete vertices of the evaluator. What is not known yet subsumes nothing but itself.
/// (Upstream: internal/core/subsume.)
bool subsumes(Evaluator& evaluator, Vertex* general, Vertex* instance, const SubsumeOptions& options = {});

}  // namespace slipway::cue
