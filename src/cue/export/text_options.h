// How values are written as text of the language.
#pragma once

#include <string>

namespace slipway::cue {

class Evaluator;
struct Vertex;

struct TextOptions {
  bool is_final = false;  // defaults are taken
  bool has_definitions = true;
  bool has_hidden = true;
  bool has_optional = true;  // and required ones that are not there
  bool has_required = true;  // those, whatever is said of optional ones
  bool has_docs = false;     // comments above fields
  bool has_attributes = false;
  std::string indent = "\t";
  bool joins_single_fields = false;  // a: b: 1
  bool is_in_columns = false;        // values of neighbours below each other, errors with their paths
  bool lists_in_columns = true;
  bool has_expressions = false;  // of values that are not known yet; else the reason
};

/// The fields of a struct, one per line, each with its newline; of another value one expression without.
std::string cue_text(Evaluator& evaluator, Vertex* v, const TextOptions& options);

}  // namespace slipway::cue
