// Programs written in another order: the fields of each struct and the operands of each "&" in a random one. Disjuncts, items
// of lists, clauses of comprehensions and what stands inside a string stay where they are: their order says something.
#pragma once

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cue/compile/program.h"
#include "cue/syntax/parser.h"

namespace slipway::cue::testing {

class Shuffler {
 public:
  Shuffler(const SourceText& source, std::uint32_t seed) : source_(source), random_(seed) {
    begin_ = sources_.add(source.name, source.text);
    file_ = parse_file(source.name, source.text, begin_, arena_, diagnostics_);
  }

  SourceText shuffled() {
    if (!diagnostics_.empty() || file_->decls.empty()) return source_;
    return {source_.name, text(begin_, file_->decls.front()->pos) + declarations(file_->decls)};
  }

 private:
  std::string text(Pos from, Pos to) const { return source_.text.substr(from - begin_, to - from); }

  std::string declarations(ast::Nodes decls) {
    std::vector<std::string> lines;
    std::string out;  // attributes may say how the rest is to be read
    std::string last;
    for (const ast::Node* one : decls) {
      if (one->kind == ast::Kind::Attribute) {
        out += emit(one) + "\n";
      } else if (one->kind == ast::Kind::Ellipsis) {
        last = emit(one) + "\n";
      } else {
        lines.push_back(emit(one) + "\n");
      }
    }
    std::shuffle(lines.begin(), lines.end(), random_);
    for (const std::string& line : lines) out += line;
    return out + last;
  }

  static void operands(const ast::Node* node, std::vector<const ast::Node*>& out) {
    const bool is_meet = node->kind == ast::Kind::Binary && ast::as<ast::Binary>(*node).op == Tok::And;
    if (!is_meet) return out.push_back(node);
    operands(ast::as<ast::Binary>(*node).left, out);
    operands(ast::as<ast::Binary>(*node).right, out);
  }

  std::string emit(const ast::Node* node) {
    if (node->kind == ast::Kind::Struct && ast::as<ast::Struct>(*node).is_braced)
      return "{\n" + declarations(ast::as<ast::Struct>(*node).decls) + "}";
    std::vector<const ast::Node*> meet;
    operands(node, meet);
    if (meet.size() > 1) {
      std::shuffle(meet.begin(), meet.end(), random_);
      std::string out;
      for (const ast::Node* one : meet) out += (out.empty() ? "" : " & ") + emit(one);
      return out;
    }
    std::string out;
    Pos at = node->pos;
    for (const ast::Node* child : children(*node)) {
      if (child == nullptr || child->pos < at) continue;
      out += text(at, child->pos) + emit(child);
      at = child->end;
    }
    return out + text(at, node->end);
  }

  // Those in which something may stand in another order.
  static std::vector<const ast::Node*> children(const ast::Node& node) {
    std::vector<const ast::Node*> out;
    auto all = [&out](ast::Nodes nodes) { out.insert(out.end(), nodes.begin(), nodes.end()); };
    switch (node.kind) {
      case ast::Kind::Struct:
        all(ast::as<ast::Struct>(node).decls);
        break;
      case ast::Kind::List:
        all(ast::as<ast::List>(node).items);
        break;
      case ast::Kind::Ellipsis:
        out = {ast::as<ast::Ellipsis>(node).type};
        break;
      case ast::Kind::Selector:
        out = {ast::as<ast::Selector>(node).base};
        break;
      case ast::Kind::Index:
        out = {ast::as<ast::Index>(node).base, ast::as<ast::Index>(node).index};
        break;
      case ast::Kind::Call:
        out = {ast::as<ast::Call>(node).function};
        all(ast::as<ast::Call>(node).args);
        break;
      case ast::Kind::Unary:
        out = {ast::as<ast::Unary>(node).operand};
        break;
      case ast::Kind::Binary:
        out = {ast::as<ast::Binary>(node).left, ast::as<ast::Binary>(node).right};
        break;
      case ast::Kind::Paren:
        out = {ast::as<ast::Paren>(node).inner};
        break;
      case ast::Kind::Alias:
        out = {ast::as<ast::Alias>(node).expr};
        break;
      case ast::Kind::Comprehension:
        for (const ast::ClauseNode& clause : ast::as<ast::Comprehension>(node).clauses) out.push_back(clause.expr);
        out.push_back(ast::as<ast::Comprehension>(node).body);
        break;
      case ast::Kind::Field:
        out = {ast::as<ast::Field>(node).value};
        break;
      case ast::Kind::Let:
        out = {ast::as<ast::Let>(node).expr};
        break;
      case ast::Kind::Bad:
      case ast::Kind::Ident:
      case ast::Kind::Literal:
      case ast::Kind::Interpolation:
      case ast::Kind::Bottom:
      case ast::Kind::Slice:
      case ast::Kind::FuncType:
      case ast::Kind::Postfix:
      case ast::Kind::Attribute:
        break;
    }
    return out;
  }

  const SourceText& source_;
  std::mt19937 random_;
  Arena arena_;
  Diagnostics diagnostics_;
  SourceMap sources_;
  Pos begin_ = 0;
  ast::File* file_ = nullptr;
};

}  // namespace slipway::cue::testing
