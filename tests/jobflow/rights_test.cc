// Jobs of steps are created with the rights of the workflow's author, against the real server, in virtual time.
#include <gtest/gtest.h>

#include "control/author_right.h"
#include "rights_fixture.h"

namespace slipway::jobflow_test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kLacks = "AuthorLacksRight";

class JobRights : public RightsTest {
 protected:
  /// Two Jobs of 10 s, one after the other.
  Value two_steps() {
    return yaml(
        fmt::format("{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: w, namespace: default}}, "
                    "spec: {{steps: {{a: {{jobTemplate: {0}}}, b: {{dependencies: [a], jobTemplate: {0}}}}}}}}}",
                    job("slipway.dev/run-time: 10s")));
  }
};

TEST_F(JobRights, refuse_a_job_that_the_author_may_not_create) {
  allow("bob", {"batch.slipway.dev/workflows"});
  must(create_as("bob", kWorkflows, two_steps()));
  const Value end = end_of("w");
  EXPECT_TRUE(kube::is_true(end, "Failed"));
  EXPECT_EQ(reason(end, "a"), "JobRefused");
  EXPECT_NE(end["status"]["statuses"]["a"]["message"].as_string().find("\"bob\" cannot create"), std::string_view::npos)
      << end["status"]["statuses"]["a"]["message"].as_string();
  EXPECT_EQ(list(kJobs).size(), 0u);
}

TEST_F(JobRights, make_the_workflow_wait_while_they_are_lost) {
  allow("alice", {"batch.slipway.dev/workflows", "batch/jobs"});
  must(create_as("alice", kWorkflows, two_steps()));
  advance(seconds{5});
  forbid("alice");
  advance(minutes{10});
  const Value held = workflow("w");
  EXPECT_EQ(phase(held, "b"), "Running");
  EXPECT_TRUE(kube::is_true(held, kLacks)) << json::print(held["status"]);
  EXPECT_EQ(held["status"]["statuses"]["b"]["attempts"].as_int(1), 1) << "uses up no attempt";
  EXPECT_EQ(list(kJobs).size(), 1u);

  allow("alice", {"batch.slipway.dev/workflows", "batch/jobs"});
  advance(seconds{45});
  EXPECT_EQ(list(kJobs).size(), 2u) << "at most half a minute after the right has returned";
  const Value end = end_of("w");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(kube::condition(end, kLacks)["status"].as_string(), "False");
}

TEST_F(JobRights, that_were_lost_before_the_first_job_are_waited_for) {
  allow("alice", {"batch.slipway.dev/workflows", "batch/jobs"});
  must(create_as("alice", kWorkflows,
                 yaml(fmt::format("{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: w, namespace: "
                                  "default}}, spec: {{suspend: true, steps: {{a: {{jobTemplate: {}}}}}}}}}",
                                  job()))));
  advance(seconds{5});
  EXPECT_EQ(json::print(workflow("w")["status"]["author"]), R"({"name":"alice","rights":["create jobs.batch"]})");
  forbid("alice");
  must(env_->run(client::merge_patch(server(), kWorkflows, {"default", "w"}, yaml("{spec: {suspend: false}}"), "t")));
  advance(minutes{10});
  EXPECT_EQ(phase(workflow("w"), "a"), "Running") << json::print(workflow("w")["status"]);
  EXPECT_TRUE(kube::is_true(workflow("w"), kLacks)) << json::print(workflow("w")["status"]);
  allow("alice", {"batch.slipway.dev/workflows", "batch/jobs"});
  EXPECT_TRUE(kube::is_true(end_of("w"), "Complete"));
}

TEST_F(JobRights, of_objects_are_waited_for_while_they_are_lost) {
  constexpr const char* kAfter =
      "{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {name: w, namespace: default}, spec: {steps: {a: "
      "{jobTemplate: JOB}, b: {dependencies: [a], objectTemplate: {apiVersion: v1, kind: ConfigMap, metadata: {name: "
      "made}}}}}}";
  std::string text = kAfter;
  text.replace(text.find("JOB"), 3, job("slipway.dev/run-time: 10s"));
  const std::vector<std::string> rights{"batch.slipway.dev/workflows", "batch/jobs", "/configmaps"};
  allow("alice", rights);
  must(create_as("alice", kWorkflows, yaml(text)));
  advance(seconds{5});
  forbid("alice");
  advance(minutes{10});
  EXPECT_EQ(phase(workflow("w"), "b"), "Running") << json::print(workflow("w")["status"]);
  EXPECT_TRUE(kube::is_true(workflow("w"), kLacks)) << json::print(workflow("w")["status"]);
  EXPECT_TRUE(get(kube::kConfigMaps, "made").is_null());
  allow("alice", rights);
  advance(seconds{61});
  EXPECT_FALSE(get(kube::kConfigMaps, "made").is_null()) << json::print(workflow("w")["status"]);
  const Value end = end_of("w");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(kube::condition(end, kLacks)["status"].as_string(), "False");
}

TEST_F(JobRights, include_no_write_of_what_the_controller_has_recorded) {
  allow("bob", {"batch.slipway.dev/workflows", "batch.slipway.dev/workflows/status"});
  make("w", fmt::format("{{suspend: true, steps: {{wait: {{jobTemplate: {0}}}, grant: {{dependencies: [wait], jobTemplate: "
                        "{0}}}}}}}",
                        job("slipway.dev/run-time: 10s")));
  advance(seconds{5});
  const Value before = workflow("w");
  const Value forged = before.with_path({"status", "statuses"}, yaml("{wait: {complete: true, phase: Succeeded}}"));
  must(env_->run(client::update_status(as("bob"), kWorkflows, forged, "tester")));
  EXPECT_EQ(workflow("w")["status"], before["status"]);
  must(env_->run(client::merge_patch(as("bob"), kWorkflows, {"default", "w"}, yaml("{status: null}"), "tester", "status")));
  EXPECT_EQ(workflow("w")["status"], before["status"]);
}

TEST_F(JobRights, include_no_write_of_a_step_set) {
  allow("bob", {"batch.slipway.dev/workflows", "batch.slipway.dev/workflowstepsets"});
  const Value owner = make("w", fmt::format("{{suspend: true, steps: {{a: {{jobTemplate: {}}}}}}}", job()));
  const Value set =
      yaml(
          "{apiVersion: batch.slipway.dev/v1alpha1, kind: WorkflowStepSet, metadata: {name: s, namespace: default}, spec: "
          "{index: 0, count: 1, statuses: {}}}")
          .with_path({"metadata", "ownerReferences"}, json::array({kube::owner_reference(owner)}));
  const auto made = create_as("bob", kStepSets, set);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().message.contains("by its controller only: user \"bob\"")) << made.error().message;
  must(create(kStepSets, set));
  for (const char* change :
       {"{spec: {statuses: {a: {complete: true, phase: Succeeded}}}}", "{metadata: {ownerReferences: null}}"}) {
    const auto changed = env_->run(client::merge_patch(as("bob"), kStepSets, {"default", "s"}, yaml(change), "tester"));
    EXPECT_FALSE(changed) << change;
  }
  const auto gone = env_->run(client::remove(as("bob"), kStepSets, {"default", "s"}, {}));
  EXPECT_TRUE(!gone && gone.error().reason == Reason::Forbidden);
  must(env_->run(client::merge_patch(as("bob"), kStepSets, {"default", "s"}, yaml("{metadata: {labels: {a: b}}}"), "tester")));
  EXPECT_EQ(get(kStepSets, "s")["spec"], set["spec"]);
}

TEST_F(JobRights, of_the_unknown_author_are_none_and_are_waited_for) {
  const Value stored =
      two_steps().with_path({"metadata", "annotations", "batch.slipway.dev/username"}, std::string(control::kUnknownAuthor));
  must(create(kWorkflows, stored));
  advance(minutes{10});
  EXPECT_EQ(list(kJobs).size(), 0u);
  const Value& held = kube::condition(workflow("w"), kLacks);
  EXPECT_EQ(held["status"].as_string(), "True") << json::print(workflow("w")["status"]);
  EXPECT_EQ(held["reason"].as_string(), "AuthorUnknown");
  EXPECT_TRUE(held["message"].as_string().contains("--adopt-as USER")) << held["message"].as_string();
  allow("alice", {"batch.slipway.dev/workflows", "batch/jobs"});
  must(env_->run(client::merge_patch(as("alice"), kWorkflows, {"default", "w"}, yaml("{spec: {parallelism: 7}}"), "t")));
  EXPECT_TRUE(kube::is_true(end_of("w"), "Complete"));
}

}  // namespace
}  // namespace slipway::jobflow_test
