// What people are told when a component cannot be rendered, and the calls that rendering waits for.
#include "delivery/application/render_test.h"

namespace slipway::delivery::application {
namespace {

using testing::error_of;
using testing::Inputs;
using testing::Library;
using testing::render;
using testing::rendered;
using testing::yaml;

TEST(RenderFaults, of_parameters_name_component_trait_path_and_both_sides) {
  struct Row {
    const char* component;
    const char* told;
    const char* field;
  };
  const Row rows[] = {
      {"{name: web, type: webservice}", "component web: parameter.image: required (string)", "parameter.image"},
      {"{name: web, type: webservice, properties: {image: 5}}", "component web: parameter.image: must be string, but is 5",
       "parameter.image"},
      {"{name: web, type: webservice, properties: {image: a, ports: [{port: x}]}}",
       "component web: parameter.ports.0.port: must be int, but is \"x\"", "parameter.ports.0.port"},
      {"{name: web, type: webservice, properties: {image: a}, traits: [{type: scaler, properties: {replicas: two}}]}",
       "component web, trait scaler: parameter.replicas: must be 1 | int, but is \"two\"", "parameter.replicas"},
      {"{name: web, type: webservice, properties: {image: a, imagePullPolicy: never}}",
       "component web: parameter.imagePullPolicy: must be \"Always\" | \"Never\" | \"IfNotPresent\", but is \"never\" (did you "
       "mean \"Never\"?)",
       "parameter.imagePullPolicy"},
      {"{name: web, type: webservice, properties: {image: a}, traits: [{type: service-account}]}",
       "component web, trait service-account: parameter.name: required (string)", "parameter.name"},
  };
  const Library library;
  for (const Row& row : rows) {
    auto outcome = render(library, row.component);
    EXPECT_EQ(error_of(outcome), row.told) << row.component;
    if (outcome) continue;
    EXPECT_EQ(outcome.error().field, row.field) << row.component;
    EXPECT_TRUE(outcome.error().is_user_error) << row.component;
  }
}

TEST(RenderFaults, of_templates_say_the_place_there) {
  Library library;
  library.add(DefinitionKind::Component, "torn", "output: {\n\tapiVersion: \"v1\"\n\tkind: 1\n\tkind: \"X\"\n}");
  library.add(DefinitionKind::Component, "told", "output: {}\nerrs: [\"no such port\", \"\", \"nor that\"]");
  library.add(DefinitionKind::Component, "bare", "output: {apiVersion: \"v1\"}");
  library.add(DefinitionKind::Component, "open", "output: {apiVersion: \"v1\", kind: \"X\", n: int}");
  library.add(json::object({{"kind", "ComponentDefinition"}, {"metadata", json::object({{"name", "none"}})}}));
  struct Row {
    const char* type;
    const char* told;
  };
  const Row rows[] = {
      {"torn",
       "component web: output.kind: conflicting values 1 and \"X\" (mismatched types int and string) (torn.cue:3:8, "
       "torn.cue:4:8)"},
      {"told", "component web: no such port; nor that"},
      {"bare", "component web: output.kind: required, this is no Kubernetes object"},
      {"open", "component web: output.n: incomplete value int (open.cue:1:42)"},
      {"none", "component web: ComponentDefinition none has no CUE template, and nothing else is rendered"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(error_of(render(library, std::string("{name: web, type: ") + row.type + "}")), row.told);
}

TEST(RenderFaults, of_patches_name_the_trait_and_both_sides) {
  Library library;
  library.add(DefinitionKind::Component, "one", "output: {apiVersion: \"v1\", kind: \"X\", num: 1}");
  library.add(DefinitionKind::Trait, "two", "patch: num: parameter.num\nparameter: num: int");
  EXPECT_EQ(error_of(render(library, "{name: web, type: one, traits: [{type: two, properties: {num: 2}}]}")),
            "component web, trait two: the patch of output does not apply: num: conflicting values 2 and 1");
  EXPECT_EQ(error_of(render(library, "{name: web, type: one, traits: [{type: two}]}")), "no error");
}

TEST(RenderFaults, endless_templates_run_into_their_budget_or_deadline) {
  Library library;
  library.add(DefinitionKind::Component, "endless", R"(
import "list"

_l: list.Range(0, 60, 1)
output: {apiVersion: "v1", kind: "X", l: [for a in _l for b in _l for c in _l for d in _l {a + b + c + d}]}
)");
  auto budget = render(library, "{name: web, type: endless}");
  EXPECT_NE(error_of(budget).find("evaluation takes too much memory"), std::string::npos) << error_of(budget);
  Inputs inputs;
  inputs.context.limits.is_overdue = [] { return true; };
  auto deadline = render(library, "{name: web, type: endless}", inputs);
  EXPECT_NE(error_of(deadline).find("evaluation takes too long"), std::string::npos) << error_of(deadline);
}

/// The call that rendering waits for.
TemplateCall call_of(const testing::Outcome& outcome) {
  EXPECT_TRUE(outcome.has_value()) << error_of(outcome);
  const auto* call = outcome ? std::get_if<TemplateCall>(&*outcome) : nullptr;
  EXPECT_NE(call, nullptr) << "no call";
  return call == nullptr ? TemplateCall() : *call;
}

TEST(RenderCalls, are_asked_one_after_another_and_their_answers_filled_in) {
  Library library;
  library.add(DefinitionKind::Component, "asking", R"(
first: {#do: "read", #provider: "kube", $params: name: parameter.name, $returns?: {...}}
second: {#do: "read", #provider: "kube", $params: name: first.$returns.next, $returns?: {...}}
output: {apiVersion: "v1", kind: "X", got: second.$returns.value}
parameter: name: string
)");
  const char* component = "{name: web, type: asking, properties: {name: a}}";
  Inputs inputs;
  TemplateCall call = call_of(render(library, component, inputs));
  EXPECT_EQ(call.key + " " + call.provider + "." + call.function, "component/first kube.read");
  EXPECT_EQ(call.params, yaml("{name: a}"));
  inputs.answers[call.key] = yaml("{next: b}");
  call = call_of(render(library, component, inputs));
  EXPECT_EQ(call.key, "component/second");
  EXPECT_EQ(call.params, yaml("{name: b}"));
  inputs.answers[call.key] = yaml("{value: 7}");
  EXPECT_EQ(rendered(render(library, component, inputs)).workload["got"].as_int(), 7);
}

TEST(RenderCalls, in_flat_style_have_parameters_and_results_side_by_side) {
  Library library;
  library.add(DefinitionKind::Component, "flat", R"(
read: {#do: "read", value: metadata: name: "a", err?: string}
output: {apiVersion: "v1", kind: "X", got: read.value.data}
)");
  Inputs inputs;
  TemplateCall call = call_of(render(library, "{name: web, type: flat}", inputs));
  EXPECT_EQ(call.params, yaml("{value: {metadata: {name: a}}}"));
  inputs.answers[call.key] = yaml("{value: {metadata: {name: a}, data: x}}");
  EXPECT_EQ(rendered(render(library, "{name: web, type: flat}", inputs)).workload["got"].as_string(), "x");
}

TEST(RenderCalls, processing_is_a_request_whose_body_becomes_its_output) {
  Library library;
  library.add(DefinitionKind::Component, "one", "output: {apiVersion: \"v1\", kind: \"X\"}");
  library.add(DefinitionKind::Trait, "asks", R"(
processing: {
	output: token?: string
	http: {method: *"GET" | string, url: parameter.url, request: header: "x": "z"}
}
patch: token: processing.output.token
parameter: url: string
)");
  const char* component = "{name: web, type: one, traits: [{type: asks, properties: {url: 'http://a'}}]}";
  Inputs inputs;
  TemplateCall call = call_of(render(library, component, inputs));
  EXPECT_EQ(call.key + " " + call.provider + "." + call.function, "trait 0/processing.http http.do");
  EXPECT_EQ(call.params, yaml("{method: GET, url: 'http://a', request: {header: {x: z}}}"));
  inputs.answers[call.key] = json::object({{"body", R"({"token": "t"})"}, {"statusCode", 200}});
  EXPECT_EQ(rendered(render(library, component, inputs)).workload["token"].as_string(), "t");
  inputs.answers[call.key] = json::object({{"body", "<html>"}});
  EXPECT_EQ(error_of(render(library, component, inputs)),
            "component web, trait asks: processing.http: the answer is no JSON object");
}

TEST(RenderCalls, unify_with_a_strategy_is_answered_by_the_template_itself) {
  Library library;
  library.add(DefinitionKind::Component, "merging", R"CUE(
import "vela/cue"
merged: cue.#StrategyUnify & {
	$params: {
		value: list: [{name: "a", n: 1}, {name: "b", n: 2}]
		patch: {
			// +patchKey=name
			list: [{name: "b", more: parameter.more}]
		}
	}
}
output: {
	apiVersion: "v1"
	kind:       "ConfigMap"
	data: {for one in merged.$returns.list {(one.name): [if one.more != _|_ {one.more}, "none"][0]}}
}
parameter: more: string
)CUE");
  const auto made = rendered(render(library, "{name: web, type: merging, properties: {more: x}}"));
  EXPECT_EQ(made.workload["data"], yaml("{a: none, b: x}"));
}

}  // namespace
}  // namespace slipway::delivery::application
