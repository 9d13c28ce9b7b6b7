// What an application takes from objects that others may write, and leaves alone because others own it.
#include <gtest/gtest.h>

#include "base/digest.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

Value core(const std::string& kind, const std::string& name) {
  return json::object({{"apiVersion", "v1"}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
}

class Boundaries : public testing::Test {
 protected:
  Boundaries() : plane_(&image()) { plane_.make_namespace("default"); }
  void apply(const std::string& text) { EXPECT_EQ(plane_.apply(yaml(text), "default"), "") << text; }
  Value find(const std::string& kind, const std::string& name) { return plane_.find(kHub, core(kind, name)); }
  Value application() {
    return plane_.find(kHub, yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: default, name: a}"));
  }
  std::string phase() { return application()["status"]["status"].str(); }

  Plane plane_;
};

TEST_F(Boundaries, objects_of_others_that_are_called_as_a_revision_stay_as_they_are) {
  apply("{apiVersion: v1, kind: Secret, metadata: {name: a-v1}, data: {mine: bWluZQ==}}");
  apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a-v1}, data: {mine: mine}}");
  apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: from}, data: {text: x}}");
  apply(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - {name: s, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {k: dmFsdWU=}}]}}
  - name: fed
    type: k8s-objects
    properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: fed}, data: {fixed: one}}]}
    inputs: [{from: text, parameterKey: "objects[0].data.text"}]
  workflow:
    steps:
    - {name: s, type: apply-component, properties: {component: s}}
    - name: read
      type: read-object
      properties: {apiVersion: v1, kind: ConfigMap, name: from, cluster: ""}
      outputs: [{name: text, valueFrom: output.value.data.text}]
    - {name: fed, type: apply-component, properties: {component: fed}}
)");
  plane_.pass(minutes{2});
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]);
  EXPECT_EQ(find("ConfigMap", "fed")["data"]["text"].as_string(), "x");
  EXPECT_EQ(find("Secret", "a-v1")["data"], yaml("{mine: bWluZQ==}"));
  EXPECT_EQ(find("ConfigMap", "a-v1")["data"], yaml("{mine: mine}"));
}

/// Waits for a person before it delivers a component with an input, and one with a Secret.
constexpr const char* kWaits = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - {name: s, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {k: dmFsdWU=}}]}}
  - name: fed
    type: k8s-objects
    properties: {objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: fed}, data: {fixed: one}}]}
    inputs: [{from: text, parameterKey: "objects[0].data.text"}]
  workflow:
    steps:
    - name: read
      type: read-object
      properties: {apiVersion: v1, kind: ConfigMap, name: from, cluster: ""}
      outputs: [{name: text, valueFrom: output.value.data.text}]
    - {name: wait, type: suspend}
    - {name: s, type: apply-component, properties: {component: s}}
    - {name: fed, type: apply-component, properties: {component: fed}}
)";

class Waiting : public Boundaries {
 protected:
  void SetUp() override {
    apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: from}, data: {text: x}}");
    apply(kWaits);
    plane_.pass(seconds{20});
    ASSERT_EQ(phase(), "workflowSuspending") << json::print(application()["status"]);
  }
  void act(const std::string& verb) {
    EXPECT_EQ(plane_.act(yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: default, name: a}"), verb), "");
  }
  void close(const std::string& kind) { EXPECT_EQ(plane_.merge(core(kind, "a-v1"), yaml("{immutable: true}")), ""); }
};

TEST_F(Waiting, a_component_is_told_of_later_when_that_failed_at_first) {
  close("ConfigMap");
  act("workflow resume");
  plane_.pass(seconds{20});
  EXPECT_TRUE(find("ConfigMap", "a-v1")["data"]["fed"].as_string().contains("pending"));
  EXPECT_EQ(plane_.remove(core("ConfigMap", "a-v1")), "");
  act("workflow restart");
  plane_.pass(seconds{20});
  ASSERT_EQ(phase(), "workflowSuspending") << json::print(application()["status"]);
  act("workflow resume");
  plane_.pass(minutes{1});
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]);
  const Value told = find("ConfigMap", "a-v1")["data"];
  EXPECT_TRUE(told.has("fed") && !told["fed"].as_string().contains("pending")) << json::print(told);
}

TEST_F(Waiting, what_cannot_be_kept_is_delivered) {
  close("Secret");
  act("workflow resume");
  plane_.pass(minutes{1});
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]);
  EXPECT_EQ(find("Secret", "s")["data"]["k"].as_string(), "dmFsdWU=");
  EXPECT_EQ(plane_.remove(core("Secret", "s")), "");
  plane_.pass(minutes{2});
  EXPECT_TRUE(find("Secret", "s").is_null()) << "what is not kept is not brought back";
}

TEST_F(Boundaries, an_application_goes_as_a_policy_of_scope_application_made_it) {
  apply(R"(
apiVersion: core.oam.dev/v1beta1
kind: PolicyDefinition
metadata: {name: ordered, namespace: vela-system}
spec:
  scope: Application
  schematic:
    cue:
      template: |
        parameter: {}
        output: policies: [{name: "gc", type: "garbage-collect", properties: order: "dependency"}]
)");
  plane_.pass(seconds{2});
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
  policies: [{name: p, type: ordered}]
)");
  plane_.pass(minutes{1});
  ASSERT_EQ(phase(), "running") << json::print(application()["status"]);
  EXPECT_EQ(plane_.remove(yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, namespace: default, name: a}")), "");
  plane_.pass(seconds{20});
  EXPECT_FALSE(find("ConfigMap", "base").is_null()) << "user depends on it and is still there";
  EXPECT_EQ(plane_.merge(core("ConfigMap", "user"), yaml("{metadata: {finalizers: null}}")), "");
  plane_.pass(seconds{20});
  EXPECT_TRUE(find("ConfigMap", "base").is_null());
  EXPECT_TRUE(application().is_null());
}

constexpr const char* kMakesSecret = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: a}
spec:
  components:
  - {name: s, type: k8s-objects, properties: {objects: [{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {k: dmFsdWU=}}]}}
)";

/// Whoever may write the Secret of a revision, but not more.
class KeptManifest : public Boundaries {
 protected:
  void SetUp() override {
    apply(kMakesSecret);
    plane_.pass(minutes{1});
    ASSERT_EQ(phase(), "running");
    const Value kept = find("Secret", "a-v1")["data"];
    for (const auto& [key, value] : kept.members()) {
      std::string text;
      if (!key.starts_with("manifest.") || !base64_decode(value.as_string(), text) || !text.starts_with("{")) continue;
      key_ = key;
      manifest_ = *json::parse(text);
    }
    ASSERT_FALSE(key_.empty());
  }
  void keep(const Value& manifest) {
    const Value data = json::object({{key_, base64_encode(json::print(manifest))}});
    EXPECT_EQ(plane_.merge(core("Secret", "a-v1"), json::object({{"data", data}})), "");
  }

  std::string key_;
  Value manifest_;
};

TEST_F(KeptManifest, of_another_object_is_not_applied) {
  keep(yaml("{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: kube-system}, data: {a: b}}"));
  EXPECT_EQ(plane_.remove(core("Secret", "s")), "");
  plane_.pass(minutes{2});
  EXPECT_TRUE(plane_.find(kHub, yaml("{apiVersion: v1, kind: ConfigMap, namespace: kube-system, name: other}")).is_null());
}

TEST_F(KeptManifest, that_was_changed_is_not_applied) {
  keep(manifest_.with_path({"data", "k"}, "b3RoZXI="));
  EXPECT_EQ(plane_.remove(core("Secret", "s")), "");
  plane_.pass(minutes{2});
  EXPECT_TRUE(find("Secret", "s").is_null()) << "only what the tracker knows is brought back";
  keep(manifest_);
  plane_.pass(minutes{10});
  EXPECT_EQ(find("Secret", "s")["data"]["k"].as_string(), "dmFsdWU=");
}

}  // namespace
}  // namespace slipway::oracle_test
