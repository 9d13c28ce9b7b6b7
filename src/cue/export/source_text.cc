#include "cue/export/source_text.h"

#include "cue/eval/evaluator.h"
#include "cue/std/registry.h"
#include "cue/syntax/literal.h"

namespace slipway::cue {
namespace {

enum Strength : int { kLoosest = 0, kOr = 1, kAnd = 2, kUnary = 8, kPrimary = 9 };

int strength_of(Tok op) {
  std::string_view text = name(op);
  if (text == "||") return 3;
  if (text == "&&") return 4;
  if (text == "+" || text == "-") return 6;
  if (text == "*" || text == "/" || text == "div" || text == "mod" || text == "quo" || text == "rem") return 7;
  return 5;
}

class Source {
 public:
  Source(Evaluator& evaluator, std::set<std::string>& packages) : evaluator_(evaluator), packages_(packages) {}

  /// In parentheses where what stands around it binds stronger.
  std::string text(const ir::Expr& expr, int around) {
    if (++depth_ > 200) return "_";
    auto [out, strength] = parts(expr);
    --depth_;
    return strength < around ? "(" + out + ")" : out;
  }

 private:
  struct Text {
    std::string text;
    int strength;
  };

  Text parts(const ir::Expr& expr) {
    switch (expr.op) {
      case ir::Op::Constant: {
        const Value& value = ir::as<ir::Constant>(expr).value;
        bool is_set = value.tag == Value::Tag::Conjunction || value.tag == Value::Tag::Disjunction;
        return {constant(value), is_set ? kOr : value.tag == Value::Tag::Bound ? kUnary : kPrimary};
      }
      case ir::Op::Struct:
        return {structure(ir::as<ir::Struct>(expr)), kPrimary};
      case ir::Op::List:
        return {list(ir::as<ir::List>(expr)), kPrimary};
      case ir::Op::FieldRef:
      case ir::Op::LetRef:
      case ir::Op::LabelRef:
      case ir::Op::NodeRef:
      case ir::Op::DynamicRef:
        return {named(ir::as<ir::Ref>(expr)), kPrimary};
      case ir::Op::Import:
        return {evaluator_.program().instances[ir::as<ir::Import>(expr).instance].name, kPrimary};
      case ir::Op::Selector: {
        const auto& selector = ir::as<ir::Selector>(expr);
        return {text(*selector.base, kPrimary) + "." + evaluator_.labels().describe(selector.label), kPrimary};
      }
      case ir::Op::Index: {
        const auto& index = ir::as<ir::Index>(expr);
        return {text(*index.base, kPrimary) + "[" + text(*index.index, kLoosest) + "]", kPrimary};
      }
      case ir::Op::Unary: {
        const auto& unary = ir::as<ir::Unary>(expr);
        return {std::string(name(unary.kind)) + text(*unary.operand, kUnary), kUnary};
      }
      case ir::Op::Binary: {
        const auto& binary = ir::as<ir::Binary>(expr);
        int strength = strength_of(binary.kind);
        return {text(*binary.left, strength) + " " + std::string(name(binary.kind)) + " " + text(*binary.right, strength + 1),
                strength};
      }
      case ir::Op::And:
        return {joined(ir::as<ir::And>(expr).parts, " & ", kAnd), kAnd};
      case ir::Op::Or:
        return {alternatives(ir::as<ir::Or>(expr)), kOr};
      case ir::Op::Interpolation:
        return {interpolation(ir::as<ir::Interpolation>(expr)), kPrimary};
      case ir::Op::Call: {
        const auto& call = ir::as<ir::Call>(expr);
        return {text(*call.function, kPrimary) + "(" + joined(call.args, ", ", kLoosest) + ")", kPrimary};
      }
      case ir::Op::Bound: {
        const auto& bound = ir::as<ir::Bound>(expr);
        return {std::string(name(bound.kind)) + text(*bound.operand, kUnary), kUnary};
      }
      case ir::Op::Comprehension:
        return {comprehension(ir::as<ir::Comprehension>(expr)), kPrimary};
      case ir::Op::Presence: {
        const auto& presence = ir::as<ir::Presence>(expr);
        return {text(*presence.ref, 6) + (presence.wants_present ? " != _|_" : " == _|_"), 5};
      }
    }
    return {"_", kPrimary};
  }

  std::string constant(const Value& value) {
    if (value.tag != Value::Tag::Builtin || value.builtin->package.empty()) return evaluator_.show(value);
    std::string_view path = value.builtin->package;
    packages_.insert(std::string(path));
    return std::string(path.substr(path.rfind('/') + 1)) + "." + std::string(value.builtin->name);
  }

  std::string named(const ir::Ref& ref) {
    return ref.name.empty() ? evaluator_.labels().describe(ref.label) : std::string(ref.name);
  }

  std::string joined(std::span<const ir::Expr* const> all, std::string_view between, int around) {
    std::string out;
    for (const ir::Expr* one : all) out += (out.empty() ? "" : std::string(between)) + text(*one, around);
    return out;
  }

  std::string alternatives(const ir::Or& expr) {
    std::string out;
    for (const ir::Disjunct& one : expr.parts)
      out += (out.empty() ? "" : " | ") + std::string(one.is_default ? "*" : "") + text(*one.value, kAnd);
    return out;
  }

  std::string interpolation(const ir::Interpolation& expr) {
    std::string mark = expr.is_bytes ? "'" : "\"";
    std::string out = mark;
    for (const ir::Expr* one : expr.parts) {
      const Value* value = one->op == ir::Op::Constant ? &ir::as<ir::Constant>(*one).value : nullptr;
      if (value != nullptr && (value->tag == Value::Tag::String || value->tag == Value::Tag::Bytes)) {
        std::string quoted = expr.is_bytes ? quote_bytes(value->str()) : quote(value->str());
        out += quoted.substr(1, quoted.size() - 2);
      } else {
        out += "\\(" + text(*one, kLoosest) + ")";
      }
    }
    return out + mark;
  }

  std::string list(const ir::List& expr) {
    std::string out = joined(expr.items, ", ", kLoosest);
    if (expr.rest == nullptr) return "[" + out + "]";
    std::string rest = text(*expr.rest, kLoosest);
    return "[" + out + (out.empty() ? "" : ", ") + "..." + (rest == "_" ? "" : rest) + "]";
  }

  std::string structure(const ir::Struct& expr) {
    std::string out;
    for (const ir::Decl& decl : expr.decls) out += (out.empty() ? "" : ", ") + declaration(decl);
    if (expr.has_ellipsis) out += out.empty() ? "..." : ", ...";
    return "{" + out + "}";
  }

  std::string declaration(const ir::Decl& decl) {
    std::string mark = decl.mark == ast::Mark::Optional ? "?" : decl.mark == ast::Mark::Required ? "!" : "";
    switch (decl.kind) {
      case ir::DeclKind::Field:
        return evaluator_.labels().describe(decl.label) + mark + ": " + text(*decl.value, kLoosest);
      case ir::DeclKind::Dynamic:
        return (decl.name->op == ir::Op::Interpolation ? text(*decl.name, kLoosest) : "(" + text(*decl.name, kLoosest) + ")") +
               mark + ": " + text(*decl.value, kLoosest);
      case ir::DeclKind::Pattern:
        return "[" + text(*decl.name, kLoosest) + "]: " + text(*decl.value, kLoosest);
      case ir::DeclKind::Embed:
      case ir::DeclKind::Comprehension:
        return text(*decl.value, kLoosest);
    }
    return "";
  }

  std::string comprehension(const ir::Comprehension& expr) {
    std::string out;
    for (const ir::Clause& clause : expr.clauses) {
      std::string value = clause.value.is_none() ? "_" : evaluator_.labels().describe(clause.value);
      if (clause.kind == ast::Clause::For) {
        out += "for " + (clause.key.is_none() ? "" : evaluator_.labels().describe(clause.key) + ", ") + value + " in ";
      } else {
        out += clause.kind == ast::Clause::If ? "if " : "let " + value + " = ";
      }
      out += text(*clause.expr, kLoosest) + " ";
    }
    return out + text(*expr.body, kLoosest);
  }

  Evaluator& evaluator_;
  std::set<std::string>& packages_;
  int depth_ = 0;
};

}  // namespace

std::string source_text(Evaluator& evaluator, const ir::Expr& expr, std::set<std::string>& packages) {
  return Source(evaluator, packages).text(expr, kLoosest);
}

}  // namespace slipway::cue
