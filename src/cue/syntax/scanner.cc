#include "cue/syntax/scanner.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text.h"
#include "cue/syntax/unicode.h"

// Words are told apart a few kinds at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {
namespace {

enum : std::uint8_t { kLetter = 1, kDigit = 2, kHex = 4 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = kLetter | (c <= 'f' ? kHex : 0);
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = kLetter | (c <= 'F' ? kHex : 0);
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = kDigit | kHex;
  table['_'] = table['$'] = kLetter;
  return table;
}
constexpr auto kClasses = make_classes();

bool has_class(char c, int mask) { return (kClasses[static_cast<unsigned char>(c)] & mask) != 0; }

struct Keyword {
  std::string_view text;
  Tok kind;
};
constexpr Keyword kKeywords[] = {{"true", Tok::True}, {"false", Tok::False}, {"null", Tok::Null}, {"for", Tok::For},
                                 {"in", Tok::In},     {"if", Tok::If},       {"let", Tok::Let},   {"func", Tok::Func},
                                 {"try", Tok::Try},   {"else", Tok::Else}};

// "illegal character U+005E '^'"
std::string illegal(std::uint32_t code) {
  if (code == 0) return "illegal character NUL";
  if (code == 0xFEFF) return "illegal byte order mark";
  std::string shown;
  append_utf8(shown, code);
  return fmt::format("illegal character U+{:04X}{}", code, is_printable(code) ? " '" + shown + "'" : "");
}

Tok keyword(std::string_view text) {
  if (text.size() < 2 || text.size() > 5) return Tok::Ident;
  for (const Keyword& word : kKeywords) {
    if (word.text[0] == text[0] && word.text == text) return word.kind;
  }
  return Tok::Ident;
}

}  // namespace

std::string_view name(Tok tok) {
  static constexpr std::string_view kNames[] = {
      "ILLEGAL", "EOF", ",",   "ATTRIBUTE", "IDENT", "INT",  "FLOAT", "STRING", "INTERPOLATION",
      "_|_",     "+",   "-",   "*",         "/",     "&",    "|",     "&&",     "||",
      "!",       "==",  "!=",  "<",         "<=",    ">",    ">=",    "=~",     "!~",
      "=",       ":",   ".",   "...",       "?",     "=>",   "<-",    "~",      "(",
      ")",       "[",   "]",   "{",         "}",     "true", "false", "null",   "for",
      "in",      "if",  "let", "func",      "try",   "else"};
  return kNames[static_cast<std::size_t>(tok)];
}

Scanner::Scanner(std::string_view text, Pos base, Diagnostics* diagnostics, std::vector<Comment>* comments)
    : text_(text), base_(base), diagnostics_(diagnostics), comments_(comments) {
  if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
}

Scanner Scanner::silent() const {
  Scanner copy = *this;
  copy.diagnostics_ = nullptr;
  copy.comments_ = nullptr;
  return copy;
}

void Scanner::error(std::size_t at, std::string message) {
  if (diagnostics_ != nullptr) diagnostics_->push_back({base_ + static_cast<Pos>(at), std::move(message)});
}

Token Scanner::make(Tok kind, std::size_t begin, bool ends_declaration) {
  wants_comma_ = ends_declaration;
  return {kind, base_ + static_cast<Pos>(begin), text_.substr(begin, at_ - begin)};
}

// True when a newline was passed that stands for a comma.
bool Scanner::skip_space() {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == '\n' && wants_comma_) return true;
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return false;
    ++at_;
  }
  return false;
}

void Scanner::scan_comment() {
  std::size_t begin = at_;
  std::size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end;
  std::size_t last = at_;
  while (last > begin && text_[last - 1] == '\r') --last;
  if (comments_ != nullptr) comments_->push_back({base_ + static_cast<Pos>(begin), text_.substr(begin, last - begin)});
}

Token Scanner::next() {
  for (;;) {
    if (skip_space()) {
      std::size_t line_end = at_;
      wants_comma_ = false;
      skip_space();
      // JSON may have its commas and colons at the start of a line.
      if (peek() == ',' || peek() == ':') continue;
      at_ = line_end + 1;
      return {Tok::Comma, base_ + static_cast<Pos>(line_end), text_.substr(line_end, 1)};
    }
    if (peek() != '/' || peek(1) != '/') break;
    if (wants_comma_) {  // the comment is read again after the comma its line end stands for
      wants_comma_ = false;
      return {Tok::Comma, base_ + static_cast<Pos>(at_), "\n"};
    }
    scan_comment();
  }
  std::size_t begin = at_;
  if (at_ >= text_.size()) {
    if (wants_comma_) {
      wants_comma_ = false;
      return {Tok::Comma, base_ + static_cast<Pos>(at_), "\n"};
    }
    return {Tok::Eof, base_ + static_cast<Pos>(at_), {}};
  }
  char c = text_[at_];
  if (c == '_' && peek(1) == '|' && peek(2) == '_') {
    at_ += 3;
    return make(Tok::Bottom, begin, true);
  }
  if (c == '.' && peek(1) == '.' && peek(2) != '.') {
    at_ += 2;
    error(begin, "illegal token '..'; expected '.'");
    return make(Tok::Dot, begin);
  }
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return scan_number(begin);
  if (c == '"' || c == '\'') return scan_string(begin);
  if (c == '#') {
    std::size_t marks = begin;
    while (marks < text_.size() && text_[marks] == '#') ++marks;
    if (marks < text_.size() && (text_[marks] == '"' || text_[marks] == '\'')) return scan_string(begin);
  }
  if (has_class(c, kLetter) || c == '#' || static_cast<unsigned char>(c) >= 0x80) return scan_identifier(begin);
  if (c == '@' && is_in_attribute_) {  // a word like any other
    ++at_;
    skip_identifier();
    return make(Tok::Attribute, begin);
  }
  if (c == '@') return scan_attribute(begin);
  return scan_operator(begin);
}

// Letters and digits, ASCII or not. False when there was none.
bool Scanner::skip_identifier() {
  std::size_t begin = at_;
  while (at_ < text_.size()) {
    if (has_class(text_[at_], kLetter | kDigit)) {
      ++at_;
      continue;
    }
    if (static_cast<unsigned char>(text_[at_]) < 0x80) break;
    Rune rune = decode_rune(text_.substr(at_));
    if (!is_letter(rune.code) && !is_decimal_digit(rune.code)) break;
    at_ += rune.bytes;
  }
  return at_ > begin;
}

Token Scanner::scan_identifier(std::size_t begin) {
  if (peek() == '_' && peek(1) == '#') ++at_;
  if (peek() == '#') ++at_;
  if (is_digit(peek()) && at_ > begin) {
    skip_identifier();
    error(begin, "invalid identifier");
    return make(Tok::Illegal, begin, true);
  }
  if (!skip_identifier() && at_ == begin) {
    Rune rune = decode_rune(text_.substr(at_));
    at_ += rune.bytes;
    error(begin, rune.code == kBadRune ? "illegal UTF-8 encoding" : illegal(rune.code));
    return make(Tok::Illegal, begin);
  }
  return make(keyword(text_.substr(begin, at_ - begin)), begin, true);
}

void Scanner::skip_digits(int base) {
  while (at_ < text_.size()) {
    char c = text_[at_];
    bool is_fit = base == 16 ? has_class(c, kHex) : c >= '0' && c < '0' + base;
    if (c == '_') {
      bool between = at_ > 0 && has_class(text_[at_ - 1], kHex) && has_class(peek(1), kHex);
      if (!between) error(at_, "illegal '_' in number");
    } else if (!is_fit) {
      return;
    }
    ++at_;
  }
}

bool Scanner::skip_multiplier() {
  switch (peek()) {
    case 'K':
    case 'M':
    case 'G':
    case 'T':
    case 'P':
      at_ += peek(1) == 'i' ? 2 : 1;
      return true;
    default:
      return false;
  }
}

Token Scanner::scan_number(std::size_t begin) {
  if (peek() == '0') {
    char kind = peek(1);
    int base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' ? 2 : kind == 'o' ? 8 : 0;
    if (base != 0) {
      at_ += 2;
      std::size_t digits = at_;
      skip_digits(base);
      if (at_ == digits)
        error(begin, base == 16 ? "illegal hexadecimal number" : base == 2 ? "illegal binary number" : "illegal octal number");
      if (is_digit(peek())) {
        skip_digits(10);
        error(begin, "illegal number");
      }
      return make(Tok::Int, begin, true);
    }
  }
  skip_digits(10);
  bool leads_zero = at_ - begin > 1 && text_[begin] == '0';
  Tok kind = Tok::Int;
  if (peek() == '.' && !(peek(1) == '.' && peek(2) == '.')) {
    kind = Tok::Float;
    ++at_;
    skip_digits(10);
  }
  if (skip_multiplier()) {
    if (leads_zero && kind == Tok::Int) error(begin, "illegal integer number");
    return make(Tok::Int, begin, true);
  }
  if (peek() == 'e' || peek() == 'E') {
    kind = Tok::Float;
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    std::size_t digits = at_;
    skip_digits(10);
    if (at_ == digits) error(begin, "illegal exponent in number");
  }
  if (leads_zero && kind == Tok::Int) error(begin, "illegal integer number");
  return make(kind, begin, true);
}

Scanner::Quote Scanner::quote_of(std::string_view opening) {
  Quote quote{};
  std::size_t at = opening.find_first_not_of('#');
  quote.hashes = static_cast<int>(at);
  quote.mark = opening[at];
  std::string_view rest = opening.substr(at);
  quote.is_multiline =
      rest.size() >= 4 && rest[1] == quote.mark && rest[2] == quote.mark && (rest[3] == '\n' || rest[3] == '\r');
  return quote;
}

Token Scanner::scan_string(std::size_t begin) {
  Quote quote = quote_of(text_.substr(begin));
  at_ = begin + static_cast<std::size_t>(quote.hashes) + 1;
  if (quote.is_multiline) {
    at_ += 2;
    if (peek() == '\r') ++at_;
    if (peek() == '\n') ++at_;
  } else if (peek() == quote.mark && peek(1) == quote.mark) {
    at_ += 2;
    error(begin, fmt::format("expected newline after multiline quote {}", text_.substr(begin, at_ - begin)));
    for (int i = 0; i < quote.hashes && peek() == '#'; ++i) ++at_;
    return make(Tok::String, begin, true);
  }
  return scan_string_rest(begin, quote);
}

Token Scanner::resume(const Token& open) {
  std::size_t begin = at_;
  return scan_string_rest(begin, quote_of(text_.substr(open.pos - base_)));
}

bool Scanner::at_closing(Quote quote) const {
  std::size_t marks = quote.is_multiline ? 3 : 1;
  for (std::size_t i = 0; i < marks; ++i) {
    if (peek(i) != quote.mark) return false;
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(quote.hashes); ++i) {
    if (peek(marks + i) != '#') return false;
  }
  return true;
}

Token Scanner::scan_string_rest(std::size_t begin, Quote quote) {
  while (at_ < text_.size()) {
    char c = text_[at_];
    if (c == quote.mark && at_closing(quote)) {
      at_ += static_cast<std::size_t>((quote.is_multiline ? 3 : 1) + quote.hashes);
      return make(Tok::String, begin, true);
    }
    if (c == '\n' && !quote.is_multiline) break;
    if (c == '\\') {
      bool interpolates = false;
      if (!skip_escape(quote, interpolates)) continue;
      if (interpolates) return make(Tok::Interpolation, begin);
      continue;
    }
    ++at_;
  }
  error(begin, "string literal not terminated");
  return make(Tok::String, begin, true);
}

// At a backslash. Returns true when an escape of this string was passed.
bool Scanner::skip_escape(Quote quote, bool& interpolates) {
  ++at_;
  for (int i = 0; i < quote.hashes; ++i) {
    if (peek(static_cast<std::size_t>(i)) != '#') return false;
  }
  at_ += static_cast<std::size_t>(quote.hashes);
  char c = peek();
  if (c == '(') {
    ++at_;
    interpolates = true;
    return true;
  }
  bool is_known = std::string_view("abfnrtv\\/uU").find(c) != std::string_view::npos || c == quote.mark;
  bool is_bytes_only = quote.mark == '\'' && (c == 'x' || (c >= '0' && c <= '7'));
  if (at_ >= text_.size()) return true;
  if (!is_known && !is_bytes_only) {
    error(at_, "unknown escape sequence");
    if (c == '\n') return true;
  }
  ++at_;
  return true;
}

// Words up to the bracket that closes the group; newlines are nothing here. At the opening bracket.
void Scanner::skip_balanced() {
  std::vector<Tok> closing;
  do {
    wants_comma_ = false;
    const Token word = next();
    switch (word.kind) {
      case Tok::LParen:
        closing.push_back(Tok::RParen);
        break;
      case Tok::LBrack:
        closing.push_back(Tok::RBrack);
        break;
      case Tok::LBrace:
        closing.push_back(Tok::RBrace);
        break;
      case Tok::RParen:
      case Tok::RBrack:
      case Tok::RBrace:
        if (closing.back() != word.kind) return error(at_, fmt::format("unexpected '{}'", word.text));
        closing.pop_back();
        break;
      case Tok::Interpolation:
        return error(word.pos - base_ + 1, "interpolation not allowed in attribute");
      case Tok::Eof:
        return error(at_, "attribute missing ')'");
      default:
        break;
    }
  } while (!closing.empty());
}

Token Scanner::scan_attribute(std::size_t begin) {
  ++at_;
  skip_identifier();
  while (peek() == ' ' || peek() == '\t') ++at_;
  if (peek() != '(') {
    error(at_, "invalid attribute: expected '('");
    return make(Tok::Attribute, begin, true);
  }
  std::vector<Comment>* const comments = std::exchange(comments_, nullptr);
  is_in_attribute_ = true;
  skip_balanced();
  is_in_attribute_ = false;
  comments_ = comments;
  return make(Tok::Attribute, begin, true);
}

Token Scanner::scan_operator(std::size_t begin) {
  static constexpr struct {
    std::string_view text;
    Tok kind;
    bool ends;
  } kOperators[] = {
      {"...", Tok::Ellipsis, true}, {"&&", Tok::LAnd, false},   {"||", Tok::LOr, false},   {"==", Tok::Eql, false},
      {"!=", Tok::Neq, false},      {"<-", Tok::LArrow, false}, {"<=", Tok::Leq, false},   {">=", Tok::Geq, false},
      {"=~", Tok::Mat, false},      {"!~", Tok::NMat, false},   {"=>", Tok::Arrow, false}, {"+", Tok::Add, false},
      {"-", Tok::Sub, false},       {"*", Tok::Mul, false},     {"/", Tok::Quo, false},    {"&", Tok::And, false},
      {"|", Tok::Or, false},        {"!", Tok::Not, false},     {"<", Tok::Lss, false},    {">", Tok::Gtr, false},
      {"=", Tok::Bind, false},      {":", Tok::Colon, false},   {".", Tok::Dot, false},    {"?", Tok::Option, true},
      {"~", Tok::Tilde, false},     {"(", Tok::LParen, false},  {")", Tok::RParen, true},  {"[", Tok::LBrack, false},
      {"]", Tok::RBrack, true},     {"{", Tok::LBrace, false},  {"}", Tok::RBrace, true},  {",", Tok::Comma, false},
  };
  for (const auto& op : kOperators) {
    if (op.text[0] == text_[begin] && text_.substr(begin).starts_with(op.text)) {
      at_ = begin + op.text.size();
      return make(op.kind, begin, op.ends);
    }
  }
  ++at_;
  error(begin, illegal(static_cast<unsigned char>(text_[begin])));
  return make(Tok::Illegal, begin);
}

}  // namespace slipway::cue
