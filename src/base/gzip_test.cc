#include "base/gzip.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(Gzip, gives_back_what_went_in) {
  std::string noise;
  for (unsigned i = 0, state = 1; i < 100'000; ++i) noise += static_cast<char>((state = state * 1103515245 + 12345) >> 16);
  for (const std::string& text : {std::string(), std::string("a"), std::string(100'000, 'x'), noise}) {
    EXPECT_EQ(gunzip(gzip(text), 1 << 20), text);
  }
}

TEST(Gzip, makes_repetition_small_and_is_the_same_every_time) {
  const std::string text(100'000, 'x');
  EXPECT_LT(gzip(text).size(), 500U);
  EXPECT_EQ(gzip(text), gzip(text));
}

TEST(Gzip, is_padded_to_a_multiple_and_read_as_before) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::string padded = gzip_padded(text, 3);
    EXPECT_EQ(padded.size() % 3, 0U) << i;
    EXPECT_LE(padded.size(), gzip(text).size() + 2) << i;
    EXPECT_EQ(gunzip(padded, 1000), text) << i;
    EXPECT_EQ(gunzip(padded + gzip("more"), 1000), text + "more") << i;
    text += static_cast<char>('a' + i * 7 % 26);
  }
}

TEST(Gzip, refuses_what_is_no_gzip_is_cut_or_is_too_long) {
  const std::string whole = gzip(std::string(50'000, 'x'));
  EXPECT_EQ(gunzip(gzip("one, ") + gzip("") + gzip("two"), 1000), "one, two");
  EXPECT_EQ(gunzip(gzip("one") + "no gzip", 1000), std::nullopt);
  EXPECT_EQ(gunzip("no gzip at all", 1000), std::nullopt);
  EXPECT_EQ(gunzip("", 1000), std::nullopt);
  EXPECT_EQ(gunzip(whole.substr(0, whole.size() - 9), 100'000), std::nullopt);
  EXPECT_EQ(gunzip(whole, 49'999), std::nullopt);
  EXPECT_TRUE(gunzip(whole, 50'000));
}

}  // namespace
}  // namespace slipway
