// Updating a pod in place: its images are exchanged while the pod stays, with its name, address and volumes. OpenKruise's
// protocol (pkg/util/inplaceupdate): the pod has the readiness gate InPlaceUpdateReady, whose condition is False from before
// the images are written until every container runs its image; meanwhile the label of its life cycle says "Updating", and an
// annotation tells the images that ran before. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/object.h"

namespace slipway::cluster {

/// Readiness gate and condition.
inline constexpr const char* kInPlaceReady = "InPlaceUpdateReady";
/// Annotation, JSON: {revision, updateTimestamp, lastContainerStatuses: {name: {imageID}}}.
inline constexpr std::string_view kInPlaceState = "apps.kruise.io/inplace-update-state";
/// Label: "Normal", "Updating", "PreparingDelete", …; absent counts as Normal.
inline constexpr std::string_view kLifecycle = "lifecycle.apps.kruise.io/state";
inline constexpr const char* kNormal = "Normal";
inline constexpr const char* kUpdating = "Updating";
inline constexpr const char* kPreparingDelete = "PreparingDelete";

/// A pod to be made, with the gate and its life cycle Normal.
kube::Object with_in_place_gate(const kube::Object& pod);

/// The pod with images, labels and annotations of `next` instead of those of `before`, and its revision label set. What others
/// have added stays. nullopt when the templates differ in anything else.
std::optional<kube::Object> updated_in_place(const kube::Object& pod, const json::Value& before, const json::Value& next,
                                             const std::string& revision, Time now);
/// Whether containers must restart for `updated`, so that the gate is to be closed first.
bool has_other_images(const kube::Object& pod, const kube::Object& updated);

/// Whether its life cycle is Normal, it is Ready, and its gate, if it has one, is open. Ready alone follows the gate late.
bool is_ready_in_place(const kube::Object& pod);

/// A pod as it is, and as it is to be written.
struct PodChange {
  kube::Object pod;
  kube::Object next;
};

/// What there is to write for a pod whose update in place is over, or that has just been made.
struct InPlaceEnd {
  bool opens_gate = false;  // condition InPlaceUpdateReady: True
  bool is_normal = false;   // the label of the life cycle: Normal
};
/// nullopt while an update is under way, and when nothing is left to write.
std::optional<InPlaceEnd> in_place_end(const kube::Object& pod);
/// status.conditions with the gate opened or closed.
json::Value with_gate(const kube::Object& pod, bool is_open, Time now);

}  // namespace slipway::cluster
