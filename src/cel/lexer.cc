#include "cel/lexer.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace slipway::cel {
namespace {

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::expected<std::vector<Token>, Fault> run() {
    std::vector<Token> out;
    while (true) {
      skip_space();
      Token token{.kind = TokenKind::End, .place = at_};
      if (at_ < text_.size() && !read(token)) return std::unexpected(fault_);
      out.push_back(std::move(token));
      if (out.back().kind == TokenKind::End) return out;
    }
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool fail(std::size_t place, std::string message) {
    fault_ = {place, std::move(message)};
    return false;
  }

  void skip_space() {
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        while (at_ < text_.size() && peek() != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  bool read(Token& token) {
    const char c = peek();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number(token);
    if (c == '"' || c == '\'') return read_string(token, false, false);
    if (is_letter(c)) {
      if (const std::size_t prefix = string_prefix(); prefix > 0) {
        bool is_raw = false;
        bool is_bytes = false;
        for (std::size_t i = 0; i < prefix; ++i) (peek(i) == 'r' || peek(i) == 'R' ? is_raw : is_bytes) = true;
        at_ += prefix;
        return read_string(token, is_raw, is_bytes);
      }
      const std::size_t begin = at_;
      while (is_letter(peek()) || is_digit(peek())) ++at_;
      token.kind = TokenKind::Ident;
      token.text = text_.substr(begin, at_ - begin);
      return true;
    }
    if (c == '`') return read_quoted_ident(token);
    return read_symbol(token);
  }

  std::size_t string_prefix() const {
    const auto is_one_of = [](char c, std::string_view set) { return c != '\0' && set.find(c) != std::string_view::npos; };
    if (!is_one_of(peek(), "rRbB")) return 0;
    if (is_one_of(peek(1), "'\"")) return 1;
    const bool is_mixed = is_one_of(peek(), "rR") ? is_one_of(peek(1), "bB") : is_one_of(peek(1), "rR");
    return is_mixed && is_one_of(peek(2), "'\"") ? 2 : 0;
  }

  bool read_number(Token& token) {
    const std::size_t begin = at_;
    token.kind = TokenKind::Int;
    if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && hex_value(peek(2)) >= 0) {
      at_ += 2;
      while (hex_value(peek()) >= 0) ++at_;
    } else {
      while (is_digit(peek())) ++at_;
      if (peek() == '.' && is_digit(peek(1))) {
        token.kind = TokenKind::Double;
        ++at_;
        while (is_digit(peek())) ++at_;
      }
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
        token.kind = TokenKind::Double;
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
      }
    }
    token.text = text_.substr(begin, at_ - begin);
    if (token.kind == TokenKind::Int && (peek() == 'u' || peek() == 'U')) {
      token.kind = TokenKind::Uint;
      ++at_;
    }
    return true;
  }

  bool read_quoted_ident(Token& token) {
    const auto end = text_.find('`', at_ + 1);
    if (end == std::string_view::npos) return fail(at_, "Syntax error: token recognition error at: '`'");
    token.kind = TokenKind::QuotedIdent;
    token.text = text_.substr(at_ + 1, end - at_ - 1);
    for (const char c : token.text) {
      if (!is_letter(c) && !is_digit(c) && c != '.' && c != '-' && c != '/' && c != ' ')
        return fail(at_, "Syntax error: token recognition error at: '`'");
    }
    at_ = end + 1;
    return !token.text.empty() || fail(token.place, "Syntax error: token recognition error at: '`'");
  }

  bool read_symbol(Token& token) {
    static constexpr std::array<std::string_view, 24> kSymbols{"==", "!=", "<=", ">=", "&&", "||", "<", ">",
                                                               "!",  "?",  ":",  "+",  "-",  "*",  "/", "%",
                                                               "(",  ")",  "[",  "]",  "{",  "}",  ",", "."};
    token.kind = TokenKind::Symbol;
    for (const std::string_view symbol : kSymbols) {
      if (!text_.substr(at_).starts_with(symbol)) continue;
      token.text = symbol;
      at_ += symbol.size();
      return true;
    }
    return fail(at_, fmt::format("Syntax error: token recognition error at: '{}'", text_.substr(at_, 1)));
  }

  bool read_string(Token& token, bool is_raw, bool is_bytes) {
    token.kind = is_bytes ? TokenKind::Bytes : TokenKind::String;
    const char quote = peek();
    const bool is_triple = peek(1) == quote && peek(2) == quote;
    at_ += is_triple ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == quote && (!is_triple || (peek(1) == quote && peek(2) == quote))) {
        at_ += is_triple ? 3 : 1;
        return true;
      }
      if (!is_triple && (c == '\n' || c == '\r')) break;
      if (c == '\\' && !is_raw) {
        if (!read_escape(token.text, is_bytes)) return false;
        continue;
      }
      ++at_;
      if (is_triple && c == '\r') {  // ends of lines are normalised
        if (peek() == '\n') ++at_;
        token.text += '\n';
        continue;
      }
      token.text += c;
      if (c == '\\' && at_ < text_.size() && peek() != '\n') token.text += text_[at_++];  // a raw text keeps both
    }
    return fail(token.place, fmt::format("Syntax error: token recognition error at: '{}'", text_.substr(token.place)));
  }

  bool read_escape(std::string& out, bool is_bytes) {
    static constexpr std::string_view kPlain = "abfnrtv\\'\"`?";
    static constexpr std::string_view kMeaning = "\a\b\f\n\r\t\v\\'\"`?";
    const std::size_t begin = at_;
    const char c = peek(1);
    at_ += 2;
    if (const auto plain = kPlain.find(c); c != '\0' && plain != std::string_view::npos) {
      out += kMeaning[plain];
      return true;
    }
    if (c >= '0' && c <= '3') {
      std::uint32_t code = static_cast<std::uint32_t>(c - '0');
      for (int i = 0; i < 2; ++i, ++at_) {
        if (peek() < '0' || peek() > '7') return fail(begin, "Syntax error: invalid octal escape");
        code = code * 8 + static_cast<std::uint32_t>(peek() - '0');
      }
      return put(out, code, is_bytes, begin);
    }
    const int digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0 || (is_bytes && digits > 2)) return fail(begin, "Syntax error: invalid escape sequence");
    std::uint32_t code = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      if (hex_value(peek()) < 0) return fail(begin, "Syntax error: invalid hexadecimal escape");
      code = code * 16 + static_cast<std::uint32_t>(hex_value(peek()));
    }
    return put(out, code, is_bytes, begin);
  }

  bool put(std::string& out, std::uint32_t code, bool is_byte, std::size_t place) {
    if (is_byte) {
      out += static_cast<char>(code);
      return true;
    }
    if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return fail(place, "Syntax error: invalid unicode code point");
    append_utf8(out, code);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Fault fault_;
};

}  // namespace

std::expected<std::vector<Token>, Fault> tokens_of(std::string_view text) { return Lexer(text).run(); }

}  // namespace slipway::cel
