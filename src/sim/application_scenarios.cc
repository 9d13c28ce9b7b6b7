#include "sim/application_scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/application/kind.h"
#include "delivery/application/workflow_run_status.h"
#include "delivery/workflow/run_status.h"
#include "kube/well_known.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::application::kApplicationKind;
using delivery::application::kApplications;
using delivery::application::kRevisions;
using delivery::application::kTrackers;
using delivery::application::kWorkflowRunKind;
using delivery::application::kWorkflowRuns;
using json::Value;
using kube::Object;

constexpr const char* kShop = "shop";
constexpr const char* kRun = "steps";

std::string step_line(const Value& step) {
  std::string line = fmt::format(" {}:{}", step["name"].as_string(), step["phase"].as_string());
  for (const Value& sub : step["subSteps"].items()) line += fmt::format(" [{}]", step_line(sub));
  return line;
}

std::string steps_line(const Value& run) {
  std::string line = fmt::format("{}{}{}", run["status"].as_string(), run["suspend"].as_bool() ? " suspended" : "",
                                 run["finished"].as_bool() ? " finished" : "");
  for (const Value& step : run["steps"].items()) line += step_line(step);
  return line;
}

std::string application_line(const Object& application) {
  const Value& status = application["status"];
  std::string line = fmt::format("{} {} {} workflow {}", kube::name(application), status["status"].as_string(),
                                 status["latestRevision"]["name"].as_string(), steps_line(status["workflow"]));
  std::set<std::string> services;
  for (const Value& service : status["services"].items()) {
    services.insert(fmt::format(" {}@{}:{}", service["name"].as_string(), service["cluster"].as_string(),
                                service["healthy"].as_bool() ? "healthy" : "unhealthy"));
  }
  for (const std::string& service : services) line += service;
  return line;
}

std::string data_line(const Object& map) {
  std::string line;
  for (const auto& [key, value] : map["data"].members()) {
    // What the controller keeps for itself has ids and times in it.
    if (value.is_string() && value.as_string().size() < 20) line += fmt::format(" {}={}", key, value.as_string());
  }
  return line;
}

Task<> pause(World& world, Duration time) { co_await sleep_for(world.user_domain().env(), time); }

/// Looks every virtual second.
Task<Object> wait_for_object(World& world, kube::Resource resource, std::string name,
                             std::function<bool(const Object&)> holds) {
  for (;;) {
    const auto found = co_await client::get(world.user(), resource, {"default", name});
    SLIPWAY_CHECK(found.has_value(), found.error().message);
    if (holds(*found)) co_return *found;
    co_await pause(world, 1s);
  }
}

Task<Object> wait_for_application(World& world, std::string phase, std::string revision) {
  Object seen = co_await wait_for_object(world, kApplications, kShop, [phase, revision](const Object& application) {
    const Value& status = application["status"];
    return status["status"].as_string() == phase && status["latestRevision"]["name"].as_string() == revision &&
           status["observedGeneration"].as_int() == kube::generation(application);
  });
  co_return seen;
}

Task<> resume_application(World& world) {
  co_await patch_status(world, kApplications, kShop, Value().with_path({"workflow", "suspend"}, false));
}

constexpr const char* kStage = "{apiVersion: v1, kind: Namespace, metadata: {name: stage}}";

/// What is delivered at each version; `extra` is part of the first only.
std::string shop(int version) {
  const auto map = [&](std::string_view name) {
    return fmt::format(R"(
  - name: {0}
    type: k8s-objects
    properties: {{objects: [{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {0}}}, data: {{version: "{1}", color: red}}}}]}})",
                       name, version);
  };
  return fmt::format(R"(
apiVersion: {}
kind: {}
metadata: {{name: {}, namespace: default}}
spec:
  components:{}{}{}
  - name: web
    type: webservice
    properties: {{image: "web:{}"}}
  policies:
  - {{name: both, type: topology, properties: {{clusters: [local, edge]}}}}
  - {{name: far, type: topology, properties: {{clusters: [edge]}}}}
  - {{name: plain, type: override, properties: {{selector: [settings, extra, kept]}}}}
  - {{name: heavy, type: override, properties: {{selector: [web]}}}}
  - name: stays
    type: garbage-collect
    properties: {{rules: [{{selector: {{componentNames: [kept]}}, strategy: never}}]}}
  workflow:
    steps:
    - {{name: spread, type: deploy, properties: {{policies: [both, plain]}}}}
    - {{name: approve, type: suspend}}
    - name: late
      type: apply-object
      properties:
        value: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: late, namespace: stage}}, data: {{version: "{}"}}}}
    - {{name: serve, type: deploy, properties: {{policies: [far, heavy]}}}}
)",
                     kApplicationKind.api_version(), kApplicationKind.kind, kShop, map("settings"), map("kept"),
                     version == 1 ? map("extra") : "", version, version);
}

bool has_failed_step(const Object& application) {
  const auto steps = application["status"]["workflow"]["steps"].items();
  return std::ranges::any_of(steps, [](const Value& step) { return step["phase"].as_string() == "failed"; });
}

/// The user takes one object away in the second cluster and paints the other one over at home.
Task<> drift(World& world) {
  const kube::ObjectKey settings{"default", "settings"};
  const auto before = co_await client::get(world.edge_user(), kube::kConfigMaps, settings);
  SLIPWAY_CHECK(before.has_value(), before.error().message);
  const auto removed = co_await client::remove_exactly(
      world.edge_user(), kube::kConfigMaps, settings,
      {.propagation = "Background", .uid = std::string(kube::uid(*before)), .resource_version = "", .grace_seconds = {}});
  SLIPWAY_CHECK(removed || removed.error().reason == Reason::NotFound || removed.error().reason == Reason::Conflict,
                removed.error().message);
  const Value blue = Value().with_path({"data", "color"}, "blue");
  const auto painted = co_await client::merge_patch(world.user(), kube::kConfigMaps, settings, blue, "user");
  SLIPWAY_CHECK(painted.has_value(), painted.error().message);
  for (;;) {
    const auto there = co_await client::get(world.edge_user(), kube::kConfigMaps, settings);
    const auto here = co_await client::get(world.user(), kube::kConfigMaps, settings);
    if (there && here && (*here)["data"]["color"].as_string() == "red") co_return;
    co_await pause(world, 1s);
  }
}

Task<> application(World& world) {
  co_await apply_text(world, "{apiVersion: v1, kind: ConfigMap, metadata: {name: bystander}, data: {version: none}}");
  co_await apply_text(world, shop(1));
  world.tell(application_line(co_await wait_for_application(world, "workflowSuspending", "shop-v1")));
  co_await resume_application(world);
  co_await wait_for_object(world, kApplications, kShop, has_failed_step);
  co_await apply_text(world, kStage);
  world.tell(application_line(co_await wait_for_application(world, "running", "shop-v1")));
  co_await drift(world);

  co_await apply_text(world, shop(2));
  world.tell(application_line(co_await wait_for_application(world, "workflowSuspending", "shop-v2")));
  co_await apply_text(world, shop(3));
  world.tell(application_line(co_await wait_for_application(world, "workflowSuspending", "shop-v3")));
  world.take_edge_away();
  co_await resume_application(world);
  co_await pause(world, 20s);
  const auto waiting = co_await client::get(world.user(), kApplications, {"default", kShop});
  SLIPWAY_CHECK(waiting.has_value() && (*waiting)["status"]["status"].as_string() != "running", "delivered to nobody");
  world.bring_edge_back();
  world.tell(application_line(co_await wait_for_application(world, "running", "shop-v3")));
  co_await wait_until_gone(world, kTrackers, {"", "shop-v1-default"});  // what is left of the first version is collected
  world.tell(application_state(world));

  world.take_edge_away();
  co_await remove(world, kApplications, {"default", kShop}, "Background");
  co_await pause(world, 10s);
  const auto held = co_await client::get(world.user(), kApplications, {"default", kShop});
  world.tell(held ? "the deletion waits for the second cluster" : "gone without the second cluster");
  world.bring_edge_back();
  co_await wait_until_gone(world, kApplications, {"default", kShop});
}

std::optional<Value> stored(store::Store* store, const std::string& key) {
  if (store == nullptr) return std::nullopt;
  auto entry = store->get(key);
  return entry ? std::optional(std::move(entry->value)) : std::nullopt;
}

/// What the status says of the present spec is true: who runs has everything at this version, healthy. And no step goes past
/// the one that waits for the user: the second version, whose workflow was never let on, is seen by no later step.
std::string application_promise(World& world) {
  const std::string version_of_late = [&] {
    const auto late = stored(world.store(), "/registry/core/configmaps/stage/late");
    return late ? (*late)["data"]["version"].str() : std::string();
  }();
  if (version_of_late == "2") return "a step went past the one that waits";
  const auto shop =
      stored(world.store(), fmt::format("/registry/{}/{}/default/{}", kApplications.group, kApplications.plural, kShop));
  if (!shop || kube::is_deleting(*shop)) return "";
  const Value& status = (*shop)["status"];
  const bool is_running =
      status["status"].as_string() == "running" && status["observedGeneration"].as_int() == kube::generation(*shop);
  if (!is_running) return "";
  const std::string wanted = (*shop)["spec"]["components"].item(0)["properties"]["objects"].item(0)["data"]["version"].str();
  if (version_of_late != wanted) return fmt::format("runs {}, and a step left {}", wanted, version_of_late);
  for (store::Store* store : {world.store(), world.edge_store()}) {
    const auto settings = stored(store, "/registry/core/configmaps/default/settings");
    if (settings && (*settings)["data"]["version"].str() != wanted) return fmt::format("runs {} with old settings", wanted);
  }
  const auto web = stored(world.edge_store(), "/registry/apps/deployments/default/web");
  if (!web) return world.edge_store() == nullptr ? "" : "runs without its Deployment";
  const Value& container = (*web)["spec"]["template"]["spec"]["containers"].item(0);
  if (container["image"].as_string() != "web:" + wanted) return fmt::format("runs {} with an old image", wanted);
  const bool is_current = (*web)["status"]["observedGeneration"].as_int() >= kube::generation(*web);
  if (!is_current || (*web)["status"]["readyReplicas"].as_int() < 1)
    return fmt::format("runs {} on a status that is old", wanted);
  return "";
}

Task<> workflow_run(World& world) {
  const auto map = [](std::string_view name, std::string_view space, std::string_view data) {
    return fmt::format("{{value: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: {}, namespace: {}}}, data: {{{}}}}}}}",
                       name, space, data);
  };
  co_await apply_text(
      world, fmt::format(R"(
apiVersion: {}
kind: {}
metadata: {{name: {}, namespace: default}}
spec:
  workflowSpec:
    steps:
    - name: group
      type: step-group
      subSteps:
      - {{name: one, type: apply-object, properties: {}, outputs: [{{name: drawn, valueFrom: "apply.$returns.value.data.drawn"}}]}}
      - {{name: two, type: apply-object, properties: {}}}
      - {{name: nap, type: suspend, properties: {{duration: 4s}}}}
    - {{name: approve, type: suspend}}
    - {{name: last, type: apply-object, properties: {}, inputs: [{{from: drawn, parameterKey: value.data.drawn}}]}}
)",
                         kWorkflowRunKind.api_version(), kWorkflowRunKind.kind, kRun, map("one", "default", "drawn: lot"),
                         map("two", "stage", "a: b"), map("last", "default", "c: d")));
  const auto phase_of = [](const Object& run, std::string_view name) {
    for (const Value& step : run["status"]["steps"].items()) {
      if (step["name"].as_string() == name) return step["phase"].str();
      for (const Value& sub : step["subSteps"].items()) {
        if (sub["name"].as_string() == name) return sub["phase"].str();
      }
    }
    return std::string();
  };
  co_await wait_for_object(world, kWorkflowRuns, kRun,
                           [phase_of](const Object& run) { return phase_of(run, "two") == "failed"; });
  co_await apply_text(world, kStage);
  const Object waiting = co_await wait_for_object(
      world, kWorkflowRuns, kRun, [phase_of](const Object& run) { return phase_of(run, "approve") == "suspending"; });
  world.tell(steps_line(waiting["status"]));
  co_await patch_status(world, kWorkflowRuns, kRun, json::object({{"suspend", false}}));
  co_await wait_for_object(world, kWorkflowRuns, kRun, [](const Object& run) { return run["status"]["finished"].as_bool(); });
}

/// The last step is not run before the user has let it, nor before what it takes its value from.
std::string run_promise(World& world) {
  const auto last = stored(world.store(), "/registry/core/configmaps/default/last");
  if (last && (*last)["data"]["drawn"].as_string() != "lot") return "the value of another step was lost";
  if (last && !stored(world.store(), "/registry/core/configmaps/stage/two")) return "a step went past one that failed";
  return "";
}

}  // namespace

Scenario application_scenario() {
  return {.name = "application", .script = application, .promise = application_promise, .has_edge = true, .every = 29};
}

Scenario workflow_run_scenario() {
  return {.name = "workflow run", .script = workflow_run, .promise = run_promise, .every = 5};
}

std::string application_state(World& world) {
  std::set<std::string> lines;
  for (const Object& application : world.objects(kApplications)) lines.insert("application " + application_line(application));
  for (const kube::Resource& resource : {kRevisions, kTrackers}) {
    for (const Object& object : world.objects(resource)) {
      lines.insert(fmt::format("{} {}{}", resource.plural, kube::name(object), kube::is_deleting(object) ? " LEFT-OVER" : ""));
    }
  }
  for (const Object& run : world.objects(kWorkflowRuns)) {
    lines.insert(fmt::format("workflow run {} {}", kube::name(run), steps_line(run["status"])));
  }
  const auto count = [&](const Births& births, const char* where) {
    for (const auto& [key, times] : births.counts()) lines.insert(fmt::format("{}{} was made {} times", where, key, times));
  };
  if (!lines.empty() || world.has_edge()) {
    count(world.births(), "");
    for (const Object& map : world.objects(kube::kConfigMaps)) {
      const bool is_users = kube::ns(map) == "default" || kube::ns(map) == "stage";
      if (is_users) lines.insert(fmt::format("configmap {}:{}", kube::name(map), data_line(map)));
    }
  }
  if (world.has_edge()) {
    count(world.edge_births(), "edge: ");
    for (const Object& map : world.edge_objects(kube::kConfigMaps)) {
      if (kube::ns(map) == "default") lines.insert(fmt::format("edge: configmap {}:{}", kube::name(map), data_line(map)));
    }
    for (const Object& deployment : world.edge_objects(kube::kDeployments)) {
      const Value& container = deployment["spec"]["template"]["spec"]["containers"].item(0);
      lines.insert(fmt::format("edge: deployment {} {} ready={}", kube::name(deployment), container["image"].as_string(),
                               deployment["status"]["readyReplicas"].as_int()));
    }
    for (const Object& pod : world.edge_objects(kube::kPods)) {
      lines.insert(fmt::format("edge: pod {} {}", kube::label(pod, delivery::application::kLabelComponent),
                               pod["status"]["phase"].as_string()));
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  for (const std::string& line : world.diary()) text += "seen: " + line + "\n";
  return text;
}

}  // namespace slipway::sim
