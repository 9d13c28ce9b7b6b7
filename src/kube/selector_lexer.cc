#include "kube/selector_lexer.h"

#include <fmt/format.h>

namespace slipway::kube {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_symbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

TokenKind symbol(std::string_view text) {
  if (text == ",") return TokenKind::Comma;
  if (text == "(") return TokenKind::Open;
  if (text == ")") return TokenKind::Close;
  if (text == "!") return TokenKind::DoesNotExist;
  if (text == "=") return TokenKind::Equals;
  if (text == "==") return TokenKind::DoubleEquals;
  if (text == "!=") return TokenKind::NotEquals;
  if (text == ">") return TokenKind::GreaterThan;
  if (text == "<") return TokenKind::LessThan;
  return TokenKind::Error;
}

TokenKind word(std::string_view text) {
  if (text == "in") return TokenKind::In;
  if (text == "notin") return TokenKind::NotIn;
  return TokenKind::Identifier;
}

}  // namespace

std::vector<LabelToken> lex_label_selector(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  std::vector<LabelToken> tokens;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at == text.size()) break;
    const std::size_t begin = at;
    if (is_symbol(text[at])) {
      // The longest of the symbols: at most two bytes.
      const std::size_t size = symbol(text.substr(at, 2)) == TokenKind::Error ? 1 : 2;
      at = std::min(begin + size, text.size());
      tokens.push_back({symbol(text.substr(begin, at - begin)), std::string(text.substr(begin, at - begin))});
      continue;
    }
    while (at < text.size() && !is_space(text[at]) && !is_symbol(text[at])) ++at;
    tokens.push_back({word(text.substr(begin, at - begin)), std::string(text.substr(begin, at - begin))});
  }
  tokens.push_back({TokenKind::End, ""});
  return tokens;
}

}  // namespace slipway::kube
