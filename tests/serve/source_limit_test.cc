#include "serve/source_limit.h"

#include <gtest/gtest.h>

namespace slipway::serve {
namespace {

TEST(SourceLimit, refuses_a_source_after_twenty_refusals_until_they_are_thirty_seconds_old) {
  SourceLimit limit;
  Steady now{};
  for (std::size_t i = 0; i < SourceLimit::kMaxRefused; ++i) {
    EXPECT_FALSE(limit.is_over("10.0.0.7", now)) << i;
    limit.add_refused("10.0.0.7", now);
  }
  EXPECT_TRUE(limit.is_over("10.0.0.7", now));
  EXPECT_FALSE(limit.is_over("10.0.0.8", now)) << "others are not held up";
  EXPECT_FALSE(limit.is_over("10.0.0.7", now + SourceLimit::kWindow));
}

TEST(SourceLimit, a_source_is_an_address_without_its_port) {
  EXPECT_EQ(SourceLimit::source_of("10.0.0.7:4711"), "10.0.0.7");
  EXPECT_EQ(SourceLimit::source_of("[::1]:4711"), "[::1]");
}

TEST(SourceLimit, sources_without_end_count_as_one) {
  SourceLimit limit;
  const Steady now{};
  for (std::size_t i = 0; i < SourceLimit::kMaxSources; ++i) limit.add_refused(std::to_string(i), now);
  for (std::size_t i = 0; i < SourceLimit::kMaxRefused; ++i) limit.add_refused("another " + std::to_string(i), now);
  EXPECT_TRUE(limit.is_over("a new one", now));
  EXPECT_FALSE(limit.is_over("5", now)) << "one that is known keeps its own count";
}

}  // namespace
}  // namespace slipway::serve
