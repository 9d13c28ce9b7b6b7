// The parser's inside: shared by parser.cc (files, declarations) and expression.cc.
#pragma once

#include <string>
#include <vector>

#include "cue/syntax/parser.h"
#include "cue/syntax/scanner.h"

// A parser asks for a few of many words at a time: listing the others in each switch would hide what it looks for.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

class Parser {
 public:
  Parser(std::string_view text, Pos base, Arena& arena, Diagnostics& diagnostics, ParseOptions options);

  ast::File* file(std::string_view name);
  ast::Node* single_expression();

 private:
  friend class Nesting;

  // declarations
  ast::Nodes declarations(Tok closing);
  ast::Node* declaration();
  ast::Node* field_or_embedding();
  ast::Node* field(ast::Node* label, std::string_view alias, Pos begin);
  void field_value(ast::Field& node);
  void postfix_alias(ast::Field& node);
  bool is_label(const ast::Node& node) const;
  void check_label(const ast::Field& node);
  void check_experiments(const ast::Attribute& attribute);
  bool at_field_colon();
  ast::Node* let_clause();
  ast::Attribute* attribute();
  void end_attribute();
  std::span<ast::Attribute* const> attributes();
  void package_clause(ast::File& file);
  void imports(ast::File& file);
  void import_spec(std::vector<ast::Import>& out);
  std::span<const std::string_view> doc_comment();
  bool end_of_declaration(Tok closing, std::string_view where);
  void skip_to_next_declaration(Tok closing);
  bool is_clause_start();
  ast::Node* comprehension();
  void fallback_clause(ast::Comprehension& node);
  bool clause(std::vector<ast::ClauseNode>& out);
  void for_clause(ast::ClauseNode& node);
  std::string_view binding_name(Pos& pos);

  // expressions
  ast::Node* expression() { return binary(1); }
  ast::Node* binary(int precedence);
  ast::Node* infix_division(ast::Node* left, std::string_view builtin, int level);
  ast::Node* unary();
  ast::Node* primary();
  ast::Node* operand();
  ast::Node* selector(ast::Node* base);
  ast::Node* index(ast::Node* base);
  ast::Node* call(ast::Node* function);
  ast::Node* paren();
  ast::Node* list();
  ast::Node* list_item();
  ast::Node* func_type();
  ast::Node* aliased_expression();
  ast::Struct* struct_literal();
  ast::Node* interpolation();
  ast::Node* bad();

  // tokens
  void advance();
  Token peek_token() const;
  Token peek_second() const;
  bool accept(Tok kind);
  bool expect(Tok kind);
  void error(Pos pos, std::string message);
  void error_expected(std::string_view what);
  std::string found() const;
  void check_reserved(std::string_view name, Pos pos);
  template <class T>
  T* make(ast::Kind kind, Pos pos) {
    T* node = arena_.make<T>();
    node->kind = kind;
    node->pos = pos;
    return node;
  }
  template <class T>
  T* finish(T* node) {
    node->end = last_end_;
    return node;
  }

  Arena& arena_;
  Diagnostics& diagnostics_;
  ParseOptions options_;
  std::vector<Comment> comments_;
  std::string_view text_;
  Pos base_;
  Scanner scanner_;
  Token token_;
  Pos last_end_ = 0;
  Pos last_error_ = 0;
  int depth_ = 0;
  bool too_deep_ = false;
  bool has_postfix_aliases_ = false;
};

/// Counts one level; false when the limit is passed (reported once).
class Nesting {
 public:
  explicit Nesting(Parser& parser);
  ~Nesting() { --parser_.depth_; }
  explicit operator bool() const { return is_fine_; }

 private:
  Parser& parser_;
  bool is_fine_;
};

}  // namespace slipway::cue
