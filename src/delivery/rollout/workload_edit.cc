#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "delivery/family/claimed_fields.h"
#include "delivery/family/handover.h"
#include "delivery/rollout/fields.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/workload_view.h"
#include "json/text.h"
#include "kube/quantity.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;

/// The owner references with the rollout as controller, or without it.
Value with_owner(const Value& references, const Value& rollout) {
  json::ArrayBuilder made;
  for (const Value& one : references.items()) {
    if (one["uid"].as_string() != kube::uid(rollout)) made.add(one);
  }
  // Deleting the rollout must not delete the workload with it: it is let go of first, by the finalizer.
  made.add(kube::owner_reference(rollout).without("blockOwnerDeletion"));
  return made.build();
}

Value without_owner(const Value& references, const Value& rollout) {
  json::ArrayBuilder made;
  for (const Value& one : references.items()) {
    if (one["uid"].as_string() != kube::uid(rollout)) made.add(one);
  }
  return made.build();
}

const Value* snapshot_field(const Snapshot* snapshot, const std::string& path) {
  if (snapshot == nullptr) return nullptr;
  const auto found = snapshot->fields.find(path);
  return found == snapshot->fields.end() ? nullptr : &found->second;
}

/// Null for a field that was absent: the store keeps no nulls.
const Value* snapshot_or_absent(const Snapshot* snapshot, const std::string& path) {
  static const Value kAbsent;
  const Value* before = snapshot_field(snapshot, path);
  return before != nullptr || snapshot == nullptr || snapshot->fields.empty() ? before : &kAbsent;
}

/// A field that the rollout set to `ours` goes back to the snapshot's value, unless another writer has changed it since.
void restore(FieldPatch& patch, const Workload& workload, const std::string& path, const Value& ours, const Value* before,
             std::vector<std::string>& kept) {
  if (path.empty() || before == nullptr) return;
  const Value now = field_at(workload.object, path);
  if (now == *before || (now.is_null() && !before->as_bool() && !before->is_object())) return;
  if (!ours.is_null() && now != ours) {
    kept.push_back(fmt::format("{} {}: {}", workload.id, path, json::print(now)));
    return;
  }
  if (before->is_null()) {
    patch.remove(path);
  } else {
    patch.set(path, *before);
  }
}

/// The fields that whoever made the workload leaves alone meanwhile.
std::string claimed_paths(const WorkloadRow& row) {
  std::vector<std::string> paths;
  for (const std::string& path : {row.size, row.partition, row.pause, row.held_path}) {
    if (!path.empty()) paths.push_back(path);
  }
  for (const std::string& pattern : row.fields) {
    const std::string path = pattern.substr(0, pattern.find(".*"));
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
  }
  return fmt::format("{}", fmt::join(paths, ","));
}

void claim(FieldPatch& patch, const Workload& workload, const Value& rollout) {
  const WorkloadRow& row = *workload.row;
  patch.set("metadata.ownerReferences", with_owner(workload.object["metadata"]["ownerReferences"], rollout));
  patch.set_annotation(kClaimedFields, claimed_paths(row));
  patch.remove_annotation(kCreating);
  patch.remove_annotation(kReplacedBy);
  if (!row.held_path.empty()) patch.set(row.held_path, row.held_value);
  if (!row.pause.empty() && field_at(workload.object, row.pause).as_bool()) patch.set(row.pause, false);
}

void release(FieldPatch& patch, const Workload& workload, const Edit& edit, const Value& rollout, const Snapshot* snapshot,
             std::vector<std::string>& kept) {
  const WorkloadRow& row = *workload.row;
  const Value& references = workload.object["metadata"]["ownerReferences"];
  const Value left = without_owner(references, rollout);
  if (left.empty()) {
    patch.remove("metadata.ownerReferences");
  } else {
    patch.set("metadata.ownerReferences", left);
  }
  patch.remove_annotation(kStampAnnotation);
  patch.remove_annotation(kClaimedFields);
  if (edit.is_replaced) patch.set_annotation(kReplacedBy, holder_name(rollout));
  restore(patch, workload, row.held_path, row.held_value, snapshot_field(snapshot, row.held_path), kept);
  if (!edit.restores) return;
  restore(patch, workload, row.partition, {}, snapshot_or_absent(snapshot, row.partition), kept);
  restore(patch, workload, row.pause, {}, snapshot_or_absent(snapshot, row.pause), kept);
}

/// from + (to - from) * part / whole, to the nearest; quantities as such.
Value between(const Value& from, const Value& to, std::int64_t part, std::int64_t whole) {
  if (whole <= 0 || part >= whole) return to;
  if (part <= 0) return from;
  if (from.is_int() && to.is_int()) {
    const double share = static_cast<double>(part) / static_cast<double>(whole);
    const double way = static_cast<double>(to.as_int() - from.as_int()) * share;
    return from.as_int() + static_cast<std::int64_t>(std::llround(way));
  }
  const auto low = kube::Quantity::parse(from.as_string());
  const auto high = kube::Quantity::parse(to.as_string());
  if (!low || !high) return to;
  const double way =
      static_cast<double>(high->millis() - low->millis()) * static_cast<double>(part) / static_cast<double>(whole);
  return kube::Quantity::of_nanos(__int128{1'000'000} * (low->millis() + std::llround(way)), high->notation()).to_string();
}

void renew(FieldPatch& patch, const Workload& workload, const Edit& edit, const Snapshot* snapshot) {
  const WorkloadRow& row = *workload.row;
  const std::int64_t size = edit.size.value_or(field_at(workload.object, row.size).as_int());
  if (!row.partition.empty()) patch.set(row.partition, std::max<std::int64_t>(0, size - *edit.new_pods));
  if (snapshot == nullptr || row.fields.empty()) return;
  for (const std::string& pattern : row.fields) {
    for (const std::string& path : paths_of(workload.object, pattern)) {
      const Value* from = snapshot_field(snapshot, path);
      const Value* to = snapshot_field(snapshot, "new " + path);
      if (from != nullptr && to != nullptr) patch.set(path, between(*from, *to, *edit.new_pods, edit.whole));
    }
  }
}

/// Where the partition counts pods, one that is left of the rollout would let as many new pods stay beside the old template.
void undo(FieldPatch& patch, const Workload& workload, const Edit& edit, const Snapshot* snapshot,
          std::vector<std::string>& kept) {
  const WorkloadRow& row = *workload.row;
  if (row.partition_counts_pods && !edit.new_pods && snapshot_field(snapshot, row.template_path) != nullptr) {
    patch.set(row.partition, 0);
    if (field_at(workload.object, row.pause).as_bool()) patch.set(row.pause, false);
  }
  for (const std::string& pattern : row.fields) {
    for (const std::string& path : paths_of(workload.object, pattern)) {
      restore(patch, workload, path, {}, snapshot_field(snapshot, path), kept);
    }
  }
  if (row.fields.empty()) restore(patch, workload, row.template_path, {}, snapshot_field(snapshot, row.template_path), kept);
}

}  // namespace

Snapshot snapshot_of(const Workload& workload) {
  Snapshot made;
  made.id = workload.id;
  made.api_version = workload.kind.api_version();
  made.kind = workload.kind.kind;
  made.name = kube::name(workload.object);
  if (workload.object.is_null() || workload.row == nullptr) return made;
  const WorkloadRow& row = *workload.row;
  for (const std::string& path : {row.size, row.partition, row.pause, row.held_path}) {
    if (!path.empty()) made.fields[path] = field_at(workload.object, path);
  }
  const bool is_one_object = row.alone != wave::Shape::Scale;
  if (is_one_object && row.fields.empty()) {
    if (Value before = old_template(workload); before.is_object()) made.fields[row.template_path] = std::move(before);
  }
  const auto wanted = json::parse(kube::annotation(workload.object, kNewFields));
  for (const std::string& pattern : row.fields) {
    for (const std::string& path : paths_of(workload.object, pattern)) {
      const Value to = wanted ? (*wanted)[path] : Value();
      if (to.is_null()) continue;
      made.fields[path] = field_at(workload.object, path);
      made.fields["new " + path] = to;
    }
  }
  return made;
}

json::Value patch_of(const Workload& workload, const Edit& edit, const Value& rollout, const Snapshot* snapshot,
                     std::vector<std::string>& kept) {
  FieldPatch patch(workload.object);
  patch.test("metadata.uid");
  patch.test("metadata.resourceVersion");
  if (edit.claims) claim(patch, workload, rollout);
  if (edit.size) patch.set(workload.row->size, *edit.size);
  if (edit.new_pods) renew(patch, workload, edit, snapshot);
  if (edit.stamp) patch.set_annotation(kStampAnnotation, *edit.stamp);
  if (edit.undoes) undo(patch, workload, edit, snapshot, kept);
  if (edit.releases) release(patch, workload, edit, rollout, snapshot, kept);
  return patch.changes_something() ? patch.build() : Value::empty_array();
}

}  // namespace slipway::delivery::rollout
