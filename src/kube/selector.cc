#include "kube/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "json/text.h"
#include "kube/names.h"
#include "kube/selector_lexer.h"

namespace slipway::kube {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

std::optional<std::int64_t> integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::unexpected<Status> found(std::string_view literal, std::string_view expected) {
  return fail(Reason::BadRequest, fmt::format("found '{}', expected: {}", literal, expected));
}

/// `["a","b"]` as the offending values are shown.
std::string values_text(const std::vector<std::string>& values) { return json::print(json::array(values)); }

std::string one_line(const std::vector<Cause>& causes) {
  std::string out;
  for (const Cause& cause : causes) out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", cause.field, cause.message);
  return causes.size() > 1 ? "[" + out + "]" : out;
}

void check_values(const Requirement& requirement, std::vector<Cause>& causes) {
  const auto& values = requirement.values;
  const auto complain = [&](std::string detail) {
    causes.push_back(field::invalid("values", values_text(values), std::move(detail)));
  };
  switch (requirement.op) {
    case Operator::In:
    case Operator::NotIn:
      if (values.empty()) complain("for 'in', 'notin' operators, values set can't be empty");
      break;
    case Operator::Equals:
    case Operator::DoubleEquals:
    case Operator::NotEquals:
      if (values.size() != 1) complain("exact-match compatibility requires one single value");
      break;
    case Operator::Exists:
    case Operator::DoesNotExist:
      if (!values.empty()) complain("values set must be empty for exists and does not exist");
      break;
    case Operator::GreaterThan:
    case Operator::LessThan:
      if (values.size() != 1) complain("for 'Gt', 'Lt' operators, exactly one value is required");
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (integer(values[i])) continue;
        causes.push_back(field::invalid(fmt::format("values[{}]", i), json::print(json::Value(values[i])),
                                        "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
      break;
  }
}

Result<void> check(const Requirement& requirement) {
  std::vector<Cause> causes;
  if (const Faults faults = qualified_name_faults(requirement.key); !faults.empty()) {
    causes.push_back(field::invalid("key", json::print(json::Value(requirement.key)), joined(faults)));
  }
  check_values(requirement, causes);
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const Faults faults = label_value_faults(requirement.values[i]);
    if (faults.empty()) continue;
    causes.push_back(field::invalid(fmt::format("values[{}][{}]", i, requirement.key),
                                    json::print(json::Value(requirement.values[i])), joined(faults)));
  }
  if (causes.empty()) return {};
  return fail(Reason::BadRequest, one_line(causes));
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

/// Keeps the order by key; equal keys stay as written.
void insert(std::vector<Requirement>& sorted, Requirement one) {
  const auto at = std::ranges::upper_bound(sorted, one.key, {}, &Requirement::key);
  sorted.insert(at, std::move(one));
}

bool holds(const Requirement& requirement, const json::Value* label) {
  const bool is_known = label != nullptr;
  const auto is_listed = [&] {
    return is_known && std::ranges::find(requirement.values, label->as_string()) != requirement.values.end();
  };
  switch (requirement.op) {
    case Operator::In:
    case Operator::Equals:
    case Operator::DoubleEquals:
      return is_listed();
    case Operator::NotIn:
    case Operator::NotEquals:
      return !is_listed();
    case Operator::Exists:
      return is_known;
    case Operator::DoesNotExist:
      return !is_known;
    case Operator::GreaterThan:
    case Operator::LessThan: {
      const auto left = is_known ? integer(label->as_string()) : std::nullopt;
      const auto right = requirement.values.size() == 1 ? integer(requirement.values.front()) : std::nullopt;
      if (!left || !right) return false;
      return requirement.op == Operator::GreaterThan ? *left > *right : *left < *right;
    }
  }
  return false;
}

std::string print(const Requirement& requirement) {
  std::string values;
  for (std::size_t i = 0; i < requirement.values.size(); ++i) values += (i == 0 ? "" : ",") + requirement.values[i];
  switch (requirement.op) {
    case Operator::In:
      return fmt::format("{} in ({})", requirement.key, values);
    case Operator::NotIn:
      return fmt::format("{} notin ({})", requirement.key, values);
    case Operator::Equals:
      return requirement.key + "=" + values;
    case Operator::DoubleEquals:
      return requirement.key + "==" + values;
    case Operator::NotEquals:
      return requirement.key + "!=" + values;
    case Operator::Exists:
      return requirement.key;
    case Operator::DoesNotExist:
      return "!" + requirement.key;
    case Operator::GreaterThan:
      return requirement.key + ">" + values;
    case Operator::LessThan:
      return requirement.key + "<" + values;
  }
  return {};
}

std::optional<Operator> expression_operator(std::string_view text) {
  if (text == "In") return Operator::In;
  if (text == "NotIn") return Operator::NotIn;
  if (text == "Exists") return Operator::Exists;
  if (text == "DoesNotExist") return Operator::DoesNotExist;
  return std::nullopt;
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  SLIPWAY_TRY(requirements, Parser(text).parse());
  LabelSelector out;
  for (Requirement& one : requirements) insert(out.requirements_, std::move(one));
  return out;
}

Result<LabelSelector> LabelSelector::from_object(const json::Value& selector) {
  LabelSelector out;
  out.matches_nothing_ = selector.is_null();
  for (const auto [key, value] : selector["matchLabels"].members()) {
    SLIPWAY_TRY_VOID(out.add({.key = std::string(key), .op = Operator::Equals, .values = {value.str()}}));
  }
  for (const json::Value& expression : selector["matchExpressions"].items()) {
    const auto op = expression_operator(expression["operator"].as_string());
    if (!op) {
      return fail(Reason::BadRequest, fmt::format("{} is not a valid label selector operator",
                                                  json::print(json::Value(expression["operator"].as_string()))));
    }
    Requirement requirement{.key = expression["key"].str(), .op = *op, .values = {}};
    for (const json::Value& value : expression["values"].items()) requirement.values.push_back(value.str());
    SLIPWAY_TRY_VOID(out.add(std::move(requirement)));
  }
  return out;
}

Result<void> LabelSelector::add(Requirement requirement) {
  std::ranges::sort(requirement.values);
  requirement.values.erase(std::ranges::unique(requirement.values).begin(), requirement.values.end());
  SLIPWAY_TRY_VOID(check(requirement));
  insert(requirements_, std::move(requirement));
  return {};
}

bool LabelSelector::matches(const json::Value& labels) const {
  if (matches_nothing_) return false;
  return std::ranges::all_of(requirements_, [&](const Requirement& one) { return holds(one, labels.find(one.key)); });
}

std::string LabelSelector::to_string() const {
  std::string out;
  for (const Requirement& requirement : requirements_) out += (out.empty() ? "" : ",") + print(requirement);
  return out;
}

}  // namespace slipway::kube
