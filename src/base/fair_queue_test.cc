#include "base/fair_queue.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway {
namespace {

std::vector<int> drained(FairQueue<int>& queue) {
  std::vector<int> out;
  while (!queue.empty()) out.push_back(queue.pop());
  return out;
}

TEST(FairQueue, tenants_take_turns_and_keep_their_own_order) {
  FairQueue<int> queue;
  for (int work : {1, 2, 3}) queue.push("a", work);
  for (int work : {4, 5}) queue.push("b", work);
  queue.push("c", 6);
  EXPECT_EQ(queue.size(), 6u);
  EXPECT_EQ(queue.tenants(), 3u);
  EXPECT_EQ(drained(queue), (std::vector<int>{1, 4, 6, 2, 5, 3}));
  EXPECT_EQ(queue.tenants(), 0u);
}

TEST(FairQueue, whoever_has_much_waiting_lets_a_newcomer_in_after_one_piece) {
  FairQueue<int> queue;
  for (int work = 0; work < 1000; ++work) queue.push("busy", work);
  EXPECT_EQ(queue.pop(), 0);
  queue.push("new", -1);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), -1);
  EXPECT_EQ(queue.pop(), 2);
}

TEST(FairQueue, a_tenant_that_comes_back_stands_behind_the_others) {
  FairQueue<int> queue;
  queue.push("a", 1);
  queue.push("b", 2);
  queue.push("b", 3);
  EXPECT_EQ(queue.pop(), 1);
  queue.push("a", 4);
  EXPECT_EQ(drained(queue), (std::vector<int>{2, 4, 3}));
}

}  // namespace
}  // namespace slipway
