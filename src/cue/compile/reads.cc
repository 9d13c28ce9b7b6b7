#include "cue/compile/reads.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

namespace slipway::cue {

using ir::as;
using ir::Expr;
using ir::Op;

/// Goes through the compiled expressions. Fields of the name in other scopes count as the hole: that adds to what is read,
/// never takes away.
class ReadsWalk {
 public:
  ReadsWalk(const ProgramData& program, Label hole, Reads::Part& root) : program_(program), hole_(hole), root_(root) {}

  void walk(const Expr* expr) {
    if (expr == nullptr || root_.is_all || read_chain(*expr) || !seen_.insert(expr).second) return;
    if (depth_ == kMaxDepth) {
      root_.is_all = true;
      return;
    }
    ++depth_;
    walk_into(expr);
    --depth_;
  }

 private:
  static constexpr int kMaxDepth = 200;

  void walk_into(const Expr* expr) {
    switch (expr->op) {
      case Op::Constant:
      case Op::FieldRef:
      case Op::LabelRef:
        return;
      case Op::NodeRef:
      case Op::DynamicRef:
      case Op::Import:
        root_.is_all = true;
        return;
      case Op::LetRef:
        return walk(as<ir::Ref>(*expr).value);
      case Op::Struct:
        for (const ir::Decl& one : as<ir::Struct>(*expr).decls) walk(one);
        return;
      case Op::List:
        walk(as<ir::List>(*expr).items);
        return walk(as<ir::List>(*expr).rest);
      case Op::Selector:
        return walk(as<ir::Selector>(*expr).base);
      case Op::Index:
        walk(as<ir::Index>(*expr).base);
        return walk(as<ir::Index>(*expr).index);
      case Op::Unary:
        return walk(as<ir::Unary>(*expr).operand);
      case Op::Binary:
        walk(as<ir::Binary>(*expr).left);
        return walk(as<ir::Binary>(*expr).right);
      case Op::And:
        return walk(as<ir::And>(*expr).parts);
      case Op::Or:
        for (const ir::Disjunct& one : as<ir::Or>(*expr).parts) walk(one.value);
        return;
      case Op::Interpolation:
        return walk(as<ir::Interpolation>(*expr).parts);
      case Op::Call:
        walk(as<ir::Call>(*expr).function);
        return walk(as<ir::Call>(*expr).args);
      case Op::Bound:
        return walk(as<ir::Bound>(*expr).operand);
      case Op::Comprehension:
        return walk(as<ir::Comprehension>(*expr));
      case Op::Presence:
        if (!read_chain(*as<ir::Presence>(*expr).ref, false)) walk(as<ir::Presence>(*expr).ref);
        return;
    }
  }

  void walk(std::span<const Expr* const> several) {
    for (const Expr* one : several) walk(one);
  }

  void walk(const ir::Decl& decl) {
    if (decl.label == hole_ || names_of(decl.label) != nullptr) root_.is_all = true;
    walk(decl.name);
    walk(decl.value);
  }

  void walk(const ir::Comprehension& comprehension) {
    const std::size_t before = loops_.size();
    for (const ir::Clause& one : comprehension.clauses) {
      walk(one.expr);
      if (auto names = texts_in(one)) loops_.push_back({one.value, *std::move(names)});
    }
    walk(comprehension.body);
    loops_.resize(before);
  }

  /// The texts that a clause `for x in ["a", "b"]` goes through.
  static std::optional<std::vector<std::string>> texts_in(const ir::Clause& clause) {
    if (clause.kind != ast::Clause::For || clause.value.is_none() || clause.expr->op != Op::List) return std::nullopt;
    const auto& list = as<ir::List>(*clause.expr);
    std::vector<std::string> texts;
    for (const Expr* one : list.items) {
      if (one->op != Op::Constant || as<ir::Constant>(*one).value.tag != Value::Tag::String) return std::nullopt;
      texts.emplace_back(as<ir::Constant>(*one).value.str());
    }
    return list.rest == nullptr ? std::optional(texts) : std::nullopt;
  }

  /// What the variable of a loop around this place may be; null when there is none of that label.
  const std::vector<std::string>* names_of(Label label) const {
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (loop->label == label) return &loop->names;
    }
    return nullptr;
  }

  /// True for the hole and for what is selected from it: its path then is read, with all below or only that it is there. What
  /// an index is computed from is walked.
  bool read_chain(const Expr& expr, bool with_all = true) {
    std::vector<std::vector<std::string>> names;  // the last first; each what it may be
    const Expr* at = &expr;
    for (; at->op == Op::Selector || at->op == Op::Index; at = base_of(*at)) {
      if (auto name = names_in(*at); !name.empty()) {
        names.push_back(std::move(name));
        continue;
      }
      names.clear();
      with_all = true;
      if (at->op == Op::Index) walk(as<ir::Index>(*at).index);
    }
    if (at->op != Op::FieldRef || as<ir::Ref>(*at).label != hole_) return false;
    std::vector<Reads::Part*> parts = {&root_};
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      std::vector<Reads::Part*> below;
      for (Reads::Part* part : parts) {
        if (part->is_all) continue;
        for (const std::string& one : *name) below.push_back(&part->below[one]);
      }
      parts = std::move(below);
    }
    for (Reads::Part* part : parts) part->is_all = part->is_all || with_all;
    return true;
  }

  static const Expr* base_of(const Expr& expr) {
    return expr.op == Op::Selector ? as<ir::Selector>(expr).base : as<ir::Index>(expr).base;
  }

  /// The regular fields that a selector, or an index that is a text or goes through some, may ask for. Empty: any.
  std::vector<std::string> names_in(const Expr& expr) const {
    if (expr.op == Op::Selector) {
      const Label label = as<ir::Selector>(expr).label;
      if (!label.is_regular()) return {};
      return {std::string(program_.labels.text(label))};
    }
    const Expr& index = *as<ir::Index>(expr).index;
    if (index.op == Op::FieldRef) {
      const auto* names = names_of(as<ir::Ref>(index).label);
      return names == nullptr ? std::vector<std::string>() : *names;
    }
    if (index.op != Op::Constant || as<ir::Constant>(index).value.tag != Value::Tag::String) return {};
    return {std::string(as<ir::Constant>(index).value.str())};
  }

  const ProgramData& program_;
  Label hole_;
  Reads::Part& root_;
  struct Loop {
    Label label;
    std::vector<std::string> names;
  };
  std::vector<Loop> loops_;  // around the place that is walked, the inner ones last
  std::unordered_set<const Expr*> seen_;
  int depth_ = 0;
};

namespace {

/// Whether something at the top might be laid over every field, the hole among them, or comes from elsewhere.
bool may_be_laid_over(const Expr& top) {
  if (top.op == Op::Comprehension) return may_be_laid_over(*as<ir::Comprehension>(top).body);
  if (top.op != Op::Struct) return true;
  return std::ranges::any_of(as<ir::Struct>(top).decls, [](const ir::Decl& one) {
    switch (one.kind) {
      case ir::DeclKind::Field:
        return false;
      case ir::DeclKind::Dynamic:
      case ir::DeclKind::Pattern:
        return true;
      case ir::DeclKind::Embed:
      case ir::DeclKind::Comprehension:
        return may_be_laid_over(*one.value);
    }
    return true;
  });
}

}  // namespace

Reads::Reads(const ProgramData& program, std::string_view hole) {
  const Label label = program.labels.find(hole, LabelKind::Regular);
  if (label.is_none()) return;  // no name in it is the hole's
  root_.is_all = program.instances.size() != 1;
  ReadsWalk walk(program, label, root_);
  for (const ir::Struct* file : program.instances[0].files) {
    root_.is_all = root_.is_all || may_be_laid_over(*file);
    walk.walk(file);
  }
}

json::Value Reads::part_of(const Part& part, const json::Value& data) {
  if (part.is_all || !data.is_object()) return data;
  json::ObjectBuilder read;
  for (const auto& [name, below] : part.below) {
    if (data.has(name)) read.add(name, part_of(below, data[name]));
  }
  return read.build();
}

}  // namespace slipway::cue
