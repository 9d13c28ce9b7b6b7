#include "delivery/application/admission.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "delivery/application/kind.h"
#include "delivery/application/render_test.h"

namespace slipway::delivery::application {
namespace {

using testing::yaml;

using Texts = std::vector<std::string>;

Value definition(const char* kind, const char* name, const char* template_text, const Value& spec = json::object({})) {
  return json::object({{"apiVersion", kApiVersion},
                       {"kind", kind},
                       {"metadata", json::object({{"name", name}, {"namespace", "vela-system"}})},
                       {"spec", spec.with_path({"schematic", "cue", "template"}, template_text)}});
}

/// The cluster that admission looks at, and what it says about Applications there.
class Desk {
 public:
  explicit Desk(OnFault on_fault = OnFault::Refuse) : row_(admission_rows(on_fault).front()) {
    add(definition("ComponentDefinition", "endless", R"(
import "list"

_l: list.Range(0, 60, 1)
output: {apiVersion: "v1", kind: "X", l: [for a in _l for b in _l for c in _l for d in _l {a + b + c + d}]}
)"));
    add(definition("ComponentDefinition", "torn", "output: {"));
    add(definition("ComponentDefinition", "mistyped", "outpt: {apiVersion: \"v1\", kind: \"ConfigMap\"}"));
    add(definition("PolicyDefinition", "owned", "output: labels: l: parameter.team\nparameter: {team: string, ...}",
                   yaml("{scope: Application}")));
    add(definition(
        "PolicyDefinition", "security",
        "parameter: rbac: \"enabled\" | \"disabled\"\noutput: {apiVersion: \"v1\", kind: \"X\", x: parameter.rbac}"));
    add(definition(
        "PolicyDefinition", "defaulted",
        "parameter: rbac: *\"disabled\" | \"enabled\"\noutput: {apiVersion: \"v1\", kind: \"X\", x: parameter.rbac}"));
    add(yaml(
        "{apiVersion: core.oam.dev/v1alpha1, kind: Workflow, metadata: {name: shared, namespace: prod}, steps: [{name: one, "
        "type: suspend}, {name: two, type: suspend, if: status.on.failed}]}"));
    add(definition("ComponentDefinition", "asking", R"(
read: {#do: "read", #provider: "kube", $params: name: parameter.name, $returns?: {...}}
output: {apiVersion: "v1", kind: "X", got: read.$returns.value}
parameter: name: string
)"));
    add(definition("ComponentDefinition", "fixed", R"(
output: {apiVersion: "v1", kind: "X", name: parameter.name, size: parameter.disk.size}
parameter: {
	// +usage=Its name
	// +immutable
	name: string
	disk: {
		// +immutable
		size?: string
		speed: *1 | int
	}
}
)"));
    add(definition("TraitDefinition", "sticky", "patch: zone: parameter.zone\nparameter: {\n\t// +immutable\n\tzone: string\n}",
                   yaml("{conflictsWith: [scaler], appliesToWorkloads: [statefulsets.apps]}")));
  }

  void add(const Value& object) { objects_[key(kube::kind(object), kube::ns(object), kube::name(object))] = object; }

  /// What is said about a spec as YAML: "FieldValueRequired spec.x: Required value".
  Texts faults(const std::string& spec, const Value& old = {}, const std::string& annotations = "{}") const {
    const Value object = application(spec, annotations);
    std::vector<Cause> causes = assess(object, old).causes;
    if (causes.empty()) causes = row_.validate_around(object, old, finder());
    Texts texts;
    for (const Cause& one : causes) texts.push_back(fmt::format("{} {}: {}", one.reason, one.field, one.message));
    return texts;
  }
  Texts warnings(const std::string& spec) const {
    Texts texts = assess(application(spec), {}).warnings;
    std::ranges::move(row_.warn(application(spec), {}, finder()), std::back_inserter(texts));
    return texts;
  }
  kube::Assessment assess(const Value& object, const Value& old) const {
    const auto check = row_.check();
    while (check->read(object, old, finder())) check->compute();
    return check->result(object, old, finder());
  }
  std::shared_ptr<kube::AdmissionCheck> check() const { return row_.check(); }

  static Value application(const std::string& spec, const std::string& annotations = "{}") {
    return yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: shop, namespace: prod}}")
        .with_path({"metadata", "annotations"}, yaml(annotations))
        .with("spec", yaml(spec));
  }

  kube::FindObject finder() const {
    return [this](const kube::Resource& resource, std::string_view ns, std::string_view name) {
      static const std::map<std::string, std::string> kKinds = {{kComponentDefinitions.plural, "ComponentDefinition"},
                                                                {kTraitDefinitions.plural, "TraitDefinition"},
                                                                {kPolicyDefinitions.plural, "PolicyDefinition"},
                                                                {kStepDefinitions.plural, "WorkflowStepDefinition"},
                                                                {kPolicies.plural, "Policy"},
                                                                {kWorkflows.plural, "Workflow"}};
      const auto kind = kKinds.find(resource.plural);
      const auto found = kind == kKinds.end() ? objects_.end() : objects_.find(key(kind->second, ns, name));
      return found == objects_.end() ? Value() : found->second;
    };
  }

 private:
  static std::string key(std::string_view kind, std::string_view ns, std::string_view name) {
    return fmt::format("{} {}/{}", kind, ns, name);
  }

  kube::AdmissionRow row_;
  std::map<std::string, Value> objects_;
};

std::string web(const std::string& properties, const std::string& rest = "") {
  return fmt::format("{{components: [{{name: web, type: webservice, properties: {}}}]{}}}", properties, rest);
}

struct BadInput {
  std::string spec;
  Texts told;
};
const BadInput kBadInputs[] = {
    {web("{image: nginx}"), {}},
    {"{components: [{name: web, type: webservce, properties: {image: a}}]}",
     {"FieldValueNotFound spec.components[0].type: Not found: \"webservce\": ComponentDefinition.core.oam.dev \"webservce\" "
      "not "
      "found (did you mean \"webservice\"?)"}},
    {"{components: [{name: web, type: webservice, properties: {image: a}, traits: [{type: scalr}]}]}",
     {"FieldValueNotFound spec.components[0].traits[0].type: Not found: \"scalr\": TraitDefinition.core.oam.dev \"scalr\" "
      "not "
      "found (did you mean \"scaler\"?)"}},
    {web("{}"), {"FieldValueRequired spec.components[0].properties.image: Required value: string"}},
    {web("{image: 5}"), {"FieldValueInvalid spec.components[0].properties.image: Invalid value: 5: must be string, but is 5"}},
    {web("{image: a, ports: [{port: 1}, {port: x}]}"),
     {"FieldValueInvalid spec.components[0].properties.ports[1].port: Invalid value: \"x\": must be int, but is \"x\""}},
    {"{components: [{name: web, type: webservice, properties: {image: a}, traits: [{type: scaler}, {type: scaler, "
     "properties: "
     "{replicas: two}}]}]}",
     {"FieldValueInvalid spec.components[0].traits[1].properties.replicas: Invalid value: \"two\": must be 1 | int, but is "
      "\"two\""}},
    {"{components: [{name: web, type: torn}]}",
     {"FieldValueInvalid spec.components[0].type: Invalid value: \"torn\": ComponentDefinition torn does not compile: "
      "template: expected '}', found 'EOF':\n    torn.cue:1:10"}},
    {web("{image: a}, dependsOn: [db]"), {"FieldValueNotFound spec.components[0].dependsOn[0]: Not found: \"db\""}},
    {"{components: [{name: web, type: worker, properties: {image: a}}, {name: web, type: worker, properties: {image: a}}]}",
     {"FieldValueDuplicate spec.components[1].name: Duplicate value: \"web\""}},
    {web("{image: a}", ", workflow: {ref: none}"),
     {"FieldValueNotFound spec.workflow.ref: Not found: \"none\": no such Workflow in the namespace"}},
    {web("{image: a}", ", workflow: {ref: w, steps: [{type: suspend}]}"),
     {"FieldValueForbidden spec.workflow.steps: Forbidden: ref and steps exclude each other"}},
    {web("{image: a}", ", workflow: {mode: {steps: Dag}, steps: [{type: suspend, timeout: 5, name: s}]}"),
     {"FieldValueNotSupported spec.workflow.mode.steps: Unsupported value: \"Dag\": supported values: \"DAG\", "
      "\"StepByStep\"",
      "FieldValueTypeInvalid spec.workflow.steps[0].timeout: Invalid value: 5: must be a string"}},
    {web("{image: a}", ", workflow: {steps: [{type: suspend, timeout: soon}, {type: suspend, name: step-0, dependsOn: [x]}]}"),
     {"FieldValueInvalid spec.workflow.steps[0].timeout: Invalid value: \"soon\": must be a duration such as 1m30s",
      "FieldValueDuplicate spec.workflow.steps[1].name: Duplicate value: \"step-0\"",
      "FieldValueNotFound spec.workflow.steps[1].dependsOn[0]: Not found: \"x\""}},
    {web("{image: a}", ", workflow: {steps: [{type: step-group, subSteps: [{type: suspnd}]}]}"),
     {"FieldValueNotFound spec.workflow.steps[0].subSteps[0].type: Not found: \"suspnd\": "
      "WorkflowStepDefinition.core.oam.dev "
      "\"suspnd\" not found (did you mean \"suspend\"?)"}},
    {web("{image: a}", ", workflow: {steps: [{type: apply-component, properties: {component: wev}}]}"),
     {"FieldValueNotFound spec.workflow.steps[0].properties.component: Not found: \"wev\": the application has no component "
      "of "
      "this name"}},
    {web("{image: a}", ", workflow: {steps: [{type: apply-component, properties: {componet: web}}]}"),
     {"FieldValueRequired spec.workflow.steps[0].properties.component: Required value"}},
    {web("{image: a}", ", workflow: {steps: [{type: suspend, properties: {duration: 5}}]}"),
     {"FieldValueInvalid spec.workflow.steps[0].properties.duration: Invalid value: 5: must be string, but is 5"}},
    {web("{image: a}", ", workflow: {steps: [{type: step-group, subSteps: [{type: export2config, properties: {data: {}}}]}]}"),
     {"FieldValueRequired spec.workflow.steps[0].subSteps[0].properties.configName: Required value: string"}},
    {web("{image: a}", ", workflow: {steps: [{type: suspend, if: 'status.web ='}, {type: suspend, if: 'status.a.succeeded'}]}"),
     {"FieldValueInvalid spec.workflow.steps[0].if: Invalid value: \"status.web =\": missing ',' in struct literal",
      "FieldValueInvalid spec.workflow.steps[1].if: Invalid value: \"status.a.succeeded\": status.a: the workflow has no step "
      "a; its steps are step-0, step-1"}},
    {web("{image: a}",
         ", workflow: {steps: [{name: ask, type: suspend}, {type: suspend, if: 'ask.output.x == asks.output.x'}]}"),
     {"FieldValueInvalid spec.workflow.steps[1].if: Invalid value: \"ask.output.x == asks.output.x\": $result: reference "
      "\"asks\" not found: a condition names steps (ask, step-1), or status, steps, inputs, context and parameter"}},
    {web("{image: a}", ", workflow: {ref: shared}"),
     {"FieldValueInvalid spec.workflow.ref: Invalid value: \"shared\": step two.if: Invalid value: \"status.on.failed\": "
      "status.on: the workflow has no step on; its steps are one, two"}},
    {web("{image: a}",
         ", workflow: {steps: [{name: a, type: suspend}, {type: step-group, subSteps: [{name: b, type: suspend, if: "
         "'status.a.succeeded && status[\"c-d\"].failed && len(context.name) > 1 && inputs.x == parameter.y'}, "
         "{name: c-d, type: suspend}]}]}"),
     {}},
    {"{workflow: {steps: [{type: suspend}]}}",
     {"FieldValueRequired spec.components: Required value: list what is to be delivered ([] for nothing), or let a step of "
      "stage: pre-render write it, such as helm-template or kustomize-patch"}},
    {web("{image: a}", ", policies: [{name: p, type: security, properties: {rbac: sometimes}}]"),
     {"FieldValueInvalid spec.policies[0].properties.rbac: Invalid value: \"sometimes\": must be \"enabled\" | \"disabled\", "
      "but "
      "is \"sometimes\""}},
    {web("{image: a}", ", policies: [{name: p, type: security, properties: {other: x}}]"),
     {"FieldValueRequired spec.policies[0].properties.rbac: Required value: \"enabled\" | \"disabled\""}},
    {"{components: [{name: A_b c, type: worker, properties: {image: a}}]}",
     {"FieldValueInvalid spec.components[0].name: Invalid value: \"A_b c\": a lowercase RFC 1123 subdomain must consist of "
      "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
      "'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"}},
    {"{components: [{name: web, type: mistyped}]}",
     {"FieldValueInvalid spec.components[0].type: Invalid value: \"mistyped\": ComponentDefinition mistyped does not compile: "
      "template: it has neither `output` nor `outputs`: it makes no object"}},
    {web("{image: a}", ", policies: [{name: p, type: owned, properties: {other: x}}]"),
     {"FieldValueRequired spec.policies[0].properties.team: Required value: string"}},
    {web("{image: a}", ", workflow: {steps: [{type: deploy, properties: {policies: [far]}}]}"),
     {"FieldValueNotFound spec.workflow.steps[0].properties.policies[0]: Not found: \"far\": no policy of the application, "
      "and "
      "no Policy"}},
    {web("{image: a}", ", policies: [{type: topology, properties: {cluster: [a]}}]"),
     {"FieldValueForbidden spec.policies[0].properties.cluster: unknown field \"properties.cluster\""}},
    {web("{image: a}", ", policies: [{type: garbage-collect, properties: {order: random}}]"),
     {"FieldValueNotSupported spec.policies[0].properties.order: Unsupported value: \"random\": supported values: \"\", "
      "\"dependency\""}},
    {web("{image: a}", ", policies: [{type: garbage-collect, properties: {rules: [{strategy: later}]}}]"),
     {"FieldValueNotSupported spec.policies[0].properties.rules[0].strategy: Unsupported value: \"later\": supported values: "
      "\"never\", \"onAppDelete\", \"onAppUpdate\""}},
    {web("{image: a}", ", policies: [{type: override, properties: {components: [{name: '[', properties: {}}]}}]"),
     {"FieldValueInvalid spec.policies[0].properties: Invalid value: {\"components\":[{\"name\":\"[\",\"properties\":{}}]}: "
      "name [ is no pattern: missing ]: ["}},
    {web("{image: a}", ", policies: [{type: topology}]"), {"FieldValueRequired spec.policies[0].properties: Required value"}},
    {web("{image: a}", ", policies: [{type: defaulted, properties: {}}, {type: apply-once, properties: {}}]"), {}},
    {web("{image: a}", ", policies: [{type: securty, properties: {}}]"),
     {"FieldValueNotFound spec.policies[0].type: Not found: \"securty\": PolicyDefinition.core.oam.dev \"securty\" not found"}},
    {web("{image: a}", ", policies: [{type: topolgy, properties: {a: b}}]"),
     {"FieldValueNotFound spec.policies[0].type: Not found: \"topolgy\": PolicyDefinition.core.oam.dev \"topolgy\" not found "
      "(did you mean \"topology\"?)"}},
};

TEST(Admission, refuses_bad_input_and_says_where_it_is) {
  const Desk desk;
  for (const BadInput& row : kBadInputs) EXPECT_EQ(desk.faults(row.spec), row.told) << row.spec;
}

TEST(Admission, names_properties_with_quotes_dots_and_numbers_beyond_64_bits) {
  Desk desk;
  const char* odd = R"(parameter: {"l\".99999999999999999999": string, ...})";
  desk.add(definition("WorkflowStepDefinition", "odd", odd));
  desk.add(
      definition("ComponentDefinition", "odd", fmt::format("output: {{apiVersion: \"v1\", kind: \"X\"}}\n{}", odd).c_str()));
  const std::string properties = R"({'l\': [1], 'l".99999999999999999999': 5})";
  const Texts of_step =
      desk.faults(fmt::format("{{components: [], workflow: {{steps: [{{name: s, type: odd, properties: {}}}]}}}}", properties));
  ASSERT_EQ(of_step.size(), 1U);
  EXPECT_TRUE(of_step[0].contains("spec.workflow.steps[0].properties[l\".99999999999999999999]: Invalid value: 5"))
      << of_step[0];
  const Texts of_component = desk.faults(fmt::format("{{components: [{{name: web, type: odd, properties: {}}}]}}", properties));
  ASSERT_EQ(of_component.size(), 1U);
  EXPECT_TRUE(of_component[0].contains("spec.components[0].properties[l\".99999999999999999999]")) << of_component[0];
}

TEST(Admission, ends_endless_templates_at_their_budget) {
  const Texts told = Desk().faults("{components: [{name: web, type: endless}]}");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(told[0].starts_with("FieldValueInvalid spec.components[0].type: Invalid value: \"endless\": ")) << told[0];
  EXPECT_TRUE(told[0].contains("evaluation takes too ")) << told[0];
}

TEST(Admission, lets_pass_what_only_the_workflow_can_complete) {
  const char* specs[] = {
      // a call that the template makes
      "{components: [{name: web, type: asking, properties: {name: a}}]}",
      // a variable that goes into the component, or into the step that applies it
      "{components: [{name: web, type: webservice, inputs: [{from: image, parameterKey: image}]}]}",
      "{components: [{name: web, type: webservice}], workflow: {steps: [{type: apply-component, properties: {component: web}, "
      "inputs: [{from: image, parameterKey: value.properties.image}]}]}}",
      // a variable that goes into a step, whose `if` names steps
      "{components: [], workflow: {steps: [{type: suspend, name: a-b}, {type: apply-object, if: 'steps[\"a-b\"].output.x == 1 "
      "&& "
      "status[\"a-b\"].failed', inputs: [{from: o, parameterKey: value}]}]}}",
      // an override that mends the component: one of the application, one that stands by itself
      "{components: [{name: web, type: webservice}], policies: [{name: o, type: override, properties: {components: "
      "[{properties: "
      "{image: a}}]}}]}",
      "{components: [{name: web, type: webservice}], workflow: {steps: [{type: deploy, properties: {policies: [shared]}}]}}",
      // objects that are read first
      "{components: [{name: web, type: ref-objects, properties: {objects: [{resource: configmap, name: a}]}}]}",
  };
  Desk desk;
  desk.add(
      yaml("{kind: Policy, metadata: {name: shared, namespace: prod}, type: override, properties: {components: [{name: web, "
           "properties: {image: a}}]}}"));
  for (const char* spec : specs) EXPECT_EQ(desk.faults(spec), Texts{}) << spec;
  EXPECT_EQ(desk.faults("{components: [{name: web, type: webservice}], policies: [{name: o, type: override, properties: "
                        "{components: [{properties: {cpu: '1'}}]}}]}"),
            Texts{"FieldValueRequired spec.components[0].properties.image: Required value: string"});
}

TEST(Admission, keeps_immutable_parameters_unless_the_change_is_forced) {
  const Desk desk;
  const auto spec = [](const std::string& name, const std::string& disk, const std::string& zone) {
    return fmt::format(
        "{{components: [{{name: db, type: fixed, properties: {{name: {}, disk: {}}}, traits: [{{type: sticky, properties: "
        "{{zone: "
        "{}}}}}]}}]}}",
        name, disk, zone);
  };
  const Value old = Desk::application(spec("a", "{}", "x"));
  EXPECT_EQ(desk.faults(spec("a", "{size: 1G, speed: 3}", "x"), old), Texts{}) << "what was not set may be set";
  const Texts told = {
      "FieldValueInvalid spec.components[0].properties.name: Invalid value: \"b\": field is immutable, it was \"a\" (the "
      "annotation app.oam.dev/force-param-mutations: \"true\" allows the change)",
      "FieldValueInvalid spec.components[0].traits[0].properties.zone: Invalid value: \"z\": field is immutable, it was \"x\" "
      "(the "
      "annotation app.oam.dev/force-param-mutations: \"true\" allows the change)"};
  EXPECT_EQ(desk.faults(spec("b", "{}", "z"), old), told);
  EXPECT_EQ(desk.faults(spec("b", "{}", "z"), old, "{app.oam.dev/force-param-mutations: 'true'}"), Texts{});
  const Value sized = Desk::application(spec("a", "{size: 1G}", "x"));
  EXPECT_EQ(desk.faults(spec("a", "{size: 2G}", "x"), sized).size(), 1U);
}

TEST(Admission, refuses_to_update_by_itself_and_by_published_version_at_once) {
  EXPECT_EQ(Desk().faults(web("{image: a}"), {}, "{app.oam.dev/publishVersion: v1, app.oam.dev/autoUpdate: 'true'}"),
            Texts{"FieldValueForbidden metadata.annotations[app.oam.dev/autoUpdate]: Forbidden: an application is updated by "
                  "app.oam.dev/publishVersion or by itself, not both"});
}

TEST(Admission, refuses_to_take_an_application_back_as_a_template_of_a_rollout) {
  const auto validate = admission_rows(OnFault::Refuse).front().validate;
  const Value plain = Desk::application(web("{}"));
  const Value held = Desk::application(web("{}"), "{app.oam.dev/rollout-template: 'true'}");
  EXPECT_TRUE(validate(held, Value()).empty() && validate(held, held).empty() && validate(plain, held).empty());
  const auto told = validate(held, plain);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().field, "metadata.annotations[app.oam.dev/rollout-template]");
}

TEST(Admission, refuses_the_mark_of_a_first_delivery_which_rollouts_set) {
  const auto validate = admission_rows(OnFault::Refuse).front().validate;
  const Value marked = Desk::application(web("{}"), "{app.oam.dev/creating: 'true'}");
  const auto told = validate(marked, Value());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told.front().field, "metadata.annotations[app.oam.dev/creating]");
  EXPECT_TRUE(validate(marked, marked).empty()) << "what stands already stops no edit";
}

TEST(Admission, refuses_traits_that_size_a_workload_which_a_trait_rolls_out) {
  const char* spec =
      "{components: [{name: web, type: webservice, properties: {image: a}, traits: [{type: scaler}, {type: "
      "rollout, properties: {targetSize: 2}}]}]}";
  EXPECT_EQ(Desk().faults(spec),
            Texts{"FieldValueForbidden spec.components[0].traits[0].type: Forbidden: trait scaler sizes the workload too, and "
                  "trait rollout (spec.components[0].traits[1]) does that alone: take scaler away"});
}

TEST(Admission, refuses_a_spec_whose_records_would_not_fit) {
  EXPECT_EQ(Desk().faults(web("{image: a, cmd: [" + std::string(1'200'000, 'x') + "]}")),
            Texts{"FieldValueTooLong spec.components[0].properties: Too long: may not be more than 1048576 bytes"});
}

TEST(Admission, judges_what_was_judged_before_only_when_it_changes) {
  const Desk desk;
  const Value old = Desk::application(web("{}"));
  EXPECT_EQ(desk.faults(web("{}"), old), Texts{});
  EXPECT_EQ(desk.faults(web("{cpu: '1'}"), old).size(), 1U);
  EXPECT_EQ(desk.faults(web("{}"), old, "{app.oam.dev/publishVersion: v2}").size(), 1U);
}

TEST(Admission, warns_of_traits_that_do_not_go_together_or_with_the_workload) {
  const char* spec =
      "{components: [{name: web, type: webservice, properties: {image: a}, traits: [{type: scaler}, {type: sticky, properties: "
      "{zone: x}}]}]}";
  EXPECT_EQ(Desk().warnings(spec),
            (Texts{"spec.components[0].traits[1]: trait sticky is made for workloads statefulsets.apps, and the component has "
                   "deployments.apps",
                   "spec.components[0].traits[1]: trait sticky conflicts with trait scaler (spec.components[0].traits[0])"}));
  EXPECT_EQ(Desk().warnings(web("{}")), Texts{}) << "faults refuse, they do not warn";
}

TEST(Admission, warns_of_properties_that_no_parameter_takes) {
  const auto warned = [](const std::string& steps) {
    return Desk().warnings(web("{image: a}", fmt::format(", workflow: {{steps: [{}]}}", steps)));
  };
  EXPECT_EQ(
      warned("{type: deploy, properties: {policys: [a]}}, {type: step-group, subSteps: [{type: suspend, properties: {x: 1, "
             "message: m}}]}, {type: apply-component, properties: {component: web, cluster: c, patches: {}}}"),
      (Texts{"spec.workflow.steps[0].properties.policys: step type deploy has no parameter of this name, so it has no effect",
             "spec.workflow.steps[1].subSteps[0].properties.x: step type suspend has no parameter of this name, so it has "
             "no effect",
             "spec.workflow.steps[2].properties.patches: step type apply-component has no parameter of this name, so it has "
             "no effect"}));
  EXPECT_EQ(
      warned("{type: deploy, properties: {policies: []}}, {type: apply-object, properties: {value: {a: 1}, cluster: c}}, "
             "{type: apply-terraform-provider, properties: {type: alibaba, name: n, accessKey: a, secretKey: s, region: r}}"),
      Texts{});
}

TEST(Admission, warns_of_properties_that_no_parameter_of_a_policy_takes) {
  EXPECT_EQ(
      Desk().warnings(web("{image: a}",
                          ", policies: [{type: owned, properties: {team: a, other: x}}, {type: defaulted, "
                          "properties: {rbak: enabled}}, {type: security, properties: {rbac: enabled}}]")),
      Texts{"spec.policies[1].properties.rbak: policy type defaulted has no parameter of this name, so it has no effect"});
}

TEST(Admission, warns_of_a_shift_of_traffic_that_nothing_splits) {
  const auto warned = [](const std::string& traffic) {
    return Desk().warnings(
        web("{image: a}", fmt::format(", workflow: {{steps: [{{name: bg, type: blue-green-rollout, properties: "
                                      "{{partition: 50%{}}}}}, {{type: traffic-shift}}]}}",
                                      traffic)));
  };
  EXPECT_EQ(warned(""),
            Texts{"spec.workflow.steps[1]: nothing splits the traffic of step bg, which has no property traffic: the "
                  "share of the ready pods is taken for the share of the traffic"});
  EXPECT_EQ(warned(", traffic: {provider: nginx}"), Texts{});
  const char* text =
      "nothing splits the traffic of step bg, which has no property traffic: the share of the ready pods is taken for the "
      "share "
      "of the traffic";
  const char* nested =
      ", workflow: {steps: [{type: step-group, name: one, subSteps: [{name: bg, type: blue-green-rollout}]}, {type: "
      "step-group, "
      "name: two, subSteps: [{type: traffic-shift}]}]}";
  EXPECT_EQ(Desk().warnings(web("{image: a}", nested)), Texts{fmt::format("spec.workflow.steps[1].subSteps[0]: {}", text)});
  Desk desk;
  desk.add(yaml(
      "{apiVersion: core.oam.dev/v1alpha1, kind: Workflow, metadata: {name: green, namespace: prod}, steps: [{name: bg, type: "
      "blue-green-rollout}, {name: shift, type: traffic-shift}]}"));
  EXPECT_EQ(desk.warnings(web("{image: a}", ", workflow: {ref: green}")),
            Texts{fmt::format("spec.workflow.ref: Workflow green: steps[1]: {}", text)});
}

TEST(Admission, warns_of_a_plan_that_nothing_rolls_out_by) {
  const auto warned = [](const std::string& more) {
    return Desk().warnings(web("{image: a}", ", rolloutPlan: {numBatches: 2}" + more));
  };
  EXPECT_EQ(warned(""), Texts{});
  const auto placed = warned(", policies: [{name: t, type: topology, properties: {clusters: [local]}}]");
  EXPECT_EQ(placed, Texts{"spec.rolloutPlan: has no effect, because policy t (topology) delivers the components, all pods at "
                          "once: a plan holds in the Application's own cluster and namespace only; remove one of the two"});
  const auto own = warned(", workflow: {steps: [{name: w, type: apply-component, properties: {component: web}}]}");
  ASSERT_EQ(own.size(), 1U);
  EXPECT_TRUE(own.front().starts_with("spec.rolloutPlan: has no effect, because spec.workflow says")) << own.front();
}

TEST(Admission, on_warn_accepts_faults_and_tells_them) {
  const Desk desk(OnFault::Warn);
  EXPECT_EQ(desk.faults(web("{}")), Texts{});
  EXPECT_EQ(desk.warnings(web("{}")), Texts{"spec.components[0].properties.image: Required value: string"});
}

TEST(Admission, accepts_with_a_warning_when_the_check_is_cancelled) {
  const Desk desk;
  const Value object = Desk::application("{components: [{name: a, type: webservice, properties: {}}]}");
  const auto check = desk.check();
  ASSERT_TRUE(check->read(object, {}, desk.finder()));
  check->cancel();
  check->compute();
  const kube::Assessment cut = check->result(object, {}, desk.finder());
  EXPECT_TRUE(cut.causes.empty());
  ASSERT_EQ(cut.warnings.size(), 1U);
  EXPECT_TRUE(cut.warnings[0].starts_with("accepted without rendering every policy")) << cut.warnings[0];
}

TEST(Admission, evaluates_nothing_of_a_user_before_it_computes) {
  Desk desk;
  desk.add(definition("WorkflowStepDefinition", "typed", "parameter: x: int"));
  desk.add(definition("PolicyDefinition", "typed", "output: {}\nparameter: x: int"));
  const char* specs[] = {
      "{components: [], workflow: {steps: [{name: s, type: typed, properties: {x: text}}]}}",
      "{components: [], workflow: {steps: [{name: s, type: suspend, if: '((('}]}}",
      "{components: [], policies: [{name: p, type: typed, properties: {x: text}}]}",
      "{components: [], policies: [{name: p, type: override, properties: {components: [{name: '['}]}}]}",
      "{components: [], policies: [{name: p, type: replication, properties: {keys: [a], selector: [none]}}]}",
  };
  for (const char* spec : specs) {
    EXPECT_EQ(desk.faults(spec).size(), 1U) << spec;
    const Value object = Desk::application(spec);
    const auto check = desk.check();
    ASSERT_TRUE(check->read(object, {}, desk.finder())) << spec;
    check->cancel();
    check->compute();
    const kube::Assessment cut = check->result(object, {}, desk.finder());
    EXPECT_TRUE(cut.causes.empty()) << spec;
    EXPECT_EQ(cut.warnings.size(), 1U) << spec;
  }
}

TEST(Admission, a_cancelled_check_still_refuses_what_needs_no_computing) {
  const Desk desk;
  const Value seen = Desk::application("{components: [{name: a, type: webservice, properties: {}}]}");
  const auto check = desk.check();
  ASSERT_TRUE(check->read(seen, {}, desk.finder()));
  check->cancel();
  // Another application came while the first was computed.
  const Value object = Desk::application("{components: [{name: a, type: none-such, properties: {}}]}");
  const kube::Assessment cut = check->result(object, {}, desk.finder());
  ASSERT_EQ(cut.causes.size(), 1U);
  EXPECT_EQ(cut.causes[0].field, "spec.components[0].type");
}

TEST(Admission, a_check_goes_on_with_the_same_application_and_begins_anew_with_another) {
  const Desk desk;
  const Value object = Desk::application("{components: [{name: a, type: webservice, properties: {}}]}");
  const auto check = desk.check();
  ASSERT_TRUE(check->read(object, {}, desk.finder()));
  check->compute();
  EXPECT_FALSE(check->read(object.with_path({"metadata", "uid"}, "planned again"), {}, desk.finder()));
  EXPECT_EQ(check->result(object, {}, desk.finder()).causes.size(), 1U);
  const Value other = Desk::application("{components: [{name: a, type: webservice, properties: {image: i}}]}");
  ASSERT_TRUE(check->read(other, {}, desk.finder()));
  check->compute();
  EXPECT_FALSE(check->read(other, {}, desk.finder()));
  EXPECT_TRUE(check->result(other, {}, desk.finder()).causes.empty());
}

TEST(Admission, bounds_the_counts_and_lets_what_is_there_shrink) {
  const auto with_components = [](std::size_t count) {
    json::ArrayBuilder components;
    for (std::size_t i = 0; i < count; ++i) {
      components.add(json::object({{"name", fmt::format("c{}", i)}, {"type", "webservice"}}));
    }
    return Desk::application("{}").with_path({"spec", "components"}, components.build());
  };
  const auto row = admission_rows(OnFault::Refuse).front();
  EXPECT_TRUE(row.validate(with_components(500), {}).empty());
  const auto causes = row.validate(with_components(501), {});
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "spec.components");
  EXPECT_EQ(causes[0].message, "Too many: 501: must have at most 500 items");
  EXPECT_TRUE(row.validate(with_components(601), with_components(601)).empty());
  EXPECT_TRUE(row.validate(with_components(600), with_components(601)).empty());
  EXPECT_EQ(row.validate(with_components(602), with_components(601)).size(), 1U);
  const Value traits = json::array(std::vector<Value>(101, json::object({{"type", "labels"}})));
  const Value component = json::object({{"name", "c"}, {"type", "webservice"}, {"traits", traits}});
  const auto of_traits = row.validate(with_components(1).with_path({"spec", "components"}, json::array({component})), {});
  ASSERT_EQ(of_traits.size(), 1U);
  EXPECT_EQ(of_traits[0].field, "spec.components[0].traits");
  const Value policies = json::array(std::vector<Value>(501, json::object({{"name", "p"}, {"type", "debug"}})));
  const auto of_policies = row.validate(with_components(1).with_path({"spec", "policies"}, policies), {});
  ASSERT_EQ(of_policies.size(), 1U);
  EXPECT_EQ(of_policies[0].field, "spec.policies");
}

TEST(Admission, names_what_has_no_name) {
  const Value named = with_names(
      Desk::application(
          "{components: [], policies: [{type: debug}, {name: p, type: topology}], workflow: {steps: [{type: suspend}, "
          "{name: g, type: step-group, subSteps: [{type: suspend}, {name: own, type: suspend}]}]}}"),
      {});
  EXPECT_EQ(
      named["spec"],
      yaml("{components: [], policies: [{name: debug-auto-gen-0, type: debug}, {name: p, type: topology}], workflow: {steps: "
           "[{name: step-0, type: suspend}, {name: g, type: step-group, subSteps: [{name: step-1-0, type: suspend}, {name: "
           "own, type: suspend}]}]}}"));
  EXPECT_TRUE(with_names(named, {}) == named);
  const Value unnamed = Desk::application("{components: [], workflow: {steps: [{name: true, type: suspend}]}}");
  EXPECT_TRUE(with_names(unnamed, {}) == unnamed) << "what is no name is refused, not replaced";
}

}  // namespace
}  // namespace slipway::delivery::application
