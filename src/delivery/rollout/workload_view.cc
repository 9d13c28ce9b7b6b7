#include "delivery/rollout/workload_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/digest.h"
#include "delivery/rollout/fields.h"
#include "json/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using kube::Object;

constexpr const char* kPodRevisionLabel = "controller-revision-hash";
constexpr const char* kTemplateLabel = "pod-template-hash";

/// Members by name, so that equal values have equal texts.
Value with_sorted_keys(const Value& value) {
  if (value.is_array()) {
    json::ArrayBuilder items;
    for (const Value& item : value.items()) items.add(with_sorted_keys(item));
    return items.build();
  }
  if (!value.is_object()) return value;
  std::vector<std::string> keys;
  for (const auto& [key, member] : value.members()) keys.emplace_back(key);
  std::ranges::sort(keys);
  json::ObjectBuilder members;
  for (const std::string& key : keys) members.add(key, with_sorted_keys(value[key]));
  return members.build();
}

std::int64_t number_of(const Object& revision, bool is_replica_set) {
  if (!is_replica_set) return revision["revision"].as_int();
  const std::string text(kube::annotation(revision, "deployment.kubernetes.io/revision"));
  return text.empty() ? 0 : Value::number(text).as_int();
}

/// Null when there is none.
Object newest_revision(const Workload& workload) {
  const bool is_replica_set = workload.row->revision == RevisionBy::ReplicaSet;
  Object newest;
  for (const Object& one : workload.revisions) {
    if (newest.is_null() || number_of(one, is_replica_set) > number_of(newest, is_replica_set)) newest = one;
  }
  return newest;
}

/// Tells the pods of the newest revision.
struct NewPods {
  bool are_all = false;
  const char* label = kPodRevisionLabel;
  std::string value;

  bool has(const Object& pod) const { return are_all || (!value.empty() && kube::label(pod, label) == value); }
};

NewPods new_pods_of(const Workload& workload) {
  switch (workload.row->revision) {
    case RevisionBy::ReplicaSet:
      return {false, kTemplateLabel, std::string(kube::label(newest_revision(workload), kTemplateLabel))};
    case RevisionBy::UpdateRevision:
      return {false, kPodRevisionLabel, workload.object["status"]["updateRevision"].str()};
    case RevisionBy::ControllerRevision: {
      const Object newest = newest_revision(workload);
      return {false, kPodRevisionLabel, std::string(kube::label(newest, kPodRevisionLabel))};
    }
    case RevisionBy::Nothing:
      break;
  }
  return {true, "", ""};
}

bool is_present(const Object& pod) {
  const auto phase = pod["status"]["phase"].as_string();
  return !kube::is_deleting(pod) && phase != "Succeeded" && phase != "Failed";
}

/// A number, or a share of `total` rounded up as the kinds that have such fields do it.
std::int64_t count_at(const Value& value, std::int64_t total) {
  if (value.is_int()) return value.as_int();
  const auto amount = wave::parse_amount(value, "partition");
  return amount ? (amount->is_percent ? wave::rounded_up(*amount, total) : amount->number) : 0;
}

/// Why a pod is not ready, when more than time is missing.
std::string trouble_of(const Object& pod) {
  const auto told = [&](std::string_view reason) { return fmt::format("pod {}: {}", kube::name(pod), reason); };
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : pod["status"][list].items()) {
      const auto waits = container["state"]["waiting"]["reason"].as_string();
      if (!waits.empty() && waits != "ContainerCreating" && waits != "PodInitializing") return told(waits);
      const Value& ended = container["state"]["terminated"];
      if (ended.is_object() && ended["exitCode"].as_int() != 0) return told(ended["reason"].as_string());
    }
  }
  if (const auto reason = pod["status"]["reason"].as_string(); !reason.empty()) return told(reason);
  const Value& scheduled = kube::condition(pod, "PodScheduled");
  if (scheduled["status"].as_string() == "False") return told(scheduled["reason"].as_string());
  return "";
}

void count_pods(const Workload& workload, const NewPods& is_new, wave::SetView& view) {
  std::vector<Object> pods = workload.pods;
  std::ranges::sort(pods, {}, [](const Object& pod) { return std::string(kube::name(pod)); });
  std::int64_t old_ready = 0;
  for (const Object& pod : pods) {
    if (!is_present(pod)) continue;
    ++view.present;
    const bool is_ready = kube::is_true(pod, "Ready");
    if (!is_new.has(pod)) {
      if (is_ready) ++old_ready;
      view.old_pods.emplace_back(kube::name(pod));
      continue;
    }
    ++view.updated;
    if (is_ready) ++view.updated_ready;
    if (!is_ready && view.trouble.empty()) view.trouble = trouble_of(pod);
  }
  // What takes turns by size alone counts its own revision; in one object the old ones are ready too.
  const bool is_one_object = workload.row->alone != wave::Shape::Scale;
  view.ready = view.updated_ready + (is_one_object ? old_ready : 0);
}

/// The manager that wrote the field last; empty: unknown.
std::string manager_of(const Object& object, std::string_view path) {
  std::string manager;
  std::string newest;
  for (const Value& entry : object["metadata"]["managedFields"].items()) {
    if (!entry["subresource"].as_string().empty() && entry["subresource"].as_string() != "scale") continue;
    Value at = entry["fieldsV1"];
    for (std::string_view rest = path; !rest.empty() && !at.is_null();) {
      const auto dot = rest.find('.');
      at = Value(at["f:" + std::string(rest.substr(0, dot))]);
      rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    if (at.is_null() || entry["time"].as_string() < newest) continue;
    newest = entry["time"].str();
    manager = entry["manager"].str();
  }
  return manager;
}

void read_stamp(const Object& object, wave::SetView& view) {
  const auto text = kube::annotation(object, kStampAnnotation);
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return;
  view.stamp = Value::number(text.substr(0, colon)).as_int();
  view.stamped = Value::number(text.substr(colon + 1)).as_int();
}

}  // namespace

std::string set_id(const kube::GroupVersionKind& kind, std::string_view name) {
  const bool is_plain = kind.group.empty() || !kind.group.contains('.');
  return is_plain ? fmt::format("{}/{}", kind.kind, name) : fmt::format("{}.{}/{}", kind.kind, kind.group, name);
}

std::string template_revision(const Workload& workload) {
  if (workload.object.is_null() || workload.row == nullptr) return "";
  const bool has_fields = !workload.row->fields.empty();
  const Value seen = has_fields ? Value(kube::annotation(workload.object, kNewFields))
                                : with_sorted_keys(field_at(workload.object, workload.row->template_path));
  return name_hash(fmt::format("{} {}", workload.id, json::print(seen)));
}

const std::string& TemplateRevision::of(const Workload& workload) {
  const Object& object = workload.object;
  std::string key = object.is_null() || workload.row == nullptr
                        ? ""
                        : fmt::format("{} {} {} {}", kube::uid(object), kube::generation(object), workload.row->template_path,
                                      kube::annotation(object, kNewFields));
  if (key == key_) return revision_;
  key_ = std::move(key);
  return revision_ = template_revision(workload);
}

json::Value old_template(const Workload& workload) {
  const auto current = workload.object["status"]["currentRevision"].as_string();
  const Object newest = newest_revision(workload);
  const std::string running = old_pods_label(workload);  // templates may have come and gone without a pod
  Object found;
  for (const Object& one : workload.revisions) {
    if (workload.row->revision == RevisionBy::UpdateRevision) {
      if (kube::name(one) == current) found = one;
    } else if (!running.empty()) {
      if (kube::label(one, kPodRevisionLabel) == running) found = one;
    } else if (kube::name(one) != kube::name(newest) &&
               (found.is_null() || one["revision"].as_int() > found["revision"].as_int())) {
      found = one;
    }
  }
  return found["data"]["spec"]["template"].without("$patch");
}

std::string new_pods_label(const Workload& workload) {
  return workload.object.is_null() || workload.row == nullptr ? "" : new_pods_of(workload).value;
}

std::string revision_label(const WorkloadRow& row) {
  if (row.revision == RevisionBy::Nothing) return "";
  return row.revision == RevisionBy::ReplicaSet ? kTemplateLabel : kPodRevisionLabel;
}

std::string old_pods_label(const Workload& workload) {
  if (workload.object.is_null() || workload.row == nullptr) return "";
  const NewPods is_new = new_pods_of(workload);
  Object oldest;
  for (const Object& pod : workload.pods) {
    if (!is_present(pod) || is_new.has(pod)) continue;
    if (oldest.is_null() || kube::creation_time(pod) < kube::creation_time(oldest)) oldest = pod;
  }
  return std::string(kube::label(oldest, revision_label(*workload.row)));
}

json::Value match_labels(const Workload& workload) { return field_at(workload.object, workload.row->selector)["matchLabels"]; }

std::vector<Object> pods_with(const Workload& workload, const std::string& new_label) {
  std::vector<Object> found;
  const std::string label = revision_label(*workload.row);
  for (const Object& pod : workload.pods) {
    if (is_present(pod) && kube::label(pod, label) == new_label) found.push_back(pod);
  }
  std::ranges::sort(found, {}, [](const Object& pod) { return std::string(kube::name(pod)); });
  return found;
}

std::vector<std::string> pod_names(const Workload& workload) {
  std::vector<std::string> names;
  for (const Object& pod : workload.pods) {
    if (is_present(pod)) names.emplace_back(kube::name(pod));
  }
  return names;
}

wave::SetView view_of(const Workload& workload, std::string_view rollout_uid, const std::string& new_label) {
  wave::SetView view;
  view.id = workload.id;
  if (workload.object.is_null() || workload.row == nullptr) return view;
  const WorkloadRow& row = *workload.row;
  const Object& object = workload.object;
  view.uid = kube::uid(object);
  view.desired = row.size.empty() ? object["status"]["desiredNumberScheduled"].as_int() : field_at(object, row.size).as_int();
  if (!row.fields.empty()) {
    view.desired = view.present = view.ready = kWholeOfFields;
  } else if (row.ready.empty()) {
    NewPods is_new = new_pods_of(workload);
    if (!new_label.empty()) is_new.value = new_label;
    count_pods(workload, is_new, view);
  } else {
    view.present = field_at(object, row.present).as_int();
    view.updated = view.present;
    view.updated_ready = view.ready = field_at(object, row.ready).as_int();
  }
  read_stamp(object, view);
  if (!row.partition.empty()) {
    view.asked_new = view.desired - std::min(view.desired, count_at(field_at(object, row.partition), view.desired));
  }
  if (!row.fields.empty()) view.asked_new = view.stamped;
  const Value& observed = object["status"]["observedGeneration"];
  view.is_current = observed.is_null() ? row.revision == RevisionBy::Nothing : observed.as_int() >= kube::generation(object);
  const Value& owner = kube::controller_of(object);
  if (!owner.is_null()) view.owner = owner["uid"].as_string() == rollout_uid ? wave::Owner::Us : wave::Owner::Other;
  if (view.owner == wave::Owner::Other) {
    view.owner_name = fmt::format("{}/{}", owner["kind"].as_string(), owner["name"].as_string());
  }
  if (!row.size.empty()) {
    const std::string manager = manager_of(object, row.size);
    if (manager != kFieldManager) view.resized_by = manager;
  }
  return view;
}

bool counts_alike(const Object& before, const Object& after) {
  return is_present(before) == is_present(after) && kube::is_true(before, "Ready") == kube::is_true(after, "Ready") &&
         before["metadata"]["labels"] == after["metadata"]["labels"] && trouble_of(before) == trouble_of(after);
}

bool has_old_pods(const Workload& workload) {
  if (workload.object.is_null() || workload.row == nullptr) return false;
  const NewPods is_new = new_pods_of(workload);
  return std::ranges::any_of(workload.pods, [&](const Object& pod) { return is_present(pod) && !is_new.has(pod); });
}

std::string selector_text(const Workload& workload) {
  if (workload.object.is_null() || workload.row == nullptr) return "";
  std::string text;
  const Value labels = match_labels(workload);
  for (const auto& [key, value] : labels.members()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value.as_string());
  }
  return text;
}

}  // namespace slipway::delivery::rollout
