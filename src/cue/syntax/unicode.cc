#include "cue/syntax/unicode.h"

#include <algorithm>
#include <iterator>

namespace slipway::cue {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Blocks of letters; the gaps inside a block that are unassigned do no harm.
constexpr Range kLetters[] = {
    {0x41, 0x5A},       {0x61, 0x7A},       {0xAA, 0xAA},       {0xB5, 0xB5},       {0xBA, 0xBA},       {0xC0, 0xD6},
    {0xD8, 0xF6},       {0xF8, 0x2C1},      {0x2C6, 0x2D1},     {0x2E0, 0x2E4},     {0x370, 0x374},     {0x376, 0x37D},
    {0x37F, 0x37F},     {0x386, 0x386},     {0x388, 0x3F5},     {0x3F7, 0x481},     {0x48A, 0x559},     {0x561, 0x587},
    {0x5D0, 0x5F2},     {0x620, 0x64A},     {0x66E, 0x66F},     {0x671, 0x6D3},     {0x6D5, 0x6D5},     {0x6EE, 0x6EF},
    {0x6FA, 0x6FC},     {0x710, 0x72F},     {0x74D, 0x7A5},     {0x7CA, 0x7EA},     {0x800, 0x815},     {0x840, 0x858},
    {0x8A0, 0x8C9},     {0x904, 0x939},     {0x958, 0x961},     {0x971, 0x980},     {0x985, 0x9B9},     {0xA05, 0xA39},
    {0xA85, 0xAB9},     {0xB05, 0xB39},     {0xB83, 0xBB9},     {0xC05, 0xC39},     {0xC85, 0xCB9},     {0xD05, 0xD3A},
    {0xD85, 0xDC6},     {0xE01, 0xE30},     {0xE32, 0xE33},     {0xE40, 0xE46},     {0xE81, 0xEB0},     {0xEC0, 0xEC6},
    {0xF40, 0xF6C},     {0x1000, 0x102A},   {0x10A0, 0x135A},   {0x1380, 0x13FF},   {0x1401, 0x166C},   {0x166F, 0x167F},
    {0x1681, 0x169A},   {0x16A0, 0x16EA},   {0x1780, 0x17B3},   {0x1820, 0x18AA},   {0x1D00, 0x1DBF},   {0x1E00, 0x1FBC},
    {0x1FC2, 0x1FCC},   {0x1FD0, 0x1FDB},   {0x1FE0, 0x1FEC},   {0x1FF2, 0x1FFC},   {0x2071, 0x2071},   {0x207F, 0x207F},
    {0x2090, 0x209C},   {0x2102, 0x2102},   {0x2107, 0x2107},   {0x210A, 0x2113},   {0x2115, 0x2115},   {0x2119, 0x211D},
    {0x2124, 0x2124},   {0x2126, 0x2126},   {0x2128, 0x2128},   {0x212A, 0x212D},   {0x212F, 0x2139},   {0x2C00, 0x2CE4},
    {0x2D00, 0x2D6F},   {0x3005, 0x3006},   {0x3031, 0x3035},   {0x3041, 0x3096},   {0x309D, 0x309F},   {0x30A1, 0x30FA},
    {0x30FC, 0x318E},   {0x31A0, 0x31BF},   {0x31F0, 0x31FF},   {0x3400, 0x4DBF},   {0x4E00, 0xA48C},   {0xA4D0, 0xA60C},
    {0xA640, 0xA66E},   {0xA680, 0xA69D},   {0xA722, 0xA788},   {0xA78B, 0xA801},   {0xAC00, 0xD7A3},   {0xF900, 0xFAD9},
    {0xFB00, 0xFB06},   {0xFB13, 0xFB17},   {0xFB1D, 0xFDFB},   {0xFE70, 0xFEFC},   {0xFF21, 0xFF3A},   {0xFF41, 0xFF5A},
    {0xFF66, 0xFFDC},   {0x10000, 0x100FA}, {0x10280, 0x1031F}, {0x10330, 0x10340}, {0x10380, 0x103CF}, {0x10400, 0x1049D},
    {0x1D400, 0x1D7CB}, {0x1E900, 0x1E943}, {0x20000, 0x323AF}};

// First of each run of ten decimal digits.
constexpr std::uint32_t kDigitRuns[] = {0x30,   0x660,  0x6F0,  0x7C0,  0x966,  0x9E6,  0xA66,  0xAE6,  0xB66,  0xBE6,
                                        0xC66,  0xCE6,  0xD66,  0xDE6,  0xE50,  0xED0,  0xF20,  0x1040, 0x1090, 0x17E0,
                                        0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,
                                        0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0};

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

bool is_letter(std::uint32_t code) {
  auto after =
      std::upper_bound(std::begin(kLetters), std::end(kLetters), code, [](std::uint32_t c, Range r) { return c < r.first; });
  return after != std::begin(kLetters) && code <= (after - 1)->last && code != kBadRune;
}

bool is_decimal_digit(std::uint32_t code) {
  auto after = std::upper_bound(std::begin(kDigitRuns), std::end(kDigitRuns), code);
  return after != std::begin(kDigitRuns) && code < *(after - 1) + 10 && code != kBadRune;
}

bool is_space(std::uint32_t code) {
  return (code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F ||
         code == 0x3000;
}

namespace {

/// Lower-case letters and how far above them the upper-case ones lie. `step` 2: every second one is lower-case.
struct CaseRange {
  std::uint32_t first;
  std::uint32_t last;
  std::int32_t to_upper;
  std::uint32_t step;
};
constexpr CaseRange kCases[] = {
    {'a', 'z', -32, 1},       {0xE0, 0xF6, -32, 1},     {0xF8, 0xFE, -32, 1},     {0xFF, 0xFF, 121, 1},
    {0x101, 0x12F, -1, 2},    {0x133, 0x137, -1, 2},    {0x13A, 0x148, -1, 2},    {0x14B, 0x177, -1, 2},
    {0x17A, 0x17E, -1, 2},    {0x1CE, 0x1DC, -1, 2},    {0x1DF, 0x1EF, -1, 2},    {0x1F9, 0x21F, -1, 2},
    {0x223, 0x233, -1, 2},    {0x3AC, 0x3AC, -38, 1},   {0x3AD, 0x3AF, -37, 1},   {0x3B1, 0x3C1, -32, 1},
    {0x3C3, 0x3CB, -32, 1},   {0x3CC, 0x3CC, -64, 1},   {0x3CD, 0x3CE, -63, 1},   {0x430, 0x44F, -32, 1},
    {0x450, 0x45F, -80, 1},   {0x461, 0x481, -1, 2},    {0x48B, 0x4BF, -1, 2},    {0x4C2, 0x4CE, -1, 2},
    {0x4D1, 0x52F, -1, 2},    {0x561, 0x586, -48, 1},   {0x1E01, 0x1E95, -1, 2},  {0x1EA1, 0x1EFF, -1, 2},
    {0x24D0, 0x24E9, -26, 1}, {0x2170, 0x217F, -16, 1}, {0xFF41, 0xFF5A, -32, 1}, {0x10428, 0x1044F, -40, 1},
};

}  // namespace

std::uint32_t to_upper(std::uint32_t code) {
  if (code == 0x3C2) return 0x3A3;  // final sigma
  if (code == 0xB5) return 0x39C;   // micro sign
  for (const CaseRange& range : kCases) {
    if (code >= range.first && code <= range.last && (code - range.first) % range.step == 0)
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(code) + range.to_upper);
  }
  return code;
}

std::uint32_t to_lower(std::uint32_t code) {
  for (const CaseRange& range : kCases) {
    std::int64_t lower = static_cast<std::int64_t>(code) - range.to_upper;
    if (lower >= range.first && lower <= range.last && (lower - range.first) % range.step == 0)
      return static_cast<std::uint32_t>(lower);
  }
  return code;
}

}  // namespace slipway::cue
