#include "delivery/application/text_diff.h"

#include <gtest/gtest.h>

namespace slipway::delivery::application {
namespace {

TEST(TextDiff, has_the_unified_form_with_three_lines_around_each_change) {
  EXPECT_EQ(text_diff("a", "x\n", "b", "x\n"), "");
  EXPECT_EQ(text_diff("a", "", "b", "x\n"), "--- a\n+++ b\n@@ -1,0 +1,1 @@\n+x\n");
  EXPECT_EQ(text_diff("a", "1\n2\n3\n4\n5\n6\n7\n8\n", "b", "1\n2\n3\n4\n5\nsix\n7\n8\n"),
            "--- a\n+++ b\n@@ -3,6 +3,6 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n");
}

TEST(TextDiff, changes_far_apart_are_two_hunks) {
  std::string before;
  for (int i = 1; i <= 20; ++i) before += std::to_string(i) + "\n";
  std::string after = before;
  after.replace(after.find("2\n"), 2, "two\n");
  after.replace(after.find("19\n"), 3, "");
  EXPECT_EQ(text_diff("a", before, "b", after),
            "--- a\n+++ b\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -16,5 +16,4 @@\n 16\n 17\n 18\n-19\n 20\n");
}

}  // namespace
}  // namespace slipway::delivery::application
