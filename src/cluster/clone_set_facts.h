// OpenKruise's CloneSet (apps.kruise.io/v1alpha1) as this cluster knows it: a set of pods like a ReplicaSet's whose template
// may change, in place where only images do. Here are its fields, its definition, and the arithmetic of its shares; what to do
// is decided by clone_set_plan.h. The words for people are our own, names and meaning of the fields are upstream's
// (apis/apps/v1alpha1/cloneset_types.go, pkg/util/tools.go of openkruise/kruise).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/codec.h"
#include "kube/admission.h"
#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::cluster {

inline constexpr const char* kKruiseGroup = "apps.kruise.io";
inline const kube::GroupVersionKind kCloneSetKind{kKruiseGroup, "v1alpha1", "CloneSet"};
inline const kube::Resource kCloneSets{kKruiseGroup, "v1alpha1", "clonesets"};

/// Label of pods: the last five characters of the name.
inline constexpr std::string_view kInstanceId = "apps.kruise.io/cloneset-instance-id";
/// Label "true": the pod is to be replaced, within the bounds of maxUnavailable and maxSurge.
inline constexpr std::string_view kSpecifiedDelete = "apps.kruise.io/specified-delete";
/// Label of a set: pods that prepare to be deleted do not count as its replicas.
inline constexpr std::string_view kExcludePreparingDelete = "apps.kruise.io/cloneset-scaling-exclude-preparing-delete";

enum class UpdateType : std::uint8_t { ReCreate, InPlaceIfPossible, InPlaceOnly };
inline auto describe_enum(UpdateType) {
  return json::enum_names<UpdateType>({{UpdateType::ReCreate, "ReCreate"},
                                       {UpdateType::InPlaceIfPossible, "InPlaceIfPossible"},
                                       {UpdateType::InPlaceOnly, "InPlaceOnly"}});
}

struct CloneSetScale {
  std::vector<std::string> pods_to_delete;
  json::Value max_unavailable;  // null: no bound
  static void describe(auto& d) {
    d.doc("How the set grows and shrinks.");
    d.ignore_unknown();
    d.field("podsToDelete", &CloneSetScale::pods_to_delete,
            "Names of pods that go first. Names that no pod has are passed over; the list is never written to.");
    d.field("maxUnavailable", &CloneSetScale::max_unavailable,
            "While this many pods (a number or a percentage) are not available, a set that grows makes no further ones.")
        .int_or_string();
  }
};

struct CloneSetUpdate {
  UpdateType type = UpdateType::ReCreate;
  json::Value partition;        // null: 0
  json::Value max_unavailable;  // null: 20 %
  json::Value max_surge;        // null: 0
  bool paused = false;
  static void describe(auto& d) {
    d.doc("How pods of an old template become pods of the new one.");
    d.ignore_unknown();
    d.field("type", &CloneSetUpdate::type,
            "Whether pods are replaced, or keep running while the images that changed are exchanged (with labels and "
            "annotations); InPlaceIfPossible replaces a pod when anything else has changed, InPlaceOnly waits.")
        .with_default();
    d.field("partition", &CloneSetUpdate::partition,
            "Pods that stay on, or go back to, the current revision: a number, or a percentage, which may have a fraction and "
            "is rounded up; less than 100 % updates at least one pod.")
        .int_or_string();
    d.field("maxUnavailable", &CloneSetUpdate::max_unavailable,
            "Pods that may be unavailable meanwhile, 20 % by default; rounded up, or down when maxSurge is above 0.")
        .int_or_string();
    d.field("maxSurge", &CloneSetUpdate::max_surge, "Pods above replicas meanwhile, 0 by default; rounded up.").int_or_string();
    d.field("paused", &CloneSetUpdate::paused, "No pod is updated. The set still grows and shrinks.");
  }
};

struct CloneSetSpec {
  std::int64_t replicas = 1;
  json::Value selector;
  json::Value pod_template;
  CloneSetScale scale;
  CloneSetUpdate update;
  std::int64_t revision_history_limit = 10;
  std::int64_t min_ready_seconds = 0;
  static void describe(auto& d) {
    d.doc("What the set is to be.");
    d.ignore_unknown();
    d.field("replicas", &CloneSetSpec::replicas, "How many pods there are to be.").minimum(0).with_default();
    d.field("selector", &CloneSetSpec::selector, "Selects the pods of the set; it matches the labels of the template.")
        .required()
        .any_object();
    d.field("template", &CloneSetSpec::pod_template, "A PodTemplateSpec: what the pods are made from.").required().any_object();
    d.field("scaleStrategy", &CloneSetSpec::scale, "How the set grows and shrinks.");
    d.field("updateStrategy", &CloneSetSpec::update, "How pods of an old template become pods of the new one.");
    d.field("revisionHistoryLimit", &CloneSetSpec::revision_history_limit,
            "Old revisions that are kept though no pod has them.")
        .minimum(0)
        .with_default();
    d.field("minReadySeconds", &CloneSetSpec::min_ready_seconds, "How long a pod is ready before it counts as available.")
        .minimum(0);
  }
};

/// Where the subresource scale of OpenKruise's kinds finds its numbers.
inline const kube::ScalePaths kSetScale{
    .spec_replicas = ".spec.replicas", .status_replicas = ".status.replicas", .label_selector = ".status.labelSelector"};
/// The CustomResourceDefinition, to be applied.
json::Value clone_set_definition();
/// Refuses what the schema cannot: faults of selector and template, shares that are none, bounds that let nothing happen, and
/// fields that nothing here acts upon.
kube::AdmissionRow clone_set_admission();

enum class Rounding : std::uint8_t { Down, Up };
/// IntOrString against a total: 3, "25%", "0.5%". nullopt for what is neither, null included.
std::optional<std::int64_t> scaled_share(const json::Value& share, std::int64_t total, Rounding rounding);
/// The pods that stay on the old revision; in [0, replicas]. Null is 0. nullopt for what is no share.
std::optional<std::int64_t> partition_of(const json::Value& partition, std::int64_t replicas);

/// The numbers of a spec.
struct CloneSetBounds {
  std::int64_t replicas = 1;
  std::int64_t partition = 0;
  std::int64_t max_unavailable = 0;
  std::int64_t max_surge = 0;              // 0 while the update is paused
  std::int64_t scale_max_unavailable = 0;  // as large as it gets when there is none
  bool excludes_preparing_delete = false;
};
/// Shares that are none count as absent, as upstream has it.
CloneSetBounds bounds_of(const kube::Object& set, const CloneSetSpec& spec);

}  // namespace slipway::cluster
