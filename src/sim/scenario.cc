#include "sim/scenario.h"

#include <fmt/format.h>

#include <set>

#include "delivery/jobflow/names.h"
#include "delivery/jobflow/workflow.h"
#include "json/text.h"

namespace slipway::sim {
namespace {

using namespace std::chrono_literals;
using delivery::jobflow::kJobs;
using delivery::jobflow::kWorkflows;
using kube::Object;

const kube::Resource kPods{"", "v1", "pods"};
const kube::Resource kEvents{"", "v1", "events"};

kube::Resource resource_of(std::string_view kind) {
  if (kind == "Workflow") return kWorkflows;
  SLIPWAY_CHECK(kind == "Job", kind);
  return kJobs;
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

/// "release/build#1" for a Job of a workflow; its own name for another one.
std::string job_title(const Object& job) {
  const auto step = kube::annotation(job, delivery::jobflow::kStepAnnotation);
  if (step.empty()) return std::string(kube::name(job));
  return fmt::format("{}/{}#{}", kube::controller_of(job)["name"].as_string(), step,
                     kube::annotation(job, delivery::jobflow::kAttemptAnnotation));
}

/// Collects lines about all objects, and who exists.
class Census {
 public:
  explicit Census(World& world) : world_(world) {}

  std::string take() {
    for (const Object& workflow : all(kWorkflows)) {
      note(workflow,
           fmt::format("workflow {} {} steps{}", kube::name(workflow), conditions_text(workflow), steps_text(workflow)));
    }
    for (const Object& job : all(kJobs)) {
      titles_[std::string(kube::uid(job))] = job_title(job);
      note(job, fmt::format("job {} {} succeeded={} failed={}", job_title(job), conditions_text(job),
                            job["status"]["succeeded"].as_int(), job["status"]["failed"].as_int()));
    }
    for (const Object& pod : all(kPods)) {
      const auto owner = titles_.find(kube::controller_of(pod)["uid"].str());
      note(pod,
           fmt::format("pod of {} {}", owner == titles_.end() ? "nobody" : owner->second, pod["status"]["phase"].as_string()));
    }
    for (const Object& event : all(kEvents)) {
      if (!event["reason"].as_string().starts_with("Workflow")) continue;
      lines_.insert(fmt::format("event {} {}", event["involvedObject"]["name"].as_string(), event["reason"].as_string()));
    }
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  std::vector<Object> all(const kube::Resource& resource) {
    std::vector<Object> objects = world_.objects(resource);
    for (const Object& object : objects) uids_.insert(std::string(kube::uid(object)));
    return objects;
  }

  void note(const Object& object, std::string line) {
    if (kube::is_deleting(object)) line += " LEFT-OVER(deleting)";
    const json::Value& owner = kube::controller_of(object);
    if (!owner.is_null() && !uids_.contains(owner["uid"].str())) line += " LEFT-OVER(owner gone)";
    lines_.insert(std::move(line));
  }

  World& world_;
  std::multiset<std::string> lines_;
  std::set<std::string> uids_;
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

std::string workflow(std::string_view name, std::string_view more, std::initializer_list<std::string> steps) {
  std::string text = fmt::format(
      "apiVersion: batch.slipway.dev/v1alpha1\nkind: Workflow\nmetadata: {{name: {}}}\nspec:\n  {}\n  steps:", name, more);
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
                                      {reference("flow", "batch.slipway.dev/v1alpha1", "Workflow", "other"),
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

}  // namespace

std::vector<Scenario> scenarios() {
  return {{"diamond with retry", diamond}, {"deadline", deadline}, {"rerun", rerun}, {"externalRef", external}};
}

Ending play(const Scenario& scenario, WorldOptions options) {
  const bool is_clean = options.faults.exact.empty() && options.faults.random_rate == 0;
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
  ending.is_over = world.run_until([&] { return *is_over; }, scenario.limit);
  world.run_until_quiet(30s);
  ending.took = world.now() - VirtualClock::kStart;
  ending.points = world.faults().points();
  ending.points_by_controller = world.faults().points_by_controller();
  ending.recorded = world.faults().recorded();
  ending.struck = world.faults().struck();
  ending.disk_operations = world.disk().operations();
  ending.state = normalised_state(world);
  return ending;
}

std::string normalised_state(World& world) { return Census(world).take(); }

Task<> apply_text(World& world, std::string yaml) {
  auto documents = json::parse_yaml_all(yaml);
  SLIPWAY_CHECK(documents.has_value(), documents.error().message);
  for (const json::YamlDocument& document : *documents) {
    Object object = document.value.with_path({"metadata", "namespace"}, "default");
    const auto applied = co_await client::apply(world.user(), resource_of(kube::kind(object)), object, "user");
    SLIPWAY_CHECK(applied.has_value(), applied.error().message);
  }
}

Task<> wait_for_condition(World& world, kube::Resource resource, std::string name, std::vector<std::string> any_of) {
  for (;;) {
    const auto object = co_await client::get(world.user(), resource, {"default", name});
    SLIPWAY_CHECK(object.has_value(), object.error().message);
    for (const std::string& type : any_of) {
      if (kube::is_true(*object, type)) co_return;
    }
    co_await sleep_for(world.user_domain().env(), 1s);
  }
}

}  // namespace slipway::sim
