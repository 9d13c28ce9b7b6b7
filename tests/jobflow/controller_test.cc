// The Workflow controller against the real server, Job controller and simulated pods, in virtual time.
#include <gtest/gtest.h>

#include "plane_fixture.h"

namespace slipway::jobflow_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Names = std::vector<std::string>;

using Workflow = PlaneTest;

std::string diamond(std::string_view more = "", std::string_view join = "") {
  return fmt::format(
      "{{templates: {{t: {}}}, steps: {{one: {{template: {{name: t}}}}, two: {{template: {{name: t}}, dependencies: [one]}}, "
      "three: {{template: {{name: t}}, dependencies: [one]}}, four: {{jobTemplate: {}, dependencies: [two, three]}}}}{}}}",
      job("slipway.dev/run-time: 10s"), join.empty() ? job("slipway.dev/run-time: 10s") : std::string(join), more);
}

TEST_F(Workflow, runs_a_diamond_to_its_end_in_the_time_of_its_longest_path) {
  const Time began = now();
  make("d", diamond());
  const Value end = end_of("d");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(now() - began, seconds{30});
  EXPECT_EQ(attempts(), (Names{"four/1", "one/1", "three/1", "two/1"}));
  EXPECT_EQ(end["status"]["progress"].as_string(), "4/4");
  EXPECT_EQ(events_about("d"), (Names{"WorkflowCreated", "WorkflowEnded", "WorkflowStarted"}));
}

TEST_F(Workflow, costs_few_writes) {
  make("w", fmt::format("{{steps: {{a: {{jobTemplate: {}}}}}}}", job()));
  const auto before = api_->store().revision();
  const Value end = end_of("w");
  advance(seconds{10});
  const auto events = static_cast<std::int64_t>(list(kEvents).size());
  const auto writes = api_->store().revision() - before + 1 - events;
  RecordProperty("writes", static_cast<int>(writes));
  fmt::print("writes per workflow without events: {}, events: {}\n", writes, events);
  EXPECT_LE(writes, 12);
}

TEST_F(Workflow, goes_on_after_a_restart) {
  make("d", diamond());
  advance(seconds{15});
  restart();
  advance(seconds{3});
  restart();
  const Value end = end_of("d");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(attempts(), (Names{"four/1", "one/1", "three/1", "two/1"}));
  EXPECT_EQ(events_about("d"), (Names{"WorkflowCreated", "WorkflowEnded", "WorkflowStarted"}));
}

TEST_F(Workflow, tries_a_failed_step_again_as_a_new_job) {
  make("r", fmt::format("{{steps: {{a: {{jobTemplate: {}, retry: {{limit: 3, backoff: {{duration: 5s, factor: 2}}}}}}}}}}",
                        job("slipway.dev/exit-code: '1,1,0', slipway.dev/run-time: 1s")));
  const Time began = now();
  const Value end = end_of("r");
  EXPECT_TRUE(kube::is_true(end, "Complete")) << json::print_pretty(end["status"]);
  EXPECT_EQ(now() - began, seconds{1 + 5 + 1 + 10 + 1});
  EXPECT_EQ(attempts(), (Names{"a/1", "a/2", "a/3"}));
  EXPECT_EQ(end["status"]["statuses"]["a"]["attempts"].as_int(), 3);
}

TEST_F(Workflow, fails_by_a_failed_step_and_says_which) {
  make("f", diamond("", job("slipway.dev/exit-code: '3'")));
  const Value end = end_of("f");
  EXPECT_EQ(end["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ(phase(end, "four"), "Failed");
  EXPECT_EQ(reason(end, "four"), "BackoffLimitExceeded");
}

TEST_F(Workflow, deletes_what_runs_at_the_deadline) {
  make("d", diamond(", activeDeadlineSeconds: 15"));
  const Time began = now();
  const Value end = end_of("d");
  EXPECT_EQ(now() - began, seconds{15});
  EXPECT_EQ(kube::condition(end, "Failed")["reason"].as_string(), "DeadlineExceeded");
  EXPECT_EQ(phase(end, "one"), "Succeeded");
  EXPECT_EQ(phase(end, "two"), "Cancelled");
  EXPECT_EQ(phase(end, "four"), "Cancelled");
  advance(seconds{60});
  EXPECT_EQ(attempts(), (Names{"one/1"}));
}

TEST_F(Workflow, runs_again_from_a_step) {
  make("d", diamond());
  end_of("d");
  ASSERT_TRUE(patch("d", "{rerun: {id: r1, from: two}}"));
  advance(milliseconds{1});
  EXPECT_FALSE(has_ended(workflow("d")));
  const Value end = end_of("d");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(attempts(), (Names{"four/1", "four/2", "one/1", "three/1", "two/1", "two/2"}));
  EXPECT_EQ(events_about("d"),
            (Names{"WorkflowCreated", "WorkflowEnded", "WorkflowEnded", "WorkflowStarted", "WorkflowStarted"}));
}

TEST_F(Workflow, waits_for_another_workflow_and_for_a_job) {
  make("late",
       fmt::format("{{steps: {{wait: {{externalRef: {{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: early}}}}, "
                   "job: {{externalRef: {{apiVersion: batch/v1, kind: Job, name: alone}}}}, "
                   "a: {{jobTemplate: {}, dependencies: [wait, job]}}}}}}",
                   job()));
  advance(seconds{5});
  EXPECT_EQ(reason(workflow("late"), "wait"), "ExternalMissing");
  make("early", diamond());
  advance(seconds{1});
  EXPECT_EQ(reason(workflow("late"), "wait"), "ExternalPending");
  ASSERT_TRUE(
      create(kJobs, yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: alone, namespace: default}, spec: {template: "
                         "{metadata: {annotations: "
                         "{slipway.dev/run-time: 100s}}, spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}")));
  const Value end = end_of("late");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_FALSE(end["status"]["statuses"]["wait"]["reference"]["uid"].as_string().empty());
}

TEST_F(Workflow, fails_a_step_whose_external_object_goes) {
  make("late", "{steps: {wait: {externalRef: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: early}}}}");
  make("early", diamond());
  advance(seconds{5});
  remove("early");
  const Value end = end_of("late");
  EXPECT_EQ(reason(end, "wait"), "ExternalGone");
}

TEST_F(Workflow, waits_for_a_condition_of_any_kind_that_is_served) {
  make("w",
       "{steps: {db: {externalRef: {apiVersion: v1, kind: Pod, name: db}, until: {condition: Ready}}, "
       "tide: {externalRef: {apiVersion: sea.example.com/v1, kind: Tide, name: high}, until: {condition: Turned}}}}");
  advance(seconds{7});
  EXPECT_EQ(reason(workflow("w"), "db"), "ExternalMissing");
  EXPECT_EQ(workflow("w")["status"]["statuses"]["tide"]["message"].as_string(), "Tide of sea.example.com/v1 is not served");
  ASSERT_TRUE(create(
      kPods,
      yaml(
          "{apiVersion: v1, kind: Pod, metadata: {name: db, namespace: default}, spec: {containers: [{name: m, image: i}]}}")));
  ASSERT_TRUE(create({"apiextensions.k8s.io", "v1", "customresourcedefinitions"},
                     yaml("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
                          "tides.sea.example.com}, spec: {group: "
                          "sea.example.com, scope: Namespaced, names: {kind: Tide, plural: tides, singular: tide, listKind: "
                          "TideList}, versions: [{name: v1, "
                          "served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
                          "x-kubernetes-preserve-unknown-fields: true}}}]}}")));
  advance(seconds{1});
  ASSERT_TRUE(create({"sea.example.com", "v1", "tides"},
                     yaml("{apiVersion: sea.example.com/v1, kind: Tide, metadata: {name: high, namespace: default}, status: "
                          "{conditions: [{type: Turned, status: 'True'}]}}")));
  EXPECT_TRUE(kube::is_true(end_of("w", std::chrono::minutes{1}), "Complete"));
}

TEST_F(Workflow, finds_workflows_that_wait_for_each_other) {
  for (const auto& [name, other] :
       std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"b", "c"}, {"c", "a"}, {"d", "a"}}) {
    make(name, fmt::format(
                   "{{steps: {{wait: {{externalRef: {{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: {}}}}}}}}}",
                   other));
  }
  for (const auto* name : {"a", "b", "c"}) EXPECT_EQ(reason(end_of(name), "wait"), "ExternalCycle") << name;
  EXPECT_EQ(reason(end_of("d"), "wait"), "ExternalFailed");
}

TEST_F(Workflow, takes_its_running_jobs_along_when_deleted_and_tells_it_once) {
  make("early", diamond());
  make("late", fmt::format("{{steps: {{wait: {{externalRef: {{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: "
                           "early}}}}, a: {{jobTemplate: {}}}}}}}",
                           job("slipway.dev/run-time: 1000s")));
  advance(seconds{1});
  remove("late");
  advance(seconds{60});
  EXPECT_TRUE(workflow("late").is_null());
  EXPECT_FALSE(workflow("early").is_null());
  for (const Value& one : list(kJobs)) EXPECT_EQ(kube::controller_of(one)["name"].as_string(), "early");
  EXPECT_EQ(events_about("late"), (Names{"WorkflowCreated", "WorkflowDeleted", "WorkflowStarted"}));
}

TEST_F(Workflow, leaves_its_jobs_when_orphaned) {
  make("d", diamond());
  advance(seconds{1});
  remove("d", "Orphan");
  advance(seconds{60});
  EXPECT_TRUE(workflow("d").is_null());
  EXPECT_EQ(attempts(), (Names{"one/1"}));
}

TEST_F(Workflow, never_runs_a_step_again_whose_job_removed_itself) {
  make("t",
       fmt::format("{{steps: {{a: {{jobTemplate: {}}}, b: {{jobTemplate: {}, dependencies: [a]}}}}}}",
                   job("", "ttlSecondsAfterFinished: 0, "), job("slipway.dev/run-time: 100s", "ttlSecondsAfterFinished: 0, ")));
  advance(seconds{50});
  EXPECT_EQ(attempts(), (Names{"b/1"}));
  restart();
  const Value end = end_of("t");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  advance(seconds{10});
  EXPECT_TRUE(attempts().empty());
}

/// A step whose Job the server would refuse.
constexpr const char* kRefusedSteps =
    "{steps: {a: {jobTemplate: {spec: {completionMode: Nonsense, template: {spec: {restartPolicy: Never, containers: "
    "[{name: m, image: i}]}}}}}}}";

Value workflow_object(std::string_view name, std::string_view spec) {
  return yaml(fmt::format(
      "{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: {}, namespace: default}}, spec: {}}}", name,
      spec));
}

/// A server over the same store that validates no workflow: what was written before a rule came is like that.
server::Options unchecked() {
  server::Options options;
  options.admission = plane::admission_rows();
  for (kube::AdmissionRow& row : options.admission) row.validate = nullptr;
  return options;
}

TEST_F(Workflow, fails_a_step_whose_job_the_server_refuses) {
  server::Server elsewhere(env_->env(), api_->store(), unchecked());
  ASSERT_TRUE(env_->run(elsewhere.start()));
  const auto made = env_->run(client::create(elsewhere, kWorkflows, workflow_object("x", kRefusedSteps), "tester"));
  ASSERT_TRUE(made) << made.error().message;
  const Value end = end_of("x");
  EXPECT_EQ(reason(end, "a"), "JobRefused");
}

TEST_F(Workflow, is_refused_with_a_template_whose_job_the_server_would_refuse) {
  const auto causes = [&](std::string_view spec) {
    const auto made = create(kWorkflows, workflow_object("x", spec));
    Names out;
    if (made) return out;
    for (const Cause& cause : made.error().causes) out.push_back(cause.field + ": " + cause.message);
    return out;
  };
  EXPECT_EQ(causes(kRefusedSteps), (Names{"spec.steps[a].jobTemplate.spec.completionMode: Unsupported value: \"Nonsense\": "
                                          "supported values: \"Indexed\", \"NonIndexed\""}));
  const std::string pod = "spec: {restartPolicy: Never, containers: [{name: m, image: i}]}";
  const std::string labelled = "{spec: {template: {metadata: {labels: {'x: y': z}}, " + pod + "}}}";
  const std::string what = "Invalid value: \"x: y\": ";
  const auto inline_label = causes("{steps: {a: {jobTemplate: " + labelled + "}}}");
  ASSERT_EQ(inline_label.size(), 1U);
  EXPECT_TRUE(inline_label[0].starts_with("spec.steps[a].jobTemplate.spec.template.metadata.labels: " + what))
      << inline_label[0];
  const auto shared_label =
      causes("{templates: {t: " + labelled + "}, steps: {a: {template: {name: t}}, b: {template: {name: t}}}}");
  ASSERT_EQ(shared_label.size(), 1U) << "a template is named once";
  EXPECT_TRUE(shared_label[0].starts_with("spec.templates[t].spec.template.metadata.labels: " + what)) << shared_label[0];
  EXPECT_EQ(causes("{steps: {a: {jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: M_m, image: "
                   "i}]}}}}}}}")
                .size(),
            1U);
}

TEST_F(Workflow, the_server_says_the_same_of_a_job_and_of_its_template) {
  for (const char* bad :
       {"{completionMode: Nope, template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}",
        "{template: {spec: {restartPolicy: Never, containers: [{name: m, image: i, ports: [{containerPort: 0}]}]}}}",
        "{backoffLimitPerIndex: 1, template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}"}) {
    const auto job_made = create(
        kJobs,
        yaml(fmt::format("{{apiVersion: batch/v1, kind: Job, metadata: {{name: j, namespace: default}}, spec: {}}}", bad)));
    const auto made =
        create(kWorkflows, workflow_object("x", fmt::format("{{steps: {{a: {{jobTemplate: {{spec: {}}}}}}}}}", bad)));
    ASSERT_FALSE(job_made) << bad;
    ASSERT_FALSE(made) << bad;
    ASSERT_EQ(made.error().causes.size(), job_made.error().causes.size()) << made.error().message;
    for (std::size_t i = 0; i < made.error().causes.size(); ++i) {
      EXPECT_EQ(made.error().causes[i].field, "spec.steps[a].jobTemplate." + job_made.error().causes[i].field);
      EXPECT_EQ(made.error().causes[i].message, job_made.error().causes[i].message);
    }
  }
}

TEST_F(Workflow, templates_that_stay_as_they_are_do_not_hold_up_a_change) {
  server::Server elsewhere(env_->env(), api_->store(), unchecked());
  ASSERT_TRUE(env_->run(elsewhere.start()));
  const std::string steps(kRefusedSteps);
  const std::string suspended = "{suspend: true, " + steps.substr(1);
  ASSERT_TRUE(env_->run(client::create(elsewhere, kWorkflows, workflow_object("x", suspended), "tester")));
  const auto patched = patch("x", "{parallelism: 3}");
  EXPECT_TRUE(patched) << patched.error().message;
  EXPECT_FALSE(patch("x",
                     "{steps: {b: {jobTemplate: {spec: {completionMode: Other, template: {spec: {restartPolicy: Never, "
                     "containers: [{name: m, image: i}]}}}}}}}"));
}

TEST_F(Workflow, makes_a_running_job_again_that_somebody_deleted) {
  make("d", fmt::format("{{steps: {{a: {{jobTemplate: {}}}}}}}", job("slipway.dev/run-time: 10s")));
  advance(seconds{1});
  const auto jobs = list(kJobs);
  ASSERT_EQ(jobs.size(), 1u);
  ASSERT_TRUE(env_->run(client::remove(server(), kJobs, kube::key_of(jobs[0]))));
  const Value end = end_of("d");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_EQ(attempts(), (Names{"a/1"}));
}

TEST_F(Workflow, takes_new_steps_while_it_runs) {
  make("d", diamond());
  advance(seconds{15});
  ASSERT_TRUE(patch("d", fmt::format("{{steps: {{five: {{template: {{name: t}}, dependencies: [one]}}}}}}")));
  const auto refused = patch("d", "{steps: {one: {tolerated: true}}}");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().causes.at(0).field, "spec.steps[one]");
  const Value end = end_of("d");
  EXPECT_EQ(phase(end, "five"), "Succeeded");
}

TEST_F(Workflow, holds_and_lets_go) {
  make("d", diamond(", suspend: true"));
  advance(seconds{100});
  EXPECT_TRUE(attempts().empty());
  EXPECT_EQ(workflow("d")["status"]["phase"].as_string(), "Suspended");
  ASSERT_TRUE(patch("d", "{suspend: false}"));
  EXPECT_TRUE(kube::is_true(end_of("d"), "Complete"));
}

TEST_F(Workflow, may_be_applied_again_unchanged_and_only_so_once_it_runs) {
  const auto apply = [&](std::string_view steps) {
    const std::string text = fmt::format(
        "{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: w, namespace: default}}, spec: {{steps: "
        "{{{}}}}}}}",
        steps);
    return env_->run(client::apply(server(), kWorkflows, yaml(text), "user"));
  };
  const std::string one = fmt::format("a: {{jobTemplate: {}}}", job("slipway.dev/run-time: 10s"));
  ASSERT_TRUE(apply(one));
  advance(seconds{5});
  const auto revision = api_->store().revision();
  ASSERT_TRUE(apply(one));
  EXPECT_EQ(api_->store().revision(), revision);
  const auto changed = apply(fmt::format("a: {{jobTemplate: {}, tolerated: true}}", job("slipway.dev/run-time: 10s")));
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().causes.at(0).field, "spec.steps[a]");
  ASSERT_TRUE(apply(one + fmt::format(", b: {{jobTemplate: {}, dependencies: [a]}}", job())));
  EXPECT_EQ(phase(end_of("w"), "b"), "Succeeded");
}

TEST_F(Workflow, refuses_bad_input_and_changes_nothing) {
  const auto before = api_->store().revision();
  const auto made = create(
      kWorkflows, yaml("{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {name: x, namespace: default}, "
                       "spec: {steps: {a: {dependencies: {dependencyIDs: [b]}, objectReference: {kind: Job}}}}}"));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().reason, Reason::Invalid);
  EXPECT_NE(made.error().message.find("spec.steps[a].externalRef"), std::string::npos) << made.error().message;
  EXPECT_NE(made.error().message.find("write the names as a list"), std::string::npos) << made.error().message;
  EXPECT_EQ(api_->store().revision(), before);
}

}  // namespace
}  // namespace slipway::jobflow_test
