#include "kube/label_parser.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/text.h"
#include "kube/label_requirement.h"
#include "kube/names.h"

namespace slipway::kube {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

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

std::unexpected<Status> found(std::string_view literal, std::string_view expected) {
  return fail(Reason::BadRequest, fmt::format("found '{}', expected: {}", literal, expected));
}

/// The grammar of the query form. Every token may be looked at as a value, where `in` and `notin` are plain words.
class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(lex_label_selector(text)) {}

  Result<std::vector<Requirement>> parse() {
    std::vector<Requirement> requirements;
    while (true) {
      const LabelToken& token = peek();
      if (token.kind == TokenKind::End) return requirements;
      if (!starts_requirement(token)) return found(token.text, "!, identifier, or 'end of string'");
      auto one = requirement();
      if (!one) return fail(Reason::BadRequest, fmt::format("unable to parse requirement: {}", one.error().message));
      requirements.push_back(std::move(*one));
      const LabelToken& next = take();
      if (next.kind == TokenKind::End) return requirements;
      if (next.kind != TokenKind::Comma) return found(next.text, "',' or 'end of string'");
      if (!starts_requirement(peek())) return found(peek().text, "identifier after ','");
    }
  }

 private:
  static bool is_word(const LabelToken& token) {
    return token.kind == TokenKind::Identifier || token.kind == TokenKind::In || token.kind == TokenKind::NotIn;
  }
  static bool starts_requirement(const LabelToken& token) { return is_word(token) || token.kind == TokenKind::DoesNotExist; }
  const LabelToken& peek() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
  const LabelToken& take() {
    const LabelToken& token = peek();
    ++at_;
    return token;
  }

  Result<Requirement> requirement() {
    Requirement out;
    bool is_negated = false;
    if (peek().kind == TokenKind::DoesNotExist) {
      is_negated = true;
      take();
    }
    const LabelToken& key = take();
    if (!is_word(key)) return found(key.text, "identifier");
    if (const Faults faults = qualified_name_faults(key.text); !faults.empty()) {
      return fail(Reason::BadRequest, fmt::format("<nil>: Invalid value: {}: {}",
                                                  json::print(json::Value(std::string_view(key.text))), joined(faults)));
    }
    out.key = key.text;
    const bool ends_here = peek().kind == TokenKind::End || peek().kind == TokenKind::Comma;
    if (is_negated || ends_here) {
      out.op = is_negated ? Operator::DoesNotExist : Operator::Exists;
    } else {
      SLIPWAY_TRY(op, operation());
      out.op = op;
      SLIPWAY_TRY(values, op == Operator::In || op == Operator::NotIn ? value_list() : exact_value());
      out.values = std::move(values);
      std::ranges::sort(out.values);
      out.values.erase(std::ranges::unique(out.values).begin(), out.values.end());
    }
    SLIPWAY_TRY_VOID(check(out));
    return out;
  }

  Result<Operator> operation() {
    const LabelToken& token = take();
    switch (token.kind) {
      case TokenKind::In:
        return Operator::In;
      case TokenKind::NotIn:
        return Operator::NotIn;
      case TokenKind::Equals:
        return Operator::Equals;
      case TokenKind::DoubleEquals:
        return Operator::DoubleEquals;
      case TokenKind::NotEquals:
        return Operator::NotEquals;
      case TokenKind::GreaterThan:
        return Operator::GreaterThan;
      case TokenKind::LessThan:
        return Operator::LessThan;
      case TokenKind::End:
      case TokenKind::Error:
      case TokenKind::Identifier:
      case TokenKind::Comma:
      case TokenKind::Open:
      case TokenKind::Close:
      case TokenKind::DoesNotExist:
        break;
    }
    return found(token.text, "in, notin, =, ==, !=, gt, lt");
  }

  Result<std::vector<std::string>> value_list() {
    if (const LabelToken& open = take(); open.kind != TokenKind::Open) {
      return fail(Reason::BadRequest, fmt::format("found '{}' expected: '('", open.text));
    }
    const LabelToken& first = peek();
    if (first.kind == TokenKind::Close) {
      take();
      return std::vector<std::string>{""};
    }
    if (!is_word(first) && first.kind != TokenKind::Comma) return found(first.text, "',', ')' or identifier");
    SLIPWAY_TRY(values, words());
    if (take().kind != TokenKind::Close) return found(first.text, "')'");
    return std::move(values);
  }

  /// "a,b", also with empty words: "(,a)", "(a,)", "(a,,b)" hold "".
  Result<std::vector<std::string>> words() {
    std::vector<std::string> values;
    while (true) {
      const LabelToken& token = take();
      if (is_word(token)) {
        values.emplace_back(token.text);
        if (peek().kind == TokenKind::Comma) continue;
        if (peek().kind == TokenKind::Close) return values;
        return found(peek().text, "',' or ')'");
      }
      if (token.kind != TokenKind::Comma) return found(token.text, "',', or identifier");
      if (values.empty()) values.emplace_back();
      if (peek().kind == TokenKind::Close) {
        values.emplace_back();
        return values;
      }
      if (peek().kind == TokenKind::Comma) values.emplace_back();
    }
  }

  Result<std::vector<std::string>> exact_value() {
    if (peek().kind == TokenKind::End || peek().kind == TokenKind::Comma) return std::vector<std::string>{""};
    const LabelToken& token = take();
    if (!is_word(token)) return found(token.text, "identifier");
    return std::vector<std::string>{std::string(token.text)};
  }

  std::vector<LabelToken> tokens_;  // ends with End
  std::size_t at_ = 0;
};

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

Result<std::vector<LabelSelector::Requirement>> parse_label_requirements(std::string_view text) { return Parser(text).parse(); }

}  // namespace slipway::kube
