// "%s and %d".format([…]) of cel-go's strings library.
#pragma once

#include "cel/value.h"

namespace slipway::cel {

/// A String, or an Error worded as cel-go.
Value format_text(std::string_view pattern, const Items& args);

}  // namespace slipway::cel
