#include "serve/paths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "serve/discovery.h"
#include "serve/openapi.h"
#include "serve/route.h"
#include "serve/shape.h"

namespace slipway::serve {
namespace {

using json::Value;

constexpr std::string_view kMinor = "33";

/// What one path answers.
struct Place {
  PathSite site;
  const Call& call;
  Form form;
  /// Segments after the row's own.
  std::span<const std::string> rest;

  const server::Registry& registry() const { return site.registry; }
};

http::Response text_response(std::string body, int code = 200) {
  http::Response response;
  response.status = code;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.headers.add("X-Content-Type-Options", "nosniff");
  response.body = std::move(body);
  return response;
}

Result<http::Response> legacy(const Place& place, const Value& document) {
  if (document.is_null()) return not_found();
  return response_with(document, place.form);
}

Result<http::Response> api(const Place& place) {
  const auto& rest = place.rest;
  if (rest.empty()) {
    return discovery_response(place.registry(), Half::Core, place.call.http, place.call.query, place.call.server_address);
  }
  return rest.size() == 1 ? legacy(place, api_resources(place.registry(), "", rest[0])) : not_found();
}

Result<http::Response> apis(const Place& place) {
  const auto& rest = place.rest;
  if (rest.empty()) {
    return discovery_response(place.registry(), Half::Groups, place.call.http, place.call.query, place.call.server_address);
  }
  if (rest.size() == 1) return legacy(place, api_group(place.registry(), rest[0]));
  return rest.size() == 2 ? legacy(place, api_resources(place.registry(), rest[0], rest[1])) : not_found();
}

Result<http::Response> version(const Place& place) {
  if (!place.rest.empty()) return not_found();
  return response_with(version_info(), place.form);
}

constexpr std::array<std::string_view, 4> kChecks{"ping", "log", "store", "controllers"};

/// Why a check fails; empty when it holds. Controllers that wait for a cache make a cluster that is alive, but not ready.
std::vector<std::string> faults(const Place& place, std::string_view check) {
  const bool is_asked = check == "controllers" && place.call.route.segments.front() == "readyz" && place.site.hindrances;
  return is_asked ? place.site.hindrances() : std::vector<std::string>();
}

Result<http::Response> health(const Place& place) {
  const std::string& name = place.call.route.segments.front();
  if (place.rest.size() == 1) {
    if (std::ranges::find(kChecks, std::string_view(place.rest[0])) == kChecks.end()) return not_found();
    const auto wrong = faults(place, place.rest[0]);
    return wrong.empty() ? text_response("ok") : text_response(fmt::format("{}\n", fmt::join(wrong, "\n")), 500);
  }
  if (!place.rest.empty()) return not_found();
  std::string body;
  bool is_good = true;
  for (const std::string_view check : kChecks) {
    const auto wrong = faults(place, check);
    if (wrong.empty()) body += fmt::format("[+]{} ok\n", check);
    for (const std::string& each : wrong) body += fmt::format("[-]{} failed: {}\n", check, each);
    is_good &= wrong.empty();
  }
  if (!is_good) return text_response(body + fmt::format("{} check failed\n", name), 500);
  return text_response(place.call.query.find("verbose") ? body + fmt::format("{} check passed\n", name) : "ok");
}

Result<http::Response> metrics(const Place& place) {
  if (!place.rest.empty() || !place.site.metrics) return not_found();
  http::Response response = text_response({});
  response.stream = place.site.metrics();
  response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  return response;
}

Result<http::Response> openapi(const Place& place) {
  const auto& rest = place.rest;
  const http::Request& request = place.call.http;
  if (rest.size() == 1 && rest[0] == "v2") return openapi_v2_response(place.site.documents, place.registry(), request);
  if (rest.empty() || rest[0] != "v3") return not_found();
  return openapi_v3_response(place.site.documents, place.registry(), request, rest.subspan(1), place.site.root);
}

struct Row {
  std::string_view name;
  Result<http::Response> (*answer)(const Place&);
};
constexpr std::array kRows{Row{"api", api},       Row{"apis", apis},      Row{"version", version}, Row{"livez", health},
                           Row{"readyz", health}, Row{"healthz", health}, Row{"metrics", metrics}, Row{"openapi", openapi}};

http::Response index(const Place& place, int code) {
  json::ArrayBuilder paths;
  for (const Row& row : kRows) {
    if (row.name != "openapi") paths.add(fmt::format("/{}", row.name));
  }
  for (const char* path : {"/openapi/v2", "/openapi/v3"}) paths.add(path);
  for (const std::string& version : group_versions(place.registry())) {
    paths.add(version.contains('/') ? "/apis/" + version : "/api/" + version);
  }
  return response_with(json::object({{"paths", paths.build()}}), place.form, code);
}

}  // namespace

Value version_info() {
  return json::object({{"major", "1"},
                       {"minor", kMinor},
                       {"gitVersion", fmt::format("v1.{}.0+slipway", kMinor)},
                       {"gitCommit", ""},
                       {"gitTreeState", "clean"},
                       {"buildDate", "1970-01-01T00:00:00Z"},
                       {"goVersion", ""},
                       {"compiler", "clang"},
                       {"platform", "linux/amd64"}});
}

Result<http::Response> path_response(PathSite site, const Call& call) {
  const std::span<const std::string> segments = call.route.segments;
  Place place{site, call, plain_form(call.http.headers, call.query), {}};
  if (call.http.method != "GET" && call.http.method != "HEAD") {
    return fail(Reason::MethodNotAllowed, "the server does not allow this method on the requested resource");
  }
  if (segments.empty()) return index(place, 200);
  place.rest = segments.subspan(1);
  for (const Row& row : kRows) {
    if (row.name == segments[0]) return row.answer(place);
  }
  return index(place, 404);
}

}  // namespace slipway::serve
