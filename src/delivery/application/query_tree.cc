#include "delivery/application/query_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "delivery/application/rollout_plans.h"
#include "delivery/family/rolled_workloads.h"
#include "kube/table_cells.h"

namespace slipway::delivery::application {
namespace {

constexpr int kMaxTreeDepth = 5;

constexpr const char* kHealthy = "Healthy";
constexpr const char* kUnhealthy = "UnHealthy";
constexpr const char* kStateProgressing = "Progressing";
constexpr const char* kUnknown = "Unknown";

/// Objects of `child` belong below objects of `parent` that own them.
struct Rule {
  const char* parent_group;
  const char* parent_kind;
  kube::GroupVersionKind child;
  bool is_selected = true;  // by the parent's spec.selector.matchLabels
};

const Rule kRules[] = {
    {"apps", "Deployment", {"apps", "v1", "ReplicaSet"}},
    {"apps", "ReplicaSet", {"", "v1", "Pod"}},
    {"apps", "StatefulSet", {"", "v1", "Pod"}},
    {"apps", "DaemonSet", {"", "v1", "Pod"}},
    {"batch", "Job", {"", "v1", "Pod"}},
    {"batch", "CronJob", {"batch", "v1", "Job"}},
    {"", "Service", {"discovery.k8s.io", "v1", "EndpointSlice"}, false},
    {"", "Service", {"", "v1", "Endpoints"}, false},
};

std::string selector_of(const Rule& rule, const Value& parent) {
  std::string text;
  if (!rule.is_selected) return text;
  for (const auto& [key, value] : parent["spec"]["selector"]["matchLabels"].members()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value.as_string());
  }
  return text;
}

/// Endpoints have no owner: they have their Service's name.
bool belongs(const Value& child, const Value& parent) {
  if (kube::is_owned_by(child, kube::uid(parent))) return true;
  return kube::kind(child) == "Endpoints" && kube::name(child) == kube::name(parent);
}

Task<Result<std::vector<Value>>> children_of(AppRun& run, std::string cluster, const Rule& rule, Value parent) {
  SLIPWAY_CO_TRY(client, run.on(cluster));
  const auto kind = co_await run.tools().live.kinds().find(*client, cluster, rule.child);
  if (!kind && kind.error().reason == Reason::NotFound) co_return std::vector<Value>{};
  if (!kind) co_return fail(kind.error());
  client::ListQuery query;
  query.ns = std::string(kube::ns(parent));
  query.label_selector = selector_of(rule, parent);
  SLIPWAY_CO_TRY(listed, co_await client::list(*client, kind->resource, query));
  std::vector<Value> found;
  for (const Value& item : listed["items"].items()) {
    const Value object = item.with("apiVersion", rule.child.api_version()).with("kind", rule.child.kind);
    if (belongs(object, parent)) found.push_back(object.without_path({"metadata", "managedFields"}));
  }
  std::ranges::sort(found, {}, [](const Value& object) { return std::string(kube::name(object)); });
  co_return found;
}

/// A workload that a rollout names; null when it is not there.
Task<Result<Value>> find_rolled(AppRun& run, std::string cluster, Value reference) {
  SLIPWAY_CO_TRY(client, run.on(cluster));
  SLIPWAY_CO_TRY(kind, co_await run.tools().live.kinds().find_for(*client, cluster, reference));
  auto found = co_await client::get(*client, kind.resource, {reference["namespace"].str(), reference["name"].str()});
  if (!found && found.error().reason == Reason::NotFound) co_return Value();
  if (!found) co_return found;
  co_return found->without_path({"metadata", "managedFields"});
}

Task<Result<TreeNode>> grow(AppRun& run, std::string cluster, Value object, KindFilter filter, int depth) {
  TreeNode node{.object = std::move(object), .leaves = {}};
  const auto kind = kube::GroupVersionKind::of(node.object);
  if (!kind || depth > kMaxTreeDepth) co_return node;
  for (const Rule& rule : kRules) {
    if (kind->group != rule.parent_group || kind->kind != rule.parent_kind) continue;
    SLIPWAY_CO_TRY(children, co_await children_of(run, cluster, rule, node.object));
    for (Value& child : children) {
      SLIPWAY_CO_TRY(leaf, co_await grow(run, cluster, std::move(child), filter, depth + 1));
      if (filter.matches(leaf.object) || !leaf.leaves.empty()) node.leaves.push_back(std::move(leaf));
    }
  }
  for (const Value& reference : has_plan(node.object) ? rolled_workloads(node.object) : std::vector<Value>{}) {
    SLIPWAY_CO_TRY(workload, co_await find_rolled(run, cluster, reference));
    if (workload.is_null()) continue;
    SLIPWAY_CO_TRY(leaf, co_await grow(run, cluster, std::move(workload), filter, depth + 1));
    if (filter.matches(leaf.object) || !leaf.leaves.empty()) node.leaves.push_back(std::move(leaf));
  }
  co_return node;
}

Value health(const char* code, const Value& reason, const Value& message) {
  json::ObjectBuilder out;
  out.set("statusCode", code);
  if (!reason.as_string().empty()) out.set("reason", reason);
  if (!message.as_string().empty()) out.set("message", message);
  return out.build();
}

/// Why the first container that failed did.
Value failure_message(const Value& status) {
  if (!status["message"].as_string().empty()) return status["message"];
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : status[list].items()) {
      const Value& ended = container["state"]["terminated"];
      if (!ended["message"].as_string().empty()) return ended["message"];
      if (ended["reason"].as_string() == "OOMKilled") return ended["reason"];
      if (ended["exitCode"].as_int() != 0) {
        return fmt::format("container \"{}\" failed with exit code {}", container["name"].as_string(),
                           ended["exitCode"].as_int());
      }
    }
  }
  return {};
}

Value pod_health(const Value& pod) {
  const Value& status = pod["status"];
  const auto phase = status["phase"].as_string();
  if (phase == "Succeeded") return health(kHealthy, status["reason"], status["message"]);
  if (phase == "Pending") return health(kStateProgressing, {}, status["message"]);
  if (phase == "Failed") return health(kUnhealthy, {}, failure_message(status));
  if (phase != "Running") return health(kUnknown, status["phase"], status["message"]);
  const bool is_kept = pod["spec"]["restartPolicy"].as_string() == "Always";
  if (is_kept && kube::is_true(pod, "Ready")) return health(kHealthy, "all containers are ready", {});
  const bool has_ended = std::ranges::any_of(status["containerStatuses"].items(),
                                             [](const Value& one) { return one["lastState"].has("terminated"); });
  return health(is_kept && has_ended ? kUnhealthy : kStateProgressing, status["reason"], status["message"]);
}

Value replica_set_health(const Value& set) {
  const Value& status = set["status"];
  if (status["observedGeneration"].as_int() < set["metadata"]["generation"].as_int()) {
    return health(kStateProgressing, {}, "the newest generation has not been looked at yet");
  }
  const Value failure = kube::condition(set, "ReplicaFailure");
  if (failure["status"].as_string() == "True") return health(kUnhealthy, failure["reason"], failure["message"]);
  const std::int64_t wanted = set["spec"]["replicas"].as_int(1);
  const std::int64_t available = status["availableReplicas"].as_int();
  if (available >= wanted) return health(kHealthy, {}, {});
  return health(kStateProgressing, {}, fmt::format("{} of {} replicas are available", available, wanted));
}

Value claim_health(const Value& claim) {
  const auto phase = claim["status"]["phase"].as_string();
  return health(phase == "Bound"     ? kHealthy
                : phase == "Pending" ? kStateProgressing
                : phase == "Lost"    ? kUnhealthy
                                     : kUnknown,
                {}, {});
}

Value service_health(const Value& service) {
  const bool waits =
      service["spec"]["type"].as_string() == "LoadBalancer" && service["status"]["loadBalancer"]["ingress"].empty();
  return health(waits ? kStateProgressing : kHealthy, {}, {});
}

/// A cell of the tables that kubectl prints.
Value cell(std::span<const kube::CellRow> rows, std::string_view name, const Value& object, Time now) {
  const auto row = std::ranges::find(rows, name, &kube::CellRow::name);
  return row == rows.end() ? Value() : row->cell(object, now);
}

/// What a list of such objects would show; null for kinds without.
Value short_facts(const Value& object, Time now) {
  const auto kind = kube::kind(object);
  const std::string age = kube::since(object["metadata"]["creationTimestamp"], now);
  const Value& status = object["status"];
  const std::string ready = fmt::format("{}/{}", status["readyReplicas"].as_int(), object["spec"]["replicas"].as_int(1));
  if (kind == "Pod") {
    std::int64_t restarts = 0;
    for (const Value& container : status["containerStatuses"].items()) restarts += container["restartCount"].as_int();
    return json::object({{"Ready", cell(kube::pod_cells(), "@pod.ready", object, now)},
                         {"Status", cell(kube::pod_cells(), "@pod.status", object, now)},
                         {"Restarts", restarts},
                         {"Age", age}});
  }
  if (kind == "Deployment") {
    return json::object({{"Ready", ready},
                         {"Update", status["updatedReplicas"].as_int()},
                         {"Available", status["availableReplicas"].as_int()},
                         {"Age", age}});
  }
  if (kind == "StatefulSet") return json::object({{"Ready", ready}, {"Age", age}});
  if (kind == "Service" && object["spec"]["type"].as_string() == "LoadBalancer") {
    const Value& address = status["loadBalancer"]["ingress"].item(0)["ip"];
    return json::object({{"EIP", address.is_null() ? Value("pending") : address}});
  }
  return {};
}

}  // namespace

bool KindFilter::matches(const Value& object) const {
  return (kind.empty() || kind == kube::kind(object)) &&
         (api_version.empty() || api_version == object["apiVersion"].as_string());
}

Value TreeNode::to_json(const std::string& cluster, Time now) const {
  const Value& meta = object["metadata"];
  json::ObjectBuilder out;
  out.set("cluster", cluster);
  out.set("apiVersion", object["apiVersion"]);
  out.set("kind", object["kind"]);
  for (const char* field : {"namespace", "name", "uid"}) {
    if (meta.has(field)) out.set(field, meta[field]);
  }
  out.set("healthStatus", health_status(object));
  for (const char* field : {"creationTimestamp", "deletionTimestamp"}) {
    if (meta.has(field)) out.set(field, meta[field]);
  }
  json::ArrayBuilder nodes;
  for (const TreeNode& leaf : leaves) nodes.add(leaf.to_json(cluster, now));
  if (!leaves.empty()) out.set("leafNodes", nodes.build());
  if (Value facts = short_facts(object, now); !facts.is_null()) out.set("additionalInfo", std::move(facts));
  return out.build();
}

Task<Result<TreeNode>> tree_below(AppRun& run, std::string cluster, Value root, KindFilter filter) {
  return grow(run, std::move(cluster), root.without_path({"metadata", "managedFields"}), std::move(filter), 1);
}

Value health_status(const Value& object) {
  const auto kind = kube::GroupVersionKind::of(object);
  if (!kind) return health(kUnknown, {}, {});
  if (kind->group.empty() && kind->kind == "Pod") return pod_health(object);
  if (kind->group.empty() && kind->kind == "Service") return service_health(object);
  if (kind->group.empty() && kind->kind == "PersistentVolumeClaim") return claim_health(object);
  if (kind->group == "apps" && kind->kind == "ReplicaSet") return replica_set_health(object);
  return health(kHealthy, {}, {});
}

}  // namespace slipway::delivery::application
