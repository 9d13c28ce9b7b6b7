// The table of promises is whole: enough rows, short quotes that stand in the seeds, tests that exist, and pages that say what
// differs.
#include "table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

namespace slipway::seeds_test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SLIPWAY_SOURCE_DIR;
constexpr std::size_t kMinRows = 224;
constexpr std::size_t kMaxWords = 12;
/// Rows without a test because an item of the review is open. May only shrink.
constexpr std::size_t kMaxPending = 0;

const std::vector<Promise>& promises() {
  static const std::vector<Promise> kRows = read_promises(kRoot / "tests/seeds/promises.tsv");
  return kRows;
}

std::string where(const Promise& row) { return fmt::format("promises.tsv:{}: \"{}\"", row.line, row.quote); }

TEST(Promises, are_at_least_224_of_five_seeds) {
  std::map<std::string, std::size_t> counts;
  for (const Promise& row : promises()) ++counts[row.seed];
  EXPECT_GE(promises().size(), kMinRows);
  EXPECT_EQ(counts.size(), 5U);
  for (const auto& [seed, count] : counts) fmt::print("seed {}: {} promises\n", seed, count);
}

TEST(Promises, have_quotes_of_at_most_twelve_words_each_once) {
  std::set<std::string> seen;
  for (const Promise& row : promises()) {
    std::istringstream words(row.quote);
    const std::vector<std::string> list{std::istream_iterator<std::string>(words), {}};
    EXPECT_LE(list.size(), kMaxWords) << where(row);
    EXPECT_FALSE(list.empty()) << where(row);
    EXPECT_TRUE(seen.insert(row.seed + " " + row.quote).second) << where(row) << " stands twice";
  }
}

TEST(Promises, name_tests_that_exist) {
  std::map<std::string, std::set<std::string>> known;
  for (const Promise& row : promises()) {
    if (row.test.empty() || row.is_pending()) continue;
    const std::string program = row.test.substr(0, row.test.find(':'));
    if (!known.contains(program)) known[program] = tests_of(kRoot, program);
    EXPECT_TRUE(known[program].contains(row.test.substr(std::min(program.size() + 1, row.test.size()))))
        << where(row) << ": no test " << row.test;
  }
}

TEST(Promises, have_a_test_unless_they_are_of_the_user_interface) {
  std::size_t pending = 0;
  for (const Promise& row : promises()) {
    const bool has_test = row.state == "holds" || row.state == "differs";
    EXPECT_TRUE(has_test || row.state == "user-interface" || row.is_pending()) << where(row) << ": state " << row.state;
    if (!row.is_pending()) {
      EXPECT_EQ(!row.test.empty(), has_test) << where(row) << ": " << row.state;
      continue;
    }
    ++pending;
    fmt::print("{}: {} {} (planned: {})\n", row.state, row.seed, row.quote, row.test);
  }
  fmt::print("{} of {} promises are pending\n", pending, promises().size());
  EXPECT_LE(pending, kMaxPending);
}

TEST(Promises, that_are_kept_otherwise_are_told_in_the_pages) {
  for (const Promise& row : promises()) {
    EXPECT_EQ(!row.docs.empty(), row.state == "differs") << where(row);
    if (row.docs.empty()) continue;
    const std::size_t hash = row.docs.find('#');
    ASSERT_NE(hash, std::string::npos) << where(row) << ": " << row.docs;
    EXPECT_TRUE(anchors_of(kRoot / row.docs.substr(0, hash)).contains(row.docs.substr(hash + 1)))
        << where(row) << ": no heading " << row.docs;
  }
}

TEST(Promises, are_quoted_word_for_word) {
  const fs::path folder = kRoot / "../shared/seeds";
  if (!fs::exists(folder)) GTEST_SKIP() << "the seeds are not beside this checkout: quotes are not compared";
  std::map<std::string, std::string> seeds;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    seeds[entry.path().filename().string().substr(0, 3)] = normalised(text.str());
  }
  for (const Promise& row : promises()) {
    EXPECT_TRUE(seeds[row.seed].contains(row.quote)) << where(row) << " does not stand in seed " << row.seed;
  }
}

}  // namespace
}  // namespace slipway::seeds_test
