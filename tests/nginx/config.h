// A stand-in for an ingress controller: written Ingress objects (with the canary annotations of ingress-nginx) and HTTPRoutes
// become the text of an nginx configuration. Which backend a request gets is a chain of maps, most specific match first; a
// weight is a split_clients over X-Request-ID, or over nginx's own id where a request has none. A request that fails at one
// endpoint is not tried at another. It knows objects alone, and nothing of who wrote them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::nginx {

struct Site {
  std::vector<json::Value> objects;                           // Ingresses and HTTPRoutes of one namespace; others are refused
  std::map<std::string, std::vector<std::string>> endpoints;  // of each Service, "127.0.0.1:8081"; none: its requests get 502
};

/// The servers of the site on `port` of the loopback; GET /-/version answers `version`. Invalid for what it cannot express.
Result<std::string> site_config(const Site& site, unsigned short port, const std::string& version);

/// A server on the loopback that answers every request with `text`, and adds a line to the file `log` for each.
std::string backend_config(unsigned short port, const std::string& text, const std::string& log);

}  // namespace slipway::nginx
