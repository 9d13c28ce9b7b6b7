// Who delivers the objects of an application's component, and how that passes from one deliverer to another. The families that
// deliver (the application itself, rollouts over its revisions) never call each other; they share the records defined here:
//
// - A rollout records what it makes of a revision in a ResourceTracker of the application before it makes it. The tracker's
//   annotation kHolder names the rollout. While that rollout delivers the component, the application neither deletes nor
//   repairs the objects in the tracker. Once something else delivers it, the tracker is an outdated one of the application, and
//   its objects are kept or deleted with those of the others.
// - A workload whose pods a rollout has replaced carries kReplacedBy: the application leaves it without pods, until a run of
//   its workflow delivers the component again.
// - Before another deliverer begins, it asks the rollout that works on the component to yield (kYieldRequest), and waits: the
//   rollout releases its workloads as they stand and ends.
// - An object that passes to another deliverer keeps its fields, and the new deliverer owns them (handed_over_fields): its next
//   apply removes those that it no longer wants.
//
// Each of these is one write of one object, so a crash leaves the state before or the state after. Pure, but for record_held().
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "kube/object.h"

namespace slipway::delivery {

/// Annotation of a ResourceTracker: the rollout that writes it, as holder_name() returns it.
inline constexpr const char* kHolder = "slipway.dev/holder";
/// Annotation of the record of a revision (its rendered ConfigMap, its ControllerRevision), set by the application's
/// controller: the kind of the objects in which a rollout records what it makes of the revision, "GROUP/VERSION/KIND".
inline constexpr const char* kHoldingsKind = "slipway.dev/holdings-kind";
/// Annotation of a workload: the rollout that has replaced its pods, as holder_name() returns it. Empty or absent: none has.
inline constexpr const char* kReplacedBy = "slipway.dev/replaced-by";
/// Annotation of a rollout, a request: release all workloads as they stand, and end. The value is yield_request(); a request is
/// carried out once.
inline constexpr const char* kYieldRequest = "rollout.slipway.dev/yield";
/// Annotation of a rollout, a request: begin a new attempt at the target of the one that has ended. An id is carried out once.
inline constexpr const char* kRetryRequest = "rollout.slipway.dev/retry";
/// Annotation of a rollout, a request: apply the other objects of its revision (Services, autoscalers) again once it has
/// succeeded, also if nothing is left to roll out. The value is an id; completion_of() is recorded when it is done.
inline constexpr const char* kRestoreRequest = "rollout.slipway.dev/restore";
/// Annotation of workloads that rollouts have made, and of their entries in trackers: the revision of their template.
inline constexpr const char* kRevisionAnnotation = "rollout.slipway.dev/revision";
/// Label of such workloads and of their pods: the name of the workload.
inline constexpr const char* kRevisionLabel = "app.oam.dev/revision";

/// Returns "core.oam.dev/v1beta1/AppRollout/a-web", also for a reference with apiVersion, kind and name.
std::string holder_name(const kube::Object& rollout);
/// Returns "AppRollout/a-web", for messages.
std::string_view holder_text(std::string_view holder);
/// The kind and name in a holder_name(); read_holder() returns nullopt for any other text.
struct Holder {
  kube::GroupVersionKind kind;
  std::string name;
};
std::optional<Holder> read_holder(std::string_view text);
/// "GROUP/VERSION/KIND", as kHoldingsKind has it, and back; nullopt when it is not of that form.
std::string kind_text(const kube::GroupVersionKind& kind);
std::optional<kube::GroupVersionKind> read_kind(std::string_view text);
/// Whether an object, with its spec, is a rollout over revisions, which holds what it makes.
bool is_holder(const kube::Object& object);
/// The component that a rollout over revisions rolls out; empty: the only one of its revision.
std::string component_of_holder(const kube::Object& rollout);

/// Returns what status.completedRevision of the rollout is when the objects beside the workload of `revision` are in force:
/// "a-v2", with a request to restore them "a-v2@REQUEST".
std::string completion_of(const kube::Object& rollout, std::string_view revision);

/// "web-v2" for component web of revision a-v2 of application a.
std::string revision_workload_name(std::string_view component, std::string_view application, std::string_view revision);
/// The workload under a name of its revision's own: it selects its own pods, so that those of several revisions stand beside
/// each other.
json::Value under_revision_name(json::Value workload, const std::string& name, const std::string& revision);
/// An object beside the workload, such as an autoscaler, which follows the workload's name from `old_name` to `name`.
json::Value following_workload(json::Value object, const json::Value& workload, std::string_view old_name,
                               const std::string& name);

/// The request of revision `by` to a rollout in its attempt of that number: "a-v3@2".
std::string yield_request(std::string_view by, std::int64_t attempt);
/// True if the rollout is asked to end that attempt.
bool is_asked_to_yield(const kube::Object& rollout, std::int64_t attempt);

/// Returns the object's managedFields with all fields that the manager `from` has applied moved to `to`; nullopt when it has
/// applied none. Fields that `from` wrote by other operations (sizes) remain its own.
std::optional<json::Value> handed_over_fields(const kube::Object& live, std::string_view from, std::string_view to);

/// The objects that a rollout is about to make.
struct Holdings {
  kube::Object rollout;
  std::string application;      // its name; it lives in the rollout's namespace
  std::string application_uid;  // empty: unknown
  std::string component;
  std::string revision;
  std::vector<kube::Object> objects;  // with apiVersion, kind, metadata.name
  kube::GroupVersionKind kind;        // of the tracker, and its resource
  kube::Resource resource;
};
/// Adds the objects to the tracker of the rollout. Errors: those of reading and writing it; Conflict when another writer
/// has changed it meanwhile.
Task<Result<void>> record_held(client::Client& client, Holdings holding, std::string manager);

}  // namespace slipway::delivery
