#include "json/quoted.h"

#include "json/text.h"

namespace slipway::json {

std::string quoted(std::string_view text) { return print(Value(text)); }

}  // namespace slipway::json
