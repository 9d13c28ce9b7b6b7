#include "delivery/pipeline/follower_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>

#include "delivery/pipeline/target_cache.h"

namespace slipway::delivery::pipeline {
namespace {

TEST(FollowerTable, finds_what_a_multimap_finds) {
  std::mt19937_64 random(1);
  std::vector<std::unique_ptr<Follower>> followers;
  for (int i = 0; i < 50; ++i) followers.push_back(std::make_unique<Follower>());
  FollowerTable table;
  std::multimap<std::uint64_t, Follower*> model;
  for (int i = 0; i < 20'000; ++i) {
    // Few interests, of which many meet in a slot: 0, 1 and the multiples of a big power of two.
    const std::uint64_t interest = random() % 2 == 0 ? random() % 3 : (random() % 40) << 40U;
    Follower& follower = *followers[random() % followers.size()];
    if (random() % 2 == 0) {
      table.add(interest, follower);
      model.emplace(interest, &follower);
    } else {
      table.remove(interest, follower);
      const auto [first, last] = model.equal_range(interest);
      const auto own = std::find_if(first, last, [&](const auto& one) { return one.second == &follower; });
      if (own != last) model.erase(own);
    }
    std::vector<Follower*> found = table.find(interest);
    std::vector<Follower*> expected;
    for (auto [one, last] = model.equal_range(interest); one != last; ++one) expected.push_back(one->second);
    std::ranges::sort(found);
    std::ranges::sort(expected);
    ASSERT_EQ(found, expected) << i;
    ASSERT_EQ(table.size(), model.size());
  }
}

TEST(FollowerTable, coming_and_going_takes_no_more_room) {
  Follower follower;
  FollowerTable table;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    table.add(i * 0x9E3779B97F4A7C15U, follower);
    table.remove(i * 0x9E3779B97F4A7C15U, follower);
  }
  EXPECT_EQ(table.size(), 0U);
  EXPECT_LE(table.bytes(), 1024U);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
