// Splits the text of a CEL expression into tokens (cel-spec, "Syntax"). String and bytes literals are given with their escapes
// resolved.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace slipway::cel {

enum class TokenKind : std::uint8_t { End, Ident, QuotedIdent, Int, Uint, Double, String, Bytes, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  std::size_t place = 0;  // byte offset
  std::string text{};     // a name, digits as written, the resolved content, the symbol
};

/// A fault in a text: where and what.
struct Fault {
  std::size_t place = 0;
  std::string message{};
};

/// Of a name: letters of ASCII and '_'.
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// The tokens, the last one End. Otherwise the first fault.
std::expected<std::vector<Token>, Fault> tokens_of(std::string_view text);

}  // namespace slipway::cel
