#include "serve/aggregated.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "client/access_review.h"
#include "serve/parameters.h"
#include "serve/shape.h"
#include "server/access/attributes.h"

namespace slipway::serve {
namespace {

using json::Value;
using server::Attributes;

constexpr std::string_view kMasters = "system:masters";
constexpr const char* kManager = "slipway-controller";

bool is_among(std::span<const std::string_view> words, const Route& route) {
  return !route.is_resource && !route.segments.empty() && std::ranges::find(words, route.segments.front()) != words.end();
}
bool is_health(const Route& route) {
  static constexpr std::array<std::string_view, 3> kPaths{"healthz", "livez", "readyz"};
  return is_among(kPaths, route);
}
bool is_document(const Route& route) {
  static constexpr std::array<std::string_view, 3> kPaths{"apis", "openapi", "version"};
  return is_among(kPaths, route);
}

Value review_of(const kube::UserInfo& user, const Attributes& asked) {
  if (!asked.is_resource()) {
    return client::access_review(&user, json::object({{"verb", Value(asked.verb)}, {"path", Value(asked.path)}}),
                                 "nonResourceAttributes");
  }
  return client::access_review(&user, json::object({{"verb", Value(asked.verb)},
                                                    {"group", Value(asked.group)},
                                                    {"version", Value(asked.version)},
                                                    {"resource", Value(asked.resource)},
                                                    {"subresource", Value(asked.subresource)},
                                                    {"namespace", Value(asked.ns)},
                                                    {"name", Value(asked.name)}}));
}

Result<Attributes> attributes_of(const Call& call) {
  if (!call.route.is_resource) return Attributes::of_path(lower(call.http.method), call.route.path());
  SLIPWAY_TRY(verb, verb_of(call.http.method, call.route, flag_of(call.query, "watch")));
  return Attributes::of(request_of(call, verb));
}

Task<Result<void>> require_allowed(client::Client& cluster, std::shared_ptr<const kube::UserInfo> user, Attributes asked) {
  if (std::ranges::find(user->groups, kMasters) != user->groups.end()) co_return Result<void>{};
  SLIPWAY_CO_TRY(answer, co_await client::create(cluster, client::kAccessReviews, review_of(*user, asked), kManager));
  if (answer["status"]["allowed"].as_bool()) co_return Result<void>{};
  co_return fail(server::forbidden(*user, asked, answer["status"]["reason"].as_string()));
}

}  // namespace

Aggregated::Aggregated(Env& env, server::Server& server, client::Client& cluster, FrontProxy proxy, std::string group)
    : cluster_(cluster), proxy_(std::move(proxy)), group_(std::move(group)), api_(env, server, ApiOptions{}) {}

Task<Result<Call>> Aggregated::admitted(Call call, std::shared_ptr<const net::ConnectionInfo> connection) {
  if (is_health(call.route)) co_return call;
  SLIPWAY_CO_TRY(user, user_of(proxy_, *connection, call.http.headers));
  call.user = user;
  const bool is_served = call.route.is_resource ? call.route.resource.group == group_ : is_document(call.route);
  if (!is_served) co_return fail(Reason::NotFound, "the server could not find the requested resource");
  SLIPWAY_CO_TRY(asked, attributes_of(call));
  SLIPWAY_CO_TRY_VOID(co_await require_allowed(cluster_, user, std::move(asked)));
  co_return call;
}

Task<net::Answer> Aggregated::answer(http::Request request, std::shared_ptr<const net::ConnectionInfo> connection) {
  const net::Target target = net::Target::split(request.target);
  auto segments = target.segments();
  auto query = net::Query::parse(target.query);
  const Form form = plain_form(request.headers, query ? *query : net::Query());
  if (!segments) co_return response_with(segments.error(), form);
  if (!query) co_return response_with(query.error(), form);
  Call call{.http = std::move(request), .route = route_of(std::move(*segments)), .query = std::move(*query)};
  call.server_address = call.http.headers.get("Host");
  auto allowed = co_await admitted(std::move(call), std::move(connection));
  if (!allowed) co_return response_with(allowed.error(), form);
  net::Answer answer = co_await api_.answer(std::move(*allowed));
  if (auto* response = std::get_if<http::Response>(&answer); response && !response->headers.contains("Cache-Control")) {
    response->headers.add("Cache-Control", "no-cache, private");
  }
  co_return answer;
}

}  // namespace slipway::serve
