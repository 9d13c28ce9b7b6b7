#include "sim/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "delivery/application/kind.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/workflow.h"
#include "json/text.h"
#include "kube/well_known.h"
#include "plane/families.h"
#include "sim/application_scenarios.h"
#include "sim/handover_scenario.h"
#include "sim/lost_right_scenario.h"
#include "sim/revision_scenario.h"
#include "sim/rollout_scenarios.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::jobflow::kJobs;
using delivery::jobflow::kWorkflowKind;
using delivery::jobflow::kWorkflows;
using kube::Object;

using kube::kClaims;
using kube::kConfigMaps;
using kube::kDefinitions;
using kube::kDeployments;
using kube::kEvents;
using kube::kNamespaces;
using kube::kPods;
using kube::kReplicaSets;
using kube::kSecrets;
const kube::Resource kScenarioStatefulSets{"apps", "v1", "statefulsets"};
const kube::Resource kWidgets{"example.test", "v1", "widgets"};

/// The type of a manifest: a built-in kind, one of a family, or the widgets that scenarios define.
kube::ResourceType type_of(const Object& manifest) {
  const auto kind = kube::GroupVersionKind::of(manifest);
  SLIPWAY_CHECK(kind.has_value(), kind.error().message);
  if (kind->group == kWidgets.group) {
    kube::ResourceType widgets;
    widgets.resource = kWidgets;
    return widgets;
  }
  const auto found = plane::find_type(kind->group, kind->kind);
  SLIPWAY_CHECK(found != nullptr, kind->kind);
  return *found;
}

std::string conditions_text(const Object& object) {
  std::set<std::string> lines;
  for (const json::Value& condition : object["status"]["conditions"].items()) {
    lines.insert(fmt::format("{}={}/{}", condition["type"].as_string(), condition["status"].as_string(),
                             condition["reason"].as_string()));
  }
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " ") + line;
  return text;
}

std::string steps_text(const Object& workflow) {
  std::string text;
  for (const auto& [name, step] : workflow["status"]["statuses"].members()) {
    text += fmt::format(" {}:{}:{}:{}", name, step["phase"].as_string(), step["reason"].as_string(), step["attempts"].as_int());
  }
  return text;
}

/// "release/build#1" for a Job of a workflow, "nobody/build#1" when that let go of it; its own name for another one.
std::string job_title(const Object& job) {
  const auto step = kube::annotation(job, delivery::jobflow::kStepAnnotation);
  if (step.empty()) return std::string(kube::name(job));
  const std::string_view owner = kube::controller_of(job)["name"].as_string();
  return fmt::format("{}/{}#{}", owner.empty() ? "nobody" : owner, step,
                     kube::annotation(job, delivery::jobflow::kAttemptAnnotation));
}

std::string_view image_of(const Object& set) {
  return set["spec"]["template"]["spec"]["containers"].item(0)["image"].as_string();
}

std::string replicas_text(const Object& workload) {
  const json::Value& status = workload["status"];
  return fmt::format("spec={} replicas={} updated={} ready={} available={}", workload["spec"]["replicas"].as_int(),
                     status["replicas"].as_int(), status["updatedReplicas"].as_int(), status["readyReplicas"].as_int(),
                     status["availableReplicas"].as_int());
}

/// Collects lines about all objects, and who exists.
class Census {
 public:
  explicit Census(World& world) : world_(world) {}

  std::string take() {
    count_owners();
    count_surroundings();
    count_work();
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  /// What owns the objects of applications and of steps.
  void count_owners() {
    for (const kube::Resource& resource :
         {delivery::application::kApplications, delivery::application::kWorkflowRuns, kWorkflows}) {
      all(resource);
    }
  }

  /// Namespaces (first: the others are looked up in them), definitions, claims, and what may be in a namespace besides.
  void count_surroundings() {
    for (const Object& space : all(kNamespaces)) {
      namespaces_.insert(std::string(kube::name(space)));
      note(space, fmt::format("namespace {} {}", kube::name(space), space["status"]["phase"].as_string()));
    }
    for (const Object& definition : all(kDefinitions)) {
      note(definition, fmt::format("definition {} {}", kube::name(definition), conditions_text(definition)));
      if (kube::name(definition) == "widgets.example.test") {
        for (const Object& widget : all(kWidgets)) note(widget, fmt::format("widget {}", kube::name(widget)));
      }
    }
    for (const Object& claim : all(kClaims)) {
      note(claim, fmt::format("claim {} {}", kube::name(claim), claim["status"]["phase"].as_string()));
    }
    for (const kube::Resource& resource : {kConfigMaps, kSecrets, delivery::jobflow::kStepSets}) {
      for (const Object& object : all(resource)) note(object, resource.plural);  // names may be made from uids
    }
  }

  void count_work() {
    for (const Object& workflow : all(kWorkflows)) {
      note(workflow,
           fmt::format("workflow {} {} steps{}", kube::name(workflow), conditions_text(workflow), steps_text(workflow)));
    }
    for (const Object& job : all(kJobs)) {
      titles_[std::string(kube::uid(job))] = job_title(job);
      note(job, fmt::format("job {} {} succeeded={} failed={}", job_title(job), conditions_text(job),
                            job["status"]["succeeded"].as_int(), job["status"]["failed"].as_int()));
    }
    for (const Object& deployment : all(kDeployments)) {
      note(deployment,
           fmt::format("deployment {} {} {}", kube::name(deployment), conditions_text(deployment), replicas_text(deployment)));
    }
    for (const Object& set : all(kReplicaSets)) {
      const std::string title = fmt::format("{}/{}", kube::controller_of(set)["name"].as_string(), image_of(set));
      titles_[std::string(kube::uid(set))] = title;
      note(set, fmt::format("replicaset {} revision={} {}", title, kube::annotation(set, "deployment.kubernetes.io/revision"),
                            replicas_text(set)));
    }
    for (const Object& set : all(kScenarioStatefulSets)) {
      titles_[std::string(kube::uid(set))] = fmt::format("{}/{}", kube::name(set), image_of(set));
      note(set, fmt::format("statefulset {} {} partition={} {}", kube::name(set), image_of(set),
                            set["spec"]["updateStrategy"]["rollingUpdate"]["partition"].as_int(), replicas_text(set)));
    }
    for (const Object& pod : all(kPods)) {
      const auto owner = titles_.find(kube::controller_of(pod)["uid"].str());
      note(pod,
           fmt::format("pod of {} {}", owner == titles_.end() ? "nobody" : owner->second, pod["status"]["phase"].as_string()));
    }
    for (const Object& event : all(kEvents)) {
      const bool is_of_interest =
          event["reason"].as_string().starts_with(kWorkflowKind.kind) || !namespaces_.contains(kube::ns(event));
      if (!is_of_interest) continue;
      note(event, fmt::format("event {} {}", event["involvedObject"]["name"].as_string(), event["reason"].as_string()));
    }
  }

  std::vector<Object> all(const kube::Resource& resource) {
    std::vector<Object> objects = world_.objects(resource);
    for (const Object& object : objects) uids_.insert(std::string(kube::uid(object)));
    return objects;
  }

  void note(const Object& object, std::string line) {
    const std::string_view space = kube::ns(object);
    if (!space.empty() && space != "default") line += fmt::format(" in {}", space);
    if (!space.empty() && !namespaces_.contains(space)) line += " LEFT-OVER(namespace gone)";
    if (kube::is_deleting(object)) line += " LEFT-OVER(deleting)";
    const json::Value& owner = kube::controller_of(object);
    if (!owner.is_null() && !uids_.contains(owner["uid"].str())) line += " LEFT-OVER(owner gone)";
    lines_.insert(std::move(line));
  }

  World& world_;
  std::multiset<std::string> lines_;
  std::set<std::string> uids_;
  std::set<std::string, std::less<>> namespaces_;
  std::map<std::string, std::string> titles_;
};

/// A step of a workflow in a scenario's manifest.
std::string step(std::string_view name, std::string_view dependencies, std::string_view run_time,
                 std::string_view exit_codes = "0", std::string_view more = "") {
  return fmt::format(R"(
    {}:
      dependencies: [{}]
      {}
      jobTemplate:
        spec:
          backoffLimit: 0
          template:
            metadata: {{annotations: {{slipway.dev/run-time: {}, slipway.dev/exit-code: "{}"}}}}
            spec: {{restartPolicy: Never, containers: [{{name: main, image: none}}]}})",
                     name, dependencies, more, run_time, exit_codes);
}

std::string workflow(std::string_view name, std::string_view more, std::initializer_list<std::string> steps,
                     std::string_view space = "default") {
  std::string text = fmt::format("apiVersion: {}\nkind: {}\nmetadata: {{name: {}, namespace: {}}}\nspec:\n  {}\n  steps:",
                                 kWorkflowKind.api_version(), kWorkflowKind.kind, name, space, more);
  for (const std::string& one : steps) text += one;
  return text + "\n";
}

Task<> diamond(World& world) {
  co_await apply_text(world, workflow("diamond", "parallelism: 2",
                                      {step("a", "", "10s"), step("b", "a", "5s"), step("c", "a", "7s"),
                                       step("d", "b, c", "3s", "1,0", "retry: {limit: 2, backoff: {duration: 4s}}")}));
  co_await wait_for_condition(world, kWorkflows, "diamond", {"Complete", "Failed"});
}

Task<> deadline(World& world) {
  co_await apply_text(world, workflow("late", "activeDeadlineSeconds: 600",
                                      {step("quick", "", "10s"), step("slow", "quick", "5000s"), step("never", "slow", "1s")}));
  co_await wait_for_condition(world, kWorkflows, "late", {"Complete", "Failed"});
}

Task<> rerun(World& world) {
  co_await apply_text(world,
                      workflow("again", "parallelism: 3",
                               {step("a", "", "5s"), step("b", "a", "5s", "1,0"), step("c", "b", "5s"), step("e", "a", "1s")}));
  co_await wait_for_condition(world, kWorkflows, "again", {"Failed"});
  const auto patch = json::object({{"spec", json::object({{"rerun", json::object({{"id", "second"}, {"from", "b"}})}})}});
  const auto patched = co_await client::merge_patch(world.user(), kWorkflows, {"default", "again"}, patch, "user");
  SLIPWAY_CHECK(patched.has_value(), patched.error().message);
  co_await wait_for_condition(world, kWorkflows, "again", {"Complete"});
}

Task<> external(World& world) {
  const auto reference = [](std::string_view name, std::string_view api, std::string_view kind, std::string_view refers) {
    return fmt::format("\n    {}: {{externalRef: {{apiVersion: {}, kind: {}, name: {}}}}}", name, api, kind, refers);
  };
  co_await apply_text(world, workflow("waiter", "parallelism: 1",
                                      {reference("flow", kWorkflowKind.api_version(), kWorkflowKind.kind, "other"),
                                       reference("job", "batch/v1", "Job", "alone"), step("after", "flow, job", "2s")}));
  co_await sleep_for(world.user_domain().env(), 20s);
  co_await apply_text(world, workflow("other", "parallelism: 1", {step("only", "", "6s")}) + R"(---
apiVersion: batch/v1
kind: Job
metadata: {name: alone}
spec:
  template:
    metadata: {annotations: {slipway.dev/run-time: 9s}}
    spec: {restartPolicy: Never, containers: [{name: main, image: none}]}
)");
  co_await wait_for_condition(world, kWorkflows, "waiter", {"Complete", "Failed"});
}

/// A step that creates an object and is done with it, one whose object must become available, and a Workflow.
Task<> objects(World& world) {
  const std::string data = R"(
    data:
      objectTemplate: {apiVersion: v1, kind: ConfigMap, metadata: {name: step-data}, data: {rows: "3"}})";
  const std::string base = R"(
    base:
      dependencies: [data]
      until: {condition: Available}
      objectTemplate:
        apiVersion: apps/v1
        kind: Deployment
        metadata: {name: step-base}
        spec:
          replicas: 2
          selector: {matchLabels: {app: step-base}}
          template:
            metadata: {labels: {app: step-base}, annotations: {slipway.dev/ready-after: 4s}}
            spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: one}]})";
  const std::string inner = fmt::format(R"(
    inner:
      dependencies: [base]
      objectTemplate:
        apiVersion: {}
        kind: {}
        metadata: {{name: step-flow}}
        spec:
          steps:
            only:
              jobTemplate:
                spec:
                  template:
                    metadata: {{annotations: {{slipway.dev/run-time: 3s}}}}
                    spec: {{restartPolicy: Never, containers: [{{name: main, image: none}}]}})",
                                        kWorkflowKind.api_version(), kWorkflowKind.kind);
  co_await apply_text(world, workflow("maker", "parallelism: 2", {data, base, inner, step("after", "inner", "2s")}));
  co_await wait_for_condition(world, kWorkflows, "maker", {"Complete", "Failed"});
}

/// A namespace with a claim, a Job that would run on, and a kind of the user's own with one object.
constexpr const char* kTeam = R"(
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: scratch, namespace: team}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: endless, namespace: team}
spec:
  template:
    metadata: {annotations: {slipway.dev/run-time: 5000s}}
    spec: {restartPolicy: Never, containers: [{name: main, image: none}]}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.test}
spec:
  group: example.test
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
)";

/// Everything that can be taken down: a workflow with all it owns, one that leaves its Jobs behind (in "default", so that the
/// end shows them), a kind with its objects, and the namespace with what is still in it.
Task<> clean_up(World& world) {
  co_await apply_text(world, kTeam);
  co_await wait_for_condition(world, kDefinitions, "widgets.example.test", {"Established"}, "");
  co_await apply_text(world,
                      "{apiVersion: example.test/v1, kind: Widget, metadata: {name: w, namespace: team}, spec: {size: 1}}");
  co_await apply_text(world, workflow("taken", "parallelism: 2", {step("a", "", "3s"), step("b", "a", "2s")}, "team"));
  co_await apply_text(world, workflow("left", "parallelism: 2", {step("only", "", "4s")}));
  co_await wait_for_condition(world, kWorkflows, "taken", {"Complete", "Failed"}, "team");
  co_await wait_for_condition(world, kWorkflows, "left", {"Complete", "Failed"});

  co_await remove(world, kWorkflows, {"team", "taken"}, "Foreground");
  co_await remove(world, kWorkflows, {"default", "left"}, "Orphan");
  co_await wait_until_gone(world, kWorkflows, {"team", "taken"});
  co_await wait_until_gone(world, kWorkflows, {"default", "left"});
  co_await remove(world, kDefinitions, {"", "widgets.example.test"}, "Background");
  co_await wait_until_gone(world, kDefinitions, {"", "widgets.example.test"});
  co_await remove(world, kNamespaces, {"", "team"}, "Background");
  co_await wait_until_gone(world, kNamespaces, {"", "team"});
}

/// Two steps as processes, the second of which fails once: supervisors outlive every crash, and none is started twice for a
/// pod.
Task<> processes(World& world) {
  const auto command = [](std::string_view name, std::string_view dependencies, std::string_view run, std::string_view more) {
    return fmt::format(R"(
    {}:
      dependencies: [{}]
      {}
      jobTemplate:
        spec:
          backoffLimit: 0
          template:
            spec: {{restartPolicy: Never, containers: [{{name: main, image: none, command: [{}]}}]}})",
                       name, dependencies, more, run);
  };
  co_await apply_text(world,
                      workflow("machine", "parallelism: 1",
                               {command("first", "", "run, 5s", ""),
                                command("second", "first", "run, 3s, '1'", "retry: {limit: 1, backoff: {duration: 2s}}")}));
  co_await wait_for_condition(world, kWorkflows, "machine", {"Complete", "Failed"});
}

constexpr const char* kWeb = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  progressDeadlineSeconds: 60
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {slipway.dev/ready-after: 2s, slipway.dev/missing-images: "broken"}}
    spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: one}]}
)";

/// Waits until Progressing has the reason for the present spec.
Task<> wait_for_progress(World& world, std::string reason) {
  for (;;) {
    const auto found = co_await client::get(world.user(), kDeployments, {"default", "web"});
    SLIPWAY_CHECK(found.has_value(), found.error().message);
    const bool is_seen = (*found)["status"]["observedGeneration"].as_int() >= kube::generation(*found);
    const bool is_settled = (*found)["status"]["updatedReplicas"].as_int() > 0;
    if (is_seen && is_settled && kube::condition(*found, "Progressing")["reason"].as_string() == reason) co_return;
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

Task<> set_image(World& world, std::string image) {
  const json::Value container = json::object({{"name", "main"}, {"image", image}});
  const json::Value patch = json::Value().with_path({"spec", "template", "spec", "containers"}, json::array({container}));
  const auto patched = co_await client::merge_patch(world.user(), kDeployments, {"default", "web"}, patch, "user");
  SLIPWAY_CHECK(patched.has_value(), patched.error().message);
}

/// Two good templates, one whose image cannot be had, and back: through it all there are pods that answer, and not too many.
Task<> rollout(World& world) {
  co_await apply_text(world, kWeb);
  co_await wait_for_progress(world, "NewReplicaSetAvailable");
  co_await set_image(world, "two");
  co_await sleep_for(world.user_domain().env(), 1s);
  co_await wait_for_progress(world, "NewReplicaSetAvailable");
  co_await set_image(world, "broken");
  co_await wait_for_progress(world, "ProgressDeadlineExceeded");
  co_await set_image(world, "two");
  co_await wait_for_progress(world, "NewReplicaSetAvailable");
}

/// From the moment it was first complete a Deployment of 3 keeps at least 2 ready pods; and at no time has it more than 4.
std::string rollout_promise(World& world) {
  std::size_t pods = 0;
  std::size_t ready = 0;
  for (const Object& pod : world.objects(kPods)) {
    if (kube::is_deleting(pod)) continue;
    ++pods;
    if (kube::is_true(pod, "Ready")) ++ready;
  }
  if (pods > 4) return fmt::format("{} pods", pods);
  for (const Object& set : world.objects(kReplicaSets)) {
    // The second revision is made only after the first was complete.
    if (image_of(set) != "one" && ready < 2) return fmt::format("{} ready pods", ready);
  }
  return "";
}

}  // namespace

std::vector<Scenario> scenarios() {
  return {{"diamond with retry", diamond},
          {"deadline", deadline},
          {"rerun", rerun},
          {"externalRef", external},
          {"object templates", objects},
          {"clean-up", clean_up},
          {.name = "rollout", .script = rollout, .promise = rollout_promise},
          {.name = "processes", .script = processes, .pods = plane::PodRuntimeKind::Process},
          application_scenario(),
          workflow_run_scenario(),
          gated_rollout_scenario(),
          disturbed_rollout_scenario(),
          shifted_rollout_scenario(),
          in_place_rollout_scenario(),
          revision_rollout_scenario(),
          handover_scenario(),
          standalone_handover_scenario(),
          traffic_handover_scenario(),
          lost_right_scenario()};
}

Ending play(const Scenario& scenario, WorldOptions options) {
  const bool is_clean = options.faults.exact.empty() && options.faults.random_rate == 0;
  options.controllers.pods = scenario.pods;
  options.controllers.data_dir = "/machine";
  options.controllers.supervisor = {"slipway", "pod-supervisor"};
  options.has_edge = scenario.has_edge;
  World world(std::move(options));
  if (is_clean) world.faults().record();
  world.start();
  Ending ending;
  auto is_over = std::make_shared<bool>(false);
  auto tell = [](World& in, std::function<Task<>(World&)> script, std::shared_ptr<bool> over) -> Task<> {
    co_await script(in);
    *over = true;
  };
  world.user_domain().spawn(tell(world, scenario.script, is_over));
  kube::Revision looked_at = 0;
  const auto look = [&] {
    const kube::Revision revision = world.store() != nullptr ? world.store()->revision() : looked_at;
    if (scenario.promise && revision != looked_at && ending.broken_promise.empty()) {
      looked_at = revision;
      ending.broken_promise = scenario.promise(world);
    }
    return *is_over;
  };
  ending.is_over = world.run_until(look, scenario.limit);
  world.run_until_quiet(30s);
  ending.took = world.steady() - VirtualClock::kSteadyStart;
  ending.points = world.faults().points();
  ending.points_by_controller = world.faults().points_by_controller();
  ending.recorded = world.faults().recorded();
  ending.struck = world.faults().struck();
  ending.disk_operations = world.disk().operations();
  ending.state = normalised_state(world);
  return ending;
}

std::string normalised_state(World& world) { return Census(world).take() + rollout_state(world) + application_state(world); }

Task<> apply_text(World& world, std::string yaml, client::Client* as) {
  auto documents = json::parse_yaml_all(yaml);
  SLIPWAY_CHECK(documents.has_value(), documents.error().message);
  for (const json::YamlDocument& document : *documents) {
    Object object = document.value;
    const kube::ResourceType type = type_of(object);
    if (type.is_namespaced && kube::ns(object).empty()) object = object.with_path({"metadata", "namespace"}, "default");
    const auto applied = co_await client::apply(as != nullptr ? *as : world.user(), type.resource, object, "user");
    SLIPWAY_CHECK(applied.has_value(), applied.error().message);
  }
}

Task<> wait_for_condition(World& world, kube::Resource resource, std::string name, std::vector<std::string> any_of,
                          std::string space) {
  for (;;) {
    const auto object = co_await client::get(world.user(), resource, {space, name});
    SLIPWAY_CHECK(object.has_value(), object.error().message);
    for (const std::string& type : any_of) {
      if (kube::is_true(*object, type)) co_return;
    }
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

Task<> wait_until(World& world, kube::Resource resource, std::string name, std::function<bool(const Object&)> holds) {
  for (;;) {
    const auto seen = co_await client::get(world.user(), resource, {"default", name});
    if (holds(seen ? *seen : Object())) co_return;
    co_await sleep_for(world.user_domain().env(), 500ms);
  }
}

Task<> patch_status(World& world, kube::Resource resource, std::string name, json::Value status) {
  const json::Value patch = json::object({{"status", std::move(status)}});
  const auto written = co_await client::merge_patch(world.user(), resource, {"default", name}, patch, "user", "status");
  SLIPWAY_CHECK(written.has_value(), written.error().message);
}

Task<> remove(World& world, kube::Resource resource, kube::ObjectKey key, std::string propagation) {
  client::DeleteQuery query;
  query.propagation = std::move(propagation);
  const auto removed = co_await client::remove(world.user(), resource, key, query);
  SLIPWAY_CHECK(removed || removed.error().reason == Reason::NotFound, removed.error().message);
}

Task<> wait_until_gone(World& world, kube::Resource resource, kube::ObjectKey key) {
  for (;;) {
    const auto object = co_await client::get(world.user(), resource, key);
    if (!object && object.error().reason == Reason::NotFound) co_return;
    SLIPWAY_CHECK(object.has_value(), object.error().message);
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

}  // namespace slipway::sim
