// What a URL's path means: a resource of an API group, or something beside them ("/version", "/openapi/v3"). Follows
// k8s.io/apiserver/pkg/endpoints/request RequestInfo: /api/V/…, /apis/G/V/…, [watch/]namespaces/NS/RESOURCE/NAME/SUBRESOURCE.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"

namespace slipway::serve {

struct Route {
  bool is_resource = false;
  std::vector<std::string> segments;  // decoded, without empty ones at either end
  kube::Resource resource;
  std::string ns;
  std::string name;
  std::string subresource;
  std::string tail;                // what follows a subresource: "a/b" of pods/x/proxy/a/b
  bool is_watch_prefixed = false;  // the deprecated /watch/ form

  /// "/api/v1/pods", slashes at the end dropped.
  std::string path() const;
};

/// Never fails: what is no resource is left to the table of other paths.
Route route_of(std::vector<std::string> segments);

/// The verb of an HTTP method on a route; MethodNotAllowed when there is none. A GET without a name is a list, or a watch when
/// `wants_watch`.
Result<client::Verb> verb_of(std::string_view method, const Route& route, bool wants_watch);

/// The answer where nothing is served at the path, in the words of the API server.
inline std::unexpected<Status> not_found() {
  return fail(Reason::NotFound, "the server could not find the requested resource");
}

}  // namespace slipway::serve
