// OpenAPI v3 schemas of values: what a form or an API needs to know about the `parameter` of a template.
#pragma once

#include "cue/cue.h"

namespace slipway::cue {

/// The schema of a value as OpenAPI 3.0 says it, without references: types, properties, required, default, enum, oneOf, bounds,
/// pattern, items, additionalProperties. Fields with a default are required too (as upstream's generator has it): a default is
/// filled in, not left out. A comment becomes the description, of its lines that begin with "+" only what "+usage=" says.
/// Definitions that contain themselves are cut off at some depth, where they are any value.
json::Value openapi_schema(const Cursor& value);

}  // namespace slipway::cue
