// Pods of processes over restarts, kills, deletions and shutdowns; probes, which end containers and begin them again.
#include <csignal>

#include "cluster/process_fixture.h"

namespace slipway::cluster {
namespace {

using std::chrono::seconds;

TEST_F(ProcessTest, finds_its_supervisors_again_after_a_restart) {
  make(kJobs, job_yaml("work"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  restart();
  advance(seconds{5});
  EXPECT_EQ(phase(), "Running");
  EXPECT_EQ(started().size(), 1U);
  env_.drop_all();
  runtime_.reset();
  record(0, PodPhase::Succeeded);  // while Slipway is not running
  restart();
  advance(seconds{1});
  EXPECT_EQ(phase(), "Succeeded");
  EXPECT_TRUE(kube::is_true(get(kJobs, "work"), "Complete"));
}

TEST_F(ProcessTest, a_job_without_retries_fails_when_the_supervisor_of_its_pod_was_killed) {
  make(kJobs, job_yaml("work", "  backoffLimit: 0\n"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  advance(seconds{1});
  end(0);
  advance(seconds{1});
  ASSERT_EQ(started().size(), 2U) << "started once more, to end what is left";
  EXPECT_EQ(started()[1].folder, started()[0].folder);
  record(1, PodPhase::Lost, 137);
  advance(seconds{1});
  EXPECT_TRUE(kube::is_true(pod(), kDisruptionTarget));
  const auto job = get(kJobs, "work");
  EXPECT_TRUE(kube::is_true(job, "Failed"));
  EXPECT_EQ(job["status"]["failed"].as_int(), 1);
  advance(std::chrono::hours{1});
  EXPECT_EQ(started().size(), 2U);
}

TEST_F(ProcessTest, a_job_with_retries_replaces_a_pod_whose_supervisor_was_killed_after_a_back_off) {
  make(kJobs, job_yaml("work", "  backoffLimit: 1\n"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  advance(seconds{1});
  end(0);
  advance(seconds{1});
  record(1, PodPhase::Lost, 137);
  advance(seconds{5});
  EXPECT_EQ(started().size(), 2U);
  advance(seconds{6});
  ASSERT_EQ(started().size(), 3U);
  EXPECT_NE(started()[2].folder, started()[0].folder);
  record(2, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_TRUE(kube::is_true(get(kJobs, "work"), "Complete"));
}

TEST_F(ProcessTest, stops_a_deleted_pod_with_its_grace_and_cleans_up) {
  make_pod("command: [run]", "terminationGracePeriodSeconds: 7,");
  record(0, PodPhase::Running);
  advance(seconds{1});
  remove(kPods, "p");
  advance(seconds{1});
  EXPECT_EQ(started()[0].last_signal, SIGTERM);
  const std::string folder = started()[0].folder;
  EXPECT_EQ(env_.files().read(folder + "/grace").value(), "7");
  EXPECT_EQ(phase(), "Running");
  record(0, PodPhase::Failed, 143, true);
  advance(seconds{1});
  EXPECT_TRUE(pod().is_null());
  EXPECT_FALSE(env_.files().exists(folder));
}

TEST_F(ProcessTest, keeps_logs_while_the_pod_exists) {
  make_pod("command: [run]");
  const std::string log = manifest().containers.at(0).log;
  ASSERT_TRUE(env_.files().write(log, "hello\nworld\n", 0640));
  record(0, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_EQ(env_.run(pods_->logs(pod(), {.container = "", .offset = 6})).value(), "world\n");
  remove(kPods, "p");
  advance(seconds{1});
  EXPECT_FALSE(env_.files().exists(log));
}

TEST_F(ProcessTest, forgets_pods_that_went_while_it_was_away) {
  make_pod("command: [run]");
  record(0, PodPhase::Succeeded);
  env_.drop_all();
  runtime_.reset();
  const std::string folder = started()[0].folder;
  client::DeleteQuery now;
  now.grace_seconds = 0;
  ASSERT_TRUE(env_.run(client::remove(*server_, kPods, {"default", "p"}, now)));
  restart();
  make(kPods,
       "{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: default}, spec: {containers: [{name: main, image: x}]}}");
  advance(seconds{1});
  EXPECT_FALSE(env_.files().exists(folder));
}

TEST_F(ProcessTest, goes_on_after_a_shutdown_that_stopped_its_pods) {
  make(kJobs, job_yaml("work", "  backoffLimit: 0\n"));
  advance(seconds{1});
  record(0, PodPhase::Running);
  advance(seconds{1});
  env_.spawn(runtime_of_pods_->stop_all(seconds{3}));
  settle();
  EXPECT_EQ(started()[0].last_signal, SIGTERM);
  record(0, PodPhase::Failed, 143, true);
  advance(seconds{1});
  EXPECT_EQ(started().size(), 1U) << "nothing new starts during a shutdown";
  restart();
  advance(seconds{1});
  ASSERT_EQ(started().size(), 2U);
  record(1, PodPhase::Succeeded);
  advance(seconds{1});
  EXPECT_TRUE(kube::is_true(get(kJobs, "work"), "Complete"));
}

TEST_F(ProcessTest, a_pod_that_ends_well_when_a_shutdown_stops_it_has_failed_and_does_not_look_completed) {
  make_pod("command: [run]");
  record(0, PodPhase::Running);
  advance(seconds{1});
  env_.spawn(runtime_of_pods_->stop_all(seconds{3}));
  settle();
  record(0, PodPhase::Succeeded, 0, true);
  restart();
  EXPECT_EQ(phase(), "Failed");
  EXPECT_TRUE(kube::is_true(pod(), kDisruptionTarget));
  const auto ended = pod()["status"]["containerStatuses"].item(0)["state"]["terminated"];
  EXPECT_EQ(ended["exitCode"].as_int(), 0);
  EXPECT_EQ(ended["reason"].as_string(), "Terminated");
}

TEST_F(ProcessTest, is_ready_as_long_as_its_http_probe_succeeds) {
  http_.status = 503;
  make_pod(
      "command: [run], ports: [{name: web, containerPort: 8080}], readinessProbe: {httpGet: {path: /ready, port: web}, "
      "initialDelaySeconds: 3, periodSeconds: 2, failureThreshold: 2}");
  begin_run(0);
  advance(seconds{1});
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(http_.urls.size(), 0u) << "not before the initial delay";
  advance(seconds{4});
  EXPECT_FALSE(is_ready());
  EXPECT_EQ(http_.urls.at(0), fmt::format("http://{}:8080/ready", pod()["status"]["podIP"].as_string()));
  EXPECT_EQ(warnings(), std::vector<std::string>{"Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503"});
  http_.status = 302;
  advance(seconds{3});
  EXPECT_TRUE(is_ready());
  restart();
  EXPECT_TRUE(is_ready()) << "a restart of Slipway does not take readiness away";
  http_.status = 0;
  advance(seconds{2});
  EXPECT_TRUE(is_ready()) << "one failure of two";
  advance(seconds{3});
  EXPECT_FALSE(is_ready());
}

TEST_F(ProcessTest, restarts_a_container_whose_liveness_probe_fails) {
  open_port_ = 9090;
  make_pod("command: [run], livenessProbe: {tcpSocket: {port: 9090}, periodSeconds: 1, failureThreshold: 3}",
           "terminationGracePeriodSeconds: 5,");
  const std::size_t first = begin_run(0);
  advance(seconds{5});
  EXPECT_TRUE(is_ready());
  open_port_ = 0;
  advance(seconds{2});
  EXPECT_EQ(started()[first].last_signal, 0);
  advance(seconds{2});
  EXPECT_EQ(started()[first].last_signal, SIGTERM);
  advance(seconds{6});
  EXPECT_EQ(started()[first].last_signal, SIGKILL) << "after the grace";
  open_port_ = 9090;
  const std::size_t second = begin_run(0);
  advance(seconds{9});
  EXPECT_EQ(started()[second].last_signal, 0);
  EXPECT_TRUE(is_ready());
}

TEST_F(ProcessTest, runs_the_command_of_an_exec_probe_in_the_container) {
  make_pod("command: [run], readinessProbe: {exec: {command: [test, -f, ok]}, periodSeconds: 1, timeoutSeconds: 2}");
  begin_run(0);
  advance(std::chrono::milliseconds{300});
  const std::size_t probe = started().size() - 1;
  EXPECT_EQ(manifest(probe).containers.at(0).argv, (std::vector<std::string>{"test", "-f", "ok"}));
  EXPECT_FALSE(is_ready());
  run_ = {};
  record(probe, PodPhase::Succeeded, 0);
  advance(std::chrono::milliseconds{500});
  EXPECT_TRUE(is_ready());
  advance(seconds{3});
  EXPECT_EQ(started()[probe + 1].last_signal, SIGTERM) << "a command that takes too long is ended";
}

}  // namespace
}  // namespace slipway::cluster
