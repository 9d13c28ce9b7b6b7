#include <fmt/format.h>

#include "delivery/family/field_table.h"
#include "delivery/rollout/workload.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using wave::Shape;

WorkloadRow deployment() {
  WorkloadRow row{.kind = {"apps", "v1", "Deployment"}};
  row.revision = RevisionBy::ReplicaSet;
  row.pause = "spec.paused";
  return row;
}

WorkloadRow in_place(kube::GroupVersionKind kind, std::string partition, std::string pause) {
  WorkloadRow row{.kind = std::move(kind), .with_sources = Shape::InPlace, .alone = Shape::InPlace};
  row.revision = RevisionBy::UpdateRevision;
  row.partition = std::move(partition);
  row.pause = std::move(pause);
  return row;
}

WorkloadRow clone_set() {
  WorkloadRow row =
      in_place({"apps.kruise.io", "v1alpha1", "CloneSet"}, "spec.updateStrategy.partition", "spec.updateStrategy.paused");
  row.partition_counts_pods = true;
  return row;
}

/// Its size is the number of nodes: there is nothing to write.
WorkloadRow daemon_set() {
  WorkloadRow row{.kind = {"apps", "v1", "DaemonSet"}, .with_sources = Shape::Replace, .alone = Shape::Replace};
  row.revision = RevisionBy::ControllerRevision;
  row.size = "";
  row.held_path = "spec.updateStrategy";
  row.held_value = json::object({{"type", "OnDelete"}});
  return row;
}

WorkloadRow autoscaler() {
  WorkloadRow row{
      .kind = {"autoscaling", "v2", "HorizontalPodAutoscaler"}, .with_sources = Shape::Fields, .alone = Shape::Fields};
  row.size = "";
  row.template_path = "spec";
  row.fields = {"spec.minReplicas",
                "spec.maxReplicas",
                "spec.metrics.*.resource.target.averageUtilization",
                "spec.metrics.*.containerResource.target.averageUtilization",
                "spec.metrics.*.pods.target.averageValue",
                "spec.metrics.*.object.target.value",
                "spec.metrics.*.external.target.value",
                "spec.metrics.*.external.target.averageValue"};
  return row;
}

std::vector<WorkloadRow> make_rows() {
  const std::string rolling = "spec.updateStrategy.rollingUpdate.";
  return {deployment(),
          in_place({"apps", "v1", "StatefulSet"}, rolling + "partition", ""),
          clone_set(),
          in_place({"apps.kruise.io", "v1beta1", "StatefulSet"}, rolling + "partition", rolling + "paused"),
          in_place({"apps.kruise.io", "v1alpha1", "StatefulSet"}, rolling + "partition", rolling + "paused"),
          daemon_set(),
          autoscaler()};
}

/// A row as users write it.
struct WrittenRow {
  std::string api_version;
  std::string kind;
  std::string with_sources;
  std::string alone;
  std::string size = "spec.replicas";
  std::string partition;
  std::string pause;
  std::string template_path = "spec.template";
  std::string ready = "status.readyReplicas";
  std::string present = "status.replicas";
  std::vector<std::string> fields;

  static void describe(auto& d) {
    d.doc("How rollouts treat a kind of workload.");
    d.field("apiVersion", &WrittenRow::api_version, "Its API version.").required().min_length(1);
    d.field("kind", &WrittenRow::kind, "Its kind.").required().min_length(1);
    d.field(
         "withSources", &WrittenRow::with_sources,
         "How a rollout with sources works: Pair, one object for each version; InPlace, one object with a partition; Fields, "
         "numbers of one object. Absent: Fields with fields, else Pair.")
        .one_of({"Pair", "InPlace", "Fields"});
    d.field("alone", &WrittenRow::alone,
            "How one without sources works: Scale, its size; InPlace; Fields. Absent: Fields with fields, InPlace with a "
            "partition, else Scale.")
        .one_of({"Scale", "InPlace", "Fields"});
    d.field("size", &WrittenRow::size, "Path of its number of pods.").with_default();
    d.field("partition", &WrittenRow::partition, "Path of the number of pods that stay old.");
    d.field("pause", &WrittenRow::pause, "Path of a boolean that holds its own update.");
    d.field("template", &WrittenRow::template_path, "Path of what is another version when it changes.").with_default();
    d.field("ready", &WrittenRow::ready, "Path of the number of its ready pods.").with_default();
    d.field("present", &WrittenRow::present, "Path of the number of its pods.").with_default();
    d.field("fields", &WrittenRow::fields, "Paths of the numbers that go from old to new; * stands for every item of a list.");
  }
};

Shape shape_of(const std::string& word, Shape otherwise) {
  if (word == "InPlace") return Shape::InPlace;
  if (word == "Fields") return Shape::Fields;
  if (word == "Pair") return Shape::Pair;
  return word == "Scale" ? Shape::Scale : otherwise;
}

}  // namespace

const std::vector<WorkloadRow>& workload_rows() {
  static const std::vector<WorkloadRow> rows = make_rows();
  return rows;
}

std::string workload_row_table() { return delivery::field_table({{"row", json::describe<WrittenRow>()}}); }

Result<WorkloadRow> row_from(const kube::Object& config_map) {
  const json::Value& text = config_map["data"]["row"];
  if (!text.is_string()) return fail(Reason::Invalid, "data.row: Required value");
  SLIPWAY_TRY(value, json::parse_yaml(text.as_string()));
  SLIPWAY_TRY(written, json::decode<WrittenRow>(value, "data.row"));
  WorkloadRow row;
  SLIPWAY_TRY(kind, kube::GroupVersionKind::of(json::object({{"apiVersion", written.api_version}, {"kind", written.kind}})));
  row.kind = kind;
  const bool has_fields = !written.fields.empty();
  const Shape in_one = written.partition.empty() ? Shape::Scale : Shape::InPlace;
  row.with_sources = shape_of(written.with_sources, has_fields ? Shape::Fields : Shape::Pair);
  row.alone = shape_of(written.alone, has_fields ? Shape::Fields : in_one);
  row.size = has_fields ? "" : written.size;
  row.partition = written.partition;
  row.pause = written.pause;
  row.template_path = written.template_path;
  row.ready = written.ready;
  row.present = written.present;
  row.fields = written.fields;
  return row;
}

}  // namespace slipway::delivery::rollout
