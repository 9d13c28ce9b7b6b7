#include "sim/rollout_scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/count.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "plane/store_view.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::rollout::kTraitKind;
using delivery::rollout::kTraits;
using json::Value;
using kube::kDeployments;
using kube::Object;

constexpr const char* kName = "r";
const kube::Resource kStatefulSets{"apps", "v1", "statefulsets"};
const kube::Resource kIngresses{"networking.k8s.io", "v1", "ingresses"};
const kube::GroupVersionKind kDeploymentKind{"apps", "v1", "Deployment"};
const kube::GroupVersionKind kStatefulSetKind{"apps", "v1", "StatefulSet"};
const kube::GroupVersionKind kIngressKind{"networking.k8s.io", "v1", "Ingress"};
const kube::GroupVersionKind kPodKind{"", "v1", "Pod"};

std::string workload(std::string_view kind, std::string_view name, std::int64_t replicas, std::string_view ready_after,
                     std::string_view more = "") {
  return fmt::format(R"(
apiVersion: apps/v1
kind: {}
metadata: {{name: {}}}
spec:
  replicas: {}{}
  selector: {{matchLabels: {{app: web, version: {}}}}}
  template:
    metadata:
      labels: {{app: web, version: {}}}
      annotations: {{slipway.dev/ready-after: {}}}
    spec: {{terminationGracePeriodSeconds: 1, containers: [{{name: main, image: '{}'}}]}}
---)",
                     kind, name, replicas, more, name, name, ready_after, name);
}

std::string version(std::string_view name, std::int64_t replicas, std::string_view ready_after = "2s") {
  return workload(kDeploymentKind.kind, name, replicas, ready_after);
}

/// Without a source: the target is updated in place.
std::string trait(std::string_view kind, std::string_view target, std::string_view source, std::string_view plan) {
  const std::string sources =
      source.empty() ? "" : fmt::format("sourceRef: [{{apiVersion: apps/v1, kind: {}, name: {}}}]", kind, source);
  return fmt::format(R"(
apiVersion: {}
kind: {}
metadata: {{name: {}}}
spec:
  targetRef: {{apiVersion: apps/v1, kind: {}, name: {}}}
  {}
  rolloutPlan: {}
)",
                     kTraitKind.api_version(), kTraitKind.kind, kName, kind, target, sources, plan);
}

std::string trait(std::string_view target, std::string_view source, std::string_view plan) {
  return trait(kDeploymentKind.kind, target, source, plan);
}

Task<Value> look(World& world, kube::Resource resource, std::string name) {
  auto found = co_await client::get(world.user(), resource, {"default", name});
  co_return found ? *found : Value();
}

/// That the attempt of this number has this state.
Task<> wait_for_state(World& world, std::int64_t attempt, std::string state) {
  co_await wait_until(world, kTraits, kName, [attempt, state](const Value& rollout) {
    const Value& status = rollout["status"];
    return status["attempt"].as_int() == attempt &&
           (status["rollingState"].as_string() == state ||
            (status["rollingState"].as_string() == "rollingInBatches" && status["batchRollingState"].as_string() == state));
  });
}

Task<> wait_for_ready(World& world, kube::Resource resource, std::string name, std::int64_t pods) {
  co_await wait_until(world, resource, name,
                      [pods](const Value& workload) { return workload["status"]["readyReplicas"].as_int() == pods; });
}

Task<> change(World& world, kube::Resource resource, std::string name, std::string patch, std::string manager = "user") {
  const auto changed =
      co_await client::merge_patch(world.user(), resource, {"default", name}, json::parse(patch).value(), manager);
  SLIPWAY_CHECK(changed.has_value(), changed.error().message);
}

Task<> tell_sizes(World& world) {
  for (const char* name : {"v1", "v2", "v3"}) {
    const Value seen = co_await look(world, kDeployments, name);
    if (seen.is_null()) continue;
    world.tell(fmt::format("{} is asked for {} pods, owner {}", name, seen["spec"]["replicas"].as_int(),
                           kube::controller_of(seen)["name"].as_string()));
  }
}

/// Two batches of two, each with a hook before and one after.
std::string hooked(std::string_view more) {
  const char* hooks =
      "replicas: 2, batchRolloutWebhooks: [{type: pre-batch-rollout, name: ask, url: 'http://hooks.test/late'}, "
      "{type: post-batch-rollout, name: check, url: 'http://hooks.test/late'}]";
  return fmt::format("{{rolloutBatches: [{{{0}}}, {{{0}}}], {1}}}", hooks, more);
}

Task<> gated(World& world) {
  co_await apply_text(world, version("v1", 4) + version("v2", 0) + version("v3", 0, "never"));
  co_await wait_for_ready(world, kDeployments, "v1", 4);
  co_await apply_text(world, trait("v2", "v1", hooked("batchPartition: 0")));
  co_await wait_for_state(world, 1, "batchReady");
  co_await tell_sizes(world);
  co_await change(world, kTraits, kName, R"({"spec": {"rolloutPlan": {"paused": true, "batchPartition": null}}})");
  co_await sleep_for(world.user_domain().env(), 30s);
  co_await tell_sizes(world);
  co_await change(world, kTraits, kName, R"({"spec": {"rolloutPlan": {"paused": false}}})");
  co_await wait_for_state(world, 1, "rolloutSucceed");
  co_await tell_sizes(world);
  co_await apply_text(world, trait("v3", "v2", hooked("batchDeadlineSeconds: 20, onFailure: Revert")));
  co_await wait_for_state(world, 2, "rolloutFailed");
  co_await tell_sizes(world);
}

Task<> disturbed(World& world) {
  co_await apply_text(world, version("v1", 4) + version("v2", 0) + version("v3", 0));
  co_await wait_for_ready(world, kDeployments, "v1", 4);
  co_await apply_text(world, trait("v2", "v1", "{numBatches: 2, batchPartition: 0, revertOnDelete: true}"));
  co_await wait_for_state(world, 1, "batchReady");
  co_await change(world, kDeployments, "v1", R"({"spec": {"replicas": 3}})", "kubectl-scale");
  co_await wait_until(world, kTraits, kName,
                      [](const Value& rollout) { return rollout["status"]["rolloutTargetSize"].as_int() == 5; });
  co_await tell_sizes(world);
  co_await apply_text(world, trait("v3", "v2", "{numBatches: 2, batchPartition: 0, revertOnDelete: true}"));
  co_await wait_for_state(world, 2, "batchReady");
  co_await tell_sizes(world);
  co_await remove(world, kTraits, {"default", kName}, "Background");
  co_await wait_until_gone(world, kTraits, {"default", kName});
  co_await tell_sizes(world);
}

constexpr const char* kFront = R"(
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  ingressClassName: nginx
  rules: [{host: web.test, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---)";

Task<> shifted(World& world) {
  co_await apply_text(world, kFront + version("v1", 4) + version("v2", 0));
  co_await wait_for_ready(world, kDeployments, "v1", 4);
  co_await apply_text(world, trait("v2", "v1", R"({
    rolloutBatches: [{replicas: 2}, {replicas: 2, gates: [{name: refuse, at: after, webhook: {url: 'http://hooks.test/never'}}]}],
    onFailure: Revert,
    traffic: {provider: nginx, ingressRef: {apiVersion: networking.k8s.io/v1, kind: Ingress, name: web}, service: web,
              drainSeconds: 4}})"));
  co_await wait_for_state(world, 1, "rolloutFailed");
  co_await tell_sizes(world);
}

std::string database(std::string_view image, std::string_view ready_after) {
  return fmt::format(R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db}}
spec:
  replicas: 4
  serviceName: db
  podManagementPolicy: Parallel
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}, annotations: {{slipway.dev/ready-after: {}}}}}
    spec: {{terminationGracePeriodSeconds: 1, containers: [{{name: main, image: '{}'}}]}}
)",
                     ready_after, image);
}

Task<> in_place(World& world) {
  co_await apply_text(world, database("db:1", "2s"));
  co_await change(world, kStatefulSets, "db", R"({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 4}}}})");
  co_await wait_for_ready(world, kStatefulSets, "db", 4);
  co_await apply_text(world, database("db:2", "2s"));
  co_await apply_text(world,
                      trait(kStatefulSetKind.kind, "db", "", "{numBatches: 2, batchDeadlineSeconds: 20, onFailure: Revert}"));
  co_await wait_for_state(world, 1, "rolloutSucceed");
  co_await change(world, kStatefulSets, "db", R"({"spec": {"updateStrategy": {"rollingUpdate": {"partition": 4}}}})");
  co_await apply_text(world, database("db:3", "never"));
  co_await wait_for_state(world, 2, "rolloutFailed");
}

plane::StoreView view_of(World& world) { return {*world.server(), *world.store(), Time{}}; }

Value rollout_in(const plane::StoreView& view) {
  const auto found = view.all(kTraitKind, "default");
  return found.empty() ? Value() : found.front();
}

/// A Deployment has at most one owner, and the sizes asked for together lie within what IncreaseFirst allows on T pods in
/// batches of `batch`; on the way back all old pods may stand beside the new ones. `least` and `most` are those of T.
std::string sizes_fault(const plane::StoreView& view, std::int64_t least, std::int64_t most, std::int64_t batch) {
  std::int64_t sum = 0;
  for (const Value& one : view.all(kDeploymentKind, "default")) {
    sum += one["spec"]["replicas"].as_int();
    std::int64_t owners = 0;
    for (const Value& owner : one["metadata"]["ownerReferences"].items()) owners += owner["controller"].as_bool() ? 1 : 0;
    if (owners > 1) return fmt::format("{} owners of {}", owners, kube::name(one));
  }
  const Value rollout = rollout_in(view);
  const std::int64_t more = rollout["status"]["reverting"].as_bool() ? most : batch;
  return rollout.is_null() || (sum >= least && sum <= most + more) ? "" : fmt::format("{} pods are asked for", sum);
}

std::int64_t ready_pods(const plane::StoreView& view, std::string_view version) {
  return std::ranges::count_if(view.all(kPodKind, "default"), [&](const Value& pod) {
    return kube::label(pod, "version") == version && !kube::is_deleting(pod) && kube::is_true(pod, "Ready");
  });
}

/// What was asked about a batch whose successor has begun was answered by 200 and is still known.
std::string hooks_fault(const World& world, const Value& rollout) {
  const Value& status = rollout["status"];
  for (std::int64_t batch = 0; batch < status["currentBatch"].as_int(); ++batch) {
    for (const char* hook : {"before/ask", "after/check"}) {
      const std::string key = fmt::format("{}/{}", batch, hook);
      if (world.web().answered(fmt::format("{}/{}", status["attempt"].as_int(), key)) != 200) return key + " was not passed";
      const auto gates = status["gates"].items();
      const auto record = std::ranges::find_if(gates, [&](const Value& gate) { return gate["key"].as_string() == key; });
      if (record == gates.end() || (*record)["state"].as_string() != "Passed") return key + " was forgotten";
    }
  }
  return "";
}

std::string gated_promise(World& world) {
  if (world.store() == nullptr) return "";
  const plane::StoreView view = view_of(world);
  std::string fault = sizes_fault(view, 4, 4, 2);
  if (fault.empty() && !rollout_in(view).is_null() && ready_pods(view, "v1") + ready_pods(view, "v2") < 4) {
    fault = "fewer than 4 ready pods";
  }
  return fault.empty() ? hooks_fault(world, rollout_in(view)) : fault;
}

std::string disturbed_promise(World& world) {
  if (world.store() == nullptr) return "";
  return sizes_fault(view_of(world), 4, 5, 3);
}

std::int64_t weight_of(const plane::StoreView& view) {
  for (const Value& ingress : view.all(kIngressKind, "default")) {
    const std::string_view weight = kube::annotation(ingress, "nginx.ingress.kubernetes.io/canary-weight");
    if (!weight.empty()) return leading_count(weight);
  }
  return 0;
}

/// Traffic goes only where pods are ready, of the old version too.
std::string shifted_promise(World& world) {
  if (world.store() == nullptr) return "";
  const plane::StoreView view = view_of(world);
  if (rollout_in(view).is_null()) return "";
  const std::int64_t weight = weight_of(view);
  if (weight > 0 && ready_pods(view, "v2") == 0) return fmt::format("{} % go to a version without ready pods", weight);
  if (weight < 100 && ready_pods(view, "v1") == 0) return fmt::format("{} % go to a version without ready pods", 100 - weight);
  return sizes_fault(view, 4, 4, 2);
}

/// Four pods at most, and never more than a batch of them not ready.
std::string in_place_promise(World& world) {
  if (world.store() == nullptr) return "";
  const plane::StoreView view = view_of(world);
  if (rollout_in(view).is_null()) return "";
  const auto pods = view.all(kPodKind, "default");
  const auto ready =
      std::ranges::count_if(pods, [](const Value& pod) { return !kube::is_deleting(pod) && kube::is_true(pod, "Ready"); });
  if (pods.size() > 4) return fmt::format("{} pods", pods.size());
  return ready >= 2 ? "" : fmt::format("{} ready pods", ready);
}

std::string rollout_line(const Object& rollout) {
  const Value& status = rollout["status"];
  std::string line = fmt::format(
      "rollout {} attempt {} {} batch {} of {} new {} ready {} of {}{}{}", kube::name(rollout), status["attempt"].as_int(),
      status["rollingState"].as_string(), status["currentBatch"].as_int(), status["goals"].size(),
      status["upgradedReplicas"].as_int(), status["upgradedReadyReplicas"].as_int(), status["rolloutTargetSize"].as_int(),
      status["reverting"].as_bool() ? " reverting" : "", kube::is_deleting(rollout) ? " LEFT-OVER" : "");
  std::set<std::string> gates;
  for (const Value& gate : status["gates"].items()) {
    gates.insert(fmt::format(" {}:{}", gate["key"].as_string(), gate["state"].as_string()));
  }
  for (const std::string& gate : gates) line += gate;
  for (const Value& attempt : status["attempts"].items()) line += fmt::format(" ({})", attempt["outcome"].as_string());
  return line;
}

}  // namespace

Scenario gated_rollout_scenario() { return {.name = "gated rollout", .script = gated, .promise = gated_promise, .every = 23}; }

Scenario disturbed_rollout_scenario() {
  return {.name = "disturbed rollout", .script = disturbed, .promise = disturbed_promise, .every = 23};
}

Scenario shifted_rollout_scenario() {
  return {.name = "shifted rollout", .script = shifted, .promise = shifted_promise, .every = 23};
}

Scenario in_place_rollout_scenario() {
  return {.name = "in-place rollout", .script = in_place, .promise = in_place_promise, .every = 23};
}

std::string rollout_state(World& world) {
  std::set<std::string> lines;
  for (const kube::Resource& kind : {kTraits, delivery::rollout::kRollouts, delivery::rollout::kAppRollouts}) {
    for (const Object& rollout : world.objects(kind)) lines.insert(rollout_line(rollout));
  }
  for (const Object& ingress : world.objects(kIngresses)) {
    lines.insert(fmt::format("ingress {} weight {}", kube::name(ingress),
                             kube::annotation(ingress, "nginx.ingress.kubernetes.io/canary-weight")));
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace slipway::sim
