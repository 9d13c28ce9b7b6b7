#include "cue/syntax/parser.h"

#include <fmt/format.h>

#include "cue/syntax/parser_state.h"

namespace slipway::cue {

using NodeKind = ast::Kind;

Nesting::Nesting(Parser& parser) : parser_(parser), is_fine_(++parser.depth_ <= parser.options_.max_depth) {
  if (!is_fine_ && !parser.too_deep_) {
    parser.too_deep_ = true;
    parser.diagnostics_.push_back({parser.token_.pos, "nested too deeply"});
  }
}

Parser::Parser(std::string_view text, Pos base, Arena& arena, Diagnostics& diagnostics, ParseOptions options)
    : arena_(arena),
      diagnostics_(diagnostics),
      options_(options),
      text_(text),
      base_(base),
      scanner_(text, base, &diagnostics, &comments_) {
  advance();
}

void Parser::advance() {
  last_end_ = token_.kind == Tok::Comma && token_.text != "," ? last_end_ : token_.end();
  token_ = scanner_.next();
  if (too_deep_) token_ = {Tok::Eof, token_.pos, {}};  // gives up: what follows would only be noise
}

Token Parser::peek_token() const { return scanner_.silent().next(); }

Token Parser::peek_second() const {
  Scanner ahead = scanner_.silent();
  ahead.next();
  return ahead.next();
}

bool Parser::accept(Tok kind) {
  if (token_.kind != kind) return false;
  advance();
  return true;
}

bool Parser::expect(Tok kind) {
  if (accept(kind)) return true;
  error_expected(fmt::format("'{}'", name(kind)));
  return false;
}

void Parser::error(Pos pos, std::string message) {
  if (too_deep_ || (pos == last_error_ && pos != 0)) return;
  // The scanner said what is wrong there.
  if (token_.kind == Tok::Illegal && pos == token_.pos && !diagnostics_.empty()) return;
  last_error_ = pos;
  diagnostics_.push_back({pos, std::move(message)});
}

std::string Parser::found() const {
  if (token_.kind == Tok::Comma && token_.text != ",") return token_.pos - base_ >= text_.size() ? "'EOF'" : "newline";
  std::string text = fmt::format("'{}'", name(token_.kind));
  if (token_.kind >= Tok::Attribute && token_.kind <= Tok::Interpolation) text += fmt::format(" {}", token_.text);
  return text;
}

void Parser::error_expected(std::string_view what) { error(token_.pos, fmt::format("expected {}, found {}", what, found())); }

void Parser::check_reserved(std::string_view text, Pos pos) {
  if (text.starts_with("__")) error(pos, "identifiers starting with '__' are reserved");
}

ast::File* Parser::file(std::string_view file_name) {
  auto* result = arena_.make<ast::File>();
  result->name = file_name;
  result->begin = base_;
  std::vector<ast::Node*> decls;
  std::vector<ast::Attribute*> leading;
  while (token_.kind == Tok::Attribute) {
    leading.push_back(attribute());
    end_attribute();
  }
  result->attributes = arena_.copy(leading);
  for (ast::Attribute* one : leading) {
    if (one->name != "experiment") continue;
    options_.has_experiments = true;
    check_experiments(*one);
    if (one->body == "aliasv2") has_postfix_aliases_ = true;
  }
  package_clause(*result);
  if (result->package.empty()) {
    for (ast::Attribute* one : leading) decls.push_back(one);
  }
  while (token_.kind == Tok::Attribute) {
    decls.push_back(attribute());
    end_attribute();
  }
  imports(*result);
  for (ast::Node* one : declarations(Tok::Eof)) decls.push_back(one);
  result->decls = arena_.copy(decls);
  result->comments = arena_.copy(comments_);
  return result;
}

// An experiment of a later version than the text is written for.
void Parser::check_experiments(const ast::Attribute& attribute) {
  struct Experiment {
    std::string_view name;
    int first_minor;
  };
  static constexpr Experiment kExperiments[] = {
      {"structcmp", 14}, {"explicitopen", 15}, {"aliasv2", 15}, {"try", 16}, {"shortcircuit", 17}};
  for (const Experiment& one : kExperiments) {
    bool is_asked = attribute.body.find(one.name) != std::string_view::npos;
    if (!is_asked || options_.minor_version == 0 || options_.minor_version >= one.first_minor) continue;
    error(attribute.pos, fmt::format("parsing experiments for version \"v0.{}.0\": cannot set experiment \"{}\" before version "
                                     "v0.{}.0",
                                     options_.minor_version, one.name, one.first_minor));
  }
}

void Parser::package_clause(ast::File& file) {
  if (token_.kind != Tok::Ident || token_.text != "package" || peek_token().kind != Tok::Ident) return;
  advance();
  file.package = token_.text;
  file.package_pos = token_.pos;
  if (token_.text.starts_with('#')) error(token_.pos, fmt::format("invalid package name {}", token_.text));
  advance();
  if (token_.kind != Tok::Eof) expect(Tok::Comma);
}

void Parser::imports(ast::File& file) {
  std::vector<ast::Import> specs;
  while (token_.kind == Tok::Ident && token_.text == "import") {
    Tok next = peek_token().kind;
    if (next != Tok::String && next != Tok::Ident && next != Tok::LParen) break;
    advance();
    if (accept(Tok::LParen)) {
      while (token_.kind != Tok::RParen && token_.kind != Tok::Eof) {
        import_spec(specs);
        if (!accept(Tok::Comma) && token_.kind != Tok::RParen) {
          error_expected("','");
          break;
        }
      }
      expect(Tok::RParen);
    } else {
      import_spec(specs);
    }
    if (token_.kind != Tok::Eof && !accept(Tok::Comma)) {
      error_expected("','");
      skip_to_next_declaration(Tok::Eof);
    }
  }
  file.imports = arena_.copy(specs);
}

void Parser::import_spec(std::vector<ast::Import>& out) {
  ast::Import spec{};
  spec.pos = token_.pos;
  if (token_.kind == Tok::Ident || is_keyword(token_.kind)) {
    spec.name = token_.text;
    spec.name_pos = token_.pos;
    if (spec.name.starts_with('#')) error(token_.pos, "cannot import package as definition identifier");
    advance();
  }
  if (token_.kind != Tok::String) {
    error(token_.pos, "missing import path; require quoted string");
    if (token_.kind != Tok::Comma && token_.kind != Tok::Eof) advance();
    return;
  }
  auto* path = make<ast::Literal>(NodeKind::Literal, token_.pos);
  path->tok = Tok::String;
  path->text = token_.text;
  advance();
  spec.path = finish(path);
  out.push_back(spec);
}

ast::Nodes Parser::declarations(Tok closing) {
  std::vector<ast::Node*> decls;
  while (token_.kind != closing && token_.kind != Tok::Eof) {
    if (token_.kind == Tok::Comma && token_.text != ",") {
      advance();
      continue;
    }
    Pos before = token_.pos;
    if (ast::Node* one = declaration()) decls.push_back(one);
    if (!end_of_declaration(closing, closing == Tok::Eof ? "file" : "struct literal") ||
        (token_.pos == before && token_.kind != closing)) {
      skip_to_next_declaration(closing);
      if (token_.pos == before) advance();
    }
  }
  return arena_.copy(decls);
}

bool Parser::end_of_declaration(Tok closing, std::string_view where) {
  bool is_newline = token_.kind == Tok::Comma && token_.text != ",";
  if (accept(Tok::Comma)) {
    if (is_newline) accept(Tok::Comma);  // a comma may stand at the beginning of the next line
    return true;
  }
  if (token_.kind == closing) return true;
  if (token_.kind == Tok::Eof) return false;
  error(token_.pos, fmt::format("missing ',' in {}", where == "file" ? "struct literal" : where));
  return false;
}

void Parser::skip_to_next_declaration(Tok closing) {
  int open = 0;
  while (token_.kind != Tok::Eof) {
    if (open == 0 && (token_.kind == closing || token_.kind == Tok::RBrace)) return;
    if (open == 0 && token_.kind == Tok::Comma) {
      advance();
      return;
    }
    if (token_.kind == Tok::LBrace || token_.kind == Tok::LBrack || token_.kind == Tok::LParen) ++open;
    if (token_.kind == Tok::RBrace || token_.kind == Tok::RBrack || token_.kind == Tok::RParen) --open;
    if (open < 0) return;
    advance();
  }
}

// A keyword that opens a comprehension, rather than being a label or a name.
bool Parser::is_clause_start() {
  if (token_.kind == Tok::Try && !options_.has_experiments) return false;
  if (token_.kind != Tok::For && token_.kind != Tok::If && token_.kind != Tok::Try) return false;
  switch (peek_token().kind) {
    case Tok::Colon:
    case Tok::Option:
    case Tok::Bind:
    case Tok::Comma:
    case Tok::RBrace:
    case Tok::RBrack:
    case Tok::Eof:
    case Tok::Dot:
    case Tok::Tilde:
      return false;
    case Tok::Not:
      return peek_second().kind != Tok::Colon;
    default:
      return true;
  }
}

ast::Node* Parser::declaration() {
  Nesting nesting(*this);
  if (!nesting) return nullptr;
  if (token_.kind == Tok::Attribute) return attribute();
  if (token_.kind == Tok::Ellipsis) {
    auto* node = make<ast::Ellipsis>(NodeKind::Ellipsis, token_.pos);
    advance();
    if (token_.kind != Tok::Comma && token_.kind != Tok::RBrace && token_.kind != Tok::Eof) {
      error(token_.pos, "ellipsis (...) in structs does not take a type");
      node->type = expression();
    }
    return finish(node);
  }
  if (token_.kind == Tok::Let) {
    Token next = peek_token();
    if (next.kind == Tok::Ident || is_keyword(next.kind)) return let_clause();
  }
  if (is_clause_start()) return comprehension();
  return field_or_embedding();
}

ast::Node* Parser::let_clause() {
  auto* node = make<ast::Let>(NodeKind::Let, token_.pos);
  advance();
  Pos pos = 0;
  node->name = binding_name(pos);
  if (expect(Tok::Bind)) node->expr = expression();
  if (node->expr == nullptr) node->expr = bad();
  return finish(node);
}

std::string_view Parser::binding_name(Pos& pos) {
  pos = token_.pos;
  if (token_.kind != Tok::Ident && !is_keyword(token_.kind)) {
    error_expected("identifier");
    return "_";
  }
  std::string_view text = token_.text;
  check_reserved(text, pos);
  advance();
  return text;
}

ast::Attribute* Parser::attribute() {
  auto* node = make<ast::Attribute>(NodeKind::Attribute, token_.pos);
  node->text = token_.text;
  std::size_t open = std::min(token_.text.find('('), token_.text.size());
  node->name = token_.text.substr(1, open - 1);
  node->body = open + 1 < token_.text.size() ? token_.text.substr(open + 1, token_.text.size() - open - 2) : std::string_view();
  advance();
  return finish(node);
}

// One that stands for itself ends like a declaration.
void Parser::end_attribute() {
  if (accept(Tok::Comma) || token_.kind == Tok::Eof || token_.kind == Tok::Attribute) return;
  error(token_.pos, "missing ',' in struct literal");
}

std::span<ast::Attribute* const> Parser::attributes() {
  std::vector<ast::Attribute*> all;
  while (token_.kind == Tok::Attribute) all.push_back(attribute());
  return arena_.copy(all);
}

// The comment lines directly above the current word.
std::span<const std::string_view> Parser::doc_comment() {
  std::size_t first = comments_.size();
  std::size_t at = token_.pos - base_;
  while (first > 0) {
    const Comment& line = comments_[first - 1];
    std::size_t end = line.pos - base_ + line.text.size();
    if (end > at) break;
    std::string_view between = text_.substr(end, at - end);
    if (between.find_first_not_of(" \t\r\n") != std::string_view::npos) break;
    if (std::count(between.begin(), between.end(), '\n') != 1) break;
    // A comment behind a declaration on the same line documents that one.
    std::size_t begin = line.pos - base_;
    std::size_t line_start = text_.rfind('\n', begin);
    std::string_view before = text_.substr(line_start == std::string_view::npos ? 0 : line_start + 1);
    before = before.substr(0, begin - (line_start == std::string_view::npos ? 0 : line_start + 1));
    if (before.find_first_not_of(" \t") != std::string_view::npos) break;
    at = begin;
    --first;
  }
  std::vector<std::string_view> lines;
  for (std::size_t i = first; i < comments_.size(); ++i) {
    if (comments_[i].pos < token_.pos) lines.push_back(comments_[i].text);
  }
  return arena_.copy(lines);
}

bool Parser::is_label(const ast::Node& node) const {
  switch (node.kind) {
    case NodeKind::Ident:
    case NodeKind::Interpolation:
    case NodeKind::Paren:
      return true;
    case NodeKind::Literal: {
      const auto& literal = ast::as<ast::Literal>(node);
      return literal.tok == Tok::String || is_keyword(literal.tok);
    }
    case NodeKind::List:
      return ast::as<ast::List>(node).items.size() == 1;
    default:
      return false;
  }
}

// At ":" or at "?" or "!" before one.
bool Parser::at_field_colon() {
  if (token_.kind == Tok::Colon) return true;
  if (token_.kind == Tok::Tilde) return true;
  if (token_.kind != Tok::Option && token_.kind != Tok::Not) return false;
  return peek_token().kind == Tok::Colon;
}

ast::Node* Parser::field_or_embedding() {
  Pos begin = token_.pos;
  auto doc = comments_.empty() ? std::span<const std::string_view>() : doc_comment();
  ast::Node* first = expression();
  std::string_view alias;
  if (token_.kind == Tok::Bind && first->kind == NodeKind::Ident) {
    if (has_postfix_aliases_) {
      error(token_.pos,
            "old-style alias syntax (=) is not allowed with @experiment(aliasv2); use postfix syntax (~X or ~(K,V))");
    }
    alias = ast::as<ast::Ident>(*first).name;
    check_reserved(alias, first->pos);
    advance();
    first = expression();
  }
  if (is_label(*first) && at_field_colon()) {
    ast::Node* node = field(first, alias, begin);
    // A comment above a shorthand a: b: 1 belongs to its innermost field.
    auto* documented = static_cast<ast::Field*>(node);
    while (documented->value != nullptr && documented->value->kind == NodeKind::Struct &&
           !ast::as<ast::Struct>(*documented->value).is_braced) {
      documented = static_cast<ast::Field*>(ast::as<ast::Struct>(*documented->value).decls[0]);
    }
    if (documented->doc.empty()) documented->doc = doc;
    return node;
  }
  if (!alias.empty()) {
    error_expected("label or ':'");
    return first;
  }
  bool may_be_label = first->kind == NodeKind::Ident;
  bool stops =
      token_.kind == Tok::Comma || token_.kind == Tok::RBrace || token_.kind == Tok::Eof || token_.kind == Tok::Attribute;
  if (may_be_label && !stops && token_.kind != Tok::RParen && token_.kind != Tok::RBrack) error_expected("label or ':'");
  attributes();
  return first;
}

ast::Node* Parser::field(ast::Node* label, std::string_view alias, Pos begin) {
  auto* node = make<ast::Field>(NodeKind::Field, begin);
  node->label = label;
  node->alias = alias;
  if (token_.kind == Tok::Tilde) postfix_alias(*node);
  if (token_.kind == Tok::Option || token_.kind == Tok::Not) {
    node->mark = token_.kind == Tok::Option ? ast::Mark::Optional : ast::Mark::Required;
    advance();
  }
  check_label(*node);
  expect(Tok::Colon);
  field_value(*node);
  node->attributes = attributes();
  return finish(node);
}

void Parser::check_label(const ast::Field& node) {
  if (node.label->kind == NodeKind::Ident) check_reserved(ast::as<ast::Ident>(*node.label).name, node.label->pos);
  if (node.label->kind != NodeKind::List || node.mark == ast::Mark::Regular) return;
  error(node.label->pos,
        fmt::format("pattern constraint cannot be marked {}", node.mark == ast::Mark::Optional ? "optional" : "required"));
}

void Parser::postfix_alias(ast::Field& node) {
  if (!options_.has_experiments) error(token_.pos, "postfix alias syntax requires @experiment(aliasv2)");
  advance();
  Pos pos = 0;
  if (accept(Tok::LParen)) {
    node.key_name = binding_name(pos);
    expect(Tok::Comma);
    node.self_name = binding_name(pos);
    expect(Tok::RParen);
  } else {
    node.self_name = binding_name(pos);
    if (node.self_name == "_") error(pos, "single postfix alias \"_\" field cannot be the blank identifier");
  }
}

// Behind the colon: a value, or the next label of a shorthand a: b: 1.
void Parser::field_value(ast::Field& node) {
  Nesting nesting(*this);
  if (!nesting) {
    node.value = bad();
    return;
  }
  Pos begin = token_.pos;
  auto doc = comments_.empty() ? std::span<const std::string_view>() : doc_comment();
  if (token_.kind == Tok::Comma || token_.kind == Tok::RBrace || token_.kind == Tok::Eof) {
    error_expected("operand");
    node.value = bad();
    return;
  }
  ast::Node* first = expression();
  std::string_view alias;
  if (token_.kind == Tok::Bind && first->kind == NodeKind::Ident) {
    alias = ast::as<ast::Ident>(*first).name;
    check_reserved(alias, first->pos);
    advance();
    first = expression();
  }
  if (!is_label(*first) || !at_field_colon()) {
    node.value_alias = alias;
    node.value = first;
    return;
  }
  auto* inner = make<ast::Struct>(NodeKind::Struct, begin);
  ast::Node* decl = field(first, alias, begin);
  static_cast<ast::Field*>(decl)->doc = doc;
  inner->decls = arena_.copy(std::span<ast::Node* const>(&decl, 1));
  node.value = finish(inner);
}

ast::Node* Parser::comprehension() {
  auto* node = make<ast::Comprehension>(NodeKind::Comprehension, token_.pos);
  std::vector<ast::ClauseNode> clauses;
  while (clause(clauses)) {
  }
  node->clauses = arena_.copy(clauses);
  if (token_.kind != Tok::LBrace) {
    error_expected("'{'");
    return bad();
  }
  node->body = struct_literal();
  fallback_clause(*node);
  return finish(node);
}

void Parser::fallback_clause(ast::Comprehension& node) {
  node.is_else = token_.kind == Tok::Else;
  if (!node.is_else && (token_.kind != Tok::Ident || (token_.text != "otherwise" && token_.text != "fallback"))) return;
  bool is_single = node.clauses.size() == 1 && node.clauses[0].kind != ast::Clause::For;
  if (!options_.has_experiments) {
    error(token_.pos, fmt::format("{} requires @experiment(try)", token_.text));
  } else if (node.is_else && !is_single) {
    error(token_.pos, "use 'otherwise' for comprehensions with multiple clauses or 'for' clauses");
  } else if (!node.is_else && is_single) {
    error(token_.pos, "use 'else' with single 'if' or 'try' clause");
  }
  advance();
  if (token_.kind == Tok::LBrace) node.fallback = struct_literal();
}

bool Parser::clause(std::vector<ast::ClauseNode>& out) {
  if (out.size() >= 1000) return false;
  // Behind a clause a comma may stand, or a newline that counts as one.
  if (!out.empty() && token_.kind == Tok::Comma) {
    Tok next = peek_token().kind;
    if (next != Tok::For && next != Tok::If && next != Tok::Let && next != Tok::LBrace) return false;
    advance();
  }
  ast::ClauseNode node{};
  node.pos = token_.pos;
  switch (token_.kind) {
    case Tok::For:
      for_clause(node);
      break;
    case Tok::If:
      advance();
      node.kind = ast::Clause::If;
      node.expr = expression();
      break;
    case Tok::Let:
      advance();
      node.kind = ast::Clause::Let;
      node.value = binding_name(node.value_pos);
      expect(Tok::Bind);
      node.expr = expression();
      break;
    case Tok::Try:
      advance();
      node.kind = ast::Clause::Try;
      if (token_.kind != Tok::LBrace) {
        node.value = binding_name(node.value_pos);
        expect(Tok::Bind);
        node.expr = expression();
      }
      break;
    default:
      return false;
  }
  out.push_back(node);
  return true;
}

void Parser::for_clause(ast::ClauseNode& node) {
  advance();
  node.kind = ast::Clause::For;
  node.value = binding_name(node.value_pos);
  if (accept(Tok::Comma)) {
    node.key = node.value;
    node.key_pos = node.value_pos;
    node.value = binding_name(node.value_pos);
  }
  expect(Tok::In);
  node.expr = expression();
}

ast::File* parse_file(std::string_view name, std::string_view text, Pos base, Arena& arena, Diagnostics& diagnostics,
                      ParseOptions options) {
  return Parser(text, base, arena, diagnostics, options).file(name);
}

ast::Node* parse_expression(std::string_view text, Pos base, Arena& arena, Diagnostics& diagnostics, ParseOptions options) {
  std::size_t before = diagnostics.size();
  ast::Node* node = Parser(text, base, arena, diagnostics, options).single_expression();
  return diagnostics.size() == before ? node : nullptr;
}

}  // namespace slipway::cue
