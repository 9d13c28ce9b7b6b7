// PATCH: JSON patch, merge patch, strategic merge patch and server-side apply. A patch is computed on head state and replaced
// there in one go, so it never conflicts with other writers unless it carries a resourceVersion of its own.
#include "json/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/schema.h"
#include "kube/strategic_merge.h"
#include "server/planner.h"

namespace slipway::server {

namespace {

/// What custom resources take: there are no merge keys in their schemas.
constexpr std::string_view kMediaTypes =
    "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";

}  // namespace

Result<Plan> Planner::patch() {
  if (request_.patch_type == client::PatchType::Apply) return apply();
  const auto found = find(request_.ns, request_.name);
  if (!found) return fail(kube::not_found(served_.type.resource, request_.name));
  SLIPWAY_TRY(body, patched(found->object));
  SLIPWAY_TRY_VOID(check_identity(body));
  return replace(*found, std::move(body), Tracking::Update);
}

Result<Value> Planner::patched(const Value& live) const {
  switch (request_.patch_type) {
    case client::PatchType::Json:
      return json::apply_json_patch(live, request_.body);
    case client::PatchType::Merge:
      if (!request_.body.is_object()) return fail(Reason::BadRequest, "a merge patch must be an object");
      return json::apply_merge_patch(live, request_.body);
    case client::PatchType::StrategicMerge:
      if (served_.type.is_custom) {
        return fail(
            Reason::UnsupportedMediaType,
            fmt::format("the body of the request was in an unknown format - accepted media types include: {}", kMediaTypes));
      }
      return kube::apply_strategic_merge(served_.type.schema == nullptr ? nullptr : &served_.type.schema->root(), live,
                                         request_.body);
    case client::PatchType::Apply:
      break;
  }
  return fail(Reason::InternalError, "an apply patch has no patched form");
}

Result<Plan> Planner::apply() {
  SLIPWAY_TRY(config, apply_config());
  config = with_canonical_scalars(config);
  const auto found = find(request_.ns, request_.name);
  if (!found && !request_.subresource.empty()) return fail(kube::not_found(served_.type.resource, request_.name));
  if (!found && !kube::uid(config).empty()) {
    return fail(
        kube::conflict(served_.type.resource, request_.name,
                       fmt::format("uid mismatch: the provided object specified uid {}, and no existing object was found",
                                   kube::uid(config))));
  }
  const Value live = found ? found->object : Value();
  SLIPWAY_TRY(object, kube::apply(served_.type, live, config, writer(), request_.force, now_));
  if (!found && request_.user != nullptr) {  // who may patch may not yet create
    Attributes creation = Attributes::of(request_);
    creation.verb = "create";
    SLIPWAY_TRY_VOID(context_.access.authorizer.check(*request_.user, creation));
  }
  object = kube::settled_apply(live, decode_applied(object, live));
  if (!found) return create_decoded(std::move(object), Tracking::Done);
  return replace(*found, std::move(object), Tracking::Done);
}

/// The configuration with its times and quantities as they are stored, so that the same amount in other words is no conflict
/// (DIVERGES: upstream compares the texts). Its zero values stay: the applier owns them, though they are not stored. One with
/// unknown fields is left to be refused.
Value Planner::with_canonical_scalars(const Value& config) const {
  if (served_.type.schema == nullptr) return config;
  std::vector<std::string> dropped;
  Value written = served_.type.schema->prune(config, &dropped, kube::Zeros::Kept);
  return dropped.empty() ? written : config;
}

/// The applied configuration, cut down to what this endpoint writes.
Result<Value> Planner::apply_config() const {
  Value config = request_.body;
  SLIPWAY_TRY_VOID(check_identity(config));
  const std::string_view name = kube::name(config);
  if (!name.empty() && name != request_.name) {
    return fail(Reason::BadRequest,
                fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, request_.name));
  }
  config = config.with_path({"metadata", "name"}, request_.name);
  if (served_.type.is_namespaced) config = config.with_path({"metadata", "namespace"}, request_.ns);
  if (request_.subresource.empty()) return served_.type.has_status ? config.without("status") : config;
  if (request_.subresource != "status") {
    return fail(Reason::NotImplemented, fmt::format("apply through {} is not implemented", request_.subresource));
  }
  json::ObjectBuilder cut;
  json::ObjectBuilder meta;
  for (const auto [key, value] : config["metadata"].members()) {
    static constexpr std::array<std::string_view, 5> kAlways{"name", "namespace", "uid", "resourceVersion", "managedFields"};
    const bool is_writable = !served_.type.is_custom && key != served_.strategy->status_keeps;
    if (is_writable || std::ranges::find(kAlways, key) != kAlways.end()) meta.set(key, value);
  }
  cut.set("apiVersion", config["apiVersion"]).set("kind", config["kind"]).set("metadata", meta.build());
  if (config.has("status")) cut.set("status", config["status"]);
  return cut.build();
}

}  // namespace slipway::server
