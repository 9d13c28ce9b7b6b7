// The blocks of the design that Slipway grew from (tests/seed000), applied as they are; each must come to the end that its text
// promises.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "delivery/application/show.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "oracle_plane.h"
#include "oracle_status.h"

namespace slipway::oracle_test {
namespace {

using client::PatchType;
using std::chrono::seconds;

Value reference(const char* version, const char* kind, const char* name) {
  return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", kNamespace}, {"name", name}});
}

/// A text that is to stand elsewhere in a file.
struct Change {
  std::string from;
  std::string to;
};

std::vector<Value> documents(const std::string& file, const std::vector<Change>& changes = {}) {
  std::ifstream in(std::filesystem::path(SLIPWAY_SOURCE_DIR) / "tests/seed000" / file);
  EXPECT_TRUE(in) << file;
  std::stringstream text;
  text << in.rdbuf();
  std::string whole = text.str();
  for (const Change& change : changes) {
    const std::size_t at = whole.find(change.from);
    EXPECT_NE(at, std::string::npos) << file << ": " << change.from;
    if (at != std::string::npos) whole.replace(at, change.from.size(), change.to);
  }
  auto parsed = json::parse_yaml_all(whole);
  EXPECT_TRUE(parsed) << file << ": " << (parsed ? "" : parsed.error().message);
  std::vector<Value> all;
  if (!parsed) return all;
  for (const json::YamlDocument& one : *parsed) all.push_back(one.value);
  return all;
}

/// A server outside that answers with one status.
class Answering : public HttpClient {
 public:
  int status = 200;
  Task<Result<http::Response>> send(HttpCall call) override {
    urls.push_back(call.url);
    http::Response response;
    response.status = status;
    response.body = "no JSON";
    co_return response;
  }
  std::vector<std::string> urls;
};

/// A plane on which blocks are applied; the Application is called a.
class Seed {
 public:
  explicit Seed(HttpClient* outside = nullptr) : plane_(&image(), {.http = outside}) { plane_.make_namespace(kNamespace); }

  void apply(const std::string& file, const std::vector<Change>& changes = {}) {
    for (const Value& object : documents(file, changes)) {
      EXPECT_EQ(plane_.apply(object, kNamespace), "") << file;
    }
    plane_.pass(seconds{3});
  }
  Plane& plane() { return plane_; }
  Value find(const char* version, const char* kind, const char* name) {
    return plane_.find(kHub, reference(version, kind, name));
  }
  Value application() { return find("core.oam.dev/v1beta1", "Application", "a"); }
  void write_status(const char* version, const char* kind, const char* name, const char* status) {
    const auto patch = json::parse(fmt::format(R"({{"status": {}}})", status));
    ASSERT_TRUE(patch);
    EXPECT_EQ(plane_.write_status(reference(version, kind, name), PatchType::Merge, *patch), "");
    plane_.pass(seconds{5});
  }
  void resume() { write_status("core.oam.dev/v1beta1", "Application", "a", R"({"workflow": {"suspend": false}})"); }

  /// The status that a file shows is merged into that of the Application foo; `type` null: a PUT of it.
  void write_status_of(const std::string& file, std::optional<PatchType> type) {
    const Value status = documents(file).at(0)["status"];
    const Value foo = reference("core.oam.dev/v1beta1", "Application", "foo");
    const Value body = type ? json::object({{"status", status}}) : plane_.find(kHub, foo).with("status", status);
    EXPECT_EQ(plane_.write_status(foo, type, body), "") << file;
    plane_.pass(seconds{5});
  }

  /// "running a:succeeded b:skipped/Skip" once nothing changes any more.
  std::string end(const char* application = "a") {
    const End end = await_end(plane_, reference("core.oam.dev/v1beta1", "Application", application));
    std::string text = phase_of(end.target);
    for (const Value& step : steps_of(end.target).items()) {
      text += fmt::format(" {}:{}", step["name"].as_string(), step["phase"].as_string());
      if (step.has("reason")) text += "/" + step["reason"].str();
    }
    return text;
  }
  std::string image_of(const char* deployment) {
    return find("apps/v1", "Deployment", deployment)["spec"]["template"]["spec"]["containers"].item(0)["image"].str();
  }
  std::string message(std::size_t step) { return application()["status"]["workflow"]["steps"].item(step)["message"].str(); }

 private:
  Plane plane_;
};

TEST(Seed, 01_and_02_a_rollout_with_policies_of_ones_own) {
  Seed seed;
  for (const char* file : {"02.definitions.yaml", "02.yaml", "01.definitions.yaml", "01.yaml"}) seed.apply(file);
  EXPECT_EQ(seed.end(), "workflowSuspending step-0:succeeded step-1:suspending/Suspend");
  EXPECT_EQ(seed.find("v1", "ConfigMap", "my-rule")["data"]["rbac"].as_string(), "enabled") << "before the first step";
  EXPECT_EQ(seed.find("app.oam.dev/v1", "Insight", "my-deploy-insight")["spec"]["frequency"].as_string(), "enabled");
  seed.resume();
  EXPECT_EQ(seed.end(), "running step-0:succeeded step-1:succeeded step-2:succeeded step-3:succeeded") << seed.message(2);
  EXPECT_TRUE(seed.find("apps/v1", "Deployment", "mysvc").is_null()) << "no step applies it";
  EXPECT_FALSE(seed.find("apps/v1", "Deployment", "mysvc-v1").is_null()) << "the rollout's";
  const Value revision = seed.find("core.oam.dev/v1beta1", "ApplicationRevision", "a-v1");
  const std::string map = revision["spec"]["resourcesConfigMap"]["name"].str();
  const Value rendered = seed.find("v1", "ConfigMap", map.c_str());
  EXPECT_TRUE(rendered["data"]["mysvc"].as_string().contains("Deployment"))
      << json::print(revision["spec"]) << json::print(rendered);
  EXPECT_TRUE(rendered["data"]["policy_my-rule"].as_string().contains("vault")) << json::print(rendered["data"]);
  EXPECT_TRUE(rendered["data"]["policy_my-deploy-insight"].as_string().contains("Insight"));
}

/// Nothing but the application is looked at.
class BareView : public control::View {
 public:
  Value find(const Value&) const override { return {}; }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return {}; }
};

TEST(Seed, 02_a_policy_whose_kind_no_cluster_serves_is_named_by_why_and_status) {
  Seed seed;
  for (const char* file : {"02.yaml", "01.definitions.yaml", "01.yaml"}) seed.apply(file);
  EXPECT_EQ(phase_of(seed.application()), "generatingPolicy");
  const BareView view;
  const auto rows = delivery::application::explain_rows();
  const auto row = std::ranges::find(rows, "Application", &control::ExplainRow::kind);
  ASSERT_NE(row, rows.end());
  const auto waits = row->open(seed.application(), view)("");
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].on, "the objects of its policies");
  EXPECT_TRUE(waits[0].message.contains("policy my-deploy-insight")) << waits[0].message;
  EXPECT_TRUE(waits[0].message.contains("Insight")) << waits[0].message;
  const std::string shown = delivery::application::summary(seed.application(), view);
  EXPECT_TRUE(shown.contains("note: Policy: policy my-deploy-insight")) << shown;
  seed.apply("02.definitions.yaml");
  EXPECT_EQ(seed.end(), "workflowSuspending step-0:succeeded step-1:suspending/Suspend") << "once it is served";
}

TEST(Seed, 03_as_printed_applies_the_workload_waits_and_exports) {
  Seed seed;
  for (const char* file : {"03.definitions.yaml", "03.yaml", "03.application.yaml"}) seed.apply(file);
  EXPECT_EQ(seed.end(), "runningWorkflow apply:running/Wait") << seed.message(0);
  EXPECT_EQ(seed.find("example.org/v1", "Workload", "w")["spec"]["image"].as_string(), "registry.example.org/mysvc:1");
  seed.write_status("example.org/v1", "Workload", "w", R"({"ready": true, "secret": "keys"})");
  EXPECT_EQ(seed.end(), "running apply:succeeded use:succeeded") << seed.message(0);
  EXPECT_EQ(seed.message(1), "keys");
}

TEST(Seed, 03_context_workload_of_several_components_is_an_error_that_says_so) {
  Seed seed;
  for (const char* file : {"03.definitions.yaml", "03.yaml"}) seed.apply(file);
  seed.apply("03.application.yaml",
             {{"  workflow:\n", "    - {name: x, type: instance, properties: {image: x}}\n  workflow:\n"}});
  seed.plane().pass(seconds{5});
  EXPECT_EQ(seed.message(0),
            "context.workload is the workload of the only component, and the application has 2: take op.#RenderComponent of "
            "the one that is meant");
}

TEST(Seed, 03_in_todays_words_applies_waits_and_exports) {
  Seed seed;
  seed.apply("03.definitions.yaml");
  seed.apply("03.today.yaml");
  EXPECT_EQ(seed.end(), "runningWorkflow apply:running/Wait");
  EXPECT_EQ(seed.find("example.org/v1", "Workload", "w")["spec"]["image"].as_string(), "registry.example.org/mysvc:1");
  seed.write_status("example.org/v1", "Workload", "w", R"({"ready": true, "secret": "keys"})");
  EXPECT_EQ(seed.end(), "running apply:succeeded use:succeeded");
  EXPECT_EQ(seed.message(1), "keys");
}

TEST(Seed, 06_08_10_and_11_the_status_says_what_is_to_happen) {
  Seed seed;
  seed.apply("06.definitions.yaml");
  EXPECT_EQ(seed.end("foo"), "runningWorkflow first:succeeded gate:running/Wait");
  seed.write_status_of("08.yaml", PatchType::Merge);
  EXPECT_TRUE(seed.end("foo").starts_with("workflowSuspending ")) << seed.end("foo");
  seed.write_status_of("10.yaml", PatchType::Merge);
  EXPECT_EQ(seed.end("foo"), "runningWorkflow first:succeeded gate:running/Wait");
  seed.write_status_of("06.yaml", PatchType::Merge);
  EXPECT_TRUE(seed.end("foo").starts_with("workflowTerminated ")) << seed.end("foo");
  seed.write_status_of("11.yaml", {});
  EXPECT_EQ(seed.end("foo"), "runningWorkflow first:succeeded gate:running/Wait");
}

TEST(Seed, 07_break_ends_the_whole_workflow_and_says_why) {
  Seed seed;
  seed.apply("07.yaml");
  EXPECT_EQ(seed.end(), "workflowFailed good:succeeded bad:succeeded/Terminate after:skipped/Skip");
  EXPECT_EQ(seed.message(1), "job failed: no disk");
  EXPECT_TRUE(seed.application()["status"]["workflow"]["terminated"].as_bool());
}

TEST(Seed, 09_suspend_waits_for_an_approval) {
  Seed seed;
  seed.apply("09.yaml");
  EXPECT_EQ(seed.end(), "workflowSuspending manual-approve:suspending/Suspend");
  EXPECT_TRUE(seed.application()["status"]["workflow"]["suspend"].as_bool());
  seed.resume();
  EXPECT_EQ(seed.end(), "running manual-approve:succeeded");
}

/// Block 14: v1 is delivered, then v2; `traffic` stands on the blue-green step.
class BlueGreen : public Seed {
 public:
  void deliver(const std::string& image, const std::string& traffic) {
    std::vector<Change> changes = {{"web:1", image}};
    if (!traffic.empty()) changes.push_back({R"(partition: "50%")", "partition: \"50%\"\n        traffic: " + traffic});
    apply("14.yaml", changes);
  }
  Value rollout() { return find("core.oam.dev/v1beta1", "AppRollout", "a-web"); }
  /// "web-v1 4, web-v2 2": pods asked for and ready.
  std::string sizes() {
    std::string text;
    for (const Value& object : plane().all(kHub, kNamespace)) {
      if (object["kind"].as_string() != "Deployment") continue;
      text += fmt::format("{}{} {}/{}", text.empty() ? "" : ", ", kube::name(object),
                          object["status"]["readyReplicas"].as_int(), object["spec"]["replicas"].as_int());
    }
    return text;
  }
  std::string weight() {
    for (const Value& object : plane().all(kHub, kNamespace)) {
      const auto found = kube::annotation(object, "nginx.ingress.kubernetes.io/canary-weight");
      if (!found.empty()) return std::string(found);
    }
    return "none";
  }
};
constexpr const char* kTraffic = "{provider: nginx, ingressRef: {name: web}, service: web}";

TEST(Seed, 14_as_printed_takes_the_share_of_ready_pods_for_that_of_the_traffic) {
  BlueGreen seed;
  seed.deliver("web:1", "");
  EXPECT_EQ(seed.end(), "running step-0:succeeded step-1:succeeded step-2:succeeded")
      << json::print(seed.application()["status"]["workflow"]);
  EXPECT_EQ(seed.sizes(), "web-v1 4/4");
  seed.deliver("web:2", "");
  ASSERT_EQ(seed.plane().warnings().size(), 1u);
  EXPECT_EQ(
      seed.plane().warnings().front(),
      "spec.workflow.steps[1]: nothing splits the traffic of step step-0, which has no property traffic: the share of the "
      "ready pods is taken for the share of the traffic");
  EXPECT_EQ(seed.end(), "runningWorkflow step-0:succeeded step-1:succeeded step-2:running/Wait") << seed.message(1);
  EXPECT_EQ(seed.sizes(), "web-v1 2/2, web-v2 2/2");
  EXPECT_TRUE(seed.message(1).starts_with("nothing splits the traffic of web: it goes by the share of ready pods"))
      << seed.message(1);
  const Value made = seed.application()["status"]["workflow"]["steps"].item(0)["resourceRef"];
  EXPECT_EQ(made["kind"].as_string(), "AppRollout");
  EXPECT_EQ(made["name"].as_string(), "a-web");
  seed.write_status("core.oam.dev/v1beta1", "AppRollout", "a-web", json::print(documents("15.yaml").at(0)["status"]).c_str());
  EXPECT_EQ(seed.end(), "running step-0:succeeded step-1:succeeded step-2:succeeded");
  EXPECT_EQ(seed.sizes(), "web-v1 0/0, web-v2 4/4");
}

TEST(Seed, 14_a_greater_share_of_the_traffic_brings_more_pods) {
  BlueGreen seed;
  seed.deliver("web:1", "");
  seed.end();
  seed.apply("14.yaml", {{"web:1", "web:2"},
                         {"- type: traffic-shift\n      properties:\n        partition: \"50%\"",
                          "- type: traffic-shift\n      properties:\n        partition: \"75%\""}});
  EXPECT_EQ(seed.end(), "runningWorkflow step-0:succeeded step-1:succeeded step-2:running/Wait") << seed.message(1);
  EXPECT_EQ(seed.sizes(), "web-v1 1/1, web-v2 3/3");
}

TEST(Seed, 14_15_16_promotes_what_is_approved) {
  BlueGreen seed;
  seed.apply("14.traffic.yaml");
  seed.deliver("web:1", kTraffic);
  EXPECT_EQ(seed.end(), "running step-0:succeeded step-1:succeeded step-2:succeeded")
      << json::print(seed.application()["status"]["workflow"]);
  seed.deliver("web:2", kTraffic);
  EXPECT_EQ(seed.end(), "runningWorkflow step-0:succeeded step-1:succeeded step-2:running/Wait") << seed.message(1);
  EXPECT_EQ(seed.sizes(), "web-v1 2/2, web-v2 2/2");
  EXPECT_EQ(seed.weight(), "50");
  EXPECT_TRUE(seed.rollout()["status"]["pause"].as_bool()) << json::print_pretty(seed.rollout());
  seed.write_status("core.oam.dev/v1beta1", "AppRollout", "a-web", json::print(documents("15.yaml").at(0)["status"]).c_str());
  EXPECT_EQ(seed.end(), "running step-0:succeeded step-1:succeeded step-2:succeeded");
  EXPECT_EQ(seed.sizes(), "web-v1 0/0, web-v2 4/4");
}

TEST(Seed, 14_15_16_reverts_what_is_rejected) {
  BlueGreen seed;
  seed.apply("14.traffic.yaml");
  seed.deliver("web:1", kTraffic);
  seed.end();
  seed.deliver("web:2", kTraffic);
  seed.end();
  EXPECT_EQ(seed.plane().act(reference("core.oam.dev/v1beta1", "AppRollout", "a-web"), "rollout reject"), "");
  EXPECT_EQ(seed.end(), "workflowFailed step-0:succeeded step-1:succeeded step-2:failed/Action");
  EXPECT_EQ(seed.sizes(), "web-v1 4/4, web-v2 0/0");
}

TEST(Seed, 17_the_secret_of_the_database_comes_to_the_service) {
  Seed seed;
  seed.apply("17.definitions.yaml");
  seed.apply("17.yaml");
  EXPECT_EQ(seed.end(), "runningWorkflow step-0:running/Wait");
  EXPECT_TRUE(seed.find("apps/v1", "Deployment", "my-app").is_null());
  seed.write_status("database.example.org/v1alpha1", "MySQLInstance", "my-db", R"({"connSecret": "db-conn"})");
  EXPECT_EQ(seed.end(), "running step-0:succeeded step-1:succeeded");
  const Value container = seed.find("apps/v1", "Deployment", "my-app")["spec"]["template"]["spec"]["containers"].item(0);
  EXPECT_EQ(container["envFrom"].item(0)["secretRef"]["name"].as_string(), "db-conn") << json::print(container);
}

TEST(Seed, 20_steps_run_by_what_the_request_answered) {
  const std::tuple<int, const char*, const char*> cases[] = {
      {200, "running request:succeeded handle-200:succeeded handle-400:skipped/Skip handle-500:skipped/Skip", "web:2"},
      {400, "workflowFailed request:failed/Action handle-200:skipped/Skip handle-400:succeeded handle-500:skipped/Skip",
       "web:1"},
      {500,
       "workflowFailed request:failed/Action handle-200:skipped/Skip handle-400:skipped/Skip handle-500:succeeded/Terminate",
       "web:1"},
  };
  for (const auto& [code, expected, image] : cases) {
    SCOPED_TRACE(code);
    Answering outside;
    Seed seed(&outside);
    seed.apply("20.yaml", {{"mysvc:1", "web:1"}});
    EXPECT_EQ(seed.end(), "running request:succeeded handle-200:succeeded handle-400:skipped/Skip handle-500:skipped/Skip")
        << seed.message(0);
    outside.status = code;
    seed.apply("20.yaml", {{"mysvc:1", "web:2"}});
    EXPECT_EQ(seed.end(), expected) << seed.message(0) << seed.message(3);
    EXPECT_EQ(seed.image_of("mysvc"), fmt::format("registry.example.org/{}", image));
    EXPECT_EQ(seed.application()["status"]["rolledBackTo"].as_string(), code == 500 ? "a-v1" : "");
    EXPECT_EQ(outside.urls.size(), 2u);
  }
}

/// Block 20 with a new version that is delivered before the request: what the rollback brings back is the old one.
TEST(Seed, 20_rollback_brings_the_delivered_revision_back_and_keeps_it) {
  Answering outside;
  Seed seed(&outside);
  const Change delivers{"    steps:\n",
                        "    steps:\n      - {name: first, type: apply-component, properties: {component: mysvc}}\n"};
  seed.apply("20.yaml", {{"mysvc:1", "web:1"}, delivers});
  seed.end();
  outside.status = 500;
  const Change more{"  workflow:\n",
                    "    - {name: extra, type: worker, properties: {image: registry.example.org/extra}}\n  workflow:\n"};
  const Change extra{"    steps:\n",
                     "    steps:\n      - {name: second, type: apply-component, properties: {component: extra}}\n"};
  seed.apply("20.yaml", {{"mysvc:1", "web:2"}, more, delivers, extra});
  EXPECT_EQ(seed.end(),
            "workflowFailed second:succeeded first:succeeded request:failed/Action handle-200:skipped/Skip "
            "handle-400:skipped/Skip handle-500:succeeded/Terminate")
      << seed.message(5);
  EXPECT_EQ(seed.message(5), "revision a-v1 serves again");
  EXPECT_EQ(seed.image_of("mysvc"), "registry.example.org/web:1");
  EXPECT_TRUE(seed.find("apps/v1", "Deployment", "extra").is_null()) << "that the revision has added";
  EXPECT_EQ(seed.application()["spec"]["components"].item(0)["properties"]["image"].as_string(), "registry.example.org/web:2");
  EXPECT_EQ(seed.application()["status"]["rolledBackTo"].as_string(), "a-v1");
  EXPECT_EQ(seed.application()["status"]["services"].size(), 1u) << json::print(seed.application()["status"]["services"]);

  EXPECT_EQ(seed.plane().merge(reference("apps/v1", "Deployment", "mysvc"), *json::parse(R"({"spec": {"replicas": 7}})")), "");
  EXPECT_EQ(seed.plane().remove(reference("apps/v1", "Deployment", "mysvc")), "");
  seed.plane().pass(std::chrono::minutes{2});
  EXPECT_EQ(seed.image_of("mysvc"), "registry.example.org/web:1") << "it is repaired";

  outside.status = 200;
  seed.apply("20.yaml", {{"mysvc:1", "web:3"}, delivers});
  EXPECT_TRUE(seed.end().starts_with("running ")) << seed.end();
  EXPECT_EQ(seed.image_of("mysvc"), "registry.example.org/web:3");
  EXPECT_EQ(seed.application()["status"]["rolledBackTo"].as_string(), "");
}

TEST(Seed, 20_without_a_delivered_revision_the_rollback_fails) {
  Answering outside;
  outside.status = 500;
  Seed seed(&outside);
  seed.apply("20.yaml");
  EXPECT_EQ(seed.end(),
            "workflowFailed request:failed/Action handle-200:skipped/Skip handle-400:skipped/Skip handle-500:failed/Action");
  EXPECT_EQ(seed.message(3), "there is no earlier revision whose workflow succeeded: nothing can be rolled back to");
}

TEST(Seed, 21_always_runs_whether_the_step_before_succeeded_or_not) {
  Seed good;
  good.apply("21.yaml");
  EXPECT_EQ(good.end(), "running deploy-app:succeeded notificationA:succeeded");
  Seed bad;
  bad.apply("21.definitions.yaml");
  bad.apply("21.yaml");
  EXPECT_EQ(bad.end(), "workflowFailed deploy-app:failed/Action notificationA:succeeded");
}

TEST(Seed, 22_a_group_runs_its_steps_at_once_and_ends_with_the_last) {
  Seed seed;
  seed.apply("22.yaml");
  EXPECT_EQ(seed.end(), "workflowSuspending run-step-group1:suspending sub-step1:suspending/Suspend sub-step2:succeeded");
  seed.resume();
  EXPECT_EQ(seed.end(), "running run-step-group1:succeeded sub-step1:succeeded sub-step2:succeeded");
}

}  // namespace
}  // namespace slipway::oracle_test
