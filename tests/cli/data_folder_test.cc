// What the binary makes of a data folder that is damaged, and how signals end what it serves.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>

#include "program.h"

namespace slipway::cli {
namespace {

class DataFolder : public CommandLine {
 protected:
  std::vector<std::string> up_arguments() { return {"up", "--listen", "127.0.0.1:0", "--data-dir", data_dir()}; }
  std::filesystem::path database() const { return folder_ / "data" / "cluster.db"; }

  /// Serves until `number` comes; its end.
  Ended serve_until(int number) {
    Program up(folder_, up_arguments());
    EXPECT_TRUE(up.wait_for_output("serving"));
    up.signal(number);
    return up.wait();
  }
};

TEST_F(DataFolder, keys_without_their_database_are_refused_by_all_that_would_make_a_new_one) {
  EXPECT_EQ(serve_until(SIGTERM).code, 0);
  const std::string key = read_file(folder_ / "data/pki/sa.key");
  ASSERT_NE(key, "");
  const std::string file = write("w.yaml", shell_workflow("flow", {{"one", "true"}}));
  for (const std::string how : {"empty", "missing"}) {
    std::filesystem::resize_file(database(), 0);
    if (how == "missing") std::filesystem::remove(database());
    const std::vector<std::vector<std::string>> ways = {up_arguments(), {"run", "-f", file, "--data-dir", data_dir()}};
    for (const auto& arguments : ways) {
      const Ended refused = slipway(arguments);
      EXPECT_NE(refused.code, 0);
      EXPECT_NE(refused.err.find("cluster.db is damaged: it is " + how + ", but "), std::string::npos) << refused.err;
      EXPECT_NE(refused.err.find("pki away to begin an empty cluster"), std::string::npos) << refused.err;
    }
    EXPECT_EQ(std::filesystem::exists(database()), how == "empty");
    if (how == "empty") EXPECT_EQ(std::filesystem::file_size(database()), 0U);
  }
  EXPECT_EQ(read_file(folder_ / "data/pki/sa.key"), key);
  std::filesystem::rename(folder_ / "data/pki", folder_ / "data/old-pki");
  EXPECT_EQ(serve_until(SIGTERM).code, 0) << "what the message says helps";
}

TEST_F(DataFolder, an_empty_database_beside_its_write_ahead_log_is_refused_and_the_log_kept) {
  EXPECT_EQ(serve_until(SIGKILL).code, 128 + SIGKILL);
  const std::string log = read_file(database().string() + "-wal");
  ASSERT_NE(log, "");
  std::filesystem::resize_file(database(), 0);
  std::filesystem::remove_all(folder_ / "data/pki");
  const Ended refused = slipway(up_arguments());
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("is damaged"), std::string::npos) << refused.err;
  EXPECT_EQ(read_file(database().string() + "-wal"), log);
}

TEST_F(DataFolder, a_database_whose_write_ahead_log_was_lost_is_refused_and_the_message_helps) {
  EXPECT_EQ(serve_until(SIGKILL).code, 128 + SIGKILL);
  for (const char* suffix : {"-wal", "-shm"}) {
    std::filesystem::rename(database().string() + suffix, database().string() + suffix + "-moved");
  }
  for (const std::vector<std::string>& arguments : {up_arguments(), {"get", "pods", "--data-dir", data_dir()}}) {
    const Ended refused = slipway(arguments);
    EXPECT_NE(refused.code, 0);
    EXPECT_NE(refused.err.find("cluster.db-wal, with what was written last, is missing: put it back"), std::string::npos)
        << refused.err;
  }
  std::filesystem::rename(database().string() + "-wal-moved", database().string() + "-wal");
  EXPECT_EQ(serve_until(SIGTERM).code, 0);
}

/// Accepts, keeps silent, and counts.
class Tarpit {
 public:
  Tarpit() {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 64);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      for (int peer = accept(listener_, nullptr, nullptr); peer >= 0; peer = accept(listener_, nullptr, nullptr)) {
        peers_.push_back(peer);
        ++asked;
      }
    });
  }
  ~Tarpit() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
    for (const int peer : peers_) close(peer);
  }

  int port = 0;
  std::atomic<int> asked = 0;

 private:
  int listener_ = -1;
  std::vector<int> peers_;
  std::thread thread_;
};

TEST_F(DataFolder, a_stop_does_not_wait_for_git_servers_that_keep_silent) {
  Tarpit tarpit;
  std::string repositories;
  for (int i = 0; i < 8; ++i) {
    repositories += fmt::format(
        "---\napiVersion: config.porch.kpt.dev/v1alpha1\nkind: Repository\nmetadata: {{name: r{0}}}\n"
        "spec: {{type: git, git: {{repo: 'http://127.0.0.1:{1}/r{0}.git', branch: main}}}}\n",
        i, tarpit.port);
  }
  std::vector<std::string> arguments = up_arguments();
  arguments.insert(arguments.end(), {"-f", write("r.yaml", repositories), "--allow-outgoing", "localhost"});
  Program up(folder_, arguments);
  ASSERT_TRUE(up.wait_for_output("serving"));
  ASSERT_TRUE(eventually([&] { return tarpit.asked >= 4; }));
  const auto begin = std::chrono::steady_clock::now();
  up.signal(SIGTERM);
  const Ended ended = up.wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{5});
  EXPECT_FALSE(std::filesystem::exists(database().string() + "-wal")) << "closed in order";
}

TEST_F(DataFolder, a_second_start_writes_no_file_that_would_not_change) {
  const auto file = folder_ / "data/pod-runtime";
  const auto inode = [&] {
    struct stat found = {};
    return stat(file.c_str(), &found) == 0 ? found.st_ino : 0;
  };
  EXPECT_EQ(serve_until(SIGTERM).code, 0);
  const auto before = inode();
  const auto kept = folder_ / "kept";
  std::filesystem::create_hard_link(file, kept);  // so that no new file can get its number
  EXPECT_EQ(serve_until(SIGTERM).code, 0);
  EXPECT_NE(before, 0U);
  EXPECT_EQ(inode(), before);
}

TEST_F(DataFolder, a_moved_lock_file_lets_nobody_in) {
  Program first(folder_, up_arguments());
  ASSERT_TRUE(first.wait_for_output("serving"));
  std::filesystem::rename(database().string() + "-lock", database().string() + "-moved");
  const Ended second = slipway(up_arguments());
  EXPECT_NE(second.code, 0);
  EXPECT_NE(second.err.find("cluster.db is in use by another process"), std::string::npos) << second.err;
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait().code, 0);
}

TEST_F(DataFolder, every_signal_that_asks_for_an_end_ends_it_in_order) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    EXPECT_EQ(serve_until(number).code, 0) << number;
    EXPECT_FALSE(std::filesystem::exists(database().string() + "-wal")) << "closed in order: " << number;
  }
}

TEST_F(DataFolder, the_end_of_the_terminal_stops_the_pods_of_a_run) {
  ShellStep step{"a", "trap 'echo stopped >>" + (folder_ / "a").string() + "; exit 1' TERM; echo x >>" +
                          (folder_ / "a").string() + "; while :; do sleep 0.01; done"};
  const std::string file = write("w.yaml", shell_workflow("flow", {step}));
  for (const int number : {SIGHUP, SIGQUIT}) {
    std::ofstream(folder_ / "a").close();
    Program run(folder_, {"run", "-f", file, "--pod-runtime", "process", "--data-dir", data_dir()});
    ASSERT_TRUE(eventually([&] { return read_file(folder_ / "a").find("x\n") != std::string::npos; }));
    run.signal(number);
    EXPECT_EQ(run.wait().code, 130);
    EXPECT_NE(read_file(folder_ / "a").find("stopped"), std::string::npos) << number;
  }
}

}  // namespace
}  // namespace slipway::cli
