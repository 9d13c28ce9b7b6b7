#include "cue/syntax/literal.h"

#include <gtest/gtest.h>

namespace slipway::cue {
namespace {

std::string value_of(std::string_view literal, Closing closing = Closing::BehindText) {
  auto value = unquote(literal, closing);
  return value ? value->value : "error: " + value.error().message;
}

TEST(Literal, of_several_lines_may_close_behind_its_last_text) {
  EXPECT_EQ(value_of("\"\"\"\n  a\n  b\"\"\""), "  a\n  b");
  EXPECT_EQ(value_of("\"\"\"\nabc\"\"\""), "abc");
  EXPECT_EQ(value_of("'''\nabc'''"), "abc");
  EXPECT_EQ(value_of("#\"\"\"\na\\n\"\"\"#"), "a\\n");
  // The blanks right before the quotes are the indentation of the lines, and stay.
  EXPECT_EQ(value_of("\"\"\"\n  a\n    b  \"\"\""), "a\n  b  ");
  EXPECT_EQ(value_of("\"\"\"\na\n  b  \"\"\""), "error: invalid whitespace");
  EXPECT_EQ(value_of("\"\"\"\nabc\"\"\"", Closing::OnOwnLine), "error: missing newline before multiline quote");
}

TEST(Literal, of_several_lines_that_closes_alone_loses_the_last_newline) {
  EXPECT_EQ(value_of("\"\"\"\n  a\n  b\n  \"\"\""), "a\nb");
  EXPECT_EQ(value_of("\"\"\"\n\"\"\""), "");
  EXPECT_EQ(value_of("\"\"\"\n\n\"\"\""), "");
}

TEST(Literal, with_interpolations_may_close_behind_one) {
  auto pieces = unquote_pieces({"\"\"\"\n  a\n  b\\(", "\"\"\""}, Closing::BehindText);
  ASSERT_TRUE(pieces.has_value()) << pieces.error().message;
  EXPECT_EQ(pieces->pieces, (std::vector<std::string>{"  a\n  b", ""}));
}

TEST(Literal, of_a_number_in_another_base_is_the_decimal_one) {
  EXPECT_EQ(parse_number("0x1F")->decimal, "31");
  EXPECT_EQ(parse_number("-0b1_0")->decimal, "-2");
  EXPECT_EQ(parse_number("0xffffffffffffffffffff")->decimal, "1208925819614629174706175");
  EXPECT_FALSE(parse_number("0x1_").has_value());
  EXPECT_FALSE(parse_number("0b12").has_value());
  EXPECT_EQ(parse_number("0x" + std::string(9000, 'f'))->decimal.size(), 10'838u);
}

}  // namespace
}  // namespace slipway::cue
