// Promises of the workflow design (seed 000) that no other test shows; promises.tsv lists them all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "application_world.h"

namespace slipway::seeds_test {
namespace {

/// Waits until ConfigMap `parameter.name` is there.
const std::string kGate = step_definition("gate", R"(import "vela/op"
parameter: name: string
read: op.#Read & {value: {apiVersion: "v1", kind: "ConfigMap", metadata: {name: parameter.name, namespace: context.namespace}}}
wait: op.#ConditionalWait & {continue: read.value.data != _|_})");
const std::string kBroken = step_definition("broken", "a: 1 & 2");

std::string config_map(const std::string& name) {
  return fmt::format("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: {}}}, data: {{a: b}}}}", name);
}
std::string gate(const std::string& name) { return fmt::format("{{name: {0}, type: gate, properties: {{name: {0}}}}}", name); }

class Seed000 : public ApplicationWorld {
 protected:
  /// A PolicyDefinition whose template is `text`.
  void policy_definition(const std::string& name, const std::string& text) {
    apply(json::print(
        json::object({{"apiVersion", "core.oam.dev/v1beta1"},
                      {"kind", "PolicyDefinition"},
                      {"metadata", json::object({{"name", name}, {"namespace", "vela-system"}})},
                      {"spec", json::object({{"schematic", json::object({{"cue", json::object({{"template", text}})}})}})}})));
  }
  /// An operator's step: a ConfigMap named task.
  void operators_step() {
    apply(step_definition("task", "output: {apiVersion: \"example.org/v1\", kind: \"Task\", metadata: name: \"task\"}"));
    apply(
        R"({apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: tasks.example.org}, spec: {group:
      example.org, scope: Namespaced, names: {kind: Task, plural: tasks, singular: task, listKind: TaskList}, versions: [{name: v1,
      served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object,
      x-kubernetes-preserve-unknown-fields: true}}}]}})");
    pass(seconds{10});
  }
  Value task() { return find("example.org/v1", "Task", "task"); }
  void say(const std::string& status) {
    const auto patch = json::parse_yaml(fmt::format("{{status: {}}}", status));
    ASSERT_TRUE(patch);
    EXPECT_EQ(plane().write_status(reference("example.org/v1", "Task", "task"), client::PatchType::Merge, *patch), "");
    pass(seconds{10});
  }
  /// Seconds until the run of an application with a broken step has ended.
  std::int64_t seconds_to_the_end() {
    apply(kBroken);
    const Time began = plane().now();
    apply(application_of("[{name: a, type: broken}]"));
    while (phase() != "workflowFailed" && plane().now() - began < minutes{10}) pass(seconds{1});
    return std::chrono::duration_cast<seconds>(plane().now() - began).count();
  }
};

TEST_F(Seed000, the_object_of_a_policy_is_put_right_when_others_change_it) {
  policy_definition("audit", R"(parameter: audit: string
output: {apiVersion: "v1", kind: "ConfigMap", metadata: {name: "audit", namespace: context.namespace}, data: audit: parameter.audit})");
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [], policies: [{name: p, "
      "type: audit, properties: {audit: enabled}}], workflow: {steps: [{name: s, type: print-message-in-status, properties: "
      "{message: m}}]}}}");
  EXPECT_EQ(end(), "running s:succeeded");
  const Value map = reference("v1", "ConfigMap", "audit");
  EXPECT_EQ(plane().merge(map, *json::parse_yaml("{data: {audit: disabled}}")), "");
  pass(seconds{3});
  EXPECT_EQ(find("v1", "ConfigMap", "audit")["data"]["audit"].as_string(), "enabled");
}

TEST_F(Seed000, a_policy_makes_rbac_rules) {
  policy_definition("security", R"(parameter: {user: string, verbs: [...string]}
output: {
	apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: {name: context.name, namespace: context.namespace}
	rules: [{apiGroups: [""], resources: ["configmaps"], verbs: parameter.verbs}]
}
outputs: binding: {
	apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", metadata: {name: context.name, namespace: context.namespace}
	roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: context.name}
	subjects: [{apiGroup: "rbac.authorization.k8s.io", kind: "User", name: parameter.user}]
})");
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [], policies: [{name: "
      "my-rule, "
      "type: security, properties: {user: ann, verbs: [get, create]}}], workflow: {steps: [{name: s, type: "
      "print-message-in-status, properties: {message: m}}]}}}");
  EXPECT_EQ(end(), "running s:succeeded");
  const auto ann = std::make_shared<const kube::UserInfo>(
      kube::UserInfo{.name = "ann", .uid = "", .groups = {"system:authenticated"}, .extra = {}});
  const auto map = json::parse_yaml(config_map("of-ann"));
  EXPECT_EQ(plane().apply(*map, "default", ann), "");
  EXPECT_EQ(plane().remove(reference("core.oam.dev/v1beta1", "Application", "a")), "");
  pass(seconds{30});
  EXPECT_NE(plane().apply(*json::parse_yaml(config_map("more-of-ann")), "default", ann), "") << "the rule went with the policy";
}

TEST_F(Seed000, policies_are_rendered_before_the_first_step) {
  policy_definition(
      "audit", R"(output: {apiVersion: "v1", kind: "ConfigMap", metadata: {name: "audit", namespace: context.namespace}})");
  apply(kGate);
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type: "
      "webservice, properties: {image: 'web:1'}}], policies: [{name: p, type: audit}], workflow: {steps: [" +
      gate("open") + "]}}}");
  EXPECT_EQ(end(), "runningWorkflow open:running/Wait");
  EXPECT_FALSE(find("v1", "ConfigMap", "audit").is_null());
  EXPECT_FALSE(find("v1", "ConfigMap", "a-v1")["data"]["web"].is_null()) << "components are rendered too";
}

TEST_F(Seed000, of_a_given_workflow_only_the_steps_apply) {
  apply(kGate);
  apply(application_of("[" + gate("open") + ", {name: go, type: apply-component, properties: {component: web}}]"));
  EXPECT_EQ(end(), "runningWorkflow open:running/Wait");
  EXPECT_EQ(names("Deployment"), "");
  apply(config_map("open"));
  EXPECT_EQ(end(), "running open:succeeded go:succeeded");
  EXPECT_EQ(sizes(), "web 1/1");
}

TEST_F(Seed000, the_revision_names_the_config_map_of_rendered_resources) {
  apply(application_of("[{name: approve, type: suspend}]"));
  EXPECT_EQ(end(), "workflowSuspending approve:suspending/Suspend");
  const Value revision = find("core.oam.dev/v1beta1", "ApplicationRevision", "a-v1");
  const std::string map = revision["spec"]["resourcesConfigMap"]["name"].str();
  ASSERT_EQ(map, "a-v1");
  const auto rendered = json::parse(find("v1", "ConfigMap", map)["data"]["web"].as_string());
  ASSERT_TRUE(rendered);
  EXPECT_EQ(rendered->item(0)["kind"].as_string(), "Deployment") << json::print(*rendered);
}

TEST_F(Seed000, steps_run_in_array_order) {
  apply(kGate);
  apply(application_of("[" + gate("z") + ", " + gate("a") + ", " + gate("m") + "]"));
  EXPECT_EQ(end(), "runningWorkflow z:running/Wait");
  for (const char* name : {"m", "a"}) apply(config_map(name));
  EXPECT_EQ(end(), "runningWorkflow z:running/Wait") << "the later ones could go on, and have not begun";
  apply(config_map("z"));
  EXPECT_EQ(end(), "running z:succeeded a:succeeded m:succeeded");
}

TEST_F(Seed000, an_operators_object_carries_the_context) {
  operators_step();
  apply(application_of(
      "[{name: first, type: print-message-in-status, properties: {message: m}, outputs: [{name: word, valueFrom: "
      "'\"sesame\"'}]}, {name: s, type: task}]"));
  const auto told = json::parse(kube::annotation(task(), "app.oam.dev/workflow-context"));
  ASSERT_TRUE(told) << json::print(task());
  EXPECT_EQ((*told)["vars"]["word"].as_string(), "sesame") << json::print(*told);
  EXPECT_EQ((*told)["components"]["web"]["properties"]["image"].as_string(), "web:1");
  const Value store = (*told)["store"];
  EXPECT_FALSE(find("v1", "ConfigMap", store["name"].str()).is_null()) << json::print(*told);
  EXPECT_FALSE(told->has("cli")) << "a connection is no text";
}

TEST_F(Seed000, an_operators_step_ends_with_its_condition) {
  operators_step();
  apply(application_of("[{name: s, type: task}]"));
  EXPECT_EQ(end(), "runningWorkflow s:running/Wait");
  say("{observedGeneration: 1, conditions: [{type: workflow-progress, status: 'True', reason: NotYet}]}");
  EXPECT_EQ(shown(), "runningWorkflow s:running/Wait") << "True is not enough";
  say("{observedGeneration: 0, conditions: [{type: workflow-progress, status: 'True', reason: Succeeded}]}");
  EXPECT_EQ(shown(), "runningWorkflow s:running/Wait") << "it is about an older generation";
  say("{observedGeneration: 1, conditions: [{type: workflow-progress, status: 'True', reason: Succeeded}]}");
  EXPECT_EQ(end(), "running s:succeeded");
}

TEST_F(Seed000, both_definition_kinds_are_served) {
  for (const char* kind : {"PolicyDefinition", "WorkflowStepDefinition"}) {
    apply(
        fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: {}, metadata: {{name: own, namespace: default}}, spec: "
                    "{{schematic: {{cue: {{template: 'parameter: {{}}'}}}}}}}}",
                    kind));
    EXPECT_EQ(find("core.oam.dev/v1beta1", kind, "own")["kind"].as_string(), kind);
  }
}

TEST_F(Seed000, ten_retries_take_the_seconds_of_the_table) {
  const std::int64_t took = seconds_to_the_end();
  EXPECT_GE(took, 1 + 1 + 1 + 1 + 1 + 1 + 3 + 6 + 12 + 25);
  EXPECT_LE(took, 1 + 1 + 1 + 1 + 1 + 1 + 3 + 6 + 12 + 25 + 5);
}

TEST_F(Seed000, the_max_backoff_is_an_option) {
  restart_with({{"max-workflow-wait-backoff-time", "2s"}});
  const std::int64_t took = seconds_to_the_end();
  EXPECT_GE(took, 6 * 1 + 4 * 2);
  EXPECT_LE(took, 6 * 1 + 4 * 2 + 5);
}

TEST_F(Seed000, the_number_of_retries_is_an_option) {
  restart_with({{"max-workflow-step-error-retry-times", "3"}});
  EXPECT_LE(seconds_to_the_end(), 1 + 1 + 1 + 5);
  EXPECT_EQ(shown(), "workflowFailed a:failed/FailedAfterRetries");
}

TEST_F(Seed000, the_end_after_ten_retries_has_the_words_of_the_design) {
  seconds_to_the_end();
  EXPECT_EQ(run()["message"].as_string(),
            "The workflow terminates automatically because the failed times of steps have reached the limit");
  EXPECT_TRUE(run()["terminated"].as_bool());
}

TEST_F(Seed000, a_run_whose_retries_are_used_up_ends_unless_told_to_suspend) {
  for (const auto& [flag, phase_at_the_end] : {std::pair("false", "workflowFailed"), std::pair("true", "workflowSuspending")}) {
    restart_with({{"suspend-on-failure", flag}, {"max-workflow-step-error-retry-times", "1"}});
    apply(kBroken);
    apply(application_of("[{name: a, type: broken}]"));
    end();
    EXPECT_EQ(phase(), phase_at_the_end) << flag << ": " << shown();
  }
}

TEST_F(Seed000, with_suspend_on_failure_a_run_suspends_once_nothing_else_runs) {
  restart_with({{"suspend-on-failure", "true"}, {"max-workflow-step-error-retry-times", "1"}});
  apply(kBroken);
  apply(kGate);
  Value app = *json::parse_yaml(application_of("[{name: a, type: broken}, " + gate("open") + "]"));
  app = app.with_path({"spec", "workflow", "mode"}, *json::parse_yaml("{steps: DAG}"));
  apply(json::print(app));
  pass(minutes{1});
  EXPECT_EQ(phase(), "runningWorkflow") << shown() << ": another step runs still";
  apply(config_map("open"));
  end();
  EXPECT_EQ(phase(), "workflowSuspending") << shown();
}

TEST_F(Seed000, an_unhealthy_step_waits_and_does_not_fail) {
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type: "
      "webservice, properties: {image: 'web:1', annotations: {slipway.dev/ready-after: never}}}], workflow: {steps: [{name: "
      "go, "
      "type: apply-component, properties: {component: web}}]}}}");
  pass(minutes{20});
  EXPECT_EQ(shown(), "runningWorkflow go:running/Wait");
  EXPECT_EQ(sizes(), "web 0/1");
}

TEST_F(Seed000, a_step_goes_on_once_its_component_is_healthy) {
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type: "
      "webservice, properties: {image: 'web:1', annotations: {slipway.dev/ready-after: 90s}}}], workflow: {steps: [{name: go, "
      "type: apply-component, properties: {component: web}}, {name: after, type: print-message-in-status, properties: "
      "{message: "
      "m}}]}}}");
  pass(seconds{60});
  EXPECT_EQ(shown(), "runningWorkflow go:running/Wait");
  pass(seconds{60});
  EXPECT_EQ(shown(), "running go:succeeded after:succeeded");
}

TEST_F(Seed000, a_retry_goes_on_with_the_step_that_failed) {
  apply(kGate);
  apply(kBroken);
  apply(application_of("[{name: first, type: print-message-in-status, properties: {message: m}}, {name: a, type: broken}]"));
  pass(seconds{1});
  const std::string began = run()["steps"].item(0)["lastExecuteTime"].str();
  ASSERT_FALSE(began.empty());
  pass(minutes{2});
  EXPECT_EQ(shown(), "workflowFailed first:succeeded a:failed/FailedAfterRetries");
  EXPECT_EQ(run()["steps"].item(0)["lastExecuteTime"].str(), began) << "retries of a have not run it again";
  write_status("{workflow: null}");
  EXPECT_GT(run()["steps"].item(0)["lastExecuteTime"].str(), began) << "from scratch";
}

TEST_F(Seed000, step_index_counts_the_steps_that_are_done) {
  apply(kGate);
  apply(application_of("[" + gate("x") + ", " + gate("z") + "]"));
  end();
  EXPECT_EQ(run()["stepIndex"].as_int(), 0);
  apply(config_map("x"));
  EXPECT_EQ(end(), "runningWorkflow x:succeeded z:running/Wait");
  EXPECT_EQ(run()["stepIndex"].as_int(), 1);
  apply(config_map("z"));
  EXPECT_EQ(end(), "running x:succeeded z:succeeded");
  EXPECT_EQ(run()["stepIndex"].as_int(), 2);
  EXPECT_TRUE(run()["finished"].as_bool());
}

TEST_F(Seed000, a_waiting_workflow_holds_up_no_other) {
  apply(kGate);
  for (int i = 0; i < 20; ++i) apply(application_of("[" + gate("open") + "]", "web:1", fmt::format("waiting-{}", i)));
  apply(application_of("[{name: s, type: print-message-in-status, properties: {message: m}}]"));
  pass(seconds{5});
  EXPECT_EQ(shown(), "running s:succeeded");
  EXPECT_EQ(shown("waiting-0"), "runningWorkflow open:running/Wait");
}

TEST_F(Seed000, op_wait_waits_until_continue_is_true) {
  apply(step_definition("old", R"(import "vela/op"
read: op.#Read & {value: {apiVersion: "v1", kind: "ConfigMap", metadata: {name: "open", namespace: context.namespace}}}
wait: op.#Wait & {continue: read.value.data != _|_})"));
  apply(application_of("[{name: s, type: old}]"));
  EXPECT_EQ(end(), "runningWorkflow s:running/Wait");
  apply(config_map("open"));
  EXPECT_EQ(end(), "running s:succeeded");
}

TEST_F(Seed000, op_load_gives_components_as_they_are_written) {
  apply(step_definition("load", R"cue(import "vela/op"
all: op.#Load & {}
one: op.#Load & {component: "web"}
say: op.#Message & {message: "\(len(all.value)) and \(len(one.value)) of image \(one.value.web.properties.image)"})cue"));
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type: "
      "webservice, properties: {image: 'web:1'}}, {name: db, type: worker, properties: {image: 'db:1'}}], workflow: {steps: "
      "[{name: s, type: load}]}}}");
  EXPECT_EQ(end(), "running s:succeeded") << message(0);
  EXPECT_EQ(message(0), "2 and 1 of image web:1");
}

/// Enabled once item S19 of the review has landed.
TEST_F(Seed000, op_read_takes_the_names_flat) {
  apply(config_map("open"));
  apply(step_definition("flat", R"cue(import "vela/op"
read: op.#Read & {apiVersion: "v1", kind: "ConfigMap", namespace: context.namespace, name: "open"}
say: op.#Message & {message: "a is \(read.data.a)"})cue"));
  apply(application_of("[{name: s, type: flat}]"));
  EXPECT_EQ(end(), "running s:succeeded") << message(0);
  EXPECT_EQ(message(0), "a is b");
}

TEST_F(Seed000, a_rollout_step_refers_to_its_rollout) {
  apply(application_of("[{name: first, type: blue-green-rollout, properties: {partition: '50%'}}]"));
  EXPECT_EQ(end(), "running first:succeeded") << message(0);
  const Value made = run()["steps"].item(0)["resourceRef"];
  EXPECT_EQ(made["kind"].as_string(), "AppRollout");
  EXPECT_FALSE(find("core.oam.dev/v1beta1", "AppRollout", made["name"].str()).is_null()) << json::print(made);
}

TEST_F(Seed000, a_changed_spec_runs_the_workflow_again) {
  apply(application_of("[{name: approve, type: suspend}]"));
  write_status("{workflow: {suspend: false}}");
  EXPECT_EQ(end(), "running approve:succeeded");
  const std::string began = run()["startTime"].str();
  apply(application_of("[{name: approve, type: suspend}]", "web:2"));
  EXPECT_EQ(end(), "workflowSuspending approve:suspending/Suspend") << "it waits for an approval anew";
  EXPECT_GT(run()["startTime"].str(), began);
  EXPECT_FALSE(run()["finished"].as_bool());
}

TEST_F(Seed000, each_modification_makes_a_revision) {
  for (int version = 1; version <= 3; ++version) {
    apply(
        application_of("[{name: s, type: print-message-in-status, properties: {message: m}}]", fmt::format("web:{}", version)));
    EXPECT_EQ(end(), "running s:succeeded");
  }
  EXPECT_EQ(names("ApplicationRevision"), "a-v1 a-v2 a-v3");
}

TEST_F(Seed000, sub_steps_run_as_a_graph) {
  apply(kGate);
  apply(application_of("[{name: g, type: step-group, subSteps: [" + gate("x") +
                       ", {name: 'y', type: print-message-in-status, properties: {message: m}}, {name: z, type: "
                       "print-message-in-status, properties: "
                       "{message: m}, dependsOn: [x]}]}]"));
  EXPECT_EQ(end(), "runningWorkflow g:running x:running/Wait y:succeeded z:pending");
  apply(config_map("x"));
  EXPECT_EQ(end(), "running g:succeeded x:succeeded y:succeeded z:succeeded");
}

}  // namespace
}  // namespace slipway::seeds_test
