#include "cluster/daemonset_plan.h"

#include <algorithm>
#include <array>
#include <map>

#include "cluster/deployment_facts.h"
#include "cluster/names.h"
#include "cluster/placement.h"
#include "cluster/pod_facts.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr std::string_view kTemplateGeneration = "deprecated.daemonset.template.generation";
constexpr std::array<std::string_view, 1> kDriveAway{"NoExecute"};

/// What every daemon tolerates: a node that is lost, short of something, or cordoned.
Value with_daemon_tolerations(const Value& pod_spec) {
  struct Row {
    const char* key;
    const char* effect;
  };
  std::vector<Row> rows{
      {"node.kubernetes.io/not-ready", "NoExecute"},      {"node.kubernetes.io/unreachable", "NoExecute"},
      {"node.kubernetes.io/disk-pressure", "NoSchedule"}, {"node.kubernetes.io/memory-pressure", "NoSchedule"},
      {"node.kubernetes.io/pid-pressure", "NoSchedule"},  {"node.kubernetes.io/unschedulable", "NoSchedule"}};
  if (pod_spec["hostNetwork"].as_bool()) rows.push_back({"node.kubernetes.io/network-unavailable", "NoSchedule"});
  Value all = pod_spec["tolerations"].is_null() ? Value::empty_array() : pod_spec["tolerations"];
  for (const Row& row : rows) {
    const Value one = json::object({{"key", row.key}, {"operator", "Exists"}, {"effect", row.effect}});
    const auto known = all.items();
    if (std::ranges::find(known, one) == known.end()) all = all.appended(one);
  }
  return all;
}

/// A node, whether it should have a pod, and those it has, oldest first.
struct Place {
  bool is_wanted = false;  // a pod is to be made when there is none
  bool may_stay = false;   // one that is there may go on
  std::vector<kube::Object> pods;

  /// Of those that are not being deleted.
  std::vector<kube::Object> live() const {
    std::vector<kube::Object> found = pods;
    std::erase_if(found, [](const kube::Object& pod) { return kube::is_deleting(pod); });
    return found;
  }
};

std::map<std::string, Place> take_census(const DaemonSetView& view) {
  std::map<std::string, Place> places;
  const Value& spec = view.set["spec"]["template"]["spec"];
  const Value tolerations = with_daemon_tolerations(spec);
  for (const kube::Object& node : view.nodes) {
    Place place;
    const auto named = spec["nodeName"].as_string();
    if ((named.empty() || named == kube::name(node)) && selects_node(spec, node)) {
      place.is_wanted = untolerated_taint(tolerations, node, kKeepAway).is_null();
      place.may_stay = untolerated_taint(tolerations, node, kDriveAway).is_null();
    }
    places.emplace(kube::name(node), std::move(place));
  }
  for (const kube::Object& pod : view.pods) {
    if (kube::is_deleting(pod) && is_terminal_pod(pod)) continue;
    places[target_node(pod)].pods.push_back(pod);
  }
  for (auto& [name, place] : places) std::ranges::sort(place.pods, is_older);
  return places;
}

/// By the hash, or by the generation of the template: a set that takes over the pods of an orphaned one leaves them as they
/// are.
bool is_updated(const DaemonSetView& view, const kube::Object& pod) {
  if (kube::label(pod, kRevisionHash) == view.hash) return true;
  const auto generation = kube::label(pod, "pod-template-generation");
  return !generation.empty() && generation == kube::annotation(view.set, kTemplateGeneration);
}

class DaemonSetPlanner {
 public:
  DaemonSetPlanner(const DaemonSetView& view, const Now& now)
      : view_(view), now_(now), places_(take_census(view)), min_ready_(view.set["spec"]["minReadySeconds"].as_int()) {
    const Value& rolling = view.set["spec"]["updateStrategy"]["rollingUpdate"];
    const auto wanted = std::ranges::count_if(places_, [](const auto& entry) { return entry.second.is_wanted; });
    max_surge_ = resolve_share(rolling["maxSurge"], wanted, true);
    max_unavailable_ = resolve_share(rolling.has("maxUnavailable") ? rolling["maxUnavailable"] : Value(1), wanted, true);
    if (max_surge_ == 0 && max_unavailable_ == 0) max_unavailable_ = 1;
    if (max_surge_ > 0) max_unavailable_ = 0;
  }

  DaemonSetPlan plan();

 private:
  void manage();
  void manage_pods(const std::vector<kube::Object>& pods);
  void replace();
  void surge();
  void count();
  bool is_new(const kube::Object& pod) const { return is_updated(view_, pod); }
  bool is_available(const kube::Object& pod);

  const DaemonSetView& view_;
  const Now& now_;
  const std::map<std::string, Place> places_;
  const std::int64_t min_ready_;
  std::int64_t max_surge_ = 0;
  std::int64_t max_unavailable_ = 0;
  DaemonSetPlan plan_;
};

DaemonSetPlan DaemonSetPlanner::plan() {
  count();
  manage();
  const bool is_rolling = view_.set["spec"]["updateStrategy"]["type"].as_string() != "OnDelete";
  // What manage() does must be seen before an update can count on it.
  if (is_rolling && plan_.create.empty() && plan_.remove.empty()) max_surge_ > 0 ? surge() : replace();
  return std::move(plan_);
}

/// One pod on every node that is to have one, none elsewhere; what has ended is made again.
void DaemonSetPlanner::manage() {
  for (const auto& [node, place] : places_) {
    if (place.is_wanted && place.pods.empty()) {
      plan_.create.push_back(node);
    } else if (place.may_stay) {
      std::vector<kube::Object> running = place.live();
      for (const kube::Object& pod : running) {
        if (is_terminal_pod(pod)) plan_.remove.push_back(pod);
      }
      std::erase_if(running, is_terminal_pod);
      manage_pods(running);
    } else {
      const std::vector<kube::Object> live = place.live();
      plan_.remove.insert(plan_.remove.end(), live.begin(), live.end());
    }
  }
}

/// Of several pods on a node the oldest stays; during a surge the oldest old and the oldest new one, until the new one is
/// available or the old one does not work anyway.
void DaemonSetPlanner::manage_pods(const std::vector<kube::Object>& pods) {
  const kube::Object* newest = nullptr;
  const kube::Object* old = nullptr;
  for (const kube::Object& pod : pods) {
    const kube::Object*& kept = max_surge_ > 0 && is_new(pod) ? newest : old;
    if (kept == nullptr) {
      kept = &pod;
    } else {
      plan_.remove.push_back(pod);
    }
  }
  if (newest == nullptr || old == nullptr) return;
  if (!kube::is_true(*old, "Ready") || is_available(*newest)) plan_.remove.push_back(*old);
}

void DaemonSetPlanner::replace() {
  std::int64_t unavailable = 0;
  std::vector<kube::Object> broken;
  std::vector<kube::Object> working;
  for (const auto& [node, place] : places_) {
    if (!place.is_wanted && place.pods.empty()) continue;
    const std::vector<kube::Object> live = place.live();
    if (live.size() != 1 || !is_available(live.front())) ++unavailable;
    if (live.size() != 1 || is_new(live.front())) continue;
    (is_available(live.front()) ? working : broken).push_back(live.front());
  }
  plan_.remove = std::move(broken);
  const auto room = std::clamp<std::int64_t>(max_unavailable_ - unavailable, 0, static_cast<std::int64_t>(working.size()));
  plan_.remove.insert(plan_.remove.end(), working.begin(), working.begin() + room);
}

void DaemonSetPlanner::surge() {
  std::int64_t surging = 0;
  std::vector<std::string> candidates;
  for (const auto& [node, place] : places_) {
    const kube::Object* newest = nullptr;
    const kube::Object* old = nullptr;
    const std::vector<kube::Object> live = place.live();
    for (const kube::Object& pod : live) (is_new(pod) ? newest : old) = &pod;
    if (old == nullptr) continue;
    if (newest != nullptr) {
      is_available(*newest) ? plan_.remove.push_back(*old) : static_cast<void>(++surging);
    } else if (is_available(*old)) {
      candidates.push_back(node);
    } else {
      plan_.create.push_back(node);
    }
  }
  const auto room = std::clamp<std::int64_t>(max_surge_ - surging, 0, static_cast<std::int64_t>(candidates.size()));
  plan_.create.insert(plan_.create.end(), candidates.begin(), candidates.begin() + room);
}

void DaemonSetPlanner::count() {
  std::int64_t desired = 0;
  std::int64_t current = 0;
  std::int64_t misscheduled = 0;
  std::int64_t ready = 0;
  std::int64_t updated = 0;
  std::int64_t available = 0;
  for (const auto& [node, place] : places_) {
    if (!place.is_wanted) {
      if (!place.pods.empty()) ++misscheduled;
      continue;
    }
    ++desired;
    if (place.pods.empty()) continue;
    ++current;
    const kube::Object& oldest = place.pods.front();
    if (kube::is_true(oldest, "Ready")) ++ready;
    if (is_available(oldest)) ++available;
    if (is_new(oldest)) ++updated;
  }
  const Value& before = view_.set["status"];
  Value status = before.with("observedGeneration", kube::generation(view_.set))
                     .with("desiredNumberScheduled", desired)
                     .with("currentNumberScheduled", current)
                     .with("numberMisscheduled", misscheduled)
                     .with("numberReady", ready);
  const auto set_count = [&](const char* name, std::int64_t count) {
    status = count == 0 ? status.without(name) : status.with(name, count);
  };
  set_count("updatedNumberScheduled", updated);
  set_count("numberAvailable", available);
  set_count("numberUnavailable", desired - available);
  if (status != before) plan_.status = std::move(status);
}

bool DaemonSetPlanner::is_available(const kube::Object& pod) {
  const auto wait = until_available(pod, min_ready_, now_);
  if (wait && (!plan_.look_again || *wait < *plan_.look_again)) plan_.look_again = wait;
  return is_available_pod(pod, min_ready_, now_);
}

}  // namespace

DaemonSetPlan plan_daemon_set(const DaemonSetView& view, const Now& now) { return DaemonSetPlanner(view, now).plan(); }

kube::Object make_daemon_pod(const kube::Object& set, std::string_view hash, std::string_view node) {
  const Value& pod = set["spec"]["template"];
  const auto generation = kube::annotation(set, kTemplateGeneration);
  const Value labels = pod["metadata"]["labels"].with(kRevisionHash, hash).with("pod-template-generation", generation);
  json::ObjectBuilder metadata;
  metadata.set("generateName", std::string(kube::name(set)) + "-").set("namespace", kube::ns(set)).set("labels", labels);
  for (const char* part : {"annotations", "finalizers"}) {
    if (const Value& value = pod["metadata"][part]; !value.empty()) metadata.set(part, value);
  }
  metadata.set("ownerReferences", json::array({kube::owner_reference(set)}));
  const Value spec = pod["spec"]
                         .with("affinity", bound_to_node(pod["spec"]["affinity"], node))
                         .with("tolerations", with_daemon_tolerations(pod["spec"]));
  return json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata.build()}, {"spec", spec}});
}

}  // namespace slipway::cluster
