#include "delivery/application/run_stamp.h"

#include <gtest/gtest.h>

#include "delivery/application/render_test.h"

namespace slipway::delivery::application {
namespace {

using testing::yaml;

Value application(const char* status) {
  return yaml("{apiVersion: core.oam.dev/v1beta1, kind: Application, metadata: {name: shop, namespace: prod}}")
      .with("status", yaml(status));
}

bool may_nothing(std::string_view, const kube::Resource&, std::string_view, std::string_view) { return false; }

/// status.workflow after a write by `user`; null: by the process itself.
Value stamped(const char* before, const char* after, const char* user) {
  kube::UserInfo info;
  if (user != nullptr) info.name = user;
  const auto made =
      stamp_run(application(after), application(before), {.user = user == nullptr ? nullptr : &info, .may = may_nothing});
  EXPECT_TRUE(made);
  return made ? (*made)["status"]["workflow"] : Value();
}

TEST(RunStamp, says_who_paused_and_who_ended_the_run) {
  struct Row {
    const char* before;
    const char* after;
    const char* user;
    const char* expected;
  };
  const Row rows[] = {
      {"{workflow: {suspend: false}}", "{workflow: {suspend: true}}", "ann", "{suspend: true, suspendedBy: ann}"},
      {"{workflow: {suspend: true, suspendedBy: ann}}", "{workflow: {suspend: true, suspendedBy: bob}}", "bob",
       "{suspend: true, suspendedBy: ann}"},
      {"{workflow: {suspend: true, suspendedBy: ann}}", "{workflow: {suspend: false, suspendedBy: ann}}", "bob",
       "{suspend: false}"},
      {"{workflow: {suspend: true}}", "{workflow: {suspend: true, terminated: true, terminatedBy: eve}}", "bob",
       "{suspend: true, terminated: true, terminatedBy: bob}"},
      {"{workflow: {suspend: false}}", "{workflow: {suspend: false, suspendedBy: eve}}", "bob", "{suspend: false}"},
      {"{workflow: {suspend: false}}", "{workflow: {suspend: true}}", nullptr, "{suspend: true}"},
      {"{workflow: {suspend: true, suspendedBy: ann}}", "{workflow: {suspend: true, suspendedBy: ann}}", nullptr,
       "{suspend: true, suspendedBy: ann}"},
      // It was terminated by a step that timed out; ann ends what waits beside it.
      {"{workflow: {terminated: true, steps: [{name: a, phase: suspending}]}}",
       "{workflow: {terminated: true, steps: [{name: a, phase: failed, reason: Terminate}]}}", "ann",
       "{terminated: true, steps: [{name: a, phase: failed, reason: Terminate}], terminatedBy: ann}"},
      {"{workflow: {terminated: true, steps: [{name: g, phase: running, subSteps: [{name: a, phase: running}]}]}}",
       "{workflow: {terminated: true, steps: [{name: g, phase: running, subSteps: [{name: a, phase: failed, reason: "
       "Terminate}]}]}}",
       "ann",
       "{terminated: true, steps: [{name: g, phase: running, subSteps: [{name: a, phase: failed, reason: Terminate}]}], "
       "terminatedBy: ann}"},
      {"{workflow: {terminated: true, steps: [{name: a, phase: suspending}]}}",
       "{workflow: {terminated: true, steps: [{name: a, phase: running}]}}", "ann",
       "{terminated: true, steps: [{name: a, phase: running}]}"},
      {"{workflow: {finished: true, suspend: false}}", "{workflow: {finished: true, suspend: true}}", "ann",
       "{finished: true, suspend: false}"},
      {"{workflow: {finished: true, terminated: false}}", "{workflow: {finished: true, terminated: true}}", "ann",
       "{finished: true, terminated: false}"},
      {"{workflow: {finished: true, terminated: false}}", "{workflow: {finished: true, terminated: true}}", nullptr,
       "{finished: true, terminated: true}"},
  };
  for (const Row& row : rows) EXPECT_EQ(stamped(row.before, row.after, row.user), yaml(row.expected)) << row.after;
  EXPECT_TRUE(stamped("{}", "{workflow: null}", "ann").is_null());
}

TEST(RunStamp, puts_back_what_the_controller_says_and_leaves_what_vela_and_others_write) {
  kube::UserInfo ann;
  ann.name = "ann";
  const char* before =
      "{status: running, latestRevision: {name: shop-v1, revision: 1}, services: [{name: web}], workflow: {appRevision: "
      "shop-v1:1, "
      "contextBackend: {name: ctx}, suspend: true, steps: [{name: a, type: suspend, phase: running}, {name: b, type: "
      "apply-object, phase: failed}, {name: c, type: deploy, phase: running}]}}";
  struct Row {
    const char* after;
    const char* expected;
  };
  const Row rows[] = {
      {"{status: workflowFailed, latestRevision: {name: zzz, revision: 99}, services: [], workflow: {appRevision: zzz:9, "
       "contextBackend: {name: mine}, suspend: true, steps: [{name: a, type: suspend, phase: running}, {name: b, type: "
       "apply-object, phase: failed}, {name: c, type: deploy, phase: running}]}}",
       before},
      // vela workflow resume
      {"{status: running, latestRevision: {name: shop-v1, revision: 1}, services: [{name: web}], workflow: {appRevision: "
       "shop-v1:1, "
       "contextBackend: {name: ctx}, suspend: false, steps: [{name: a, type: suspend, phase: succeeded}]}}",
       "{status: running, latestRevision: {name: shop-v1, revision: 1}, services: [{name: web}], workflow: {appRevision: "
       "shop-v1:1, "
       "contextBackend: {name: ctx}, suspend: false, steps: [{name: a, type: suspend, phase: succeeded}]}}"},
      // A step of another user is not made to pass; vela workflow terminate makes those that run fail.
      {"{status: running, latestRevision: {name: shop-v1, revision: 1}, services: [{name: web}], workflow: {appRevision: "
       "shop-v1:1, contextBackend: {name: ctx}, suspend: true, terminated: true, steps: [{name: a, type: suspend, phase: "
       "failed, "
       "reason: Terminate}, {name: b, type: apply-object, phase: succeeded}, {name: c, type: deploy, phase: failed, reason: "
       "Terminate}, {name: e, type: suspend, phase: succeeded}]}}",
       "{status: running, latestRevision: {name: shop-v1, revision: 1}, services: [{name: web}], workflow: {appRevision: "
       "shop-v1:1, contextBackend: {name: ctx}, suspend: true, terminated: true, terminatedBy: ann, steps: [{name: a, type: "
       "suspend, phase: failed, reason: Terminate}, {name: b, type: apply-object, phase: failed}, {name: c, type: deploy, "
       "phase: "
       "failed, reason: Terminate}]}}"},
      // vela workflow restart, and a member that some other program keeps there
      {"{mesh: {seen: true}}",
       "{status: running, latestRevision: {name: shop-v1, revision: 1}, services: [{name: web}], mesh: {seen: true}}"},
  };
  for (const Row& row : rows) {
    const auto made = stamp_run(application(row.after), application(before), {.user = &ann, .may = may_nothing});
    ASSERT_TRUE(made);
    EXPECT_EQ((*made)["status"], yaml(row.expected)) << row.after;
  }
  const auto controller = stamp_run(application("{latestRevision: {name: shop-v2, revision: 2}}"), application(before), {});
  EXPECT_EQ((*controller)["status"], yaml("{latestRevision: {name: shop-v2, revision: 2}}"));
}

TEST(RunStamp, warns_of_writes_that_a_finished_run_does_not_follow) {
  const auto warned = [](const char* before, const char* after) {
    return run_warnings(application(after), application(before));
  };
  const char* ended = "{workflow: {finished: true, suspend: false}}";
  const auto restart = warned(ended, "{phase: runningWorkflow, workflow: {finished: true, suspend: false}}");
  ASSERT_EQ(restart.size(), 1u);
  EXPECT_EQ(restart.front(),
            "status.workflow: {} in a merge patch or an apply changes nothing, so the workflow does not run again: write "
            "`workflow: null`, or use `slipway workflow restart app/shop`");
  const auto suspend = warned(ended, "{workflow: {finished: true, suspend: true}}");
  ASSERT_EQ(suspend.size(), 1u);
  EXPECT_TRUE(suspend.front().starts_with("status.workflow.suspend: the workflow has finished")) << suspend.front();
  const auto by_status = warned("{status: running, workflow: {finished: true, suspend: false}}",
                                "{status: runningWorkflow, workflow: {finished: true, suspend: false}}");
  EXPECT_EQ(by_status, restart) << "the field that KubeVela has";
  const auto terminate = warned(ended, "{workflow: {finished: true, suspend: false, terminated: true}}");
  ASSERT_EQ(terminate.size(), 1u);
  EXPECT_TRUE(terminate.front().contains("terminated: the workflow has finished, so there is nothing to terminate"));
  EXPECT_TRUE(warned(ended, "{phase: runningWorkflow, workflow: {}}").empty()) << "a PUT, which runs it again";
  EXPECT_TRUE(warned(ended, "{phase: runningWorkflow, workflow: null}").empty());
  EXPECT_TRUE(warned("{workflow: {finished: false}}", "{phase: runningWorkflow, workflow: {suspend: true}}").empty());
  EXPECT_TRUE(warned(ended, ended).empty());
}

}  // namespace
}  // namespace slipway::delivery::application
