#include "os/disk_usage.h"

#include <gtest/gtest.h>

#include "os/test_folder.h"

namespace slipway::os {
namespace {

TEST(DiskUsage, counts_files_at_every_depth_and_follows_no_link) {
  const TestFolder folder;
  EXPECT_EQ(disk_usage(folder.path()), 0);
  ASSERT_TRUE(make_folders(folder / "a/b"));
  const std::int64_t folders = disk_usage(folder.path());
  ASSERT_TRUE(replace_file(folder / "a/b/file", std::string(1 << 20, 'x'), 0644, Durability::Synced));
  const std::int64_t with_file = disk_usage(folder.path());
  EXPECT_GE(with_file - folders, 1 << 20);
  EXPECT_LT(with_file - folders, 2 << 20);
  ASSERT_TRUE(MachineFiles().symlink("/usr", folder / "link"));
  ASSERT_TRUE(MachineFiles().symlink(folder / "absent", folder / "nowhere"));
  EXPECT_LT(disk_usage(folder.path()) - with_file, 1 << 16);
}

TEST(DiskUsage, of_what_is_not_there_is_nothing) { EXPECT_EQ(disk_usage("/no/such/folder"), 0); }

}  // namespace
}  // namespace slipway::os
