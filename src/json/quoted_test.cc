#include "json/quoted.h"

#include <gtest/gtest.h>

namespace slipway::json {
namespace {

TEST(Quoted, is_a_json_string) {
  EXPECT_EQ(quoted(""), R"("")");
  EXPECT_EQ(quoted("a b"), R"("a b")");
  EXPECT_EQ(quoted("a\n\"b\"\\"), R"("a\n\"b\"\\")");
}

}  // namespace
}  // namespace slipway::json
