#include "cluster/index_set.h"

#include <gtest/gtest.h>

namespace slipway::cluster {
namespace {

TEST(IndexSet, prints_neighbours_as_ranges) {
  IndexSet set;
  for (const int index : {7, 1, 3, 5, 4, 10, 9}) set.insert(index);
  EXPECT_EQ(set.to_string(), "1,3-5,7,9,10");
  EXPECT_EQ(set.size(), 7);
}

TEST(IndexSet, reads_what_it_prints_and_drops_the_rest) {
  EXPECT_EQ(IndexSet::parse("1,3-5,7,9,10", 100).to_string(), "1,3-5,7,9,10");
  EXPECT_EQ(IndexSet::parse("1,3-5,7,9,10", 5).to_string(), "1,3,4");
  EXPECT_EQ(IndexSet::parse("x,-1,2-1,3", 100).to_string(), "3");
  EXPECT_EQ(IndexSet::parse("", 100).to_string(), "");
}

TEST(IndexSet, finds_gaps) {
  const IndexSet set = IndexSet::parse("0-2,4", 100);
  EXPECT_EQ(set.next_absent(0), 3);
  EXPECT_EQ(set.next_absent(3), 3);
  EXPECT_EQ(set.next_absent(4), 5);
  EXPECT_EQ(set.next_absent(9), 9);
}

}  // namespace
}  // namespace slipway::cluster
