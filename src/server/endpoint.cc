#include "server/endpoint.h"

#include <algorithm>
#include <iterator>

namespace slipway::server {

bool Endpoint::takes(client::Verb verb) const { return std::ranges::find(verbs, verb) != verbs.end(); }

std::span<const Endpoint> endpoints() {
  static const std::vector<Endpoint> all = [] {
    std::vector<Endpoint> rows = access_endpoints();
    std::ranges::move(object_endpoints(), std::back_inserter(rows));
    return rows;
  }();
  return all;
}

const Endpoint* find_endpoint(const kube::Resource& resource, std::string_view subresource) {
  for (const Endpoint& row : endpoints()) {
    if (!row.is_stored && row.subresource == subresource && row.resource == resource) return &row;
  }
  return nullptr;
}

}  // namespace slipway::server
