#include "sim/handover_scenario.h"

#include <fmt/format.h>

#include <map>

#include "base/check.h"
#include "delivery/application/kind.h"
#include "delivery/family/template_owner.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/traffic_claim.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "plane/store_view.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::application::kApplicationKind;
using delivery::application::kApplications;
using delivery::rollout::kAppRolloutKind;
using delivery::rollout::kAppRollouts;
using json::Value;
using kube::Object;

constexpr std::int64_t kWhole = 2;
constexpr const char* kBatches = "rolloutBatches: [{replicas: 1}, {replicas: 1}]";
constexpr const char* kScaler = "{type: scaler, properties: {replicas: 2}}";

/// One version; `traits` and `more` say how it is delivered, `metadata` has members beside the name.
std::string version(int number, std::string_view traits, std::string_view more, std::string_view metadata = "",
                    std::string_view ready_after = "2s") {
  return fmt::format(
      "{{apiVersion: {}, kind: {}, metadata: {{name: a{}}}, spec: {{components: [{{name: web, type: webservice, properties: "
      "{{image: 'web:{}', ports: [{{port: 80, expose: true}}]}}, traits: [{{type: annotations, properties: "
      "{{slipway.dev/ready-after: {}}}}}, {}]}}]{}}}}}",
      kApplicationKind.api_version(), kApplicationKind.kind, metadata, number, ready_after, traits, more);
}

std::string normal(int number) { return version(number, kScaler, ""); }
std::string planned(int number) { return version(number, kScaler, fmt::format(", rolloutPlan: {{{}}}", kBatches)); }
std::string with_traffic(int number, std::string_view ready_after) {
  return version(number, kScaler,
                 fmt::format(", rolloutPlan: {{{}, batchDeadlineSeconds: 10, onFailure: Revert, traffic: {{provider: nginx, "
                             "ingressRef: {{name: web}}, service: web, settleSeconds: 1, drainSeconds: 5}}}}",
                             kBatches),
                 "", ready_after);
}
std::string by_trait(int number) {
  return version(number, fmt::format("{{type: rollout, properties: {{targetSize: 2, {}}}}}", kBatches), "");
}
std::string blue_green(int number) {
  return version(number, kScaler,
                 ", workflow: {steps: [{name: first, type: blue-green-rollout}, {name: rest, type: rollout-promotion, "
                 "properties: {manualApproval: false}}]}");
}

/// Its workflow waits for the user, who rolls the revision out first.
std::string held(int number) {
  return version(number, kScaler,
                 ", workflow: {steps: [{name: hold, type: suspend}, {name: web, type: apply-component, properties: {component: "
                 "web}}]}");
}
std::string as_template(int number) {
  return version(number, kScaler, "", fmt::format(", annotations: {{{}: 'true'}}", delivery::kRolloutTemplate));
}
std::string app_rollout(std::string_view target) {
  return fmt::format(
      "{{apiVersion: {}, kind: {}, metadata: {{name: r}}, spec: {{targetAppRevisionName: {}, componentList: "
      "[web], rolloutPlan: {{{}}}}}}}",
      kAppRolloutKind.api_version(), kAppRolloutKind.kind, target, kBatches);
}

Task<> wait_for_phase(World& world, std::string phase, std::string revision) {
  for (;;) {
    const auto seen = co_await client::get(world.user(), kApplications, {"default", "a"});
    const Value status = seen ? (*seen)["status"] : Value();
    const bool is_seen = seen && status["observedGeneration"].as_int() == kube::generation(*seen);
    if (is_seen && status["status"].as_string() == phase && status["latestRevision"]["name"].as_string() == revision) {
      co_return;
    }
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

Task<> wait_for_running(World& world, std::string revision) { co_await wait_for_phase(world, "running", std::move(revision)); }

Task<> wait_for_rollout(World& world, std::string revision) {
  for (;;) {
    const auto seen = co_await client::get(world.user(), kAppRollouts, {"default", "r"});
    const Value status = seen ? (*seen)["status"] : Value();
    const bool is_of_it = status["lastTargetRevision"].as_string() == revision;
    if (is_of_it && status["rollingState"].as_string() == "rolloutSucceed") co_return;
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

Task<> resume(World& world) {
  co_await patch_status(world, kApplications, "a", Value().with_path({"workflow", "suspend"}, false));
}

/// Until a new pod of the AppRollout's attempt at that revision is ready.
Task<> wait_for_batch(World& world, std::string revision) {
  for (;;) {
    const auto seen = co_await client::get(world.user(), kAppRollouts, {"default", "a-web"});
    const Value status = seen ? (*seen)["status"] : Value();
    if (status["lastTargetRevision"].as_string() == revision && status["upgradedReadyReplicas"].as_int() >= 1) co_return;
    co_await sleep_for(world.user_domain().env(), 500ms);
  }
}

Task<> hand_over(World& world) {
  co_await apply_text(world, normal(1));
  co_await wait_for_running(world, "a-v1");
  co_await apply_text(world, planned(2));
  co_await wait_for_running(world, "a-v2");
  co_await apply_text(world, by_trait(3));
  co_await wait_for_running(world, "a-v3");
  co_await apply_text(world, blue_green(4));
  co_await wait_for_running(world, "a-v4");
  co_await apply_text(world, planned(5));
  co_await wait_for_batch(world, "a-v5");
  co_await apply_text(world, normal(6));
  co_await wait_for_running(world, "a-v6");
  co_await sleep_for(world.user_domain().env(), 20s);  // what is of no more use is collected
}

/// What is written of a rollout's traffic, in a line: nothing when all was given back.
std::string traffic_left(World& world) {
  const plane::StoreView view(*world.server(), *world.store(), Time{});
  std::string left;
  for (const Value& one : view.all({"networking.k8s.io", "v1", "Ingress"}, "default")) {
    if (kube::name(one) != "web") left += fmt::format("Ingress {} ", kube::name(one));
  }
  for (const Value& one : view.all({"", "v1", "Service"}, "default")) {
    if (kube::name(one) != "web") left += fmt::format("Service {} ", kube::name(one));
    if (!kube::annotation(one, delivery::rollout::kTrafficOwner).empty()) left += fmt::format("mark on {} ", kube::name(one));
  }
  return left;
}

constexpr const char* kIngress =
    "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {ingressClassName: nginx, rules: [{host: "
    "web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}}";

Task<> hand_over_traffic(World& world) {
  co_await apply_text(world, kIngress);
  co_await apply_text(world, normal(1));
  co_await wait_for_running(world, "a-v1");
  co_await apply_text(world, with_traffic(2, "never"));
  co_await wait_until(world, kAppRollouts, "a-web", [](const Object& rollout) {
    const Value& status = rollout["status"];
    return status["lastTargetRevision"].as_string() == "a-v2" && status["rollingState"].as_string() == "rolloutFailed";
  });
  co_await apply_text(world, with_traffic(3, "2s"));
  co_await wait_for_batch(world, "a-v3");
  co_await apply_text(world, normal(4));
  co_await wait_for_running(world, "a-v4");
  co_await sleep_for(world.user_domain().env(), 20s);
  world.tell("traffic left: " + traffic_left(world));
}

/// A template, an AppRollout of the user's own over a revision of what became of it, and normal delivery in its place.
Task<> hand_over_rollouts(World& world) {
  co_await apply_text(world, as_template(1));
  co_await wait_for_phase(world, "rollingOut", "a-v1");
  co_await apply_text(world, app_rollout("a-v1"));
  co_await wait_for_running(world, "a-v1");
  co_await apply_text(world, held(2));
  co_await wait_for_phase(world, "workflowSuspending", "a-v2");
  co_await apply_text(world, app_rollout("a-v2"));
  co_await wait_for_rollout(world, "a-v2");
  co_await resume(world);
  co_await wait_for_running(world, "a-v2");
  co_await apply_text(world, normal(3));
  co_await wait_for_running(world, "a-v3");
  co_await sleep_for(world.user_domain().env(), 20s);
}

/// The Service is there and the same from the first moment on; no more pods are asked for than two versions have, and of no
/// version more than T.
std::string handover_promise(World& world) {
  if (world.store() == nullptr) return "";
  const plane::StoreView view(*world.server(), *world.store(), Time{});
  std::int64_t services = 0;
  for (const Value& one : view.all({"", "v1", "Service"}, "default")) services += kube::name(one) == "web" ? 1 : 0;
  for (const auto& [key, times] : world.births().counts()) {
    if (!key.contains("services") || !key.ends_with("web")) continue;
    if (times > 1) return "the Service was made anew";
    if (services == 0) return "the Service is gone";
  }
  std::int64_t asked = 0;
  std::map<std::string, std::int64_t> by_image;
  for (const Value& one : view.all({"apps", "v1", "Deployment"}, "default")) {
    const std::int64_t replicas = one["spec"]["replicas"].as_int();
    asked += replicas;
    by_image[one["spec"]["template"]["spec"]["containers"].item(0)["image"].str()] += replicas;
  }
  for (const auto& [image, pods] : by_image) {
    if (pods > kWhole) return fmt::format("{} pods of {} are asked for", pods, image);
  }
  return asked <= 2 * kWhole ? "" : fmt::format("{} pods are asked for", asked);
}

}  // namespace

Scenario handover_scenario() {
  return {.name = "hand-over rollout", .script = hand_over, .promise = handover_promise, .every = 97};
}

Scenario standalone_handover_scenario() {
  return {.name = "standalone rollout", .script = hand_over_rollouts, .promise = handover_promise, .every = 97};
}

Scenario traffic_handover_scenario() {
  return {.name = "hand-over of traffic", .script = hand_over_traffic, .promise = handover_promise, .every = 97};
}

}  // namespace slipway::sim
