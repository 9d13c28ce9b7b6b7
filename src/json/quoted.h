// Text as messages quote it: as a JSON string, which is what Go's %q prints for all that occurs in names.
#pragma once

#include <string>
#include <string_view>

namespace slipway::json {

/// `"a\nb"` with its quotes: line ends, quotes, backslashes and control characters escaped.
std::string quoted(std::string_view text);

}  // namespace slipway::json
