// An instant query to Prometheus: the request, and the numbers in its answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/http_client.h"

namespace slipway::delivery::probe {

/// A path in the address is kept; runs of blanks in the query become one.
HttpCall prometheus_call(std::string address, std::string_view query);
/// One number of a scalar, one of each series of a vector; NaN and infinities as they are. Invalid with the server's own words,
/// or when the query gives ranges or text.
Result<std::vector<double>> prometheus_numbers(std::string_view body);

}  // namespace slipway::delivery::probe
