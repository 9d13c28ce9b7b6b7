// What a store says to files that are not its own, damaged, newer, held by another process, or only to be looked at.
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "store/log_file.h"
#include "store/store_fixture.h"

namespace slipway::store {
namespace {

using Damaged = StoreTest;

/// Stores on real files in a folder of their own.
class RealFiles : public testing::Test {
 protected:
  RealFiles() {
    char name[] = "/tmp/slipway-store-XXXXXX";
    folder_ = mkdtemp(name);
    path_ = folder_ + "/state.db";
  }
  ~RealFiles() override {
    env_.drop_all();
    for (const char* suffix : {"", "-wal", "-shm", "-journal", "-lock"}) std::remove((path_ + suffix).c_str());
    rmdir(folder_.c_str());
  }

  Result<std::unique_ptr<Store>> open(Options options = {}) {
    options.path = path_;
    return Store::open(env_, options);
  }
  Revision put(Store& store, const std::string& key, json::Value value) {
    const auto head = store.get_head(key);
    std::vector<Write> writes;
    writes.push_back({key, std::move(value), head ? head->modified : 0});
    return env_.run(store.append(std::move(writes))).value_or(-1);
  }
  std::string bytes() const { return bytes(path_); }
  static std::string bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
  }
  void write_bytes(const std::string& content) const { std::ofstream(path_, std::ios::binary) << content; }
  void execute(const char* sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &connection), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(connection);
  }

  ManualEnv env_;
  std::string folder_;
  std::string path_;
};

TEST_F(RealFiles, keep_everything_over_a_restart) {
  {
    auto store = *open();
    EXPECT_EQ(put(*store, "/a", 1), 2);
    env_.run(store->close());
  }
  auto store = *open();
  EXPECT_EQ(text_of(store->range({})), "/a=1@2");
}

TEST_F(RealFiles, keep_everything_when_the_process_just_ends) {
  const pid_t child = fork();
  if (child == 0) {
    ManualEnv env;
    auto store = Store::open(env, {.path = path_});
    std::vector<Write> writes;
    writes.push_back({"/a", 1, 0});
    const bool is_written = env.run((*store)->append(std::move(writes))).has_value();
    _exit(is_written ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  auto store = *open();
  EXPECT_EQ(text_of(store->range({})), "/a=1@2");
}

TEST_F(RealFiles, have_one_writer_and_name_it_to_others_until_it_dies) {
  int ready[2];
  int end[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(end), 0);
  const pid_t child = fork();
  if (child == 0) {
    ManualEnv env;
    auto store = Store::open(env, {.path = path_, .pid = getpid()});
    char byte = store.has_value() ? 'y' : 'n';
    (void)!write(ready[1], &byte, 1);
    (void)!read(end[0], &byte, 1);  // until killed
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().reason, Reason::Conflict);
  EXPECT_EQ(second.error().message, path_ + " is in use by another process (pid " + std::to_string(child) + ")");
  EXPECT_TRUE(open({.is_read_only = true}));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(open());
}

TEST_F(RealFiles, are_held_though_somebody_moved_the_lock_file) {
  auto first = open({.pid = 42});
  ASSERT_TRUE(first);
  const std::string lock = path_ + "-lock";
  const std::string moved = path_ + "-moved";
  ASSERT_EQ(std::rename(lock.c_str(), moved.c_str()), 0);
  const pid_t child = fork();
  if (child == 0) {
    ManualEnv env;
    const auto second = Store::open(env, {.path = path_});
    _exit(!second && second.error().reason == Reason::Conflict ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(put(**first, "/a", 1), 2);
  EXPECT_TRUE(open({.is_read_only = true})) << "readers are let in";
  env_.run((*first)->close());
  EXPECT_NE(access((path_ + "-wal").c_str(), F_OK), 0) << "the log is put away";
  std::remove(moved.c_str());
  EXPECT_TRUE(open());
}

TEST_F(RealFiles, are_held_against_a_second_store_of_the_same_process_too) {
  auto first = *open({.pid = 42});
  EXPECT_EQ(open().error().message, path_ + " is in use by another process (pid 42)");
  first.reset();
  EXPECT_TRUE(open());
}

TEST_F(RealFiles, can_be_looked_at_while_they_are_written) {
  auto writer = *open();
  put(*writer, "/a", 1);
  auto reader = *open({.is_read_only = true});
  EXPECT_EQ(text_of(reader->range({})), "/a=1@2");
  EXPECT_EQ(put(*writer, "/a", 2), 3);
  EXPECT_EQ(text_of((*open({.is_read_only = true}))->range({})), "/a=2@3");
  std::vector<Write> writes;
  writes.push_back({"/b", 1, 0});
  EXPECT_EQ(env_.run(reader->append(std::move(writes))).error().reason, Reason::Forbidden);
  EXPECT_EQ(env_.run(reader->compact(2)).error().reason, Reason::Forbidden);
  env_.run(reader->close());
}

TEST_F(RealFiles, that_are_absent_are_not_made_by_reading) {
  EXPECT_EQ(open({.is_read_only = true}).error().reason, Reason::NotFound);
  EXPECT_NE(access(path_.c_str(), F_OK), 0);
}

TEST_F(RealFiles, need_their_folder) {
  path_ = folder_ + "/absent/state.db";
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().reason, Reason::InternalError);
  EXPECT_NE(store.error().message.find(path_), std::string::npos);
  path_ = folder_ + "/state.db";
}

TEST_F(RealFiles, of_others_are_refused_and_left_as_they_are) {
  const std::string message = path_ + " is not a Slipway database";
  for (const std::string& content :
       {std::string("hello"), std::string(5000, 'x'), std::string("SQLite format 3\0", 16), std::string(200, '\0')}) {
    write_bytes(content);
    const auto store = open();
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().reason, Reason::BadRequest);
    EXPECT_EQ(store.error().message, message);
    EXPECT_EQ(bytes(), content);
  }
  std::remove(path_.c_str());
  execute("CREATE TABLE log(revision INTEGER PRIMARY KEY, key, value); INSERT INTO log VALUES(1, 'a', 'b')");
  const std::string before = bytes();
  EXPECT_EQ(open().error().message, message);
  EXPECT_EQ(open({.is_read_only = true}).error().message, message);
  EXPECT_EQ(bytes(), before);
  EXPECT_NE(access((path_ + "-lock").c_str(), F_OK), 0) << "nothing is left beside a stranger's file";
}

TEST_F(RealFiles, of_a_newer_format_are_refused) {
  env_.run((*open())->close());
  execute("PRAGMA user_version = 7");
  const std::string before = bytes();
  const auto store = open();
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().reason, Reason::BadRequest);
  EXPECT_EQ(store.error().message, path_ + " was written by a newer Slipway (format 7; this one knows 1)");
  EXPECT_EQ(bytes(), before);
}

TEST_F(RealFiles, that_are_empty_become_a_database) {
  write_bytes("");
  EXPECT_EQ(open({.is_read_only = true}).error().reason, Reason::NotFound);
  EXPECT_TRUE(open());
}

TEST_F(RealFiles, without_their_pages_beside_a_write_ahead_log_are_damaged_and_the_log_is_kept) {
  const std::string log = path_ + "-wal";
  for (const bool is_missing : {false, true}) {
    // As a process leaves it that just ends: what was written is in the log.
    const pid_t child = fork();
    if (child == 0) {
      ManualEnv env;
      auto store = Store::open(env, {.path = path_});
      std::vector<Write> writes;
      writes.push_back({"/a", 1, 0});
      const bool is_written = env.run((*store)->append(std::move(writes))).has_value();
      _exit(is_written ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    const std::string whole = bytes();
    const std::string before = bytes(log);
    ASSERT_NE(before, "");
    write_bytes("");
    if (is_missing) std::remove(path_.c_str());
    for (const bool is_read_only : {true, false}) {
      const auto opened = open({.is_read_only = is_read_only});
      ASSERT_FALSE(opened);
      EXPECT_EQ(opened.error().reason, Reason::StorageReadError);
      EXPECT_EQ(opened.error().message, fmt::format("{0} is damaged: it is {1}, but its write-ahead log {0}-wal is there",
                                                    path_, is_missing ? "missing" : "empty"));
    }
    EXPECT_EQ(bytes(log), before);
    write_bytes(whole);
    auto store = open();
    ASSERT_TRUE(store) << store.error().message;
    EXPECT_EQ(text_of((*store)->range({})), "/a=1@2");
    env_.run((*store)->close());
    for (const char* suffix : {"", "-wal", "-shm"}) std::remove((path_ + suffix).c_str());
  }
}

/// A cleaner of temporary files, or a copy of the database alone: SQLite would open what is left and say nothing.
TEST_F(RealFiles, without_the_log_of_a_process_that_was_killed_are_refused) {
  const std::string log = path_ + "-wal";
  const pid_t child = fork();
  if (child == 0) {
    ManualEnv env;
    auto store = Store::open(env, {.path = path_});
    for (int i = 0; i < 50; ++i) {
      std::vector<Write> writes;
      const auto head = (*store)->get_head("/a");
      writes.push_back({"/a", i, head ? head->modified : 0});
      if (!env.run((*store)->append(std::move(writes)))) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  const std::string own = bytes(log);
  std::remove((path_ + "-shm").c_str());
  for (const std::string& content : {std::string(), own.substr(0, 20)}) {
    std::remove(log.c_str());
    if (!content.empty()) std::ofstream(log, std::ios::binary) << content;
    for (const bool is_read_only : {true, false}) {
      const auto opened = open({.is_read_only = is_read_only});
      ASSERT_FALSE(opened);
      EXPECT_EQ(opened.error().reason, Reason::StorageReadError);
      EXPECT_TRUE(opened.error().message.contains("is missing: put it back")) << opened.error().message;
    }
  }
  std::ofstream(log, std::ios::binary) << own;
  auto store = open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(text_of((*store)->range({})), "/a=49@51");
  env_.run((*store)->close());
  store->reset();
  EXPECT_EQ(bytes(log), "") << "a store that was closed has no log";
  EXPECT_TRUE(open()) << "and needs none";
}

TEST_F(RealFiles, that_lost_their_log_open_as_the_message_says) {
  {
    const pid_t child = fork();
    if (child == 0) {
      ManualEnv env;
      _exit(Store::open(env, {.path = path_}) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
  }
  std::remove((path_ + "-wal").c_str());
  std::remove((path_ + "-shm").c_str());
  ASSERT_FALSE(open());
  execute("PRAGMA user_version=1");
  EXPECT_TRUE(open());
}

TEST_F(RealFiles, with_a_missing_revision_are_damaged) {
  auto store = *open();
  for (int i = 0; i < 5; ++i) put(*store, "/a", i);
  env_.run(store->close());
  store.reset();
  execute("DELETE FROM log WHERE revision = 4");
  const auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().reason, Reason::StorageReadError);
  EXPECT_EQ(opened.error().message, path_ + " is damaged: revision 4 is missing");
  execute("DELETE FROM log WHERE revision IN (2, 3)");
  EXPECT_EQ(open().error().message, path_ + " is damaged: revision 4 is missing");
  execute(
      "UPDATE meta SET value = 4 WHERE name = 'rows'; INSERT INTO log SELECT 4, key, value, sum FROM log WHERE revision = 5");
  EXPECT_EQ(open().error().message, path_ + " is damaged: revision 4 is damaged");
}

TEST_F(RealFiles, with_a_missing_row_of_before_the_window_are_damaged) {
  auto store = *open();
  for (const char* key : {"/a", "/a", "/b", "/c"}) put(*store, key, 1);
  env_.run(store->compact(5));
  env_.run(store->close());
  store.reset();
  execute("DELETE FROM log WHERE revision = 4");
  EXPECT_EQ(open().error().message, path_ + " is damaged: 2 of 3 rows are left up to revision 5");
}

TEST_F(RealFiles, with_a_changed_value_are_damaged) {
  auto store = *open();
  put(*store, "/a", json::object({{"replicas", 1}}));
  env_.run(store->close());
  store.reset();
  execute("UPDATE log SET value = replace(value, '1', '2')");
  EXPECT_EQ(open().error().message, path_ + " is damaged: revision 2 is damaged");
}

TEST_F(RealFiles, that_lost_their_end_are_damaged) {
  auto store = *open();
  for (int i = 0; i < 50; ++i) put(*store, "/k" + std::to_string(i), json::object({{"text", std::string(900, 'x')}}));
  env_.run(store->close());
  store.reset();
  const std::string whole = bytes();
  for (const std::size_t size : {whole.size() / 2, whole.size() - 4096, std::size_t{4096}}) {
    write_bytes(whole.substr(0, size));
    const auto opened = open();
    ASSERT_FALSE(opened) << size;
    EXPECT_EQ(opened.error().reason, Reason::StorageReadError) << opened.error().message;
    EXPECT_TRUE(opened.error().message.starts_with(path_ + " is damaged: ")) << opened.error().message;
  }
}

TEST_F(Damaged, a_file_with_any_flipped_byte_is_refused_or_reads_as_it_was_written) {
  open();
  for (int i = 0; i < 30; ++i) put("/r/g/a/k" + std::to_string(i), json::object({{"text", std::string(300, 'x')}, {"n", i}}));
  const std::string expected = text_of(store_->range({}));
  env_.run(store_->close());
  drop();
  const std::string good = disk_.content(kPath);
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); at += 7) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x41);
    MemoryVfs disk;
    disk.set_content(kPath, bad);
    ManualEnv env({.vfs = disk.vfs()});
    const auto store = Store::open(env, {.path = kPath, .is_read_only = true});
    if (!store) {
      ++refused;
      EXPECT_TRUE(store.error().reason == Reason::StorageReadError || store.error().reason == Reason::BadRequest ||
                  store.error().reason == Reason::InternalError)
          << store.error().message;
    } else {
      EXPECT_TRUE(text_of((*store)->range({})) == expected) << "byte " << at << ", revision " << (*store)->revision();
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(RowSum, differs_when_anything_does) {
  const auto sum = row_sum(2, "/a", "value");
  EXPECT_NE(sum, row_sum(3, "/a", "value"));
  EXPECT_NE(sum, row_sum(2, "/b", "value"));
  EXPECT_NE(sum, row_sum(2, "/a", "Value"));
  EXPECT_NE(sum, row_sum(2, "/av", "alue"));
  EXPECT_NE(row_sum(2, "/a", ""), row_sum(2, "/a", std::nullopt));
}

}  // namespace
}  // namespace slipway::store
