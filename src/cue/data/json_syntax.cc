#include "cue/data/json_syntax.h"

#include <fmt/format.h>

#include <vector>

#include "base/text.h"
#include "cue/syntax/unicode.h"

namespace slipway::cue {
namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  std::optional<JsonProblem> read() {
    // What is open: '{' or '['.
    std::vector<char> open;
    for (;;) {
      skip_space();
      bool is_empty = false;
      if (!begin_value(open, is_empty)) return problem_;
      if (!is_empty && !open.empty() && entered_) continue;
      // A value has ended: close what closes behind it.
      for (;;) {
        skip_space();
        if (open.empty()) {
          if (at_ == text_.size()) return std::nullopt;
          return fail("after top-level value");
        }
        bool is_object = open.back() == '{';
        char c = peek();
        if (c == ',' && at_ < text_.size()) {
          ++at_;
          if (is_object && !key()) return problem_;
          break;
        }
        if (c != (is_object ? '}' : ']')) return fail(is_object ? "after object key:value pair" : "after array element");
        ++at_;
        open.pop_back();
      }
    }
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }

  // At the character that does not fit.
  std::optional<JsonProblem> fail(std::string_view where) {
    if (at_ >= text_.size()) {
      problem_ = JsonProblem{text_.empty() ? 0 : text_.size() - 1, "unexpected end of JSON input"};
      return problem_;
    }
    auto byte = static_cast<unsigned char>(text_[at_]);
    std::string shown;
    if (byte == '\'') {
      shown = "'\\''";
    } else if (byte == '"') {
      shown = "'\"'";
    } else if (byte == '\n' || byte == '\t' || byte == '\r') {
      shown = byte == '\n' ? "'\\n'" : byte == '\t' ? "'\\t'" : "'\\r'";
    } else if (byte == '\\') {
      shown = "'\\\\'";
    } else if (byte < 0x20 || byte == 0x7F) {
      shown = fmt::format("'\\x{:02x}'", byte);
    } else {
      // Go looks at bytes, each as if it were a character.
      shown = "'";
      append_utf8(shown, byte);
      if (byte >= 0x80 && !is_printable(byte)) shown = fmt::format("'\\u{:04x}", byte);
      shown += "'";
    }
    problem_ = JsonProblem{at_, fmt::format("invalid character {} {}", shown, where)};
    return problem_;
  }

  // A scalar, or the opening of a struct or list with, for a struct, its first key. `entered_`: something was opened that has
  // a value yet to come.
  bool begin_value(std::vector<char>& open, bool& is_empty) {
    entered_ = false;
    char c = peek();
    if (at_ >= text_.size()) return !fail("").has_value();
    if (c == '"') return text();
    if (c == '-' || is_digit(c)) return number();
    if (c == 't') return word("true");
    if (c == 'f') return word("false");
    if (c == 'n') return word("null");
    if (c != '{' && c != '[') return !fail("looking for beginning of value").has_value();
    ++at_;
    skip_space();
    if (peek() == (c == '{' ? '}' : ']') && at_ < text_.size()) {
      ++at_;
      is_empty = true;
      return true;
    }
    open.push_back(c);
    entered_ = true;
    return c == '[' || key();
  }

  // Up to behind the colon.
  bool key() {
    skip_space();
    if (peek() != '"') return !fail("looking for beginning of object key string").has_value();
    if (!text()) return false;
    skip_space();
    if (peek() != ':') return !fail("after object key").has_value();
    ++at_;
    return true;
  }

  bool word(std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i, ++at_) {
      if (at_ < text_.size() && text_[at_] == word[i]) continue;
      return !fail(fmt::format("in literal {} (expecting '{}')", word, word[i])).has_value();
    }
    return true;
  }

  bool text() {
    for (++at_; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return !fail("in string literal").has_value();
      if (c != '\\') continue;
      ++at_;
      if (peek() == 'u' && at_ < text_.size()) {
        for (int i = 0; i < 4; ++i) {
          ++at_;
          if (!is_hex(peek())) return !fail("in \\u hexadecimal character escape").has_value();
        }
      } else if (at_ >= text_.size() || std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
        return !fail("in string escape code").has_value();
      }
    }
    return !fail("").has_value();
  }

  bool number() {
    if (peek() == '-') ++at_;
    if (!is_digit(peek())) return !fail("in numeric literal").has_value();
    if (peek() == '0') {
      ++at_;
    } else {
      digits();
    }
    if (peek() == '.') {
      ++at_;
      if (!is_digit(peek())) return !fail("after decimal point in numeric literal").has_value();
      digits();
    }
    if (peek() != 'e' && peek() != 'E') return true;
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!is_digit(peek())) return !fail("in exponent of numeric literal").has_value();
    digits();
    return true;
  }
  void digits() {
    while (is_digit(peek())) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool entered_ = false;
  std::optional<JsonProblem> problem_;
};

}  // namespace

std::optional<JsonProblem> json_problem(std::string_view text) { return JsonReader(text).read(); }

}  // namespace slipway::cue
