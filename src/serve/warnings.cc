#include "serve/warnings.h"

#include <algorithm>
#include <set>
#include <vector>

namespace slipway::serve {
namespace {

constexpr std::size_t kMostWarningCharacters = 4096;  // in all
constexpr std::size_t kMostCharactersOfOne = 256;     // where all would be too many

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

/// The first `count` characters.
std::string_view cut(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_character(text[at]) && count-- == 0) break;
  }
  return text.substr(0, at);
}

}  // namespace

std::string warning_value(std::string_view text) {
  std::string value = "299 - \"";
  for (const char c : text) {
    if (c == '"' || c == '\\') value += '\\';
    value += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return value + '"';
}

void add_warnings(http::Headers& headers, std::span<const std::string> texts) {
  std::set<std::string_view> seen;
  std::vector<std::string_view> once;
  std::size_t total = 0;
  for (const std::string& text : texts) {
    if (text.empty() || !seen.insert(text).second) continue;
    once.push_back(text);
    total += characters(text);
  }
  const bool is_cut = total > kMostWarningCharacters;
  std::size_t written = 0;
  for (std::string_view text : once) {
    if (is_cut && written >= kMostWarningCharacters) return;
    if (is_cut) text = cut(text, kMostCharactersOfOne);
    written += characters(text);
    headers.add("Warning", warning_value(text));
  }
}

}  // namespace slipway::serve
