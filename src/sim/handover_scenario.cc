#include "sim/handover_scenario.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "plane/store_view.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::application::kApplicationKind;
using delivery::application::kApplications;
using delivery::rollout::kAppRollouts;
using json::Value;
using kube::Object;

constexpr std::int64_t kWhole = 2;
constexpr const char* kBatches = "rolloutBatches: [{replicas: 1}, {replicas: 1}]";
constexpr const char* kScaler = "{type: scaler, properties: {replicas: 2}}";

/// One version; `traits` and `more` say how it is delivered.
std::string version(int number, std::string_view traits, std::string_view more) {
  return fmt::format(
      "{{apiVersion: {}, kind: {}, metadata: {{name: a}}, spec: {{components: [{{name: web, type: webservice, properties: "
      "{{image: 'web:{}', ports: [{{port: 80, expose: true}}]}}, traits: [{{type: annotations, properties: "
      "{{slipway.dev/ready-after: 2s}}}}, {}]}}]{}}}}}",
      kApplicationKind.api_version(), kApplicationKind.kind, number, traits, more);
}

std::string normal(int number) { return version(number, kScaler, ""); }
std::string planned(int number) { return version(number, kScaler, fmt::format(", rolloutPlan: {{{}}}", kBatches)); }
std::string by_trait(int number) {
  return version(number, fmt::format("{{type: rollout, properties: {{targetSize: 2, {}}}}}", kBatches), "");
}
std::string blue_green(int number) {
  return version(number, kScaler,
                 ", workflow: {steps: [{name: first, type: blue-green-rollout}, {name: rest, type: rollout-promotion, "
                 "properties: {manualApproval: false}}]}");
}

Task<> wait_for_running(World& world, std::string revision) {
  for (;;) {
    const auto seen = co_await client::get(world.user(), kApplications, {"default", "a"});
    const Value status = seen ? (*seen)["status"] : Value();
    const bool is_seen = seen && status["observedGeneration"].as_int() == kube::generation(*seen);
    if (is_seen && status["status"].as_string() == "running" && status["latestRevision"]["name"].as_string() == revision) {
      co_return;
    }
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

/// Until the first batch of the AppRollout's attempt at that revision is done.
Task<> wait_for_batch(World& world, std::string revision) {
  for (;;) {
    const auto seen = co_await client::get(world.user(), kAppRollouts, {"default", "a-web"});
    const Value status = seen ? (*seen)["status"] : Value();
    if (status["lastTargetRevision"].as_string() == revision && status["upgradedReplicas"].as_int() >= 1) co_return;
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

/// The Service is there and the same from the first moment on; no more pods are asked for than two versions have.
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
  for (const Value& one : view.all({"apps", "v1", "Deployment"}, "default")) asked += one["spec"]["replicas"].as_int();
  return asked <= 2 * kWhole ? "" : fmt::format("{} pods are asked for", asked);
}

}  // namespace

Scenario handover_scenario() {
  return {.name = "hand-over rollout", .script = hand_over, .promise = handover_promise, .every = 97};
}

}  // namespace slipway::sim
