#include "delivery/workflow/condition.h"

#include <fmt/format.h>

#include <algorithm>

#include "cue/syntax/parser.h"
#include "delivery/workflow/evaluation.h"

namespace slipway::delivery::workflow {
namespace {

namespace ast = cue::ast;

/// Gathers the names that an expression reads.
class References {
 public:
  std::vector<Reference> found;

  void walk(const ast::Node* node) {
    if (node == nullptr) return;
    if (Reference chain; read_chain(*node, chain)) {
      found.push_back(std::move(chain));
      return;
    }
    walk_into(*node);
  }

 private:
  void walk_all(ast::Nodes nodes) {
    for (const ast::Node* one : nodes) walk(one);
  }

  void walk_into(const ast::Node& node) {
    switch (node.kind) {
      case ast::Kind::Interpolation:
        return walk_all(ast::as<ast::Interpolation>(node).parts);
      case ast::Kind::Struct:
        return walk_all(ast::as<ast::Struct>(node).decls);
      case ast::Kind::List:
        return walk_all(ast::as<ast::List>(node).items);
      case ast::Kind::Selector:
        return walk(ast::as<ast::Selector>(node).base);
      case ast::Kind::Index:
        walk(ast::as<ast::Index>(node).base);
        return walk(ast::as<ast::Index>(node).index);
      case ast::Kind::Call:
        walk(ast::as<ast::Call>(node).function);
        return walk_all(ast::as<ast::Call>(node).args);
      case ast::Kind::Unary:
        return walk(ast::as<ast::Unary>(node).operand);
      case ast::Kind::Binary:
        walk(ast::as<ast::Binary>(node).left);
        return walk(ast::as<ast::Binary>(node).right);
      case ast::Kind::Paren:
        return walk(ast::as<ast::Paren>(node).inner);
      case ast::Kind::Comprehension:
        for (const ast::ClauseNode& clause : ast::as<ast::Comprehension>(node).clauses) walk(clause.expr);
        return walk(ast::as<ast::Comprehension>(node).body);
      case ast::Kind::Field:
        return walk(ast::as<ast::Field>(node).value);
      case ast::Kind::Let:
        return walk(ast::as<ast::Let>(node).expr);
      case ast::Kind::Bad:
      case ast::Kind::Ident:
      case ast::Kind::Literal:
      case ast::Kind::Bottom:
      case ast::Kind::Ellipsis:
      case ast::Kind::Slice:
      case ast::Kind::Alias:
      case ast::Kind::FuncType:
      case ast::Kind::Postfix:
      case ast::Kind::Attribute:
        return;
    }
  }

  /// `a.b["c"]`; false for anything else.
  static bool read_chain(const ast::Node& node, Reference& chain) {
    if (node.kind == ast::Kind::Ident) {
      chain.emplace_back(ast::as<ast::Ident>(node).name);
      return true;
    }
    if (node.kind == ast::Kind::Selector) {
      const auto& selector = ast::as<ast::Selector>(node);
      return read_chain(*selector.base, chain) && read_name(*selector.name, chain);
    }
    if (node.kind != ast::Kind::Index) return false;
    const auto& index = ast::as<ast::Index>(node);
    return index.index->kind == ast::Kind::Literal && read_chain(*index.base, chain) && read_name(*index.index, chain);
  }
  static bool read_name(const ast::Node& node, Reference& chain) {
    if (node.kind == ast::Kind::Ident) {
      chain.emplace_back(ast::as<ast::Ident>(node).name);
      return true;
    }
    std::string_view text = ast::as<ast::Literal>(node).text;
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
      chain.emplace_back(text);
    } else {
      chain.emplace_back(text.substr(1, text.size() - 2));
    }
    return true;
  }
};

std::string listed(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& step : steps) text += (text.empty() ? "" : ", ") + step;
  return text;
}

std::string syntax_fault(const std::string& expression) {
  const std::string text = program_of(expression);
  cue::Arena arena;
  cue::Diagnostics diagnostics;
  cue::parse_file("if", text, 1, arena, diagnostics);
  return diagnostics.empty() ? "" : diagnostics.front().message;
}

}  // namespace

std::vector<Reference> references_of(const std::string& expression) {
  const std::string text = program_of(expression);
  cue::Arena arena;
  cue::Diagnostics diagnostics;
  const ast::File* file = cue::parse_file("if", text, 1, arena, diagnostics);
  if (file == nullptr || !diagnostics.empty()) return {};
  References references;
  for (const ast::Node* one : file->decls) references.walk(one);
  return std::move(references.found);
}

std::string step_read_by(const Reference& reference) {
  const std::string& first = reference.front();
  if (first == "status" || first == "steps") return reference.size() > 1 ? reference[1] : "";
  return std::ranges::find(kReservedNames, first) == std::end(kReservedNames) ? first : "";
}

std::string condition_fault(const std::string& expression, const std::vector<std::string>& steps) {
  if (std::string fault = syntax_fault(expression); !fault.empty()) return fault;
  std::vector<std::string> names(std::begin(kReservedNames), std::end(kReservedNames));
  names.insert(names.end(), steps.begin(), steps.end());
  if (std::string fault = expression_fault(expression, names); !fault.empty()) {
    return fmt::format("{}: a condition names steps ({}), or status, steps, inputs, context and parameter", fault,
                       listed(steps));
  }
  for (const Reference& reference : references_of(expression)) {
    if (reference.size() < 2 || (reference[0] != "status" && reference[0] != "steps")) continue;
    if (std::ranges::find(steps, reference[1]) != steps.end()) continue;
    return fmt::format("{}.{}: the workflow has no step {}; its steps are {}", reference[0], reference[1], reference[1],
                       listed(steps));
  }
  return "";
}

std::expected<bool, std::string> evaluate_condition(const std::string& expression, const std::map<std::string, Value>& names,
                                                    const cue::Limits& limits) {
  auto value = run_expression(expression, names, limits);
  if (!value) return std::unexpected(value.error());
  if (!value->is_bool()) return std::unexpected("it is not true or false");
  return value->as_bool();
}

}  // namespace slipway::delivery::workflow
