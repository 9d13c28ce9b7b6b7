// The text of a long list, made piece by piece as the reader takes it: neither a second copy of everything that is listed, nor
// a moment in which nobody else is served.
#pragma once

#include <memory>

#include "base/http.h"
#include "json/value.h"

namespace slipway::serve {

/// Whether `answer` has an array (items of a list, rows of a Table) that is worth it.
bool is_long_list(const json::Value& answer);
/// The compact JSON text of an object and an end of line, as encoded() gives it in one piece.
std::unique_ptr<http::BodyStream> list_stream(json::Value answer);

}  // namespace slipway::serve
