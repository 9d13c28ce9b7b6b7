#include "server/delete_options.h"

#include <algorithm>
#include <vector>

#include "json/text.h"

namespace slipway::server {

namespace {

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

using Propagation = DeleteOptions::Propagation;

std::unexpected<Status> invalid_options(Cause cause) {
  return fail(kube::invalid({"meta.k8s.io", "", "DeleteOptions"}, "", {std::move(cause)}));
}

Result<Propagation> propagation_of(const json::Value& body) {
  const json::Value& policy = body["propagationPolicy"];
  const json::Value& orphans = body["orphanDependents"];
  if (policy.is_null()) {
    if (!orphans.is_bool()) return Propagation::Unsaid;
    return orphans.as_bool() ? Propagation::Orphan : Propagation::Background;
  }
  if (!orphans.is_null()) {
    return invalid_options(field::invalid("propagationPolicy", json::print(policy),
                                          "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (policy.as_string() == "Background") return Propagation::Background;
  if (policy.as_string() == "Foreground") return Propagation::Foreground;
  if (policy.as_string() == "Orphan") return Propagation::Orphan;
  return invalid_options(
      field::not_supported("propagationPolicy", json::print(policy), {"Background", "Foreground", "Orphan", "nil"}));
}

bool has(const kube::Object& object, std::string_view finalizer) { return kube::has_finalizer(object, finalizer); }

}  // namespace

Result<DeleteOptions> DeleteOptions::of(const json::Value& body) {
  DeleteOptions options;
  if (body.is_null()) return options;
  if (!body.is_object()) return fail(Reason::BadRequest, "the body of a delete is no DeleteOptions object");
  const std::string_view kind = body["kind"].as_string();
  if (!kind.empty() && kind != "DeleteOptions") {
    return fail(Reason::BadRequest, "the body of a delete is a " + std::string(kind) + ", not DeleteOptions");
  }
  SLIPWAY_TRY(propagation, propagation_of(body));
  options.propagation = propagation;
  if (const json::Value& grace = body["gracePeriodSeconds"]; !grace.is_null()) {
    if (!grace.is_number()) {
      return invalid_options(field::type_invalid("gracePeriodSeconds", json::print(grace), "must be an integer"));
    }
    options.grace_seconds = grace.as_int();
  }
  options.uid = body["preconditions"]["uid"].str();
  options.resource_version = body["preconditions"]["resourceVersion"].str();
  return options;
}

json::Value finalizers_for_delete(const kube::Object& object, const DeleteOptions& options, bool orphans_by_default) {
  const json::Value& old = object["metadata"]["finalizers"];
  const bool says_nothing = options.propagation == Propagation::Unsaid;
  const bool was_orphan = has(object, kOrphan);
  const bool was_foreground = has(object, kForeground);
  const bool orphans =
      says_nothing ? was_orphan || (!was_foreground && orphans_by_default) : options.propagation == Propagation::Orphan;
  const bool is_foreground = says_nothing ? was_foreground && !was_orphan : options.propagation == Propagation::Foreground;
  if (orphans == was_orphan && is_foreground == was_foreground) return old;
  json::ArrayBuilder finalizers;
  for (const json::Value& finalizer : old.items()) {
    if (finalizer.as_string() != kOrphan && finalizer.as_string() != kForeground) finalizers.add(finalizer);
  }
  if (orphans) finalizers.add(kOrphan);
  if (is_foreground) finalizers.add(kForeground);
  return finalizers.build();
}

}  // namespace slipway::server
