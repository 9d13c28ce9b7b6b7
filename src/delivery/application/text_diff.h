// Line by line differences of two texts, in the unified form that `diff -u` made known.
#pragma once

#include <string>
#include <string_view>

namespace slipway::delivery::application {

/// Empty when the texts are equal. Three lines of context. Cost: lines of one times those of the other; beyond 4 million the
/// texts are told whole, one after the other.
std::string text_diff(const std::string& from_name, std::string_view from, const std::string& to_name, std::string_view to);

}  // namespace slipway::delivery::application
