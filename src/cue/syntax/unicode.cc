#include "cue/syntax/unicode.h"

#include <algorithm>
#include <span>

#include "cue/syntax/unicode_tables.h"

namespace slipway::cue {
namespace {

using unicode::CaseRange;
using unicode::Range;

bool is_in_ranges(std::span<const Range> ranges, std::uint32_t code) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), code, [](std::uint32_t c, Range r) { return c < r.first; });
  return after != ranges.begin() && code <= (after - 1)->last;
}

std::uint32_t mapped(std::span<const CaseRange> ranges, std::uint32_t code) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), code, [](std::uint32_t c, CaseRange r) { return c < r.first; });
  if (after == ranges.begin()) return code;
  const CaseRange& range = *(after - 1);
  if (code > range.last || (code - range.first) % range.step != 0) return code;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(code) + range.delta);
}

}  // namespace

Rune decode_rune(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {kBadRune, 1};
  std::uint32_t code = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {kBadRune, 1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  static constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[length] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {kBadRune, 1};
  return {code, static_cast<std::uint8_t>(length)};
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::size_t count_runes(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += decode_rune(text.substr(at)).bytes;
  return count;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    Rune rune = decode_rune(text.substr(at));
    if (rune.code == kBadRune) return false;
    at += rune.bytes;
  }
  return true;
}

// Bytes that could begin a character together; at least one.
static std::size_t broken_prefix(std::string_view text) {
  auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  unsigned lead = byte(0);
  std::size_t wanted = lead >= 0xC2 && lead <= 0xDF   ? 2
                       : lead >= 0xE0 && lead <= 0xEF ? 3
                       : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                      : 1;
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (wanted == 1 || byte(1) < low || byte(1) > high) return 1;
  std::size_t size = 2;
  while (size < wanted && byte(size) >= 0x80 && byte(size) <= 0xBF) ++size;
  return size;
}

std::string replace_invalid(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    Rune rune = decode_rune(bytes);
    bool is_bad = rune.code == kBadRune;
    std::size_t size = is_bad ? broken_prefix(bytes) : rune.bytes;
    out += is_bad ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, size);
    bytes.remove_prefix(size);
  }
  return out;
}

bool is_letter(std::uint32_t code) { return is_in_ranges(unicode::kLetterRanges, code); }
bool is_decimal_digit(std::uint32_t code) { return is_in_ranges(unicode::kDigitRanges, code); }
bool is_printable(std::uint32_t code) { return code < 0x7F ? code >= 0x20 : is_in_ranges(unicode::kPrintRanges, code); }

bool is_space(std::uint32_t code) {
  return (code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

std::uint32_t to_upper(std::uint32_t code) { return mapped(unicode::kUpperCases, code); }
std::uint32_t to_lower(std::uint32_t code) { return mapped(unicode::kLowerCases, code); }
std::uint32_t to_title(std::uint32_t code) {
  // Title-case letters themselves, and Georgian, whose upper case titles do not use.
  if (code == 0x1C5 || code == 0x1C8 || code == 0x1CB || code == 0x1F2 || (code >= 0x10D0 && code <= 0x10FF)) return code;
  std::uint32_t title = mapped(unicode::kTitleCases, code);
  return title != code ? title : to_upper(code);
}

}  // namespace slipway::cue
