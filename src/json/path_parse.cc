#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "json/path_node.h"
#include "json/utf8.h"

namespace slipway::json {

namespace {

constexpr std::size_t kMostNesting = 50;

std::unexpected<Status> bad(std::string_view why) { return fail(Reason::BadRequest, fmt::format("jsonpath: {}", why)); }

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '_' || is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || byte >= 0x80;
}
bool is_terminator(char c) { return std::string_view(" \t\r\n.,[]$@{}").find(c) != std::string_view::npos; }

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Go's escapes inside quotes.
std::optional<std::string> unquote(std::string_view text) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"";
  constexpr std::string_view kMeans = "\a\b\f\n\r\t\v\\'\"";
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\') {
      result += text[at];
      continue;
    }
    if (++at == text.size()) return std::nullopt;
    if (const std::size_t named = kLetters.find(text[at]); named != std::string_view::npos) {
      result += kMeans[named];
      continue;
    }
    const bool octal = text[at] >= '0' && text[at] <= '7';
    const std::size_t size = octal ? 3 : text[at] == 'x' ? 2 : text[at] == 'u' ? 4 : text[at] == 'U' ? 8 : 0;
    const std::string_view digits = text.substr(octal ? at : at + 1, size);
    std::uint32_t code = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, octal ? 8 : 16);
    if (size == 0 || digits.size() != size || error != std::errc{} || end != digits.data() + size) return std::nullopt;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return std::nullopt;
    append_utf8(result, code);
    at += size - (octal ? 1 : 0);
  }
  return result;
}

// Parses what stands inside the braces. The cursor is a view of what is left.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view rest, std::size_t nesting) : rest_(rest), nesting_(nesting) {}

  /// Up to and with the closing brace.
  Result<PathSteps> parse_to_brace();
  std::string_view rest() const { return rest_; }

  static Result<PathSteps> parse_part(std::string_view text, std::size_t nesting) {
    if (nesting > kMostNesting) return bad("nested too deeply");
    const std::string closed = std::string(text) + "}";
    return ExpressionParser(closed, nesting).parse_to_brace();
  }

 private:
  Result<void> step();
  Result<void> field();
  Result<void> word();
  Result<void> number();
  Result<void> quote();
  Result<void> bracket();
  Result<void> filter();
  Result<void> union_of(std::string_view text);
  Result<void> slice(std::string_view text);
  Result<void> recursive();
  PathStep& add(PathStep::Kind kind) {
    steps_.emplace_back();
    steps_.back().kind = kind;
    return steps_.back();
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  std::size_t nesting_;
  PathSteps steps_;
};

Result<PathSteps> ExpressionParser::parse_to_brace() {
  while (!rest_.starts_with('}')) {
    if (rest_.empty() || rest_[0] == '\n' || rest_[0] == '\r') return bad("unclosed action");
    SLIPWAY_TRY_VOID(step());
  }
  take(1);
  return std::move(steps_);
}

Result<void> ExpressionParser::step() {
  if (rest_.starts_with("[?(")) return filter();
  if (rest_.starts_with("..")) return recursive();
  const char c = rest_[0];
  if (c == ' ' || c == '@' || c == '$') {
    take(1);
    return {};
  }
  if (c == '[') return bracket();
  if (c == '"' || c == '\'') return quote();
  if (c == '.') {
    take(1);
    return field();
  }
  if (c == '+' || c == '-' || is_digit(c)) return number();
  if (is_word(c)) return word();
  return bad(fmt::format("unrecognized character in action: '{}'", c));
}

Result<void> ExpressionParser::recursive() {
  if (!steps_.empty() && steps_.back().kind == PathStep::Kind::Recursive) return bad("invalid multiple recursive descent");
  take(2);
  add(PathStep::Kind::Recursive);
  return !rest_.empty() && is_word(rest_[0]) ? field() : Result<void>();
}

Result<void> ExpressionParser::field() {
  std::string name;
  while (!rest_.empty() && !is_terminator(rest_[0])) {
    if (rest_[0] == '\\') take(1);
    name += take(1);
  }
  if (name == "*") {
    add(PathStep::Kind::Wildcard);
  } else {
    add(PathStep::Kind::Field).name = std::move(name);
  }
  return {};
}

Result<void> ExpressionParser::word() {
  std::size_t size = 0;
  while (size < rest_.size() && !is_terminator(rest_[size])) ++size;
  const std::string_view name = take(size);
  if (name == "true" || name == "false") {
    add(PathStep::Kind::Literal).literal = Value(name == "true");
  } else {
    add(PathStep::Kind::Unknown).name = name;
  }
  return {};
}

Result<void> ExpressionParser::number() {
  std::size_t size = 1;
  while (size < rest_.size() && (is_digit(rest_[size]) || rest_[size] == '.')) ++size;
  const std::string_view text = take(size);
  if (const auto whole = integer(text)) {
    add(PathStep::Kind::Literal).literal = Value(*whole);
    return {};
  }
  double value = 0;
  const std::string_view digits = text.starts_with('+') ? text.substr(1) : text;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return bad(fmt::format("cannot parse number {}", text));
  add(PathStep::Kind::Literal).literal = Value(value);
  return {};
}

Result<void> ExpressionParser::quote() {
  std::size_t end = 1;
  while (end < rest_.size() && rest_[end] != rest_[0] && rest_[end] != '\n') end += rest_[end] == '\\' ? 2 : 1;
  if (end >= rest_.size() || rest_[end] == '\n') return bad("unterminated quoted string");
  const std::string_view quoted = take(end + 1);
  auto text = unquote(quoted.substr(1, end - 1));
  if (!text) return bad(fmt::format("unquote string {} error invalid syntax", quoted));
  add(PathStep::Kind::Literal).literal = Value(*text);
  return {};
}

// [0], [-1:], [1:5:2], [*], ['key'], [1,3] and mixtures of those.
Result<void> ExpressionParser::bracket() {
  std::size_t end = 1;
  bool quoted = false;
  while (end < rest_.size() && (quoted || rest_[end] != ']') && rest_[end] != '\n') quoted ^= rest_[end++] == '\'';
  if (end >= rest_.size() || rest_[end] == '\n') return bad("unterminated array");
  const std::string_view text = take(end + 1).substr(1, end - 1);
  if (text.find(',') != std::string_view::npos) return union_of(text);
  if (text.size() >= 2 && text.starts_with('\'') && text.find('\'', 1) == text.size() - 1) {
    // The key is read as a path once more: 'metadata.name' goes two levels down.
    SLIPWAY_TRY(steps, parse_part(fmt::format(".{}", text.substr(1, text.size() - 2)), nesting_ + 1));
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    return {};
  }
  return slice(text == "*" ? ":" : text);
}

Result<void> ExpressionParser::union_of(std::string_view text) {
  std::vector<PathSteps> branches;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    SLIPWAY_TRY(steps, parse_part(fmt::format("[{}]", trim(text.substr(0, comma))), nesting_ + 1));
    branches.push_back(std::move(steps));
    if (comma == text.size()) break;
    text.remove_prefix(comma + 1);
  }
  add(PathStep::Kind::Union).branches = std::move(branches);
  return {};
}

Result<void> ExpressionParser::slice(std::string_view text) {
  PathStep made;
  made.kind = PathStep::Kind::Slice;
  made.single = text.find(':') == std::string_view::npos;
  std::optional<std::int64_t>* parts[] = {&made.from, &made.to, &made.step};
  std::string_view left = text;
  for (std::size_t i = 0;; ++i) {
    const std::size_t colon = std::min(left.find(':'), left.size());
    const std::string_view part = left.substr(0, colon);
    const bool too_many = i == std::size(parts);
    if (too_many || part.starts_with('+') || (!part.empty() && !integer(part)))
      return bad(fmt::format("invalid array index {}", text));
    if (!part.empty()) *parts[i] = integer(part);
    if (colon == left.size()) break;
    left.remove_prefix(colon + 1);
  }
  steps_.push_back(std::move(made));
  return {};
}

// [?(left op right)]. At most one quoted string, which may hold parentheses.
Result<void> ExpressionParser::filter() {
  constexpr std::string_view kOperators = "!<>=";
  take(3);
  std::size_t end = 0;
  char quote = 0;
  for (; end < rest_.size() && rest_[end] != '\n'; ++end) {
    const char c = rest_[end];
    if (quote == 0 && c == ')') break;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != 0 && c == quote && rest_[end - 1] != '\\') {
      quote = 0;
    }
  }
  if (end >= rest_.size() || rest_[end] == '\n') return bad("unterminated filter");
  const std::string_view text = take(end);
  if (!take(2).starts_with(")]")) return bad("unclosed array expect ]");
  PathStep made;
  made.kind = PathStep::Kind::Filter;
  const std::size_t at = text.find_first_of(kOperators);
  const std::size_t after = at == std::string_view::npos ? at : text.find_first_not_of("!<>=~", at);
  if (at == 0 || after == std::string_view::npos) {
    SLIPWAY_TRY(only, parse_part(text, nesting_ + 1));
    made.branches = {std::move(only)};
  } else {
    SLIPWAY_TRY(left, parse_part(text.substr(0, at), nesting_ + 1));
    SLIPWAY_TRY(right, parse_part(text.substr(after), nesting_ + 1));
    made.name = text.substr(at, after - at);
    made.branches = {std::move(left), std::move(right)};
  }
  steps_.push_back(std::move(made));
  return {};
}

}  // namespace

Result<std::vector<Path::Block>> parse_path(std::string_view text) {
  std::vector<Path::Block> blocks;
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    if (brace > 0)
      blocks.push_back({.kind = Path::Block::Kind::Text, .text = std::string(text.substr(0, brace)), .steps = {}, .body = {}});
    text.remove_prefix(brace);
    if (text.empty()) break;
    ExpressionParser parser(text.substr(1), 0);
    SLIPWAY_TRY(steps, parser.parse_to_brace());
    blocks.push_back({.kind = Path::Block::Kind::Expression, .text = {}, .steps = std::move(steps), .body = {}});
    text = parser.rest();
  }
  return blocks;
}

}  // namespace slipway::json
