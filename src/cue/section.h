// Definition files hold two programs in one text: what the thing is, and under one top-level name (`template`) the program to
// evaluate later, which refers to names the file does not have. A section is cut out of the text without parsing the rest, and
// everything else is blanked rather than removed, so that lines and columns of errors are those of the file.
#pragma once

#include <string>
#include <string_view>

namespace slipway::cue {

/// The contents of the top-level struct `name` as a file of its own, with the imports it uses. Empty when there is none.
std::string section(std::string_view text, std::string_view name);

/// The file without the top-level struct `name` and without imports.
std::string without_section(std::string_view text, std::string_view name);

}  // namespace slipway::cue
