// The paths of an OpenAPI document: which operations a resource has, with their parameters, bodies and media types.
#pragma once

#include "json/value.h"
#include "kube/openapi.h"
#include "kube/openapi_schema.h"

namespace slipway::kube {

/// Path to item, in order of the paths. What the operations refer to becomes part of `schemas`.
json::Value openapi_paths(std::span<const OpenApiType> types, std::span<const OpenApiEndpoint> endpoints,
                          OpenApiDialect dialect, OpenApiSchemas& schemas);

}  // namespace slipway::kube
