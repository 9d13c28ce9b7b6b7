// Expressions to values.
#include <fmt/format.h>

#include <algorithm>

#include "cue/eval/evaluator.h"
#include "cue/number/integer.h"
#include "cue/syntax/literal.h"
#include "cue/syntax/unicode.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {
// Of one call in the source, each in the arguments of the one before.
constexpr std::ptrdiff_t kMaxSameCalls = 100;
/// A bad byte becomes U+FFFD of three, and the text is copied.
constexpr std::uint64_t kReplacedBytes = 6;
}  // namespace

Value Evaluator::evaluate(const ir::Expr& expr, Env* env) {
  if (over_budget(expr.pos)) return bottom(Code::Eval, kTooManySteps, expr.pos);
  if (stack_.is_used_up() && !stack_.is_wide()) {
    Value value;
    bool has_room = stack_.call([&] { value = evaluate(expr, env); });
    return has_room ? value : out_of_budget(kTooDeep, expr.pos, nullptr);
  }
  bool outer = std::exchange(is_asking_, false);
  Value value = evaluate_inner(expr, env);
  is_asking_ = outer;
  return value;
}

Value Evaluator::evaluate_inner(const ir::Expr& expr, Env* env) {
  switch (expr.op) {
    case ir::Op::Constant:
      return ir::as<ir::Constant>(expr).value;
    case ir::Op::FieldRef:
    case ir::Op::LetRef:
    case ir::Op::NodeRef:
    case ir::Op::DynamicRef:
    case ir::Op::Import:
    case ir::Op::Selector:
    case ir::Op::Index: {
      Lookup found = resolve(expr, env);
      switch (found.found) {
        case Found::Arc:
          return Value::of(found.arc);
        case Found::Error:
          return found.value;
        case Found::Blocked:
          if (force_ && found.arc != nullptr) return Value::of(found.arc);
          return bottom(Code::Cycle, "cycle error", expr.pos);
        case Found::Absent:
          return found.value.is_bottom() ? found.value : bottom(Code::Incomplete, "undefined field", expr.pos);
      }
      return {};
    }
    case ir::Op::LabelRef: {
      const Env* at = up(env, ir::as<ir::Ref>(expr).up);
      if (at->label.is_none()) return bottom(Code::Incomplete, "no field name", expr.pos);
      return at->label.is_index() ? Value::of_int(at->label.index()) : Value::string(labels_.text(at->label));
    }
    case ir::Op::Unary:
      return unary(ir::as<ir::Unary>(expr), env);
    case ir::Op::Binary:
      return binary(ir::as<ir::Binary>(expr), env);
    case ir::Op::Interpolation:
      return interpolation(ir::as<ir::Interpolation>(expr), env);
    case ir::Op::Call:
      return call(ir::as<ir::Call>(expr), env);
    case ir::Op::Presence:
      return presence(ir::as<ir::Presence>(expr), env);
    case ir::Op::Bound:
      return bound(ir::as<ir::Bound>(expr), env);
    case ir::Op::Struct:
    case ir::Op::List:
    case ir::Op::And:
    case ir::Op::Or:
    case ir::Op::Comprehension:
      return inline_value(expr, env);
  }
  return {};
}

// A struct, list or unification in the middle of an expression is a vertex of its own.
Value Evaluator::inline_value(const ir::Expr& expr, Env* env) {
  Vertex* v = arena_.make<Vertex>();
  v->parent = current_;
  v->pos = expr.pos;
  v->is_detached = expr.op == ir::Op::And;
  const RefTrail* trail = current_conjunct_ != nullptr ? current_conjunct_->trail : nullptr;
  // What repeats itself does so in here, too.
  Cycle cycle = current_conjunct_ != nullptr ? current_conjunct_->cycle : Cycle::None;
  v->conjuncts.push(arena_, {&expr, env, nullptr, trail, cycle});
  return Value::of(v);
}

Value Evaluator::default_of(const Value& value) {
  if (value.tag != Value::Tag::Disjunction) return value;
  if (value.disjunction->defaults == 1) return value.disjunction->values[0];
  return bottom(Code::Incomplete, "unresolved disjunction {0}", 0, value);
}

// The value of a vertex: its scalar, itself when it is a struct or list, or what it lacks.
Value Evaluator::value_of(Vertex* v) {
  if (!settle(v)) {
    Vertex* real = deref(v);
    if (real->node != nullptr) {
      if (real->node->has_scalar() && real->node->errors == nullptr) return real->node->said();
      bool is_container = real->node->has_struct || !real->node->lists.empty();
      if ((force_ || real->node->is_deciding) && is_container) return Value::of(real);
      bool is_partly_known = real->node->kinds != kTop || !real->node->bounds.empty();
      if (is_partly_known && !is_container && real->node->errors == nullptr)
        return bottom(Code::Incomplete, "non-concrete value {0}", v->pos, Value::type(real->node->kinds));
    }
    return bottom(Code::Cycle, "cycle error", v->pos);
  }
  v = deref(v);
  if (v->base.is_container()) return Value::of(v);
  return v->base;
}

Value Evaluator::make_concrete(Value value, Pos pos) {
  Vertex* from = nullptr;
  for (int hops = 0; hops < 100; ++hops) {
    if (value.is_vertex()) {
      from = deref(value.vertex);
      Value inner = value_of(value.vertex);
      if (inner.is_vertex()) return inner;
      value = inner;
    }
    if (value.tag == Value::Tag::Disjunction) {
      value = default_of(value);
      continue;
    }
    break;
  }
  if (value.is_bottom() || value.is_concrete_scalar() || value.is_vertex()) return value;
  if (value.is_none()) value = Value::type(kTop);
  Value reason = bottom(Code::Incomplete, "non-concrete value {0}", pos, value);
  Bottom* fresh = just_made(reason);
  fresh->is_open = true;
  fresh->from = from;
  return reason;
}

Value Evaluator::lacks(const Value& missing, const char* format, Pos pos, const Value& more) {
  if (!missing.bottom->is_open) return missing;
  auto* reason = arena_.make<Bottom>(*missing.bottom);
  reason->format = format;
  reason->pos = pos;
  reason->operands[1] = more;
  reason->is_open = false;
  return Value::of(reason);
}

// The same, told where the value it is about was said.
Value Evaluator::lacks_there(const Value& missing, const char* format, const Value& more) {
  if (!missing.bottom->is_open) return missing;
  std::vector<Pos> places;
  if (missing.bottom->from != nullptr) report_sources(missing.bottom->from, places);
  return lacks(missing, format, places.empty() ? 0 : places[0], more);
}

Value Evaluator::concrete(const ir::Expr& expr, Env* env) {
  Value value = make_concrete(evaluate(expr, env), expr.pos);
  if (value.is_bottom() && value.bottom->is_open) just_made(value)->shown[0] = &expr;
  return value;
}

Value Evaluator::unary(const ir::Unary& expr, Env* env) {
  Value value = concrete(*expr.operand, env);
  const Value op = Value::string(name(expr.kind));
  if (value.is_bottom()) {
    if (!value.bottom->is_open) return value;
    Value missing = lacks(value, "operand {x} of '{1}' not concrete (was {0})", expr.operand->pos, op);
    just_made(missing)->from = nullptr;  // told by its name
    return missing;
  }
  if (expr.kind == Tok::Not && value.tag == Value::Tag::Bool) return Value::of(!value.boolean);
  if (expr.kind == Tok::Not || !value.is_number()) {
    Value reason = bottom(Code::Eval, "invalid operation {1}{0} ({1} {2})", expr.pos, value, op);
    just_made(reason)->operands[2] = Value::type(kinds_of(value));
    return reason;
  }
  if (expr.kind == Tok::Add) return value;
  if (value.tag == Value::Tag::Int && value.integer != INT64_MIN) return Value::of_int(-value.integer);
  Decimal number = to_decimal(value);
  number.is_negative = !number.is_negative && !number.is_zero();
  return make_number(number, is_float(value));
}

// Whether something in a struct or list has no value yet.
bool Evaluator::lacks_values(const Value& value) {
  if (!value.is_vertex() || over_budget()) return false;
  Vertex* v = deref(value.vertex);
  if (!has_ancestor(current_, v)) complete(v);
  return std::any_of(v->arcs.begin(), v->arcs.end(), [&](Vertex* one) {
    if (one->mark > ArcMark::Required || !(one->label.is_regular() || one->label.is_index())) return false;
    const Value base = default_of(deref(one)->base);
    bool is_container = base.is_container();
    if (one->mark == ArcMark::Required) return true;
    return is_container || base.is_vertex() ? lacks_values(is_container ? Value::of(one) : base) : !base.is_concrete_scalar();
  });
}

Value Evaluator::binary(const ir::Binary& expr, Env* env) {
  Value left = concrete(*expr.left, env);
  if (left.is_bottom() && !is_incomplete(left.bottom->code)) return left;
  Value right = concrete(*expr.right, env);
  bool is_wrong = right.is_bottom() && !is_incomplete(right.bottom->code);
  const Value& missing = left.is_bottom() && !is_wrong ? left : right;
  if (missing.is_bottom())
    return lacks(missing, "non-concrete value {0} in operand to {1}", expr.pos, Value::string(name(expr.kind)));
  Value value = binary_values(expr.kind, left, right, expr.pos);
  if (value.is_bottom() && !is_incomplete(value.bottom->code) && (lacks_values(left) || lacks_values(right))) {
    Bottom* reason = just_made(value);
    reason->code = Code::Incomplete;
  }
  if (value.is_bottom() && (expr.kind == Tok::LAnd || expr.kind == Tok::LOr)) {
    Bottom* wrong = just_made(value);
    wrong->exprs[0] = left.tag != Value::Tag::Bool ? expr.left : expr.right;
    wrong->env = env;
  }
  bool is_mismatch = value.is_bottom() && std::string_view(value.bottom->format).starts_with("invalid operands");
  if (!is_mismatch) return value;
  for (const Value& side : {left, right}) {
    if (side.is_vertex()) complete(side.vertex);  // it will be shown
  }
  Bottom* fresh = just_made(value);
  std::string format = fmt::format("invalid operands {{0}} and {{1}} to '{}' (type {{2}} and {{3}})", name(expr.kind));
  fresh->format = arena_.copy(std::string_view(format.c_str(), format.size() + 1)).data();
  fresh->operands[2] = Value::type(kinds_of(left));
  fresh->operands[3] = Value::type(kinds_of(right));
  fresh->exprs[0] = expr.left;
  fresh->exprs[1] = expr.right;
  fresh->env = env;
  return value;
}

Value Evaluator::interpolation(const ir::Interpolation& expr, Env* env) {
  std::vector<std::string_view> pieces;
  std::uint64_t size = 0;
  Value missing;
  for (const ir::Expr* part : expr.parts) {
    Value value = concrete(*part, env);
    if (value.is_bottom()) {
      if (!is_incomplete(value.bottom->code)) return value;
      if (missing.is_none()) missing = value;
      continue;
    }
    switch (value.tag) {
      case Value::Tag::String:
        pieces.push_back(value.str());
        break;
      case Value::Tag::Bytes:
        if (!expr.is_bytes && !is_utf8(value.str())) {
          if (!has_room(kReplacedBytes * value.size)) return ended();
          value = make_string(replace_invalid(value.str()));
        }
        pieces.push_back(value.str());
        break;
      case Value::Tag::Bool:
        pieces.emplace_back(value.boolean ? "true" : "false");
        break;
      case Value::Tag::Int:
      case Value::Tag::Number:
        pieces.push_back(make_string(data_text(value)).str());
        break;
      default:
        return bottom(Code::Eval, "invalid interpolation: cannot use {0} (type {1}) as type (bool|string|bytes|number)",
                      part->pos, value, Value::type(kinds_of(value)));
    }
    size += pieces.back().size();
  }
  if (!missing.is_none()) {
    if (is_asking_ || missing.bottom->code == Code::Cycle) return missing;
    if (missing.bottom->is_open) {
      Value kind = Value::type(kinds_of(missing.bottom->operands[0]));
      return lacks(missing, "invalid interpolation: non-concrete value {0} (type {1})", expr.pos, kind);
    }
    Value reason = bottom(missing.bottom->code, "invalid interpolation", expr.pos);
    Bottom* fresh = just_made(reason);
    fresh->cause = missing.bottom;
    fresh->other = missing.bottom->pos;
    return reason;
  }
  char* const text = take_text(size);
  if (text == nullptr) return ended();
  char* at = text;
  for (std::string_view piece : pieces) at = std::ranges::copy(piece, at).out;
  return expr.is_bytes ? Value::bytes({text, size}) : Value::string({text, size});
}

Value Evaluator::bound(const ir::Bound& expr, Env* env) {
  Value operand = concrete(*expr.operand, env);
  if (operand.is_bottom()) {
    if (!operand.bottom->is_open) return operand;
    Value missing = lacks(operand, "non-concrete value {x} for bound {1}", expr.operand->pos, Value::string(name(expr.kind)));
    Bottom* fresh = just_made(missing);
    fresh->from = nullptr;  // told by its name
    fresh->is_unplaced = true;
    return missing;
  }
  bool is_pattern = expr.kind == Tok::Mat || expr.kind == Tok::NMat;
  if (is_pattern && operand.tag != Value::Tag::String && operand.tag != Value::Tag::Bytes) {
    return bottom(Code::Eval, "cannot use {0} as a pattern", expr.pos, operand);
  }
  bool is_ordered = expr.kind == Tok::Lss || expr.kind == Tok::Leq || expr.kind == Tok::Gtr || expr.kind == Tok::Geq;
  if (is_ordered && !operand.is_number() && operand.tag != Value::Tag::String && operand.tag != Value::Tag::Bytes) {
    return bottom(Code::Eval, "cannot use {0} as a bound", expr.pos, operand);
  }
  Value value = Value::of(Value::Tag::Bound);
  value.bound = arena_.make<Bound>(expr.kind, operand, expr.pos);
  return value;
}

// x != _|_. Absent fields and permanent errors are no values, and neither is a scalar that is not concrete yet.
Value Evaluator::presence(const ir::Presence& expr, Env* env) {
  std::uint32_t before = std::exchange(low_, kNothing);
  bool is_present = false;
  bool outer = std::exchange(is_asking_, true);
  Lookup found = resolve(*expr.ref, env);
  is_asking_ = outer;
  bool waits =
      found.found == Found::Blocked || (found.found == Found::Absent && found.holder != nullptr) ||
      (found.found == Found::Error && found.value.is_bottom() && low_ != kNothing && is_incomplete(found.value.bottom->code));
  Value value = found.found == Found::Arc ? Value::of(found.arc) : found.found == Found::Error ? found.value : Value{};
  if (found.found == Found::Arc) {
    Vertex* v = found.arc;
    bool is_done = settle(v);
    value = value_of(v);
    if (!is_done && value.is_bottom() && is_incomplete(value.bottom->code)) waits = true;
    if (is_done && value.is_vertex()) {
      Vertex* real = deref(v);
      if (real->phase == Phase::Settled && !has_ancestor(current_, real)) complete(real);
      real = deref(v);
      bool is_wrong = real->child_error != nullptr && !is_incomplete(real->child_error->code);
      if (is_wrong && real->phase == Phase::Final) value = Value::of(real->child_error);
    }
  }
  if (found.found == Found::Arc && expr.ref->op == ir::Op::Selector &&
      !ir::is_reference(*ir::as<ir::Selector>(*expr.ref).base) && found.arc->parent != nullptr) {
    // A struct written in place that fails has no fields.
    Vertex* holder = found.arc->parent;
    complete(holder);
    const Bottom* error = holder->child_error;
    if (error != nullptr && !is_incomplete(error->code) && !error->is_close_check) value = Value::of(error);
  }
  if (waits && !force_) return bottom(Code::Cycle, "cycle error", expr.pos);
  low_ = before;
  if (value.is_bottom() && value.bottom->is_guard) return value;
  if (waits && found.holder != nullptr && current_ != nullptr && current_->node != nullptr) {
    const Vertex* arc = find_arc(found.holder, found.label);
    if (arc == nullptr || arc->mark == ArcMark::Absent) {
      auto* reason = arena_.make<Bottom>(
          *bottom(Code::Incomplete, "cyclic reference to field {0}", expr.pos, Value::string(labels_.text(found.label)))
               .bottom);
      reason->is_guard = true;
      return Value::of(reason);
    }
    if (arc->mark != ArcMark::Member) current_->node->tell(arena_).absent.push(arena_, {found.holder, found.label, expr.pos});
  }
  if (value.tag == Value::Tag::Disjunction && value.disjunction->defaults == 1) value = default_of(value);
  // Of what is not concrete, that which may be a struct or list is there, and so are several alternatives.
  bool may_be_container = !value.is_none() && !value.is_bottom() && (kinds_of(value) & (kStruct | kList)) != 0;
  is_present = value.is_vertex() || value.is_concrete_scalar() || may_be_container || value.tag == Value::Tag::Disjunction;
  if (found.found == Found::Arc && value.is_bottom() && is_incomplete(value.bottom->code)) {
    const Vertex* real = deref(found.arc);
    is_present = real->base.is_bottom() && real->node != nullptr && real->node->has_struct;
  }
  bool answer = is_present == expr.wants_present;
  if (force_ && current_ != nullptr && current_->node != nullptr && !ir::is_reference(*expr.ref))
    current_->node->tell(arena_).verdicts.push(arena_, {&expr, env, answer});
  return Value::of(answer);
}

Value Evaluator::call(const ir::Call& expr, Env* env) {
  Value function = evaluate(*expr.function, env);
  if (function.is_vertex()) function = value_of(function.vertex);
  if (function.is_bottom()) {
    if (expr.function->op != ir::Op::Constant) return function;
    auto* reason = arena_.make<Bottom>(*function.bottom);
    reason->code = Code::Eval;  // it will not become one
    return Value::of(reason);
  }
  if (function.tag == Value::Tag::Validator) {
    // A field that is a function which judges may be called, too; what such a call gave may not.
    if (function.validator->is_called)
      return bottom(Code::Eval, "cannot call previously called validator {0}", expr.pos, function);
    const Builtin* named = function.validator->builtin;
    function = Value::of(Value::Tag::Builtin);
    function.builtin = named;
  }
  if (function.tag != Value::Tag::Builtin) {
    return bottom(Code::Eval, "cannot call non-function {0} (type {1})", expr.pos, function, Value::type(kinds_of(function)));
  }
  const Builtin& builtin = *function.builtin;
  const Builtin* outer = std::exchange(calling_, &builtin);
  Pos outer_pos = std::exchange(calling_pos_, expr.pos);
  if (std::ranges::count(calls_, &expr) >= kMaxSameCalls) {
    calling_ = outer;
    return bottom(Code::StructuralCycle, "structural cycle", expr.pos);
  }
  calls_.push_back(&expr);
  Value result = call_builtin(builtin, expr, env);
  calls_.pop_back();
  calling_ = outer;
  calling_pos_ = outer_pos;
  return result;
}

Value Evaluator::wrong_count(const Builtin& builtin, std::string_view which, std::size_t given, Pos pos) {
  std::string name = (builtin.package.empty() ? "" : std::string(builtin.package) + ".") + std::string(builtin.name);
  std::string text = fmt::format("{} arguments in call to {} (have {}, want {})", which, name, given, builtin.params.size());
  return bottom(Code::Eval, "{0}", pos, Value::string(arena_.copy(std::string_view(text))));
}

Value Evaluator::check_argument(const Builtin& builtin, const Value& value, std::size_t index, Pos pos) {
  KindMask wanted = builtin.params[index];
  const Vertex* container = value.is_vertex() ? deref(value.vertex) : nullptr;
  bool is_list = container != nullptr &&
                 (container->base.tag == Value::Tag::List || (container->node != nullptr && !container->node->lists.empty()));
  KindMask got = container != nullptr ? (is_list ? kList : kStruct) : kinds_of(value);
  if ((wanted & got) != 0) return value;
  std::string package(builtin.package);
  if (package.find('/') != std::string::npos) package = quote(package);
  std::string name = (package.empty() ? "" : package + ".") + std::string(builtin.name);
  if (value.is_vertex()) complete(value.vertex);
  std::string text = fmt::format("cannot use {} (type {}) as {} in argument {} to {}", show(value), describe_kind(got),
                                 describe_kind(wanted), index + 1, name);
  return bottom(Code::Eval, "{0}", pos, Value::string(arena_.copy(std::string_view(text))));
}

Value Evaluator::lacks_argument(const Value& missing, const Builtin& builtin, std::size_t index, Pos pos) {
  if (!missing.bottom->is_open) return missing;
  const Value& value = missing.bottom->operands[0];
  if (builtin.package.empty()) return lacks(missing, "incomplete argument {0} (type {1})", pos, Value::type(kinds_of(value)));
  std::string callee = this->callee();
  KindMask wanted = builtin.params[std::min(index, builtin.params.size() - 1)];
  bool is_container = wanted == kTop || (wanted & ~(kList | kStruct)) == 0;
  Value of = is_container ? Value::of_int(static_cast<std::int64_t>(index)) : Value();
  Value reason =
      lacks(missing,
            is_container ? "error in call to {2}: non-concrete argument {1}" : "error in call to {2}: non-concrete value {0}",
            pos, of);
  Bottom* fresh = just_made(reason);
  fresh->operands[2] = Value::string(arena_.copy(std::string_view(callee)));
  if (is_container) fresh->from = nullptr;
  return reason;
}

Value Evaluator::call_builtin(const Builtin& builtin, const ir::Call& expr, Env* env) {
  if (builtin.wants_raw) return call_raw(builtin, expr, env);
  std::size_t given = expr.args.size();
  bool makes_validator = builtin.judges() && builtin.optional_params == 0 && given + 1 == builtin.params.size();
  if (given > builtin.params.size()) {
    return wrong_count(builtin, "too many", given, expr.pos);
  }
  if (given + builtin.optional_params < builtin.params.size() && !makes_validator) {
    return wrong_count(builtin, "not enough", given, expr.pos);
  }
  std::vector<Value> args;
  for (std::size_t i = 0; i < given; ++i) {
    std::size_t param = i + (makes_validator ? 1 : 0);
    Value raw = evaluate(*expr.args[i], env);
    Value value = make_concrete(raw, expr.args[i]->pos);
    if (value.is_bottom()) {
      value = lacks_argument(value, builtin, param, expr.pos);
      // What is not known yet but can never be of the kind asked for is wrong already.
      bool is_open = is_incomplete(value.bottom->code) && !raw.is_bottom() && kinds_of(raw) != 0 &&
                     !(raw.is_vertex() && deref(raw.vertex)->base.tag == Value::Tag::Disjunction);
      return is_open && (kinds_of(raw) & builtin.params[param]) == 0
                 ? check_argument(builtin, raw.is_vertex() ? deref(raw.vertex)->base : raw, param, expr.args[i]->pos)
                 : value;
    }
    value = check_argument(builtin, value, param, expr.args[i]->pos);
    if (value.is_bottom()) return value;
    args.push_back(value);
  }
  if (makes_validator) {
    Value validator = Value::of(Value::Tag::Validator);
    std::vector<Pos> places;
    for (std::size_t i = 0; i < args.size(); ++i) {
      bool has_place = args[i].is_concrete_scalar() || args[i].tag == Value::Tag::Bound || args[i].tag == Value::Tag::Type;
      if (has_place) places.push_back(expr.args[i]->pos);
    }
    validator.validator = arena_.make<Validator>(&builtin, std::span<const Value>(arena_.copy(args)), expr.pos,
                                                 std::span<const Pos>(arena_.copy(places)), true);
    return validator;
  }
  for (const Value& arg : args) {
    if (!arg.is_vertex()) continue;
    complete(arg.vertex);
    deref(arg.vertex)->is_counted = true;
  }
  if (builtin.judges() && builtin.result == 0) return fail("it judges a value and gives none: use it as a constraint");
  Value result = call_within_range(builtin, args);
  if (builtin.judges() && (result.is_none() || (result.is_bottom() && result.bottom->is_rejection)))
    return Value::of(result.is_none());
  return result;
}

namespace {

// What reading the texts and long numbers among the arguments costs.
std::uint64_t argument_steps(const Builtin& builtin, std::span<const Value> args) {
  std::uint64_t steps = 0;
  for (const Value& one : args) {
    const bool is_text = one.tag == Value::Tag::String || one.tag == Value::Tag::Bytes;
    if (is_text && !builtin.is_instant) steps += one.size / kBytesPerStep;
    // Long division, digit by digit.
    if (one.tag == Value::Tag::Number) steps += one.number->digits.size() * one.number->digits.size() / 1024;
  }
  return steps;
}

}  // namespace

// What asks for an int gets one of 64 bits (the nearest when the sign takes one), unless it can do with any.
Value Evaluator::call_within_range(const Builtin& builtin, std::span<const Value> args) {
  if (!spend(argument_steps(builtin, args))) return ended();
  for (std::size_t i = 0; i < args.size() && !builtin.package.empty(); ++i) {
    bool may_be_big = builtin.params[i] != kInt || (builtin.big_params >> i & 1) != 0 || args[i].tag != Value::Tag::Number;
    if (may_be_big || to_integer(to_decimal(args[i])).bit_count() <= 64) continue;
    return error(fmt::format("int {} overflows int64 in argument {} in call to {}", show(args[i]), i, callee()));
  }
  return builtin.call(*this, args);
}

// and, or, close, matchN and their like take their arguments unevaluated or partly so.
Value Evaluator::call_raw(const Builtin& builtin, const ir::Call& expr, Env* env) {
  std::vector<Value> args;
  bool makes_validator = builtin.judges() && expr.args.size() + 1 == builtin.params.size();
  if (expr.args.size() != builtin.params.size() && !makes_validator) {
    return wrong_count(builtin, expr.args.size() > builtin.params.size() ? "too many" : "not enough", expr.args.size(),
                       expr.pos);
  }
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    Value value = evaluate(*expr.args[i], env);
    std::size_t param = i + (makes_validator ? 1 : 0);
    // A number may be given by what it must satisfy; texts, lists and structs are wanted as such.
    bool wants_container = (builtin.params[param] & ~(kList | kStruct | kString | kBytes)) == 0;
    if (wants_container) {
      Value raw = value;
      value = make_concrete(raw, expr.args[i]->pos);
      const Value& known = raw.is_vertex() ? deref(raw.vertex)->base : raw;
      KindMask kinds = known.is_vertex() || known.is_bottom() ? kTop : kinds_of(known);
      bool can_never_be =
          value.is_bottom() && is_incomplete(value.bottom->code) && kinds != 0 && (kinds & builtin.params[param]) == 0;
      if (can_never_be) return check_argument(builtin, known, param, expr.args[i]->pos);
      if (value.is_bottom()) value = lacks_argument(value, builtin, param, expr.pos);
    }
    bool is_known = builtin.params[param] != kTop && (!value.is_vertex() || settle(value.vertex));
    if (!value.is_bottom() && is_known)
      value = check_argument(builtin, value.is_vertex() && !wants_container ? value_of(value.vertex) : value, param,
                             expr.args[i]->pos);
    if (value.is_bottom()) return value;
    if (value.is_vertex()) {
      if (!settle(value.vertex) && low_ != kNothing && !force_) return bottom(Code::Cycle, "cycle error", expr.pos);
      complete(value.vertex);
    }
    args.push_back(value);
  }
  if (makes_validator) {
    Value validator = Value::of(Value::Tag::Validator);
    std::vector<Pos> places;
    for (std::size_t i = 0; i < args.size(); ++i) {
      bool has_place = args[i].is_concrete_scalar() || args[i].tag == Value::Tag::Bound || args[i].tag == Value::Tag::Type;
      if (has_place) places.push_back(expr.args[i]->pos);
    }
    validator.validator = arena_.make<Validator>(&builtin, std::span<const Value>(arena_.copy(args)), expr.pos,
                                                 std::span<const Pos>(arena_.copy(places)), true);
    return validator;
  }
  if (builtin.is_only_validator) {
    return error(fmt::format("{} is a validator and should not be used as a function", builtin.name));
  }
  Value result = builtin.call(*this, args);
  return result.is_bottom() && result.bottom->is_rejection ? Value::of(false) : result;
}

}  // namespace slipway::cue
