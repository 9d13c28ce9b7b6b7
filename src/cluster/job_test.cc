#include "cluster/job_plan.h"
#include "cluster/pod_facts.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

class JobTest : public ClusterTest {
 protected:
  void SetUp() override { start(); }

  json::Value job(const std::string& name = "work") { return get(kJobs, name); }
  json::Value status(const std::string& name = "work") { return job(name)["status"]; }
  std::size_t running() {
    std::size_t count = 0;
    for (const json::Value& pod : list(kPods)) count += pod["status"]["phase"].as_string() == "Running";
    return count;
  }
  /// The running pod fails with DisruptionTarget.
  void disrupt(const std::string& reason) {
    for (const json::Value& pod : list(kPods)) {
      if (pod["status"]["phase"].as_string() != "Running") continue;
      patch(
          kPods, std::string(kube::name(pod)),
          fmt::format(
              R"({{"status":{{"phase":"Failed","conditions":[{{"type":"DisruptionTarget","status":"True","reason":"{}"}}]}}}})",
              reason),
          "status");
    }
    advance(seconds{1});
  }
  std::string ending(const std::string& name = "work") {
    for (const char* type : {"Complete", "Failed"}) {
      const json::Value found = kube::condition(job(name), type);
      if (!found.is_null()) return fmt::format("{} {}", type, found["reason"].as_string());
    }
    return "";
  }
};

TEST_F(JobTest, releases_a_running_pod_that_its_deleted_job_let_go_of) {
  make(kJobs, job_yaml("work", "", "slipway.dev/run-time: 5000s"));
  advance(seconds{1});
  ASSERT_EQ(running(), 1U);
  remove(kJobs, "work", "Orphan");
  advance(seconds{1});
  ASSERT_EQ(list(kPods).size(), 1U);
  remove(kPods, list(kPods)[0]["metadata"]["name"].str());
  advance(seconds{60});
  EXPECT_TRUE(list(kPods).empty());
}

TEST_F(JobTest, completes_a_one_pod_job_within_the_write_budget) {
  settle();
  const kube::Revision before = revision();
  make(kJobs, job_yaml("work"));
  settle();
  EXPECT_EQ(ending(), "Complete CompletionsReached");
  EXPECT_EQ(status()["succeeded"].as_int(), 1);
  EXPECT_FALSE(status().has("active"));
  EXPECT_TRUE(status().has("startTime"));
  EXPECT_TRUE(status().has("completionTime"));
  const auto pods = list(kPods);
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_TRUE(pods[0]["metadata"]["finalizers"].empty());
  EXPECT_EQ(pods[0]["spec"]["nodeName"].as_string(), "local");
  EXPECT_LE(revision() - before, 6);
  std::cout << "revisions of a one-pod Job: " << revision() - before << "\n";
  advance(seconds{60});
  EXPECT_LE(revision() - before, 6) << "a finished Job is left alone";
}

TEST_F(JobTest, ends_in_the_microsecond_that_its_pod_ends) {
  make(kJobs, job_yaml("work", "", "slipway.dev/run-time: 12.345678s"));
  const Time began = env_.now();
  ASSERT_TRUE(env_.run_until([&] { return is_finished_job(job()); }));
  EXPECT_EQ(env_.now() - began, Duration{12'345'678});
}

TEST_F(JobTest, keeps_parallelism_and_stops_at_completions) {
  make(kJobs, job_yaml("work", "  completions: 5\n  parallelism: 2\n", "slipway.dev/run-time: 10s"));
  advance(seconds{5});
  EXPECT_EQ(running(), 2U);
  EXPECT_EQ(status()["active"].as_int(), 2);
  EXPECT_EQ(status()["ready"].as_int(), 2);
  advance(seconds{20});
  EXPECT_EQ(running(), 1U);
  EXPECT_EQ(status()["succeeded"].as_int(), 4);
  advance(seconds{10});
  EXPECT_EQ(ending(), "Complete CompletionsReached");
  EXPECT_EQ(status()["succeeded"].as_int(), 5);
  EXPECT_EQ(list(kPods).size(), 5U);
}

TEST_F(JobTest, retries_with_growing_pauses_until_the_limit) {
  make(kJobs, job_yaml("work", "  backoffLimit: 2\n", "slipway.dev/exit-code: '3'"));
  const Time began = env_.now();
  ASSERT_TRUE(env_.run_until([&] { return is_finished_job(job()); }));
  EXPECT_EQ(ending(), "Failed BackoffLimitExceeded");
  EXPECT_EQ(status()["failed"].as_int(), 3);
  EXPECT_EQ(env_.now() - began, seconds{10 + 20});
  EXPECT_EQ(list({"", "v1", "events"}).size(), 1U);
}

/// Who may patch pods may write any text there: it must neither stop the process nor the Job.
TEST_F(JobTest, an_annotation_that_is_no_count_counts_as_no_failure) {
  make(kJobs, job_yaml("work", "  completions: 2\n  parallelism: 2\n  completionMode: Indexed\n  backoffLimitPerIndex: 1\n",
                       "slipway.dev/run-time: 5s, slipway.dev/exit-code: '3'"));
  advance(seconds{1});
  const auto pods = list(kPods);
  ASSERT_EQ(pods.size(), 2U);
  const std::string texts[] = {"abc", "99999999999999999999"};
  for (std::size_t i = 0; i < 2; ++i) {
    patch(kPods, std::string(kube::name(pods[i])),
          fmt::format(R"({{"metadata":{{"annotations":{{"{}":"{}"}}}}}})", kIndexFailures, texts[i]));
  }
  ASSERT_TRUE(env_.run_until([&] { return is_finished_job(job()); }));
  EXPECT_EQ(ending(), "Failed FailedIndexes");
  EXPECT_EQ(status()["failedIndexes"].str(), "0,1");
  EXPECT_EQ(status()["failed"].as_int(), 4) << "each index was tried twice";
}

TEST_F(JobTest, succeeds_on_the_attempt_that_the_annotation_says) {
  make(kJobs, job_yaml("work", "", "slipway.dev/exit-code: '1,0'"));
  advance(seconds{30});
  EXPECT_EQ(ending(), "Complete CompletionsReached");
  EXPECT_EQ(status()["failed"].as_int(), 1);
}

TEST_F(JobTest, fails_at_its_deadline_and_deletes_what_runs) {
  make(kJobs, job_yaml("work", "  activeDeadlineSeconds: 30\n", "slipway.dev/run-time: 1h"));
  const Time began = env_.now();
  ASSERT_TRUE(env_.run_until([&] { return is_finished_job(job()); }));
  EXPECT_EQ(env_.now() - began, seconds{30});
  EXPECT_EQ(ending(), "Failed DeadlineExceeded");
  settle();
  EXPECT_EQ(running(), 0U);
  EXPECT_TRUE(list(kPods).empty());
}

TEST_F(JobTest, a_deadline_and_a_time_to_live_beyond_every_calendar_never_come) {
  make(kJobs, job_yaml("work", "  activeDeadlineSeconds: 9300000000000\n  ttlSecondsAfterFinished: 2147483647\n"));
  make(kJobs, job_yaml("last", "  activeDeadlineSeconds: 9223372036854775807\n"));
  settle();
  EXPECT_EQ(ending(), "Complete CompletionsReached");
  EXPECT_EQ(ending("last"), "Complete CompletionsReached");
}

TEST(JobPlan, counts_success_before_the_deadline_even_when_seen_after_it) {
  const auto job = json::parse_yaml(R"({metadata: {name: work, namespace: default, uid: u},
    spec: {activeDeadlineSeconds: 30, template: {spec: {}}}, status: {startTime: '2026-01-01T00:00:00Z'}})");
  const auto pod = [](const std::string& finished) {
    return json::parse_yaml(fmt::format(R"({{metadata: {{name: p, uid: p, creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: [batch.kubernetes.io/job-tracking]}}, status: {{phase: Succeeded, containerStatuses: [
      {{name: main, state: {{terminated: {{exitCode: 0, finishedAt: '{}'}}}}}}]}}}})",
                                        finished))
        .value();
  };
  const Time now = parse_rfc3339("2026-01-01T00:01:00Z").value();
  const auto reason = [&](const std::string& finished) {
    return kube::condition(json::object({{"status", plan_job(
                                                        *job, {pod(finished)}, [](const std::string&) { return false; }, now)
                                                        .status}}),
                           "SuccessCriteriaMet")["reason"]
        .str();
  };
  EXPECT_EQ(reason("2026-01-01T00:00:29Z"), "CompletionsReached");
  EXPECT_EQ(reason("2026-01-01T00:00:31Z"), "");
}

TEST_F(JobTest, numbers_the_pods_of_an_indexed_job) {
  make(kJobs,
       job_yaml("work", "  completionMode: Indexed\n  completions: 4\n  parallelism: 4\n", "slipway.dev/exit-code: '1,0'"));
  settle();
  EXPECT_EQ(status()["completedIndexes"].str(), "");
  advance(seconds{81});  // four failures: 10 s · 2^3
  EXPECT_EQ(ending(), "Complete CompletionsReached");
  EXPECT_EQ(status()["completedIndexes"].str(), "0-3");
  EXPECT_EQ(status()["succeeded"].as_int(), 4);
  EXPECT_EQ(status()["failed"].as_int(), 4);
  const auto pods = list(kPods);
  ASSERT_EQ(pods.size(), 8U);
  EXPECT_TRUE(kube::name(pods[0]).starts_with("work-0-"));
  EXPECT_EQ(kube::annotation(pods[0], kCompletionIndex), "0");
  EXPECT_EQ(pods[0]["spec"]["containers"].item(0)["env"].item(0)["name"].as_string(), "JOB_COMPLETION_INDEX");
}

TEST_F(JobTest, starts_no_new_worker_once_a_work_queue_is_done) {
  make(kJobs, job_yaml("work", "  parallelism: 3\n", "slipway.dev/run-time: 5s"));
  advance(seconds{1});
  EXPECT_EQ(running(), 3U);
  advance(seconds{10});
  EXPECT_EQ(ending(), "Complete CompletionsReached");
  EXPECT_EQ(status()["succeeded"].as_int(), 3);
}

TEST_F(JobTest, suspends_and_resumes) {
  make(kJobs, job_yaml("work", "  suspend: true\n  activeDeadlineSeconds: 20\n", "slipway.dev/run-time: 15s"));
  advance(seconds{60});
  EXPECT_TRUE(kube::is_true(job(), "Suspended"));
  EXPECT_FALSE(status().has("startTime"));
  EXPECT_TRUE(list(kPods).empty());
  patch(kJobs, "work", R"({"spec":{"suspend":false}})");
  advance(seconds{5});
  EXPECT_EQ(running(), 1U);
  EXPECT_TRUE(status().has("startTime"));
  patch(kJobs, "work", R"({"spec":{"suspend":true}})");
  advance(seconds{60});
  EXPECT_TRUE(list(kPods).empty());
  EXPECT_FALSE(status().has("failed")) << "pods stopped by suspend are no failures";
  patch(kJobs, "work", R"({"spec":{"suspend":false}})");
  advance(seconds{16});
  EXPECT_EQ(ending(), "Complete CompletionsReached");
}

TEST_F(JobTest, removes_itself_after_its_time_to_live) {
  make(kJobs, job_yaml("work", "  ttlSecondsAfterFinished: 10\n"));
  advance(seconds{9});
  EXPECT_FALSE(job().is_null());
  advance(seconds{2});
  EXPECT_TRUE(job().is_null());
  EXPECT_TRUE(list(kPods).empty());
}

TEST_F(JobTest, fails_at_once_when_the_policy_says_so) {
  make(kJobs, job_yaml("work", R"(  podFailurePolicy:
    rules:
    - {action: FailJob, onExitCodes: {operator: In, values: [42]}, onPodConditions: []}
)",
                       "slipway.dev/exit-code: '42'"));
  settle();
  EXPECT_EQ(ending(), "Failed PodFailurePolicy");
  EXPECT_EQ(status()["failed"].as_int(), 1);
}

TEST_F(JobTest, counts_a_disrupted_pod_as_a_failure) {
  make(kJobs, job_yaml("work", "  backoffLimit: 0\n", "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  disrupt("PodSupervisorLost");
  EXPECT_EQ(ending(), "Failed BackoffLimitExceeded");
  EXPECT_EQ(status()["failed"].as_int(), 1);
}

TEST_F(JobTest, replaces_disrupted_pods_after_a_back_off_and_without_a_retry_when_the_policy_ignores_them) {
  make(kJobs, job_yaml("work", R"(  backoffLimit: 0
  podFailurePolicy:
    rules:
    - {action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}
)",
                       "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  disrupt("PodSupervisorLost");
  EXPECT_EQ(list(kPods).size(), 1U) << "the first replacement comes after ten seconds";
  advance(seconds{10});
  ASSERT_EQ(running(), 1U);
  disrupt("PodSupervisorLost");
  advance(seconds{10});
  EXPECT_EQ(running(), 0U) << "and the second after twenty";
  advance(seconds{11});
  EXPECT_EQ(running(), 1U);
  EXPECT_EQ(ending(), "");
  EXPECT_FALSE(status().has("failed"));
}

TEST_F(JobTest, replaces_a_pod_that_was_stopped_with_slipway_at_once_and_without_a_retry) {
  make(kJobs, job_yaml("work", "  backoffLimit: 0\n", "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  disrupt("Terminated");
  EXPECT_EQ(ending(), "");
  EXPECT_EQ(running(), 1U);
  EXPECT_FALSE(status().has("failed"));
  EXPECT_EQ(list(kPods).size(), 2U);
}

TEST_F(JobTest, deletes_surplus_pods_when_parallelism_shrinks) {
  make(kJobs, job_yaml("work", "  completions: 4\n  parallelism: 4\n", "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  EXPECT_EQ(running(), 4U);
  patch(kJobs, "work", R"({"spec":{"parallelism":1}})");
  advance(seconds{60});
  EXPECT_EQ(running(), 1U);
  EXPECT_EQ(list(kPods).size(), 1U);
  EXPECT_FALSE(status().has("failed"));
}

TEST_F(JobTest, goes_on_exactly_where_it_was_after_a_restart) {
  make(kJobs, job_yaml("work", "", "slipway.dev/run-time: 12.345678s"));
  const Time began = env_.now();
  advance(seconds{5});
  restart();
  ASSERT_TRUE(env_.run_until([&] { return is_finished_job(job()); }));
  EXPECT_EQ(env_.now() - began, Duration{12'345'678});
  EXPECT_EQ(list(kPods).size(), 1U);
}

TEST_F(JobTest, counts_a_thousand_pods) {
  make(kJobs, job_yaml("work", "  completions: 1000\n  parallelism: 1000\n"));
  advance(seconds{1});
  EXPECT_EQ(ending(), "Complete CompletionsReached");
  EXPECT_EQ(status()["succeeded"].as_int(), 1000);
  EXPECT_EQ(list(kPods).size(), 1000U);
}

TEST_F(JobTest, lets_go_of_a_pod_whose_labels_change_replaces_it_and_takes_it_back) {
  make(kJobs, job_yaml("work", "", "slipway.dev/run-time: 1h"));
  advance(seconds{1});
  const kube::Object pod = list(kPods).front();
  const std::string name(kube::name(pod));
  const std::string uid(kube::label(pod, "batch.kubernetes.io/controller-uid"));
  patch(kPods, name, R"({"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"another"}}})");
  advance(seconds{1});
  const kube::Object freed = get(kPods, name);
  EXPECT_TRUE(kube::controller_of(freed).is_null());
  EXPECT_FALSE(kube::has_finalizer(freed, kJobTracking));
  EXPECT_EQ(running(), 2U);
  EXPECT_EQ(status()["active"].as_int(), 1);

  patch(kPods, name, fmt::format(R"({{"metadata":{{"labels":{{"batch.kubernetes.io/controller-uid":"{}"}}}}}})", uid));
  advance(seconds{1});
  EXPECT_EQ(list(kPods).size(), 1U) << "one of the two is too many";
  EXPECT_TRUE(kube::has_finalizer(list(kPods).front(), kJobTracking));
  EXPECT_FALSE(status().has("failed"));
}

TEST_F(JobTest, leaves_jobs_of_other_controllers_alone) {
  make(kJobs, job_yaml("work", "  managedBy: example.com/queue\n"));
  advance(seconds{60});
  EXPECT_TRUE(list(kPods).empty());
}

}  // namespace
}  // namespace slipway::cluster
