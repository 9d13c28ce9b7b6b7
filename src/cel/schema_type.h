// The CEL type of a structural schema (k8s.io/apiserver/pkg/cel/common/schemas.go): what rules may read of an object.
#pragma once

#include "cel/type.h"
#include "json/value.h"

namespace slipway::cel {

/// nullptr for what rules cannot reach: a schema without type, an array without items, unknown fields that are preserved.
/// int-or-string is dyn. A resource (the root, or an embedded one) has apiVersion, kind and metadata{name, generateName}.
TypePtr schema_type(const json::Value& schema, bool is_resource);

}  // namespace slipway::cel
