#include "sim/revision_scenario.h"

#include <fmt/format.h>

#include <set>

#include "delivery/rollout/kind.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "plane/store_view.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::rollout::kAppRolloutKind;
using delivery::rollout::kAppRollouts;
using delivery::rollout::kRolloutKind;
using delivery::rollout::kRollouts;
using json::Value;

constexpr std::string_view kCopyOf = "rollout.slipway.dev/copy-of";

std::string settings(std::string_view greeting) {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: conf}}\ndata: {{greeting: {}}}\n---\n", greeting);
}

/// A Deployment of two pods that read the ConfigMap.
std::string workload(std::string_view name, std::string_view image, std::string_view ready_after) {
  return fmt::format(
      "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {0}, labels: {{app.oam.dev/component: {0}, app.oam.dev/name: "
      "a, "
      "app.oam.dev/resourceType: WORKLOAD}}}}, spec: {{replicas: 2, selector: {{matchLabels: {{app: {0}}}}}, template: "
      "{{metadata: {{labels: {{app: {0}}}, annotations: {{slipway.dev/ready-after: {2}}}}}, spec: "
      "{{terminationGracePeriodSeconds: 1, containers: [{{name: main, image: '{1}', envFrom: [{{configMapRef: {{name: "
      "conf}}}}]}}]}}}}}}}}",
      name, image, ready_after);
}

/// Of the application: what it rendered.
std::string revision(std::string_view name, std::string_view image) {
  const Value objects =
      json::parse_yaml("[" + workload("web", image, "2s") +
                       ", {apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, "
                       "ports: [{port: 80}]}}]")
          .value();
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\ndata: {{web: '{}'}}\n---\n", name,
                     json::print(objects));
}

std::string recorded(std::string_view name, int number, std::string_view ready_after) {
  return fmt::format(
      "apiVersion: apps/v1\nkind: ControllerRevision\nmetadata: {{name: {0}, labels: {{app.oam.dev/component: "
      "api}}}}\nrevision: "
      "{1}\ndata: {2}\n---\n",
      name, number, workload("api", name, ready_after));
}

std::string app_rollout(std::string_view target, std::string_view plan) {
  return fmt::format(
      "apiVersion: {}\nkind: {}\nmetadata: {{name: web}}\nspec: {{targetAppRevisionName: {}, rolloutPlan: {{{}snapshotConfig: "
      "true}}}}\n",
      kAppRolloutKind.api_version(), kAppRolloutKind.kind, target, plan);
}

std::string component_rollout(std::string_view target, std::string_view plan) {
  return fmt::format(
      "apiVersion: {}\nkind: {}\nmetadata: {{name: api}}\nspec: {{targetRevisionName: {}, componentName: api, rolloutPlan: "
      "{{{}numBatches: 1}}}}\n",
      kRolloutKind.api_version(), kRolloutKind.kind, target, plan);
}

/// That the rollout has this target and state; looks every half second.
Task<> wait_for_state(World& world, kube::Resource resource, std::string name, std::string target, std::string state) {
  for (;;) {
    const auto seen = co_await client::get(world.user(), resource, {"default", name});
    const Value status = seen ? (*seen)["status"] : Value();
    const bool is_there = status["rollingState"].as_string() == state || status["batchRollingState"].as_string() == state;
    if (is_there && status["lastTargetRevision"].as_string() == target) co_return;
    co_await sleep_for(world.user_domain().env(), 500ms);
  }
}

/// What the pods of a Deployment read, by the copy that its template names.
Task<> tell_greeting(World& world, std::string name) {
  const auto made = co_await client::get(world.user(), kube::kDeployments, {"default", name});
  SLIPWAY_CHECK(made.has_value(), made.error().message);
  const Value& container = (*made)["spec"]["template"]["spec"]["containers"].item(0);
  const std::string conf = container["envFrom"].item(0)["configMapRef"]["name"].str();
  const auto map = co_await client::get(world.user(), kube::kConfigMaps, {"default", conf});
  SLIPWAY_CHECK(map.has_value(), map.error().message);
  world.tell(fmt::format("{} has {} pods and says {}, {}", name, (*made)["spec"]["replicas"].as_int(),
                         (*map)["data"]["greeting"].as_string(), (*map)["immutable"].as_bool() ? "for ever" : "for now"));
}

Task<> revisions(World& world) {
  co_await apply_text(world, settings("one") + revision("a-v1", "web:1") + app_rollout("a-v1", "numBatches: 1, "));
  co_await wait_for_state(world, kAppRollouts, "web", "a-v1", "rolloutSucceed");
  co_await apply_text(world,
                      settings("two") + revision("a-v2", "web:2") + app_rollout("a-v2", "numBatches: 2, batchPartition: 0, "));
  co_await wait_for_state(world, kAppRollouts, "web", "a-v2", "batchReady");
  co_await apply_text(world, settings("three") + app_rollout("a-v2", "numBatches: 2, "));
  co_await wait_for_state(world, kAppRollouts, "web", "a-v2", "rolloutSucceed");
  co_await tell_greeting(world, "web-v1");
  co_await tell_greeting(world, "web-v2");
  co_await apply_text(world, recorded("api-v1", 1, "2s") + component_rollout("api-v1", ""));
  co_await wait_for_state(world, kRollouts, "api", "api-v1", "rolloutSucceed");
  co_await apply_text(
      world, recorded("api-v2", 2, "never") + component_rollout("api-v2", "batchDeadlineSeconds: 20, onFailure: Revert, "));
  co_await wait_for_state(world, kRollouts, "api", "api-v2", "rolloutFailed");
  co_await tell_greeting(world, "api-v1");
}

/// Two pods of the application at least, once the first revision is out, and never more than a batch beyond; a copy that a
/// template names is there.
std::string revisions_promise(World& world) {
  if (world.store() == nullptr) return "";
  const plane::StoreView view(*world.server(), *world.store(), Time{});
  std::set<std::string> maps;
  for (const Value& map : view.all({"", "v1", "ConfigMap"}, "default")) {
    maps.insert(std::string(kube::name(map)));
    const std::string_view original = kube::annotation(map, kCopyOf);
    if (!original.empty() && !map["immutable"].as_bool()) return fmt::format("the copy {} may change", kube::name(map));
  }
  std::int64_t web = 0;
  for (const Value& one : view.all({"apps", "v1", "Deployment"}, "default")) {
    if (kube::name(one).starts_with("web-")) web += one["spec"]["replicas"].as_int();
    const Value& container = one["spec"]["template"]["spec"]["containers"].item(0);
    const std::string conf = container["envFrom"].item(0)["configMapRef"]["name"].str();
    if (!maps.contains(conf)) return fmt::format("{} names {}, which is not there", kube::name(one), conf);
  }
  return web <= 3 ? "" : fmt::format("{} pods of web are asked for", web);
}

}  // namespace

Scenario revision_rollout_scenario() {
  return {.name = "revision rollout", .script = revisions, .promise = revisions_promise, .every = 23};
}

}  // namespace slipway::sim
