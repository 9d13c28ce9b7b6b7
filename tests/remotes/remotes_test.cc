// Room git against real servers and on real threads: git's http backend, sshd, writers that race, a server that keeps silent.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "base/manual_env.h"
#include "git/repositories.h"
#include "os/logic_thread_fixture.h"
#include "servers.h"

namespace slipway::git {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMain = "refs/heads/main";

class RemotesTest : public os::LogicThreadTest {
 protected:
  ~RemotesTest() override { real_.shut(); }

  GitNewCommit change(GitId parent, std::string path, std::string content) {
    GitNewCommit wanted{
        .parents = {std::move(parent)}, .changes = {{std::move(path), std::move(content)}}, .message = "change\n"};
    wanted.author = {"Slipway", "slipway@example.org", Time{1'767'300'000s}};
    return wanted;
  }

  /// The whole way: list, fetch, read, commit, push, create, refuse, delete; ends with what the git program sees.
  void go_the_whole_way() {
    const GitId base = theirs_.commit({{"a.yaml", "a: 1\n"}}, "one");
    EXPECT_EQ(ok(git_.list_refs(remote_, "")).head, kMain);
    EXPECT_EQ(ok(git_.fetch(remote_, kMain)), base);
    EXPECT_EQ(ok(git_.read_tree(remote_, base, {}))[0].content, "a: 1\n");
    const GitId made = ok(git_.commit(remote_, change(base, "a.yaml", "a: 2\n")));
    const auto pushed = run(git_.update_ref(remote_, {kMain, base, made}));
    EXPECT_TRUE(pushed) << pushed.error().message;
    EXPECT_EQ(theirs_.tip(), made);
    const auto tagged = run(git_.update_ref(remote_, {"refs/tags/v1", std::nullopt, base}));
    EXPECT_TRUE(tagged) << tagged.error().message;
    EXPECT_EQ(fault(git_.update_ref(remote_, {"refs/tags/v1", std::nullopt, made})).reason, Reason::Conflict);
    EXPECT_EQ(fault(git_.update_ref(remote_, {kMain, base, made})).reason, Reason::Conflict);
    EXPECT_EQ(fault(git_.update_ref(remote_, {"refs/tags/v1", made, std::nullopt})).reason, Reason::Conflict);
    const auto removed = run(git_.update_ref(remote_, {"refs/tags/v1", base, std::nullopt}));
    EXPECT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(theirs_.bare("for-each-ref --format='%(refname)'"), kMain);
    EXPECT_EQ(theirs_.bare("fsck --full --strict --no-dangling"), "");
    EXPECT_EQ(fault(git_.fetch(remote_, "refs/heads/nobody")).reason, Reason::NotFound);
  }

  TestRepository theirs_;
  TemporaryFolder data_;
  Repositories git_{real_.env(),
                    {&real_.open_lane("mirrors")},
                    {&real_.open_lane("git-1"), &real_.open_lane("git-2")},
                    {.folder = data_ / "git"}};
  GitRemote remote_{.url = theirs_.path(), .space = "team"};
};

TEST_F(RemotesTest, local_repositories_go_the_whole_way) { go_the_whole_way(); }

TEST_F(RemotesTest, http_goes_the_whole_way) {
  const HttpRemote server(theirs_);
  remote_.url = server.url();
  go_the_whole_way();
}

TEST_F(RemotesTest, a_server_that_the_policy_refuses_is_not_asked) {
  const HttpRemote server(theirs_);
  const AddressPolicy policy;
  Repositories guarded(real_.env(), {&real_.open_lane("guarded-mirrors")}, {&real_.open_lane("guarded-git")},
                       {.folder = data_ / "guarded", .limits = {.addresses = &policy}});
  for (const std::string& url : {server.url(), std::string("ssh://git@localhost:1/r.git")}) {
    remote_.url = url;
    const Status status = fault(guarded.list_refs(remote_, ""));
    EXPECT_EQ(status.reason, Reason::Forbidden) << url << ": " << status.message;
    EXPECT_TRUE(status.message.contains("--allow-outgoing")) << status.message;
  }
  remote_.url = theirs_.path();  // no server
  EXPECT_TRUE(run(guarded.list_refs(remote_, "")));
}

TEST_F(RemotesTest, http_with_credentials_goes_the_whole_way_and_wrong_ones_are_unauthorized) {
  const HttpRemote server(theirs_, {.user = "bot", .password = "hunter2"});
  remote_.url = server.url();
  Status status = fault(git_.list_refs(remote_, ""));
  EXPECT_EQ(status.reason, Reason::Unauthorized);
  EXPECT_EQ(status.message, "git: connect to " + server.url() + ": the server asks for credentials, none were given");
  remote_.credentials = {.username = "bot", .password = "wrong"};
  status = fault(git_.list_refs(remote_, ""));
  EXPECT_EQ(status.reason, Reason::Unauthorized);
  EXPECT_EQ(status.message, "git: connect to " + server.url() + ": the credentials were refused");
  remote_.credentials = {.username = "bot", .password = "hunter2"};
  go_the_whole_way();
}

TEST_F(RemotesTest, answers_of_http_have_their_reasons) {
  const HttpRemote server(theirs_);
  const std::string root = server.url().substr(0, server.url().rfind('/'));
  remote_.url = root + "/absent.git";
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::NotFound);
  remote_.url = root + "/forbidden/remote.git";
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::Forbidden);
  remote_.url = root + "/moved/remote.git";
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::BadRequest);
  remote_.url = "http://127.0.0.1:" + std::to_string(free_port()) + "/remote.git";
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::ServiceUnavailable);
}

TEST_F(RemotesTest, https_trusts_the_bundle_that_is_given_and_nothing_else) {
  shell("cd " + data_.path() +
        " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem -days 2 -subj "
        "/CN=ca "
        "&& openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout s.key -out s.csr -subj /CN=s "
        "&& printf 'subjectAltName=IP:127.0.0.1\\n' > s.ext "
        "&& openssl x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile s.ext -out s.pem");
  const HttpRemote server(theirs_,
                          {.user = "bot", .password = "hunter2", .certificate = data_ / "s.pem", .key = data_ / "s.key"});
  remote_.url = server.url();
  remote_.credentials = {.username = "bot", .password = "hunter2"};
  const Status status = fault(git_.list_refs(remote_, ""));
  EXPECT_EQ(status.reason, Reason::Unauthorized);
  EXPECT_EQ(status.message, "git: connect to " + server.url() + ": the certificate of 127.0.0.1 is not trusted");
  remote_.credentials.ca_bundle = shell("cat " + data_ / "ca.pem");
  go_the_whole_way();
}

TEST_F(RemotesTest, ssh_goes_the_whole_way_with_a_key_and_known_hosts) {
  if (!SshRemote::is_possible()) GTEST_SKIP() << "no sshd on this machine: ssh is not tested";
  const SshRemote server(theirs_);
  remote_.url = server.url();
  remote_.credentials.ssh_private_key = server.key();
  Status status = fault(git_.list_refs(remote_, ""));
  EXPECT_EQ(status.reason, Reason::Unauthorized);
  EXPECT_TRUE(status.message.ends_with("host key of 127.0.0.1 is not in the known hosts that were given")) << status.message;
  remote_.credentials = {.known_hosts = server.known_hosts()};
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::Unauthorized);
  shell("ssh-keygen -q -t ed25519 -N '' -f " + data_ / "stranger");
  remote_.credentials.ssh_private_key = shell("cat " + data_ / "stranger");
  status = fault(git_.list_refs(remote_, ""));
  EXPECT_EQ(status.reason, Reason::Unauthorized) << status.message;
  remote_.credentials.ssh_private_key = server.key();
  remote_.url += "-absent";
  EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::NotFound);
  remote_.url = server.url();
  go_the_whole_way();
}

TEST_F(RemotesTest, a_server_that_keeps_silent_is_left_at_the_time_out) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 8), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string port = std::to_string(ntohs(address.sin_port));
  remote_.timeout = 200ms;
  remote_.credentials = {.ssh_private_key = "x", .known_hosts = "x"};
  for (const std::string scheme : {"http://", "https://", "ssh://git@"}) {
    remote_.url = scheme + "127.0.0.1:" + port + "/remote.git";
    EXPECT_EQ(fault(git_.list_refs(remote_, "")).reason, Reason::Timeout) << scheme;
  }
  close(listener);
}

/// A port of this process: accepts, and lets a thread do what it likes with each connection.
class OwnServer {
 public:
  explicit OwnServer(std::function<void(int)> serve) : serve_(std::move(serve)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 8);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] {
      for (int peer = accept(listener_, nullptr, nullptr); peer >= 0; peer = accept(listener_, nullptr, nullptr)) {
        serve_(peer);
        close(peer);
      }
    });
  }
  ~OwnServer() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + port_ + "/remote.git"; }

 private:
  std::function<void(int)> serve_;
  int listener_ = -1;
  std::string port_;
  std::thread thread_;
};

void wait_for_end(int peer) {
  char byte = 0;
  while (recv(peer, &byte, 1, 0) > 0) {
  }
}

TEST_F(RemotesTest, a_server_without_a_first_byte_is_left_early_and_not_asked_again_at_once) {
  std::atomic<int> asked = 0;
  OwnServer server([&](int peer) {
    ++asked;
    wait_for_end(peer);
  });
  Repositories git(real_.env(), {&real_.open_lane("mirrors")}, {&real_.open_lane("git")},
                   {.folder = data_ / "silent", .limits = {.first_byte = 200ms}});
  remote_.url = server.url();
  const auto begin = real_.env().clock.steady();
  const Status first = fault(git.list_refs(remote_, ""));
  EXPECT_EQ(first.reason, Reason::Timeout) << first.message;
  EXPECT_TRUE(first.message.contains("no answer within 200ms")) << first.message;
  EXPECT_LT(real_.env().clock.steady() - begin, 5s) << "long before the time-out of 60 s";
  const Status second = fault(git.list_refs(remote_, ""));
  EXPECT_EQ(second.reason, Reason::Timeout);
  EXPECT_TRUE(second.message.contains("has not answered in time")) << second.message;
  EXPECT_EQ(asked, 1);
  remote_.space = "other";
  EXPECT_EQ(fault(git.list_refs(remote_, "")).reason, Reason::Timeout);
  EXPECT_EQ(asked, 2) << "what one tenant's host does says nothing to another";
}

TEST_F(RemotesTest, references_without_end_are_refused_beyond_the_limit) {
  std::atomic<std::uint64_t> sent = 0;
  OwnServer server([&](int peer) {
    char request[4096];
    recv(peer, request, sizeof request, 0);
    std::string text =
        "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\nConnection: close\r\n\r\n"
        "001e# service=git-upload-pack\n0000";
    for (int i = 0; send(peer, text.data(), text.size(), MSG_NOSIGNAL) > 0; ++i) {
      sent += text.size();
      const std::string line = std::string(40, 'a') + " refs/heads/b" + std::to_string(i) + "\n";
      char size[5];
      snprintf(size, sizeof size, "%04zx", line.size() + 4);
      text = size + line;
    }
  });
  Repositories git(real_.env(), {&real_.open_lane("mirrors")}, {&real_.open_lane("git")},
                   {.folder = data_ / "flood", .limits = {.before_pack = 1 << 20}});
  remote_.url = server.url();
  const Status status = fault(git.list_refs(remote_, ""));
  EXPECT_EQ(status.reason, Reason::RequestEntityTooLarge) << status.message;
  EXPECT_TRUE(status.message.contains("the server sends more than 1048576 bytes")) << status.message;
  EXPECT_LT(sent, std::uint64_t{16} << 20) << "what sockets hold, and no more";
}

TEST_F(RemotesTest, a_pack_beyond_the_limit_is_refused) {
  std::string large;
  for (int i = 0; large.size() < (3U << 20); ++i) large += std::to_string(i * 2'654'435'761U);  // does not compress away
  theirs_.commit({{"large", large}}, "large");
  const HttpRemote server(theirs_);
  remote_.url = server.url();
  Repositories git(real_.env(), {&real_.open_lane("mirrors")}, {&real_.open_lane("git")},
                   {.folder = data_ / "small", .max_pack_bytes = 100'000});
  EXPECT_EQ(fault(git.fetch(remote_, kMain)).reason, Reason::RequestEntityTooLarge);
  EXPECT_TRUE(run(git_.fetch(remote_, kMain)).has_value()) << "64 MiB are the default";
}

TEST_F(RemotesTest, a_stop_ends_what_hangs) {
  OwnServer server(wait_for_end);
  remote_.url = server.url();
  const auto begin = real_.env().clock.steady();
  const auto stops = real_.env().clock.call_at(begin + 300ms, [&] { git_.stop(); });
  EXPECT_FALSE(run(git_.list_refs(remote_, "")).has_value());
  EXPECT_LT(real_.env().clock.steady() - begin, 5s);
}

/// Two writers, each with a mirror of its own: fetch, add a line, push; after a conflict again.
Task<Result<int>> add_lines(Git& git, GitRemote remote, std::string name, int count) {
  int conflicts = 0;
  for (int i = 0; i < count;) {
    SLIPWAY_CO_TRY(base, co_await git.fetch(remote, kMain));
    GitNewCommit wanted{.parents = {base}, .changes = {{name + "/" + std::to_string(i), "x"}}, .message = name};
    wanted.author = {"Slipway", "slipway@example.org", Time{1'767'300'000s}};
    SLIPWAY_CO_TRY(made, co_await git.commit(remote, wanted));
    const auto pushed = co_await git.update_ref(remote, {kMain, base, made});
    if (pushed) {
      ++i;
    } else if (pushed.error().reason == Reason::Conflict) {
      ++conflicts;
    } else {
      co_return fail(pushed.error());
    }
  }
  co_return conflicts;
}

Task<Result<int>> race(Env& env, Git& git, GitRemote remote, int count) {
  std::optional<Result<int>> one;
  std::optional<Result<int>> two;
  GitRemote other = remote;
  other.space = "others";
  const auto keep = [](Task<Result<int>> task, std::optional<Result<int>>& into) -> Task<> { into = co_await std::move(task); };
  Tasks tasks(env);
  tasks.spawn(keep(add_lines(git, remote, "one", count), one));
  tasks.spawn(keep(add_lines(git, other, "two", count), two));
  co_await tasks.join();
  SLIPWAY_CO_TRY(a, *one);
  SLIPWAY_CO_TRY(b, *two);
  co_return a + b;
}

TEST_F(RemotesTest, two_racing_writers_lose_nothing_in_a_local_repository) {
  ok(race(real_.env(), git_, remote_, 25));
  EXPECT_EQ(theirs_.bare("ls-tree -r --name-only main | wc -l"), "50");
  EXPECT_EQ(theirs_.bare("rev-list --count main"), "51");
  EXPECT_EQ(theirs_.bare("fsck --full --strict --no-dangling"), "");
}

/// Not a test: what the child processes of the next one run, until they are killed.
TEST(Writer, DISABLED_pushes_until_it_is_killed) {
  const char* url = getenv("SLIPWAY_TEST_URL");
  const char* folder = getenv("SLIPWAY_TEST_FOLDER");
  const char* name = getenv("SLIPWAY_TEST_NAME");
  ASSERT_TRUE(url != nullptr && folder != nullptr && name != nullptr);
  ManualEnv env;
  InlineLane lane(env.queue());
  Repositories git(env, {&lane}, {&lane}, {.folder = folder});
  const auto ended = env.run(add_lines(git, {.url = url, .space = "team"}, name, 1'000'000));
  FAIL() << ended.error().message;
}

/// A writer that is killed at any moment leaves a sound repository, and its mirror serves the next one.
TEST_F(RemotesTest, killed_writers_leave_a_sound_repository) {
  setenv("SLIPWAY_TEST_URL", remote_.url.c_str(), 1);
  setenv("SLIPWAY_TEST_FOLDER", (data_ / "killed").c_str(), 1);
  for (int round = 0; round < 6; ++round) {
    const std::string before = theirs_.tip();
    setenv("SLIPWAY_TEST_NAME", ("round-" + std::to_string(round)).c_str(), 1);
    Child writer({"/proc/self/exe", "--gtest_also_run_disabled_tests", "--gtest_filter=Writer.*"});
    for (int seen = 0; seen < 2 + round % 3;) {  // some pushes, wherever it is then
      ASSERT_FALSE(writer.has_ended());
      seen += theirs_.tip() != before ? 1 : 0;
    }
    writer.kill_now();
    // As with the git program, a lock in a user's repository is for its owner to remove.
    std::filesystem::remove(theirs_.path() + "/refs/heads/main.lock");
  }
  EXPECT_EQ(theirs_.bare("fsck --full --strict --no-dangling"), "");
  const int commits = std::atoi(theirs_.bare("rev-list --count main").c_str());
  EXPECT_EQ(theirs_.bare("ls-tree -r --name-only main | wc -l"), std::to_string(commits - 1));
  Repositories next(real_.env(), {&real_.open_lane("next")}, {&real_.open_lane("next-git")}, {.folder = data_ / "killed"});
  EXPECT_EQ(ok(add_lines(next, remote_, "after", 3)), 0);
}

TEST_F(RemotesTest, two_racing_writers_lose_nothing_over_http) {
  const HttpRemote server(theirs_);
  remote_.url = server.url();
  ok(race(real_.env(), git_, remote_, 5));
  EXPECT_EQ(theirs_.bare("ls-tree -r --name-only main | wc -l"), "10");
  EXPECT_EQ(theirs_.bare("rev-list --count main"), "11");
}

TEST_F(RemotesTest, a_hook_that_declines_is_forbidden_and_says_why) {
  const HttpRemote server(theirs_);
  remote_.url = server.url();
  const GitId base = ok(git_.fetch(remote_, kMain));
  const std::string hook = theirs_.path() + "/hooks/pre-receive";
  std::filesystem::create_directories(theirs_.path() + "/hooks");
  std::ofstream(hook) << "#!/bin/sh\nexit 1\n";
  std::filesystem::permissions(hook, std::filesystem::perms::all);
  const GitId made = ok(git_.commit(remote_, change(base, "a", "1")));
  const Status status = fault(git_.update_ref(remote_, {kMain, base, made}));
  EXPECT_EQ(status.reason, Reason::Forbidden);
  EXPECT_EQ(status.message, "git: push refs/heads/main to " + server.url() + ": refused: pre-receive hook declined");
}

}  // namespace
}  // namespace slipway::git
