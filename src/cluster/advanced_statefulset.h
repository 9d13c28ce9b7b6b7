// OpenKruise's StatefulSet (apps.kruise.io/v1beta1), "Advanced StatefulSet": one of apps/v1 whose rolling update may be paused,
// may take several pods at a time (under Parallel), and may exchange images in place. It is kept by the controller of
// StatefulSets (statefulset.h); here is what it says beyond them. Names and meaning of the fields are upstream's
// (apis/apps/v1beta1/statefulset_types.go of openkruise/kruise), the words our own.
#pragma once

#include <cstdint>

#include "kube/admission.h"
#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::cluster {

inline const kube::GroupVersionKind kAdvancedStatefulSetKind{"apps.kruise.io", "v1beta1", "StatefulSet"};
inline const kube::Resource kAdvancedStatefulSets{"apps.kruise.io", "v1beta1", "statefulsets"};

enum class UpdateType : std::uint8_t;

/// spec.updateStrategy.rollingUpdate, as far as apps/v1 has it not.
struct AdvancedRollout {
  explicit AdvancedRollout(const kube::Object& set);

  bool is_paused = false;
  std::int64_t max_unavailable = 1;  // at least 1; a percentage is rounded down; 1 unless Parallel
  UpdateType policy;                 // podUpdatePolicy
};

/// The CustomResourceDefinition, to be applied.
json::Value advanced_statefulset_definition();
/// Judges a set as the StatefulSet that it also is, and refuses fields that nothing here acts upon.
kube::AdmissionRow advanced_statefulset_admission();

}  // namespace slipway::cluster
