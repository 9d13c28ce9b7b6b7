// What a rollout needs to know of a kind of workload: where its size, its partition, its pause and its template are, and how
// its pods that are new and ready are counted. One row per kind (workload_rows.cc); users add rows for kinds of theirs by
// ConfigMap. Reading is pure: object and pods in, SetView out; edits are JSON patches of the few fields that the row names,
// which test the object's uid and resourceVersion.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/family/managers.h"
#include "delivery/rollout/spec.h"
#include "delivery/wave/roll.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

/// How one knows which pods of a workload are new.
enum class RevisionBy : std::uint8_t {
  ReplicaSet,          // pods belong to the newest of its ReplicaSets
  UpdateRevision,      // status.updateRevision is the pods' label controller-revision-hash
  ControllerRevision,  // the newest ControllerRevision has the label that its pods have
  Nothing,             // every pod counts
};

/// Paths are keys with dots between them.
struct WorkloadRow {
  kube::GroupVersionKind kind{};
  /// How it takes a new version where the rollout has sources that are other objects, and where it has none.
  wave::Shape with_sources = wave::Shape::Pair;
  wave::Shape alone = wave::Shape::Scale;
  RevisionBy revision = RevisionBy::Nothing;
  std::string size = "spec.replicas";
  std::string partition{};  // pods that stay old; empty: none
  /// The partition is how many pods may be of another revision than the template's, whichever they are; else it is the first
  /// ordinal that is updated.
  bool partition_counts_pods = false;
  std::string pause{};  // a bool; empty: none
  std::string template_path = "spec.template";
  std::string selector = "spec.selector";
  /// Set while the rollout has it, and as before afterwards: `spec.updateStrategy` of a DaemonSet is OnDelete.
  std::string held_path{};
  json::Value held_value{};
  /// Where its status counts its pods, for kinds whose pods are not its own by owner reference; empty: pods are counted.
  std::string ready{};
  std::string present{};
  /// Numeric fields that go from their old to their new value (HPA, fields by path); `*` stands for every item of a list.
  /// T is 100 then, unless targetSize says otherwise.
  std::vector<std::string> fields{};
};

/// The row that a ConfigMap holds: data.row is YAML with the members kind, apiVersion, withSources, alone, size, partition,
/// pause, template, ready, present, fields. Invalid with the member that is wrong.
Result<WorkloadRow> row_from(const kube::Object& config_map);
/// Those members as a table, for docs/rollout.md.
std::string workload_row_table();
/// The label of such ConfigMaps; its value is "true".
inline constexpr std::string_view kRowLabel = "rollout.slipway.dev/workload-row";
/// Rows count here only: a row decides what "ready" means for the rollouts of all namespaces. None overrides a built-in one.
inline constexpr std::string_view kRowNamespace = "vela-system";

/// The annotation that stands beside a size of ours: "STAMP:SIZE" (wave::SetView::stamp and stamped).
inline constexpr std::string_view kStampAnnotation = "rollout.slipway.dev/size";
/// Of Shape::Fields: the values that the fields are to get, a JSON object by path. What the fields are at the attempt's start
/// is where they come from. A changed annotation is another target.
inline constexpr std::string_view kNewFields = "rollout.slipway.dev/fields";
/// T of Shape::Fields where targetSize does not say it: fields have no pods, and go all the way in percent.
inline constexpr std::int64_t kWholeOfFields = 100;
inline constexpr std::string_view kFieldManager = kRolloutManager;

/// Null when there is no row for the kind.
const WorkloadRow* find_row(const std::vector<WorkloadRow>& rows, const kube::GroupVersionKind& kind);
const std::vector<WorkloadRow>& workload_rows();

}  // namespace slipway::delivery::rollout
