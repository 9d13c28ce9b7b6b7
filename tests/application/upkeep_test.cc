// What an application does beside delivering: tells of itself in events, keeps fields that it owns, leaves contested ones to
// others for a while, deletes in the order of dependencies, keeps Secrets to themselves, and says when it does not get on.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/digest.h"
#include "delivery/application/compressed.h"
#include "delivery/application/tracker.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using client::PatchType;
using std::chrono::minutes;
using std::chrono::seconds;

Value named(const std::string& version, const std::string& kind, const std::string& name) {
  return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
}

class Upkeep : public testing::Test {
 protected:
  void open(std::map<std::string, std::string> options = {}) {
    plane_ = std::make_unique<Plane>(&image(), PlaneOptions{.family_options = std::move(options)});
    plane_->make_namespace("default");
  }
  void apply(const std::string& text) { EXPECT_EQ(plane_->apply(yaml(text), "default"), "") << text; }
  void pass(Duration time) { plane_->pass(time); }

  Value application() { return plane_->find(kHub, named("core.oam.dev/v1beta1", "Application", "a")); }
  Value deployment(const std::string& name) { return plane_->find(kHub, named("apps/v1", "Deployment", name)); }
  std::string phase() { return application()["status"]["status"].str(); }
  Value condition(const std::string& type) { return kube::condition(application(), type); }
  /// As another writer would.
  void scale(const std::string& name, int replicas) {
    EXPECT_EQ(
        plane_->merge(named("apps/v1", "Deployment", name), json::object({{"spec", json::object({{"replicas", replicas}})}})),
        "");
  }
  int replicas(const std::string& name) { return static_cast<int>(deployment(name)["spec"]["replicas"].as_int()); }
  /// The events about an object, in the order of their names, without what others tell.
  std::vector<std::string> events_of(const std::string& object) {
    std::vector<std::string> mine;
    for (const std::string& line : plane_->events()) {
      if (line.contains(" " + object + ": ")) mine.push_back(line);
    }
    std::ranges::sort(mine);
    return mine;
  }
  /// Kinds and names of all objects whose text contains it, but for the kind itself.
  std::vector<std::string> holding(const std::string& text, const std::string& but) {
    std::vector<std::string> found;
    for (const std::string& ns : {std::string(), std::string("default")}) {
      for (const Value& object : plane_->all(kHub, ns)) {
        if (kube::kind(object) == but) continue;
        std::string whole = json::print(object);
        if (delivery::application::is_compressed(object["spec"]))
          whole += json::print(delivery::application::uncompressed(object["spec"]));
        if (whole.contains(text)) found.push_back(fmt::format("{}/{}", kube::kind(object), kube::name(object)));
      }
    }
    return found;
  }

  std::unique_ptr<Plane> plane_;
};

constexpr const char* kTwoReplicas = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - {name: web, type: webservice, properties: {image: nginx}, traits: [{type: scaler, properties: {replicas: 2}}]}
)";

TEST_F(Upkeep, tells_of_a_delivery_in_events_once) {
  open();
  apply(kTwoReplicas);
  pass(minutes{20});
  ASSERT_EQ(phase(), "running");
  EXPECT_EQ(events_of("Application/a"), (std::vector<std::string>{"Normal Applied Application/a: Workflow finished",
                                                                  "Normal Deployed Application/a: Deployed successfully"}));
}

TEST_F(Upkeep, warns_in_events_of_what_cannot_be_parsed_and_what_failed) {
  open({{"max-workflow-step-error-retry-times", "1"}});
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type: "
      "webservce}]}}");
  pass(minutes{5});
  const std::vector<std::string> told = events_of("Application/a");
  ASSERT_EQ(told.size(), 1U) << fmt::format("{}", fmt::join(told, "\n"));
  EXPECT_TRUE(told[0].starts_with("Warning FailedParse Application/a: failed to parse component web")) << told[0];
  apply(kTwoReplicas);
  pass(minutes{5});
  const std::vector<std::string> mended = events_of("Application/a");
  EXPECT_EQ(std::ranges::count(mended, "Normal Parsed Application/a: Parsed successfully"), 1)
      << fmt::format("{}", fmt::join(mended, "\n"));

  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: broken, namespace: vela-system},
            spec: {schematic: {cue: {template: "a: 1 & 2"}}}})");
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: b}, spec: {components: [],
            workflow: {steps: [{name: s, type: broken}]}}})");
  pass(minutes{2});
  const std::vector<std::string> failed = events_of("Application/b");
  EXPECT_TRUE(std::ranges::any_of(failed, [](const std::string& line) {
    return line.starts_with("Warning FailedWorkflow Application/b: step s failed (FailedAfterRetries)");
  })) << fmt::format("{}", fmt::join(failed, "\n"));
}

TEST_F(Upkeep, tells_of_workflow_runs_that_end_and_that_cannot_begin) {
  open();
  apply(R"({apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: r}, spec: {workflowSpec: {steps: [
            {name: s, type: print-message-in-status, properties: {message: m}}]}}})");
  apply("{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: lost}, spec: {workflowRef: none}}");
  pass(minutes{5});
  EXPECT_EQ(events_of("WorkflowRun/r"),
            (std::vector<std::string>{"Normal Execute WorkflowRun/r: WorkflowRun finished successfully"}));
  EXPECT_EQ(events_of("WorkflowRun/lost"),
            (std::vector<std::string>{"Warning Generate WorkflowRun/lost: fail to generate workflow runners: "
                                      "Workflow.core.oam.dev \"none\" not found"}));
}

TEST_F(Upkeep, puts_drift_right_within_a_second_and_leaves_contested_fields_for_a_minute) {
  open();
  apply(kTwoReplicas);
  pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  for (int i = 0; i < 3; ++i) {
    scale("web", 5);
    pass(seconds{1});
    EXPECT_EQ(replicas("web"), 2) << "repair " << i;
  }
  scale("web", 5);
  pass(seconds{30});
  EXPECT_EQ(replicas("web"), 5) << "the fourth waits";
  const Value contested = condition("Contested");
  EXPECT_EQ(contested["reason"].as_string(), "FieldContested");
  EXPECT_TRUE(contested["message"].as_string().contains("spec.replicas of Deployment default/web")) << json::print(contested);
  EXPECT_TRUE(contested["message"].as_string().contains("by \"kubectl-client-side-apply\"")) << json::print(contested);
  pass(seconds{31});
  EXPECT_EQ(replicas("web"), 2) << "once a minute";
  pass(minutes{3});
  EXPECT_TRUE(condition("Contested").is_null()) << "after a quiet time nothing is said any more";
  scale("web", 5);
  pass(seconds{1});
  EXPECT_EQ(replicas("web"), 2);
}

TEST_F(Upkeep, apply_once_with_paths_leaves_only_those_alone) {
  open();
  std::string text = kTwoReplicas;
  text += R"(  policies:
  - name: once
    type: apply-once
    properties: {enable: true, rules: [{selector: {componentNames: [web]}, strategy: {path: [spec.replicas], affect: always}}]}
)";
  apply(text);
  pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  scale("web", 5);
  EXPECT_EQ(plane_->merge(named("apps/v1", "Deployment", "web"), yaml("{metadata: {labels: {app.oam.dev/component: other}}}")),
            "");
  pass(seconds{2});
  EXPECT_EQ(kube::label(deployment("web"), "app.oam.dev/component"), "web");
  EXPECT_EQ(replicas("web"), 5);
  EXPECT_EQ(plane_->remove(named("apps/v1", "Deployment", "web")), "");
  pass(seconds{5});
  EXPECT_TRUE(deployment("web").is_null()) << "what was deleted stays so";
}

TEST_F(Upkeep, applies_by_three_way_merge_when_told_so) {
  open({{"apply-mode", "three-way"}});
  const std::string text = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - {name: web, type: webservice, properties: {image: nginx, env: [{name: A, value: "1"}, {name: B, value: "2"}]}}
)";
  apply(text);
  pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  EXPECT_TRUE(kube::annotation(deployment("web"), "app.oam.dev/last-applied-configuration").contains("nginx"));
  EXPECT_EQ(plane_->merge(named("apps/v1", "Deployment", "web"), yaml("{metadata: {annotations: {theirs: x}}}")), "");
  std::string changed = text;
  changed.replace(changed.find(R"(, {name: B, value: "2"})"), std::string(R"(, {name: B, value: "2"})").size(), "");
  apply(changed);
  pass(minutes{1});
  const Value web = deployment("web");
  EXPECT_EQ(web["spec"]["template"]["spec"]["containers"].item(0)["env"], yaml(R"([{name: A, value: "1"}])"));
  EXPECT_EQ(kube::annotation(web, "theirs"), "x");
  for (const Value& entry : web["metadata"]["managedFields"].items()) {
    EXPECT_NE(entry["operation"].as_string() == "Apply" && entry["manager"].as_string() == "slipway-application", true);
  }
}

TEST_F(Upkeep, deletes_dependants_first_when_the_policy_says_so) {
  open();
  apply(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - {name: base, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: base}}]}}
  - name: user
    type: k8s-objects
    dependsOn: [base]
    properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: user, finalizers: [test.dev/held]}}]}
  policies:
  - {name: gc, type: garbage-collect, properties: {order: dependency}}
)");
  pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  EXPECT_EQ(plane_->remove(named("core.oam.dev/v1beta1", "Application", "a")), "");
  pass(seconds{20});
  EXPECT_FALSE(plane_->find(kHub, named("v1", "ConfigMap", "base")).is_null()) << "user depends on it and is still there";
  EXPECT_TRUE(condition("Deleting")["message"].as_string().contains("left")) << json::print(application()["status"]);
  EXPECT_EQ(plane_->merge(named("v1", "ConfigMap", "user"), yaml("{metadata: {finalizers: null}}")), "");
  pass(seconds{20});
  EXPECT_TRUE(plane_->find(kHub, named("v1", "ConfigMap", "base")).is_null());
  EXPECT_TRUE(application().is_null());
}

/// The password of a Secret goes through a step's output into a component.
constexpr const char* kWithSecret = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - name: web
    type: webservice
    properties: {image: nginx, env: [{name: FIXED, value: f}]}
    inputs: [{from: password, parameterKey: "env[0].value"}]
  policies:
  - {name: look, type: debug}
  workflow:
    steps:
    - name: read
      type: read-object
      properties: {apiVersion: v1, kind: Secret, name: account, cluster: ""}
      outputs: [{name: password, valueFrom: "output.value.stringData.password"}]
    - {name: web, type: apply-component, properties: {component: web}}
)";

TEST_F(Upkeep, keeps_what_was_read_from_a_secret_in_secrets) {
  open();
  apply("{apiVersion: v1, kind: Secret, metadata: {name: account}, data: {password: czNjcjN0}}");
  std::string text = kWithSecret;
  text.replace(text.find("output.value.stringData"), std::string("output.value.stringData").size(), "output.value.data");
  text.replace(text.find("{name: FIXED, value: f}"), std::string("{name: FIXED, value: f}").size(), "{name: PASSWORD}");
  apply(text);
  pass(seconds{2});
  pass(minutes{2});
  ASSERT_EQ(phase(), "running") << json::print(application()["status"]);
  const auto env = [&] {
    return deployment("web")["spec"]["template"]["spec"]["containers"].item(0)["env"].item(0)["value"].str();
  };
  EXPECT_EQ(env(), "czNjcjN0");
  std::vector<std::string> holders = holding("czNjcjN0", "Secret");
  std::erase_if(holders, [](const std::string& one) {
    return one.starts_with("Deployment/") || one.starts_with("ReplicaSet/") || one.starts_with("Pod/");
  });
  EXPECT_TRUE(holders.empty()) << fmt::format("{}", fmt::join(holders, ", "));
  const Value resources = plane_->find(kHub, named("v1", "ConfigMap", "a-v1"));
  EXPECT_FALSE(resources["data"]["web"].as_string().contains("pending")) << "it has been rendered: " << json::print(resources);
  EXPECT_TRUE(plane_->find(kHub, named("v1", "Secret", "a-v1"))["data"].has("web"));

  EXPECT_EQ(plane_->remove(named("apps/v1", "Deployment", "web")), "");
  pass(seconds{5});
  EXPECT_EQ(env(), "czNjcjN0") << "it comes back from the Secret";
}

TEST_F(Upkeep, a_secret_that_a_step_made_of_a_component_is_secret) {
  open();
  apply(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - name: k
    type: k8s-objects
    properties: {objects: [{apiVersion: v1, kind: Secret, metadata: {name: sdsec}, data: {a: UGxhaW5Ub3BTZWNyZXQ3Nw==}}]}
  policies: [{name: d, type: debug}]
  workflow:
    steps:
    - {name: a, type: apply-component, properties: {component: k}, outputs: [{name: pw, valueFrom: output.data.a}]}
    - {name: pm, type: print-message-in-status, inputs: [{from: pw, parameterKey: message}]}
)");
  pass(minutes{1});
  ASSERT_EQ(phase(), "running") << json::print(application()["status"]);
  EXPECT_EQ(application()["status"]["workflow"]["steps"].item(1)["message"].as_string(), "(secret)");
  std::vector<std::string> maps = holding("UGxhaW5Ub3BTZWNyZXQ3Nw==", "Secret");
  std::ranges::move(holding("PlainTopSecret77", "Secret"), std::back_inserter(maps));
  std::erase_if(maps, [](const std::string& one) { return !one.starts_with("ConfigMap/"); });
  EXPECT_TRUE(maps.empty()) << fmt::format("{}", fmt::join(maps, ", "));
}

TEST_F(Upkeep, a_secret_as_a_label_or_against_another_value_is_told_nowhere) {
  open();
  apply("{apiVersion: v1, kind: Secret, metadata: {name: account}, stringData: {password: zz-top-secret}}");
  apply(R"y({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: decoded, namespace: vela-system},
    spec: {schematic: {cue: {template: "import (\"vela/kube\"\n\"encoding/base64\")\nr: kube.#Read & {$params: value: {apiVersion:
    \"v1\", kind: \"Secret\", metadata: {name: \"account\", namespace: \"default\"}}}\n
    word: \"\\(base64.Decode(null, r.$returns.value.data.password))\"\nparameter: {}\n"}}}})y");
  pass(seconds{2});
  apply(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components: []
  workflow:
    steps:
    - {name: read, type: decoded, outputs: [{name: word, valueFrom: word}]}
    - name: label
      type: apply-object
      inputs: [{from: word, parameterKey: value.metadata.labels.word}]
      properties: {value: {apiVersion: v1, kind: ConfigMap, metadata: {name: labelled, namespace: default}}}
    - name: conflict
      type: apply-object
      inputs: [{from: word, parameterKey: value.metadata.name}]
      properties: {value: {apiVersion: v1, kind: ConfigMap, metadata: {name: fixed, namespace: default}}}
)");
  pass(minutes{2});
  const Value steps = application()["status"]["workflow"]["steps"];
  EXPECT_EQ(steps.item(1)["phase"].as_string(), "succeeded") << json::print(application()["status"]);
  EXPECT_TRUE(steps.item(2)["message"].as_string().contains("(secret)")) << json::print(steps);
  std::vector<std::string> holders = holding("zz-top-secret", "Secret");
  std::erase(holders, "ConfigMap/labelled");
  EXPECT_TRUE(holders.empty()) << fmt::format("{}", fmt::join(holders, ", "));
}

TEST_F(Upkeep, texts_of_listed_secrets_are_not_told) {
  open();
  apply("{apiVersion: v1, kind: Secret, metadata: {name: account}, data: {password: czNjcjN0}}");
  apply(
      R"y({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: tell, namespace: vela-system}, spec: {
            schematic: {cue: {template: "import (\"vela/kube\"\n\"vela/builtin\")\nread: kube.#List & {$params: {resource: {apiVersion: \"v1\", kind: \"Secret\"}, filter: namespace: \"default\"}}\nmsg: builtin.#Message & {$params: message: \"it is \" + read.$returns.values.items[0].data.password + \" of \" + read.$returns.values.items[0].metadata.name}\n"}}}})y");
  pass(seconds{2});
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [],
            workflow: {steps: [{name: s, type: tell}]}}})");
  pass(minutes{1});
  EXPECT_EQ(application()["status"]["workflow"]["steps"].item(0)["message"].as_string(), "it is (secret) of account")
      << json::print(application()["status"]);
}

TEST_F(Upkeep, brings_back_a_secret_that_was_deleted_or_changed) {
  open();
  apply(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - {name: s, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {hint: told-aside}}, data: {k: dmFsdWU=}}]}}
)");
  pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  const Value secret = named("v1", "Secret", "s");
  EXPECT_EQ(plane_->merge(secret, yaml("{data: {k: b3RoZXI=}}")), "");
  pass(seconds{1});
  EXPECT_EQ(plane_->find(kHub, secret)["data"]["k"].as_string(), "dmFsdWU=");
  EXPECT_EQ(plane_->remove(secret), "");
  pass(seconds{5});
  EXPECT_EQ(plane_->find(kHub, secret)["data"]["k"].as_string(), "dmFsdWU=");
  std::vector<std::string> trackers = holding("dmFsdWU=", "Secret");
  for (const Value& object : plane_->all(kHub, "")) {
    if (kube::kind(object) != "ResourceTracker") continue;
    const std::string text = json::print(delivery::application::entries_of(object));
    EXPECT_TRUE(text.contains("\"name\":\"s\"")) << text;
    EXPECT_FALSE(text.contains("told-aside")) << text;
  }
  std::erase_if(trackers,
                [](const std::string& one) { return !one.starts_with("ResourceTracker/") && !one.starts_with("ConfigMap/"); });
  EXPECT_TRUE(trackers.empty()) << fmt::format("{}", fmt::join(trackers, ", "));
}

TEST_F(Upkeep, says_after_the_deadline_that_it_does_not_get_on) {
  open();
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web,
            type: webservice, properties: {image: nginx, annotations: {slipway.dev/ready-after: never}}}]}})");
  pass(minutes{9});
  EXPECT_TRUE(condition("Progressing").is_null());
  EXPECT_EQ(phase(), "runningWorkflow");
  pass(minutes{3});
  const Value progressing = condition("Progressing");
  EXPECT_EQ(progressing["status"].as_string(), "False");
  EXPECT_EQ(progressing["reason"].as_string(), "ProgressDeadlineExceeded");
  EXPECT_TRUE(progressing["message"].as_string().contains("nothing has changed for 10m0s")) << json::print(progressing);
  EXPECT_EQ(phase(), "runningWorkflow") << "it goes on waiting";
  const std::vector<std::string> told = events_of("Application/a");
  EXPECT_TRUE(std::ranges::any_of(told, [](const std::string& line) { return line.contains("ProgressDeadlineExceeded"); }));
}

/// A trait of a later stage that is not healthy yet, as nothing of it is there, holds nothing up.
TEST_F(Upkeep, what_is_dispatched_first_waits_for_its_own_traits_only) {
  open();
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: TraitDefinition, metadata: {name: beside, namespace: vela-system}, spec: {
            schematic: {cue: {template: 'outputs: mark: {apiVersion: "v1", kind: "ConfigMap", data: a: "b"}'}},
            status: {healthPolicy: 'isHealth: context.outputs.mark.data.a == "b"'}}})");
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: TraitDefinition, metadata: {name: before, namespace: vela-system}, spec: {
            stage: PreDispatch,
            schematic: {cue: {template: 'outputs: conf: {apiVersion: "v1", kind: "ConfigMap", data: a: "c"}'}}}})");
  pass(seconds{2});
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web,
            type: worker, properties: {image: i}, traits: [{type: beside}, {type: before}]}]}})");
  pass(minutes{1});
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]);
  const Value traits = application()["status"]["services"].item(0)["traits"];
  EXPECT_EQ(traits.item(0)["type"].as_string(), "before");
}

/// Two outputs of one name: each trait is judged by its own, the component by those of its template.
TEST_F(Upkeep, health_is_judged_by_the_own_outputs) {
  open();
  const auto trait = [](const std::string& name, const std::string& value) {
    return fmt::format(
        R"({{apiVersion: core.oam.dev/v1beta1, kind: TraitDefinition, metadata: {{name: {0}, namespace: vela-system}}, spec: {{
            schematic: {{cue: {{template: 'outputs: cfg: {{apiVersion: "v1", kind: "ConfigMap", metadata: name: "{0}", data: a: "{1}"}}'}}}},
            status: {{healthPolicy: 'isHealth: context.outputs.cfg.data.a == "good"', customStatus: 'message: context.outputs.cfg.metadata.name'}}}}}})",
        name, value);
  };
  apply(trait("ta", "good"));
  apply(trait("tb", "bad"));
  apply(
      R"({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: seeing, namespace: vela-system}, spec: {
            schematic: {cue: {template: 'output: {apiVersion: "v1", kind: "ConfigMap"}'}},
            status: {healthPolicy: 'isHealth: context.outputs == _|_'}}})");
  pass(seconds{2});
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: c,
            type: seeing, traits: [{type: ta}, {type: tb}]}]}})");
  pass(minutes{1});
  const Value service = application()["status"]["services"].item(0);
  EXPECT_TRUE(service["workloadHealthy"].as_bool()) << json::print(service);
  EXPECT_TRUE(service["traits"].item(0)["healthy"].as_bool()) << json::print(service);
  EXPECT_EQ(service["traits"].item(0)["message"].as_string(), "ta");
  EXPECT_FALSE(service["traits"].item(1)["healthy"].as_bool()) << json::print(service);
  EXPECT_EQ(service["traits"].item(1)["message"].as_string(), "tb");
}

TEST_F(Upkeep, what_waits_for_an_earlier_stage_says_so) {
  open();
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: TraitDefinition, metadata: {name: before, namespace: vela-system}, spec: {
            stage: PreDispatch,
            schematic: {cue: {template: 'outputs: conf: {apiVersion: "v1", kind: "ConfigMap", data: a: "c"}'}},
            status: {healthPolicy: 'isHealth: false'}}})");
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: TraitDefinition, metadata: {name: after, namespace: vela-system}, spec: {
            stage: PostDispatch,
            schematic: {cue: {template: 'outputs: last: {apiVersion: "v1", kind: "ConfigMap", data: a: "c"}'}}}})");
  pass(seconds{2});
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web,
            type: worker, properties: {image: i}, traits: [{type: after}, {type: before}]}]}})");
  pass(minutes{1});
  const Value service = application()["status"]["services"].item(0);
  EXPECT_FALSE(service["workloadHealthy"].as_bool()) << json::print(service);
  EXPECT_FALSE(service["healthy"].as_bool());
  EXPECT_EQ(service["message"].as_string(), "waiting for previous stage healthy");
  EXPECT_EQ(service["traits"].item(1)["type"].as_string(), "after");
  EXPECT_TRUE(service["traits"].item(1)["pending"].as_bool()) << json::print(service);
  EXPECT_FALSE(service["traits"].item(1)["healthy"].as_bool());
}

TEST_F(Upkeep, health_that_takes_too_long_to_judge_is_told) {
  open();
  apply(
      R"y({apiVersion: core.oam.dev/v1beta1, kind: ComponentDefinition, metadata: {name: slow, namespace: vela-system}, spec: {
            schematic: {cue: {template: 'output: {apiVersion: "v1", kind: "ConfigMap"}'}},
            status: {healthPolicy: "import \"list\"\n_l: list.Range(0, 100, 1)\nisHealth: len([for a in _l for b in _l for c in _l for d in _l {a}]) > 0"}}})y");
  pass(seconds{2});
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: c,
            type: slow}]}})");
  pass(seconds{30});
  const Value service = application()["status"]["services"].item(0);
  EXPECT_TRUE(service["message"].as_string().starts_with("healthPolicy: evaluation takes too ")) << json::print(service);
}

/// What an older installation left in vela-system is found, but the step that delivers components is the engine's own.
TEST_F(Upkeep, apply_component_of_the_system_is_the_engines_own) {
  open({{"definition-namespace", "platform"}});
  apply(
      R"({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: apply-component, namespace: vela-system},
            spec: {schematic: {cue: {template: 'parameter: {component: string, cluster: *"" | string}'}}}})");
  pass(seconds{2});
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web,
            type: worker, properties: {image: i}}]}})");
  pass(minutes{1});
  EXPECT_FALSE(deployment("web").is_null()) << json::print(application()["status"]);
}

TEST_F(Upkeep, a_person_is_waited_for_without_a_deadline) {
  open();
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [],
            workflow: {steps: [{name: ask, type: suspend}]}}})");
  pass(minutes{30});
  EXPECT_TRUE(condition("Progressing").is_null());
}

TEST_F(Upkeep, says_that_a_definition_has_changed_since_and_goes_on_using_the_old_one) {
  open();
  const std::string definition = R"(
apiVersion: core.oam.dev/v1beta1
kind: ComponentDefinition
metadata: {name: plain, namespace: default}
spec:
  schematic: {cue: {template: 'output: {apiVersion: "v1", kind: "ConfigMap", data: made: "by ONE"}'}}
)";
  apply(definition);
  pass(seconds{2});
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: c, type: "
      "plain}]}}");
  pass(minutes{1});
  ASSERT_EQ(phase(), "running");
  EXPECT_TRUE(condition("DefinitionChanged").is_null());
  std::string changed = definition;
  changed.replace(changed.find("ONE"), 3, "TWO");
  apply(changed);
  pass(seconds{2});
  EXPECT_TRUE(condition("DefinitionChanged")["message"].as_string().contains("ComponentDefinition plain"));
  EXPECT_EQ(plane_->find(kHub, named("v1", "ConfigMap", "c"))["data"]["made"].as_string(), "by ONE");
  EXPECT_EQ(plane_->merge(named("core.oam.dev/v1beta1", "Application", "a"),
                          yaml(R"({metadata: {annotations: {app.oam.dev/autoUpdate: "true"}}})")),
            "");
  pass(seconds{30});
  EXPECT_EQ(plane_->find(kHub, named("v1", "ConfigMap", "c"))["data"]["made"].as_string(), "by TWO");
  EXPECT_TRUE(condition("DefinitionChanged").is_null());
}

TEST_F(Upkeep, keeps_the_values_of_steps_with_the_policy_debug) {
  open();
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [],
            policies: [{name: d, type: debug}],
            workflow: {steps: [{name: say, type: print-message-in-status, properties: {message: hello}}]}}})");
  pass(seconds{30});
  const Value step = application()["status"]["workflow"]["steps"].item(0);
  const std::string uid(kube::uid(application()));
  const std::string name = fmt::format("a-{}-debug-{}", step["id"].as_string(), uid.substr(uid.size() - 5));
  const Value kept = plane_->find(kHub, named("v1", "ConfigMap", name));
  EXPECT_TRUE(kept["data"]["debug"].as_string().contains("hello")) << name;
}

TEST_F(Upkeep, suspends_after_failures_when_told_so) {
  open({{"suspend-on-failure", "true"}, {"max-workflow-step-error-retry-times", "1"}});
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: broken, namespace: vela-system},
            spec: {schematic: {cue: {template: "a: 1 & 2"}}}})");
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [],
            workflow: {steps: [{name: s, type: broken}]}}})");
  pass(minutes{2});
  EXPECT_EQ(phase(), "workflowSuspending");
}

constexpr const char* kScoped = R"(
apiVersion: core.oam.dev/v1beta1
kind: PolicyDefinition
metadata: {name: team, namespace: vela-system}
spec:
  scope: Application
  schematic:
    cue:
      template: |
        parameter: {team: string, active: *true | bool}
        config: enabled: parameter.active
        output: {
          labels: "example.dev/team": parameter.team
          ctx: region: "of " + context.policyName
          components: [for c in context.appComponents {name: c.name + "-" + parameter.team, type: c.type}]
        }
)";
constexpr const char* kOfTeam = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components: [{name: c, type: plain}]
  policies: [{name: p, type: team, properties: {team: blue}}]
)";

TEST_F(Upkeep, policies_of_scope_application_change_it_before_it_is_rendered) {
  open();
  apply(kScoped);
  apply(R"(
apiVersion: core.oam.dev/v1beta1
kind: ComponentDefinition
metadata: {name: plain, namespace: default}
spec: {schematic: {cue: {template: 'output: {apiVersion: "v1", kind: "ConfigMap", data: region: context.custom.region}'}}}
)");
  pass(seconds{2});
  apply(kOfTeam);
  pass(minutes{1});
  ASSERT_EQ(phase(), "running") << json::print(application()["status"]);
  const Value made = plane_->find(kHub, named("v1", "ConfigMap", "c-blue"));
  EXPECT_EQ(made["data"]["region"].as_string(), "of p");
  EXPECT_EQ(kube::label(made, "example.dev/team"), "blue");
  EXPECT_EQ(application()["spec"]["components"].item(0)["name"].as_string(), "c") << "what is stored stays as it was written";
  EXPECT_EQ(application()["status"]["appliedApplicationPolicies"], yaml("[{name: p, type: team, applied: true}]"));
  const std::string map = application()["status"]["applicationPoliciesConfigMap"].str();
  EXPECT_TRUE(plane_->find(kHub, named("v1", "ConfigMap", map))["data"]["p"].as_string().contains("c-blue")) << map;
  EXPECT_EQ(application()["status"]["latestRevision"]["revision"].as_int(), 1);
  pass(minutes{10});
  EXPECT_EQ(application()["status"]["latestRevision"]["revision"].as_int(), 1) << "looking again changes nothing";

  std::string off = kOfTeam;
  off.replace(off.find("{team: blue}"), std::string("{team: blue}").size(), "{team: blue, active: false}");
  apply(off);
  pass(minutes{1});
  EXPECT_EQ(application()["status"]["appliedApplicationPolicies"].item(0)["applied"].as_bool(true), false)
      << json::print(application()["status"]);
}

std::string global_policy(const std::string& name, const std::string& ns, int priority, const std::string& label) {
  return fmt::format(R"(
apiVersion: core.oam.dev/v1beta1
kind: PolicyDefinition
metadata: {{name: {}, namespace: {}}}
spec:
  scope: Application
  global: true
  priority: {}
  schematic: {{cue: {{template: 'parameter: {{team: *"{}" | string}}, output: {{labels: team: parameter.team, ctx: "{}": parameter.team}}'}}}}
)",
                     name, ns, priority, label, name);
}

TEST_F(Upkeep, global_policies_come_before_those_that_are_named) {
  open();
  apply(global_policy("late", "vela-system", 5, "late"));
  apply(global_policy("early", "vela-system", 1, "early"));
  apply(global_policy("own", "default", 0, "own"));
  apply(global_policy("late", "default", 0, "late-here"));
  apply(R"y(
apiVersion: core.oam.dev/v1beta1
kind: ComponentDefinition
metadata: {name: plain, namespace: default}
spec: {schematic: {cue: {template: 'output: {apiVersion: "v1", kind: "ConfigMap", data: {if context.custom != _|_ {for k, v in context.custom {"\(k)": v}}}}'}}}
)y");
  pass(seconds{2});
  const std::string plain =
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a, annotations: ANNOTATIONS}, spec: "
      "{components: [{name: c, type: plain}], policies: POLICIES}}";
  const auto of = [&](const std::string& annotations, const std::string& policies) {
    std::string text = plain;
    text.replace(text.find("ANNOTATIONS"), 11, annotations);
    text.replace(text.find("POLICIES"), 8, policies);
    return text;
  };
  const auto made = [&] { return plane_->find(kHub, named("v1", "ConfigMap", "c")); };
  apply(of("{}", "[]"));
  pass(minutes{1});
  ASSERT_EQ(phase(), "running") << json::print(application()["status"]);
  EXPECT_EQ(made()["data"], yaml("{early: early, late: late-here, own: own}"));
  EXPECT_EQ(kube::label(made(), "team"), "own") << "the last one";
  EXPECT_EQ(application()["status"]["appliedApplicationPolicies"],
            yaml("[{name: early, type: early, applied: true, source: global}, {name: late, type: late, applied: true, source: "
                 "global}, {name: own, type: own, applied: true, source: global}]"));

  // Another one counts from the next revision on; one that is named is applied once, as it is named there.
  apply(global_policy("newer", "vela-system", 0, "newer"));
  pass(minutes{10});
  EXPECT_EQ(application()["status"]["latestRevision"]["revision"].as_int(), 1);
  EXPECT_FALSE(made()["data"].has("newer"));
  apply(of("{}", "[{name: mine, type: early, properties: {team: blue}}]"));
  pass(minutes{1});
  EXPECT_EQ(made()["data"], yaml("{early: blue, late: late-here, newer: newer, own: own}"));
  EXPECT_EQ(kube::label(made(), "team"), "blue");

  apply(of("{policy.oam.dev/skip-global: 'true'}", "[]"));
  pass(minutes{1});
  EXPECT_EQ(application()["status"]["appliedApplicationPolicies"], Value()) << json::print(application()["status"]);
  EXPECT_EQ(kube::label(made(), "team"), "");
}

TEST_F(Upkeep, a_global_policy_that_changes_is_followed_with_auto_update) {
  open();
  apply(global_policy("all", "vela-system", 0, "one"));
  pass(seconds{2});
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a, annotations: {app.oam.dev/autoUpdate: "
      "'true'}}, "
      "spec: {components: [{name: c, type: worker, properties: {image: 'a:1'}}]}}");
  pass(minutes{1});
  EXPECT_EQ(kube::label(deployment("c"), "team"), "one") << json::print(application()["status"]);
  apply(global_policy("all", "vela-system", 0, "two"));
  pass(minutes{10});
  EXPECT_EQ(kube::label(deployment("c"), "team"), "two");
  EXPECT_EQ(application()["status"]["latestRevision"]["revision"].as_int(), 2);
}

TEST_F(Upkeep, global_policies_that_come_change_and_go_are_seen_at_once) {
  open();
  const auto component = [&](const std::string& name, const std::string& annotations) {
    apply(fmt::format(
        "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: {0}, annotations: {1}}}, spec: {{components: "
        "[{{name: c-{0}, type: worker, properties: {{image: 'a:1'}}}}]}}}}",
        name, annotations));
  };
  component("a", "{}");
  component("b", "{app.oam.dev/autoUpdate: 'true'}");
  component("skips", "{policy.oam.dev/skip-global: 'true'}");
  pass(minutes{1});
  const auto told = [&] { return condition("DefinitionChanged")["message"].str(); };
  const auto team = [&] { return std::string(kube::label(deployment("c-b"), "team")); };
  ASSERT_EQ(phase(), "running");
  ASSERT_EQ(told(), "");

  apply(global_policy("all", "vela-system", 0, "one"));
  pass(seconds{10});
  EXPECT_TRUE(told().contains("PolicyDefinition all")) << told();
  EXPECT_EQ(team(), "one");
  const Value skips = plane_->find(kHub, named("core.oam.dev/v1beta1", "Application", "skips"));
  EXPECT_TRUE(kube::condition(skips, "DefinitionChanged").is_null());
  component("a", "{touched: 'true'}");
  EXPECT_EQ(plane_->merge(named("core.oam.dev/v1beta1", "Application", "a"),
                          yaml("{spec: {components: [{name: c-a, type: worker, properties: {image: 'a:2'}}]}}")),
            "");
  pass(minutes{1});
  EXPECT_EQ(told(), "");
  EXPECT_EQ(kube::label(deployment("c-a"), "team"), "one");

  apply(global_policy("all", "vela-system", 0, "two"));
  pass(seconds{10});
  EXPECT_TRUE(told().contains("PolicyDefinition all")) << told();
  EXPECT_EQ(team(), "two");
  const Value policy = json::object(
      {{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "PolicyDefinition"}, {"namespace", "vela-system"}, {"name", "all"}});
  EXPECT_EQ(plane_->remove(policy), "");
  pass(seconds{10});
  EXPECT_TRUE(told().contains("PolicyDefinition all")) << told();
  EXPECT_EQ(team(), "");
}

TEST_F(Upkeep, a_policy_of_scope_application_that_is_wrong_is_told) {
  open();
  apply(kScoped);
  pass(seconds{2});
  std::string wrong = kOfTeam;
  wrong.replace(wrong.find("{team: blue}"), std::string("{team: blue}").size(), "{team: 7}");
  apply(wrong);
  pass(minutes{1});
  EXPECT_EQ(condition("Parsed")["status"].as_string(), "False");
  EXPECT_TRUE(condition("Parsed")["message"].as_string().contains("policy p: parameter.team"))
      << condition("Parsed")["message"].str();
}

}  // namespace
}  // namespace slipway::oracle_test
