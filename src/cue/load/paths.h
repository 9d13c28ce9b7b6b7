// File paths as text: normal forms, and names relative to where the user stands.
#pragma once

#include <string>
#include <string_view>

namespace slipway::cue::load {

/// "a/./b/../c" → "a/c"; absolute stays absolute; "" is ".".
std::string normal(std::string_view path);
std::string joined(std::string_view folder, std::string_view path);
/// As messages name a file: "./x.cue", "../y.cue", or absolute when it lies elsewhere. Both absolute and normal.
std::string shown(std::string_view path, std::string_view cwd);
std::string_view last_element(std::string_view path);
std::string parent(std::string_view path);

/// Shell patterns over slash-separated paths: "*", "?", "[a-z]" within an element, "**" for any elements.
bool matches_glob(std::string_view pattern, std::string_view path);

}  // namespace slipway::cue::load
