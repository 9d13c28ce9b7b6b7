#include "store/wal_mark.h"

#include <gtest/gtest.h>

namespace slipway::store {
namespace {

void put(std::string& into, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) into += static_cast<char>(word >> shift & 0xff);
}

/// A header of SQLite's format with this salt and right sums.
std::string header(std::uint32_t salt) {
  const std::uint32_t words[] = {0x377f0683, 3007000, 8192, 0, salt, 0x01234567};
  std::string out;
  for (const std::uint32_t word : words) put(out, word);
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  for (std::size_t i = 0; i < 6; i += 2) {
    first += words[i] + second;
    second += words[i + 1] + first;
  }
  put(out, first);
  put(out, second);
  return out;
}

TEST(WalMark, keeps_the_format_and_is_no_negative_number) {
  const std::int64_t marked = with_wal_mark(1, header(0xffffffff));
  EXPECT_EQ(format_of(marked), 1);
  EXPECT_TRUE(has_wal_mark(marked));
  EXPECT_FALSE(has_wal_mark(1));
  EXPECT_GT(marked, 0);
  EXPECT_LT(marked, std::int64_t{1} << 31);
}

TEST(WalMark, a_log_is_the_databases_own_when_it_was_begun_anew_from_the_one_that_was_marked) {
  const std::int64_t marked = with_wal_mark(1, header(0x00fffff0));
  EXPECT_EQ(wal_fault(marked, header(0x00fffff0)), "");
  EXPECT_EQ(wal_fault(marked, header(0x01000100)), "") << "the number may pass its end";
  EXPECT_EQ(wal_fault(marked, ""), "missing");
  EXPECT_EQ(wal_fault(marked, header(0x00fffff0).substr(0, 31)), "missing");
  EXPECT_EQ(wal_fault(marked, header(0x00ffff00)), "of another database, or of another time");
  EXPECT_EQ(wal_fault(1, ""), "") << "a database that was closed needs no log";
}

TEST(WalMark, a_torn_header_is_nothing_wrong) {
  std::string torn = header(0x00ffff00);
  torn[30] = static_cast<char>(torn[30] + 1);
  EXPECT_EQ(wal_fault(with_wal_mark(1, header(0x00fffff0)), torn), "");
}

}  // namespace
}  // namespace slipway::store
