#include "cel/checker.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "cel/unify.h"

// Of the kinds only some matter in each place.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cel {
namespace {

/// What reading one constant may cost.
constexpr std::uint64_t kCostOfConstant = 1000;

/// "a.b.c" of a chain of selections from a name; empty for anything else.
std::string qualified_name(const Expr& expr) {
  if (expr.form == Form::Ident) return expr.is_local ? std::string() : expr.name;
  if (expr.form != Form::Select || expr.is_test || expr.is_optional_select) return {};
  const std::string before = qualified_name(*expr.target);
  return before.empty() ? before : before + "." + expr.name;
}

class Checker {
 public:
  Checker(const Environment& environment, std::set<std::string, std::less<>>& used) : environment_(environment), used_(used) {}

  TypePtr visit(Expr& expr) {
    TypePtr type;
    switch (expr.form) {
      case Form::Constant:
        type = expr.constant.is(Kind::Type) ? type_type(expr.constant.type) : type_of(expr.constant.kind);
        break;
      case Form::Ident:
        type = ident(expr);
        break;
      case Form::Select:
        type = select(expr);
        break;
      case Form::Call:
        type = call(expr);
        break;
      case Form::List:
        type = list(expr);
        break;
      case Form::Map:
        type = map(expr);
        break;
      case Form::Struct:
        type = structure(expr);
        break;
      case Form::Macro:
        type = macro(expr);
        break;
    }
    expr.type = type;
    return type;
  }

  TypePtr finish(const TypePtr& type) const { return types_.finish(type); }
  std::vector<Fault> faults;

 private:
  TypePtr fault(std::size_t place, std::string message) {
    faults.push_back({place, std::move(message)});
    return type_of(Kind::Error);
  }
  static TypePtr dyn() { return type_of(Kind::Dyn); }

  /// The names `name` may have, the innermost namespace first.
  std::vector<std::string> candidates(std::string_view name) const {
    if (name.starts_with('.')) return {std::string(name.substr(1))};
    std::vector<std::string> out;
    for (std::string space = environment_.container; !space.empty();) {
      out.push_back(space + "." + std::string(name));
      const auto dot = space.rfind('.');
      space = dot == std::string::npos ? std::string() : space.substr(0, dot);
    }
    out.emplace_back(name);
    return out;
  }

  /// Turns the node into the variable or type its name denotes; null when it denotes none.
  TypePtr resolve(Expr& expr, std::string_view name) {
    for (const std::string& candidate : candidates(name)) {
      const auto known = std::ranges::find(environment_.variables, candidate, [](const auto& one) { return one.first; });
      if (known != environment_.variables.end()) {
        used_.insert(candidate);
        expr.form = Form::Ident;
        expr.name = candidate;
        expr.target.reset();
        return known->second;
      }
      if (TypePtr type = named_type(candidate)) {
        expr.form = Form::Constant;
        expr.constant = make_type(type);
        expr.target.reset();
        return type_type(std::move(type));
      }
    }
    return nullptr;
  }

  TypePtr ident(Expr& expr) {
    for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
      if (local->first != expr.name) continue;
      expr.is_local = true;
      return local->second;
    }
    if (TypePtr type = resolve(expr, expr.name)) return type;
    return fault(expr.place,
                 fmt::format("undeclared reference to '{}' (in container '{}')", expr.name, environment_.container));
  }

  bool starts_local(const Expr& expr) const {
    if (expr.form == Form::Select) return starts_local(*expr.target);
    return expr.form == Form::Ident &&
           std::ranges::any_of(locals_, [&](const auto& local) { return local.first == expr.name; });
  }

  TypePtr select(Expr& expr) {
    if (!expr.is_test && !starts_local(expr)) {
      if (const std::string name = qualified_name(expr); !name.empty()) {
        if (TypePtr type = resolve(expr, name)) return type;
      }
    }
    TypePtr target = types_.resolve(visit(*expr.target));
    const bool is_optional = expr.is_optional_select || target->kind == Kind::Optional;
    if (target->kind == Kind::Optional) target = types_.resolve(target->params.empty() ? dyn() : target->params[0]);
    TypePtr field = select_from(expr, target);
    if (expr.is_test) return type_of(Kind::Bool);
    return is_optional && field->kind != Kind::Optional ? optional_of(std::move(field)) : field;
  }

  TypePtr select_from(const Expr& expr, const TypePtr& target) {
    switch (target->kind) {
      case Kind::Map:
        return target->params.empty() ? dyn() : types_.resolve(target->params[1]);
      case Kind::Object: {
        if (const Field* field = field_of(*target, expr.name)) return field->type;
        return fault(expr.place, fmt::format("undefined field '{}'", expr.name));
      }
      case Kind::Dyn:
      case Kind::Error:
      case Kind::Var:
        return dyn();
      default:
        return fault(expr.place, fmt::format("type '{}' does not support field selection", to_string(*target)));
    }
  }

  TypePtr call(Expr& expr) {
    if (expr.name == "_&&_" || expr.name == "_||_") return logical(expr);
    if (expr.name == "_?_:_") return conditional(expr);
    if (expr.target != nullptr) namespaced(expr);
    std::vector<TypePtr> args;
    // What is formatted may be of many types.
    const bool is_format = expr.name == "format";
    mixed_ += is_format ? 1 : 0;
    if (expr.target != nullptr) args.push_back(visit(*expr.target));
    for (const ExprPtr& arg : expr.args) args.push_back(visit(*arg));
    mixed_ -= is_format ? 1 : 0;
    const auto found = overloads_of(expr);
    if (found.empty()) {
      if (expr.target == nullptr || std::ranges::none_of(args, [&](const TypePtr& arg) { return arg->kind == Kind::Error; }))
        return fault(expr.place,
                     fmt::format("undeclared reference to '{}' (in container '{}')", expr.name, environment_.container));
      return type_of(Kind::Error);
    }
    return resolve_overload(expr, found, args);
  }

  std::span<const Overload> overloads_of(Expr& expr) const {
    if (environment_.is_kubernetes) {
      if (const auto found = library().find("k8s." + expr.name); !found.empty()) return found;
    }
    if (expr.target != nullptr || expr.name.starts_with('_')) return library().find(expr.name);
    for (const std::string& candidate : candidates(expr.name)) {
      if (const auto found = library().find(candidate); !found.empty()) return found;
    }
    return {};
  }

  /// optional.of(x) is a plain call of a function with a dot in its name, when `optional` is no variable.
  void namespaced(Expr& expr) {
    const std::string before = qualified_name(*expr.target);
    if (before.empty() || starts_local(*expr.target)) return;
    for (const std::string& candidate : candidates(before + "." + expr.name)) {
      const auto found = library().find(candidate);
      if (found.empty() || found.front().is_member) continue;
      expr.name = candidate;
      expr.target.reset();
      return;
    }
  }

  TypePtr logical(Expr& expr) {
    std::vector<TypePtr> args;
    bool is_good = true;
    for (const ExprPtr& arg : expr.args) {
      args.push_back(visit(*arg));
      is_good &= types_.is_assignable(type_of(Kind::Bool), args.back());
    }
    return is_good ? type_of(Kind::Bool) : no_match(expr, args);
  }

  TypePtr conditional(Expr& expr) {
    std::vector<TypePtr> args;
    args.reserve(expr.args.size());
    for (const ExprPtr& arg : expr.args) args.push_back(visit(*arg));
    if (!types_.is_assignable(type_of(Kind::Bool), args[0])) return no_match(expr, args);
    if (TypePtr joined = types_.join(args[1], args[2])) return joined;
    return no_match(expr, args);
  }

  TypePtr no_match(const Expr& expr, const std::vector<TypePtr>& args) {
    std::string shown = expr.target != nullptr ? to_string(*types_.finish(args[0])) + "." : "";
    shown += '(';
    for (std::size_t i = expr.target != nullptr ? 1 : 0, first = i; i < args.size(); ++i) {
      shown += (i == first ? "" : ", ") + to_string(*types_.finish(args[i]));
    }
    return fault(expr.place, fmt::format("found no matching overload for '{}' applied to '{})'", expr.name, shown));
  }

  TypePtr resolve_overload(Expr& expr, std::span<const Overload> found, const std::vector<TypePtr>& args) {
    TypePtr result;
    Unifier chosen = types_;
    for (const Overload& overload : found) {
      if (overload.is_member != (expr.target != nullptr) || overload.params.size() != args.size()) continue;
      if (environment_.is_unchecked) expr.overloads.push_back(&overload);
      Unifier trial = types_;
      std::vector<TypePtr> wanted = overload.params;
      wanted.push_back(overload.result);
      wanted = trial.instantiate(wanted);
      bool is_good = true;
      for (std::size_t i = 0; i < args.size() && is_good; ++i) is_good = trial.is_assignable(wanted[i], args[i]);
      if (!is_good) continue;
      if (!environment_.is_unchecked) expr.overloads.push_back(&overload);
      if (result == nullptr) {
        result = trial.resolve(wanted.back());
        chosen = std::move(trial);
      } else if (to_string(*result) != to_string(*trial.resolve(wanted.back()))) {
        result = dyn();
      }
    }
    if (result == nullptr) return no_match(expr, args);
    types_ = std::move(chosen);
    constant_pattern(expr);
    if (environment_.is_kubernetes) constant_time(expr);
    return result;
  }

  /// Patterns written as constants are compiled once.
  void constant_pattern(Expr& expr) {
    if (expr.name != "matches" && expr.name != "find" && expr.name != "findAll") return;
    const std::size_t index = expr.target != nullptr ? 0 : 1;
    if (index >= expr.args.size() || expr.args[index]->form != Form::Constant || !expr.args[index]->constant.is(Kind::String))
      return;
    auto regex = std::make_shared<re2::RE2>(expr.args[index]->constant.text(), re2::RE2::Quiet);
    if (!regex->ok()) {
      fault(expr.args[index]->place, fmt::format("invalid matches argument: error parsing regexp: {}", regex->error()));
      return;
    }
    expr.regex = std::move(regex);
  }

  /// Durations and timestamps written as constants are read once before they run.
  void constant_time(const Expr& expr) {
    if ((expr.name != "duration" && expr.name != "timestamp") || expr.target != nullptr || expr.overloads.size() != 1) return;
    if (expr.args.size() != 1 || expr.args[0]->form != Form::Constant) return;
    Budget budget(kCostOfConstant);
    const Value read = expr.overloads[0]->run(Call{std::span(&expr.args[0]->constant, 1), budget, nullptr});
    if (read.is_error()) fault(expr.args[0]->place, fmt::format("invalid {} argument", expr.name));
  }

  /// The joined type of parts that may be optional; what cannot be joined is a fault, or dyn.
  void join(TypePtr& joined, const Expr& part, TypePtr type, bool is_optional) {
    if (is_optional) {
      const TypePtr inner = types_.resolve(type);
      if (inner->kind == Kind::Optional && !inner->params.empty()) {
        type = inner->params[0];
      } else if (inner->kind == Kind::Dyn || inner->kind == Kind::Error) {
        type = dyn();
      } else {
        fault(part.place, fmt::format("expected type 'optional_type({0})' but found '{0}'", to_string(*inner)));
        type = dyn();
      }
    }
    if (joined == nullptr) {
      joined = type;
      return;
    }
    if (TypePtr both = types_.join(joined, type)) {
      joined = both;
      return;
    }
    if (environment_.is_homogeneous && mixed_ == 0) {
      fault(part.place, fmt::format("expected type '{}' but found '{}'", to_string(*types_.finish(joined)),
                                    to_string(*types_.finish(type))));
    } else {
      joined = dyn();
    }
  }

  TypePtr list(Expr& expr) {
    TypePtr joined;
    for (std::size_t i = 0; i < expr.args.size(); ++i) join(joined, *expr.args[i], visit(*expr.args[i]), expr.is_optional[i]);
    return list_of(joined != nullptr ? joined : types_.fresh());
  }

  TypePtr map(Expr& expr) {
    TypePtr key;
    TypePtr value;
    for (std::size_t i = 0; i + 1 < expr.args.size(); i += 2) {
      join(key, *expr.args[i], visit(*expr.args[i]), false);
      join(value, *expr.args[i + 1], visit(*expr.args[i + 1]), expr.is_optional[i / 2]);
    }
    if (key == nullptr) return map_of(types_.fresh(), types_.fresh());
    return map_of(key, value);
  }

  TypePtr structure(Expr& expr) {
    for (const ExprPtr& arg : expr.args) visit(*arg);
    return fault(expr.place,
                 fmt::format("undeclared reference to '{}' (in container '{}')", expr.name, environment_.container));
  }

  TypePtr macro(Expr& expr) {
    const TypePtr range = types_.resolve(visit(*expr.target));
    std::vector<TypePtr> vars(expr.vars.size(), dyn());
    const bool is_optional = expr.macro == Macro::OptMap || expr.macro == Macro::OptFlatMap;
    if (is_optional && range->kind == Kind::Optional) {
      vars[0] = range->params.empty() ? dyn() : range->params[0];
    } else if (!is_optional && range->kind == Kind::List && !range->params.empty()) {
      vars.back() = range->params[0];
      if (vars.size() == 2) vars[0] = type_of(Kind::Int);
    } else if (!is_optional && range->kind == Kind::Map && !range->params.empty()) {
      vars[0] = range->params[0];
      if (vars.size() == 2) vars[1] = range->params[1];
    } else if (range->kind != Kind::Dyn && range->kind != Kind::Error && range->kind != Kind::Var) {
      const std::string what =
          is_optional ? "expression of type '{}' is not an optional"
                      : "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)";
      fault(expr.target->place, fmt::format(fmt::runtime(what), to_string(*types_.finish(range))));
    }
    for (std::size_t i = 0; i < vars.size(); ++i) locals_.emplace_back(expr.vars[i], vars[i]);
    std::vector<TypePtr> parts;
    parts.reserve(expr.args.size());
    for (const ExprPtr& arg : expr.args) parts.push_back(visit(*arg));
    locals_.resize(locals_.size() - vars.size());
    return result_of(expr, range, parts, vars[0]);
  }

  TypePtr result_of(const Expr& expr, const TypePtr& range, const std::vector<TypePtr>& parts, const TypePtr& key) {
    const auto must_be_bool = [&](std::size_t index) {
      if (types_.is_assignable(type_of(Kind::Bool), parts[index])) return;
      fault(expr.args[index]->place,
            fmt::format("expected type 'bool' but found '{}'", to_string(*types_.finish(parts[index]))));
    };
    if (parts.size() == 2) must_be_bool(0);
    switch (expr.macro) {
      case Macro::All:
      case Macro::Exists:
      case Macro::ExistsOne:
        must_be_bool(0);
        return type_of(Kind::Bool);
      case Macro::Filter:
        must_be_bool(0);
        return range->kind == Kind::List ? list_of(range->params.empty() ? dyn() : range->params[0]) : list_of(key);
      case Macro::SortBy:
        return sorted(expr, range, parts[0]);
      case Macro::Map:
      case Macro::TransformList:
        return list_of(parts.back());
      case Macro::TransformMap:
        return map_of(range->kind == Kind::List ? type_of(Kind::Int) : key, parts.back());
      case Macro::TransformMapEntry:
        return types_.resolve(parts.back());
      case Macro::OptMap:
        return optional_of(parts.back());
      case Macro::OptFlatMap:
        return types_.resolve(parts.back());
    }
    return dyn();
  }

  TypePtr sorted(const Expr& expr, const TypePtr& range, const TypePtr& key_type) {
    const TypePtr key = types_.resolve(key_type);
    const bool is_ordered = key->kind == Kind::Bool || key->kind == Kind::Int || key->kind == Kind::Uint ||
                            key->kind == Kind::Double || key->kind == Kind::String || key->kind == Kind::Bytes ||
                            key->kind == Kind::Timestamp || key->kind == Kind::Duration;
    const bool is_open = key->kind == Kind::Dyn || key->kind == Kind::Var || key->kind == Kind::Error;
    if (range->kind == Kind::Map || (!is_ordered && !is_open)) {
      return fault(expr.place, fmt::format("found no matching overload for '@sortByAssociatedKeys' applied to '{}.(list({}))'",
                                           to_string(*types_.finish(range)), to_string(*types_.finish(key))));
    }
    return range->kind == Kind::List ? range : dyn();
  }

  const Environment& environment_;
  std::size_t mixed_ = 0;  // calls around here whose literals may mix types
  std::set<std::string, std::less<>>& used_;
  std::vector<std::pair<std::string, TypePtr>> locals_;
  Unifier types_;
};

}  // namespace

TypePtr named_type(std::string_view name) {
  static const std::map<std::string_view, TypePtr> kTypes{
      {"bool", type_of(Kind::Bool)},
      {"int", type_of(Kind::Int)},
      {"uint", type_of(Kind::Uint)},
      {"double", type_of(Kind::Double)},
      {"string", type_of(Kind::String)},
      {"bytes", type_of(Kind::Bytes)},
      {"list", type_of(Kind::List)},
      {"map", type_of(Kind::Map)},
      {"null_type", type_of(Kind::Null)},
      {"type", type_of(Kind::Type)},
      {"optional_type", type_of(Kind::Optional)},
      {"google.protobuf.Timestamp", type_of(Kind::Timestamp)},
      {"google.protobuf.Duration", type_of(Kind::Duration)},
      {"kubernetes.Quantity", opaque("kubernetes.Quantity")},
      {"kubernetes.URL", opaque("kubernetes.URL")},
      {"net.IP", opaque("net.IP")},
      {"net.CIDR", opaque("net.CIDR")},
      {"kubernetes.Semver", opaque("kubernetes.Semver")},
  };
  const auto found = kTypes.find(name);
  return found != kTypes.end() ? found->second : nullptr;
}

std::vector<Fault> check(Expr& root, const Environment& environment, std::set<std::string, std::less<>>& used) {
  Checker checker(environment, used);
  root.type = checker.finish(checker.visit(root));
  return std::move(checker.faults);
}

}  // namespace slipway::cel
