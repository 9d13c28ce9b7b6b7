// Lexer and parser of conditions: operators bind as expr-lang's do (parser/operator).
#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text.h"
#include "delivery/gate/expression.h"
#include "delivery/gate/expression_ast.h"

namespace slipway::delivery::gate::expr {
namespace {

constexpr int kMostDepth = 100;

struct Token {
  enum class Kind : std::uint8_t { End, Number, String, Name, Sign } kind = Kind::End;
  std::string text{};  // of a string: its content
  std::size_t at = 0;  // offset in the condition
};

bool starts_name(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || c == '_' || c == '$'; }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::expected<std::vector<Token>, std::string> run() {
    std::vector<Token> tokens;
    while (true) {
      while (at_ < text_.size() && kBlanks.contains(text_[at_])) ++at_;
      Token token{.at = at_};
      if (at_ < text_.size() && !read(token)) return std::unexpected(error_);
      tokens.push_back(token);
      if (token.kind == Token::Kind::End) return tokens;
    }
  }

 private:
  bool read(Token& token) {
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return read_number(token);
    if (c == '"' || c == '\'' || c == '`') return read_string(token, c);
    if (starts_name(c)) {
      std::size_t end = at_;
      while (end < text_.size() && (starts_name(text_[end]) || is_digit(text_[end]))) ++end;
      token.kind = Token::Kind::Name;
      token.text = text_.substr(at_, end - at_);
      at_ = end;
      return true;
    }
    token.kind = Token::Kind::Sign;
    for (const std::string_view sign : {"==", "!=", "<=", ">=", "&&", "||", "**", "..", "??", "?."}) {
      if (text_.substr(at_).starts_with(sign)) {
        token.text = sign;
        at_ += 2;
        return true;
      }
    }
    if (!std::string_view("+-*/%^<>!?:.,()[]{}#|").contains(c)) return fails(fmt::format("unexpected character {:?}", c));
    token.text = std::string(1, c);
    ++at_;
    return true;
  }

  bool read_number(Token& token) {
    std::size_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && (is_digit(text_[end]) || text_[end] == '_')) ++end;
    };
    digits();
    if (end + 1 < text_.size() && text_[end] == '.' && text_[end + 1] != '.') ++end, digits();
    if (end < text_.size() && lower(text_[end]) == 'e') {
      ++end;
      if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
      digits();
    }
    token.kind = Token::Kind::Number;
    for (const char c : text_.substr(at_, end - at_)) {
      if (c != '_') token.text += c;
    }
    at_ = end;
    return true;
  }

  bool read_string(Token& token, char quote) {
    token.kind = Token::Kind::String;
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      char c = text_[i];
      if (c == quote) {
        at_ = i + 1;
        return true;
      }
      if (c == '\\' && quote != '`') {
        if (++i == text_.size()) break;
        constexpr std::string_view kFrom = "abfnrtv\\'\"";
        constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\'\"";
        const std::size_t known = kFrom.find(text_[i]);
        if (known == std::string_view::npos) return fails(fmt::format("unknown escape \\{}", text_[i]));
        c = kTo[known];
      }
      token.text += c;
    }
    return fails("literal not terminated");
  }

  bool fails(std::string text) {
    error_ = fmt::format("{} (1:{})", text, at_ + 1);
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

constexpr int kNotBinds = 50;
constexpr int kSignBinds = 90;

/// A recursive descent; the first fault is kept, and everything after it gives nullptr.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::expected<Parsed, std::string> run() {
    NodePtr root = conditional();
    if (error_.empty() && here().kind != Token::Kind::End) fails(fmt::format("unexpected {:?}", here().text));
    if (!error_.empty()) return std::unexpected(error_);
    return Parsed{std::move(root), std::move(functions_)};
  }

 private:
  const Token& here() const { return tokens_[at_]; }
  bool is(std::string_view text) const {
    const bool is_plain = here().kind == Token::Kind::Sign || here().kind == Token::Kind::Name;
    return is_plain && here().text == text;
  }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }
  NodePtr fails(std::string text) {
    if (error_.empty()) error_ = fmt::format("{} (1:{})", text, here().at + 1);
    at_ = tokens_.size() - 1;
    return nullptr;
  }
  bool expect(std::string_view text) {
    if (take(text)) return true;
    fails(here().kind == Token::Kind::End ? fmt::format("expected {:?}, but the condition ends", text)
                                          : fmt::format("expected {:?}, but got {:?}", text, here().text));
    return false;
  }
  template <class... Children>
  static NodePtr make(Op op, std::string name, Children... children) {
    auto node = std::make_unique<Node>();
    node->op = op;
    node->name = std::move(name);
    (node->children.push_back(std::move(children)), ...);
    return node;
  }
  static NodePtr make_binary(const Operator& row, NodePtr left, NodePtr right) {
    auto node = std::make_unique<Node>();
    node->op = row.op;
    node->name = row.text;
    node->operation = &row;
    node->children.push_back(std::move(left));
    node->children.push_back(std::move(right));
    return node;
  }
  static NodePtr literal(json::Value value) {
    auto node = std::make_unique<Node>();
    node->literal = std::move(value);
    return node;
  }

  NodePtr conditional() {
    if (++depth_ > kMostDepth) return fails("nested too deeply");
    NodePtr condition = binary(0);
    if (take("?")) {
      NodePtr then = conditional();
      expect(":");
      NodePtr otherwise = conditional();
      condition = make(Op::Conditional, "?", std::move(condition), std::move(then), std::move(otherwise));
    }
    --depth_;
    return condition;
  }

  NodePtr binary(int least) {
    NodePtr left = unary();
    while (error_.empty()) {
      const bool is_negated = is("not") && tokens_[at_ + 1].text == "in";
      if (is_negated) ++at_;
      const bool is_plain = here().kind == Token::Kind::Sign || here().kind == Token::Kind::Name;
      const Operator* row = is_plain ? find_operator(here().text) : nullptr;
      if (row == nullptr || row->binds < least) {
        if (is_negated) --at_;
        break;
      }
      ++at_;
      NodePtr right = binary(row->binds == kPowerBinds ? row->binds : row->binds + 1);
      left = make_binary(*row, std::move(left), std::move(right));
      if (is_negated) left = make(Op::Not, "not", std::move(left));
    }
    return left;
  }

  NodePtr unary() {
    if (++depth_ > kMostDepth) return fails("nested too deeply");
    NodePtr node;
    if (take("!") || take("not")) {
      node = make(Op::Not, "!", binary(kNotBinds));
    } else if (take("-")) {
      node = make(Op::Sign, "-", binary(kSignBinds));
    } else if (take("+")) {
      node = make(Op::Sign, "+", binary(kSignBinds));
    } else {
      node = postfix(primary());
    }
    --depth_;
    return node;
  }

  NodePtr primary() {
    const Token token = here();
    switch (token.kind) {
      case Token::Kind::End:
        return fails("the condition ends too early");
      case Token::Kind::Number:
        ++at_;
        return number(token.text);
      case Token::Kind::String:
        ++at_;
        return literal(token.text);
      case Token::Kind::Name:
        ++at_;
        return named(token.text);
      case Token::Kind::Sign:
        return sign();
    }
    return nullptr;
  }

  NodePtr number(const std::string& text) {
    std::int64_t whole = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size()) return literal(whole);
    double real = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), real);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return fails(fmt::format("bad number {}", text));
    return literal(real);
  }

  NodePtr named(const std::string& name) {
    if (name == "true" || name == "false") return literal(name == "true");
    if (name == "nil") return literal(nullptr);
    if (is("(")) return call(name, nullptr);
    if (name == "result") return make(Op::Result, name);
    --at_;
    return fails(fmt::format("unknown name {}", name));
  }

  NodePtr sign() {
    if (take("(")) {
      NodePtr inner = conditional();
      expect(")");
      return inner;
    }
    if (take("[")) return list(Op::Array, "]");
    if (take("{")) return map();
    if (is("#") || (is(".") && predicates_ > 0)) {
      if (predicates_ == 0) return fails("# stands outside of a predicate");
      take("#");
      return make(Op::Item, "#");
    }
    return fails(fmt::format("unexpected {:?}", here().text));
  }

  NodePtr list(Op op, std::string_view end) {
    auto node = std::make_unique<Node>();
    node->op = op;
    while (error_.empty() && !take(end)) {
      node->children.push_back(conditional());
      if (!is(end) && !expect(",")) return nullptr;
    }
    return node;
  }

  NodePtr map() {
    auto node = std::make_unique<Node>();
    node->op = Op::Map;
    while (error_.empty() && !take("}")) {
      const bool is_plain = here().kind == Token::Kind::Name || here().kind == Token::Kind::String;
      if (!is_plain) return fails("a key must be a name or a string");
      node->children.push_back(literal(here().text));
      ++at_;
      expect(":");
      node->children.push_back(conditional());
      if (!is("}") && !expect(",")) return nullptr;
    }
    return node;
  }

  /// `first` is the left side of a pipe, if any.
  NodePtr call(const std::string& name, NodePtr first) {
    const Function* function = find_function(name);
    if (function == nullptr) {
      --at_;
      return fails(fmt::format("unknown name {}", name));
    }
    functions_.insert(name);
    auto node = std::make_unique<Node>();
    node->op = Op::Call;
    node->name = name;
    node->function = function;
    if (first != nullptr) node->children.push_back(std::move(first));
    expect("(");
    while (error_.empty() && !take(")")) {
      const bool is_predicate = function->has_predicate && node->children.size() == 1;
      node->children.push_back(is_predicate ? predicate() : conditional());
      if (!is(")") && !expect(",")) return nullptr;
    }
    const std::size_t count = node->children.size();
    if (error_.empty() && (count < function->least || count > function->most)) {
      return fails(fmt::format("{} arguments to call {}", count < function->least ? "not enough" : "too many", name));
    }
    return node;
  }

  NodePtr predicate() {
    ++predicates_;
    const bool is_braced = take("{");
    NodePtr inner = conditional();
    if (is_braced) expect("}");
    --predicates_;
    return inner;
  }

  NodePtr postfix(NodePtr node) {
    // A ".name" that begins a primary stands for "#.name": its dot is still here.
    for (int steps = 0; error_.empty(); ++steps) {
      if (steps > kMostDepth) return fails("nested too deeply");
      const bool is_maybe = is("?.");
      if (is_maybe || is(".")) {
        ++at_;
        const Token name = here();
        if (name.kind != Token::Kind::Name) return fails("expected a name after the dot");
        ++at_;
        if (is("(")) return fails(fmt::format("there is no method {}", name.text));
        node = make(is_maybe ? Op::MaybeMember : Op::Member, name.text, std::move(node));
      } else if (take("[")) {
        node = indexed(std::move(node));
      } else if (take("|")) {
        const Token name = here();
        if (name.kind != Token::Kind::Name) return fails("expected a function after |");
        ++at_;
        node = call(name.text, std::move(node));
      } else {
        break;
      }
    }
    return node;
  }

  NodePtr indexed(NodePtr node) {
    NodePtr from;
    if (!is(":")) from = conditional();
    if (take(":")) {
      NodePtr to;
      if (!is("]")) to = conditional();
      node = make(Op::Slice, "[:]", std::move(node), std::move(from), std::move(to));
    } else {
      node = make(Op::Index, "[]", std::move(node), std::move(from));
    }
    expect("]");
    return node;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int predicates_ = 0;
  std::string error_;
  std::set<std::string, std::less<>> functions_;
};

}  // namespace

std::expected<Parsed, std::string> parse(std::string_view text) {
  if (text.size() > Expression::kMostBytes) {
    return std::unexpected(fmt::format("a condition has at most {} bytes", Expression::kMostBytes));
  }
  auto tokens = Lexer(text).run();
  if (!tokens) return std::unexpected(tokens.error());
  return Parser(std::move(*tokens)).run();
}

}  // namespace slipway::delivery::gate::expr
