// What is served, told in both forms of discovery: the legacy lists (APIVersions, APIGroupList, APIGroup, APIResourceList) and
// the aggregated ones (APIGroupDiscoveryList, v2 and v2beta1). Follows k8s.io/apiserver/pkg/endpoints/discovery: groups in
// order of their priority, versions by preference.
#pragma once

#include <string>
#include <string_view>

#include "base/http.h"
#include "net/http.h"
#include "server/registry.h"

namespace slipway::serve {

/// /api: APIVersions.
json::Value api_versions(std::string_view server_address);
/// /apis: APIGroupList.
json::Value api_groups(const server::Registry& registry);
/// /apis/G: APIGroup; null when not served.
json::Value api_group(const server::Registry& registry, std::string_view group);
/// /api/v1 and /apis/G/V: APIResourceList; null when not served.
json::Value api_resources(const server::Registry& registry, std::string_view group, std::string_view version);

enum class Half : std::uint8_t { Core, Groups };  // /api tells of the core group, /apis of the others
/// APIGroupDiscoveryList of apidiscovery.k8s.io/`version`.
json::Value aggregated(const server::Registry& registry, Half half, std::string_view version);

/// All group-versions served, "v1" first, then by group and preference: "v1", "apps/v1".
std::vector<std::string> group_versions(const server::Registry& registry);

/// GET /api or /apis in the form asked for, with its ETag; 304 when the client has it.
Result<http::Response> discovery_response(const server::Registry& registry, Half half, const http::Request& request,
                                          const net::Query& query, std::string_view server_address);

}  // namespace slipway::serve
