// The text that a field selector compares: of one field of an object.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace slipway::kube {

/// "spec.x" of `object`: absent is "", numbers and booleans are their text. The names that are no paths upstream either (see
/// FieldSelector::matches) are known.
std::string field_text(const json::Value& object, std::string_view field);

}  // namespace slipway::kube
