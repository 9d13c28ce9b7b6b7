#include "os/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "os/test_folder.h"

namespace slipway::os {
namespace {

TEST(Files, a_written_file_comes_back_whole_with_its_mode_and_no_remains) {
  TestFolder folder;
  MachineFiles files;
  const std::string content(200'000, 'x');
  ASSERT_TRUE(files.write(folder / "file", "old", 0644));
  ASSERT_TRUE(files.write(folder / "file", content, 0600));
  EXPECT_EQ(files.read(folder / "file"), content);
  EXPECT_EQ(files.list(folder.path()), std::vector<std::string>{"file"});
  struct stat found = {};
  ASSERT_EQ(stat((folder / "file").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST(Files, reads_on_from_an_offset_up_to_a_limit) {
  TestFolder folder;
  MachineFiles files;
  ASSERT_TRUE(files.write(folder / "log", "0123456789", 0644));
  EXPECT_EQ(files.read_from(folder / "log", 4, 3), "456");
  EXPECT_EQ(files.read_from(folder / "log", 8, 100), "89");
  EXPECT_EQ(files.read_from(folder / "log", 10, 100), "");
  EXPECT_EQ(files.read_from(folder / "log", 99, 100), "");
}

TEST(Files, failures_name_the_path_and_carry_the_reason) {
  TestFolder folder;
  MachineFiles files;
  const auto missing = files.read(folder / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Reason::NotFound);
  EXPECT_EQ(missing.error().message, "cannot read " + folder / "none" + ": No such file or directory");
  ASSERT_TRUE(files.write(folder / "file", "", 0644));
  EXPECT_EQ(files.list(folder / "none").error().reason, Reason::NotFound);
  EXPECT_EQ(files.make_folders(folder / "file").error().reason, Reason::AlreadyExists);
  EXPECT_EQ(files.symlink("x", folder / "file").error().reason, Reason::AlreadyExists);
  EXPECT_EQ(files.write(folder / "none/file", "", 0644).error().reason, Reason::NotFound);
  EXPECT_EQ(files.read("/proc/self/mem").error().reason, Reason::InternalError);
}

TEST(Files, makes_a_chain_of_folders_and_lists_names_sorted) {
  TestFolder folder;
  MachineFiles files;
  ASSERT_TRUE(files.make_folders(folder / "a/b/c/"));
  ASSERT_TRUE(files.make_folders(folder / "a/b/c"));
  for (const char* name : {"z", "10", "9", "B"}) ASSERT_TRUE(files.write(folder / "a/" + name, "", 0644));
  EXPECT_EQ(files.list(folder / "a"), (std::vector<std::string>{"10", "9", "B", "b", "z"}));
  EXPECT_TRUE(files.exists(folder / "a/b/c"));
  EXPECT_FALSE(files.exists(folder / "a/b/d"));
}

TEST(Files, remove_all_takes_a_tree_but_never_follows_a_link) {
  TestFolder folder;
  MachineFiles files;
  ASSERT_TRUE(files.make_folders(folder / "kept"));
  ASSERT_TRUE(files.write(folder / "kept/file", "safe", 0644));
  ASSERT_TRUE(files.make_folders(folder / "tree/deep/deeper"));
  ASSERT_TRUE(files.write(folder / "tree/deep/file", "", 0644));
  ASSERT_TRUE(files.symlink(folder / "kept", folder / "tree/deep/link"));
  ASSERT_TRUE(files.symlink(folder / "kept", folder / "link"));
  EXPECT_TRUE(files.remove_all(folder / "tree"));
  EXPECT_TRUE(files.remove_all(folder / "link"));
  EXPECT_TRUE(files.remove_all(folder / "absent/too"));
  EXPECT_EQ(files.list(folder.path()), std::vector<std::string>{"kept"});
  EXPECT_EQ(files.read(folder / "kept/file"), "safe");
}

TEST(Files, remove_all_takes_a_tree_deeper_than_there_are_descriptors) {
  TestFolder folder;
  MachineFiles files;
  ASSERT_TRUE(files.make_folders(folder / "tree"));
  int at = open((folder / "tree").c_str(), O_RDONLY | O_DIRECTORY);
  for (int depth = 0; depth < 3000; ++depth) {
    ASSERT_EQ(mkdirat(at, "d", 0755), 0);
    const int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
    close(at);
    at = next;
  }
  close(at);
  const auto removed = files.remove_all(folder / "tree");
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(files.exists(folder / "tree"));
}

TEST(Files, a_full_disk_keeps_the_old_file_and_says_so) {
  TestFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const bool mounted = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("small", folder.path().c_str(), "tmpfs", 0, "size=64k") == 0;
    if (!mounted) _exit(2);
    MachineFiles files;
    const std::string path = folder / "file";
    const bool kept = files.write(path, "old", 0644).has_value();
    const auto written = files.write(path, std::string(1 << 20, 'x'), 0644);
    const bool refused =
        !written && written.error().reason == Reason::ServiceUnavailable && written.error().message == "disk full: " + path;
    _exit(kept && refused && files.read(path) == "old" && files.list(folder.path())->size() == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "skipped: mounts are not permitted here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace slipway::os
