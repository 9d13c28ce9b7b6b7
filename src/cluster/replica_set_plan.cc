#include "cluster/replica_set_plan.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>

#include "cluster/names.h"
#include "cluster/pod_facts.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// Pods created or deleted in one go.
constexpr std::int64_t kMaxReplicaBurst = 500;

std::int64_t wanted_replicas(const kube::Object& set) { return std::max<std::int64_t>(set["spec"]["replicas"].as_int(1), 0); }

/// What a pod is judged by when some must go; fewer is worth less.
struct Worth {
  bool is_assigned = false;
  int phase = 0;
  bool is_ready = false;
  std::int64_t deletion_cost = 0;
  std::int64_t crowd = 0;
  std::optional<Time> ready;
  std::int64_t max_restarts = 0;
  std::optional<Time> created;
  std::string uid;
};

int phase_rank(std::string_view phase) { return phase == "Running" ? 2 : phase == "Unknown" ? 1 : 0; }

std::int64_t max_restarts(const kube::Object& pod) {
  std::int64_t most = 0;
  for (const Value& status : pod["status"]["containerStatuses"].items()) {
    most = std::max(most, status["restartCount"].as_int());
  }
  return most;
}

std::int64_t deletion_cost(const kube::Object& pod) {
  const std::string_view text = kube::annotation(pod, "controller.kubernetes.io/pod-deletion-cost");
  std::int64_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc{} && end == text.data() + text.size() ? cost : 0;
}

/// Powers of two of an age: ages in one bucket count as equal.
int bucket(Time since, Time now) {
  const auto age = (now - since).count();
  return age <= 0 ? -1 : std::bit_width(static_cast<std::uint64_t>(age)) - 1;
}

bool goes_first(const Worth& left, const Worth& right, Time now) {
  if (left.is_assigned != right.is_assigned) return !left.is_assigned;
  if (left.phase != right.phase) return left.phase < right.phase;
  if (left.is_ready != right.is_ready) return !left.is_ready;
  if (left.deletion_cost != right.deletion_cost) return left.deletion_cost < right.deletion_cost;
  if (left.crowd != right.crowd) return left.crowd > right.crowd;
  if (left.is_ready && left.ready != right.ready) {
    const int difference = bucket(*left.ready, now) - bucket(*right.ready, now);
    return difference == 0 ? left.uid < right.uid : difference < 0;
  }
  if (left.max_restarts != right.max_restarts) return left.max_restarts > right.max_restarts;
  if (left.created != right.created && left.created && right.created) {
    const int difference = bucket(*left.created, now) - bucket(*right.created, now);
    return difference == 0 ? left.uid < right.uid : difference < 0;
  }
  return left.uid < right.uid;
}

bool has_labels_of(const kube::Object& pod, const Value& labels) {
  for (const auto& [key, value] : labels.members()) {
    if (kube::label(pod, key) != value.as_string()) return false;
  }
  return true;
}

Value failure_conditions(const kube::Object& set, const std::optional<ReplicaFailure>& failure, Time now) {
  const Value& before = set["status"]["conditions"];
  const bool is_known = !kube::condition(set, "ReplicaFailure").is_null();
  if (failure && !is_known) {
    const char* reason = failure->is_creation ? "FailedCreate" : "FailedDelete";
    return kube::set_condition(before, {"ReplicaFailure", "True", reason, failure->message}, now);
  }
  if (failure || !is_known) return before;
  json::ArrayBuilder rest;
  for (const Value& condition : before.items()) {
    if (condition["type"].as_string() != "ReplicaFailure") rest.add(condition);
  }
  return rest.empty() ? Value() : rest.build();
}

}  // namespace

std::vector<kube::Object> in_removal_order(std::vector<kube::Object> pods, Time now) {
  std::map<std::string, std::int64_t> crowds;
  for (const kube::Object& pod : pods) ++crowds[pod["spec"]["nodeName"].str()];
  std::vector<std::pair<Worth, kube::Object>> judged;
  for (const kube::Object& pod : pods) {
    const std::string node = pod["spec"]["nodeName"].str();
    Worth worth;
    worth.is_assigned = !node.empty();
    worth.phase = phase_rank(pod["status"]["phase"].as_string());
    worth.is_ready = kube::is_true(pod, "Ready");
    worth.deletion_cost = deletion_cost(pod);
    worth.crowd = crowds[node];
    worth.ready = ready_since(pod);
    worth.max_restarts = max_restarts(pod);
    worth.created = kube::creation_time(pod);
    worth.uid = std::string(kube::uid(pod));
    judged.emplace_back(std::move(worth), pod);
  }
  std::sort(judged.begin(), judged.end(),
            [now](const auto& left, const auto& right) { return goes_first(left.first, right.first, now); });
  for (std::size_t i = 0; i < pods.size(); ++i) pods[i] = std::move(judged[i].second);
  return pods;
}

ReplicaSetPlan plan_replica_set(const kube::Object& set, const std::vector<kube::Object>& pods, const IsTaken& is_taken,
                                std::int64_t next_number, const Now& now) {
  ReplicaSetPlan plan;
  plan.next_number = next_number;
  if (kube::is_deleting(set)) return plan;
  const std::int64_t min_ready = set["spec"]["minReadySeconds"].as_int();
  std::vector<kube::Object> active;
  for (const kube::Object& pod : pods) {
    if (is_active_pod(pod)) active.push_back(pod);
    if (is_terminal_pod(pod) && !kube::is_deleting(pod) && kube::is_true(pod, kDisruptionTarget)) plan.remove.push_back(pod);
    const auto wait = until_available(pod, min_ready, now);
    if (wait && (!plan.look_again || *wait < *plan.look_again)) plan.look_again = wait;
  }
  const std::int64_t surplus = static_cast<std::int64_t>(active.size()) - wanted_replicas(set);
  if (surplus > 0) {
    active = in_removal_order(std::move(active), now);
    active.resize(static_cast<std::size_t>(std::min(surplus, kMaxReplicaBurst)));
    plan.remove.insert(plan.remove.end(), active.begin(), active.end());
  }
  plan.create = next_pod_names(set, std::min(-surplus, kMaxReplicaBurst), is_taken, plan.next_number);
  return plan;
}

json::Value replica_set_status(const kube::Object& set, const std::vector<kube::Object>& pods,
                               const std::optional<ReplicaFailure>& failure, const Now& now) {
  const Value& labels = set["spec"]["template"]["metadata"]["labels"];
  const std::int64_t min_ready = set["spec"]["minReadySeconds"].as_int();
  std::int64_t replicas = 0;
  std::int64_t labeled = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  for (const kube::Object& pod : pods) {
    if (!is_active_pod(pod)) continue;
    ++replicas;
    if (has_labels_of(pod, labels)) ++labeled;
    if (!kube::is_true(pod, "Ready")) continue;
    ++ready;
    if (is_available_pod(pod, min_ready, now)) ++available;
  }
  Value status = set["status"].with("replicas", replicas).with("observedGeneration", kube::generation(set));
  const auto set_count = [&](const char* name, std::int64_t count) {
    status = count == 0 ? status.without(name) : status.with(name, count);
  };
  set_count("fullyLabeledReplicas", labeled);
  set_count("readyReplicas", ready);
  set_count("availableReplicas", available);
  Value conditions = failure_conditions(set, failure, now);
  return conditions.empty() ? status.without("conditions") : status.with("conditions", std::move(conditions));
}

kube::Object make_replica_pod(const kube::Object& set, const std::string& name) {
  const Value& pod = set["spec"]["template"];
  json::ObjectBuilder metadata;
  metadata.set("name", name).set("namespace", kube::ns(set)).set("generateName", std::string(kube::name(set)) + "-");
  for (const char* part : {"labels", "annotations", "finalizers"}) {
    if (const Value& value = pod["metadata"][part]; !value.empty()) metadata.set(part, value);
  }
  metadata.set("ownerReferences", json::array({kube::owner_reference(set)}));
  return json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata.build()}, {"spec", pod["spec"]}});
}

}  // namespace slipway::cluster
