#include "cel/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace slipway::cel {
namespace {

constexpr std::array<std::string_view, 17> kReservedWords{"as",        "break",  "const",  "continue", "else", "for",
                                                          "function",  "if",     "import", "let",      "loop", "package",
                                                          "namespace", "return", "var",    "void",     "while"};

constexpr std::string_view kExpression =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

struct MacroRow {
  std::string_view name;
  Macro macro;
  std::size_t vars;
  std::size_t least;  // parts after the variables
  std::size_t most;
};
constexpr std::array<MacroRow, 16> kMacros{{{"all", Macro::All, 1, 1, 1},
                                            {"exists", Macro::Exists, 1, 1, 1},
                                            {"exists_one", Macro::ExistsOne, 1, 1, 1},
                                            {"existsOne", Macro::ExistsOne, 1, 1, 1},
                                            {"map", Macro::Map, 1, 1, 2},
                                            {"filter", Macro::Filter, 1, 1, 1},
                                            {"sortBy", Macro::SortBy, 1, 1, 1},
                                            {"optMap", Macro::OptMap, 1, 1, 1},
                                            {"optFlatMap", Macro::OptFlatMap, 1, 1, 1},
                                            {"all", Macro::All, 2, 1, 1},
                                            {"exists", Macro::Exists, 2, 1, 1},
                                            {"exists_one", Macro::ExistsOne, 2, 1, 1},
                                            {"existsOne", Macro::ExistsOne, 2, 1, 1},
                                            {"transformList", Macro::TransformList, 2, 1, 2},
                                            {"transformMap", Macro::TransformMap, 2, 1, 2},
                                            {"transformMapEntry", Macro::TransformMapEntry, 2, 1, 2}}};

struct Level {
  int rank;
  std::string_view function;
};
Level binary_level(const Token& token) {
  if (token.kind == TokenKind::Ident) return token.text == "in" ? Level{1, "@in"} : Level{0, {}};
  if (token.kind != TokenKind::Symbol) return {0, {}};
  static constexpr std::array<std::pair<std::string_view, Level>, 11> kRows{{{"==", {1, "_==_"}},
                                                                             {"!=", {1, "_!=_"}},
                                                                             {"<", {1, "_<_"}},
                                                                             {"<=", {1, "_<=_"}},
                                                                             {">", {1, "_>_"}},
                                                                             {">=", {1, "_>=_"}},
                                                                             {"+", {2, "_+_"}},
                                                                             {"-", {2, "_-_"}},
                                                                             {"*", {3, "_*_"}},
                                                                             {"/", {3, "_/_"}},
                                                                             {"%", {3, "_%_"}}}};
  for (const auto& [symbol, level] : kRows) {
    if (token.text == symbol) return level;
  }
  return {0, {}};
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::expected<ExprPtr, Fault> run() {
    ExprPtr expr = expression();
    if (expr != nullptr && now().kind != TokenKind::End) {
      fail(now().place, fmt::format("Syntax error: extraneous input '{}' expecting <EOF>", now().text));
    }
    if (!is_good_) return std::unexpected(fault_);
    return expr;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  bool sees(std::string_view symbol) const { return now().kind == TokenKind::Symbol && now().text == symbol; }
  bool take(std::string_view symbol) {
    if (!sees(symbol)) return false;
    ++at_;
    return true;
  }
  bool expect(std::string_view symbol) {
    if (take(symbol)) return true;
    unexpected(fmt::format("'{}'", symbol));
    return false;
  }
  ExprPtr fail(std::size_t place, std::string message) {
    if (is_good_) fault_ = {place, std::move(message)};
    is_good_ = false;
    return nullptr;
  }
  /// Worded as the parser of cel-go; `expected` is what could stand here.
  ExprPtr unexpected(std::string_view expected = kExpression) {
    const std::string shown = now().kind == TokenKind::End ? "<EOF>" : now().text;
    return fail(now().place, fmt::format("Syntax error: mismatched input '{}' expecting {}", shown, expected));
  }

  ExprPtr make(Form form, std::size_t place) {
    auto expr = std::make_unique<Expr>();
    expr->form = form;
    expr->place = place;
    return expr;
  }
  /// The node with its depth; a fault when it is too deep or a part is missing.
  ExprPtr finish(ExprPtr expr) {
    if (!is_good_) return nullptr;
    std::size_t below = expr->target != nullptr ? expr->target->depth : 0;
    for (const ExprPtr& arg : expr->args) below = std::max(below, arg->depth);
    expr->depth = below + 1;
    if (expr->depth > kMostDepth) return fail(expr->place, too_deep());
    return expr;
  }
  static std::string too_deep() { return fmt::format("expression recursion limit exceeded: {}", kMostDepth); }
  ExprPtr call(std::string_view function, std::size_t place, std::vector<ExprPtr> args) {
    ExprPtr expr = make(Form::Call, place);
    expr->name = function;
    expr->args = std::move(args);
    return finish(std::move(expr));
  }
  template <class... Args>
  static std::vector<ExprPtr> parts(Args... args) {
    std::vector<ExprPtr> out;
    (out.push_back(std::move(args)), ...);
    return out;
  }

  ExprPtr expression() {
    if (++depth_ > kMostDepth) return fail(now().place, too_deep());
    ExprPtr expr = conditional();
    --depth_;
    return expr;
  }

  ExprPtr conditional() {
    ExprPtr condition = logical("||", "_||_");
    const std::size_t place = now().place;
    if (condition == nullptr || !take("?")) return condition;
    ExprPtr yes = logical("||", "_||_");
    if (yes == nullptr || !expect(":")) return nullptr;
    ExprPtr no = expression();
    if (no == nullptr) return nullptr;
    return call("_?_:_", place, parts(std::move(condition), std::move(yes), std::move(no)));
  }

  ExprPtr logical(std::string_view symbol, std::string_view function) {
    const bool is_or = symbol == "||";
    const auto operand = [&] { return is_or ? logical("&&", "_&&_") : binary(1); };
    ExprPtr first = operand();
    const std::size_t place = now().place;
    if (first == nullptr || !sees(symbol)) return first;
    std::vector<ExprPtr> args = parts(std::move(first));
    while (take(symbol)) {
      ExprPtr next = operand();
      if (next == nullptr) return nullptr;
      args.push_back(std::move(next));
    }
    return call(function, place, std::move(args));
  }

  ExprPtr binary(int rank) {
    ExprPtr left = rank > 3 ? unary() : binary(rank + 1);
    while (left != nullptr && rank <= 3 && binary_level(now()).rank == rank) {
      const std::size_t place = now().place;
      const std::string_view function = binary_level(now()).function;
      ++at_;
      ExprPtr right = binary(rank + 1);
      if (right == nullptr) return nullptr;
      left = call(function, place, parts(std::move(left), std::move(right)));
    }
    return left;
  }

  ExprPtr unary() {
    const std::size_t place = now().place;
    for (const auto& [symbol, function] : {std::pair<std::string_view, std::string_view>{"!", "!_"}, {"-", "-_"}}) {
      if (!sees(symbol)) continue;
      std::size_t count = 0;
      while (take(symbol)) ++count;
      const bool is_number = now().kind == TokenKind::Int || now().kind == TokenKind::Double;
      if (symbol == "-" && is_number) {
        --count;
        minus_ = tokens_[at_ - 1].place;
      }
      ExprPtr operand = member();
      if (operand == nullptr) return nullptr;
      return count % 2 == 0 ? std::move(operand) : call(function, place, parts(std::move(operand)));
    }
    return member();
  }

  ExprPtr member() {
    ExprPtr left = primary();
    while (left != nullptr) {
      const std::size_t place = now().place;
      if (take(".")) {
        left = selection(std::move(left), place);
      } else if (take("[")) {
        const bool is_optional = take("?");
        ExprPtr index = expression();
        if (index == nullptr || !expect("]")) return nullptr;
        left = call(is_optional ? "_[?_]" : "_[_]", place, parts(std::move(left), std::move(index)));
      } else if (sees("{") && is_type_name(*left)) {
        left = structure(std::move(left));
      } else {
        break;
      }
    }
    return left;
  }

  ExprPtr selection(ExprPtr left, std::size_t place) {
    const bool is_optional = take("?");
    const Token name = now();
    if (name.kind != TokenKind::Ident && name.kind != TokenKind::QuotedIdent) return unexpected("IDENTIFIER");
    if (name.kind == TokenKind::Ident &&
        (name.text == "in" || name.text == "true" || name.text == "false" || name.text == "null"))
      return unexpected("IDENTIFIER");
    ++at_;
    const std::size_t open = now().place;
    if (!is_optional && name.kind == TokenKind::Ident && take("(")) {
      std::vector<ExprPtr> args = arguments(")");
      if (!is_good_) return nullptr;
      return member_call(std::move(left), name.text, open, std::move(args));
    }
    ExprPtr expr = make(Form::Select, place);
    expr->name = name.text;
    expr->is_optional_select = is_optional;
    expr->target = std::move(left);
    return finish(std::move(expr));
  }

  /// Up to and with the closing symbol.
  std::vector<ExprPtr> arguments(std::string_view close) {
    std::vector<ExprPtr> args;
    if (take(close)) return args;
    do {
      ExprPtr arg = expression();
      if (arg == nullptr) return {};
      args.push_back(std::move(arg));
    } while (take(","));
    expect(close);
    return args;
  }

  ExprPtr member_call(ExprPtr target, const std::string& name, std::size_t place, std::vector<ExprPtr> args) {
    for (const MacroRow& row : kMacros) {
      if (row.name != name || args.size() < row.vars + row.least || args.size() > row.vars + row.most) continue;
      return loop(row, std::move(target), place, std::move(args));
    }
    ExprPtr expr = make(Form::Call, place);
    expr->name = name;
    expr->target = std::move(target);
    expr->args = std::move(args);
    return finish(std::move(expr));
  }

  ExprPtr loop(const MacroRow& row, ExprPtr target, std::size_t place, std::vector<ExprPtr> args) {
    // With a variable and two parts, exists(i, v, p) has two variables and map(v, p, t) a condition.
    ExprPtr expr = make(Form::Macro, place);
    expr->macro = row.macro;
    expr->name = row.name;
    for (std::size_t i = 0; i < row.vars; ++i) {
      if (args[i]->form != Form::Ident || args[i]->name.starts_with('.'))
        return fail(args[i]->place, "argument must be a simple name");
      expr->vars.push_back(args[i]->name);
    }
    if (row.vars == 2 && expr->vars[0] == expr->vars[1]) {
      return fail(args[1]->place, fmt::format("duplicate variable name: {}", expr->vars[0]));
    }
    for (const std::string& var : expr->vars) {
      if (var == "__result__") return fail(args[0]->place, "iteration variable overwrites accumulator variable");
    }
    expr->target = std::move(target);
    for (std::size_t i = row.vars; i < args.size(); ++i) expr->args.push_back(std::move(args[i]));
    return finish(std::move(expr));
  }

  /// a.b.C before a brace.
  static bool is_type_name(const Expr& expr) {
    if (expr.form == Form::Ident) return true;
    return expr.form == Form::Select && !expr.is_test && !expr.is_optional_select && is_type_name(*expr.target);
  }
  static std::string type_name(const Expr& expr) {
    return expr.form == Form::Ident ? expr.name : type_name(*expr.target) + "." + expr.name;
  }

  ExprPtr structure(ExprPtr name) {
    ExprPtr expr = make(Form::Struct, now().place);
    expr->name = type_name(*name);
    expect("{");
    while (is_good_ && !sees("}")) {
      expr->is_optional.push_back(take("?"));
      if (now().kind != TokenKind::Ident && now().kind != TokenKind::QuotedIdent) return unexpected();
      expr->vars.push_back(now().text);
      ++at_;
      if (!expect(":")) return nullptr;
      ExprPtr value = expression();
      if (value == nullptr) return nullptr;
      expr->args.push_back(std::move(value));
      if (!take(",")) break;
    }
    if (!expect("}")) return nullptr;
    return finish(std::move(expr));
  }

  ExprPtr primary() {
    const Token token = now();
    switch (token.kind) {
      case TokenKind::Int:
      case TokenKind::Uint:
      case TokenKind::Double:
        ++at_;
        return number(token);
      case TokenKind::String:
      case TokenKind::Bytes: {
        ++at_;
        ExprPtr expr = make(Form::Constant, token.place);
        expr->constant = token.kind == TokenKind::String ? make_string(token.text) : make_bytes(token.text);
        return expr;
      }
      case TokenKind::Ident:
        return name("");
      case TokenKind::Symbol:
        if (take("(")) {
          ExprPtr inner = expression();
          return inner != nullptr && expect(")") ? std::move(inner) : nullptr;
        }
        if (take("[")) return list(token.place);
        if (take("{")) return map(token.place);
        if (take(".")) return now().kind == TokenKind::Ident ? name(".") : unexpected();
        return unexpected();
      case TokenKind::QuotedIdent:
      case TokenKind::End:
        return unexpected();
    }
    return nullptr;
  }

  ExprPtr name(std::string_view dot) {
    const Token token = now();
    ++at_;
    ExprPtr expr = make(Form::Constant, token.place);
    if (token.text == "true" || token.text == "false") {
      expr->constant = make_bool(token.text == "true");
      return expr;
    }
    if (token.text == "null") return expr;
    if (token.text == "in") return fail(token.place, "Syntax error: mismatched input 'in'");
    if (std::ranges::find(kReservedWords, token.text) != kReservedWords.end())
      return fail(token.place, fmt::format("Syntax error: reserved identifier: {}", token.text));
    const std::size_t open = now().place;
    if (take("(")) {
      std::vector<ExprPtr> args = arguments(")");
      if (!is_good_) return nullptr;
      if (token.text == "has" && args.size() == 1) return has(std::move(args[0]), open);
      return call(std::string(dot) + token.text, open, std::move(args));
    }
    expr->form = Form::Ident;
    expr->name = std::string(dot) + token.text;
    return expr;
  }

  ExprPtr has(ExprPtr arg, std::size_t place) {
    if (arg->form != Form::Select || arg->is_test) return fail(place, "invalid argument to has() macro");
    arg->is_test = true;
    return arg;
  }

  ExprPtr list(std::size_t place) {
    ExprPtr expr = make(Form::List, place);
    while (is_good_ && !sees("]")) {
      expr->is_optional.push_back(take("?"));
      ExprPtr one = expression();
      if (one == nullptr) return nullptr;
      expr->args.push_back(std::move(one));
      if (!take(",")) break;
    }
    if (!expect("]")) return nullptr;
    return finish(std::move(expr));
  }

  ExprPtr map(std::size_t place) {
    ExprPtr expr = make(Form::Map, place);
    while (is_good_ && !sees("}")) {
      expr->is_optional.push_back(take("?"));
      ExprPtr key = expression();
      if (key == nullptr || !expect(":")) return nullptr;
      ExprPtr value = expression();
      if (value == nullptr) return nullptr;
      expr->args.push_back(std::move(key));
      expr->args.push_back(std::move(value));
      if (!take(",")) break;
    }
    if (!expect("}")) return nullptr;
    return finish(std::move(expr));
  }

  ExprPtr number(const Token& token) {
    const std::optional<std::size_t> minus = std::exchange(minus_, std::nullopt);
    const bool is_negative = minus.has_value();
    ExprPtr expr = make(Form::Constant, minus.value_or(token.place));
    if (token.kind == TokenKind::Double) {
      const double value = std::strtod(token.text.c_str(), nullptr);
      if (std::isinf(value)) return fail(token.place, "invalid double literal");
      expr->constant = make_double(is_negative ? -value : value);
      return expr;
    }
    const bool is_hex = token.text.starts_with("0x") || token.text.starts_with("0X");
    const char* begin = token.text.data() + (is_hex ? 2 : 0);
    const char* end = token.text.data() + token.text.size();
    std::uint64_t value = 0;
    const auto [rest, code] = std::from_chars(begin, end, value, is_hex ? 16 : 10);
    const bool is_read = code == std::errc() && rest == end;
    if (token.kind == TokenKind::Uint) {
      if (!is_read) return fail(token.place, "invalid uint literal");
      expr->constant = make_uint(value);
      return expr;
    }
    const std::uint64_t most = static_cast<std::uint64_t>(INT64_MAX) + (is_negative ? 1 : 0);
    if (!is_read || value > most) return fail(token.place, "invalid int literal");
    expr->constant = make_int(static_cast<std::int64_t>(is_negative ? 0 - value : value));
    return expr;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::optional<std::size_t> minus_;  // place of the minus sign that belongs to the number that comes
  bool is_good_ = true;
  Fault fault_;
};

}  // namespace

std::expected<ExprPtr, Fault> parse(std::string_view text) {
  if (text.size() > kMostTextBytes) {
    return std::unexpected(
        Fault{0, fmt::format("expression code point size exceeds limit: size: {}, limit {}", text.size(), kMostTextBytes)});
  }
  auto tokens = tokens_of(text);
  if (!tokens) return std::unexpected(tokens.error());
  return Parser(std::move(*tokens)).run();
}

}  // namespace slipway::cel
