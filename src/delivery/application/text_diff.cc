#include "delivery/application/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace slipway::delivery::application {
namespace {

constexpr std::size_t kContextLines = 3;
constexpr std::size_t kMaxCells = 4'000'000;

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Edit {
  char sign;  // ' ', '-', '+'
  std::string_view line;
};

/// A longest common subsequence, by the table of lengths of all suffixes.
std::vector<Edit> edits_between(const Lines& a, const Lines& b) {
  const std::size_t width = b.size() + 1;
  const bool is_large = (a.size() + 1) * width > kMaxCells;
  std::vector<std::uint32_t> length(is_large ? 0 : (a.size() + 1) * width, 0);
  for (std::size_t i = is_large ? 0 : a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      length[i * width + j] =
          a[i] == b[j] ? length[(i + 1) * width + j + 1] + 1 : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  std::vector<Edit> edits;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (!is_large && i < a.size() && j < b.size() && a[i] == b[j]) {
      edits.push_back({' ', a[i++]});
      ++j;
    } else if (i < a.size() && (is_large || j == b.size() || length[(i + 1) * width + j] >= length[i * width + j + 1])) {
      edits.push_back({'-', a[i++]});
    } else {
      edits.push_back({'+', b[j++]});
    }
  }
  return edits;
}

}  // namespace

std::string text_diff(const std::string& from_name, std::string_view from, const std::string& to_name, std::string_view to) {
  if (from == to) return "";
  const std::vector<Edit> edits = edits_between(lines_of(from), lines_of(to));
  std::string out = fmt::format("--- {}\n+++ {}\n", from_name, to_name);
  std::size_t line_from = 1;
  std::size_t line_to = 1;
  std::size_t at = 0;
  while (at < edits.size()) {
    const auto changed = std::find_if(edits.begin() + static_cast<std::ptrdiff_t>(at), edits.end(),
                                      [](const Edit& edit) { return edit.sign != ' '; });
    if (changed == edits.end()) break;
    const auto first = static_cast<std::size_t>(changed - edits.begin());
    const std::size_t begin = std::max(at, first > kContextLines ? first - kContextLines : 0);
    line_from += begin - at;
    line_to += begin - at;
    std::size_t end = first;
    for (std::size_t i = first; i < edits.size() && i <= end + 2 * kContextLines; ++i) {
      if (edits[i].sign != ' ') end = i;
    }
    end = std::min(edits.size(), end + kContextLines + 1);
    std::string body;
    std::size_t count_from = 0;
    std::size_t count_to = 0;
    for (std::size_t i = begin; i < end; ++i) {
      body += fmt::format("{}{}\n", edits[i].sign, edits[i].line);
      if (edits[i].sign != '+') ++count_from;
      if (edits[i].sign != '-') ++count_to;
    }
    out += fmt::format("@@ -{},{} +{},{} @@\n{}", line_from, count_from, line_to, count_to, body);
    line_from += count_from;
    line_to += count_to;
    at = end;
  }
  return out;
}

}  // namespace slipway::delivery::application
