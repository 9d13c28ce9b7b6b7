// What a template may import and call, in steps of a real delivery, in virtual time: members of the built-in packages that
// definitions in place use by old names, and what is said of those that are not there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

constexpr const char* kApplication = R"({apiVersion: core.oam.dev/v1beta1, kind: Application,
  metadata: {name: shop, namespace: default}, spec: {
    components: [{name: web, type: webservice, properties: {image: a, ports: [{port: 8080, expose: true}]}}],
    policies: [{name: envs, type: env-binding, properties: {envs: [
      {name: test, placement: {clusterSelector: {name: local}}},
      {name: prod, placement: {clusterSelector: {name: cluster-worker}}}]}}],
    workflow: {steps: [{name: ask, type: ask}]}}})";

/// The application with one step, whose template is `text`.
class Packages : public testing::Test {
 protected:
  void deliver(const std::string& text) {
    plane_.make_namespace("default");
    const Value schematic = json::object({{"cue", json::object({{"template", text}})}});
    const Value definition = json::object({{"apiVersion", "core.oam.dev/v1beta1"},
                                           {"kind", "WorkflowStepDefinition"},
                                           {"metadata", json::object({{"name", "ask"}, {"namespace", "default"}})},
                                           {"spec", json::object({{"schematic", schematic}})}});
    EXPECT_EQ(plane_.apply(definition, "default"), "");
    EXPECT_EQ(plane_.apply(yaml(kApplication), "default"), "");
    plane_.pass(std::chrono::seconds{30});
  }
  Value find(const char* version, const char* kind, const char* name) {
    return plane_.find(kHub, json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}}));
  }
  Value step() { return find("core.oam.dev/v1beta1", "Application", "shop")["status"]["workflow"]["steps"].item(0); }
  std::string told() { return json::print(find("core.oam.dev/v1beta1", "Application", "shop")["status"]); }

  Plane plane_{&image()};
};

TEST_F(Packages, a_member_that_is_not_there_is_no_success) {
  deliver("import \"vela/op\"\nif false {\n\tx: op.#Nope & {a: 1}\n}\n");
  EXPECT_NE(step()["phase"].as_string(), "succeeded") << told();
  EXPECT_TRUE(told().contains("package \\\"vela/op\\\" has no #Nope (op.#Nope)")) << told();
  EXPECT_TRUE(told().contains("ask.cue:3:8")) << told();
}

TEST_F(Packages, those_of_package_objects_are_not_implemented_whatever_their_protocol) {
  for (const char* protocol : {"grpc", "http", "https"}) {
    EXPECT_EQ(plane_.apply(yaml(fmt::format(R"({{apiVersion: cue.oam.dev/v1alpha1, kind: Package, metadata: {{name: {0}}},
      spec: {{path: ext/{0}, provider: {{protocol: {0}, endpoint: "{0}://thing"}}, templates: {{x: "package {0}"}}}}}})",
                                            protocol)),
                           "default"),
              "");
  }
  deliver("import (\n\t\"ext/grpc\"\n\t\"ext/http\"\n\t\"ext/https\"\n)\nx: [grpc.#Do, http.#Do, https.#Do]\n");
  EXPECT_NE(step()["phase"].as_string(), "succeeded") << told();
  for (const char* protocol : {"grpc", "http", "https"}) {
    const std::string refusal =
        fmt::format("package \"ext/{}\" not found; NotImplemented: packages of Package objects", protocol);
    EXPECT_TRUE(step()["message"].as_string().contains(refusal)) << told();
  }
  EXPECT_TRUE(told().contains("http.#Do of vela/http or the step request")) << told();
}

TEST_F(Packages, a_function_that_no_provider_has_is_not_implemented) {
  deliver("x: {#do: \"dance\", #provider: \"floor\", $params: {}}\n");
  EXPECT_EQ(step()["phase"].as_string(), "failed") << told();
  EXPECT_EQ(step()["message"].as_string(), "NotImplemented: x: there is no function dance of provider floor");
}

TEST_F(Packages, a_component_is_applied_without_one_of_its_objects) {
  deliver(
      "import \"vela/op\"\napply: op.#ApplyComponentRemaining & {component: \"web\", exceptions: [\"webserviceExpose\"]}\n");
  EXPECT_EQ(step()["phase"].as_string(), "succeeded") << told();
  EXPECT_FALSE(find("apps/v1", "Deployment", "web").is_null()) << told();
  EXPECT_TRUE(find("v1", "Service", "web").is_null());
}

TEST_F(Packages, a_component_is_applied_without_one_of_its_objects_in_the_newer_style) {
  deliver("import \"vela/oam\"\napply: oam.#ApplyComponentRemaining & {component: \"web\", exceptions: []}\n");
  EXPECT_EQ(step()["phase"].as_string(), "succeeded") << told();
  EXPECT_FALSE(find("apps/v1", "Deployment", "web").is_null()) << told();
  EXPECT_FALSE(find("v1", "Service", "web").is_null());
}

TEST_F(Packages, an_environment_is_loaded_by_name) {
  deliver(R"cue(import "vela/op"
load: op.#LoadEnvBindingEnv & {inputs: {env: "prod", policy: ""}}
placement: op.#Placement & load.outputs.envConfig.placement
component: op.#Component & {name: "web", type: "webservice"}
say: op.#Message & {message: "\(load.outputs.policy) \(placement.clusterSelector.name) \(component.type)"}
)cue");
  EXPECT_EQ(step()["message"].as_string(), "envs cluster-worker webservice") << told();
}

}  // namespace
}  // namespace slipway::oracle_test
