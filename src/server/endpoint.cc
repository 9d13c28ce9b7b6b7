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

namespace {

const Endpoint* find_row(const kube::Resource& resource, std::string_view subresource, bool is_stored) {
  for (const Endpoint& row : endpoints()) {
    if (row.is_stored == is_stored && row.subresource == subresource && row.resource == resource) return &row;
  }
  return nullptr;
}

}  // namespace

const Endpoint* find_endpoint(const kube::Resource& resource, std::string_view subresource) {
  return find_row(resource, subresource, false);
}

const Endpoint* find_stored_part(const kube::Resource& resource, std::string_view subresource) {
  return find_row(resource, subresource, true);
}

}  // namespace slipway::server
