// The table of promises (promises.tsv): what the five seeds promise, and the test that shows each promise. A row has the seed,
// the place in it, a quote of at most twelve words, a state, the test and, where Slipway differs, the heading of the page that
// says so. States: `holds`; `differs` (on purpose: the test shows what happens instead); `user-interface` (no test: another
// issue); `pending Snn` (an open item of the review; the test is the one
// that is planned).
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::seeds_test {

struct Promise {
  std::size_t line = 0;  // in the file, from 1
  std::string seed;      // "000" to "004"
  std::string place;
  std::string quote;
  std::string state;
  std::string test;  // PROGRAM:SUITE.NAME
  std::string docs;  // docs/PAGE.md#HEADING

  bool is_pending() const { return state.starts_with("pending "); }
};

/// The rows of the file. A line without six cells fails the test.
std::vector<Promise> read_promises(const std::filesystem::path& file);

/// "Suite.name" of all tests in the sources of a test program: tests/NAME of NAME_test, else src/NAME with slashes for the
/// underscores. Empty when there is no such folder. Disabled tests are left out.
std::set<std::string> tests_of(const std::filesystem::path& root, std::string_view program);

/// The anchors that GitHub gives the headings of a page: lower case, dashes for spaces, other punctuation left out.
std::set<std::string> anchors_of(const std::filesystem::path& page);

/// Every run of white space as one space.
std::string normalised(std::string_view text);

}  // namespace slipway::seeds_test
