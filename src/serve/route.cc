#include "serve/route.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace slipway::serve {
namespace {

// Of a namespace itself; any other third segment is a resource in it.
constexpr std::array<std::string_view, 2> kNamespaceSubresources{"status", "finalize"};

void read_parts(Route& route, std::span<const std::string> parts) {
  if (!parts.empty() && parts[0] == "watch") {
    route.is_watch_prefixed = true;
    parts = parts.subspan(1);
  }
  if (parts.size() > 2 && parts[0] == "namespaces" &&
      std::ranges::find(kNamespaceSubresources, parts[2]) == std::end(kNamespaceSubresources)) {
    route.ns = parts[1];
    parts = parts.subspan(2);
  }
  route.is_resource = !parts.empty();
  if (!parts.empty()) route.resource.plural = parts[0];
  if (parts.size() > 1) route.name = parts[1];
  if (parts.size() > 2) route.subresource = parts[2];
  if (parts.size() > 3) route.tail = fmt::format("{}", fmt::join(parts.subspan(3), "/"));
}

}  // namespace

std::string Route::path() const { return fmt::format("/{}", fmt::join(segments, "/")); }

Route route_of(std::vector<std::string> segments) {
  while (!segments.empty() && segments.back().empty()) segments.pop_back();
  while (!segments.empty() && segments.front().empty()) segments.erase(segments.begin());
  Route route;
  route.segments = std::move(segments);
  std::span<const std::string> parts = route.segments;
  if (parts.size() >= 3 && parts[0] == "api") {
    route.resource.version = parts[1];
    read_parts(route, parts.subspan(2));
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    route.resource.group = parts[1];
    route.resource.version = parts[2];
    read_parts(route, parts.subspan(3));
  }
  return route;
}

Result<client::Verb> verb_of(std::string_view method, const Route& route, bool wants_watch) {
  const bool has_name = !route.name.empty();
  if (method == "GET" || method == "HEAD") {
    if (route.is_watch_prefixed || (!has_name && wants_watch)) return client::Verb::Watch;
    return has_name ? client::Verb::Get : client::Verb::List;
  }
  if (!route.is_watch_prefixed) {
    if (method == "POST" && (!has_name || !route.subresource.empty())) return client::Verb::Create;
    if (method == "PUT" && has_name) return client::Verb::Update;
    if (method == "PATCH" && has_name) return client::Verb::Patch;
    if (method == "DELETE") return has_name ? client::Verb::Delete : client::Verb::DeleteCollection;
  }
  return fail(Reason::MethodNotAllowed, "the server does not allow this method on the requested resource");
}

}  // namespace slipway::serve
