// UTF-8 by hand, for the readers and writers of this room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slipway::json {

/// Bytes of the well-formed character at the start of `text` (no overlong forms, no surrogates, nothing above U+10FFFF), or 0.
std::size_t utf8_character(std::string_view text) noexcept;
/// REQUIRES: a code point that is no surrogate.
void append_utf8(std::string& out, char32_t code);
/// The code point of a well-formed character.
char32_t utf8_code(std::string_view character) noexcept;

}  // namespace slipway::json
