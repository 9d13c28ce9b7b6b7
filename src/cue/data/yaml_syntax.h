// A file of the language as YAML without evaluating it: what is data in it already, with its comments, the spelling of its
// numbers, the tags of @yaml(,tag="!x") attributes, and lists and structs of one line kept on one line. References, optional
// and hidden fields and the like are refused. Follows upstream's internal/encoding/yaml.
#pragma once

#include <string>

#include "base/status.h"
#include "cue/compile/program.h"

namespace slipway::cue {

/// YAML text ending in a newline. BadRequest "yaml: …" for what is no data, or with what is wrong with the text.
Result<std::string> yaml_of_syntax(const SourceText& source);

}  // namespace slipway::cue
