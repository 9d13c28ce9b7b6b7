#include "os/supervisor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pod_record.h"
#include "os/container.h"
#include "os/mounts.h"
#include "os/proc.h"
#include "os/test_folder.h"

namespace slipway::os {
namespace {

constexpr const char* kSupervisorPath = "PATH=/usr/local/bin:/usr/bin:/bin";

/// A pod in a folder of its own, under a supervisor that is a child of the test.
class Pod {
 public:
  PodContainer& add(const std::string& name, std::vector<std::string> argv) {
    manifest.containers.push_back(container(name, std::move(argv)));
    return manifest.containers.back();
  }
  PodContainer& add_shell(const std::string& name, const std::string& script) { return add(name, {"sh", "-c", script}); }
  PodContainer& add_init(const std::string& name, const std::string& script) {
    manifest.init_containers.push_back(container(name, {"sh", "-c", script}));
    return manifest.init_containers.back();
  }
  std::string volume(const std::string& name) {
    EXPECT_TRUE(make_folders(folder / name));
    return folder / name;
  }

  void start() {
    EXPECT_TRUE(replace_file(folder / "manifest", encode_manifest(manifest), 0644, Durability::Renamed));
    start_again();
  }
  void start_again() {
    supervisor = fork();
    if (supervisor == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      _exit(run_supervisor(folder.path()));
    }
  }
  /// The exit code of the supervisor.
  int wait() {
    int status = 0;
    EXPECT_TRUE(eventually([&] { return waitpid(supervisor, &status, WNOHANG) == supervisor; }));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  PodState run() {
    start();
    EXPECT_EQ(wait(), 0);
    return state();
  }
  PodState state() const {
    const auto decoded = decode_state(folder.text("state"));
    return decoded ? *decoded : PodState{};
  }
  std::string log(const std::string& name) const { return folder.text(name + ".log"); }
  bool logs(const std::string& name, const std::string& expected) const {
    return eventually([&] { return log(name).find(expected) != std::string::npos; });
  }

  TestFolder folder;
  PodManifest manifest;
  pid_t supervisor = 0;

 private:
  PodContainer container(const std::string& name, std::vector<std::string> argv) {
    return {.name = name, .argv = std::move(argv), .env = {kSupervisorPath}, .log = folder / (name + ".log")};
  }
};

bool is_gone(const std::string& pid_text) { return !read_proc_stat(static_cast<pid_t>(std::stol(pid_text))); }

TEST(Supervisor, runs_init_containers_in_order_and_then_the_containers_side_by_side) {
  Pod pod;
  const std::string order = pod.folder / "order";
  pod.add_init("first", "echo first >> " + order);
  pod.add_init("second", "echo second >> " + order);
  // Each of the two waits for the other: one after the other they would never end.
  const std::string a = pod.folder / "a";
  const std::string b = pod.folder / "b";
  pod.add_shell("left", fmt::format("cat {} > /dev/null; touch {}; until [ -e {} ]; do sleep 0.01; done", order, a, b));
  pod.add_shell("right", fmt::format("cat {} > /dev/null; touch {}; until [ -e {} ]; do sleep 0.01; done", order, b, a));
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Succeeded);
  EXPECT_EQ(pod.folder.text("order"), "first\nsecond\n");
  ASSERT_EQ(state.containers.size(), 4U);
  EXPECT_TRUE(state.containers[1].is_init);
  EXPECT_GE(state.containers[1].exit.started_us, state.containers[0].exit.finished_us);
  EXPECT_GE(state.containers[2].exit.started_us, state.containers[1].exit.finished_us);
  EXPECT_EQ(state.containers[3].exit.reason, "Completed");
  EXPECT_EQ(pod.log("left") + pod.log("right"), "");
}

TEST(Supervisor, records_exit_codes_and_both_outputs) {
  Pod pod;
  pod.add_shell("good", "echo out; echo err >&2; printf '%s' \"$GREETING\"").env.push_back("GREETING=two\nlines");
  pod.add_shell("bad", "exit 42");
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Failed);
  EXPECT_EQ(state.containers[0].exit.exit_code, 0);
  EXPECT_EQ(state.containers[1].exit.exit_code, 42);
  EXPECT_EQ(state.containers[1].exit.signal_number, 0);
  EXPECT_EQ(state.containers[1].exit.reason, "Error");
  EXPECT_EQ(pod.log("good"), "out\nerr\ntwo\nlines");
}

TEST(Supervisor, a_container_inherits_nothing_but_what_the_manifest_says) {
  Pod pod;
  pod.add_shell("main",
                "env | sort | grep -v -e ^PWD= -e ^SHLVL= -e ^_=; ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status");
  pod.run();
  EXPECT_EQ(pod.log("main"),
            fmt::format("{}\nPOD_ROOT=\nSLIPWAY_CONTAINER=main\nSLIPWAY_POD={}\n4\nSigBlk:\t0000000000000000\n",
                        kSupervisorPath, pod.folder.path()));
}

TEST(Supervisor, a_command_that_cannot_be_run_is_a_start_error) {
  Pod pod;
  pod.add("missing", {"frobnicate", "--now"});
  pod.add("absent", {"/no/such/program"});
  pod.add("folder", {"/tmp"});
  pod.add("lost", {"true"}).folder = "/no/such/folder";
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Failed);
  const std::string messages[] = {"exec: \"frobnicate\": executable file not found in $PATH",
                                  "exec: \"/no/such/program\": stat /no/such/program: no such file or directory",
                                  "exec: \"/tmp\": is a directory",
                                  "cannot enter working directory /no/such/folder: No such file or directory"};
  ASSERT_EQ(state.containers.size(), std::size(messages));
  for (std::size_t i = 0; i < std::size(messages); ++i) {
    const PodExit& exit = state.containers[i].exit;
    EXPECT_EQ(exit.exit_code, 128);
    EXPECT_EQ(exit.reason, "StartError");
    EXPECT_EQ(exit.started_us, 0);
    EXPECT_EQ(exit.message, messages[i]);
  }
}

TEST(Supervisor, a_failed_init_container_keeps_the_others_waiting) {
  Pod pod;
  pod.add_init("first", "exit 7");
  pod.add_init("second", "true");
  pod.add_shell("main", "true");
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Failed);
  EXPECT_EQ(state.containers[0].exit.exit_code, 7);
  EXPECT_EQ(state.containers[1].phase, PodContainerPhase::Waiting);
  EXPECT_EQ(state.containers[2].phase, PodContainerPhase::Waiting);
  EXPECT_EQ(state.containers[2].waiting_reason, "PodInitializing");
}

TEST(Supervisor, restarts_on_failure_until_the_command_succeeds) {
  Pod pod;
  pod.manifest.restart = PodRestart::OnFailure;
  pod.add_shell("main", fmt::format("[ -e {0} ] && exit 0; touch {0}; exit 5", pod.folder / "marker"));
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Succeeded);
  EXPECT_EQ(state.containers[0].restarts, 1);
  ASSERT_TRUE(state.containers[0].last_exit);
  EXPECT_EQ(state.containers[0].last_exit->exit_code, 5);
}

TEST(Supervisor, waits_before_the_second_restart_and_can_be_stopped_meanwhile) {
  Pod pod;
  pod.manifest.restart = PodRestart::Always;
  pod.add_shell("main", "exit 5");
  pod.start();
  ASSERT_TRUE(eventually([&] { return pod.state().containers.size() == 1 && pod.state().containers[0].restarts >= 1; }));
  ASSERT_TRUE(eventually([&] { return pod.state().containers[0].waiting_reason == "CrashLoopBackOff"; }));
  kill(pod.supervisor, SIGTERM);
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.state().phase, PodPhase::Failed);
  EXPECT_EQ(pod.state().containers[0].exit.exit_code, 5);
}

TEST(Supervisor, shows_what_runs_with_its_process) {
  Pod pod;
  pod.add_shell("main", "echo $$; exec sleep 1000");
  pod.start();
  ASSERT_TRUE(pod.logs("main", "\n"));
  ASSERT_TRUE(eventually([&] { return pod.state().phase == PodPhase::Running; }));
  const PodState state = pod.state();
  EXPECT_EQ(state.supervisor, identify(pod.supervisor));
  EXPECT_EQ(fmt::format("{}\n", state.containers[0].process.pid), pod.log("main"));
  EXPECT_TRUE(is_running(state.containers[0].process));
  EXPECT_EQ(pod_fate(state, is_running(state.supervisor)), PodFate::Supervised);
  kill(pod.supervisor, SIGTERM);
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.state().containers[0].exit.exit_code, 143);
  EXPECT_EQ(pod.state().containers[0].exit.signal_number, SIGTERM);
  EXPECT_TRUE(pod.state().is_stopping);
}

TEST(Supervisor, lets_a_command_handle_sigterm) {
  Pod pod;
  pod.add_shell("main", "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done");
  pod.start();
  ASSERT_TRUE(pod.logs("main", "ready"));
  kill(pod.supervisor, SIGTERM);
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_TRUE(pod.log("main").ends_with("bye\n")) << pod.log("main");
  EXPECT_EQ(pod.state().containers[0].exit.exit_code, 3);
}

TEST(Supervisor, stopped_among_its_init_containers_it_never_starts_the_others) {
  Pod pod;
  pod.add_init("first", "echo ready; exec sleep 1000");
  pod.add_shell("main", "echo never");
  pod.start();
  ASSERT_TRUE(pod.logs("first", "ready"));
  kill(pod.supervisor, SIGTERM);
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.state().phase, PodPhase::Failed);
  EXPECT_EQ(pod.state().containers[0].exit.exit_code, 143);
  EXPECT_EQ(pod.state().containers[1].phase, PodContainerPhase::Waiting);
  EXPECT_FALSE(MachineFiles().exists(pod.folder / "main.log"));
}

TEST(Supervisor, kills_after_the_grace_what_ignores_sigterm) {
  Pod pod;
  pod.manifest.grace_seconds = 1;
  pod.add_shell("main", "trap '' TERM; echo ready; while :; do sleep 0.01; done");
  pod.start();
  ASSERT_TRUE(pod.logs("main", "ready"));
  kill(pod.supervisor, SIGTERM);
  EXPECT_EQ(pod.wait(), 0);
  const PodExit exit = pod.state().containers[0].exit;
  EXPECT_EQ(exit.exit_code, 137);
  EXPECT_EQ(exit.signal_number, SIGKILL);
}

TEST(Supervisor, a_second_sigterm_with_a_smaller_grace_shortens_the_wait) {
  Pod pod;
  pod.manifest.grace_seconds = 100'000;
  pod.add_shell("main", "trap 'echo asked' TERM; echo ready; while :; do sleep 0.01; done");
  pod.start();
  ASSERT_TRUE(pod.logs("main", "ready"));
  kill(pod.supervisor, SIGTERM);
  ASSERT_TRUE(pod.logs("main", "asked"));
  ASSERT_TRUE(replace_file(pod.folder / "grace", "0", 0644, Durability::Renamed));
  kill(pod.supervisor, SIGTERM);
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.state().containers[0].exit.exit_code, 137);
}

TEST(Supervisor, the_end_of_a_container_ends_its_grandchildren_wherever_they_hide) {
  Pod pod;
  const std::string hide =
      "sleep 1000 & echo $! > near; setsid sh -c 'echo $$ > far; exec sleep 1000' & until [ -s far ]; do sleep 0.01; done";
  pod.add_shell("short", hide).folder = pod.volume("short");
  pod.add_shell("long", "until [ -e end ]; do sleep 0.01; done").folder = pod.volume("long");
  pod.start();
  ASSERT_TRUE(eventually(
      [&] { return pod.state().containers.size() == 2 && pod.state().containers[0].phase == PodContainerPhase::Terminated; }));
  EXPECT_EQ(pod.state().containers[0].exit.exit_code, 0);
  EXPECT_TRUE(eventually([&] { return is_gone(pod.folder.text("short/near")) && is_gone(pod.folder.text("short/far")); }));
  EXPECT_EQ(pod.state().containers[1].phase, PodContainerPhase::Running);
  ASSERT_TRUE(replace_file(pod.folder / "long/end", "", 0644, Durability::Renamed));
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.state().phase, PodPhase::Succeeded);
}

TEST(Supervisor, runs_containers_as_their_user_who_may_write_where_they_work) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start processes of others";
  Pod pod;
  pod.manifest.wants_namespace = false;
  auto& main =
      pod.add_shell("main", "id -u; id -g; id -G; echo made > here; echo $POD_ROOT; echo made > $POD_ROOT/scratch/file");
  main.user = 12345;
  main.group = 2345;
  main.mounts = {{.source = pod.volume("volumes/scratch"), .target = "/scratch"}};
  auto& other = pod.add_shell("other", "id -u; id -g");
  other.group = 77;
  chmod(pod.folder.path().c_str(), 0755);
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Succeeded) << pod.log("main") << state.containers[0].exit.message;
  EXPECT_EQ(pod.log("main"), fmt::format("12345\n2345\n2345\n{}/root/main\n", pod.folder.path()));
  EXPECT_EQ(pod.log("other"), "0\n77\n");
  struct stat made = {};
  ASSERT_EQ(stat((pod.folder / "volumes/scratch/file").c_str(), &made), 0);
  EXPECT_EQ(made.st_uid, 12345U);
}

TEST(Supervisor, a_user_who_cannot_reach_a_volume_is_told_so) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can start processes of others";
  Pod pod;
  pod.manifest.wants_namespace = false;
  auto& main = pod.add_shell("main", "true");
  main.user = 12345;
  main.mounts = {{.source = pod.volume("volumes/scratch"), .target = "/scratch"}};
  chmod(pod.folder.path().c_str(), 0700);
  const PodState state = pod.run();
  EXPECT_EQ(state.containers[0].exit.reason, "StartError");
  EXPECT_EQ(
      state.containers[0].exit.message,
      fmt::format("securityContext.runAsUser 12345: that user cannot reach {}/root/main/scratch: a folder above it is closed "
                  "to others",
                  pod.folder.path()));
}

TEST(Supervisor, a_volume_that_holds_more_than_its_limit_ends_the_pod) {
  Pod pod;
  pod.manifest.restart = PodRestart::Always;
  const std::string folder = pod.volume("volumes/scratch");
  pod.manifest.limits = {{.name = "scratch", .folder = folder, .bytes = 64 * 1024}};
  pod.add_shell("main",
                fmt::format("trap 'exit 0' TERM; head -c 200000 /dev/zero > {}/file; while :; do sleep 0.01; done", folder));
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Failed) << "whatever its command makes of SIGTERM";
  EXPECT_EQ(state.reason, "Evicted");
  EXPECT_EQ(state.message, "Usage of EmptyDir volume \"scratch\" exceeds the limit \"65536\". ");
  EXPECT_EQ(state.containers[0].exit.exit_code, 0);
}

TEST(Supervisor, one_supervisor_runs_a_folder_and_a_finished_pod_is_not_run_again) {
  Pod pod;
  pod.add_shell("main", "echo once; until [ -e end ]; do sleep 0.01; done").folder = pod.volume("shared");
  pod.start();
  ASSERT_TRUE(pod.logs("main", "once"));
  const pid_t first = pod.supervisor;
  pod.start_again();
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_TRUE(eventually([&] { return pod.state().phase == PodPhase::Running; }));
  ASSERT_TRUE(replace_file(pod.folder / "shared/end", "", 0644, Durability::Renamed));
  pod.supervisor = first;
  EXPECT_EQ(pod.wait(), 0);
  pod.start_again();
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.log("main"), "once\n");
  EXPECT_EQ(pod.state().phase, PodPhase::Succeeded);
}

TEST(Supervisor, killed_it_takes_its_containers_along_and_the_next_one_finds_the_pod_lost) {
  Pod pod;
  pod.add_shell("main",
                "setsid sh -c 'echo $$ > far; exec sleep 1000' & until [ -s far ]; do sleep 0.01; done; echo ready; sleep 1000")
      .folder = pod.volume("shared");
  pod.start();
  ASSERT_TRUE(pod.logs("main", "ready"));
  ASSERT_TRUE(eventually([&] { return pod.state().phase == PodPhase::Running; }));
  kill(pod.supervisor, SIGKILL);
  EXPECT_EQ(pod.wait(), -SIGKILL);
  const PodState left = pod.state();
  EXPECT_EQ(pod_fate(left, is_running(left.supervisor)), PodFate::Lost);
  EXPECT_TRUE(eventually([&] { return !is_running(left.containers[0].process); }));
  pod.start_again();
  EXPECT_EQ(pod.wait(), 0);
  const PodState state = pod.state();
  EXPECT_EQ(state.phase, PodPhase::Lost);
  EXPECT_EQ(state.containers[0].exit.exit_code, 137);
  EXPECT_EQ(state.containers[0].exit.reason, "ContainerStatusUnknown");
  const auto far = read_proc_stat(static_cast<pid_t>(std::stol(pod.folder.text("shared/far"))));
  EXPECT_TRUE(!far || far->state == 'Z');
}

TEST(Supervisor, killed_it_is_not_outlived_by_children_without_an_environment_in_sessions_of_their_own) {
  Pod pod;
  // Each of the two tells its number before it loses all that the environment says.
  pod.add_shell("main",
                "sh -c 'echo $$ > near; exec env -i sleep 1000' & setsid sh -c 'echo $$ > far; exec env -i sleep 1000' & "
                "until [ -s near ] && [ -s far ]; do sleep 0.01; done; echo ready; sleep 1000")
      .folder = pod.volume("shared");
  const pid_t stranger = fork();
  if (stranger == 0) {
    execlp("sleep", "sleep", "1000", nullptr);
    _exit(1);
  }
  pod.start();
  ASSERT_TRUE(pod.logs("main", "ready"));
  const std::string near = pod.folder.text("shared/near");
  const std::string far = pod.folder.text("shared/far");
  for (const std::string& text : {near, far}) {
    const auto pid = static_cast<pid_t>(std::stol(text));
    ASSERT_TRUE(eventually([&] { return !initial_variable(pid, kPodVariable); }));
  }
  kill(pod.supervisor, SIGKILL);
  EXPECT_EQ(pod.wait(), -SIGKILL);
  pod.start_again();
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.state().phase, PodPhase::Lost);
  for (const std::string& text : {near, far}) {
    const auto left = read_proc_stat(static_cast<pid_t>(std::stol(text)));
    EXPECT_TRUE(!left || left->state == 'Z') << text;
  }
  EXPECT_TRUE(is_running(identify(stranger)));
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
}

TEST(Supervisor, the_end_of_a_container_ends_children_that_emptied_their_environment) {
  Pod pod;
  pod.add_shell("short", "setsid sh -c 'echo $$ > far; exec env -i sleep 1000' & until [ -s far ]; do sleep 0.01; done")
      .folder = pod.volume("short");
  pod.add_shell("long", "until [ -e end ]; do sleep 0.01; done").folder = pod.volume("long");
  pod.start();
  ASSERT_TRUE(eventually(
      [&] { return pod.state().containers.size() == 2 && pod.state().containers[0].phase == PodContainerPhase::Terminated; }));
  EXPECT_TRUE(eventually([&] { return is_gone(pod.folder.text("short/far")); }));
  EXPECT_EQ(pod.state().containers[1].phase, PodContainerPhase::Running);
  ASSERT_TRUE(replace_file(pod.folder / "long/end", "", 0644, Durability::Renamed));
  EXPECT_EQ(pod.wait(), 0);
}

TEST(Supervisor, survives_the_death_of_the_process_that_started_it) {
  Pod pod;
  pod.add_shell("main", "until [ -e end ]; do sleep 0.01; done; echo done").folder = pod.volume("shared");
  ASSERT_TRUE(replace_file(pod.folder / "manifest", encode_manifest(pod.manifest), 0644, Durability::Renamed));
  const pid_t parent = fork();
  if (parent == 0) {
    if (fork() == 0) {
      setsid();
      _exit(run_supervisor(pod.folder.path()));
    }
    _exit(0);
  }
  waitpid(parent, nullptr, 0);
  ASSERT_TRUE(eventually([&] { return pod.state().phase == PodPhase::Running; }));
  const ProcessId supervisor = pod.state().supervisor;
  EXPECT_TRUE(is_running(supervisor));
  ASSERT_TRUE(replace_file(pod.folder / "shared/end", "", 0644, Durability::Renamed));
  EXPECT_TRUE(eventually([&] { return !is_running(supervisor); }));
  EXPECT_EQ(pod.state().phase, PodPhase::Succeeded);
  EXPECT_EQ(pod.log("main"), "done\n");
}

TEST(Supervisor, a_manifest_that_cannot_be_read_fails_the_pod_with_its_reason) {
  Pod pod;
  ASSERT_TRUE(replace_file(pod.folder / "manifest", "nonsense\n", 0644, Durability::Renamed));
  pod.start_again();
  EXPECT_EQ(pod.wait(), 0);
  EXPECT_EQ(pod.state().phase, PodPhase::Failed);
  EXPECT_EQ(pod.state().message, "pod manifest line 1 (): a line needs a key and a value");
}

TEST(Supervisor, maps_volumes_below_pod_root_where_mounts_are_not_wanted) {
  Pod pod;
  pod.manifest.wants_namespace = false;
  const std::string config = pod.volume("volumes/config");
  ASSERT_TRUE(replace_file(config + "/x", "value", 0644, Durability::Renamed));
  auto& main = pod.add_shell("main", "cat $POD_ROOT/config/x; pwd -P; cat $POD_ROOT/etc/app/one; echo new > made");
  main.mounts = {{.source = config, .target = "/config"},
                 {.source = config + "/x", .target = "/etc/app/one"},
                 {.source = pod.volume("volumes/data"), .target = "/data/"}};
  main.folder = "/data/in";
  pod.volume("volumes/data/in");
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Succeeded) << pod.log("main") << state.containers[0].exit.message;
  EXPECT_EQ(state.mounting, PodMounting::Mapped);
  EXPECT_EQ(pod.log("main"), fmt::format("value{}\nvalue", pod.folder / "volumes/data/in"));
  EXPECT_EQ(pod.folder.text("volumes/data/in/made"), "new\n");
}

/// Skips the test where the system does not allow mounts.
class SupervisorMounts : public testing::Test {
 protected:
  void SetUp() override {
    TestFolder staging;
    if (!can_mount(staging.path())) GTEST_SKIP() << "skipped: mount namespaces are not permitted here";
  }
};

TEST_F(SupervisorMounts, puts_volumes_at_their_targets_and_leaves_no_trace_on_the_host) {
  Pod pod;
  const std::string config = pod.volume("volumes/config");
  ASSERT_TRUE(replace_file(config + "/x", "value", 0644, Durability::Renamed));
  const std::string script =
      "cat /slipway-test/config/x $POD_ROOT/slipway-test/config/x /etc/slipway-test/one /var/run/slipway-test/x\n"
      "cat /etc/passwd > /dev/null && ls -d /proc/self /usr/bin > /dev/null && pwd\n"
      "(echo no > /slipway-test/config/y) 2> /dev/null || echo read-only\n"
      "echo new > made && ls /slipway-test\n"
      "ls -a / | grep host || echo clean";
  auto& main = pod.add_shell("main", script);
  main.mounts = {{.source = pod.volume("volumes/sub"), .target = "/slipway-test/data/sub"},
                 {.source = config, .target = "/slipway-test/config", .is_read_only = true},
                 {.source = config + "/x", .target = "/etc/slipway-test/one"},
                 {.source = config, .target = "/var/run/slipway-test"},
                 {.source = pod.volume("volumes/data"), .target = "/slipway-test/data"}};
  main.folder = "/slipway-test/data";
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Succeeded) << pod.log("main") << state.containers[0].exit.message;
  EXPECT_EQ(state.mounting, PodMounting::Namespace);
  EXPECT_EQ(pod.log("main"), "valuevaluevaluevalue/slipway-test/data\nread-only\nconfig\ndata\nclean\n");
  EXPECT_EQ(pod.folder.text("volumes/data/made"), "new\n");
  for (const char* path : {"/slipway-test", "/etc/slipway-test", "/run/slipway-test", "/.slipway-host", "/.slipway-probe"}) {
    EXPECT_FALSE(MachineFiles().exists(path)) << path;
  }
  const auto root = MachineFiles().list(pod.folder / "root");
  ASSERT_TRUE(root);
  EXPECT_TRUE(root->empty());
}

TEST_F(SupervisorMounts, what_a_command_writes_beside_its_volumes_reaches_the_host) {
  Pod pod;
  auto& main = pod.add_shell("main", fmt::format("echo hello > {}", pod.volume("host") + "/file"));
  main.mounts = {{.source = pod.volume("volumes/data"), .target = "/slipway-test"}};
  EXPECT_EQ(pod.run().phase, PodPhase::Succeeded);
  EXPECT_EQ(pod.folder.text("host/file"), "hello\n");
}

TEST_F(SupervisorMounts, containers_see_their_own_volumes_only) {
  Pod pod;
  for (const std::string name : {"one", "two"}) {
    const std::string volume = pod.volume("volumes/" + name);
    ASSERT_TRUE(replace_file(volume + "/name", name, 0644, Durability::Renamed));
    pod.add_shell(name, "cat /slipway-test/name").mounts = {{.source = volume, .target = "/slipway-test"}};
  }
  EXPECT_EQ(pod.run().phase, PodPhase::Succeeded);
  EXPECT_EQ(pod.log("one") + pod.log("two"), "onetwo");
}

TEST_F(SupervisorMounts, a_volume_may_cover_the_path_to_the_folder_of_its_pod) {
  Pod pod;
  const std::string volume = pod.volume("volumes/data");
  ASSERT_TRUE(replace_file(volume + "/name", "here", 0644, Durability::Renamed));
  const std::string path = pod.folder.path();
  const std::string above = path.substr(0, path.find('/', 1));
  pod.add_shell("main", "cat " + above + "/name").mounts = {{.source = volume, .target = above}};
  const PodState state = pod.run();
  EXPECT_EQ(state.phase, PodPhase::Succeeded) << state.containers[0].exit.message;
}

TEST_F(SupervisorMounts, a_volume_that_is_not_there_is_a_start_error) {
  Pod pod;
  pod.add_shell("main", "true").mounts = {{.source = "/no/such/volume", .target = "/slipway-test"}};
  const PodState state = pod.run();
  EXPECT_EQ(state.containers[0].exit.exit_code, 128);
  EXPECT_EQ(state.containers[0].exit.message, "cannot open volume /no/such/volume: No such file or directory");
}

TEST(Supervisor, serves_pod_root_in_either_mode_without_being_root) {
  if (getuid() != 0) GTEST_SKIP() << "skipped: needs root to become another user";
  Pod pod;
  const std::string config = pod.volume("config");
  ASSERT_TRUE(replace_file(config + "/x", "value", 0644, Durability::Renamed));
  pod.add_shell("main", "cat $POD_ROOT/slipway-test/x; id -u").mounts = {{.source = config, .target = "/slipway-test"}};
  ASSERT_TRUE(replace_file(pod.folder / "manifest", encode_manifest(pod.manifest), 0644, Durability::Renamed));
  ASSERT_EQ(chown(pod.folder.path().c_str(), 65534, 65534), 0);
  pod.supervisor = fork();
  if (pod.supervisor == 0) {
    const bool changed = setgid(65534) == 0 && setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0;
    _exit(changed ? run_supervisor(pod.folder.path()) : 99);
  }
  EXPECT_EQ(pod.wait(), 0);
  const PodState state = pod.state();
  EXPECT_EQ(state.phase, PodPhase::Succeeded) << pod.log("main") << state.containers[0].exit.message;
  EXPECT_NE(state.mounting, PodMounting::None);
  EXPECT_EQ(pod.log("main"), "value65534\n");
  RecordProperty("mounting", std::string(to_string(state.mounting)));
}

}  // namespace
}  // namespace slipway::os
