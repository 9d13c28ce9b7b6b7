// What the binary makes of a data folder that is damaged, and how signals end what it serves.
#include <sys/stat.h>

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
