// Text to words. A newline after a word that can end a declaration counts as a comma. Comments are kept aside with the
// number of words before them, for whoever wants documentation. A scanner is small and may be copied to look ahead.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "cue/syntax/token.h"

namespace slipway::cue {

class Scanner {
 public:
  /// `base` is the position of the first byte of `text`. Neither is copied.
  Scanner(std::string_view text, Pos base, Diagnostics* diagnostics, std::vector<Comment>* comments);

  Token next();
  /// After the expression of an interpolation: goes on with the string behind its ")". Gives String at the closing
  /// delimiter and Interpolation at the next "\(". `open` is the token that began the string.
  Token resume(const Token& open);
  /// A copy that reports nothing.
  Scanner silent() const;

 private:
  struct Quote {
    char mark;
    bool is_multiline;
    int hashes;
  };

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool skip_space();
  void scan_comment();
  Token make(Tok kind, std::size_t begin, bool ends_declaration = false);
  Token scan_identifier(std::size_t begin);
  bool skip_identifier();
  Token scan_number(std::size_t begin);
  void skip_digits(int base);
  bool skip_multiplier();
  Token scan_string(std::size_t begin);
  Token scan_string_rest(std::size_t begin, Quote quote);
  bool skip_escape(Quote quote, bool& interpolates);
  bool at_closing(Quote quote) const;
  static Quote quote_of(std::string_view opening);
  Token scan_attribute(std::size_t begin);
  void skip_balanced();
  Token scan_operator(std::size_t begin);
  void error(std::size_t at, std::string message);

  std::string_view text_;
  Pos base_;
  Diagnostics* diagnostics_;
  std::vector<Comment>* comments_;
  std::size_t at_ = 0;
  bool wants_comma_ = false;
  bool is_in_attribute_ = false;
};

}  // namespace slipway::cue
