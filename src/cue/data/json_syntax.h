// Whether a text is JSON, and where and why it is not, in the words of Go's encoding/json. Nothing is built: JSON is nearly a
// text of the language, whose parser reads it afterwards (keys may come twice there, and are unified).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace slipway::cue {

struct JsonProblem {
  std::size_t offset = 0;  // in bytes; of the last one when the text ends too early
  std::string message;     // "invalid character 'x' after top-level value"
};

/// Nothing when `text` is one value with white space around it. Never recurses.
std::optional<JsonProblem> json_problem(std::string_view text);

}  // namespace slipway::cue
