#include "os/text.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>

namespace slipway::os {
namespace {

/// KiB of files that are mapped and resident: RssFile of proc(5).
long resident_of_files() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stol(line.substr(8));
  }
  return -1;
}

TEST(Text, less_is_resident_and_the_program_runs_on) {
  const long before = resident_of_files();
  ASSERT_GT(before, 0);
  std::thread other([] {
    for (int i = 0; i < 1000; ++i) std::snprintf(nullptr, 0, "%d", i);
  });
  let_go_of_text();
  EXPECT_LT(resident_of_files(), before);
  other.join();
}

}  // namespace
}  // namespace slipway::os
