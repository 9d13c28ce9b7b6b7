#include "cel/estimate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

namespace slipway::cel {
namespace {

using Cost = std::uint64_t;
using Size = std::uint64_t;

constexpr Size kUnknown = UINT64_MAX;
constexpr double kCharacter = 0.1;        // of a text that is read
constexpr double kRegexCharacter = 0.25;  // of a pattern
constexpr Cost kList = 10;
constexpr Cost kMap = 30;
constexpr Cost kStruct = 40;

/// `size` times `factor`, rounded up.
Cost times(Size size, double factor) {
  const double product = std::ceil(static_cast<double>(size) * factor);
  return product >= 0x1p64 ? kUnboundedCost : static_cast<Cost>(product);
}

bool is_scalar(const Type& type) {
  switch (type.kind) {
    case Kind::Bool:
    case Kind::Int:
    case Kind::Uint:
    case Kind::Double:
    case Kind::Timestamp:
    case Kind::Duration:
      return true;
    case Kind::Optional:
      return !type.params.empty() && is_scalar(*type.params[0]);
    case Kind::Dyn:
    case Kind::Null:
    case Kind::String:
    case Kind::Bytes:
    case Kind::List:
    case Kind::Map:
    case Kind::Object:
    case Kind::Type:
    case Kind::Opaque:
    case Kind::Var:
    case Kind::Error:
      break;
  }
  return false;
}

bool is_text(Kind kind) { return kind == Kind::String || kind == Kind::Bytes; }

class Estimator {
 public:
  explicit Estimator(TypePtr self) : self_(std::move(self)) {}

  Cost cost(const Expr& expr) {
    switch (expr.form) {
      case Form::Constant:
        return 0;
      case Form::Ident:
        return 1;
      case Form::Select:
        return cost_of_select(expr);
      case Form::Call:
        return cost_of_call(expr);
      case Form::List:
        return cost_sum(cost_of_all(expr), kList);
      case Form::Map:
        return cost_sum(cost_of_all(expr), kMap);
      case Form::Struct:
        return cost_sum(cost_of_all(expr), kStruct);
      case Form::Macro:
        return cost_of_macro(expr);
    }
    return 0;
  }

 private:
  using Operands = std::vector<const Expr*>;
  using CostOf = Cost (*)(Estimator&, const Operands&);
  using SizeOf = Size (*)(Estimator&, const Operands&);
  /// What a function costs beyond its operands, and how large its result is.
  struct Rule {
    CostOf cost;
    SizeOf size = nullptr;
  };
  struct Local {
    std::string name;
    TypePtr type;  // null: it is not a part of a variable
    Size size = kUnknown;
  };

  // Types and sizes.

  /// The declared type of what is reached from a variable by fields and indexes; null for everything else.
  TypePtr declared(const Expr& expr) const {
    if (expr.form == Form::Ident) {
      if (const Local* local = find(expr.name)) return local->type;
      return expr.name == "self" && self_ ? self_ : expr.type;
    }
    if (expr.form == Form::Select && !expr.is_test && !expr.is_optional_select) {
      const TypePtr target = declared(*expr.target);
      if (target == nullptr) return nullptr;
      if (target->kind == Kind::Map && target->params.size() == 2) return target->params[1];
      const Field* field = field_of(*target, expr.name);
      return field == nullptr ? nullptr : field->type;
    }
    if (expr.form == Form::Call && expr.name == "_[_]" && !expr.args.empty()) {
      const TypePtr target = declared(*expr.args[0]);
      return target == nullptr || target->params.empty() ? nullptr : target->params.back();
    }
    return nullptr;
  }

  const Local* find(std::string_view name) const {
    const auto found = std::find_if(locals_.rbegin(), locals_.rend(), [&](const Local& local) { return local.name == name; });
    return found == locals_.rend() ? nullptr : &*found;
  }

  Kind kind(const Expr& expr) const {
    const TypePtr type = declared(expr);
    if (type != nullptr) return type->kind;
    return expr.type == nullptr ? Kind::Dyn : expr.type->kind;
  }

  /// A part of a variable that is no text, list or map has no size.
  static Size size_of(const Type& type) {
    return type.max_size.value_or(is_text(type.kind) || type.kind == Kind::Dyn ? kUnknown : 0);
  }

  Size size(const Expr& expr) {
    if (expr.form == Form::Constant) {
      if (expr.constant.is(Kind::String)) return character_count(expr.constant.text());
      return expr.constant.is(Kind::Bytes) ? expr.constant.text().size() : 1;
    }
    if (expr.form == Form::List) return expr.args.size();
    if (expr.form == Form::Map) return expr.args.size() / 2;
    if (expr.form == Form::Macro) return size_of_macro(expr);
    if (const TypePtr type = declared(expr)) return size_of(*type);
    if (expr.form == Form::Call) {
      const auto rule = rules().find(expr.name);
      if (rule != rules().end() && rule->second.size != nullptr) return rule->second.size(*this, operands(expr));
    }
    if (expr.form == Form::Ident) {
      if (const Local* local = find(expr.name)) return local->size;
    }
    if (expr.type != nullptr && is_scalar(*expr.type)) return 1;
    return expr.type != nullptr && expr.type->max_size ? *expr.type->max_size : kUnknown;
  }

  Size size_of_macro(const Expr& expr) {
    switch (expr.macro) {
      case Macro::All:
      case Macro::Exists:
      case Macro::ExistsOne:
        return 1;
      case Macro::Map:
      case Macro::Filter:
      case Macro::TransformList:
      case Macro::TransformMap:
      case Macro::TransformMapEntry:
      case Macro::SortBy:
        return size(*expr.target);
      case Macro::OptMap:
      case Macro::OptFlatMap:
        break;
    }
    return kUnknown;
  }

  /// Of the items of a list that the expression itself makes.
  std::optional<Size> size_of_items(const Expr& expr) {
    if (expr.form == Form::List) {
      Size most = 0;
      for (const ExprPtr& item : expr.args) most = std::max(most, size(*item));
      return most;
    }
    if (expr.form != Form::Macro) return std::nullopt;
    if (expr.macro == Macro::Filter || expr.macro == Macro::SortBy) return size_of_items(*expr.target);
    if (expr.macro != Macro::Map && expr.macro != Macro::TransformList) return std::nullopt;
    const std::size_t before = locals_.size();
    enter(expr);
    const Size found = size(*expr.args.back());
    locals_.resize(before);
    return found;
  }

  // Loops.

  /// Binds the variables of a loop over the target of `expr`.
  void enter(const Expr& expr) {
    const TypePtr range = declared(*expr.target);
    const bool is_map = kind(*expr.target) == Kind::Map;
    // As upstream: what is in a range that is no part of a variable counts as large as self.
    const Size inner = size_of_items(*expr.target).value_or(self_ == nullptr ? kUnknown : size_of(*self_));
    const auto value = [&](const std::string& name) {
      return range != nullptr && !range->params.empty() ? Local{name, range->params.back(), kUnknown}
                                                        : Local{name, nullptr, inner};
    };
    const auto key = [](const std::string& name) { return Local{name, nullptr, 0}; };
    std::vector<Local> bound;
    if (expr.vars.size() == 2) bound = {key(expr.vars[0]), value(expr.vars[1])};
    if (expr.vars.size() == 1) bound = {is_map ? key(expr.vars[0]) : value(expr.vars[0])};
    std::ranges::move(bound, std::back_inserter(locals_));
  }

  Cost cost_of_macro(const Expr& expr) {
    const Cost range = cost(*expr.target);
    const Size rounds = size(*expr.target);
    const std::size_t before = locals_.size();
    enter(expr);
    std::vector<Cost> parts;
    for (const ExprPtr& part : expr.args) parts.push_back(cost(*part));
    locals_.resize(before);
    if (parts.empty()) return range;
    const Cost last = parts.back();
    const Cost filter = parts.size() > 1 ? parts.front() : 0;
    // Of one round: the condition, then the accumulator with what is joined to it.
    const auto loop = [&](Cost start, Cost round, Cost result) {
      return cost_sum(cost_sum(range, start), cost_sum(cost_product(rounds, round), result));
    };
    switch (expr.macro) {
      case Macro::All:
        return loop(0, cost_sum(last, 2 + 1), 1);
      case Macro::Exists:
        return loop(0, cost_sum(last, 3 + 1), 1);
      case Macro::ExistsOne:
        return loop(0, cost_sum(last, 2), 2);
      case Macro::Filter:
        return loop(kList, cost_sum(last, 1 + 1 + kList + 1), 1);
      case Macro::Map:
      case Macro::TransformList:
      case Macro::SortBy:
        return loop(kList, cost_sum(cost_sum(filter, last), 1 + kList + 1), 1);
      case Macro::TransformMap:
      case Macro::TransformMapEntry:
        return loop(kMap, cost_sum(cost_sum(filter, last), 1 + 1 + 1), 1);
      case Macro::OptMap:
      case Macro::OptFlatMap:
        break;
    }
    // Whether it has a value, the value, and what is made of it.
    return cost_sum(cost_product(2, cost_sum(range, 1)), cost_sum(last, kList + 1));
  }

  // Everything else.

  Cost cost_of_select(const Expr& expr) {
    const Cost target = cost(*expr.target);
    if (expr.is_test) return target;
    const Kind of = kind(*expr.target);
    const bool is_free = !expr.is_optional_select && (of == Kind::Dyn || of == Kind::Error);
    return is_free ? target : cost_sum(target, 1);
  }

  Cost cost_of_all(const Expr& expr) {
    Cost sum = 0;
    for (const Expr* operand : operands(expr)) sum = cost_sum(sum, cost(*operand));
    return sum;
  }

  static Operands operands(const Expr& expr) {
    Operands all;
    if (expr.target != nullptr) all.push_back(expr.target.get());
    for (const ExprPtr& arg : expr.args) all.push_back(arg.get());
    return all;
  }

  Cost cost_of_call(const Expr& expr) {
    if (expr.name == "_&&_" || expr.name == "_||_") return cost_of_all(expr);
    if (expr.name == "_?_:_") {
      return cost_sum(cost(*expr.args[0]), std::max(cost(*expr.args[1]), cost(*expr.args[2])));
    }
    const auto rule = rules().find(expr.name);
    const Cost own = rule == rules().end() ? 1 : rule->second.cost(*this, operands(expr));
    return cost_sum(cost_of_all(expr), own);
  }

  // What the functions cost that are not 1.

  static Size first_size(Estimator& self, const Operands& all) { return all.empty() ? kUnknown : self.size(*all[0]); }
  static Cost one(Estimator&, const Operands&) { return 1; }
  static Cost read_first(Estimator& self, const Operands& all) { return times(first_size(self, all), kCharacter); }
  static Cost read_twice(Estimator& self, const Operands& all) { return times(first_size(self, all), 2 * kCharacter); }
  static Cost read_second(Estimator& self, const Operands& all) { return times(self.size(*all.back()), kCharacter); }
  static Cost read_if_text(Estimator& self, const Operands& all) {
    return !all.empty() && is_text(self.kind(*all[0])) ? read_first(self, all) : 1;
  }

  static Cost equality(Estimator& self, const Operands& all) {
    return times(std::min(self.size(*all[0]), self.size(*all[1])), kCharacter);
  }
  static Cost order(Estimator& self, const Operands& all) {
    const bool is_of_texts = is_text(self.kind(*all[0])) || is_text(self.kind(*all[1]));
    return is_of_texts ? equality(self, all) : 1;
  }
  static Size both_sizes(Estimator& self, const Operands& all) { return cost_sum(self.size(*all[0]), self.size(*all[1])); }
  static Cost sum(Estimator& self, const Operands& all) {
    const bool is_of_texts = is_text(self.kind(*all[0])) || is_text(self.kind(*all[1]));
    return is_of_texts ? times(both_sizes(self, all), kCharacter) : 1;
  }
  static Cost membership(Estimator& self, const Operands& all) {
    return self.kind(*all[1]) == Kind::Map ? 1 : self.size(*all[1]);
  }
  static Cost search(Estimator& self, const Operands& all) {
    return cost_product(times(cost_sum(self.size(*all[0]), 1), kCharacter), times(self.size(*all.back()), kRegexCharacter));
  }
  static Cost contains(Estimator& self, const Operands& all) {
    return cost_product(times(self.size(*all[0]), kCharacter), times(self.size(*all[1]), kCharacter));
  }
  static Cost fold(Estimator& self, const Operands& all) {
    if (self.kind(*all[0]) != Kind::List) return read_first(self, all);
    const TypePtr list = self.declared(*all[0]);
    Cost item = 1;
    if (list != nullptr && !list->params.empty() && is_text(list->params[0]->kind)) {
      item = cost_sum(item, times(size_of(*list->params[0]), kCharacter));
    }
    return cost_product(self.size(*all[0]), item);
  }
  static Cost pairs(Estimator& self, const Operands& all) { return cost_product(self.size(*all[0]), self.size(*all[1])); }
  static Size larger(Estimator& self, const Operands& all) { return std::max(self.size(*all[1]), self.size(*all[2])); }
  static Size item(Estimator& self, const Operands& all) { return self.size_of_items(*all[0]).value_or(kUnknown); }
  static Size pieces(Estimator& self, const Operands& all) {
    const bool is_limited = all.size() > 2 && all[2]->form == Form::Constant && all[2]->constant.is(Kind::Int);
    const Size all_of_it = first_size(self, all);
    return is_limited && all[2]->constant.integer >= 0 ? std::min(all_of_it, static_cast<Size>(all[2]->constant.integer))
                                                       : all_of_it;
  }
  static Size joined(Estimator& self, const Operands& all) {
    const TypePtr list = self.declared(*all[0]);
    const bool is_declared = list != nullptr && !list->params.empty();
    const Size item = is_declared ? size_of(*list->params[0]) : self.size_of_items(*all[0]).value_or(kUnknown);
    const Size between = all.size() > 1 ? self.size(*all[1]) : 0;
    const Size count = self.size(*all[0]);
    return cost_sum(cost_product(count, item), cost_product(count == 0 ? 0 : count - 1, between));
  }
  static Cost join(Estimator& self, const Operands& all) { return times(joined(self, all), kCharacter); }
  /// At the worst the shortest text that may be replaced is, everywhere, by the longest that may stand in its place.
  static Size replaced(Estimator& self, const Operands& all) {
    const Size text = self.size(*all[0]);
    if (all.size() < 3) return kUnknown;
    const Size with = self.size(*all[2]);
    const Size old = all[1]->form == Form::Constant ? self.size(*all[1]) : 0;
    if (old == 0) return cost_sum(cost_product(cost_sum(text, 1), with), text);
    return with <= old ? text : cost_product(times(text, 1.0 / static_cast<double>(old)), with);
  }

  static const std::map<std::string_view, Rule>& rules() {
    static const std::map<std::string_view, Rule> all{
        {"_==_", {equality}},
        {"_!=_", {equality}},
        {"_<_", {order}},
        {"_<=_", {order}},
        {"_>_", {order}},
        {"_>=_", {order}},
        {"_+_", {sum, both_sizes}},
        {"_?_:_", {one, larger}},
        {"_[_]", {one, item}},
        {"@in", {membership}},
        {"startsWith", {read_second}},
        {"endsWith", {read_second}},
        {"matches", {search}},
        {"find", {search, first_size}},
        {"findAll", {search, first_size}},
        {"contains", {contains}},
        {"lowerAscii", {read_first, first_size}},
        {"upperAscii", {read_first, first_size}},
        {"substring", {read_first, first_size}},
        {"trim", {read_first, first_size}},
        {"replace", {read_twice, replaced}},
        {"split", {read_twice, pieces}},
        {"join", {join, joined}},
        {"url", {read_first}},
        {"bytes", {read_if_text, [](Estimator& self, const Operands& all) { return cost_product(first_size(self, all), 4); }}},
        {"string",
         {read_if_text,
          [](Estimator& self, const Operands& all) { return is_text(self.kind(*all[0])) ? first_size(self, all) : kUnknown; }}},
        {"dyn", {one, first_size}},
        {"isSorted", {fold}},
        {"sum", {fold}},
        {"max", {fold}},
        {"min", {fold}},
        {"indexOf", {fold}},
        {"lastIndexOf", {fold}},
        {"sets.contains", {pairs}},
        {"sets.intersects", {pairs}},
        {"sets.equivalent", {pairs}},
    };
    return all;
  }

  TypePtr self_;
  std::vector<Local> locals_;
};

}  // namespace

std::uint64_t cost_sum(std::uint64_t left, std::uint64_t right) {
  return left > kUnboundedCost - right ? kUnboundedCost : left + right;
}

std::uint64_t cost_product(std::uint64_t left, std::uint64_t right) {
  return right != 0 && left > kUnboundedCost / right ? kUnboundedCost : left * right;
}

std::uint64_t estimated_cost(const Expr& root, TypePtr self) { return Estimator(std::move(self)).cost(root); }

}  // namespace slipway::cel
