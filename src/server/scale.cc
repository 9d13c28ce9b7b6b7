#include "server/scale.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "json/text.h"
#include "kube/builtin.h"
#include "kube/schema_node.h"
#include "kube/selector.h"
#include "kube/strategic_merge.h"
#include "server/planner.h"

namespace slipway::server {

namespace {

constexpr std::string_view kBuiltinSelector = "@selector";  // made of spec.selector

/// ".spec.replicas" as its members; the paths of a scale know no brackets.
std::vector<std::string_view> members_of(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    if (path.front() == '.') path.remove_prefix(1);
    const std::size_t dot = path.find('.');
    out.push_back(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot);
  }
  return out;
}

const Value& at(const Value& object, std::string_view path) {
  const Value* value = &object;
  for (const std::string_view member : members_of(path)) value = &(*value)[member];
  return *value;
}

std::string selector_of(const kube::ResourceType& type, const Value& object) {
  if (type.scale->label_selector != kBuiltinSelector) return at(object, type.scale->label_selector).str();
  const Value& selector = object["spec"]["selector"];
  const bool is_plain = type.kind.kind == "ReplicationController";
  const auto parsed = kube::LabelSelector::from_object(is_plain ? json::object({{"matchLabels", selector}}) : selector);
  return parsed ? parsed->to_string() : "";
}

}  // namespace

Value scale_of(const kube::ResourceType& type, const kube::Object& object) {
  json::ObjectBuilder meta;
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (object["metadata"].has(key)) meta.add(key, object["metadata"][key]);
  }
  json::ObjectBuilder status;
  status.add("replicas", at(object, type.scale->status_replicas).as_int());
  if (!type.scale->label_selector.empty()) {
    if (const std::string selector = selector_of(type, object); !selector.empty()) status.add("selector", selector);
  }
  return json::object({{"kind", "Scale"},
                       {"apiVersion", "autoscaling/v1"},
                       {"metadata", meta.build()},
                       {"spec", json::object({{"replicas", at(object, type.scale->spec_replicas).as_int()}})},
                       {"status", status.build()}});
}

Result<kube::Object> with_scale(const kube::ResourceType& type, const kube::Object& object, const Value& scale) {
  const std::string kind = scale["kind"].str();
  const std::string version = scale["apiVersion"].str();
  if (kind != "Scale" || version != "autoscaling/v1") {
    return fail(Reason::BadRequest,
                fmt::format("expected an autoscaling/v1 Scale, got {} {}: the body of this endpoint is of another kind than "
                            "{}",
                            version, kind, type.kind.kind));
  }
  const Value& replicas = scale["spec"]["replicas"];
  std::vector<Cause> causes;
  if (!replicas.is_null() && !replicas.is_number()) {
    causes.push_back(field::type_invalid("spec.replicas", json::print(replicas), "must be an integer"));
  } else if (replicas.as_int() < 0) {
    causes.push_back(field::invalid("spec.replicas", json::print(replicas), "must be greater than or equal to 0"));
  }
  if (!causes.empty()) {
    return fail(kube::invalid({"autoscaling", "v1", "Scale"}, kube::name(object), std::move(causes)));
  }
  if (at(object, type.scale->spec_replicas).as_int(-1) == replicas.as_int()) return object;
  return object.with_path(std::span<const std::string_view>(members_of(type.scale->spec_replicas)), replicas.as_int());
}

Result<Plan> Planner::scale() {
  const auto found = find(request_.ns, request_.name);
  if (!found) return fail(kube::not_found(served_.type.resource, request_.name));
  Value wanted = request_.body;
  if (request_.verb == client::Verb::Patch) {
    if (request_.patch_type == client::PatchType::Apply) {
      return fail(Reason::NotImplemented, "apply through scale is not implemented");
    }
    const Value live = scale_of(served_.type, found->object);
    if (request_.patch_type == client::PatchType::StrategicMerge) {
      SLIPWAY_TRY(merged, kube::apply_strategic_merge(kube::builtin_node("autoscaling.v1.Scale"), live, request_.body));
      wanted = std::move(merged);
    } else {
      SLIPWAY_TRY(body, patched(live));
      wanted = std::move(body);
    }
  }
  const Value& old = found->object;
  // A Scale without a resourceVersion is taken also for kinds that ask for one.
  if (!wanted["metadata"]["resourceVersion"].as_string().empty() || !kube::uid(wanted).empty()) {
    const Value& given = wanted["metadata"]["resourceVersion"];
    const bool has_version = !given.as_string().empty();
    const Value& version = has_version ? given : old["metadata"]["resourceVersion"];
    SLIPWAY_TRY_VOID(check_preconditions(wanted.with_path({"metadata", "resourceVersion"}, version), old));
  }
  SLIPWAY_TRY(scaled, with_scale(served_.type, old, wanted));
  Value object = kube::track_update(served_.type, old, scaled, writer(), now_);
  object = bump_generation(object, old);
  Plan plan;
  if (object == old) {
    plan.reply = scale_of(served_.type, old);
    return plan;
  }
  SLIPWAY_TRY_VOID(validate(object, old));
  SLIPWAY_TRY(written, write_over(*found, std::move(object)));
  plan = std::move(written);
  plan.reply = scale_of(served_.type, plan.reply);
  return plan;
}

}  // namespace slipway::server
