#include "os/programs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <filesystem>

#include "os/proc.h"
#include "os/real_env.h"
#include "os/test_folder.h"

namespace slipway::os {
namespace {

using namespace std::chrono_literals;

ProgramCall shell(std::string script) { return {.name = "sh", .arguments = {"-c", std::move(script)}}; }

/// Runs one program on a RealEnv of its own.
Result<ProgramEnd> end_of(ProgramCall call) {
  RealEnv real;
  Result<ProgramEnd> end = fail(Reason::InternalError, "not run");
  boost::asio::co_spawn(
      real.env().executor,
      [](RealEnv& env, ProgramCall asked, Result<ProgramEnd>& into) -> Task<> {
        into = co_await env.env().programs->run(std::move(asked));
        env.stop();
      }(real, std::move(call), end),
      [](std::exception_ptr error) { EXPECT_FALSE(error); });
  real.run();
  return end;
}

std::string output_of(ProgramCall call) {
  const auto end = end_of(std::move(call));
  return end ? end->output : end.error().message;
}

TEST(Programs, gets_files_arguments_and_input_and_gives_output_error_and_code) {
  ProgramCall call = shell("cat; cat a/b.txt; ./run.sh; echo wrong >&2; exit 3");
  call.files = {{"a/b.txt", {"file "}}, {"run.sh", {"#!/bin/sh\necho run", ProgramFile::Mode::executable}}};
  call.input = "input ";
  const auto end = end_of(call);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->output, "input file run\n");
  EXPECT_EQ(end->error, "wrong\n");
  EXPECT_EQ(end->code, 3);
}

TEST(Programs, sees_a_folder_of_its_own_and_no_variable_but_those_given) {
  ProgramCall call = shell("test \"$PWD\" = \"$HOME\" && test \"$PWD\" = \"$TMPDIR\" && ls -A && echo $ONE && env | wc -l");
  call.variables = {{"ONE", "1"}, {"HOME", "/elsewhere"}};
  // HOME, TMPDIR, LANG, PATH, ONE, and what the shell adds: PWD at most, with OLDPWD and _ in some shells.
  const std::string output = output_of(call);
  ASSERT_TRUE(output.starts_with("1\n")) << output;
  EXPECT_LE(std::stoi(output.substr(2)), 8) << output;
}

TEST(Programs, leaves_nothing_behind) {
  const std::string folder = output_of(shell("mkdir -p x/y; touch x/y/z; printf %s \"$PWD\""));
  ASSERT_TRUE(folder.starts_with("/")) << folder;
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST(Programs, names_the_program_that_is_missing) {
  const auto end = end_of({.name = "no-such-program"});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, Reason::NotFound);
  EXPECT_EQ(end.error().message, "exec: \"no-such-program\": executable file not found in $PATH");
  RealEnv real;
  EXPECT_TRUE(real.env().programs->find("sh"));
  EXPECT_EQ(real.env().programs->find("no-such-program").error().reason, Reason::NotFound);
  EXPECT_TRUE(real.open_env().programs != nullptr) << "those of clusters have it too";
}

TEST(Programs, refuses_files_outside_of_its_folder) {
  for (const char* path : {"../x", "/x", "a/../x", "", "a//b", "./a"}) {
    ProgramCall call = shell("true");
    call.files = {{path, {"x"}}};
    const auto end = end_of(call);
    ASSERT_FALSE(end) << path;
    EXPECT_EQ(end.error().reason, Reason::BadRequest) << path;
  }
}

TEST(Programs, is_killed_when_its_time_is_used_up_with_all_that_it_started) {
  TestFolder folder;
  ProgramCall call = shell("sleep 1000 & echo $! > '" + (folder / "child") + "'; wait");
  call.timeout = 300ms;
  const auto end = end_of(call);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, Reason::Timeout) << end.error().message;
  const std::string child = folder.text("child");
  // A slow machine may kill it before it has started anything.
  if (child.find_first_not_of("0123456789\n") == std::string::npos && !child.empty()) {
    EXPECT_TRUE(eventually([&] {
      const auto stat = read_proc_stat(static_cast<pid_t>(std::stoi(child)));
      return !stat || stat->state == 'Z';
    }));
  }
}

TEST(Programs, too_much_output_is_refused_and_too_much_error_cut) {
  ProgramCall call = shell("yes");
  call.max_output_bytes = 100'000;
  const auto end = end_of(call);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().reason, Reason::RequestEntityTooLarge) << end.error().message;
  call = shell("yes | head -c 300000 >&2; yes | head -c 100000");
  call.max_output_bytes = 100'000;
  const auto cut = end_of(call);
  ASSERT_TRUE(cut) << cut.error().message;
  EXPECT_EQ(cut->output.size(), 100'000u);
  EXPECT_EQ(cut->error.size(), Programs::kMaxErrorBytes);
}

TEST(Programs, a_signal_is_told_as_a_shell_does) {
  const auto end = end_of(shell("kill -TERM $$"));
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->code, 128 + SIGTERM);
}

TEST(Programs, a_background_process_does_not_hold_it_open) {
  const auto end = end_of(shell("sleep 1000 & echo done"));
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->output, "done\n");
}

TEST(Programs, stopping_kills_what_runs) {
  TestFolder folder;
  RealEnv real;
  bool has_ended = false;
  boost::asio::co_spawn(
      real.env().executor,
      [](RealEnv& env, std::string mark, bool& ended) -> Task<> {
        (void)co_await env.env().programs->run(shell("echo $$ > '" + mark + "'; exec sleep 1000"));
        ended = true;
      }(real, folder / "pid", has_ended),
      [](std::exception_ptr) {});
  const auto timer = real.env().clock.call_at(real.env().clock.steady(), [&] { real.stop(); });
  real.run();
  EXPECT_TRUE(eventually([&] { return folder.text("pid").ends_with("\n"); }));
  real.shut();
  EXPECT_FALSE(has_ended);
  EXPECT_FALSE(read_proc_stat(static_cast<pid_t>(std::stoi(folder.text("pid")))));
}

TEST(Programs, has_no_network_unless_it_is_given) {
  ProgramCall call = shell("unshare -Un true && echo yes");
  call.network = ProgramCall::Network::machine;
  if (output_of(call) != "yes\n") GTEST_SKIP() << "this machine refuses user namespaces";
  call = shell("readlink /proc/self/ns/net; id");
  const std::string alone = output_of(call);
  call.network = ProgramCall::Network::machine;
  const std::string with = output_of(call);
  EXPECT_NE(alone.substr(0, alone.find('\n')), with.substr(0, with.find('\n')));
  EXPECT_EQ(alone.substr(alone.find('\n')), with.substr(with.find('\n'))) << "the same user";
}

/// A shell in a sandbox; skipped where the kernel gives none.
ProgramCall sandboxed(std::string script) {
  ProgramCall call = shell(std::move(script));
  call.sandbox = ProgramSandbox{};
  call.timeout = 20s;
  return call;
}
#define SKIP_WITHOUT_SANDBOX()                                                                           \
  if (const auto tried = end_of(sandboxed("true")); !tried && tried.error().reason == Reason::Forbidden) \
  GTEST_SKIP() << tried.error().message

TEST(Sandbox, gives_input_output_error_and_code) {
  SKIP_WITHOUT_SANDBOX();
  ProgramCall call = sandboxed("cat; echo wrong >&2; exit 3");
  call.input = "input";
  const auto end = end_of(call);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->output, "input");
  EXPECT_EQ(end->error, "wrong\n");
  EXPECT_EQ(end->code, 3);
  EXPECT_EQ(end_of(sandboxed("kill -TERM $$"))->code, 128 + SIGTERM);
}

TEST(Sandbox, has_no_network_and_sees_only_its_own_processes) {
  SKIP_WITHOUT_SANDBOX();
  ProgramCall call = shell("readlink /proc/self/ns/net");
  call.network = ProgramCall::Network::machine;
  EXPECT_NE(output_of(sandboxed("readlink /proc/self/ns/net")), output_of(call));
  EXPECT_EQ(output_of(sandboxed("echo $$")), "2\n");
  EXPECT_EQ(output_of(sandboxed("id -u")), "65534\n");
}

TEST(Sandbox, writes_nowhere_but_in_tmp_and_that_within_its_bound) {
  SKIP_WITHOUT_SANDBOX();
  for (const char* place : {"/x", "/usr/x", "/usr/bin/x", "/etc/x", "/dev/x"}) {
    EXPECT_EQ(output_of(sandboxed(std::string("(echo x > ") + place + ") 2>/dev/null || echo refused")), "refused\n") << place;
  }
  EXPECT_EQ(output_of(sandboxed("pwd; echo $HOME; echo kept > x; cat x")), "/tmp\n/tmp\nkept\n");
  EXPECT_EQ(output_of(sandboxed("mount -o remount,rw /usr 2>/dev/null || echo refused")), "refused\n");
  ProgramCall call = sandboxed("head -c 3000000 /dev/zero > x 2>/dev/null || stat -c %s x");
  call.sandbox->max_file_bytes = 1 << 20;
  EXPECT_LE(std::stoi(output_of(call)), 1 << 20);
}

TEST(Sandbox, sees_its_folder_and_no_others_of_the_machine) {
  SKIP_WITHOUT_SANDBOX();
  TestFolder folder;
  TestFolder other;
  std::filesystem::create_directories(folder / "p");
  MachineFiles().write(folder / "p/data", "content", 0600).value();
  MachineFiles().write(other / "secret", "secret", 0644).value();
  ProgramCall call =
      sandboxed("cat data; test -e '" + (other / "secret") + "' || echo ' unseen'; touch data 2>/dev/null || echo refused");
  call.sandbox->folder = folder / "p";
  EXPECT_EQ(output_of(call), "content unseen\nrefused\n");
  call.sandbox->folder = folder / "none";
  EXPECT_EQ(end_of(call).error().reason, Reason::BadRequest);
  call.sandbox->folder = "/";
  EXPECT_EQ(end_of(call).error().reason, Reason::BadRequest);
}

TEST(Sandbox, a_program_of_any_folder_can_be_run) {
  SKIP_WITHOUT_SANDBOX();
  TestFolder folder;
  MachineFiles().write(folder / "fn", "#!/bin/sh\necho ran; cat /etc/shadow 2>/dev/null; ls " + (folder / ""), 0755).value();
  ProgramCall call = sandboxed("");
  call.name = folder / "fn";
  call.arguments = {};
  EXPECT_EQ(output_of(call), "ran\nfn\n") << "and of its folder only itself is seen";
}

TEST(Sandbox, is_ended_with_its_time_its_memory_and_its_processes) {
  SKIP_WITHOUT_SANDBOX();
  ProgramCall call = sandboxed("setsid sleep 1000 & sleep 1000");
  call.timeout = 300ms;
  EXPECT_EQ(end_of(call).error().reason, Reason::Timeout);
  call = sandboxed("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 & done; wait");
  call.sandbox->max_processes = 8;
  const auto crowd = end_of(call);
  ASSERT_FALSE(crowd);
  EXPECT_EQ(crowd.error().message, "sh: it has more than 8 processes");
  call = sandboxed("head -c 200000000 /dev/zero | tail; echo done");  // tail keeps it all, as there is no line end
  call.sandbox->max_memory_bytes = 64 << 20;
  const auto large = end_of(call);
  EXPECT_TRUE(!large || !large->error.empty()) << "it was ended, or got no more memory";
  call = sandboxed("yes");
  call.max_output_bytes = 100'000;
  EXPECT_EQ(end_of(call).error().reason, Reason::RequestEntityTooLarge);
}

/// Whether a process of the machine has that argument.
bool is_there(const std::string& argument) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const auto command = MachineFiles().read((entry.path() / "cmdline").string());
    if (command && command->contains(argument)) return true;
  }
  return false;
}

TEST(Sandbox, ends_all_that_the_program_has_started) {
  SKIP_WITHOUT_SANDBOX();
  const std::string seconds = std::to_string(10'000'000 + getpid());
  const auto end = end_of(sandboxed("n=" + seconds + "; setsid sleep $n & echo begun"));
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->output, "begun\n");
  EXPECT_TRUE(eventually([&] { return !is_there(seconds); }));
}

TEST(Programs, inherits_nothing_that_is_open_here) {
  const Descriptor own(open("/dev/null", O_RDONLY));  // NOLINT: without O_CLOEXEC
  EXPECT_EQ(output_of(shell("ls /proc/self/fd | tr '\\n' ' '")), "0 1 2 3 ") << "3 is the folder that ls reads";
}

TEST(Sandbox, no_process_of_it_holds_what_is_open_here) {
  SKIP_WITHOUT_SANDBOX();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor held(ends[0]);
  Descriptor writer(ends[1]);
  const std::string seconds = std::to_string(20'000'000 + getpid());
  RealEnv real;
  boost::asio::co_spawn(
      real.env().executor,
      [](RealEnv& env, ProgramCall call) -> Task<> { (void)co_await env.env().programs->run(std::move(call)); }(
                                             real, sandboxed("n=" + seconds + "; exec sleep $n")),
      [](std::exception_ptr) {});
  const auto timer = real.env().clock.call_at(real.env().clock.steady(), [&] { real.stop(); });
  real.run();
  // "sleep N" as one argument each: the shell's own command line has "n=N".
  EXPECT_TRUE(eventually([&] { return is_there(std::string("sleep") + '\0' + seconds); }));
  writer = Descriptor();
  char byte = 0;
  ASSERT_EQ(fcntl(held.get(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(read(held.get(), &byte, 1), 0) << "the pipe's last writer is gone, though the program runs";
  real.shut();
}

TEST(Sandbox, programs_that_start_at_once_do_not_wait_for_each_other) {
  SKIP_WITHOUT_SANDBOX();
  constexpr int kCount = 24;  // more than there are threads: starts and ends overlap
  RealEnv real;
  int ended = 0;
  for (int i = 0; i < kCount; ++i) {
    boost::asio::co_spawn(
        real.env().executor,
        [](RealEnv& env, ProgramCall call, int& done) -> Task<> {
          const auto end = co_await env.env().programs->run(std::move(call));
          EXPECT_TRUE(end && end->output.size() == 200'000u) << (end ? "cut" : end.error().message);
          if (++done == kCount) env.stop();
        }(real, sandboxed("head -c 200000 /dev/zero"), ended),
        [](std::exception_ptr error) { EXPECT_FALSE(error); });
  }
  real.run();
  real.shut();
  EXPECT_EQ(ended, kCount);
}

#undef SKIP_WITHOUT_SANDBOX

}  // namespace
}  // namespace slipway::os
