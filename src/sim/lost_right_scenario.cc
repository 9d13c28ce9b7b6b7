#include "sim/lost_right_scenario.h"

#include <fmt/format.h>

#include "control/acting_client.h"
#include "control/author_right.h"
#include "delivery/application/kind.h"
#include "delivery/jobflow/kind.h"
#include "delivery/rollout/kind.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "plane/store_view.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::application::kApplicationKind;
using delivery::application::kApplications;
using delivery::jobflow::kWorkflowKind;
using delivery::jobflow::kWorkflows;
using delivery::rollout::kTraitKind;
using delivery::rollout::kTraits;
using json::Value;
using kube::Object;

constexpr const char* kRights = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: dev}
rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: dev}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: dev}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: dev}]
)";

std::string version(std::string_view name, int replicas) {
  return fmt::format(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{version: {0}}}}}
  template:
    metadata: {{labels: {{version: {0}}}, annotations: {{slipway.dev/ready-after: 2s}}}}
    spec: {{terminationGracePeriodSeconds: 1, containers: [{{name: main, image: '{0}'}}]}}
---)",
                     name, replicas);
}

constexpr const char* kRollout = R"(
spec:
  targetRef: {apiVersion: apps/v1, kind: Deployment, name: v2}
  sourceRef: [{apiVersion: apps/v1, kind: Deployment, name: v1}]
  rolloutPlan: {numBatches: 2, batchPartition: 0}
)";

constexpr const char* kApplication = R"(
spec:
  components: []
  workflow:
    steps:
    - name: first
      type: apply-object
      properties: {value: {apiVersion: v1, kind: ConfigMap, metadata: {name: first}}}
    - {name: approve, type: suspend}
    - name: last
      type: apply-object
      properties: {value: {apiVersion: v1, kind: ConfigMap, metadata: {name: last}}}
)";

constexpr const char* kJob =
    "{spec: {backoffLimit: 0, template: {metadata: {annotations: {slipway.dev/run-time: 10s}}, spec: {restartPolicy: Never, "
    "containers: [{name: main, image: none}]}}}}";

std::string flow() {
  return fmt::format(R"(
spec:
  steps:
    a: {{jobTemplate: {0}}}
    hold: {{dependencies: [a], suspend: true, jobTemplate: {0}}}
)",
                     kJob);
}

/// The user whose rights come and go.
control::ActingClient dev(World& world) {
  kube::UserInfo user;
  user.name = "dev";
  user.groups = {"system:authenticated"};
  return {world.user(), std::make_shared<const kube::UserInfo>(std::move(user))};
}

Task<> create_as_dev(World& world, kube::GroupVersionKind kind, std::string name, std::string spec) {
  co_await apply_as_dev(
      world, fmt::format("apiVersion: {}\nkind: {}\nmetadata: {{name: {}}}{}", kind.api_version(), kind.kind, name, spec));
}

/// What needs no right of the author: a person lets each go on.
Task<> resume_all(World& world) {
  const auto patch = [&world](kube::Resource resource, std::string name, std::string_view text) -> Task<> {
    const auto done =
        co_await client::merge_patch(world.user(), resource, {"default", name}, json::parse_yaml(text).value(), "admin");
    SLIPWAY_CHECK(done.has_value(), done.error().message);
  };
  co_await patch(kTraits, "web", R"({"spec": {"rolloutPlan": {"batchPartition": null}}})");
  co_await patch(kWorkflows, "flow", R"({"spec": {"steps": {"hold": {"suspend": false}}}})");
  co_await patch_status(world, kApplications, "shop", Value().with_path({"workflow", "suspend"}, false));
}

std::string step_phase(const Object& application, std::size_t step) {
  return application["status"]["workflow"]["steps"].item(step)["phase"].str();
}

bool lacks_right(const Value& text) { return text.as_string().contains(control::kAuthorLacksRight); }

Task<> lost_right(World& world) {
  co_await give_rights(world);
  co_await apply_text(world, version("v1", 4) + version("v2", 0));
  co_await wait_until(world, kube::kDeployments, "v1",
                      [](const Object& v1) { return v1["status"]["readyReplicas"].as_int() == 4; });
  co_await create_as_dev(world, kTraitKind, "web", kRollout);
  co_await create_as_dev(world, kApplicationKind, "shop", kApplication);
  co_await create_as_dev(world, kWorkflowKind, "flow", flow());
  co_await wait_until(world, kTraits, "web",
                      [](const Object& web) { return web["status"]["batchRollingState"].as_string() == "batchReady"; });
  co_await wait_until(world, kApplications, "shop", [](const Object& shop) { return step_phase(shop, 1) == "suspending"; });
  co_await wait_until(world, kWorkflows, "flow", [](const Object& flow) {
    return flow["status"]["statuses"]["hold"]["phase"].as_string() == "Suspended";
  });

  co_await take_rights(world);
  co_await resume_all(world);
  co_await wait_until(world, kTraits, "web",
                      [](const Object& web) { return lacks_right(web["status"]["waits"].item(0)["on"]); });
  world.tell("the rollout holds");
  co_await wait_until(world, kApplications, "shop", [](const Object& shop) {
    return step_phase(shop, 2) == "running" && lacks_right(shop["status"]["workflow"]["steps"].item(2)["message"]);
  });
  world.tell("the application holds");
  co_await wait_until(world, kWorkflows, "flow",
                      [](const Object& flow) { return kube::is_true(flow, std::string(control::kAuthorLacksRight)); });
  world.tell("the graph of Jobs holds");
  co_await sleep_for(world.user_domain().env(), 11min);  // longer than a batch may take

  co_await give_rights(world);
  co_await wait_until(world, kTraits, "web",
                      [](const Object& web) { return web["status"]["rollingState"].as_string() == "rolloutSucceed"; });
  co_await wait_until(world, kApplications, "shop",
                      [](const Object& shop) { return shop["status"]["status"].as_string() == "running"; });
  co_await wait_for_condition(world, kWorkflows, "flow", {"Complete", "Failed"});
}

/// Without the binding nothing is done for the author.
std::string lost_right_promise(World& world) {
  if (world.store() == nullptr) return "";
  const plane::StoreView view(*world.server(), *world.store(), Time{});
  if (!view.all({"rbac.authorization.k8s.io", "v1", "RoleBinding"}, "default").empty()) return "";
  for (const Value& map : view.all({"", "v1", "ConfigMap"}, "default")) {
    if (kube::name(map) == "last") return "a step has applied its object without the right";
  }
  if (view.all({"batch", "v1", "Job"}, "default").size() > 1) return "a Job was created without the right";
  for (const Value& one : view.all({"apps", "v1", "Deployment"}, "default")) {
    if (kube::name(one) == "v2" && one["spec"]["replicas"].as_int() > 2) return "a batch was begun without the right";
  }
  return "";
}

}  // namespace

Task<> give_rights(World& world) { co_await apply_text(world, kRights); }

Task<> take_rights(World& world) { co_await remove(world, kube::kRoleBindings, {"default", "dev"}, "Background"); }

Task<> apply_as_dev(World& world, std::string yaml) {
  auto client = dev(world);
  co_await apply_text(world, std::move(yaml), &client);
}

Scenario lost_right_scenario() {
  return {.name = "lost right", .script = lost_right, .promise = lost_right_promise, .every = 31};
}

}  // namespace slipway::sim
