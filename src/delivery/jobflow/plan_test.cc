#include "delivery/jobflow/plan.h"

#include <gtest/gtest.h>

#include "delivery/jobflow/admission.h"
#include "delivery/jobflow/names.h"
#include "delivery/jobflow/test_flow.h"

namespace slipway::delivery::jobflow {
namespace {

using std::chrono::seconds;

TEST(Plan, starts_a_new_workflow_with_its_roots) {
  Play play(kDiamond);
  const Actions actions = play.step();
  ASSERT_EQ(actions.events.size(), 2u);
  EXPECT_EQ(actions.events[0].reason, "WorkflowCreated");
  EXPECT_EQ(actions.events[1].reason, "WorkflowStarted");
  EXPECT_EQ(play.created(actions), (Names{"one"}));
  EXPECT_EQ(play.status()["phase"].as_string(), "Running");
  EXPECT_EQ(play.status()["progress"].as_string(), "0/4");
  EXPECT_EQ(play.status()["waitsFor"].as_string(), "one");
  const Value& record = play.record("one");
  EXPECT_EQ(record["phase"].as_string(), "Running");
  EXPECT_FALSE(record["complete"].as_bool(true));
  EXPECT_EQ(record["attempts"].as_int(), 1);
  EXPECT_EQ(record["reference"]["name"].as_string(), job_name("w", "u-1", "one", 1));
  EXPECT_FALSE(play.status()["statuses"].has("two")) << "Blocked steps have no entry";
}

TEST(Plan, does_nothing_when_nothing_has_changed) {
  Play play(kDiamond);
  play.step();
  const Actions actions = play.step();
  EXPECT_TRUE(actions.events.empty());
  EXPECT_FALSE(actions.status);
  EXPECT_TRUE(actions.create.empty());
}

TEST(Plan, creates_the_children_in_the_step_that_sees_the_parent_end) {
  Play play(kDiamond);
  play.step();
  play.finish("one");
  EXPECT_EQ(play.created(play.step()), (Names{"three", "two"}));
  play.finish("two");
  EXPECT_TRUE(play.created(play.step()).empty());
  play.finish("three");
  EXPECT_EQ(play.created(play.step()), (Names{"four"}));
  play.finish("four");
  const Actions last = play.step();
  ASSERT_EQ(last.events.size(), 1u);
  EXPECT_EQ(last.events[0].reason, "WorkflowEnded");
  EXPECT_EQ(last.events[0].message, "Workflow complete: 4 of 4 steps succeeded");
  EXPECT_TRUE(kube::is_true(play.workflow(), "Complete"));
  EXPECT_TRUE(play.status().has("completionTime"));
  EXPECT_EQ(play.status()["phase"].as_string(), "Complete");
}

TEST(Plan, writes_two_statuses_for_a_workflow_of_one_step) {
  Play play("{steps: {a: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}}}");
  play.step();
  play.finish("a");
  play.step();
  play.step();
  EXPECT_EQ(play.status_writes(), 2);
}

TEST(Plan, fails_only_by_failures_that_are_not_tolerated_and_lets_branches_go_on) {
  Play play(R"(
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    steps:
      a: {template: {name: t}}
      b: {template: {name: t}, dependencies: [a]}
      c: {template: {name: t}, dependencies: [b]}
      other: {template: {name: t}}
      clean: {template: {name: t}, dependencies: [c], trigger: AllTerminated}
  )");
  play.step();
  play.fail("a", "BackoffLimitExceeded");
  EXPECT_EQ(play.created(play.step()), (Names{"clean"}));
  EXPECT_EQ(play.record("b")["phase"].as_string(), "Unreachable");
  EXPECT_EQ(play.record("c")["reason"].as_string(), "JoinFailed");
  EXPECT_EQ(play.record("other")["phase"].as_string(), "Running");
  play.finish("other");
  play.finish("clean");
  play.step();
  EXPECT_TRUE(kube::is_true(play.workflow(), "Failed"));
  EXPECT_EQ(kube::condition(play.workflow(), "Failed")["message"].as_string(),
            "step \"a\" failed: BackoffLimitExceeded: Job has reached the specified backoff limit");
}

TEST(Plan, is_the_proposal_to_the_letter_when_all_is_tolerated_and_waits_for_the_end_only) {
  Play play(R"(
    trigger: AllTerminated
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    steps:
      a: {template: {name: t}, tolerated: true}
      b: {template: {name: t}, tolerated: true, dependencies: [a]}
  )");
  play.step();
  play.fail("a", "BackoffLimitExceeded");
  EXPECT_EQ(play.created(play.step()), (Names{"b"}));
  play.finish("b");
  play.step();
  EXPECT_TRUE(kube::is_true(play.workflow(), "Complete"));
}

const char* const kRetry = R"(
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    steps:
      a: {template: {name: t}, retry: {limit: 3, backoff: {duration: 10s, factor: 3, cap: 40s}}}
)";

TEST(Plan, retries_with_growing_pauses_and_then_fails) {
  Play play(kRetry);
  play.step();
  for (const int wait : {10, 30, 40}) {
    play.fail("a", "BackoffLimitExceeded");
    const Actions actions = play.step();
    EXPECT_TRUE(actions.create.empty());
    ASSERT_TRUE(actions.timer);
    EXPECT_EQ(*actions.timer - play.now(), seconds{wait});
    EXPECT_EQ(play.record("a")["reason"].as_string(), "RetryBackOff");
    play.pass(seconds{wait} - Duration{1});
    EXPECT_TRUE(play.step().create.empty());
    play.pass(Duration{1});
    EXPECT_EQ(play.created(play.step()), (Names{"a"}));
  }
  EXPECT_EQ(play.record("a")["attempts"].as_int(), 4);
  EXPECT_EQ(play.jobs().size(), 4u);
  play.fail("a", "BackoffLimitExceeded");
  play.step();
  EXPECT_EQ(play.record("a")["phase"].as_string(), "Failed");
  EXPECT_TRUE(kube::is_true(play.workflow(), "Failed"));
}

TEST(Plan, forgets_no_attempt_when_finished_jobs_are_removed) {
  Play play(kRetry);
  play.step();
  play.fail("a", "BackoffLimitExceeded");
  play.step();
  play.forget_jobs();
  EXPECT_TRUE(play.step().create.empty());
  play.pass(seconds{10});
  EXPECT_EQ(play.created(play.step()), (Names{"a"}));
  EXPECT_EQ(play.record("a")["attempts"].as_int(), 2);
  play.finish("a");
  play.step();
  play.forget_jobs();
  EXPECT_TRUE(play.step().create.empty());
  EXPECT_TRUE(kube::is_true(play.workflow(), "Complete"));
}

TEST(Plan, creates_a_recorded_attempt_again_until_its_job_is_there) {
  Play play(kRetry);
  const Actions first = play.step(Play::Jobs::Lost);  // the process died between the record and the create
  EXPECT_EQ(play.created(first), (Names{"a"}));
  const Actions second = play.step();
  EXPECT_EQ(second.create, first.create);
  EXPECT_FALSE(second.status);
}

TEST(Plan, releases_a_job_that_deletes_itself_only_when_its_end_is_recorded) {
  Play play(
      "{steps: {a: {jobTemplate: {spec: {ttlSecondsAfterFinished: 0, template: {spec: {restartPolicy: Never, containers: "
      "[{name: m}]}}}}}}}");
  const Actions first = play.step();
  EXPECT_TRUE(first.release.empty());
  EXPECT_TRUE(kube::has_finalizer(play.job("a"), kJobFinalizer));
  play.finish("a");
  const Actions last = play.step();
  EXPECT_TRUE(last.status);
  EXPECT_EQ(last.release, (Names{job_name("w", "u-1", "a", 1)}));
}

TEST(Plan, ends_a_step_that_takes_too_long_all_attempts_together) {
  Play play(R"(
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    steps: {a: {template: {name: t}, timeoutSeconds: 15, retry: {limit: 9, backoff: {duration: 10s}}}}
  )");
  play.step();
  play.pass(seconds{3});
  play.fail("a", "BackoffLimitExceeded");
  play.step();
  play.pass(seconds{10});
  EXPECT_EQ(play.created(play.step()), (Names{"a"}));
  play.pass(seconds{2});
  const Actions actions = play.step();
  EXPECT_EQ(play.record("a")["reason"].as_string(), "StepTimeout");
  ASSERT_EQ(actions.remove.size(), 1u);
  EXPECT_EQ(actions.remove[0].name, job_name("w", "u-1", "a", 2));
}

TEST(Plan, fails_at_the_deadline_cancels_what_runs_and_keeps_what_has_ended) {
  Play play(std::string(kDiamond) + "    activeDeadlineSeconds: 60\n");
  EXPECT_EQ(*play.step().timer - play.now(), seconds{60});
  play.pass(seconds{20});
  play.finish("one");
  play.step();
  play.pass(seconds{40});
  const Actions actions = play.step();
  EXPECT_EQ(kube::condition(play.workflow(), "Failed")["reason"].as_string(), "DeadlineExceeded");
  EXPECT_EQ(actions.remove.size(), 2u);
  EXPECT_EQ(play.record("one")["phase"].as_string(), "Succeeded");
  EXPECT_EQ(play.record("two")["phase"].as_string(), "Cancelled");
  EXPECT_EQ(play.record("four")["phase"].as_string(), "Cancelled");
  EXPECT_EQ(actions.events.back().reason, "WorkflowEnded");
  EXPECT_TRUE(play.step().remove.size() == 2) << "asked for until the Jobs are gone";
}

TEST(Plan, lets_running_jobs_end_while_suspended) {
  Play play(kDiamond);
  play.step();
  play.edit([](Value spec) { return spec.with("suspend", true); });
  play.finish("one");
  EXPECT_TRUE(play.step().create.empty());
  EXPECT_TRUE(kube::is_true(play.workflow(), "Suspended"));
  EXPECT_EQ(play.status()["phase"].as_string(), "Suspended");
  play.edit([](Value spec) { return spec.with("suspend", false); });
  EXPECT_EQ(play.created(play.step()), (Names{"three", "two"}));
  EXPECT_EQ(kube::condition(play.workflow(), "Suspended")["status"].as_string(), "False");
}

TEST(Plan, starts_no_clock_for_a_workflow_that_is_created_suspended) {
  Play play(std::string(kDiamond) + "    suspend: true\n    activeDeadlineSeconds: 5\n");
  const Actions actions = play.step();
  EXPECT_EQ(actions.events.size(), 1u);
  EXPECT_FALSE(play.status().has("startTime"));
  EXPECT_FALSE(actions.timer);
  play.pass(seconds{100});
  play.edit([](Value spec) { return spec.with("suspend", false); });
  const Actions started = play.step();
  EXPECT_EQ(started.events.at(0).reason, "WorkflowStarted");
  EXPECT_EQ(play.created(started), (Names{"one"}));
}

TEST(Plan, holds_a_suspended_step_where_it_would_start) {
  Play play(kDiamond);
  play.edit([](Value spec) { return spec.with_path({"steps", "two", "suspend"}, true); });
  play.step();
  EXPECT_FALSE(play.status()["statuses"].has("two"));
  play.finish("one");
  EXPECT_EQ(play.created(play.step()), (Names{"three"}));
  EXPECT_EQ(play.record("two")["phase"].as_string(), "Suspended");
  EXPECT_EQ(play.status()["waitsFor"].as_string(), "three, two (suspended)");
  play.edit([](Value spec) { return spec.with_path({"steps", "two", "suspend"}, false); });
  EXPECT_EQ(play.created(play.step()), (Names{"two"}));
}

TEST(Plan, runs_no_more_steps_at_once_than_allowed) {
  Play play(R"(
    parallelism: 2
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    steps: {a: {template: {name: t}}, b: {template: {name: t}}, c: {template: {name: t}}}
  )");
  EXPECT_EQ(play.created(play.step()), (Names{"a", "b"}));
  EXPECT_TRUE(play.step().create.empty());
  play.finish("b");
  EXPECT_EQ(play.created(play.step()), (Names{"c"}));
}

TEST(Plan, runs_a_step_and_what_depends_on_it_again) {
  Play play(kDiamond);
  play.run_to_end();
  EXPECT_TRUE(kube::is_true(play.workflow(), "Complete"));
  play.edit([](Value spec) { return spec.with("rerun", json::object({{"id", "r1"}, {"from", "two"}})); });
  const Actions actions = play.step();
  EXPECT_EQ(play.created(actions), (Names{"two"}));
  EXPECT_EQ(actions.events.at(0).reason, "WorkflowStarted");
  EXPECT_EQ(actions.events.at(0).instance, "r1");
  EXPECT_FALSE(kube::is_true(play.workflow(), "Complete"));
  EXPECT_EQ(play.record("three")["phase"].as_string(), "Succeeded");
  EXPECT_EQ(play.record("two")["attempts"].as_int(), 2);
  EXPECT_EQ(play.status()["rerun"].as_string(), "r1");
  play.finish("two");
  EXPECT_EQ(play.created(play.step()), (Names{"four"}));
  play.finish("four");
  const Actions last = play.step();
  EXPECT_TRUE(kube::is_true(play.workflow(), "Complete"));
  EXPECT_EQ(last.events.at(0).instance, "r1") << "an event of its own";
  EXPECT_EQ(play.jobs().size(), 6u);
}

TEST(Plan, stops_what_runs_behind_a_step_that_is_to_run_again) {
  Play play(kDiamond);
  play.step();
  play.finish("one");
  play.step();
  play.finish("two");
  play.step();
  play.edit([](Value spec) { return spec.with("rerun", json::object({{"id", "r1"}, {"from", "one"}})); });
  const Actions actions = play.step();
  EXPECT_EQ(play.created(actions), (Names{"one"}));
  ASSERT_EQ(actions.remove.size(), 1u);
  EXPECT_EQ(actions.remove[0].name, job_name("w", "u-1", "three", 1));
  EXPECT_FALSE(play.record("two").has("completionTime"));
  play.finish("one");
  EXPECT_EQ(play.created(play.step()), (Names{"three", "two"}));
  EXPECT_EQ(play.record("three")["attempts"].as_int(), 2);
}

TEST(Plan, counts_retries_anew_in_a_rerun) {
  Play play(kRetry);
  play.step();
  for (int i = 0; i < 4; ++i) {
    play.fail("a", "BackoffLimitExceeded");
    play.step();
    play.pass(seconds{40});
    play.step();
  }
  EXPECT_TRUE(kube::is_true(play.workflow(), "Failed"));
  play.edit([](Value spec) { return spec.with("rerun", json::object({{"id", "r1"}})); });
  EXPECT_EQ(play.created(play.step()), (Names{"a"}));
  EXPECT_EQ(play.record("a")["attempts"].as_int(), 5);
  play.fail("a", "BackoffLimitExceeded");
  const Actions actions = play.step();
  EXPECT_EQ(*actions.timer - play.now(), seconds{10});
}

TEST(Plan, starts_no_retry_from_a_template_that_was_changed_past_admission) {
  Play play(kRetry);
  play.step();
  play.fail("a", "BackoffLimitExceeded");
  play.step();
  play.edit([](Value spec) { return spec.with_path({"templates", "t", "spec", "backoffLimit"}, 7); });
  play.pass(seconds{10});
  EXPECT_TRUE(play.step().create.empty());
  EXPECT_EQ(play.record("a")["reason"].as_string(), "TemplateChanged");
}

// External steps ------------------------------------------------------------------------------------------------------------

const char* const kExternal = R"(
    templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}
    steps:
      wait: {externalRef: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: other}}
      a: {template: {name: t}, dependencies: [wait]}
)";

Value other(std::string_view uid, std::string_view condition = "") {
  Value object =
      yaml(fmt::format("{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: other, uid: {}}}}}", uid));
  if (condition.empty()) return object;
  return object.with("status", yaml(fmt::format("{{conditions: [{{type: {}, status: 'True', reason: Because}}]}}", condition)));
}

TEST(Plan, waits_for_an_external_object_and_pins_the_first_it_sees) {
  Play play(kExternal);
  EXPECT_TRUE(play.step().create.empty());
  EXPECT_EQ(play.record("wait")["reason"].as_string(), "ExternalMissing");
  play.external(other("x-1"));
  play.step();
  EXPECT_EQ(play.record("wait")["reason"].as_string(), "ExternalPending");
  EXPECT_EQ(play.record("wait")["reference"]["uid"].as_string(), "x-1");
  play.external(other("x-1", "Complete"));
  EXPECT_EQ(play.created(play.step()), (Names{"a"}));
  EXPECT_EQ(play.record("wait")["phase"].as_string(), "Succeeded");
}

TEST(Plan, fails_a_step_whose_external_object_fails_goes_or_is_replaced) {
  for (const auto& [next, reason] : std::vector<std::pair<Value, std::string>>{
           {other("x-1", "Failed"), "ExternalFailed"}, {Value(), "ExternalGone"}, {other("x-2", "Complete"), "ExternalGone"}}) {
    Play play(kExternal);
    play.external(other("x-1"));
    play.step();
    play.external(next);
    play.step();
    EXPECT_EQ(play.record("wait")["phase"].as_string(), "Failed");
    EXPECT_EQ(play.record("wait")["reason"].as_string(), reason);
    EXPECT_EQ(play.record("a")["phase"].as_string(), "Unreachable");
  }
}

TEST(Plan, waits_for_the_condition_that_until_names) {
  Play play(R"(
    steps: {db: {externalRef: {apiVersion: v1, kind: Pod, name: db}, until: {condition: Ready}}}
  )");
  play.external(yaml(
      "{apiVersion: v1, kind: Pod, metadata: {name: db, uid: p}, status: {conditions: [{type: Ready, status: 'False'}]}}"));
  play.step();
  EXPECT_EQ(play.record("db")["message"].as_string(), "Pod db is not Ready=True yet");
  play.external(
      yaml("{apiVersion: v1, kind: Pod, metadata: {name: db, uid: p}, status: {conditions: [{type: Ready, status: 'True'}]}}"));
  play.step();
  EXPECT_TRUE(kube::is_true(play.workflow(), "Complete"));
}

TEST(Cycle, is_found_from_each_of_its_workflows_and_from_no_other) {
  const std::map<std::string, Names> waits = {{"a", {"x", "b"}}, {"b", {"c"}}, {"c", {"a"}}, {"d", {"a"}}};
  const auto waits_of = [&](const std::string& name) { return waits.contains(name) ? waits.at(name) : Names{}; };
  EXPECT_EQ(find_cycle("a", "b", waits_of), (Names{"a", "b", "c"}));
  EXPECT_EQ(find_cycle("b", "c", waits_of), (Names{"b", "c", "a"}));
  EXPECT_EQ(find_cycle("d", "a", waits_of), Names{});
  EXPECT_EQ(find_cycle("a", "x", waits_of), Names{});
}

TEST(Cycle, counts_a_workflow_that_has_already_failed_for_it) {
  const Value workflow = yaml(R"({metadata: {namespace: team}, spec: {steps: {
      wait: {externalRef: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: b}},
      elsewhere: {externalRef: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: b, cluster: c}},
      job: {externalRef: {apiVersion: batch/v1, kind: Job, name: b}}}}})");
  const auto with = [&](const char* record) {
    return waited_workflows(workflow, [&](const std::string& step) { return step == "job" ? Value() : yaml(record); });
  };
  EXPECT_EQ(with("{phase: Running}"), (Names{"team/b"}));
  EXPECT_EQ(with("{phase: Failed, reason: ExternalCycle}"), (Names{"team/b"}));
  EXPECT_EQ(with("{phase: Failed, reason: ExternalFailed}"), Names{});
  EXPECT_EQ(with("{phase: Blocked}"), Names{});
}

// What is wrong -------------------------------------------------------------------------------------------------------------

TEST(Plan, gives_a_spec_that_cannot_be_run_a_condition_once) {
  Play play("{steps: {a: {dependencies: [a]}}}");
  const Actions actions = play.step();
  EXPECT_TRUE(actions.create.empty() && actions.events.empty());
  EXPECT_TRUE(kube::is_true(play.workflow(), "Invalid"));
  EXPECT_EQ(play.status()["phase"].as_string(), "Invalid");
  EXPECT_FALSE(play.step().status);
}

// Large graphs --------------------------------------------------------------------------------------------------------------

TEST(Plan, keeps_the_records_of_large_graphs_in_sets) {
  std::string spec = "templates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}\nsteps:\n";
  for (int i = 0; i < 1001; ++i) spec += fmt::format("  s{:04}: {{template: {{name: t}}}}\n", i);
  Play play(spec);
  const Actions actions = play.step();
  EXPECT_EQ(actions.create.size(), 1001u);
  EXPECT_EQ(actions.sets.size(), 8u);
  EXPECT_FALSE(play.status().has("statuses"));
  EXPECT_EQ(play.status()["stepSets"].as_int(), 8);
  EXPECT_EQ(play.status()["frontier"].size(), 100u);
  EXPECT_EQ(play.status()["counts"]["running"].as_int(), 1001);
  play.finish("s0500");
  play.fail("s0001", "BackoffLimitExceeded");
  const Actions next = play.step();
  EXPECT_LE(next.sets.size(), 2u) << "only the sets that changed";
  EXPECT_EQ(play.status()["failures"].item(0)["step"].as_string(), "s0001");
  EXPECT_EQ(play.record("s0500")["phase"].as_string(), "Succeeded");
  EXPECT_FALSE(play.step().status);
  // A kept Flow writes the sets at once, the sum of them only from time to time.
  Flow flow(*Program::compile(play.workflow()), play.workflow(), play.step_sets());
  const auto see = [&](std::string_view step) {
    flow.see_job(
        {.name = "j", .uid = "j", .step = std::string(step), .attempt = 1, .is_finished = true, .reason = "", .message = ""});
    flow.decide(play.now());
  };
  for (const auto& [name, job] : play.jobs()) flow.see_job(job_view(job));
  see("s0700");
  EXPECT_TRUE(flow.take(play.now(), seconds{1}).status) << "the first is due";
  see("s0701");
  const Actions soon = flow.take(play.now(), seconds{1});
  EXPECT_EQ(soon.sets.size(), 1u);
  EXPECT_FALSE(soon.status);
  EXPECT_EQ(soon.timer, play.now() + seconds{1});
  EXPECT_TRUE(flow.take(play.now() + seconds{1}, seconds{1}).status);
  // The bitmap pins what has started.
  Value changed = play.workflow().with_path({"spec", "steps", "s0007", "tolerated"}, true);
  const auto causes = validate(changed, play.workflow());
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0].field, "spec.steps[s0007]");
}

TEST(Plan, moves_the_records_of_a_graph_that_grows_large) {
  std::string spec =
      "parallelism: 2\ntemplates: {t: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: m}]}}}}}\nsteps:\n";
  for (int i = 0; i < 1000; ++i) spec += fmt::format("  s{:04}: {{template: {{name: t}}}}\n", i);
  Play play(spec);
  play.step();
  play.finish("s0000");
  play.step();
  EXPECT_EQ(play.status()["statuses"].size(), 3u);
  play.edit([](Value old) { return old.with_path({"steps", "s1000"}, yaml("{template: {name: t}}")); });
  const Actions actions = play.step();
  EXPECT_EQ(actions.sets.size(), 1u) << "only the set with records";
  EXPECT_FALSE(play.status().has("statuses"));
  EXPECT_EQ(play.record("s0000")["phase"].as_string(), "Succeeded");
  play.finish("s0001");
  EXPECT_EQ(play.created(play.step()), (Names{"s0003"}));
  EXPECT_EQ(play.status()["counts"]["succeeded"].as_int(), 2);
}

}  // namespace
}  // namespace slipway::delivery::jobflow
