#include "delivery/pipeline/follower_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace slipway::delivery::pipeline {
namespace {

TEST(FollowerTable, finds_what_a_multimap_finds) {
  std::mt19937_64 random(1);
  constexpr FollowerTable::Follower kFollowers = 50;
  FollowerTable table;
  std::multimap<Interest, FollowerTable::Follower> model;
  for (int i = 0; i < 20'000; ++i) {
    // Few interests, of which many meet in a slot: small ones, and those at the end, whose probing begins anew.
    const Interest interest = static_cast<Interest>(random() % 2 == 0 ? random() % 20 : 0xFFFFFFFFU - random() % 20);
    const auto follower = static_cast<FollowerTable::Follower>(random() % kFollowers);
    if (random() % 2 == 0) {
      table.add(interest, follower);
      model.emplace(interest, follower);
    } else {
      table.remove(interest, follower);
      const auto [first, last] = model.equal_range(interest);
      const auto own = std::find_if(first, last, [&](const auto& one) { return one.second == follower; });
      if (own != last) model.erase(own);
    }
    std::vector<FollowerTable::Follower> found = table.find(interest);
    std::vector<FollowerTable::Follower> expected;
    for (auto [one, last] = model.equal_range(interest); one != last; ++one) expected.push_back(one->second);
    std::ranges::sort(found);
    std::ranges::sort(expected);
    ASSERT_EQ(found, expected) << i;
    ASSERT_EQ(table.size(), model.size());
  }
}

TEST(FollowerTable, coming_and_going_takes_no_more_room) {
  FollowerTable table;
  for (Interest i = 0; i < 100'000; ++i) {
    table.add(i * 0x9E3779B9U, 7);
    table.remove(i * 0x9E3779B9U, 7);
  }
  EXPECT_EQ(table.size(), 0U);
  EXPECT_LE(table.bytes(), 1024U);
}

}  // namespace
}  // namespace slipway::delivery::pipeline
