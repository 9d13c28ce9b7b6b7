// CronWorkflows against the real server, in virtual time.
#include <gtest/gtest.h>

#include "delivery/jobflow/cron_show.h"
#include "delivery/jobflow/explain.h"
#include "rights_fixture.h"

namespace slipway::jobflow_test {
namespace {

using delivery::jobflow::kCronWorkflowKind;
using delivery::jobflow::kCronWorkflows;
using std::chrono::minutes;
using std::chrono::seconds;
using Names = std::vector<std::string>;

class CronWorkflow : public RightsTest {
 protected:
  static Value cron(const std::string& more, const std::string& run_time, const std::string& name = "tick") {
    return yaml(
        fmt::format("apiVersion: batch.slipway.dev/v1alpha1\nkind: CronWorkflow\nmetadata: {{name: {}, namespace: "
                    "default}}\nspec:\n  schedule: '* * * * *'\n{}  workflowTemplate:\n    metadata: {{labels: {{from: "
                    "tick}}}}\n    spec: {{steps: {{a: {{jobTemplate: {}}}}}}}\n",
                    name, more, job("slipway.dev/run-time: " + run_time)));
  }
  void make_cron(const std::string& more, const std::string& run_time) { must(create(kCronWorkflows, cron(more, run_time))); }
  Value status() { return get(kCronWorkflows, "tick")["status"]; }
  Names names() {
    Names out;
    for (const Value& one : list(kWorkflows)) out.emplace_back(kube::name(one));
    return out;
  }
  Names reasons() {
    Names out;
    for (const Value& event : list(kEvents)) {
      if (event["involvedObject"]["kind"].as_string() == kCronWorkflowKind.kind) out.push_back(event["reason"].str());
    }
    std::ranges::sort(out);
    return out;
  }
  Names why() {
    Names out;
    const plane::StoreView view(server(), api_->store(), now());
    for (const auto& wait : delivery::jobflow::explain_cron(get(kCronWorkflows, "tick"), view)) {
      out.push_back(fmt::format("{} ({}){}", wait.on, wait.reason, wait.message.empty() ? "" : ": " + wait.message));
    }
    return out;
  }
  void patch_cron(std::string_view spec) {
    must(env_->run(
        client::merge_patch(server(), kCronWorkflows, {"default", "tick"}, json::object({{"spec", yaml(spec)}}), "t")));
  }
  Names refused(const std::string& more, const std::string& name = "tick") {
    const auto made = create(kCronWorkflows, cron(more, "1s", name));
    Names out;
    if (made) return {"accepted"};
    for (const Cause& cause : made.error().causes) out.push_back(cause.field + ": " + cause.message);
    return out;
  }
};

TEST_F(CronWorkflow, starts_a_workflow_each_minute_named_by_it_and_keeps_three) {
  make_cron("", "1s");
  const auto first = std::chrono::floor<minutes>(now().time_since_epoch()).count() + 1;
  advance(seconds{62});
  ASSERT_EQ(names(), (Names{fmt::format("tick-{}", first)}));
  const Value made = list(kWorkflows).front();
  EXPECT_EQ(kube::label(made, "from"), "tick");
  EXPECT_EQ(kube::controller_of(made)["name"].str(), "tick");
  EXPECT_EQ(kube::annotation(made, "batch.slipway.dev/scheduled-at"), status()["lastScheduleTime"].str());
  EXPECT_EQ(status()["nextScheduleTime"].str(), to_rfc3339(Time(minutes{first + 1})));
  EXPECT_TRUE(has_ended(made));
  advance(minutes{5} + seconds{10});
  EXPECT_EQ(list(kWorkflows).size(), 3U);
  EXPECT_TRUE(status().has("lastSuccessfulTime"));
  EXPECT_FALSE(status().has("active"));
  const Names events = reasons();
  for (const char* reason : {"SuccessfulCreate", "SawCompletedWorkflow", "SuccessfulDelete"}) {
    EXPECT_TRUE(std::ranges::count(events, reason) > 0) << reason;
  }
}

TEST_F(CronWorkflow, keeps_failed_ones_by_a_limit_of_their_own) {
  Value failing = cron("  failedWorkflowsHistoryLimit: 2\n", "1s");
  failing = failing.with_path({"spec", "workflowTemplate", "spec"},
                              yaml(fmt::format("{{steps: {{a: {{jobTemplate: {}}}}}}}", job("slipway.dev/exit-code: '1'"))));
  must(create(kCronWorkflows, failing));
  advance(minutes{5} + seconds{10});
  EXPECT_EQ(list(kWorkflows).size(), 2U);
  EXPECT_FALSE(status().has("lastSuccessfulTime"));
}

TEST_F(CronWorkflow, forbid_waits_for_the_running_workflow_and_then_starts_at_once) {
  make_cron("  concurrencyPolicy: Forbid\n", "90s");
  advance(seconds{125});
  ASSERT_EQ(list(kWorkflows).size(), 1U);
  ASSERT_EQ(status()["active"].size(), 1U);
  const std::string name = status()["active"].item(0)["name"].str();
  EXPECT_EQ(why().front(),
            fmt::format("Workflow {} (WorkflowRunning): concurrencyPolicy Forbid: the next starts once it has ended", name));
  EXPECT_EQ(std::ranges::count(reasons(), "WorkflowAlreadyActive"), 1);
  advance(seconds{35});
  EXPECT_EQ(list(kWorkflows).size(), 2U);
}

TEST_F(CronWorkflow, replace_deletes_the_running_workflow) {
  make_cron("  concurrencyPolicy: Replace\n", "1h");
  advance(seconds{61});
  const Names first = names();
  ASSERT_EQ(first.size(), 1U);
  advance(minutes{1});
  ASSERT_EQ(names().size(), 1U);
  EXPECT_NE(names(), first);
  EXPECT_EQ(list(kJobs).size(), 1U) << "the Job of the replaced one went with it";
}

TEST_F(CronWorkflow, suspends_and_makes_up_for_one_missed_start_within_the_deadline) {
  make_cron("  suspend: true\n  startingDeadlineSeconds: 10\n", "1s");
  advance(minutes{3} + seconds{30});
  EXPECT_EQ(why(), (Names{"spec.suspend (Suspended): set it to false to go on"}));
  patch_cron("{suspend: false}");
  advance(seconds{1});
  EXPECT_TRUE(list(kWorkflows).empty());
  patch_cron("{startingDeadlineSeconds: null}");
  advance(seconds{1});
  EXPECT_EQ(list(kWorkflows).size(), 1U);
}

TEST_F(CronWorkflow, reports_a_time_zone_that_is_not_on_this_machine) {
  make_cron("  timeZone: Europe/Paris\n", "1s");
  advance(minutes{2});
  EXPECT_TRUE(list(kWorkflows).empty());
  const std::string message =
      "invalid timeZone: \"Europe/Paris\": there is no time zone Europe/Paris on this machine; install the package tzdata";
  EXPECT_EQ(kube::condition(get(kCronWorkflows, "tick"), "Stalled")["message"].str(), message);
  EXPECT_EQ(why(), (Names{"its next Workflow (UnknownTimeZone): " + message}));
  patch_cron("{timeZone: null}");
  advance(seconds{1});
  EXPECT_EQ(list(kWorkflows).size(), 1U);
  EXPECT_FALSE(kube::is_true(get(kCronWorkflows, "tick"), "Stalled"));
}

TEST_F(CronWorkflow, starts_workflows_with_the_rights_of_its_author) {
  allow("alice", {"batch.slipway.dev/cronworkflows"});
  must(create_as("alice", kCronWorkflows, cron("", "1s")));
  advance(seconds{62});
  EXPECT_TRUE(list(kWorkflows).empty());
  const Value stalled = kube::condition(get(kCronWorkflows, "tick"), "Stalled");
  EXPECT_EQ(stalled["reason"].str(), "FailedCreate");
  EXPECT_NE(stalled["message"].as_string().find("User \"alice\" cannot create resource \"workflows\""), std::string_view::npos)
      << stalled["message"].as_string();
  EXPECT_EQ(std::ranges::count(reasons(), "FailedCreate"), 1);
  allow("alice", {"batch.slipway.dev/workflows"});
  advance(minutes{20});
  EXPECT_FALSE(list(kWorkflows).empty());
  EXPECT_FALSE(kube::is_true(get(kCronWorkflows, "tick"), "Stalled"));
}

TEST_F(CronWorkflow, is_refused_with_the_messages_of_a_cron_job) {
  const auto change = [&](std::string_view from, std::string_view to) {
    Value object = cron("", "1s");
    const auto made = create(kCronWorkflows, object.with_path({"spec", from}, Value(to)));
    return made ? std::string("accepted") : made.error().causes.at(0).field + ": " + made.error().causes.at(0).message;
  };
  EXPECT_EQ(change("schedule", "* * * *"),
            "spec.schedule: Invalid value: \"* * * *\": expected exactly 5 fields, found 4: [* * * *]");
  EXPECT_EQ(change("schedule", "@every 20s"),
            "spec.schedule: Invalid value: \"@every 20s\": must be @every 1m or more: a Workflow is named after the minute in "
            "which it is due, so of several in one minute only the first would start");
  EXPECT_EQ(
      change("schedule", "TZ=UTC * * * * *"),
      "spec.schedule: Invalid value: \"TZ=UTC * * * * *\": cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  EXPECT_EQ(change("timeZone", "Local"),
            "spec.timeZone: Invalid value: \"Local\": timeZone must be an explicit time zone as defined in "
            "https://www.iana.org/time-zones");
  EXPECT_TRUE(change("concurrencyPolicy", "Maybe").starts_with("spec.concurrencyPolicy: ")) << change("concurrencyPolicy", "x");
  EXPECT_EQ(refused("", std::string(53, 'x')),
            (Names{"metadata.name: Invalid value: \"" + std::string(53, 'x') + "\": must be no more than 52 characters"}));
  Value bad = cron("", "1s").with_path(
      {"spec", "workflowTemplate", "spec"},
      yaml("{steps: {a: {template: {name: t}}, b: {dependencies: {dependencyIDs: [a]}, jobTemplate: "
           "{spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: i}]}}}}}}}"));
  const auto made = create(kCronWorkflows, bad);
  ASSERT_FALSE(made);
  Names fields;
  for (const Cause& cause : made.error().causes) fields.push_back(cause.field);
  EXPECT_EQ(fields, (Names{"spec.workflowTemplate.spec.steps[a].template.name",
                           "spec.workflowTemplate.spec.steps[b].dependencies.dependencyIDs"}));
}

TEST_F(CronWorkflow, takes_its_workflows_along_when_deleted) {
  make_cron("", "1h");
  advance(seconds{62});
  ASSERT_EQ(list(kJobs).size(), 1U);
  ASSERT_TRUE(env_->run(client::remove(server(), kCronWorkflows, {"default", "tick"})));
  advance(seconds{5});
  EXPECT_TRUE(list(kWorkflows).empty());
  EXPECT_TRUE(list(kJobs).empty());
}

TEST_F(CronWorkflow, is_described_with_its_times_and_workflows) {
  make_cron("", "90s");
  advance(seconds{65});
  const plane::StoreView view(server(), api_->store(), now());
  const std::string text = delivery::jobflow::describe_cron(get(kCronWorkflows, "tick"), view, {});
  for (const std::string& part : {std::string("Schedule:"), std::string("* * * * *"), std::string("Next start:"),
                                  names().front(), std::string("Running"), std::string("0/1")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

/// Killed at each write in turn: one Workflow per minute and one Job each, whatever was lost.
TEST_F(CronWorkflow, starts_each_workflow_once_wherever_the_process_is_killed) {
  make_cron("  concurrencyPolicy: Forbid\n", "10s");
  const auto first = std::chrono::floor<minutes>(now().time_since_epoch()).count() + 1;
  advance(seconds{58});
  for (int run = 0; run < 12; ++run) {
    const auto begin = api_->store().revision();
    const auto die_at = begin + static_cast<kube::Revision>(run) * 2 + 1;
    env_->run_until([&] { return api_->store().revision() >= die_at; }, seconds{30});
    restart();
    advance(Time(minutes{first + run + 1}) - now() - seconds{2});
    const Value newest = get(kWorkflows, fmt::format("tick-{}", first + run));
    EXPECT_TRUE(kube::is_true(newest, "Complete")) << run << json::print_pretty(newest["status"]);
    std::size_t jobs = 0;
    for (const Value& one : list(kJobs)) jobs += kube::is_owned_by(one, kube::uid(newest)) ? 1 : 0;
    EXPECT_EQ(jobs, 1U) << run;
    EXPECT_LE(list(kWorkflows).size(), 4U) << run;
    EXPECT_EQ(status()["lastScheduleTime"].str(), to_rfc3339(Time(minutes{first + run}))) << run;
  }
}

}  // namespace
}  // namespace slipway::jobflow_test
