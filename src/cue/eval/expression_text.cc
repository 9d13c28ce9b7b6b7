#include "cue/eval/expression_text.h"

#include <fmt/format.h>

#include "cue/eval/evaluator.h"
#include "cue/syntax/literal.h"

// References are few of many kinds.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {

constexpr int kDeepest = 20;  // more would not be read

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? std::string(between) : "") + parts[i];
  return out;
}

std::string_view mark_text(ast::Mark mark) {
  return mark == ast::Mark::Optional ? "?" : mark == ast::Mark::Required ? "!" : "";
}

std::string expression_text(Evaluator& evaluator, const ir::Expr& expr, int depth);

std::string declaration_text(Evaluator& evaluator, const ir::Decl& decl, int depth) {
  switch (decl.kind) {
    case ir::DeclKind::Field:
      return fmt::format("{}{}:{}", evaluator.labels().describe(decl.label), mark_text(decl.mark),
                         expression_text(evaluator, *decl.value, depth));
    case ir::DeclKind::Dynamic:
      return fmt::format("{}{}:{}", expression_text(evaluator, *decl.name, depth), mark_text(decl.mark),
                         expression_text(evaluator, *decl.value, depth));
    case ir::DeclKind::Pattern:
      return fmt::format("[{}]:{}", expression_text(evaluator, *decl.name, depth),
                         expression_text(evaluator, *decl.value, depth));
    case ir::DeclKind::Embed:
    case ir::DeclKind::Comprehension:
      break;
  }
  return expression_text(evaluator, *decl.value, depth);
}

std::string clause_text(Evaluator& evaluator, const ir::Clause& clause, int depth) {
  std::string expr = clause.expr == nullptr ? "" : expression_text(evaluator, *clause.expr, depth);
  switch (clause.kind) {
    case ast::Clause::For: {
      std::string_view key = clause.key.is_none() ? "_" : evaluator.labels().text(clause.key);
      return fmt::format("for {}, {} in {}", key, evaluator.labels().text(clause.value), expr);
    }
    case ast::Clause::If:
      return "if " + expr;
    case ast::Clause::Let:
      return fmt::format("let {}={}", evaluator.labels().text(clause.value), expr);
    case ast::Clause::Try:
      break;
  }
  return "try " + expr;
}

std::string struct_text(Evaluator& evaluator, const ir::Struct& object, int depth) {
  std::vector<std::string> parts;
  for (const ir::Decl& decl : object.decls) parts.push_back(declaration_text(evaluator, decl, depth));
  if (object.has_ellipsis) parts.emplace_back("...");
  return "{" + joined(parts, ",") + "}";
}

std::string list_text(Evaluator& evaluator, const ir::List& list, int depth) {
  std::vector<std::string> parts;
  for (const ir::Expr* item : list.items) parts.push_back(expression_text(evaluator, *item, depth));
  if (list.rest != nullptr) {
    std::string rest = expression_text(evaluator, *list.rest, depth);
    parts.push_back("..." + (rest == "_" ? "" : rest));
  }
  return "[" + joined(parts, ",") + "]";
}

std::string reference_text(Evaluator& evaluator, const ir::Expr& expr, int depth) {
  switch (expr.op) {
    case ir::Op::Selector: {
      const auto& selector = ir::as<ir::Selector>(expr);
      return expression_text(evaluator, *selector.base, depth) + "." + evaluator.labels().describe(selector.label);
    }
    case ir::Op::Index: {
      const auto& index = ir::as<ir::Index>(expr);
      return fmt::format("{}[{}]", expression_text(evaluator, *index.base, depth),
                         expression_text(evaluator, *index.index, depth));
    }
    case ir::Op::Import: {
      std::string_view path = evaluator.program().instances[ir::as<ir::Import>(expr).instance].path;
      return std::string(path.substr(path.rfind('/') + 1));
    }
    default: {
      const auto& ref = ir::as<ir::Ref>(expr);
      return std::string(!ref.name.empty() ? ref.name : ref.label.is_none() ? "_" : evaluator.labels().text(ref.label));
    }
  }
}

std::string expression_text(Evaluator& evaluator, const ir::Expr& expr, int depth) {
  if (depth >= kDeepest) return "…";
  auto text = [&](const ir::Expr* part) { return expression_text(evaluator, *part, depth + 1); };
  std::vector<std::string> parts;
  switch (expr.op) {
    case ir::Op::Constant:
      return evaluator.show(ir::as<ir::Constant>(expr).value);
    case ir::Op::Struct:
      return struct_text(evaluator, ir::as<ir::Struct>(expr), depth + 1);
    case ir::Op::List:
      return list_text(evaluator, ir::as<ir::List>(expr), depth + 1);
    case ir::Op::FieldRef:
    case ir::Op::LetRef:
    case ir::Op::LabelRef:
    case ir::Op::NodeRef:
    case ir::Op::DynamicRef:
    case ir::Op::Import:
    case ir::Op::Selector:
    case ir::Op::Index:
      return reference_text(evaluator, expr, depth + 1);
    case ir::Op::Unary:
      return std::string(name(ir::as<ir::Unary>(expr).kind)) + text(ir::as<ir::Unary>(expr).operand);
    case ir::Op::Binary: {
      const auto& binary = ir::as<ir::Binary>(expr);
      return fmt::format("({} {} {})", text(binary.left), name(binary.kind), text(binary.right));
    }
    case ir::Op::And: {
      const auto& all = ir::as<ir::And>(expr);
      std::string out = text(all.parts[0]);
      for (std::size_t i = 1; i < all.parts.size(); ++i) out = fmt::format("({} & {})", out, text(all.parts[i]));
      return out;
    }
    case ir::Op::Or:
      for (const ir::Disjunct& one : ir::as<ir::Or>(expr).parts) parts.push_back((one.is_default ? "*" : "") + text(one.value));
      return "(" + joined(parts, "|") + ")";
    case ir::Op::Interpolation: {
      std::string out;
      for (const ir::Expr* part : ir::as<ir::Interpolation>(expr).parts) {
        bool is_text = part->op == ir::Op::Constant && ir::as<ir::Constant>(*part).value.tag == Value::Tag::String;
        out += is_text ? std::string(ir::as<ir::Constant>(*part).value.str()) : "\\(" + text(part) + ")";
      }
      return "\"" + out + "\"";
    }
    case ir::Op::Call:
      for (const ir::Expr* arg : ir::as<ir::Call>(expr).args) parts.push_back(text(arg));
      return text(ir::as<ir::Call>(expr).function) + "(" + joined(parts, ", ") + ")";
    case ir::Op::Bound:
      return std::string(name(ir::as<ir::Bound>(expr).kind)) + text(ir::as<ir::Bound>(expr).operand);
    case ir::Op::Comprehension: {
      const auto& comprehension = ir::as<ir::Comprehension>(expr);
      for (const ir::Clause& one : comprehension.clauses) parts.push_back(clause_text(evaluator, one, depth + 1));
      return joined(parts, " ") + " " + text(comprehension.body);
    }
    case ir::Op::Presence: {
      const auto& presence = ir::as<ir::Presence>(expr);
      return fmt::format("({} {} _|_)", text(presence.ref), presence.wants_present ? "!=" : "==");
    }
  }
  return "_";
}

}  // namespace

std::string expression_text(Evaluator& evaluator, const ir::Expr& expr) { return expression_text(evaluator, expr, 0); }

}  // namespace slipway::cue
