// Reading and editing the parts that every object has (ObjectMeta). Objects are plain values; edits return new ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "json/value.h"
#include "kube/resource.h"

namespace slipway::kube {

using Object = json::Value;
/// One 64-bit counter per store: resourceVersion, watch cursor and age of a cache.
using Revision = std::int64_t;

/// Namespace and name; ns is empty for cluster-scoped objects.
struct ObjectKey {
  std::string ns;
  std::string name;

  auto operator<=>(const ObjectKey&) const = default;
  std::string to_string() const { return ns.empty() ? name : ns + "/" + name; }
};

inline std::string_view kind(const Object& o) { return o["kind"].as_string(); }
inline std::string_view name(const Object& o) { return o["metadata"]["name"].as_string(); }
inline std::string_view ns(const Object& o) { return o["metadata"]["namespace"].as_string(); }
inline std::string_view uid(const Object& o) { return o["metadata"]["uid"].as_string(); }
inline ObjectKey key_of(const Object& o) { return {std::string(ns(o)), std::string(name(o))}; }
inline std::int64_t generation(const Object& o) { return o["metadata"]["generation"].as_int(); }
/// 0 when absent or not a number.
Revision revision(const Object& o);
inline std::string_view label(const Object& o, std::string_view key) { return o["metadata"]["labels"][key].as_string(); }
inline std::string_view annotation(const Object& o, std::string_view key) {
  return o["metadata"]["annotations"][key].as_string();
}
inline bool is_deleting(const Object& o) { return o["metadata"].has("deletionTimestamp"); }
std::optional<Time> creation_time(const Object& o);
/// A metav1.Time or MicroTime field; nullopt when absent or malformed.
std::optional<Time> time_of(const json::Value& field);

bool has_finalizer(const Object& o, std::string_view finalizer);
Object with_finalizer(const Object& o, std::string_view finalizer);
Object without_finalizer(const Object& o, std::string_view finalizer);

/// The owner reference with controller: true, or null.
const json::Value& controller_of(const Object& o);
/// A controller owner reference to `owner`, with blockOwnerDeletion.
json::Value owner_reference(const Object& owner);
bool is_owned_by(const Object& o, std::string_view owner_uid);
/// Whether a reference {apiVersion, kind, …} names this kind of this group, in whatever version.
bool refers_to(const json::Value& reference, std::string_view group, std::string_view kind);

/// A condition by type out of status.conditions, or null.
const json::Value& condition(const Object& o, std::string_view type);
/// True when the condition's status is "True".
bool is_true(const Object& o, std::string_view type);
struct Condition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
};
/// status.conditions with `condition` set; lastTransitionTime moves only when the status changes, and lastProbeTime is written
/// only when `with_probe_time`. Nothing changes when type, status, reason and message are equal.
json::Value set_condition(const json::Value& conditions, const Condition& condition, Time now, bool with_probe_time = false);

/// A status without the conditions of that type, and without `conditions` if none is left.
json::Value without_condition(const json::Value& status, std::string_view type);

/// ObjectReference {apiVersion, kind, namespace, name, uid}.
json::Value reference_to(const Object& o);

/// Status (meta/v1) with status "Failure".
json::Value to_json(const Status& status);
Status status_from_json(const json::Value& value);
/// `Workflow.batch.slipway.dev "x" is invalid: spec.a: Required value` with its causes.
Status invalid(const GroupVersionKind& kind, std::string_view name, std::vector<Cause> causes);
/// `jobs.batch "x" not found` and its siblings, details filled.
Status not_found(const Resource& resource, std::string_view name);
Status already_exists(const Resource& resource, std::string_view name);
Status conflict(const Resource& resource, std::string_view name, std::string_view detail);

}  // namespace slipway::kube
