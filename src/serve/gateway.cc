#include "serve/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "serve/access.h"
#include "serve/shape.h"

namespace slipway::serve {
namespace {

constexpr std::string_view kClusters = "clusters";

/// Of the process, whatever cluster is meant: answered at the root too, where no cluster is.
bool is_of_process(const std::vector<std::string>& segments) {
  constexpr std::array<std::string_view, 6> kPaths{"", "version", "livez", "readyz", "healthz", "metrics"};
  return segments.empty() || std::ranges::find(kPaths, segments.front()) != kPaths.end();
}

}  // namespace

void Gateway::add(const std::string& name, std::shared_ptr<Api> api) {
  if (clusters_.empty()) first_ = name;
  clusters_[name] = std::move(api);
}

std::string Gateway::root_of(std::string_view name) {
  return name.empty() ? std::string() : fmt::format("/{}/{}", kClusters, name);
}

Task<net::Answer> Gateway::answer(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
  std::string audit_id(request.headers.get("Audit-Id"));
  if (audit_id.empty()) audit_id = uuid(env_.random);
  net::Answer answer = co_await answer_below(std::move(request), std::move(connection));
  if (auto* response = std::get_if<http::Response>(&answer)) {
    response->headers.add("Audit-Id", audit_id);
    if (!response->headers.contains("Cache-Control")) response->headers.add("Cache-Control", "no-cache, private");
  }
  co_return answer;
}

Task<net::Answer> Gateway::answer_below(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
  const net::Target target = net::Target::split(request.target);
  auto segments = target.segments();
  auto query = net::Query::parse(target.query);
  const Form form = plain_form(request.headers, query ? *query : net::Query());
  if (!segments) co_return response_with(segments.error(), form);
  if (!query) co_return response_with(query.error(), form);

  std::string name;
  if (segments->size() >= 2 && segments->front() == kClusters) {
    name = (*segments)[1];
    segments->erase(segments->begin(), segments->begin() + 2);
  }
  auto cluster = clusters_.find(name);
  if (cluster == clusters_.end() && name.empty() && is_of_process(*segments)) cluster = clusters_.find(first_);
  Call call{.http = std::move(request), .route = route_of(std::move(*segments)), .query = std::move(*query)};
  if (cluster == clusters_.end()) {
    Status status;
    status.reason = Reason::NotFound;
    status.message = "the server could not find the requested resource";
    co_return response_with(status, form);
  }
  call.server_address = call.http.headers.get("Host");
  const std::shared_ptr<Api> api = cluster->second;
  auto user = api->server().authenticate(credentials_of(*connection, call.http.headers));
  if (!user) co_return response_with(user.error(), form);
  call.user = std::move(*user);
  co_return co_await api->answer(std::move(call));
}

}  // namespace slipway::serve
