// Warning headers of an answer (RFC 9111's field with warn-code 299), as k8s.io/apiserver's warning recorder writes them. An
// answer carries at most about 4,096 characters of warnings, however many there are to give: a header is no place for as much
// as a body may bring.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/http.h"

namespace slipway::serve {

/// Adds a header for each of `texts`, repeated ones once. When they have more than 4,096 characters in all, each is cut to 256
/// and as many are added as it takes to reach 4,096. Characters are code points.
void add_warnings(http::Headers& headers, std::span<const std::string> texts);

/// `299 - "text"`: quotes and backslashes escaped, control characters as blanks.
std::string warning_value(std::string_view text);

}  // namespace slipway::serve
