// Components whose objects others carry out, or that come from outside: Flux, Terraform, environments, files behind URLs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/digest.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using namespace std::chrono_literals;

/// Serves files by URL.
class OutsideFiles : public HttpClient {
 public:
  std::map<std::string, std::string> files;
  std::size_t calls = 0;

  Task<Result<http::Response>> send(HttpCall call) override {
    ++calls;
    const auto found = files.find(call.url);
    if (found == files.end()) co_return http::Response{.status = 404, .body = "not here"};
    co_return http::Response{.status = 200, .body = found->second};
  }
};

class Outside : public ::testing::Test {
 protected:
  Outside() : plane_(&image(), {.http = &files_}) {
    for (const char* name : {"default", "vela-system", "prod", "test"}) plane_.make_namespace(name);
  }

  void apply(const std::string& text) { ASSERT_EQ(plane_.apply(yaml(text), "default"), "") << text; }
  void apply_application(const std::string& spec) {
    apply("{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: shop}, spec: " + spec + "}");
    plane_.pass(30s);
  }
  /// A kind that is not built in, with any content.
  void define(const std::string& group, const std::string& version, const std::string& kind, const std::string& plural) {
    apply(fmt::format(
        "{{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {{name: {3}.{0}}}, spec: {{group: "
        "{0}, "
        "scope: Namespaced, names: {{kind: {2}, plural: {3}}}, versions: [{{name: {1}, served: true, storage: true, "
        "subresources: "
        "{{status: {{}}}}, schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}]}}}}",
        group, version, kind, plural));
  }
  Value find(const char* version, const char* kind, const std::string& name, const std::string& ns = "default",
             const char* cluster = kHub) {
    return plane_.find(cluster, json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", ns}, {"name", name}}));
  }
  Value application() { return find("core.oam.dev/v1beta1", "Application", "shop"); }
  std::string phase() { return application()["status"]["status"].str(); }
  std::string message(const std::string& condition) { return kube::condition(application(), condition)["message"].str(); }
  void write_status(const char* version, const char* kind, const std::string& name, const std::string& status) {
    const Value reference = json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
    ASSERT_EQ(plane_.write_status(reference, client::PatchType::Merge, yaml("{status: " + status + "}")), "");
    plane_.pass(90s);
  }

  OutsideFiles files_;
  Plane plane_;
};

constexpr const char* kHelm = "{components: [{name: web, type: helm, properties: {url: 'https://charts.test', chart: c}}]}";
constexpr const char* kReleases = "helm.toolkit.fluxcd.io/v2";

TEST_F(Outside, a_helm_component_waits_for_flux_and_then_for_its_release) {
  apply_application(kHelm);
  EXPECT_EQ(phase(), "rendering");
  EXPECT_TRUE(
      message("Parsed").contains("\"helm\" makes objects of kind HelmRelease (helm.toolkit.fluxcd.io/v2), which no cluster "
                                 "serves: install the custom resource definitions of Flux's source-controller"))
      << message("Parsed");

  define("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases");
  plane_.pass(2min);
  EXPECT_EQ(phase(), "runningWorkflow");
  const Value service = application()["status"]["services"].item(0);
  EXPECT_TRUE(service["message"].as_string().contains("does not serve HelmRepository (source.toolkit.fluxcd.io/v1)"))
      << json::print(service);
  EXPECT_TRUE(find(kReleases, "HelmRelease", "web").is_null());

  define("source.toolkit.fluxcd.io", "v1", "HelmRepository", "helmrepositories");
  plane_.pass(2min);
  EXPECT_EQ(find(kReleases, "HelmRelease", "web")["spec"]["chart"]["spec"]["chart"].as_string(), "c");
  EXPECT_EQ(phase(), "runningWorkflow");
  write_status(kReleases, "HelmRelease", "web", "{observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}");
  EXPECT_EQ(phase(), "running");
}

constexpr const char* kEnvironments = R"({
  components: [{name: web, type: webservice, properties: {image: nginx}}, {name: extra, type: worker, properties: {image: b}}],
  policies: [{name: places, type: env-binding, properties: {envs: [
    {name: test, placement: {namespaceSelector: {name: test}}, selector: {components: [web]}},
    {name: prod, placement: {clusterSelector: {name: cluster-worker}, namespaceSelector: {name: prod}},
     patch: {components: [{name: web, type: webservice, traits: [{type: scaler, properties: {replicas: 3}}]}]}}]}}]})";

TEST_F(Outside, environments_are_delivered_one_by_one) {
  apply_application(kEnvironments);
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]["workflow"]);
  std::vector<std::string> steps;
  for (const Value& step : application()["status"]["workflow"]["steps"].items()) steps.push_back(step["name"].str());
  EXPECT_EQ(steps, (std::vector<std::string>{"deploy-places-test", "deploy-places-prod"}));
  EXPECT_FALSE(find("apps/v1", "Deployment", "web", "test").is_null());
  EXPECT_TRUE(find("apps/v1", "Deployment", "extra", "test").is_null());
  EXPECT_EQ(find("apps/v1", "Deployment", "web", "prod", kWorker)["spec"]["replicas"].as_int(), 3);
  EXPECT_FALSE(find("apps/v1", "Deployment", "extra", "prod", kWorker).is_null());
}

TEST_F(Outside, an_environment_that_chooses_by_labels_is_told_what_to_do) {
  apply_application(
      "{components: [{name: web, type: worker, properties: {image: b}}], policies: [{name: p, type: env-binding, properties: "
      "{envs: [{name: e, placement: {clusterSelector: {labels: {a: b}}}}]}}]}");
  const std::string told = application()["status"]["workflow"]["steps"].item(0)["message"].str();
  EXPECT_TRUE(told.contains("env e: placement.clusterSelector.labels is not supported")) << told;
}

constexpr const char* kTerraform = "terraform.core.oam.dev/v1beta2";
constexpr const char* kBucket = R"(
apiVersion: core.oam.dev/v1beta1
kind: ComponentDefinition
metadata: {name: bucket, namespace: vela-system, annotations: {note: x}}
spec:
  workload: {definition: {apiVersion: terraform.core.oam.dev/v1beta2, kind: Configuration}}
  schematic:
    terraform: {type: remote, configuration: "https://git.test/bucket.git", path: modules, providerRef: {name: cloud}}
)";

TEST_F(Outside, a_component_of_terraform_is_a_configuration) {
  define("terraform.core.oam.dev", "v1beta2", "Configuration", "configurations");
  apply(kBucket);
  apply_application(
      "{components: [{name: b, type: bucket, properties: {acl: private, writeConnectionSecretToRef: {name: conn}}}]}");
  EXPECT_EQ(
      find(kTerraform, "Configuration", "b")["spec"],
      yaml("{remote: 'https://git.test/bucket.git', path: modules, providerRef: {name: cloud}, writeConnectionSecretToRef: "
           "{name: conn, namespace: default}, variable: {acl: private}}"));
  EXPECT_EQ(phase(), "runningWorkflow");
  write_status(kTerraform, "Configuration", "b", "{apply: {state: Available, message: made}}");
  EXPECT_EQ(phase(), "running");
  EXPECT_EQ(application()["status"]["services"].item(0)["message"].as_string(), "made");
}

TEST_F(Outside, a_cloud_resource_is_shared_once_its_secret_is_there) {
  define("terraform.core.oam.dev", "v1beta2", "Configuration", "configurations");
  apply(kBucket);
  apply_application(R"({
    components: [{name: b, type: bucket, properties: {acl: private, writeConnectionSecretToRef: {name: conn}}}],
    policies: [{name: p, type: env-binding, properties: {envs: [
      {name: prod, placement: {clusterSelector: {name: cluster-worker}, namespaceSelector: {name: prod}}}]}}],
    workflow: {steps: [{name: cloud, type: deploy-cloud-resource, properties: {env: prod}}]}})");
  const Value step = application()["status"]["workflow"]["steps"].item(0);
  EXPECT_EQ(step["phase"].as_string(), "running") << json::print(step);
  EXPECT_EQ(find(kTerraform, "Configuration", "b-prod")["spec"]["writeConnectionSecretToRef"]["name"].as_string(), "conn-prod");
  apply("{apiVersion: v1, kind: Secret, metadata: {name: conn-prod}, stringData: {BUCKET: here}}");
  write_status(kTerraform, "Configuration", "b-prod", "{apply: {state: Available}}");
  EXPECT_EQ(phase(), "running") << json::print(application()["status"]["workflow"]);
  EXPECT_EQ(find("v1", "Secret", "conn", "prod", kWorker)["data"]["BUCKET"].as_string(), base64_encode("here"));
}

constexpr const char* kOtherPlane = R"(
apiVersion: core.oam.dev/v1beta1
kind: WorkflowStepDefinition
metadata: {name: look, namespace: vela-system}
spec:
  schematic:
    cue:
      template: |
        import "vela/op"
        load: op.#LoadComponets & {app: parameter.app}
        tell: op.#Message & {message: load.value.db.type}
        parameter: app: string
)";

TEST_F(Outside, components_of_another_application_can_be_loaded) {
  apply(kOtherPlane);
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: store}, spec: {components: [{name: db, type: "
      "statefulset, properties: {image: d}}]}}");
  apply_application(
      "{components: [{name: web, type: worker, properties: {image: b}}], workflow: {steps: [{name: a, type: look, properties: "
      "{app: store}}]}}");
  const Value step = application()["status"]["workflow"]["steps"].item(0);
  EXPECT_EQ(step["message"].as_string(), "statefulset") << json::print(step);
}

constexpr const char* kUrl = "https://files.test/all.yaml";
constexpr const char* kReferring =
    "{components: [{name: set, type: ref-objects, properties: {urls: ['https://files.test/all.yaml']}}]}";

std::string file(const char* value) {
  return fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: one}}\ndata: {{k: {0}}}\n---\napiVersion: v1\nkind: "
      "ConfigMap\nmetadata: {{name: two}}\ndata: {{k: {0}}}\n",
      value);
}

TEST_F(Outside, objects_behind_a_url_are_fetched_once_for_each_revision) {
  files_.files[kUrl] = file("old");
  apply_application(kReferring);
  EXPECT_EQ(phase(), "running") << message("Parsed") << json::print(application()["status"]["workflow"]);
  EXPECT_EQ(files_.calls, 1U);
  for (const char* name : {"one", "two"}) {
    const Value object = find("v1", "ConfigMap", name);
    EXPECT_EQ(object["data"]["k"].as_string(), "old") << name;
    EXPECT_EQ(kube::annotation(object, "app.oam.dev/resource-url"), kUrl);
  }
  files_.files[kUrl] = file("new");
  plane_.pass(10min);
  EXPECT_EQ(find("v1", "ConfigMap", "one")["data"]["k"].as_string(), "old");
  EXPECT_EQ(files_.calls, 1U);
  Value changed = yaml(std::string("{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: shop}, spec: ") +
                       kReferring + "}");
  changed = changed.with_path({"metadata", "annotations", "app.oam.dev/publishVersion"}, "2");
  ASSERT_EQ(plane_.apply(changed, "default"), "");
  plane_.pass(30s);
  EXPECT_EQ(find("v1", "ConfigMap", "one")["data"]["k"].as_string(), "new");
  EXPECT_EQ(files_.calls, 2U);
}

TEST_F(Outside, a_url_without_objects_is_told_with_its_place) {
  apply_application(kReferring);
  EXPECT_EQ(phase(), "rendering");
  EXPECT_EQ(message("Parsed"),
            "failed to parse component set: properties.urls[0]: https://files.test/all.yaml: the server answers 404");
  files_.files[kUrl] = std::string(600 * 1024, '#');
  plane_.pass(2min);
  EXPECT_TRUE(message("Parsed").contains("614400 bytes are more than the 524288")) << message("Parsed");
  files_.files[kUrl] = file("x");
  plane_.pass(2min);
  EXPECT_EQ(phase(), "running");
}

}  // namespace
}  // namespace slipway::oracle_test
