#include <fmt/format.h>

#include "cue/syntax/parser_state.h"

namespace slipway::cue {

using NodeKind = ast::Kind;

namespace {

// The longest run of operators, selectors or calls in one expression; what walks the tree recurses as deep.
constexpr int kMaxChain = 800;

int precedence(Tok tok) {
  switch (tok) {
    case Tok::Or:
      return 1;
    case Tok::And:
      return 2;
    case Tok::LOr:
      return 3;
    case Tok::LAnd:
      return 4;
    case Tok::Eql:
    case Tok::Neq:
    case Tok::Lss:
    case Tok::Leq:
    case Tok::Gtr:
    case Tok::Geq:
    case Tok::Mat:
    case Tok::NMat:
    case Tok::Arrow:
      return 5;
    case Tok::Add:
    case Tok::Sub:
      return 6;
    case Tok::Mul:
    case Tok::Quo:
      return 7;
    default:
      return 0;
  }
}

// The reserved name of the function behind a word that stands between operands.
std::string_view division_builtin(std::string_view word) {
  for (std::string_view name : {"__div", "__mod", "__quo", "__rem"}) {
    if (word == name.substr(2)) return name;
  }
  return {};
}

}  // namespace

ast::Node* Parser::single_expression() {
  ast::Node* node = expression();
  accept(Tok::Comma);
  if (token_.kind != Tok::Eof) error_expected("end of expression");
  return node;
}

ast::Node* Parser::bad() {
  auto* node = make<ast::Node>(NodeKind::Bad, token_.pos);
  return finish(node);
}

ast::Node* Parser::binary(int least) {
  Nesting nesting(*this);
  if (!nesting) return bad();
  ast::Node* left = unary();
  int chain = 0;
  for (;;) {
    int level = precedence(token_.kind);
    std::string_view division = token_.kind == Tok::Ident ? division_builtin(token_.text) : std::string_view();
    if (!division.empty()) level = precedence(Tok::Quo);
    if (level < least) return left;
    // "&" and "|" chains are walked in a loop, the others by recursion.
    if (level > 2 && ++chain > kMaxChain) {
      error(token_.pos, "expression too long");
      return left;
    }
    if (!division.empty()) {
      left = infix_division(left, division, level);
      continue;
    }
    auto* node = make<ast::Binary>(NodeKind::Binary, left->pos);
    node->op = token_.kind;
    node->op_pos = token_.pos;
    advance();
    node->left = left;
    node->right = binary(level + 1);
    left = finish(node);
  }
}

// "a div b" is div(a, b), whatever the name div may mean there.
ast::Node* Parser::infix_division(ast::Node* left, std::string_view builtin, int level) {
  auto* function = make<ast::Ident>(NodeKind::Ident, token_.pos);
  function->name = builtin;
  advance();
  finish(function);
  auto* node = make<ast::Call>(NodeKind::Call, left->pos);
  node->function = function;
  node->args = arena_.copy(std::vector<ast::Node*>{left, binary(level + 1)});
  return finish(node);
}

ast::Node* Parser::unary() {
  // "==3" as a constraint is of v0.15.
  bool is_equality = token_.kind == Tok::Eql && (options_.has_experiments || options_.minor_version >= 15);
  switch (is_equality ? Tok::Neq : token_.kind) {
    case Tok::Add:
    case Tok::Sub:
    case Tok::Not:
    case Tok::Mul:
    case Tok::Lss:
    case Tok::Leq:
    case Tok::Gtr:
    case Tok::Geq:
    case Tok::Neq:
    case Tok::Mat:
    case Tok::NMat: {
      Nesting nesting(*this);
      auto* node = make<ast::Unary>(NodeKind::Unary, token_.pos);
      node->op = token_.kind;
      advance();
      node->operand = nesting ? unary() : bad();
      return finish(node);
    }
    default:
      return primary();
  }
}

ast::Node* Parser::primary() {
  ast::Node* node = operand();
  for (int chain = 0; chain < kMaxChain; ++chain) {
    switch (token_.kind) {
      case Tok::Dot:
        node = selector(node);
        break;
      case Tok::LBrack:
        node = index(node);
        break;
      case Tok::LParen:
        node = call(node);
        break;
      case Tok::Ellipsis: {
        if (!options_.has_experiments) error(token_.pos, "postfix ... operator requires @experiment(explicitopen)");
        auto* open = make<ast::Postfix>(NodeKind::Postfix, node->pos);
        open->op = Tok::Ellipsis;
        open->operand = node;
        advance();
        node = finish(open);
        break;
      }
      case Tok::Option: {
        if (!options_.has_experiments || peek_token().kind == Tok::Colon) return node;
        auto* tried = make<ast::Postfix>(NodeKind::Postfix, node->pos);
        tried->op = Tok::Option;
        tried->operand = node;
        advance();
        node = finish(tried);
        break;
      }
      default:
        return node;
    }
  }
  error(token_.pos, "expression too long");
  return node;
}

ast::Node* Parser::selector(ast::Node* base) {
  auto* node = make<ast::Selector>(NodeKind::Selector, base->pos);
  node->base = base;
  advance();
  bool is_simple_string = token_.kind == Tok::String && token_.text.starts_with('"') && !token_.text.starts_with("\"\"");
  if (token_.kind == Tok::Ident || is_keyword(token_.kind)) {
    auto* selected = make<ast::Ident>(NodeKind::Ident, token_.pos);
    selected->name = token_.text;
    advance();
    node->name = finish(selected);
  } else if (is_simple_string) {
    auto* selected = make<ast::Literal>(NodeKind::Literal, token_.pos);
    selected->tok = Tok::String;
    selected->text = token_.text;
    advance();
    node->name = finish(selected);
  } else {
    error_expected("selector");
    bool is_operand = token_.kind == Tok::String || token_.kind == Tok::Int || token_.kind == Tok::Float;
    if (is_operand) advance();
    auto* blank = make<ast::Ident>(NodeKind::Ident, token_.pos);
    blank->name = "_";
    node->name = blank;
  }
  return finish(node);
}

ast::Node* Parser::index(ast::Node* base) {
  auto* node = make<ast::Index>(NodeKind::Index, base->pos);
  node->base = base;
  advance();
  ast::Node* low = token_.kind == Tok::Colon || token_.kind == Tok::RBrack ? nullptr : expression();
  if (token_.kind == Tok::Colon) {
    auto* slice = make<ast::Slice>(NodeKind::Slice, base->pos);
    slice->base = base;
    slice->low = low;
    advance();
    if (token_.kind != Tok::RBrack) slice->high = expression();
    expect(Tok::RBrack);
    return finish(slice);
  }
  if (low == nullptr) error_expected("operand");
  node->index = low != nullptr ? low : bad();
  accept(Tok::Comma);
  expect(Tok::RBrack);
  return finish(node);
}

ast::Node* Parser::call(ast::Node* function) {
  Nesting nesting(*this);
  auto* node = make<ast::Call>(NodeKind::Call, function->pos);
  node->function = function;
  advance();
  std::vector<ast::Node*> args;
  while (nesting && token_.kind != Tok::RParen && token_.kind != Tok::Eof) {
    args.push_back(aliased_expression());
    if (accept(Tok::Comma)) continue;
    if (token_.kind == Tok::RParen) break;
    error(token_.pos, "missing ',' in argument list");
    break;
  }
  expect(Tok::RParen);
  node->args = arena_.copy(args);
  return finish(node);
}

// X=expr, in brackets of all kinds.
ast::Node* Parser::aliased_expression() {
  ast::Node* first = expression();
  if (token_.kind != Tok::Bind || first->kind != NodeKind::Ident) return first;
  auto* node = make<ast::Alias>(NodeKind::Alias, first->pos);
  node->name = ast::as<ast::Ident>(*first).name;
  check_reserved(node->name, first->pos);
  advance();
  node->expr = expression();
  return finish(node);
}

ast::Node* Parser::paren() {
  auto* node = make<ast::Paren>(NodeKind::Paren, token_.pos);
  advance();
  node->inner = aliased_expression();
  expect(Tok::RParen);
  return finish(node);
}

ast::Node* Parser::list() {
  auto* node = make<ast::List>(NodeKind::List, token_.pos);
  advance();
  std::vector<ast::Node*> items;
  while (token_.kind != Tok::RBrack && token_.kind != Tok::Eof) {
    items.push_back(list_item());
    bool is_newline = token_.kind == Tok::Comma && token_.text != ",";
    // One comprehension may follow another without a comma between them.
    const bool follows =
        items.back()->kind == NodeKind::Comprehension && (peek_token().kind == Tok::If || peek_token().kind == Tok::For);
    if (is_newline && !options_.wants_list_newlines && !follows && peek_token().kind != Tok::RBrack) {
      error(token_.pos, "missing ',' before newline in list literal");
    }
    if (accept(Tok::Comma)) continue;
    if (token_.kind == Tok::RBrack || token_.kind == Tok::Eof) break;
    error(token_.pos, "missing ',' in list literal");
    break;
  }
  expect(Tok::RBrack);
  node->items = arena_.copy(items);
  return finish(node);
}

ast::Node* Parser::list_item() {
  if (token_.kind == Tok::Ellipsis) {
    auto* node = make<ast::Ellipsis>(NodeKind::Ellipsis, token_.pos);
    advance();
    if (token_.kind != Tok::Comma && token_.kind != Tok::RBrack && token_.kind != Tok::Eof) node->type = expression();
    return finish(node);
  }
  if (is_clause_start()) return comprehension();
  return aliased_expression();
}

ast::Struct* Parser::struct_literal() {
  Nesting nesting(*this);
  auto* node = make<ast::Struct>(NodeKind::Struct, token_.pos);
  node->is_braced = true;
  advance();
  if (nesting) node->decls = declarations(Tok::RBrace);
  expect(Tok::RBrace);
  return finish(node);
}

ast::Node* Parser::func_type() {
  auto* node = make<ast::FuncType>(NodeKind::FuncType, token_.pos);
  advance();
  advance();
  std::vector<ast::Node*> args;
  while (token_.kind != Tok::RParen && token_.kind != Tok::Eof) {
    args.push_back(expression());
    if (!accept(Tok::Comma)) break;
  }
  expect(Tok::RParen);
  expect(Tok::Colon);
  node->args = arena_.copy(args);
  node->result = expression();
  return finish(node);
}

ast::Node* Parser::interpolation() {
  auto* node = make<ast::Interpolation>(NodeKind::Interpolation, token_.pos);
  Token open = token_;
  std::vector<ast::Node*> parts;
  Token piece = token_;
  for (;;) {
    auto* literal = make<ast::Literal>(NodeKind::Literal, piece.pos);
    literal->tok = piece.kind;
    literal->text = piece.text;
    literal->end = piece.end();
    parts.push_back(literal);
    if (piece.kind != Tok::Interpolation) break;
    advance();
    parts.push_back(expression());
    if (token_.kind == Tok::Comma && token_.text != ",") advance();
    if (token_.kind != Tok::RParen) {
      error(token_.pos, fmt::format("expected ')' for string interpolation, found {}", found()));
      break;
    }
    piece = scanner_.resume(open);
    token_ = piece;
  }
  advance();
  node->parts = arena_.copy(parts);
  return finish(node);
}

ast::Node* Parser::operand() {
  switch (token_.kind) {
    case Tok::Func:
      if (peek_token().kind == Tok::LParen) return func_type();
      [[fallthrough]];
    case Tok::Ident:
    case Tok::For:
    case Tok::In:
    case Tok::If:
    case Tok::Let:
    case Tok::Try:
    case Tok::Else: {
      auto* node = make<ast::Ident>(NodeKind::Ident, token_.pos);
      node->name = token_.text;
      advance();
      return finish(node);
    }
    case Tok::Int:
    case Tok::Float:
    case Tok::String:
    case Tok::True:
    case Tok::False:
    case Tok::Null: {
      auto* node = make<ast::Literal>(NodeKind::Literal, token_.pos);
      node->tok = token_.kind;
      node->text = token_.text;
      advance();
      return finish(node);
    }
    case Tok::Bottom: {
      auto* node = make<ast::Node>(NodeKind::Bottom, token_.pos);
      advance();
      return finish(node);
    }
    case Tok::Interpolation:
      return interpolation();
    case Tok::LParen:
      return paren();
    case Tok::LBrack:
      return list();
    case Tok::LBrace:
      return struct_literal();
    default: {
      error_expected("operand");
      ast::Node* node = bad();
      if (token_.kind == Tok::Illegal || token_.kind == Tok::Attribute) advance();
      return node;
    }
  }
}

}  // namespace slipway::cue
