// Times as Go layouts describe them ("2006-01-02 15:04:05"), for vela/time. An empty layout is RFC 3339. Names of zones are
// not looked up: "MST" reads and writes UTC.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "base/time.h"

namespace slipway::delivery::workflow {

/// BadRequest when the text does not follow the layout.
Result<Time> parse_with_layout(std::string_view text, std::string_view layout);
/// In UTC.
std::string format_with_layout(Time time, std::string_view layout);

}  // namespace slipway::delivery::workflow
