#include "cluster/clone_set_facts.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "kube/crd_schema.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// status, for the schema: the controller writes it from counts.
struct CloneSetStatus {
  std::int64_t observed_generation = 0;
  std::int64_t replicas = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t updated = 0;
  std::int64_t updated_ready = 0;
  std::int64_t updated_available = 0;
  std::int64_t expected_updated = 0;
  std::string update_revision;
  std::string current_revision;
  std::int64_t collision_count = 0;
  std::string label_selector;
  std::vector<Value> conditions;
  static void describe(auto& d) {
    d.doc("How the set stands.");
    d.field("observedGeneration", &CloneSetStatus::observed_generation, "The generation that this status is about.");
    d.field("replicas", &CloneSetStatus::replicas, "Pods there are.");
    d.field("readyReplicas", &CloneSetStatus::ready, "Pods that are ready.");
    d.field("availableReplicas", &CloneSetStatus::available, "Pods that have been ready for minReadySeconds.");
    d.field("updatedReplicas", &CloneSetStatus::updated, "Pods of the update revision.");
    d.field("updatedReadyReplicas", &CloneSetStatus::updated_ready, "Pods of the update revision that are ready.");
    d.field("updatedAvailableReplicas", &CloneSetStatus::updated_available, "Pods of the update revision that are available.");
    d.field("expectedUpdatedReplicas", &CloneSetStatus::expected_updated, "replicas less the partition.");
    d.field("updateRevision", &CloneSetStatus::update_revision, "ControllerRevision of the present template.");
    d.field("currentRevision", &CloneSetStatus::current_revision, "ControllerRevision that pods of the partition have.");
    d.field("collisionCount", &CloneSetStatus::collision_count, "Clashes of names of revisions so far.");
    d.field("labelSelector", &CloneSetStatus::label_selector, "The selector as text, for autoscalers.");
    d.field("conditions", &CloneSetStatus::conditions, "FailedScale, FailedUpdate.").items().any_object();
  }
};

std::optional<double> decimal(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace

Value clone_set_definition() {
  kube::CrdSpec spec;
  spec.group = kCloneSetKind.group;
  spec.version = kCloneSetKind.version;
  spec.kind = kCloneSetKind.kind;
  spec.plural = kCloneSets.plural;
  spec.short_names = {"clone"};
  spec.scale = kSetScale;
  spec.columns = {kube::column("DESIRED", ".spec.replicas", "integer", "Pods there are to be."),
                  kube::column("UPDATED", ".status.updatedReplicas", "integer", "Pods of the present template."),
                  kube::column("UPDATED_READY", ".status.updatedReadyReplicas", "integer", "Those that are ready."),
                  kube::column("READY", ".status.readyReplicas", "integer", "Pods that are ready."),
                  kube::column("TOTAL", ".status.replicas", "integer", "Pods there are."),
                  kube::column("AGE", ".metadata.creationTimestamp", "date", "Since it was created."),
                  kube::column("CONTAINERS", ".spec.template.spec.containers[*].name", "string", "Names of the containers.", 1),
                  kube::column("IMAGES", ".spec.template.spec.containers[*].image", "string", "Their images.", 1),
                  kube::column("SELECTOR", ".status.labelSelector", "string", "Selects its pods.", 1)};
  spec.doc = "OpenKruise's CloneSet: pods of one template, updated in place where only images change.";
  spec.spec_schema = kube::open_api_schema(json::describe<CloneSetSpec>());
  spec.status_schema = kube::open_api_schema(json::describe<CloneSetStatus>());
  return kube::make_crd(spec);
}

std::optional<std::int64_t> scaled_share(const Value& share, std::int64_t total, Rounding rounding) {
  if (share.is_int()) return share.as_int();
  const std::string_view text = share.as_string();
  if (!text.ends_with('%')) return std::nullopt;
  const auto percent = decimal(text.substr(0, text.size() - 1));
  if (!percent || std::abs(*percent) > 1e6) return std::nullopt;
  const double exact = *percent * static_cast<double>(total) / 100;
  return static_cast<std::int64_t>(rounding == Rounding::Up ? std::ceil(exact) : std::floor(exact));
}

std::optional<std::int64_t> partition_of(const Value& partition, std::int64_t replicas) {
  if (partition.is_null()) return 0;
  auto kept = scaled_share(partition, replicas, Rounding::Up);
  if (!kept) return std::nullopt;
  // 99 % of 5 is 5 when rounded up, yet one pod is to be updated: scaled to a whole, only 100 % and more keeps all.
  const bool keeps_all = partition.is_int() || *scaled_share(partition, 10'000, Rounding::Down) >= 10'000;
  if (replicas > 1 && *kept == replicas && !keeps_all) kept = replicas - 1;
  return std::clamp<std::int64_t>(*kept, 0, std::max<std::int64_t>(replicas, 0));
}

CloneSetBounds bounds_of(const kube::Object& set, const CloneSetSpec& spec) {
  CloneSetBounds bounds;
  const std::int64_t replicas = spec.replicas;
  bounds.replicas = replicas;
  bounds.partition = partition_of(spec.update.partition, replicas).value_or(0);
  if (!spec.update.paused) bounds.max_surge = scaled_share(spec.update.max_surge, replicas, Rounding::Up).value_or(0);
  const Value unavailable = spec.update.max_unavailable.is_null() ? Value("20%") : spec.update.max_unavailable;
  bounds.max_unavailable =
      scaled_share(unavailable, replicas, bounds.max_surge == 0 ? Rounding::Up : Rounding::Down).value_or(0);
  bounds.scale_max_unavailable =
      scaled_share(spec.scale.max_unavailable, replicas, Rounding::Up).value_or(std::numeric_limits<std::int32_t>::max());
  bounds.excludes_preparing_delete = kube::label(set, kExcludePreparingDelete) == "true";
  return bounds;
}

}  // namespace slipway::cluster
