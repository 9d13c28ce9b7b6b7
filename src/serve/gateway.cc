#include "serve/gateway.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "serve/access.h"
#include "serve/shape.h"
#include "serve/source_limit.h"

namespace slipway::serve {
namespace {

constexpr std::string_view kClusters = "clusters";

/// /apis/cluster.core.oam.dev/v1alpha1/clustergateways/NAME/proxy, by which clients of KubeVela reach a cluster through its
/// hub.
constexpr std::array<std::string_view, 4> kGateways{"apis", "cluster.core.oam.dev", "v1alpha1", "clustergateways"};
constexpr std::string_view kHub = "local";

/// Takes "clusters/NAME" off the beginning, and gives NAME.
std::optional<std::string> take_root(std::vector<std::string>& segments) {
  if (segments.size() < 2 || segments.front() != kClusters) return std::nullopt;
  std::string name = segments[1];
  segments.erase(segments.begin(), segments.begin() + 2);
  return name;
}

/// Takes the proxy's path off the beginning, and gives the name of the cluster behind it.
std::optional<std::string> take_proxy(std::vector<std::string>& segments) {
  constexpr std::size_t kName = kGateways.size();
  const bool is_proxy = segments.size() > kName + 1 && segments[kName + 1] == "proxy" &&
                        std::ranges::equal(kGateways, std::span(segments).first(kName));
  if (!is_proxy) return std::nullopt;
  std::string name = segments[kName];
  segments.erase(segments.begin(), segments.begin() + kName + 2);
  return name;
}

Status not_reached(const std::string& cluster) {
  Status status;
  status.reason = Reason::NotImplemented;
  status.message = fmt::format(
      "clustergateways/{}/proxy reaches the clusters of this process only: ask the cluster itself, or use slipway logs, exec "
      "and status --tree",
      cluster);
  return status;
}

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

  std::string name = take_root(*segments).value_or("");
  if (const auto member = take_proxy(*segments)) {
    // A client that puts the proxy's path before the whole of its own names the hub after it.
    if (const auto hub = take_root(*segments)) name = *hub;
    if (*member != kHub) name = *member;
    if (!clusters_.contains(name)) co_return response_with(not_reached(*member), form);
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
  call.source = SourceLimit::source_of(connection->peer_address);
  const std::shared_ptr<Api> api = cluster->second;
  auto user = api->server().authenticate(credentials_of(*connection, call.http.headers));
  if (!user) co_return response_with(user.error(), form);
  call.user = std::move(*user);
  co_return co_await api->answer(std::move(call));
}

}  // namespace slipway::serve
