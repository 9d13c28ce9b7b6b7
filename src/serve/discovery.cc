#include "serve/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/digest.h"
#include "base/text.h"
#include "json/text.h"
#include "serve/negotiate.h"
#include "serve/shape.h"
#include "serve/version_order.h"
#include "server/endpoint.h"

namespace slipway::serve {
namespace {

using json::Value;

constexpr std::array kObjectVerbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
constexpr std::array kStatusVerbs{"get", "patch", "update"};

/// A resource or subresource as discovery tells it.
struct DiscoveryRow {
  std::string name;  // "pods", "pods/log"
  std::string singular;
  kube::GroupVersionKind kind;
  bool is_namespaced = true;
  std::vector<std::string> verbs;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
};
/// By name, so that subresources follow their resource.
using Rows = std::map<std::string, DiscoveryRow>;
struct Group {
  std::map<std::string, Rows, NewerVersionFirst> versions;
};
using Groups = std::map<std::string, Group, GroupOrder>;

std::vector<std::string> sorted_verbs(const std::vector<client::Verb>& verbs) {
  std::vector<std::string> names;
  for (const client::Verb verb : verbs) names.emplace_back(client::to_string(verb));
  std::ranges::sort(names);
  return names;
}

void add_type(Rows& rows, const kube::ResourceType& type) {
  const std::string& plural = type.resource.plural;
  rows[plural] =
      DiscoveryRow{plural,           type.singular,  type.kind, type.is_namespaced, {kObjectVerbs.begin(), kObjectVerbs.end()},
                   type.short_names, type.categories};
  if (!type.has_status) return;
  const std::string status = plural + "/status";
  rows[status] = DiscoveryRow{status, "", type.kind, type.is_namespaced, {kStatusVerbs.begin(), kStatusVerbs.end()}, {}, {}};
}

void add_scale(Rows& rows, const kube::ResourceType& type) {
  if (!type.scale) return;
  const std::string scale = type.resource.plural + "/scale";
  const kube::GroupVersionKind kind{"autoscaling", "v1", "Scale"};
  rows[scale] = DiscoveryRow{scale, "", kind, type.is_namespaced, {kStatusVerbs.begin(), kStatusVerbs.end()}, {}, {}};
}

void add_endpoint(Rows& rows, const server::Endpoint& endpoint) {
  const std::string& plural = endpoint.resource.plural;
  std::string name = endpoint.subresource.empty() ? plural : plural + "/" + endpoint.subresource;
  std::string singular = endpoint.subresource.empty() ? lower(endpoint.kind.kind) : "";
  rows[name] = DiscoveryRow{name, singular, endpoint.kind, endpoint.is_namespaced, sorted_verbs(endpoint.verbs), {}, {}};
}

/// A kind that functions answer has the verbs that have one.
void add_answered(Rows& rows, const server::Served& served) {
  const kube::ResourceType& type = served.type;
  for (const auto& [part, verbs] : served.answered_parts) {
    if (verbs.empty()) continue;
    const std::string name = part.empty() ? type.resource.plural : type.resource.plural + "/" + part;
    rows[name] =
        DiscoveryRow{name, part.empty() ? type.singular : "", type.kind, type.is_namespaced, sorted_verbs(verbs), {}, {}};
    if (!part.empty()) continue;
    rows[name].short_names = type.short_names;
    rows[name].categories = type.categories;
  }
}

Groups groups_of(const server::Registry& registry) {
  Groups groups;
  for (const server::TypePtr& type : registry.all()) {
    Rows& rows = groups[type->resource.group].versions[type->resource.version];
    if (const auto served = registry.served(type->resource); served && (*served)->answers) {
      add_answered(rows, **served);
      continue;
    }
    add_type(rows, *type);
    add_scale(rows, *type);
  }
  for (const server::Endpoint& endpoint : registry.endpoints()) {
    add_endpoint(groups[endpoint.resource.group].versions[endpoint.resource.version], endpoint);
  }
  return groups;
}

Value texts(const std::vector<std::string>& list) { return json::array(std::span<const std::string>(list)); }

Value legacy_row(const DiscoveryRow& row, const std::string& group, const std::string& version) {
  json::ObjectBuilder out;
  out.add("name", row.name).add("singularName", row.singular).add("namespaced", row.is_namespaced);
  if (row.kind.group != group || row.kind.version != version) {
    if (!row.kind.group.empty()) out.add("group", row.kind.group);
    out.add("version", row.kind.version);
  }
  out.add("kind", row.kind.kind).add("verbs", texts(row.verbs));
  if (!row.short_names.empty()) out.add("shortNames", texts(row.short_names));
  if (!row.categories.empty()) out.add("categories", texts(row.categories));
  return out.build();
}

Value kind_of(const kube::GroupVersionKind& kind) {
  return json::object({{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}});
}

Value aggregated_row(const DiscoveryRow& row) {
  json::ObjectBuilder out;
  out.add("resource", row.name).add("responseKind", kind_of(row.kind));
  out.add("scope", row.is_namespaced ? "Namespaced" : "Cluster").add("singularResource", row.singular);
  out.add("verbs", texts(row.verbs));
  if (!row.short_names.empty()) out.add("shortNames", texts(row.short_names));
  if (!row.categories.empty()) out.add("categories", texts(row.categories));
  return out.build();
}

/// A subresource that has no resource of its own (its resource is only answered) still needs one to hang on.
Value aggregated_version(const std::string& version, const Rows& rows) {
  std::map<std::string, std::pair<std::optional<Value>, json::ArrayBuilder>> resources;
  for (const auto& [name, row] : rows) {
    const auto slash = name.find('/');
    if (slash == std::string::npos) {
      resources[name].first = aggregated_row(row);
      continue;
    }
    resources[name.substr(0, slash)].second.add(json::object(
        {{"subresource", name.substr(slash + 1)}, {"responseKind", kind_of(row.kind)}, {"verbs", texts(row.verbs)}}));
  }
  json::ArrayBuilder out;
  for (auto& [name, parts] : resources) {
    auto& [resource, subresources] = parts;
    Value one = resource.value_or(
        json::object({{"resource", name}, {"scope", "Namespaced"}, {"singularResource", ""}, {"verbs", Value::empty_array()}}));
    if (!subresources.empty()) one = one.with("subresources", subresources.build());
    out.add(std::move(one));
  }
  return json::object({{"version", version}, {"resources", out.build()}, {"freshness", "Current"}});
}

Value group_object(const std::string& name, const Group& group) {
  json::ArrayBuilder versions;
  for (const auto& [version, rows] : group.versions) {
    versions.add(json::object({{"groupVersion", name + "/" + version}, {"version", version}}));
  }
  const Value list = versions.build();
  return json::object({{"name", name}, {"versions", list}, {"preferredVersion", list.item(0)}});
}

/// The version of apidiscovery.k8s.io that the client asks for first; empty: legacy.
Result<std::string> wanted_version(const http::Request& request) {
  const std::string_view accept = request.headers.get("Accept");
  if (accept.empty()) return std::string{};
  for (const MediaRange& range : parse_accept(accept)) {
    if (!range.matches("application", "json")) continue;
    if (range.parameter("as").empty()) return std::string{};
    const std::string_view version = range.parameter("v");
    if (range.parameter("g") == "apidiscovery.k8s.io" && range.parameter("as") == "APIGroupDiscoveryList" &&
        (version == "v2" || version == "v2beta1")) {
      return std::string(version);
    }
  }
  return fail(Reason::NotAcceptable, "only the following media types are accepted: application/json");
}

}  // namespace

Value api_versions(std::string_view server_address) {
  return json::object({{"kind", "APIVersions"},
                       {"versions", json::array({"v1"})},
                       {"serverAddressByClientCIDRs",
                        json::array({json::object({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}})})}});
}

Value api_groups(const server::Registry& registry) {
  json::ArrayBuilder out;
  for (const auto& [name, group] : groups_of(registry)) {
    if (!name.empty()) out.add(group_object(name, group));
  }
  return json::object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", out.build()}});
}

Value api_group(const server::Registry& registry, std::string_view name) {
  const Groups groups = groups_of(registry);
  const auto at = groups.find(std::string(name));
  if (at == groups.end() || name.empty()) return {};
  const Value group = group_object(at->first, at->second);
  return json::object({{"kind", "APIGroup"},
                       {"apiVersion", "v1"},
                       {"name", group["name"]},
                       {"versions", group["versions"]},
                       {"preferredVersion", group["preferredVersion"]}});
}

Value api_resources(const server::Registry& registry, std::string_view group, std::string_view version) {
  const Groups groups = groups_of(registry);
  const auto at = groups.find(std::string(group));
  if (at == groups.end()) return {};
  const auto rows = at->second.versions.find(std::string(version));
  if (rows == at->second.versions.end()) return {};
  json::ArrayBuilder out;
  for (const auto& [name, row] : rows->second) out.add(legacy_row(row, at->first, rows->first));
  return json::object({{"kind", "APIResourceList"},
                       {"apiVersion", "v1"},
                       {"groupVersion", group.empty() ? std::string(version) : fmt::format("{}/{}", group, version)},
                       {"resources", out.build()}});
}

Value aggregated(const server::Registry& registry, Half half, std::string_view api_version) {
  json::ArrayBuilder items;
  for (const auto& [name, group] : groups_of(registry)) {
    if (name.empty() != (half == Half::Core)) continue;
    json::ArrayBuilder versions;
    for (const auto& [version, rows] : group.versions) versions.add(aggregated_version(version, rows));
    json::ObjectBuilder meta;
    if (!name.empty()) meta.add("name", name);
    meta.add("creationTimestamp", Value());
    items.add(json::object({{"metadata", meta.build()}, {"versions", versions.build()}}));
  }
  return json::object({{"kind", "APIGroupDiscoveryList"},
                       {"apiVersion", fmt::format("apidiscovery.k8s.io/{}", api_version)},
                       {"metadata", Value::empty_object()},
                       {"items", items.build()}});
}

std::vector<std::string> group_versions(const server::Registry& registry) {
  std::vector<std::string> names;
  for (const auto& [group, versions] : groups_of(registry)) {
    for (const auto& [version, rows] : versions.versions) names.push_back(group.empty() ? version : group + "/" + version);
  }
  return names;
}

Result<http::Response> discovery_response(const server::Registry& registry, Half half, const http::Request& request,
                                          const net::Query& query, std::string_view server_address) {
  SLIPWAY_TRY(version, wanted_version(request));
  const Form form = plain_form(request.headers, query);
  if (version.empty()) {
    http::Response legacy = response_with(half == Half::Core ? api_versions(server_address) : api_groups(registry), form);
    legacy.headers.add("Vary", "Accept");
    return legacy;
  }
  http::Response response = response_with(aggregated(registry, half, version), form);
  const std::string etag = fmt::format("\"{}\"", sha512_hex(response.body));
  response.headers.set("Content-Type",
                       fmt::format("application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList", version));
  response.headers.add("ETag", etag);
  response.headers.add("Vary", "Accept");
  response.headers.add("Cache-Control", "public");
  if (request.headers.has_token("If-None-Match", etag)) {
    response.status = 304;
    response.body.clear();
  }
  return response;
}

}  // namespace slipway::serve
