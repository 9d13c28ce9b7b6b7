// The CEL type of a structural schema (k8s.io/apiserver/pkg/cel/common/schemas.go): what rules may read of an object.
#pragma once

#include <cstdint>

#include "cel/type.h"
#include "json/value.h"

namespace slipway::cel {

/// What no request is longer than; bounds what has no limit of its own.
inline constexpr std::uint64_t kMaxRequestBytes = std::uint64_t{3} << 20;

/// nullptr for what rules cannot reach: a schema without type, an array without items, unknown fields that are preserved.
/// int-or-string is dyn. A resource (the root, or an embedded one) has apiVersion, kind and metadata{name, generateName}.
/// Its sizes say how large a value can be at the most, by maxLength, maxItems and maxProperties or else by the largest request.
TypePtr schema_type(const json::Value& schema, bool is_resource);

/// Of the shortest JSON text that a value of a schema's type has.
std::uint64_t min_json_bytes(const Type& type);

}  // namespace slipway::cel
