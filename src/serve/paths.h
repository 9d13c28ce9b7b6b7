// The paths that are no resources: discovery, OpenAPI, version, health, metrics, and the index of all of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/openapi.h"
#include "serve/call.h"
#include "server/registry.h"

namespace slipway::serve {

/// Prometheus' text of what the process knows, made while it is sent.
using MetricsSource = std::function<std::unique_ptr<http::BodyStream>()>;

/// What these paths are answered from.
struct PathSite {
  const server::Registry& registry;
  kube::OpenApiDocuments& documents;
  std::string_view root;         // before each URL that is told: "/clusters/dev"
  const MetricsSource& metrics;  // empty: /metrics is not served
  /// What keeps this cluster's controllers from their work, a sentence each; may be empty (not asked).
  const std::function<std::vector<std::string>()>& hindrances;
};
/// NotFound, MethodNotAllowed, NotAcceptable.
Result<http::Response> path_response(PathSite site, const Call& call);

/// version.Info.
json::Value version_info();

}  // namespace slipway::serve
