// Dies after every number of steps of a run, starts again, and compares the end with that of the undisturbed run.
#include "cluster/job_plan.h"
#include "cluster/world_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

class CrashTest : public ClusterTest {
 protected:
  /// What must not depend on crashes: no times, uids or revisions.
  std::string picture() {
    std::string text;
    for (const json::Value& job : list(kJobs)) {
      const json::Value& status = job["status"];
      text += fmt::format("Job {} succeeded={} failed={} complete={} indexes={} uncounted={}\n", kube::name(job),
                          status["succeeded"].as_int(), status["failed"].as_int(), kube::is_true(job, "Complete"),
                          status["completedIndexes"].as_string(), status["uncountedTerminatedPods"].size());
    }
    std::map<std::string, int> pods;
    for (const json::Value& pod : list(kPods)) {
      ++pods[fmt::format("pod {} finalizers={}", pod["status"]["phase"].as_string(), pod["metadata"]["finalizers"].size())];
    }
    for (const auto& [line, count] : pods) text += fmt::format("{} x {}\n", count, line);
    return text;
  }

  /// Crashes after `steps` steps, unless the Job has finished before. Gives whether it crashed.
  bool run(const std::string& job, std::uint64_t steps) {
    start();
    make(kJobs, job);
    const std::uint64_t end = env_.queue().steps() + steps;
    const bool crashed = env_.run_until([&] { return env_.queue().steps() >= end; }, seconds{400});
    if (crashed) restart();
    advance(seconds{2000});
    return crashed;
  }

  void check(const std::string& job, std::uint64_t stride) {
    run(job, 0);
    const std::string expected = picture();
    std::uint64_t points = 0;
    for (std::uint64_t steps = 1;; steps += stride) {
      stop();
      disk_.restore({});
      if (!run(job, steps)) break;
      ++points;
      ASSERT_EQ(picture(), expected) << "crashed after step " << steps;
    }
    std::cout << points << " crash points\n";
    EXPECT_GT(points, 10U);
  }
};

TEST_F(CrashTest, a_retried_job_ends_alike_wherever_it_is_cut) {
  check(job_yaml("work", "", "slipway.dev/run-time: 3s, slipway.dev/exit-code: '1,0'"), 2);
}

TEST_F(CrashTest, an_indexed_job_ends_alike_wherever_it_is_cut) {
  check(job_yaml("work", "  completionMode: Indexed\n  completions: 3\n  parallelism: 2\n", "slipway.dev/run-time: 3s"), 5);
}

TEST_F(CrashTest, a_failing_job_ends_alike_wherever_it_is_cut) {
  check(job_yaml("work", "  backoffLimit: 1\n  completions: 2\n  parallelism: 2\n",
                 "slipway.dev/run-time: 3s, slipway.dev/exit-code: '1'"),
        5);
}

}  // namespace
}  // namespace slipway::cluster
