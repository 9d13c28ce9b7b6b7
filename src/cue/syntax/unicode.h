// UTF-8, the character classes that identifiers and quoted texts need, and case mapping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace slipway::cue {

inline constexpr std::uint32_t kBadRune = 0xFFFFFFFF;

struct Rune {
  std::uint32_t code;  // kBadRune when the bytes are no UTF-8; then `bytes` is 1
  std::uint8_t bytes;
};

/// REQUIRES: text is not empty.
Rune decode_rune(std::string_view text);
void append_utf8(std::string& out, std::uint32_t code);
/// Characters of a text; a bad byte counts as one.
std::size_t count_runes(std::string_view text);
bool is_utf8(std::string_view text);
/// Bytes as text: what begins a character and does not end it becomes one U+FFFD, and so does every other bad byte.
std::string replace_invalid(std::string_view bytes);
/// Unicode categories L* and Nd.
bool is_letter(std::uint32_t code);
bool is_decimal_digit(std::uint32_t code);
/// White space of the Unicode standard.
bool is_space(std::uint32_t code);
/// Letters, marks, numbers, punctuation, symbols and the blank: what needs no escape in a quoted text.
bool is_printable(std::uint32_t code);
/// Simple case mapping; characters without one map to themselves.
std::uint32_t to_upper(std::uint32_t code);
std::uint32_t to_lower(std::uint32_t code);
std::uint32_t to_title(std::uint32_t code);

}  // namespace slipway::cue
