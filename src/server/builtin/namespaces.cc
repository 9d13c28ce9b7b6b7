// Namespace: held by spec.finalizers until its content is gone; a controller empties it and then removes "kubernetes" through
// the finalize subresource.
#include <fmt/format.h>

#include <array>

#include "server/builtin/strategy.h"

namespace slipway::server {

namespace namespace_rules {
namespace {

using json::Value;
using kube::Object;

Object prepare_create(const Object& object, const Surroundings&) {
  const Value& finalizers = object["spec"]["finalizers"];
  bool has_own = false;
  for (const Value& one : finalizers.items()) has_own |= one.as_string() == "kubernetes";
  const Object next = has_own ? object : object.with_path({"spec", "finalizers"}, finalizers.appended("kubernetes"));
  const Object labelled = next.with_path({"metadata", "labels", "kubernetes.io/metadata.name"}, kube::name(next));
  return labelled.with("status", json::object({{"phase", "Active"}}));
}

Object prepare_update(const Object& object, const Object& old, const Surroundings&) {
  const Object next =
      old["spec"].has("finalizers") ? object.with_path({"spec", "finalizers"}, old["spec"]["finalizers"]) : object;
  return next.with_path({"metadata", "labels", "kubernetes.io/metadata.name"}, kube::name(old));
}

Object prepare_finalize(const Object& object, const Object& old) {
  if (object["spec"]["finalizers"].empty()) return old.without_path({"spec", "finalizers"});
  return old.with_path({"spec", "finalizers"}, object["spec"]["finalizers"]);
}

Object begin_delete(const Object& object, const Surroundings&) { return object.with_path({"status", "phase"}, "Terminating"); }

bool is_held(const Object& object) { return !object["spec"]["finalizers"].empty(); }

Result<void> check_delete(const Object& object) {
  const std::string_view name = kube::name(object);
  if (name != "default" && name != "kube-system" && name != "kube-public") return {};
  Status status;
  status.reason = Reason::Forbidden;
  status.message = fmt::format("namespaces \"{}\" is forbidden: this namespace may not be deleted", name);
  status.name = std::string(name);
  status.kind = "namespaces";
  return fail(std::move(status));
}

}  // namespace
}  // namespace namespace_rules

std::span<const Strategy> namespace_strategies() {
  static constexpr std::array kRows{Strategy{.group = "",
                                             .kind = "Namespace",
                                             .name_rule = NameRule::Label,
                                             .subresource = "finalize",
                                             .prepare_create = namespace_rules::prepare_create,
                                             .prepare_update = namespace_rules::prepare_update,
                                             .prepare_subresource = namespace_rules::prepare_finalize,
                                             .check_delete = namespace_rules::check_delete,
                                             .begin_delete = namespace_rules::begin_delete,
                                             .is_held = namespace_rules::is_held}};
  return kRows;
}

}  // namespace slipway::server
