// /openapi/v2 and /openapi/v3: the documents of room kube for what a registry serves now.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/http.h"
#include "kube/openapi.h"
#include "server/registry.h"

namespace slipway::serve {

kube::OpenApiInput openapi_input(const server::Registry& registry);

/// GET /openapi/v2: JSON, or gnostic's protobuf where asked for. NotAcceptable.
Result<http::Response> openapi_v2_response(kube::OpenApiDocuments& documents, const server::Registry& registry,
                                           const http::Request& request);
/// GET /openapi/v3 (`rest` empty: the index; its URLs begin with `root`) and below it api/v1, apis/G/V. A URL with the right
/// hash never changes. NotFound.
Result<http::Response> openapi_v3_response(kube::OpenApiDocuments& documents, const server::Registry& registry,
                                           const http::Request& request, std::span<const std::string> rest,
                                           std::string_view root);

}  // namespace slipway::serve
