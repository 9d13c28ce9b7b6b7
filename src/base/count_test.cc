#include "base/count.h"

#include <gtest/gtest.h>

#include <limits>

namespace slipway {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Count, only_digits_are_a_count) {
  EXPECT_EQ(parse_count("0"), 0);
  EXPECT_EQ(parse_count("007"), 7);
  EXPECT_EQ(parse_count("9223372036854775807"), kLargest);
  for (const char* text :
       {"", "-1", "+1", " 1", "1 ", "1x", "x", "0x1", "1.0", "9223372036854775808", "99999999999999999999"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

TEST(Count, digits_at_the_front_are_read_and_saturate) {
  EXPECT_EQ(leading_count("50%"), 50);
  EXPECT_EQ(leading_count("12"), 12);
  EXPECT_EQ(leading_count("9223372036854775808%"), kLargest);
  for (const char* text : {"", "%", "-3", " 3", "x3"}) EXPECT_EQ(leading_count(text), 0) << text;
}

}  // namespace
}  // namespace slipway
