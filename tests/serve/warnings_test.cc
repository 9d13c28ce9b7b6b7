#include "serve/warnings.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway::serve {
namespace {

std::vector<std::string> added(const std::vector<std::string>& texts) {
  http::Headers headers;
  add_warnings(headers, texts);
  std::vector<std::string> values;
  for (const std::string_view value : headers.all("Warning")) values.emplace_back(value);
  return values;
}

TEST(Warnings, each_text_is_a_header_once) {
  EXPECT_EQ(added({"unknown field \"spec.x\"", "", "b\nc", "b\nc"}),
            (std::vector<std::string>{R"(299 - "unknown field \"spec.x\"")", R"(299 - "b c")"}));
}

TEST(Warnings, what_fits_in_all_is_whole) {
  const std::vector<std::string> texts{std::string(2000, 'a'), std::string(2096, 'b')};
  EXPECT_EQ(added(texts), (std::vector<std::string>{warning_value(texts[0]), warning_value(texts[1])}));
}

TEST(Warnings, too_many_are_cut_one_by_one_and_in_all) {
  std::vector<std::string> texts;
  for (int i = 0; i < 200'000; ++i) texts.push_back("unknown field \"spec.f" + std::to_string(i) + "\"");
  std::size_t bytes = 0;
  for (const std::string& value : added(texts)) bytes += value.size();
  EXPECT_GT(bytes, 4096U);
  EXPECT_LT(bytes, 8192U);

  const auto cut = added({std::string(4000, 'x'), std::string(97, 'y'), "é" + std::string(300, 'z')});
  ASSERT_EQ(cut.size(), 3U);
  EXPECT_EQ(cut[0], warning_value(std::string(256, 'x')));
  EXPECT_EQ(cut[1], warning_value(std::string(97, 'y')));
  EXPECT_EQ(cut[2], warning_value("é" + std::string(255, 'z')));
}

}  // namespace
}  // namespace slipway::serve
