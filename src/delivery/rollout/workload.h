// What a rollout needs to know of a kind of workload: where its size, its partition, its pause and its template are, and how
// its pods that are new and ready are counted. One row per kind (workload_rows.cc); users add rows for kinds of theirs by
// ConfigMap. Reading is pure: object and pods in, SetView out; edits are server-side apply patches of the few fields that the
// row names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/rollout/spec.h"
#include "delivery/wave/roll.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

struct WorkloadRow {
  kube::GroupVersionKind kind;
  /// How it takes a new version where the rollout has sources that are other objects, and where it has none.
  wave::Shape with_sources = wave::Shape::Pair;
  wave::Shape alone = wave::Shape::Scale;
  std::string size = "spec.replicas";
  std::string partition{};  // pods that stay old; empty: none
  std::string pause{};      // a bool; empty: none
  std::string template_path = "spec.template";
  std::string selector = "spec.selector";
  /// Numeric fields that go from their old to their new value (HPA, fields by path).
  std::vector<std::string> fields{};
};

/// The annotation that stands beside a size of ours: "STAMP:SIZE" (wave::SetView::stamp and stamped).
inline constexpr std::string_view kStampAnnotation = "rollout.slipway.dev/size";
inline constexpr std::string_view kFieldManager = "slipway-rollout";

/// Null when there is no row for the kind.
const WorkloadRow* find_row(const std::vector<WorkloadRow>& rows, const kube::GroupVersionKind& kind);
const std::vector<WorkloadRow>& workload_rows();

}  // namespace slipway::delivery::rollout
