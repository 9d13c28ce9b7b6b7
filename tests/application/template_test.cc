// Use case 5: the Application is rendered from a template in git, by helm or kustomize, and written back before anything else
// runs; then the workflow delivers it. Programs are played by functions, but for the tests of real ones at the end.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <filesystem>

#include "json/text.h"
#include "kube/object.h"
#include "oracle_case.h"
#include "os/program.h"
#include "os/program_process.h"
#include "outside_plane.h"

namespace slipway::oracle_test {
namespace {

using std::chrono::seconds;

const git::TestRepository::Files kFiles = {{"chart/folder/path/Chart.yaml", "apiVersion: v2\nname: web\nversion: 0.1.0\n"},
                                           {"chart/folder/path/templates/app.yaml", R"(apiVersion: core.oam.dev/v1beta1
kind: Application
metadata:
  name: {{ .Release.Name }}
spec:
  components:
  - name: instance
    type: webservice
    properties:
      image: {{ .Values.image }}
    traits:
    - type: scaler
      properties:
        replicas: {{ .Values.replicas }}
)"},
                                           {"base/folder/path/kustomization.yaml", "resources: [app.yaml]\n"},
                                           {"base/folder/path/app.yaml", R"(apiVersion: core.oam.dev/v1beta1
kind: Application
metadata:
  name: template
spec:
  components:
  - name: instance
    type: webservice
    properties:
      image: dev-image
      ports: [{port: 80}]
  - name: other
    type: worker
    properties:
      image: other-image
)"}};

/// helm as far as the template above needs it.
Result<ProgramEnd> play_helm(const ProgramCall& call) {
  std::string text = call.files.at("chart/templates/app.yaml").content;
  const Value values = json::parse(call.files.at("values.yaml").content).value();
  const std::pair<std::string, std::string> names[] = {{"{{ .Release.Name }}", call.arguments.at(1)},
                                                       {"{{ .Values.image }}", values["image"].str()},
                                                       {"{{ .Values.replicas }}", json::print(values["replicas"])}};
  for (const auto& [name, value] : names) {
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.replace(at, name.size(), value);
  }
  return ProgramEnd{.code = 0, .output = "---\n# Source: web\n" + text, .error = ""};
}

class Template : public ::testing::Test {
 protected:
  void SetUp() override {
    outside_.repository().commit(kFiles, "templates");
    outside_.programs().add("helm", play_helm);
  }
  std::string apply(const std::string& image, const std::string& more = "", const std::string& annotations = "{}",
                    const std::string& stage = ", stage: pre-render") {
    return outside_.apply(fmt::format(R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {{name: a, annotations: {}}}
spec:
  components: []
  workflow:
    steps:
    - {{name: render, type: helm-template{}, properties: {{source: "{}", path: chart/folder/path, parameters: {{image: {}, replicas: 3}}}}}}
    - {{name: go, type: deploy}}{}
)",
                                      annotations, stage, outside_.repository().path(), image, more));
  }
  Value deployment() { return outside_.find("apps/v1", "Deployment", "instance"); }
  std::string revision() { return outside_.application()["status"]["latestRevision"]["name"].str(); }
  Value condition(const char* type) { return kube::condition(outside_.application(), type); }

  OutsidePlane outside_;
};

constexpr const char* kDelivered = "running render:succeeded go:succeeded";

TEST_F(Template, is_written_back_and_then_delivered) {
  ASSERT_EQ(apply("web:1"), "");
  EXPECT_EQ(outside_.end(), kDelivered) << outside_.message(0);
  EXPECT_EQ(outside_.message(0), "the Application says what the template renders");
  const Value spec = outside_.application()["spec"];
  EXPECT_EQ(spec["components"].item(0)["properties"]["image"].as_string(), "web:1") << json::print(spec);
  EXPECT_EQ(spec["workflow"]["steps"].size(), 2u) << "the user's own steps stay";
  EXPECT_EQ(deployment()["status"]["readyReplicas"].as_int(), 3);
  EXPECT_EQ(revision(), "a-v2") << "as written, and as written back";
  EXPECT_EQ(kube::annotation(deployment(), "slipway.dev/pre-render"), "") << "objects do not carry the record";
  const auto record = json::parse(kube::annotation(outside_.application(), "slipway.dev/pre-render")).value()["render"];
  EXPECT_EQ(record["writes"].as_int(), 1);
  EXPECT_TRUE(record["settled"].as_bool());
  EXPECT_EQ(condition("Render")["status"].as_string(), "True");
}

Value templated_reference(const std::string& name) {
  return json::object(
      {{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", kNamespace}, {"name", name}});
}

constexpr const char* kOnlyRenders = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {{name: a}}
spec:
  policies: [{{name: rule, type: marks, properties: {{x: "1"}}}}]
  workflow:
    steps:
    {}- {{name: render, type: helm-template, stage: pre-render, properties: {{source: "{}", path: chart/folder/path, parameters: {{image: web:1, replicas: 3}}}}}}
)";
constexpr const char* kMarks = R"(
apiVersion: core.oam.dev/v1beta1
kind: PolicyDefinition
metadata: {name: marks, namespace: vela-system}
spec: {schematic: {cue: {template: 'parameter: {x: string}, output: {apiVersion: "v1", kind: "ConfigMap", data: x: parameter.x}'}}}
)";

TEST_F(Template, with_nothing_else_to_do_the_default_delivery_follows) {
  ASSERT_EQ(outside_.apply(kMarks), "");
  ASSERT_EQ(outside_.apply(fmt::format(kOnlyRenders, "", outside_.repository().path())), "") << "components are left out";
  EXPECT_EQ(outside_.end(), "running render:succeeded deliver:succeeded instance:succeeded") << outside_.message(0);
  EXPECT_EQ(deployment()["status"]["readyReplicas"].as_int(), 3);
}

TEST_F(Template, nothing_is_rendered_while_a_step_before_rendering_waits) {
  ASSERT_EQ(outside_.apply(kMarks), "");
  ASSERT_EQ(outside_.apply(fmt::format(kOnlyRenders, "- {name: ask, type: suspend, stage: pre-render}\n    ",
                                       outside_.repository().path())),
            "");
  EXPECT_EQ(outside_.end(), "workflowSuspending ask:suspending/Suspend");
  EXPECT_TRUE(outside_.find("v1", "ConfigMap", "rule").is_null()) << "the policy's object";
  EXPECT_TRUE(outside_.find("v1", "ConfigMap", "a-v1").is_null()) << "the rendered resources";
  EXPECT_TRUE(condition("Render").is_null());
  for (int tries = 0; tries < 3 && outside_.end().starts_with("workflowSuspending"); ++tries) {
    EXPECT_EQ(outside_.plane().act(templated_reference("a"), "workflow resume"),
              "");  // the spec that was written back asks anew
  }
  EXPECT_EQ(outside_.end(), "running ask:succeeded render:succeeded deliver:succeeded instance:succeeded");
  EXPECT_EQ(outside_.find("v1", "ConfigMap", "rule")["data"]["x"].as_string(), "1");
  EXPECT_FALSE(outside_.find("v1", "ConfigMap", revision()).is_null());
  EXPECT_EQ(condition("Render")["status"].as_string(), "True");
}

TEST_F(Template, an_application_without_components_and_without_a_step_that_writes_them_is_refused) {
  const std::string refusal = outside_.apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: empty}, spec: {workflow: {steps: [{name: "
      "s, type: suspend}]}}}");
  outside_.plane().pass(seconds{5});
  const Value parsed = kube::condition(outside_.application("empty"), "Parsed");
  EXPECT_TRUE((refusal + parsed["message"].str()).contains("let a step of stage: pre-render write it")) << refusal;
}

TEST_F(Template, other_parameters_and_another_commit_render_again) {
  ASSERT_EQ(apply("web:1"), "");
  ASSERT_EQ(outside_.end(), kDelivered);
  ASSERT_EQ(apply("web:2"), "") << "kubectl apply of the file, with its empty list of components";
  EXPECT_EQ(outside_.end(), kDelivered) << outside_.message(0);
  EXPECT_EQ(outside_.application()["spec"]["components"].item(0)["properties"]["image"].as_string(), "web:2");
  outside_.repository().commit(
      {{"chart/folder/path/templates/app.yaml",
        "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {name: x}\nspec:\n  components:\n"
        "  - {name: instance, type: webservice, properties: {image: 'web:3'}}\n"}},
      "newer");
  ASSERT_EQ(outside_.patch("{spec: {policies: [{name: gc, type: garbage-collect}]}}"), "");
  EXPECT_EQ(outside_.end(), kDelivered) << outside_.message(0);
  EXPECT_EQ(deployment()["spec"]["template"]["spec"]["containers"].item(0)["image"].as_string(), "web:3");
}

TEST_F(Template, what_is_set_back_at_once_is_not_written_twice) {
  ASSERT_EQ(apply("web:1"), "");
  ASSERT_EQ(outside_.end(), kDelivered);
  // As if a webhook or another controller had set it back before it was settled.
  const Value record = json::parse(kube::annotation(outside_.application(), "slipway.dev/pre-render")).value()["render"];
  ASSERT_EQ(
      outside_.patch(json::print(json::object(
          {{"spec", json::object({{"components", json::array({})}})},
           {"metadata",
            json::object({{"annotations",
                           json::object({{"slipway.dev/pre-render",
                                          json::print(json::object({{"render", record.with("settled", false)}}))}})}})}}))),
      "");
  EXPECT_EQ(outside_.end(), "workflowFailed render:failed/Action go:skipped/Skip");
  EXPECT_TRUE(outside_.message(0).starts_with("the same spec was written back already and is not there"))
      << outside_.message(0);
  EXPECT_EQ(condition("Render")["status"].as_string(), "False");
  EXPECT_TRUE(condition("Render")["message"].as_string().starts_with("step render: the same spec was written back"));
  EXPECT_EQ(condition("Ready")["status"].as_string(), "False");
}

TEST_F(Template, one_that_renders_something_else_each_time_stops_after_ten) {
  int renders = 0;
  outside_.programs().add("helm", [&](const ProgramCall&) -> Result<ProgramEnd> {
    return ProgramEnd{
        .code = 0,
        .output = fmt::format("apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {{name: a}}\nspec:\n"
                              "  components: [{{name: c, type: worker, properties: {{image: 'x:{}'}}}}]\n",
                              ++renders),
        .error = ""};
  });
  ASSERT_EQ(apply("web:1"), "");
  EXPECT_EQ(outside_.end(), "workflowFailed render:failed/Action go:skipped/Skip");
  EXPECT_TRUE(outside_.message(0).starts_with("written back 10 times in a row from the same source and parameters"))
      << outside_.message(0);
  EXPECT_EQ(revision(), "a-v11");
  EXPECT_EQ(condition("Render")["status"].as_string(), "False");
  const int before = renders;
  outside_.plane().pass(std::chrono::minutes{30});
  EXPECT_EQ(renders, before) << "it stays stopped";
}

TEST_F(Template, publish_version_and_another_stage_are_refused) {
  ASSERT_EQ(apply("web:1", "", "{app.oam.dev/publishVersion: one}"), "");
  EXPECT_EQ(outside_.end(), "workflowFailed render:failed/Action go:skipped/Skip");
  EXPECT_TRUE(outside_.message(0).starts_with("app.oam.dev/publishVersion is set")) << outside_.message(0);
  ASSERT_EQ(outside_.plane().remove(json::object(
                {{"apiVersion", "core.oam.dev/v1beta1"}, {"kind", "Application"}, {"namespace", kNamespace}, {"name", "a"}})),
            "");
  outside_.plane().pass(seconds{10});
  ASSERT_EQ(apply("web:1", "", "{}", ""), "");
  EXPECT_EQ(outside_.end(), "workflowFailed render:failed/Action go:skipped/Skip");
  EXPECT_EQ(outside_.message(0), "it writes the Application, so it needs stage: pre-render");
}

TEST_F(Template, a_missing_program_a_missing_folder_and_a_failing_chart_are_named) {
  outside_.programs().add("helm", [](const ProgramCall&) -> Result<ProgramEnd> {
    return ProgramEnd{.code = 1, .output = "", .error = "Error: template: web/templates/app.yaml:3: nil pointer\n"};
  });
  ASSERT_EQ(apply("web:1"), "");
  EXPECT_EQ(outside_.end(), "workflowFailed render:failed/FailedAfterRetries go:skipped/Skip");
  EXPECT_NE(outside_.message(0).find("helm ended with 1: Error: template: web/templates/app.yaml:3: nil pointer"),
            std::string::npos)
      << outside_.message(0);
  OutsidePlane bare;
  bare.repository().commit(kFiles, "templates");
  const std::string step =
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [], workflow: "
      "{steps: [{name: render, type: helm-template, stage: pre-render, properties: {source: '" +
      bare.repository().path() + "', path: chart/folder/path}}]}}}";
  ASSERT_EQ(bare.apply(step), "");
  EXPECT_EQ(bare.end(), "workflowFailed render:failed/FailedAfterRetries");
  EXPECT_NE(bare.message(0).find("exec: \"helm\": executable file not found in $PATH: install helm where Slipway runs"),
            std::string::npos)
      << bare.message(0);
}

TEST_F(Template, its_workflow_follows_the_users_steps_of_that_stage) {
  outside_.programs().add("helm", [](const ProgramCall&) -> Result<ProgramEnd> {
    return ProgramEnd{.code = 0,
                      .output =
                          "apiVersion: core.oam.dev/v1beta1\nkind: Application\nmetadata: {name: a}\nspec:\n"
                          "  components: [{name: instance, type: worker, properties: {image: 'x:1'}}]\n"
                          "  workflow: {steps: [{type: suspend}, {type: deploy}]}\n",
                      .error = ""};
  });
  ASSERT_EQ(apply("web:1"), "");
  EXPECT_EQ(outside_.end(), "workflowSuspending render:succeeded step-1:suspending/Suspend")
      << "names that the server fills in are no difference";
  EXPECT_EQ(revision(), "a-v2");
}

/// A user who may write Applications and Deployments of the namespace, and nothing else.
std::shared_ptr<const kube::UserInfo> writer(OutsidePlane& outside) {
  EXPECT_EQ(outside.apply(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: writes}
rules:
- {apiGroups: [core.oam.dev], resources: [applications], verbs: ["*"]}
- {apiGroups: [apps], resources: [deployments], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: writes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: writes}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ann}]
)"),
            "");
  return std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = "ann", .uid = "", .groups = {"system:authenticated"}, .extra = {}});
}

TEST_F(Template, is_written_as_whoever_wrote_the_application) {
  const auto ann = writer(outside_);
  const std::string step = fmt::format(
      "{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [], workflow: "
      "{{steps: "
      "[{{name: render, type: helm-template, stage: pre-render, properties: {{source: '{}', path: chart/folder/path, "
      "parameters: "
      "{{image: 'web:1', replicas: 1}}}}}}, {{name: go, type: deploy}}]}}}}}}",
      outside_.repository().path());
  ASSERT_EQ(outside_.apply(step, ann), "");
  EXPECT_EQ(outside_.end(), kDelivered) << outside_.message(0) << outside_.message(1);
  EXPECT_EQ(kube::annotation(outside_.application(), "app.oam.dev/username"), "ann");
}

TEST_F(Template, a_secret_is_read_as_whoever_wrote_the_application) {
  const auto ann = writer(outside_);
  ASSERT_EQ(outside_.apply("{apiVersion: v1, kind: Secret, metadata: {name: keys}, stringData: {password: x}}"), "");
  ASSERT_EQ(
      outside_.apply(fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: "
                                 "{{components: [], workflow: {{steps: [{{name: push, type: gitops, properties: {{gitRepo: "
                                 "'{}', credentials: {{secretRef: {{name: keys}}}}}}}}]}}}}}}",
                                 outside_.repository().path()),
                     ann),
      "");
  EXPECT_EQ(outside_.end(), "workflowFailed push:failed/FailedAfterRetries");
  EXPECT_NE(outside_.message(0).find("ann"), std::string::npos) << outside_.message(0);
  EXPECT_NE(outside_.message(0).find("cannot get resource"), std::string::npos) << outside_.message(0);
}

/// A program of the machine, run where the test waits.
FunctionPrograms::Function real_program(std::string file) {
  return [file = std::move(file)](const ProgramCall& call) -> Result<ProgramEnd> {
    ProgramCall real = call;
    real.name = file;
    const int never = eventfd(0, EFD_CLOEXEC);
    auto end = os::run_program(real, never);
    close(never);
    return end;
  };
}

/// Of the clients that tests/wire uses, or of the machine; empty: it is not there.
std::string found_program(const std::string& name) {
  const auto tool = std::filesystem::path(SLIPWAY_BINARY_DIR).parent_path() / "tools/bin" / name;
  if (std::filesystem::exists(tool)) return tool.string();
  const char* path = std::getenv("PATH");
  return os::find_program(name, {fmt::format("PATH={}", path == nullptr ? "" : path)}).value_or("");
}

class SeedTemplate : public ::testing::Test {
 protected:
  SeedTemplate() { outside_.repository().commit(kFiles, "templates"); }
  void apply() {
    ASSERT_EQ(outside_.apply_seed(
                  "19.yaml", {{"git-repo-url", outside_.repository().path()}, {"git-repo-url", outside_.repository().path()}}),
              "");
  }
  OutsidePlane outside_;
};

TEST_F(SeedTemplate, 19_the_chart_makes_the_application) {
  const std::string helm = found_program("helm");
  if (helm.empty()) GTEST_SKIP() << "no helm: tools/wire-clients builds it where go is there";
  outside_.programs().add("helm", real_program(helm));
  apply();
  EXPECT_EQ(outside_.end("a"), "running step-0:succeeded deliver:succeeded instance:succeeded") << outside_.message(0, "a");
  EXPECT_EQ(outside_.find("apps/v1", "Deployment", "instance")["status"]["readyReplicas"].as_int(), 3) << "it is delivered";
  const Value component = outside_.application("a")["spec"]["components"].item(0);
  EXPECT_EQ(component["properties"]["image"].as_string(), "my-image") << json::print(component);
  EXPECT_EQ(component["traits"].item(0)["properties"]["replicas"].as_int(), 3);
}

TEST_F(SeedTemplate, 19_the_patch_makes_the_application_from_the_base) {
  const std::string kustomize = found_program("kustomize"), kubectl = found_program("kubectl");
  if (kustomize.empty() && kubectl.empty()) GTEST_SKIP() << "neither kustomize nor kubectl is there";
  if (!kustomize.empty()) outside_.programs().add("kustomize", real_program(kustomize));
  if (!kubectl.empty()) outside_.programs().add("kubectl", real_program(kubectl));
  apply();
  EXPECT_EQ(outside_.end("b"), "running step-0:succeeded deliver:succeeded instance:succeeded other:succeeded")
      << outside_.message(0, "b");
  const Value components = outside_.application("b")["spec"]["components"];
  ASSERT_EQ(components.size(), 2u) << json::print(components);
  EXPECT_EQ(components.item(0)["type"].as_string(), "webservice") << "the patch changes what it names";
  EXPECT_EQ(components.item(0)["properties"]["image"].as_string(), "prod-image");
  EXPECT_EQ(components.item(0)["properties"]["ports"].item(0)["port"].as_int(), 80);
  EXPECT_EQ(components.item(1)["properties"]["image"].as_string(), "other-image");
}

}  // namespace
}  // namespace slipway::oracle_test
