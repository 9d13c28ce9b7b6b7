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

}  // namespace
}  // namespace slipway::jobflow_test
