// Promises of the Workflow proposal (seed 003) that no other test shows; promises.tsv lists them all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../jobflow/plane_fixture.h"
#include "delivery/jobflow/render.h"
#include "go_types.h"

namespace slipway::jobflow_test {
namespace {

using std::chrono::seconds;
using Names = std::vector<std::string>;

class Seed003 : public PlaneTest {
 public:
  /// a (10 s), then b and c (10 s and 20 s), then d.
  Value make_diamond(std::string_view more = "") {
    return make("w",
                fmt::format("{{steps: {{a: {{jobTemplate: {0}}}, b: {{jobTemplate: {0}, dependencies: [a]}}, c: "
                            "{{jobTemplate: {1}, dependencies: [a]}}, d: {{jobTemplate: {0}, dependencies: [b, c]}}}}{2}}}",
                            job("slipway.dev/run-time: 10s"), job("slipway.dev/run-time: 20s"), more));
  }
  Value complete(const Value& workflow) { return kube::condition(workflow, "Complete"); }
  Names jobs_with(const std::string& selector) {
    auto found = env_->run(client::list(server(), kJobs, {.ns = "default", .label_selector = selector, .field_selector = ""}));
    EXPECT_TRUE(found) << (found ? "" : found.error().message);
    Names steps;
    if (found) {
      for (const Value& one : (*found)["items"].items()) {
        steps.emplace_back(kube::annotation(one, delivery::jobflow::kStepAnnotation));
      }
    }
    std::ranges::sort(steps);
    return steps;
  }
};

TEST_F(Seed003, workflow_and_its_list_are_rest_resources) {
  make_diamond();
  const auto all = env_->run(client::list(server(), kWorkflows, {.ns = "default", .label_selector = "", .field_selector = ""}));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ((*all)["kind"].as_string(), "WorkflowList");
  EXPECT_EQ((*all)["apiVersion"].as_string(), "batch.slipway.dev/v1alpha1");
  ASSERT_EQ((*all)["items"].size(), 1U);
  EXPECT_EQ((*all)["items"].item(0)["metadata"]["name"].as_string(), "w");
  EXPECT_EQ(workflow("w")["kind"].as_string(), "Workflow");
  ASSERT_TRUE(patch("w", "{parallelism: 2}"));
  EXPECT_EQ(workflow("w")["spec"]["parallelism"].as_int(), 2);
  remove("w");
  advance(seconds{60});
  EXPECT_TRUE(workflow("w").is_null());
}

TEST_F(Seed003, the_types_as_printed_are_those_of_the_crd) {
  const auto go = seeds_test::read_go("seed003/types.go");
  const Value schema = seeds_test::crd_schema("workflows.batch.slipway.dev.yaml");
  EXPECT_EQ(seeds_test::differences(go, "Workflow", schema, "", {"spec.steps{}.dependencies"}), Names{});
  EXPECT_EQ(seeds_test::differences(go, "WorkflowCondition",
                                    schema["properties"]["status"]["properties"]["conditions"]["items"], "condition"),
            Names{});
  // A list of names and nothing else is taken for dependencies.
  const std::string step = fmt::format("{{jobTemplate: {}, dependencies: ", job());
  for (const char* bad : {"a", "{a: b}", "[1]"}) {
    EXPECT_FALSE(
        create(kWorkflows, yaml(fmt::format("{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: {{name: "
                                            "x, namespace: default}}, spec: {{steps: {{a: {{jobTemplate: {}}}, b: "
                                            "{}{}}}}}}}}}",
                                            job(), step, bad))))
        << bad;
  }
}

TEST_F(Seed003, a_step_is_a_job_or_an_external_object_and_not_both) {
  const auto fault = [&](const std::string& step) {
    const auto made = create(kWorkflows, yaml(fmt::format("{{apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, metadata: "
                                                          "{{name: x, namespace: default}}, spec: {{steps: {{a: {{{}}}}}}}}}",
                                                          step)));
    return made ? std::string() : made.error().message;
  };
  const std::string own = fmt::format("jobTemplate: {}", job());
  const std::string external = "externalRef: {apiVersion: batch/v1, kind: Job, name: other}";
  EXPECT_TRUE(fault(own + ", " + external).contains("spec.steps[a]"));
  EXPECT_TRUE(fault("").contains("spec.steps[a]"));
  EXPECT_EQ(fault(own), "");
}

TEST_F(Seed003, a_step_is_postponed_until_all_before_it_have_completed) {
  make_diamond();
  const std::pair<int, Names> moments[] = {
      {5, {"a"}}, {10, {"a", "b", "c"}}, {10, {"a", "b", "c"}}, {10, {"a", "b", "c", "d"}}};  // at 5, 15, 25 and 35 s
  for (const auto& [wait, started] : moments) {
    advance(seconds{wait});
    EXPECT_EQ(jobs_with(""), started) << to_rfc3339(now());
  }
}

TEST_F(Seed003, the_deadline_counts_from_the_start) {
  make_diamond(", suspend: true, activeDeadlineSeconds: 15");
  advance(seconds{100});
  EXPECT_FALSE(has_ended(workflow("w"))) << "it has not started";
  ASSERT_TRUE(patch("w", "{suspend: false}"));
  const Time began = now();
  const Value end = end_of("w");
  EXPECT_EQ(now() - began, seconds{15});
  EXPECT_EQ(kube::condition(end, "Failed")["reason"].as_string(), "DeadlineExceeded");
}

TEST_F(Seed003, an_external_step_is_looked_at_after_its_dependencies) {
  ASSERT_TRUE(
      create(kJobs, yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: other, namespace: default}, spec: {template: "
                         "{spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}")));
  advance(seconds{5});
  make("w", fmt::format("{{steps: {{a: {{jobTemplate: {}}}, wait: {{externalRef: {{apiVersion: batch/v1, kind: Job, name: "
                        "other}}, dependencies: [a]}}}}}}",
                        job("slipway.dev/run-time: 30s")));
  advance(seconds{10});
  EXPECT_FALSE(workflow("w")["status"]["statuses"]["wait"]["complete"].as_bool()) << "though it has completed";
  const Value end = end_of("w");
  EXPECT_TRUE(end["status"]["statuses"]["wait"]["complete"].as_bool());
}

TEST_F(Seed003, the_condition_complete_has_all_its_fields) {
  make_diamond();
  advance(seconds{5});
  EXPECT_FALSE(kube::is_true(workflow("w"), "Complete"));
  const Value end = end_of("w");
  const Value is = complete(end);
  EXPECT_EQ(is["status"].as_string(), "True");
  EXPECT_FALSE(is["reason"].as_string().empty());
  EXPECT_EQ(is["message"].as_string(), "4 of 4 steps succeeded");
  for (const char* time : {"lastProbeTime", "lastTransitionTime"}) {
    EXPECT_EQ(parse_rfc3339(is[time].as_string()).value_or(Time{}), std::chrono::floor<seconds>(now())) << time;
  }
}

TEST_F(Seed003, start_and_completion_are_times_in_utc) {
  const Time began = now();
  make_diamond();
  const Value end = end_of("w");
  const std::pair<const char*, Time> times[] = {{"startTime", began}, {"completionTime", began + seconds{40}}};
  for (const auto& [field, wanted] : times) {
    const std::string text = end["status"][field].str();
    EXPECT_TRUE(text.ends_with("Z")) << text;
    const auto time = parse_rfc3339(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(std::chrono::floor<seconds>(*time), std::chrono::floor<seconds>(wanted)) << field;
  }
}

TEST_F(Seed003, the_start_is_the_workflows_own_whenever_the_external_object_began) {
  make("early", fmt::format("{{steps: {{a: {{jobTemplate: {}}}}}}}", job("slipway.dev/run-time: 100s")));
  advance(seconds{50});
  const Time began = now();
  make("w", "{steps: {wait: {externalRef: {apiVersion: batch.slipway.dev/v1alpha1, kind: Workflow, name: early}}}}");
  const Value end = end_of("w");
  EXPECT_EQ(std::chrono::floor<seconds>(parse_rfc3339(end["status"]["startTime"].as_string()).value_or(Time{})),
            std::chrono::floor<seconds>(began));
  EXPECT_LT(workflow("early")["status"]["startTime"].str(), end["status"]["startTime"].str());
}

TEST_F(Seed003, each_step_has_a_status_by_its_key) {
  make_diamond();
  advance(seconds{15});
  const Value running = workflow("w")["status"]["statuses"];
  EXPECT_TRUE(running["a"]["complete"].as_bool());
  EXPECT_FALSE(running["b"]["complete"].as_bool());
  EXPECT_EQ(running["b"]["reference"]["kind"].as_string(), "Job");
  const Value job_of_b = get(kJobs, running["b"]["reference"]["name"].str());
  EXPECT_EQ(kube::annotation(job_of_b, delivery::jobflow::kStepAnnotation), "b");
  const Value end = end_of("w");
  EXPECT_EQ(end["status"]["statuses"].size(), 4U);
  for (const auto& [key, step] : end["spec"]["steps"].members()) {
    EXPECT_TRUE(end["status"]["statuses"][key]["complete"].as_bool()) << key;
  }
}

TEST_F(Seed003, labels_and_selector_lead_from_workflow_to_jobs) {
  make_diamond();
  ASSERT_TRUE(
      create(kJobs, yaml("{apiVersion: batch/v1, kind: Job, metadata: {name: other, namespace: default}, spec: {template: "
                         "{spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}")));
  end_of("w");
  const Value selector = workflow("w")["spec"]["selector"]["matchLabels"];
  std::string text;
  for (const auto& [name, value] : selector.members()) text += fmt::format("{}={}", name, value.as_string());
  EXPECT_EQ(jobs_with(text), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(jobs_with("batch.slipway.dev/step=c"), (Names{"c"}));
}

TEST_F(Seed003, complete_comes_with_the_last_step_and_not_before) {
  make_diamond();
  advance(seconds{35});
  const Value before = workflow("w");
  EXPECT_TRUE(complete(before).is_null() || complete(before)["status"].as_string() != "True");
  EXPECT_TRUE(before["status"]["completionTime"].is_null());
  const Value end = end_of("w");
  EXPECT_TRUE(kube::is_true(end, "Complete"));
  EXPECT_FALSE(end["status"]["completionTime"].is_null());
}

TEST_F(Seed003, kubectl_get_has_columns_and_the_plugin_describes) {
  make_diamond();
  advance(seconds{15});
  Names columns;
  const Value version = seeds_test::crd_version("workflows.batch.slipway.dev.yaml");
  for (const Value& column : version["additionalPrinterColumns"].items()) columns.push_back(column["name"].str());
  EXPECT_TRUE(std::ranges::find(columns, "Steps") != columns.end()) << json::print(version["additionalPrinterColumns"]);
  const std::string text = delivery::jobflow::describe(workflow("w"), plane::StoreView(server(), api_->store(), now()), {});
  const std::size_t a = text.find("\na "), b = text.find("\nb "), d = text.find("\nd ");
  EXPECT_TRUE(a < b && b < d && d != std::string::npos) << text;
  EXPECT_TRUE(text.contains("b=Running c=Running (0 of 2)")) << text;
}

}  // namespace
}  // namespace slipway::jobflow_test
