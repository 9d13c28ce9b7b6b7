#include "cue/syntax/literal.h"

#include <utility>

#include <algorithm>

#include <fmt/format.h>

#include <optional>

#include "cue/number/decimal.h"
#include "cue/number/integer.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace {

std::unexpected<Status> syntax_error(std::string_view what) { return fail(Reason::BadRequest, std::string(what)); }

// How one string is quoted, and the indentation its lines share.
struct Quoting {
  char mark = '"';
  std::size_t hashes = 0;
  bool is_multiline = false;
  bool closes_behind_text = false;  // of several lines, the last of which the quotes follow
  std::string_view indent;
  bool is_bytes() const { return mark == '\''; }
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Decoder {
 public:
  explicit Decoder(Quoting quoting) : quoting_(quoting) {}

  /// One piece, delimiters taken off. In a multi-line string the closing newline and indentation are off too.
  Status decode(std::string_view piece, bool at_line_start);
  std::string take() { return std::move(out_); }
  bool failed() const { return failed_; }

 private:
  Status error(std::string_view what) {
    failed_ = true;
    return Status{Reason::BadRequest, std::string(what), {}, {}, {}, {}, {}, 0};
  }
  std::optional<std::string_view> line_start();
  bool newline(std::string_view& error_text);
  std::string_view escape();
  std::string_view unicode_escape(std::size_t digits);
  std::string_view byte_escape();
  std::optional<std::uint32_t> number(std::size_t digits, int base);

  Quoting quoting_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  bool failed_ = false;
};

// Skips the common indentation; an empty line need not have it. Gives the error, if any.
std::optional<std::string_view> Decoder::line_start() {
  if (text_.substr(at_).starts_with(quoting_.indent)) {
    at_ += quoting_.indent.size();
    return std::nullopt;
  }
  if (at_ == text_.size() || text_[at_] == '\n' || text_.substr(at_).starts_with("\r\n")) return std::nullopt;
  return "invalid whitespace";
}

Status Decoder::decode(std::string_view piece, bool at_line_start) {
  text_ = piece;
  at_ = 0;
  if (at_line_start && quoting_.is_multiline) {
    if (auto wrong = line_start()) return error(*wrong);
  }
  std::string opener = "\\" + std::string(quoting_.hashes, '#');
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\\' && text_.substr(at_).starts_with(opener)) {
      at_ += opener.size();
      if (auto wrong = escape(); !wrong.empty()) return error(wrong);
      continue;
    }
    if (c == '\0') return error("invalid character NUL");
    bool is_line_end = c == '\n' || (quoting_.is_multiline && c == '\r' && text_.substr(at_ + 1).starts_with('\n'));
    if (is_line_end) {
      if (!quoting_.is_multiline) return error("newline in string");
      at_ += c == '\r' ? 2 : 1;
      out_ += '\n';
      if (auto wrong = line_start()) return error(*wrong);
      continue;
    }
    Rune rune = decode_rune(text_.substr(at_));
    if (rune.code == kBadRune) return error("invalid UTF-8");
    out_.append(text_.substr(at_, rune.bytes));
    at_ += rune.bytes;
  }
  return {};
}

// Behind the backslash and its hashes. Gives the error, or nothing.
std::string_view Decoder::escape() {
  if (at_ >= text_.size()) return "cannot escape last newline";
  char c = text_[at_++];
  static constexpr std::string_view kNames = "abfnrtv\\/";
  static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\\/";
  if (auto known = kNames.find(c); known != std::string_view::npos) {
    out_ += kValues[known];
    return {};
  }
  if (c == quoting_.mark) {
    out_ += c;
    return {};
  }
  if (c == '\r' && text_.substr(at_).starts_with('\n')) c = text_[at_++];
  if (c == '\n' && quoting_.is_multiline) {
    if (at_ == text_.size() && quoting_.indent.empty()) return "cannot escape last newline";
    auto wrong = line_start();
    return wrong ? *wrong : std::string_view();
  }
  if (c == 'u') return unicode_escape(4);
  if (c == 'U') return unicode_escape(8);
  if (quoting_.is_bytes() && (c == 'x' || (c >= '0' && c <= '7'))) {
    --at_;
    return byte_escape();
  }
  return "unknown escape sequence";
}

std::optional<std::uint32_t> Decoder::number(std::size_t digits, int base) {
  if (at_ + digits > text_.size()) return std::nullopt;
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    int digit = hex_digit(text_[at_ + i]);
    if (digit < 0 || digit >= base) return std::nullopt;
    value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit);
  }
  at_ += digits;
  return value;
}

std::string_view Decoder::unicode_escape(std::size_t digits) {
  auto code = number(digits, 16);
  if (!code || *code > 0x10FFFF) return "invalid unicode escape";
  if (*code >= 0xD800 && *code <= 0xDFFF) {
    std::string opener = "\\" + std::string(quoting_.hashes, '#') + "u";
    bool has_low = *code < 0xDC00 && text_.substr(at_).starts_with(opener);
    if (!has_low) return "unmatched surrogate pair";
    at_ += opener.size();
    auto low = number(4, 16);
    if (!low || *low < 0xDC00 || *low > 0xDFFF) return "unmatched surrogate pair";
    code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
  }
  append_utf8(out_, *code);
  return {};
}

std::string_view Decoder::byte_escape() {
  bool is_hex = text_[at_] == 'x';
  if (is_hex) ++at_;
  auto value = is_hex ? number(2, 16) : number(3, 8);
  if (!value || *value > 255) return "invalid byte escape";
  out_ += static_cast<char>(*value);
  return {};
}

// Takes the delimiters off the first and last piece and finds the indentation.
std::optional<std::string_view> open_and_close(Quoting& quoting, std::string_view& first, std::string_view& last) {
  auto marks = first.find_first_not_of('#');
  if (marks == std::string_view::npos || (first[marks] != '"' && first[marks] != '\'')) return "invalid string";
  quoting.hashes = marks;
  quoting.mark = first[marks];
  bool is_single_piece = first.data() == last.data();
  std::string_view opening = first.substr(marks);
  bool is_triple = opening.size() >= 3 && opening[1] == quoting.mark && opening[2] == quoting.mark;
  bool has_newline = is_triple && (opening.substr(3).starts_with('\n') || opening.substr(3).starts_with("\r\n"));
  std::string closing(is_triple && has_newline ? 3 : 1, quoting.mark);
  closing += std::string(quoting.hashes, '#');
  if (is_triple && !has_newline) {
    // #"""# is a quoted quote; without the second reading it is a multi-line string without its newline.
    std::string triple_end = std::string(3, quoting.mark) + std::string(quoting.hashes, '#');
    if (quoting.hashes == 0 || (opening.size() >= 6 + quoting.hashes && opening.ends_with(triple_end)))
      return "expected newline after multiline quote";
  }
  std::size_t open_size = marks + 1;
  if (has_newline) open_size = marks + 3 + (opening[3] == '\r' ? 2 : 1);
  if (!last.ends_with(closing) || (is_single_piece && last.size() < open_size + closing.size())) return "unmatched quote";
  last.remove_suffix(closing.size());
  if (is_single_piece) first = last;
  first.remove_prefix(open_size);
  if (is_single_piece) last = first;
  quoting.is_multiline = has_newline;
  if (!has_newline) return std::nullopt;
  auto newline = last.rfind('\n');
  std::string_view line = newline == std::string_view::npos ? last : last.substr(newline + 1);
  const bool has_text = line.find_first_not_of(" \t\r") != std::string_view::npos;
  if (has_text || (newline == std::string_view::npos && !is_single_piece)) {
    // As v0.14 reads it: the blanks right before the quotes are the indentation, and stay as text themselves.
    quoting.closes_behind_text = true;
    quoting.indent = last.substr(last.find_last_not_of(" \t\r") + 1);
    return std::nullopt;
  }
  quoting.indent = line;
  last = newline == std::string_view::npos ? std::string_view() : last.substr(0, newline);
  if (last.ends_with('\r')) last.remove_suffix(1);
  if (is_single_piece) first = last;
  // What closes the string cannot stand inside it at the start of a line.
  if (quoting.hashes == 0 && last.substr(last.rfind('\n') + 1).starts_with(std::string(line) + closing))
    return "unmatched quote";
  return std::nullopt;
}

}  // namespace

Result<InterpolatedLiteral> unquote_pieces(const std::vector<std::string_view>& pieces, Closing closing) {
  if (pieces.empty()) return syntax_error("invalid string");
  Quoting quoting;
  std::vector<std::string_view> parts = pieces;
  std::string_view first = parts.front();
  std::string_view last = parts.back();
  // A string of no lines is not the same as one of an empty line.
  bool is_empty_block =
      parts.size() == 1 && first.find('\n') != std::string_view::npos && first.find('\n') == first.rfind('\n');
  if (auto wrong = open_and_close(quoting, first, last)) return syntax_error(*wrong);
  if (quoting.closes_behind_text && closing == Closing::OnOwnLine)
    return syntax_error("missing newline before multiline quote");
  parts.front() = first;
  parts.back() = parts.size() == 1 ? first : last;
  InterpolatedLiteral result;
  result.is_bytes = quoting.is_bytes();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (i + 1 < parts.size()) part.remove_suffix(2 + quoting.hashes);
    Decoder decoder(quoting);
    const bool has_no_lines = is_empty_block && quoting.is_multiline && !quoting.closes_behind_text;
    Status status = has_no_lines ? Status{} : decoder.decode(part, i == 0);
    if (decoder.failed()) return fail(std::move(status));
    result.pieces.push_back(decoder.take());
  }
  return result;
}

Result<StringLiteral> unquote(std::string_view literal, Closing closing) {
  SLIPWAY_TRY(pieces, unquote_pieces({literal}, closing));
  return StringLiteral{std::move(pieces.pieces[0]), pieces.is_bytes};
}

namespace {

// Digits of a base other than ten; empty when malformed.
std::string digits_to_decimal(std::string_view digits, int base) {
  std::string plain;
  bool had_digit = false;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '_' && had_digit && i + 1 < digits.size()) {
      had_digit = false;
      continue;
    }
    const int digit = hex_digit(digits[i]);
    if (digit < 0 || digit >= base) return {};
    had_digit = true;
    plain += digits[i];
  }
  const auto number = had_digit ? parse_integer(plain, base) : std::nullopt;
  return number ? print_integer(*number, 10) : std::string();
}

// Removes separators; empty when one stands where no digit is on both sides.
std::string without_separators(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    bool between = i > 0 && i + 1 < text.size() && hex_digit(text[i - 1]) >= 0 && hex_digit(text[i + 1]) >= 0;
    if (!between) return {};
  }
  return out;
}

std::optional<std::int64_t> multiplier(std::string_view& text) {
  bool is_binary = text.ends_with('i');
  std::string_view stem = is_binary ? text.substr(0, text.size() - 1) : text;
  static constexpr std::string_view kUnits = "KMGTP";
  auto unit = stem.empty() ? std::string_view::npos : kUnits.find(stem.back());
  if (unit == std::string_view::npos) return std::nullopt;
  text = stem.substr(0, stem.size() - 1);
  std::int64_t value = 1;
  for (std::size_t i = 0; i <= unit; ++i) value *= is_binary ? 1024 : 1000;
  return value;
}

}  // namespace

Result<NumberLiteral> parse_number(std::string_view literal) {
  std::string sign;
  if (literal.starts_with('-') || literal.starts_with('+')) {
    if (literal[0] == '-') sign = "-";
    literal.remove_prefix(1);
  }
  if (literal.size() > 10000) return syntax_error("number literal too long");
  if (literal.size() > 1 && literal[0] == '0' && std::string_view("xXbo").find(literal[1]) != std::string_view::npos) {
    int base = literal[1] == 'b' ? 2 : literal[1] == 'o' ? 8 : 16;
    std::string digits = digits_to_decimal(literal.substr(2), base);
    if (digits.empty()) return syntax_error("illegal number");
    return NumberLiteral{sign + digits, true};
  }
  std::string_view stem = literal;
  auto factor = multiplier(stem);
  std::string text = without_separators(stem);
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos) return syntax_error("illegal number");
  auto value = parse_decimal(text);
  if (!value || (factor && text.find_first_of("eE") != std::string::npos)) return syntax_error("illegal number");
  bool is_float = text.find_first_of(".eE") != std::string::npos;
  bool leads_zero = text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9';
  if (leads_zero && !is_float) return syntax_error("illegal integer number");
  if (factor) {
    Decimal product = *value;
    Decimal exact = multiply(product, decimal_of(*factor));
    if (!exact.is_whole()) return syntax_error("number cannot be represented as int");
    return NumberLiteral{sign + format(whole(truncate(exact)), false), true};
  }
  if (leads_zero) text.erase(0, std::min(text.find_first_not_of('0'), text.size() - 1));
  if (text[0] == '.') text.insert(0, "0");
  for (char& c : text) {
    if (c == 'E') c = 'e';
  }
  return NumberLiteral{sign + text, !is_float};
}

std::string quote(std::string_view text) { return quote(text, QuoteForm{}); }
std::string quote_bytes(std::string_view bytes) { return quote(bytes, QuoteForm{.is_bytes = true}); }

bool is_identifier(std::string_view text) {
  if (text.starts_with('_')) text.remove_prefix(1);
  if (text.starts_with('#')) text.remove_prefix(1);
  if (text.empty()) return false;
  for (std::size_t at = 0; at < text.size();) {
    Rune rune = decode_rune(text.substr(at));
    bool is_start = rune.code == '_' || rune.code == '$' || is_letter(rune.code);
    if (!is_start && (at == 0 || !is_decimal_digit(rune.code))) return false;
    at += rune.bytes;
  }
  return true;
}

namespace {

std::size_t run_of(std::string_view text, std::size_t at, char c) {
  std::size_t end = at;
  while (end < text.size() && text[end] == c) ++end;
  return end - at;
}

bool is_plain_rune(std::uint32_t code, const QuoteForm& form) {
  return code != kBadRune && is_printable(code) && (code < 0x80 || !form.is_ascii);
}

// Hashes that let quotes and backslashes stand as they are; 0 when something else needs an escape, or nothing does.
std::size_t saving_hashes(std::string_view text, char delimiter, const QuoteForm& form) {
  std::size_t needed = 0;
  for (std::size_t i = 0; i < text.size();) {
    Rune rune = decode_rune(text.substr(i));
    if (!is_plain_rune(rune.code, form)) return 0;
    if (text[i] == delimiter || text[i] == '\\') needed = std::max(needed, run_of(text, i + 1, '#') + 1);
    i += rune.bytes;
  }
  return needed;
}

// Hashes that keep a run of three quotes from ending a text of several lines.
std::size_t guarding_hashes(std::string_view text, char delimiter) {
  std::size_t needed = 0;
  for (std::size_t i = 0; i + 2 < text.size(); ++i) {
    if (text[i] != delimiter || text[i + 1] != delimiter || text[i + 2] != delimiter) continue;
    std::size_t quotes = run_of(text, i, delimiter);
    needed = std::max(needed, run_of(text, i + quotes, '#') + 1);
    i += quotes - 1;
  }
  return needed;
}

std::string escape_of(std::string_view bytes, std::uint32_t code, const std::string& backslash, const QuoteForm& form) {
  static constexpr std::string_view kNamed = "\a\b\f\n\r\t\v";
  static constexpr std::string_view kLetters = "abfnrtv";
  if (code == kBadRune) {
    if (form.is_bytes) return fmt::format("{}x{:02x}", backslash, static_cast<unsigned char>(bytes[0]));
    return form.is_ascii ? backslash + "ufffd" : "\xEF\xBF\xBD";
  }
  std::size_t named = code < 0x80 ? kNamed.find(static_cast<char>(code)) : std::string_view::npos;
  if (named != std::string_view::npos) return backslash + kLetters[named];
  if (form.is_bytes && code < 0x20) return fmt::format("{}x{:02x}", backslash, code);
  return code > 0xFFFF ? fmt::format("{}U{:08x}", backslash, code) : fmt::format("{}u{:04x}", backslash, code);
}

}  // namespace

std::string quote(std::string_view text, const QuoteForm& form) {
  char delimiter = form.is_bytes ? '\'' : '"';
  bool is_multiline = form.tabs >= 0 && (!form.is_multiline_optional || text.find('\n') != std::string_view::npos);
  std::size_t hashes = is_multiline          ? guarding_hashes(text, delimiter)
                       : form.prefers_hashes ? saving_hashes(text, delimiter, form)
                                             : 0;
  bool keeps_specials = !is_multiline && hashes > 0;
  std::string marks(hashes, '#');
  std::string backslash = "\\" + marks;
  std::string tabs(static_cast<std::size_t>(std::max(form.tabs, 0)), '\t');
  std::string body;
  bool at_line_start = is_multiline;
  for (std::size_t i = 0; i < text.size();) {
    Rune rune = decode_rune(text.substr(i));
    std::string_view bytes = text.substr(i, rune.bytes);
    i += rune.bytes;
    if (is_multiline && bytes == "\n") {
      body += '\n';
      at_line_start = true;
      continue;
    }
    if (std::exchange(at_line_start, false)) body += tabs;
    bool is_special = bytes[0] == '\\' || (bytes[0] == delimiter && !is_multiline);
    if (is_special && !keeps_specials) {
      body += backslash + std::string(bytes);
    } else {
      body += is_special || is_plain_rune(rune.code, form) ? std::string(bytes) : escape_of(bytes, rune.code, backslash, form);
    }
  }
  std::string quotes(is_multiline ? 3 : 1, delimiter);
  if (!is_multiline) return marks + quotes + body + quotes + marks;
  return marks + quotes + "\n" + body + (text.empty() ? "" : "\n") + tabs + quotes + marks;
}

}  // namespace slipway::cue
