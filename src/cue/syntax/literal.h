// Literals as written to their values and back: strings and bytes with all their quotings, numbers with separators and
// multipliers. Follows the sections "String and byte literals" and "Integer literals" of the language specification.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace slipway::cue {

struct StringLiteral {
  std::string value;
  bool is_bytes = false;
};

/// Where the quotes stand that close a text of several lines. v0.14 also takes them behind text, its successors do not.
enum class Closing : std::uint8_t { OnOwnLine, BehindText };

/// A whole literal, delimiters included. BadRequest with what is wrong.
Result<StringLiteral> unquote(std::string_view literal, Closing closing = Closing::OnOwnLine);

/// The pieces of an interpolated string as the scanner gave them: the first with the opening delimiter, the last with the
/// closing one, each but the last ending in "\(".
struct InterpolatedLiteral {
  std::vector<std::string> pieces;
  bool is_bytes = false;
};
Result<InterpolatedLiteral> unquote_pieces(const std::vector<std::string_view>& pieces, Closing closing = Closing::OnOwnLine);

/// A number literal in decimal: digits with at most one dot and an exponent, e.g. "0x1F" → "31", "1.5Ki" → "1536",
/// ".5" → "0.5". `is_integer` says what kind of number it denotes.
struct NumberLiteral {
  std::string decimal;
  bool is_integer = true;
};
Result<NumberLiteral> parse_number(std::string_view literal);

/// How a text is to be quoted.
struct QuoteForm {
  bool is_bytes = false;
  bool is_ascii = false;               // everything else escaped
  bool prefers_hashes = false;         // #"…"# where that saves escapes
  int tabs = -1;                       // over several lines, indented by that many tabs
  bool is_multiline_optional = false;  // only when there is a newline
};
std::string quote(std::string_view text, const QuoteForm& form);

/// As the language's printer writes a string, with escapes; bytes with single quotes.
std::string quote(std::string_view text);
std::string quote_bytes(std::string_view bytes);
/// True for what may stand as a label or reference without quotes.
bool is_identifier(std::string_view text);

}  // namespace slipway::cue
