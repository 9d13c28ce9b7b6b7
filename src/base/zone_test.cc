#include "base/zone.h"

#include <gtest/gtest.h>

#include "base/manual_env.h"

namespace slipway {
namespace {

TEST(ZoneFiles, utc_needs_no_file_and_others_say_what_is_missing) {
  MemoryFiles files;
  EXPECT_EQ(load_zone(files, "UTC").value().name(), "UTC");
  EXPECT_EQ(load_zone(files, "Europe/Berlin").error().message,
            "there is no time zone Europe/Berlin on this machine; install the package tzdata");
  EXPECT_EQ(load_zone(files, "../etc/passwd").error().reason, Reason::Invalid);
}

TEST(ZoneFiles, files_are_read_as_zones) {
  MemoryFiles files;
  ASSERT_TRUE(files.make_folders("/usr/share/zoneinfo/Etc"));
  ASSERT_TRUE(files.write("/usr/share/zoneinfo/Etc/Bad", "not a zone", 0644));
  EXPECT_EQ(load_zone(files, "Etc/Bad").error().message, "time zone Etc/Bad: not a TZif file of version 2 or later");
}

}  // namespace
}  // namespace slipway
