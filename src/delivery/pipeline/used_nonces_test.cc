#include "delivery/pipeline/used_nonces.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace slipway::delivery::pipeline {
namespace {

constexpr Time kNow{std::chrono::seconds{1'772'359'200}};

TEST(UsedNonces, are_bounded_and_come_free_again) {
  UsedNonces used("", kNow);
  EXPECT_TRUE(used.add("first", kNow + std::chrono::seconds{9}));
  EXPECT_TRUE(used.contains("first"));
  for (std::size_t i = 1; i < UsedNonces::kMost; ++i)
    ASSERT_TRUE(used.add(fmt::format("n{}", i), kNow + std::chrono::minutes{5}));
  EXPECT_FALSE(used.add("more", kNow + std::chrono::minutes{5}));
  EXPECT_TRUE(UsedNonces(used.to_string(), kNow + std::chrono::seconds{9}).contains("first"));
  UsedNonces later(used.to_string(), kNow + std::chrono::seconds{10});
  EXPECT_FALSE(later.contains("first"));
  EXPECT_TRUE(later.contains("n1"));
  EXPECT_TRUE(later.add("more", kNow + std::chrono::minutes{5}));
}

TEST(UsedNonces, what_others_write_there_is_left_out) {
  for (const char* text : {"", " ", "@", "nonsense", "0123456789abcdef", "0123456789abcdef@", "0123456789abcdef@soon",
                           "0123456789abcdef@1772359300x", "short@1772359300", "0123456789abcdef0@1772359300"}) {
    EXPECT_EQ(UsedNonces(text, kNow).to_string(), "") << text;
  }
  EXPECT_EQ(UsedNonces("x 0123456789abcdef@1772359300  y", kNow).to_string(), "0123456789abcdef@1772359300");
}

}  // namespace
}  // namespace slipway::delivery::pipeline
