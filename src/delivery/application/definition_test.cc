#include "delivery/application/definition.h"

#include <gtest/gtest.h>

#include <set>

#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::application {
namespace {

constexpr const char* kFile = R"(import (
	"strings"
)

"my-trait": {
	type: "trait"
	alias: "mine"
	annotations: {}
	labels: "ui-hidden": "true"
	description: "Does it."
	attributes: {
		stage: "PreDispatch"
		workloadRefPath: "spec.ref"
		manageWorkload: true
		controlPlaneOnly: true
		appliesToWorkloads: ["deployments.apps"]
		conflictsWith: ["other"]
		status: healthPolicy: "isHealth: true"
	}
}

template: {
	patch: name: strings.ToUpper(parameter.name)
	parameter: {
		name: string
	}
}
)";

Result<DefinitionPtr> read(const char* json_text) {
  workflow::Templates templates;
  return read_definition(*json::parse(json_text), templates);
}

TEST(DefinitionFile, becomes_an_object) {
  auto object = definition_from_cue("my-trait.cue", kFile);
  ASSERT_TRUE(object.has_value()) << object.error().message;
  EXPECT_EQ((*object)["apiVersion"].as_string(), "core.oam.dev/v1beta1");
  EXPECT_EQ((*object)["kind"].as_string(), "TraitDefinition");
  EXPECT_EQ((*object)["metadata"], *json::parse(R"({"name": "my-trait", "labels": {"ui-hidden": "true"}, "annotations":
    {"definition.oam.dev/alias": "mine", "definition.oam.dev/description": "Does it."}})"));
  EXPECT_EQ((*object)["spec"]["schematic"]["cue"]["template"].as_string(),
            "import (\n\t\"strings\"\n)\n\npatch: name: strings.ToUpper(parameter.name)\nparameter: {\n\tname: string\n}\n");
}

TEST(DefinitionFile, is_read_as_a_trait_with_all_its_attributes) {
  workflow::Templates templates;
  auto definition = read_definition(*definition_from_cue("my-trait.cue", kFile), templates);
  ASSERT_TRUE(definition.has_value()) << definition.error().message;
  const Definition& trait = **definition;
  EXPECT_EQ(trait.name, "my-trait");
  EXPECT_EQ(trait.stage, Stage::PreDispatch);
  EXPECT_EQ(trait.workload_ref_path, "spec.ref");
  EXPECT_TRUE(trait.manages_workload && trait.is_control_plane_only);
  EXPECT_EQ(trait.applies_to, std::vector<std::string>{"deployments.apps"});
  EXPECT_EQ(trait.conflicts_with, std::vector<std::string>{"other"});
  EXPECT_NE(trait.health, nullptr);
  EXPECT_EQ(trait.custom_status, nullptr);
}

TEST(DefinitionFile, faults_name_the_file) {
  struct Row {
    const char* text;
    const char* told;
  };
  const Row rows[] = {
      {"a: type: \"trait\"\nb: type: \"trait\"\ntemplate: {}",
       "x.cue: one field names the definition beside `template`, here are 2"},
      {"a: type: \"gadget\"\ntemplate: {x: 1}", "x.cue: a.type: \"gadget\" is none of component, trait, policy, workflow-step"},
      {"a: type: \"trait\"", "x.cue: it has no `template`"},
      {"a: type: \"trait\"\na: labels: x: string\ntemplate: {x: 1}",
       "x.cue: a.labels.x: incomplete value string:\n    x.cue:2:15\n"},
  };
  for (const Row& row : rows) {
    auto object = definition_from_cue("x.cue", row.text);
    ASSERT_FALSE(object.has_value()) << row.text;
    EXPECT_EQ(object.error().reason, Reason::Invalid);
    EXPECT_EQ(object.error().message, row.told);
  }
}

TEST(Definition, workload_is_known_unless_it_is_detected) {
  auto named =
      read(R"({"kind": "ComponentDefinition", "metadata": {"name": "a"}, "spec": {"workload": {"type": "deployments.apps",
    "definition": {"apiVersion": "apps/v1", "kind": "Deployment"}}, "schematic": {"cue": {"template": "output: {}"}}}})");
  ASSERT_TRUE(named.has_value()) << named.error().message;
  EXPECT_EQ((*named)->workload_kind, "Deployment");
  EXPECT_EQ((*named)->workload_api_version, "apps/v1");
  auto detected = read(R"({"kind": "ComponentDefinition", "metadata": {"name": "a"}, "spec": {"workload":
    {"type": "autodetects.core.oam.dev", "definition": {"apiVersion": "x", "kind": "y"}}}})");
  EXPECT_EQ((*detected)->workload_kind, "");
  EXPECT_EQ((*detected)->program, nullptr);
}

TEST(Definition, oldest_form_has_its_template_in_the_extension) {
  auto old =
      read(R"({"kind": "TraitDefinition", "metadata": {"name": "a"}, "spec": {"extension": {"template": "patch: {}"}}})");
  ASSERT_TRUE(old.has_value()) << old.error().message;
  EXPECT_NE((*old)->program, nullptr);
}

TEST(Definition, digest_changes_with_the_spec_alone) {
  auto digest = [](const char* text) { return (*read(text))->digest; };
  const std::string one = digest(R"({"kind": "TraitDefinition", "metadata": {"name": "a"}, "spec": {"stage": "PreDispatch"}})");
  EXPECT_EQ(digest(R"({"kind": "TraitDefinition", "metadata": {"name": "a", "uid": "u"}, "spec": {"stage": "PreDispatch"}})"),
            one);
  EXPECT_NE(digest(R"({"kind": "TraitDefinition", "metadata": {"name": "a"}, "spec": {"stage": "PostDispatch"}})"), one);
}

TEST(Definition, faults_of_its_form_are_errors) {
  auto stage = read(R"({"kind": "TraitDefinition", "metadata": {"name": "a"}, "spec": {"stage": "Later"}})");
  ASSERT_FALSE(stage.has_value());
  EXPECT_EQ(stage.error().message,
            "TraitDefinition a: spec.stage: \"Later\" is none of PreDispatch, DefaultDispatch, PostDispatch");
  auto kind = read(R"({"kind": "Pod"})");
  ASSERT_FALSE(kind.has_value());
  EXPECT_EQ(kind.error().message, "\"Pod\" is no kind of a definition");
}

TEST(Definition, faults_of_its_texts_are_kept_with_their_places) {
  auto definition = read(R"({"kind": "TraitDefinition", "metadata": {"name": "a"}, "spec": {
    "schematic": {"cue": {"template": "import \"kube/v1\"\npatch: v1.#X"}},
    "status": {"healthPolicy": "isHealth: =", "customStatus": "message: =", "details": "x: 1"}}})");
  ASSERT_TRUE(definition.has_value()) << definition.error().message;
  const Definition& one = **definition;
  EXPECT_TRUE(one.fault.starts_with("template: ")) << one.fault;
  EXPECT_NE(one.fault.find("package \"kube/v1\" not found"), std::string::npos) << one.fault;
  EXPECT_NE(one.fault.find("\nstatus.healthPolicy: "), std::string::npos) << one.fault;
  EXPECT_NE(one.fault.find("\nstatus.customStatus: "), std::string::npos) << one.fault;
  EXPECT_TRUE(one.program == nullptr && one.health == nullptr && one.custom_status == nullptr);
  EXPECT_TRUE(one.has_faulty_health);
  EXPECT_NE(one.details, nullptr);
}

TEST(Definition, component_whose_template_makes_no_object_is_at_fault) {
  const auto fault_of = [](const std::string& kind, const std::string& text) {
    workflow::Templates templates;
    const auto read =
        read_definition(json::object({{"kind", kind},
                                      {"metadata", json::object({{"name", "tried"}})},
                                      {"spec", json::object({}).with_path({"schematic", "cue", "template"}, text)}}),
                        templates);
    return read ? (*read)->fault : read.error().message;
  };
  const std::string none = "template: it has neither `output` nor `outputs`: it makes no object";
  EXPECT_EQ(fault_of("ComponentDefinition", "outpt: {kind: \"X\"}\nmy_output: 1\na: {outputs1: context.output}"), none);
  EXPECT_EQ(fault_of("TraitDefinition", "patch: {a: 1}"), "");
  for (const char* text :
       {"output: {kind: \"X\"}", "outputs: a: {kind: \"X\"}", "if parameter.a {output: {kind: \"X\"}}\nparameter: a: bool",
        "\"output\": {kind: \"X\"}", "#a: {(\"out\" + \"put\"): 1}\n#a"}) {
    EXPECT_EQ(fault_of("ComponentDefinition", text), "") << text;
  }
}

TEST(BuiltinDefinitions, are_read_and_lie_in_the_namespace_of_the_system) {
  workflow::Templates templates;
  std::set<std::string> names;
  for (const Value& one : builtin_definitions()) {
    EXPECT_EQ(kube::ns(one), "vela-system");
    auto definition = read_definition(one, templates);
    ASSERT_TRUE(definition.has_value()) << definition.error().message;
    EXPECT_EQ((*definition)->fault, "") << kube::name(one);
    names.insert(std::string(kube::kind(one)) + "/" + std::string(kube::name(one)));
  }
  EXPECT_TRUE(names.contains("ComponentDefinition/webservice"));
  EXPECT_TRUE(names.contains("TraitDefinition/scaler"));
}

}  // namespace
}  // namespace slipway::delivery::application
