#include "cluster/scale_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/builtin.h"

namespace slipway::cluster {

namespace {

using json::Value;

std::optional<ScaleTarget> custom_target(const kube::GroupVersionKind& kind, const kube::Object& definition) {
  const Value& spec = definition["spec"];
  if (spec["group"].as_string() != kind.group || spec["names"]["kind"].as_string() != kind.kind) return std::nullopt;
  for (const Value& version : spec["versions"].items()) {
    if (version["name"].as_string() != kind.version || !version["served"].as_bool()) continue;
    return ScaleTarget{{kind.group, kind.version, spec["names"]["plural"].str()}, version["subresources"].has("scale")};
  }
  return std::nullopt;
}

client::Request scale_request(client::Verb verb, kube::Resource resource, kube::ObjectKey key) {
  client::Request request;
  request.verb = verb;
  request.resource = std::move(resource);
  request.ns = std::move(key.ns);
  request.name = std::move(key.name);
  request.subresource = "scale";
  return request;
}

}  // namespace

Result<ScaleTarget> find_scale_target(const kube::GroupVersionKind& kind, const client::Informer& definitions) {
  const auto found = std::ranges::find(kube::builtin_types(), kind, &kube::ResourceType::kind);
  if (found != kube::builtin_types().end()) return ScaleTarget{found->resource, found->scale.has_value()};
  for (const auto& [key, definition] : definitions.objects()) {
    if (auto target = custom_target(kind, definition)) return *target;
  }
  return fail(Reason::NotFound, fmt::format("no matches for kind \"{}\" in version \"{}\"", kind.kind, kind.api_version()));
}

Task<Result<json::Value>> read_scale(client::Client& client, kube::Resource resource, kube::ObjectKey key) {
  SLIPWAY_CO_TRY(reply, co_await client.call(scale_request(client::Verb::Get, std::move(resource), std::move(key))));
  co_return reply.object;
}

Task<Result<void>> write_scale(client::Client& client, kube::Resource resource, json::Value scale, std::int64_t replicas,
                               std::string manager) {
  client::Request request = scale_request(client::Verb::Update, std::move(resource), kube::key_of(scale));
  request.body = scale.with_path({"spec", "replicas"}, replicas);
  request.field_manager = std::move(manager);
  SLIPWAY_CO_TRY_VOID(co_await client.call(std::move(request)));
  co_return Result<void>{};
}

}  // namespace slipway::cluster
