#include "base/text.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Text, knows_digits_and_letters_of_ascii_only) {
  EXPECT_TRUE(is_digit('0') && is_digit('9'));
  EXPECT_FALSE(is_digit('/') || is_digit(':') || is_digit('a') || is_digit('\xb2'));
  EXPECT_EQ(lower("AbZ@[-\xc4"), "abz@[-\xc4");
  EXPECT_EQ(upper("aBz`{-\xe4"), "ABZ`{-\xe4");
}

TEST(Text, trims_both_ends) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(" \n "), "");
  EXPECT_EQ(trimmed(""), "");
  EXPECT_EQ(trimmed(" a\n ", " "), "a\n");
}

TEST(Text, splits_into_one_part_more_than_separators) {
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split("a", ','), Parts{"a"});
  EXPECT_EQ(split("a,,b,", ','), (Parts{"a", "", "b", ""}));
}

TEST(Text, joins_what_it_split) {
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(joined(std::vector<std::string>{"a", "", "b"}, ", "), "a, , b");
}

}  // namespace
}  // namespace slipway
