#include "cel/evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

// Of the kinds only some matter in each place.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cel {
namespace {

// What a step costs, as cel-go's runtime counts it.
constexpr std::uint64_t kStepCost = 1;
constexpr std::uint64_t kListCost = 10;
constexpr std::uint64_t kMapCost = 30;

/// Whether a runtime value may be an argument of that type.
bool fits(const TypePtr& type, const Value& value) {
  if (type->kind == Kind::Var || type->kind == Kind::Dyn) return true;
  if (type->kind == Kind::Map) return value.is(Kind::Map) || value.is(Kind::Object);
  if (type->kind == Kind::Opaque) return value.is(Kind::Opaque) && value.opaque->type_name() == type->name;
  return type->kind == value.kind;
}

std::string key_text(const Value& key) {
  switch (key.kind) {
    case Kind::Int:
      return std::to_string(key.integer);
    case Kind::Uint:
      return std::to_string(key.natural);
    case Kind::Double:
      return fmt::format("{}", key.real);
    case Kind::Bool:
      return key.truth ? "true" : "false";
    default:
      return std::string(key.text());
  }
}

bool is_key(const Value& value) {
  return value.is(Kind::Int) || value.is(Kind::Uint) || value.is(Kind::Bool) || value.is(Kind::String);
}

class Evaluator {
 public:
  Evaluator(const Activation& variables, Budget& budget) : variables_(variables), budget_(budget) {}

  Value visit(const Expr& expr) {
    if (budget_.is_exhausted()) return exceeded();
    switch (expr.form) {
      case Form::Constant:
        return expr.constant;
      case Form::Ident:
        return spend(kStepCost) ? ident(expr) : exceeded();
      case Form::Select:
        return spend(kStepCost) ? select(expr) : exceeded();
      case Form::Call:
        return call(expr);
      case Form::List:
        return spend(kListCost) ? list(expr) : exceeded();
      case Form::Map:
        return spend(kMapCost) ? map(expr) : exceeded();
      case Form::Struct:
        return make_error(fmt::format("unknown type: {}", expr.name));
      case Form::Macro:
        return loop(expr);
    }
    return no_overload();
  }

 private:
  static Value exceeded() { return make_error(kCostExceeded); }
  bool spend(std::uint64_t units) { return budget_.spend(units); }

  Value ident(const Expr& expr) {
    if (expr.is_local) {
      for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
        if (*local->first == expr.name) return local->second;
      }
    }
    for (const auto& [name, value] : variables_) {
      if (name == expr.name) return value;
    }
    return make_error(fmt::format("no such attribute: {}", expr.name));
  }

  Value select(const Expr& expr) {
    Value target = visit(*expr.target);
    if (target.is_error()) return target;
    if (target.is(Kind::Optional)) return select_optional(expr, target);
    if (!target.is(Kind::Map) && !target.is(Kind::Object)) return expr.is_test ? make_bool(false) : no_overload();
    std::optional<Value> found = find_field(target, expr.name);
    if (expr.is_test) return make_bool(found.has_value());
    if (expr.is_optional_select) return found && found->is_error() ? *found : optional_value(std::move(found));
    return found ? std::move(*found) : make_error(fmt::format("no such key: {}", expr.name));
  }

  static Value select_optional(const Expr& expr, const Value& target) {
    const Value* inside = content(target);
    std::optional<Value> found;
    if (inside != nullptr) {
      if (!inside->is(Kind::Map) && !inside->is(Kind::Object)) return no_overload();
      found = find_field(*inside, expr.name);
    }
    if (expr.is_test) return make_bool(found.has_value());
    return optional_value(std::move(found));
  }

  Value call(const Expr& expr) {
    if (expr.name == "_&&_") return logical(expr, false);
    if (expr.name == "_||_") return logical(expr, true);
    if (expr.name == "_?_:_") {
      Value condition = visit(*expr.args[0]);
      if (condition.is_error()) return condition;
      if (!condition.is(Kind::Bool)) return no_overload();
      return visit(*expr.args[condition.truth ? 1 : 2]);
    }
    if (!spend(kStepCost)) return exceeded();
    std::vector<Value> args;
    args.reserve(expr.args.size() + 1);
    if (expr.target != nullptr) args.push_back(visit(*expr.target));
    for (const ExprPtr& arg : expr.args) {
      if (!args.empty() && args.back().is_error()) return args.back();
      // The right side of or() and orValue() is looked at only when it is needed.
      if (expr.target != nullptr && args.size() == 1 && is_settled(expr, args[0])) return settled(expr, args[0]);
      args.push_back(visit(*arg));
    }
    if (!args.empty() && args.back().is_error()) return args.back();
    return dispatch(expr, args);
  }

  static bool is_settled(const Expr& expr, const Value& receiver) {
    return receiver.is(Kind::Optional) && content(receiver) != nullptr && (expr.name == "or" || expr.name == "orValue");
  }
  static Value settled(const Expr& expr, const Value& receiver) { return expr.name == "or" ? receiver : *content(receiver); }

  Value dispatch(const Expr& expr, const std::vector<Value>& args) {
    for (const Overload* overload : expr.overloads) {
      bool is_good = true;
      for (std::size_t i = 0; i < args.size() && is_good; ++i) is_good = fits(overload->params[i], args[i]);
      if (!is_good) continue;
      Value result = overload->run(Call{args, budget_, expr.regex.get()});
      return budget_.is_exhausted() ? exceeded() : result;
    }
    return no_overload();
  }

  /// && and || in any order: one operand that decides outweighs errors of the others.
  Value logical(const Expr& expr, bool deciding) {
    std::optional<Value> error;
    for (const ExprPtr& arg : expr.args) {
      Value value = visit(*arg);
      if (budget_.is_exhausted()) return exceeded();
      if (value.is(Kind::Bool)) {
        if (value.truth == deciding) return value;
      } else if (!error) {
        error = value.is_error() ? std::move(value) : no_overload();
      }
    }
    return error ? *error : make_bool(!deciding);
  }

  Value list(const Expr& expr) {
    Items items;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      Value value = visit(*expr.args[i]);
      if (value.is_error()) return value;
      if (!expr.is_optional[i]) {
        items.push_back(std::move(value));
        continue;
      }
      if (!value.is(Kind::Optional)) return no_overload();
      if (const Value* inside = content(value)) items.push_back(*inside);
    }
    return make_list(std::move(items));
  }

  Value map(const Expr& expr) {
    Entries entries;
    for (std::size_t i = 0; i + 1 < expr.args.size(); i += 2) {
      Value key = visit(*expr.args[i]);
      if (key.is_error()) return key;
      Value value = visit(*expr.args[i + 1]);
      if (value.is_error()) return value;
      if (!is_key(key)) return make_error("unsupported key type");
      if (expr.is_optional[i / 2]) {
        if (!value.is(Kind::Optional)) return no_overload();
        const Value* inside = content(value);
        if (inside == nullptr) continue;
        value = Value(*inside);
      }
      if (Value fault = insert(entries, std::move(key), std::move(value)); fault.is_error()) return fault;
    }
    return make_map(std::move(entries));
  }

  static Value insert(Entries& entries, Value key, Value value) {
    for (const auto& [known, ignored] : entries) {
      if (equal(known, key)) return make_error(fmt::format("insert failed: key {} already exists", key_text(key)));
    }
    entries.emplace_back(std::move(key), std::move(value));
    return Value{};
  }

  Value loop(const Expr& expr) {
    Value range = visit(*expr.target);
    if (range.is_error()) return range;
    if (expr.macro == Macro::OptMap || expr.macro == Macro::OptFlatMap) return into_optional(expr, range);
    Entries steps;
    if (range.is(Kind::List)) {
      std::int64_t index = 0;
      for (Value& one : items_of(range)) steps.emplace_back(make_int(index++), std::move(one));
    } else if (range.is(Kind::Map) || range.is(Kind::Object)) {
      steps = entries_of(range);
    } else {
      return no_overload();
    }
    const bool is_map = !range.is(Kind::List);
    switch (expr.macro) {
      case Macro::All:
        return quantified(expr, steps, is_map, false);
      case Macro::Exists:
        return quantified(expr, steps, is_map, true);
      case Macro::ExistsOne:
        return exactly_one(expr, steps, is_map);
      case Macro::SortBy:
        return is_map ? no_overload() : sorted(expr, steps);
      default:
        return transformed(expr, steps, is_map);
    }
  }

  Value into_optional(const Expr& expr, const Value& range) {
    if (!range.is(Kind::Optional)) return no_overload();
    const Value* inside = content(range);
    if (inside == nullptr) return range;
    locals_.emplace_back(&expr.vars[0], *inside);
    Value value = visit(*expr.args[0]);
    locals_.pop_back();
    if (value.is_error() || expr.macro == Macro::OptFlatMap) return value;
    return optional_value(std::move(value));
  }

  void bind(const Expr& expr, const std::pair<Value, Value>& step, bool is_map) {
    if (expr.vars.size() == 2) {
      locals_.emplace_back(&expr.vars[0], step.first);
      locals_.emplace_back(&expr.vars[1], step.second);
    } else {
      locals_.emplace_back(&expr.vars[0], is_map ? step.first : step.second);
    }
  }
  Value visit_bound(const Expr& expr, const std::pair<Value, Value>& step, bool is_map, std::size_t part) {
    bind(expr, step, is_map);
    Value value = visit(*expr.args[part]);
    locals_.resize(locals_.size() - expr.vars.size());
    return value;
  }

  Value quantified(const Expr& expr, const Entries& steps, bool is_map, bool deciding) {
    std::optional<Value> error;
    for (const auto& step : steps) {
      if (!spend(kStepCost)) return exceeded();
      Value value = visit_bound(expr, step, is_map, 0);
      if (budget_.is_exhausted()) return exceeded();
      if (value.is(Kind::Bool)) {
        if (value.truth == deciding) return value;
      } else if (!error) {
        error = value.is_error() ? std::move(value) : no_overload();
      }
    }
    return error ? *error : make_bool(!deciding);
  }

  Value exactly_one(const Expr& expr, const Entries& steps, bool is_map) {
    std::size_t count = 0;
    for (const auto& step : steps) {
      if (!spend(kStepCost)) return exceeded();
      Value value = visit_bound(expr, step, is_map, 0);
      if (value.is_error()) return value;
      if (!value.is(Kind::Bool)) return no_overload();
      count += value.truth ? 1 : 0;
    }
    return make_bool(count == 1);
  }

  Value sorted(const Expr& expr, const Entries& steps) {
    Items items;
    Items keys;
    for (const auto& step : steps) {
      if (!spend(kStepCost)) return exceeded();
      keys.push_back(visit_bound(expr, step, false, 0));
      if (keys.back().is_error()) return keys.back();
      items.push_back(step.second);
    }
    Value result = sorted_by(items, keys, budget_);
    return budget_.is_exhausted() ? exceeded() : result;
  }

  /// map, filter and the transform macros.
  Value transformed(const Expr& expr, const Entries& steps, bool is_map) {
    const bool is_filter = expr.macro == Macro::Filter;
    Items items;
    Entries entries;
    for (const auto& step : steps) {
      if (!spend(kStepCost)) return exceeded();
      if (is_filter || expr.args.size() == 2) {
        Value condition = visit_bound(expr, step, is_map, 0);
        if (condition.is_error()) return condition;
        if (!condition.is(Kind::Bool)) return no_overload();
        if (!condition.truth) continue;
      }
      if (is_filter) {
        items.push_back(is_map ? step.first : step.second);
        continue;
      }
      Value value = visit_bound(expr, step, is_map, expr.args.size() - 1);
      if (value.is_error()) return value;
      if (expr.macro == Macro::TransformMap) {
        entries.emplace_back(step.first, std::move(value));
      } else if (expr.macro == Macro::TransformMapEntry) {
        for (auto& [key, one] : entries_of(value)) {
          if (Value fault = insert(entries, std::move(key), std::move(one)); fault.is_error()) return fault;
        }
      } else {
        items.push_back(std::move(value));
      }
    }
    const bool makes_map = expr.macro == Macro::TransformMap || expr.macro == Macro::TransformMapEntry;
    return makes_map ? make_map(std::move(entries)) : make_list(std::move(items));
  }

  const Activation& variables_;
  Budget& budget_;
  std::vector<std::pair<const std::string*, Value>> locals_;
};

}  // namespace

Value element_of(const Value& container, const Value& key) {
  if (container.is(Kind::Map) || container.is(Kind::Object)) {
    if (!is_key(key) && !key.is(Kind::Double)) return make_error("unsupported key type");
    std::optional<Value> found = find(container, key);
    return found ? std::move(*found) : make_error("no such key: " + key_text(key));
  }
  if (!container.is(Kind::List)) return no_overload();
  std::int64_t index = -1;
  if (key.is(Kind::Int)) {
    index = key.integer;
  } else if (key.is(Kind::Uint)) {
    index = key.natural > INT32_MAX ? -1 : static_cast<std::int64_t>(key.natural);
  } else if (key.is(Kind::Double) && key.real == std::floor(key.real) && std::abs(key.real) < 1e15) {
    index = static_cast<std::int64_t>(key.real);
  } else {
    return make_error(fmt::format("unsupported index type in list: {}", to_string(*runtime_type(key))));
  }
  if (index < 0 || static_cast<std::size_t>(index) >= size(container))
    return make_error(fmt::format("index out of bounds: {}", index));
  return item(container, static_cast<std::size_t>(index));
}

Value evaluate(const Expr& root, const Activation& variables, Budget& budget) {
  return Evaluator(variables, budget).visit(root);
}

}  // namespace slipway::cel
