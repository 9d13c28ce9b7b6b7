// "%s and %d".format([…]) of cel-go's strings library.
#pragma once

#include <cstdint>
#include <string_view>

#include "cel/value.h"

namespace slipway::cel {

/// How %e writes an exponent: 1.0e+02, or 1.0×10⁰² as the library's versions up to 3 do.
enum class Exponent : std::uint8_t { Letter, Power };

/// A String, or an Error worded as cel-go.
Value format_text(std::string_view pattern, const Items& args, Exponent exponent = Exponent::Letter);

}  // namespace slipway::cel
