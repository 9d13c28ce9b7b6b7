#include "os/pod_mark.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/proc.h"

namespace slipway::os {
namespace {

/// A child that carries a mark and, once it executes `sleep`, neither an environment nor the session of its parent.
class MarkedChild {
 public:
  explicit MarkedChild(PodMark mark) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const bool is_marked = carry_mark(mark);
      setsid();
      char name[] = "sleep";
      char seconds[] = "1000";
      char* argv[] = {name, seconds, nullptr};
      char* environment[] = {nullptr};
      if (is_marked) execve("/bin/sleep", argv, environment);
      _exit(1);
    }
    close(ends[1]);
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 0) << "it has executed its program";
    close(ends[0]);
  }
  ~MarkedChild() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST(PodMark, are_different_and_leave_room_for_containers) {
  const PodMark one = make_pod_mark();
  const PodMark two = make_pod_mark();
  EXPECT_NE(one, 0U);
  EXPECT_NE(one, two);
  EXPECT_EQ(one % kMarksPerPod, 0U);
  EXPECT_EQ(container_mark(one, 3), one + 3);
  EXPECT_EQ(container_mark(one, 5000), one + kMarksPerPod - 1);
}

TEST(PodMark, a_child_without_environment_in_another_session_still_carries_it) {
  const PodMark pod = make_pod_mark();
  const MarkedChild child(container_mark(pod, 2));
  EXPECT_EQ(marked_container(pod, child.pid()), 2U);
  EXPECT_EQ(marked_container(pod + kMarksPerPod, child.pid()), std::nullopt);
  EXPECT_EQ(marked_container(pod, getpid()), std::nullopt);
  EXPECT_EQ(marked_container(0, child.pid()), std::nullopt) << "0 marks nothing";
}

TEST(PodMark, in_a_pod_another_one_can_be_made_below_it) {
  const pid_t child = fork();
  if (child == 0) {
    const PodMark outer = make_pod_mark();
    if (!carry_mark(container_mark(outer, 0))) _exit(1);
    const PodMark inner = make_pod_mark();
    _exit(inner != 0 && container_mark(inner, kMarksPerPod) < outer ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(PodMark, kills_what_is_meant_and_nothing_else) {
  const MarkedChild child(make_pod_mark());
  EXPECT_FALSE(kill_if(child.pid(), [] { return false; }));
  EXPECT_TRUE(is_running(identify(child.pid())));
  EXPECT_TRUE(kill_if(child.pid(), [] { return true; }));
  siginfo_t info = {};
  EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(info.si_status, SIGKILL);
  EXPECT_FALSE(kill_if(-5, [] { return true; }));
}

}  // namespace
}  // namespace slipway::os
