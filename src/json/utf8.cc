#include "json/utf8.h"

#include <algorithm>

namespace slipway::json {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

}  // namespace

std::size_t utf8_character(std::string_view text) noexcept {
  if (text.empty()) return 0;
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  const unsigned second = byte_at(text, 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool beyond = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : size;
}

void append_utf8(std::string& out, char32_t code) {
  auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

char32_t utf8_code(std::string_view character) noexcept {
  const unsigned first = byte_at(character, 0);
  if (character.size() == 1) return first;
  char32_t code = first & (0x7fU >> character.size());
  for (char byte : character.substr(1)) code = (code << 6) | (static_cast<unsigned char>(byte) & 0x3f);
  return code;
}

}  // namespace slipway::json
