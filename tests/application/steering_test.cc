// What users write to the status of a run that means nothing is put right; what an operator reads of the run it works for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/application/show.h"
#include "json/text.h"
#include "kube/object.h"
#include "oracle_plane.h"

namespace slipway::oracle_test {
namespace {

using client::PatchType;
using std::chrono::minutes;
using std::chrono::seconds;

class Steering : public testing::Test {
 protected:
  Steering() { plane_.make_namespace("default"); }
  static Value named(const char* version, const char* kind, const char* name) {
    return json::object({{"apiVersion", version}, {"kind", kind}, {"namespace", "default"}, {"name", name}});
  }
  void apply(const std::string& text) { EXPECT_EQ(plane_.apply(yaml(text), "default"), "") << text; }
  Value status_of(const Value& reference) { return plane_.find(kHub, reference)["status"]; }
  void write(const Value& reference, const char* status) {
    EXPECT_EQ(plane_.write_status(reference, PatchType::Merge, yaml(fmt::format("{{status: {}}}", status))), "");
    plane_.pass(seconds{5});
  }

  Plane plane_{&image()};
  const Value application_ = named("core.oam.dev/v1beta1", "Application", "a");
  const Value run_ = named("core.oam.dev/v1alpha1", "WorkflowRun", "r");
};

TEST_F(Steering, an_application_that_has_ended_says_so_whatever_is_written) {
  apply(
      "{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [], workflow: {steps: "
      "[{name: s, type: suspend}]}}}");
  plane_.pass(seconds{5});
  write(application_, "{workflow: {terminated: true}}");
  const Value ended = status_of(application_);
  ASSERT_EQ(ended["status"].as_string(), "workflowTerminated") << json::print(ended);
  for (const char* nonsense : {"{workflow: {terminated: false}}", "{workflow: {suspend: true}}", "{phase: runningWorkflow}",
                               "{status: runningWorkflow}"}) {
    write(application_, nonsense);
    EXPECT_EQ(status_of(application_), ended) << nonsense;
  }
  write(application_, "{phase: runningWorkflow, workflow: null}");
  EXPECT_EQ(status_of(application_)["status"].as_string(), "workflowSuspending") << "it was restarted";
  EXPECT_FALSE(status_of(application_).has("phase"));
}

TEST_F(Steering, a_workflow_run_that_has_ended_says_so_whatever_is_written) {
  apply(
      "{apiVersion: core.oam.dev/v1alpha1, kind: WorkflowRun, metadata: {name: r}, spec: {workflowSpec: {steps: [{name: s, "
      "type: suspend}]}}}");
  plane_.pass(seconds{5});
  write(run_, "{terminated: true}");
  const Value ended = status_of(run_);
  ASSERT_EQ(ended["status"].as_string(), "terminated") << json::print(ended);
  for (const char* nonsense : {"{terminated: false}", "{suspend: true}"}) {
    write(run_, nonsense);
    EXPECT_EQ(status_of(run_), ended) << nonsense;
  }
}

/// So that `slipway apply` does not stop there, and names nobody to act.
TEST_F(Steering, a_suspended_step_in_a_group_with_a_timeout_waits_for_nobody) {
  for (const char* timeout : {"", "timeout: 1h, "}) {
    apply(
        fmt::format("{{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {{name: a}}, spec: {{components: [], "
                    "workflow: {{steps: [{{name: g, type: step-group, {}subSteps: [{{name: s, type: suspend}}]}}]}}}}}}",
                    timeout));
    plane_.pass(seconds{5});
    const auto hold = delivery::application::hold(plane_.find(kHub, application_));
    EXPECT_EQ(hold.has_value(), *timeout == '\0') << timeout;
  }
}

TEST_F(Steering, an_operator_reads_the_components_of_the_application) {
  apply(
      R"({apiVersion: core.oam.dev/v1beta1, kind: WorkflowStepDefinition, metadata: {name: task, namespace: vela-system}, spec:
            {schematic: {cue: {template: "output: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: name: \"task\"}"}}}})");
  apply(R"({apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: a}, spec: {components: [{name: web, type:
            webservice, properties: {image: i}}], workflow: {steps: [{name: s, type: task}]}}})");
  plane_.pass(minutes{1});
  const Value task = plane_.find(kHub, named("v1", "ConfigMap", "task"));
  const auto told = json::parse(kube::annotation(task, "app.oam.dev/workflow-context"));
  ASSERT_TRUE(told) << json::print(task);
  EXPECT_EQ((*told)["components"], yaml("{web: {type: webservice, properties: {image: i}}}")) << json::print(*told);
  EXPECT_EQ((*told)["appName"].as_string(), "a");
}

}  // namespace
}  // namespace slipway::oracle_test
