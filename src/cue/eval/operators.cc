// Operators on scalars, equality, bounds.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "cue/eval/evaluator.h"
#include "cue/std/regexp.h"

// Operators are few of many words.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {
/// Digits of two numbers from where arithmetic is charged for them.
constexpr std::uint64_t kLongNumber = 128;
}  // namespace

KindMask kinds_of(const Value& value) {
  switch (value.tag) {
    case Value::Tag::None:
      return kTop;
    case Value::Tag::Null:
      return kNull;
    case Value::Tag::Bool:
      return kBool;
    case Value::Tag::Int:
      return kInt;
    case Value::Tag::Number:
      return value.number->is_float ? kFloat : kInt;
    case Value::Tag::String:
      return kString;
    case Value::Tag::Bytes:
      return kBytes;
    case Value::Tag::Type:
      return value.kinds;
    case Value::Tag::Bound: {
      if (value.bound->op == Tok::Neq || value.bound->op == Tok::Eql) {
        return value.bound->operand.tag == Value::Tag::Null && value.bound->op == Tok::Neq ? kTop & ~kNull
               : value.bound->operand.is_number()                                          ? kNumber
                                                                                           : kinds_of(value.bound->operand);
      }
      return value.bound->operand.is_number() ? KindMask{kNumber} : kinds_of(value.bound->operand);
    }
    case Value::Tag::Validator:
      return value.validator->builtin->params.empty() ? KindMask{kTop} : value.validator->builtin->params[0];
    case Value::Tag::Conjunction: {
      KindMask mask = kTop;
      for (const Value& part : value.conjunction->parts) mask &= kinds_of(part);
      return mask;
    }
    case Value::Tag::Disjunction: {
      KindMask mask = 0;
      for (const Value& one : value.disjunction->values) mask |= kinds_of(one);
      return mask;
    }
    case Value::Tag::Builtin:
      return kFunc;
    case Value::Tag::Struct:
      return kStruct;
    case Value::Tag::List:
      return kList;
    case Value::Tag::Vertex: {
      const Vertex* v = deref(value.vertex);
      return v->base.is_none() ? KindMask{kTop} : kinds_of(v->base);
    }
    case Value::Tag::Bottom:
      return 0;
  }
  return 0;
}

std::string describe_kind(KindMask mask) {
  if (mask == kTop) return "_";
  if (mask == 0) return "_|_";
  static constexpr struct {
    KindMask mask;
    std::string_view name;
  } kNames[] = {{kNull, "null"},   {kBool, "bool"}, {kInt, "int"},   {kFloat, "float"},   {kString, "string"},
                {kBytes, "bytes"}, {kFunc, "func"}, {kList, "list"}, {kStruct, "struct"}, {kNumber, "number"}};
  std::string out;
  int count = 0;
  for (const auto& one : kNames) {
    bool is_part = (mask & kNumber) == kNumber && (one.mask == kInt || one.mask == kFloat);
    if (is_part) continue;
    if ((mask & one.mask) != one.mask) continue;
    mask &= static_cast<KindMask>(~one.mask);
    out += (out.empty() ? "" : "|") + std::string(one.name);
    ++count;
  }
  return count > 1 ? "(" + out + ")" : out;
}

Decimal to_decimal(const Value& number) {
  return number.tag == Value::Tag::Int ? decimal_of(number.integer) : number.number->decimal();
}

Value Evaluator::make_number(const Decimal& number, bool is_float) {
  if (!is_float) {
    if (auto small = to_int64(number); small && number.exponent <= 0) return Value::of_int(*small);
  }
  auto* big = arena_.make<Number>();
  big->digits = arena_.copy(std::string_view(number.digits));
  big->exponent = number.exponent;
  big->is_negative = number.is_negative;
  big->is_float = is_float;
  return Value::of(big);
}

std::string Evaluator::number_text(const Value& number) const {
  if (number.tag == Value::Tag::Int) return fmt::to_string(number.integer);
  return format(number.number->decimal(), number.number->is_float);
}

std::string Evaluator::data_text(const Value& number) const {
  return number.tag == Value::Tag::Int ? fmt::to_string(number.integer) : format(number.number->decimal(), false);
}

Value Evaluator::binary_values(Tok op, const Value& a, const Value& b, Pos pos) {
  switch (op) {
    case Tok::LAnd:
    case Tok::LOr:
      // The right side is evaluated, but does not count when the left decides.
      if (a.tag == Value::Tag::Bool && a.boolean == (op == Tok::LOr)) return a;
      for (const Value& side : {a, b}) {
        if (side.tag == Value::Tag::Bool) continue;
        return bottom(
            Code::Eval,
            op == Tok::LAnd ? "cannot use {0} (type {1}) as type bool in &&" : "cannot use {0} (type {1}) as type bool in ||",
            pos, side, Value::type(kinds_of(side)));
      }
      return b;
    case Tok::Eql:
    case Tok::Neq:
    case Tok::Lss:
    case Tok::Leq:
    case Tok::Gtr:
    case Tok::Geq:
      return compare_values(op, a, b, pos);
    case Tok::Mat:
    case Tok::NMat: {
      bool are_texts = (a.tag == Value::Tag::String || a.tag == Value::Tag::Bytes) &&
                       (b.tag == Value::Tag::String || b.tag == Value::Tag::Bytes);
      if (!are_texts) break;
      Value error;
      bool found = matches_regexp(a.str(), b.str(), error, pos);
      return error.is_bottom() ? error : Value::of(found == (op == Tok::Mat));
    }
    default:
      return arithmetic(op, a, b, pos);
  }
  return bottom(Code::Eval, "invalid operands {0} and {1} (mismatched types)", pos, a, b);
}

Value Evaluator::repeat(const Value& text, const Value& count, Pos pos) {
  if (count.tag != Value::Tag::Int || count.integer < 0)
    return bottom(Code::Eval, "cannot convert negative number to uint64", pos);
  if (static_cast<std::uint64_t>(count.integer) * text.size > 1'000'000)
    return bottom(Code::Eval, "repeated text too long", pos);
  const auto size = static_cast<std::uint64_t>(count.integer) * text.size;
  char* to = take_text(size);
  if (to == nullptr) return ended();
  for (std::uint64_t at = 0; at < size; at += text.size) std::ranges::copy(text.str(), to + at);
  const std::string_view kept(to, size);
  return text.tag == Value::Tag::Bytes ? Value::bytes(kept) : Value::string(kept);
}

// A quotient has no zeros at its end, but a digit behind the dot: 5.0E+11.
static Decimal reduced(Decimal value) {
  while (value.digits.size() > 1 && value.digits.back() == '0') {
    value.digits.pop_back();
    ++value.exponent;
  }
  if (value.exponent < 0 || value.is_zero()) return value;
  value.digits += '0';
  --value.exponent;
  return round(std::move(value));
}

Value Evaluator::arithmetic(Tok op, const Value& a, const Value& b, Pos pos) {
  if (a.is_number() && b.is_number()) {
    std::int64_t small = 0;
    if (a.tag == Value::Tag::Int && b.tag == Value::Tag::Int && op != Tok::Quo) {
      bool overflows = op == Tok::Add   ? __builtin_add_overflow(a.integer, b.integer, &small)
                       : op == Tok::Sub ? __builtin_sub_overflow(a.integer, b.integer, &small)
                                        : __builtin_mul_overflow(a.integer, b.integer, &small);
      if (!overflows) return Value::of_int(small);
    }
    Decimal left = to_decimal(a);
    Decimal right = to_decimal(b);
    bool floats = is_float(a) || is_float(b) || op == Tok::Quo;
    if (std::abs(static_cast<std::int64_t>(left.exponent) - right.exponent) > 20000)
      return bottom(Code::Eval, "exponent out of range", pos);
    // By hand, digit by digit.
    const std::uint64_t digits = left.digits.size() + right.digits.size();
    const std::uint64_t work = op == Tok::Add || op == Tok::Sub ? digits : left.digits.size() * right.digits.size();
    if (digits > kLongNumber && !spend(work / kBytesPerStep)) return ended();
    if (op == Tok::Quo && right.is_zero()) return bottom(Code::Eval, "failed arithmetic: division by zero", pos);
    return make_number(op == Tok::Add   ? add(left, right)
                       : op == Tok::Sub ? subtract(left, right)
                       : op == Tok::Mul ? multiply(left, right)
                                        : reduced(divide(left, right)),
                       floats);
  }
  bool a_text = a.tag == Value::Tag::String || a.tag == Value::Tag::Bytes;
  bool b_text = b.tag == Value::Tag::String || b.tag == Value::Tag::Bytes;
  if (op == Tok::Add && a_text && b_text && a.tag == b.tag) {
    const std::uint64_t size = std::uint64_t{a.size} + b.size;
    char* to = take_text(size);
    if (to == nullptr) return ended();
    std::ranges::copy(b.str(), std::ranges::copy(a.str(), to).out);
    const std::string_view kept(to, size);
    return a.tag == Value::Tag::Bytes ? Value::bytes(kept) : Value::string(kept);
  }
  if (op == Tok::Mul && a_text && kinds_of(b) == kInt) return repeat(a, b, pos);
  if (op == Tok::Mul && b_text && kinds_of(a) == kInt) return repeat(b, a, pos);
  auto is_list = [](const Value& side) { return side.is_vertex() && deref(side.vertex)->base.tag == Value::Tag::List; };
  if (program_.is_legacy && (is_list(a) || is_list(b)) && (op == Tok::Add || op == Tok::Mul))
    return list_arithmetic(op, a, b, pos);
  if (op == Tok::Add && a.is_vertex() && b.is_vertex() && deref(a.vertex)->base.tag == Value::Tag::List) {
    return bottom(Code::Eval, "Addition of lists is superseded by list.Concat; see https://cuelang.org/e/v0.11-list-arithmetic",
                  pos);
  }
  if (op == Tok::Mul && ((a.is_vertex() && deref(a.vertex)->base.tag == Value::Tag::List) ||
                         (b.is_vertex() && deref(b.vertex)->base.tag == Value::Tag::List))) {
    return bottom(Code::Eval,
                  "Multiplication of lists is superseded by list.Repeat; see https://cuelang.org/e/v0.11-list-arithmetic", pos);
  }
  return bottom(Code::Eval, "invalid operands {0} and {1} (mismatched types)", pos, a, b);
}

// As it was before v0.11: [1] + [2], 3 * [0].
Value Evaluator::list_arithmetic(Tok op, const Value& a, const Value& b, Pos pos) {
  const Value& list = kinds_of(a) == kList ? a : b;
  const Value& other = kinds_of(a) == kList ? b : a;
  std::vector<Value> items;
  if (op == Tok::Add && kinds_of(other) == kList) {
    if (!has_room((list_size(a) + list_size(b)) * kItemBytes)) return ended();
    for (const Value& side : {a, b}) {
      for (std::size_t i = 0; i < list_size(side); ++i) items.push_back(raw_item(side, i));
    }
    return make_list(items);
  }
  if (op != Tok::Mul || other.tag != Value::Tag::Int)
    return bottom(Code::Eval, "invalid operands {0} and {1} (mismatched types)", pos, a, b);
  if (other.integer < 0) return bottom(Code::Eval, "cannot convert negative number to uint64", pos);
  if (static_cast<std::uint64_t>(other.integer) * std::max<std::size_t>(list_size(list), 1) > 1'000'000)
    return bottom(Code::Eval, "repeated list too long", pos);
  if (!has_room(static_cast<std::uint64_t>(other.integer) * list_size(list) * kItemBytes)) return ended();
  for (std::int64_t n = 0; n < other.integer; ++n) {
    for (std::size_t i = 0; i < list_size(list); ++i) items.push_back(raw_item(list, i));
  }
  return make_list(items);
}

Value Evaluator::compare_values(Tok op, const Value& a, const Value& b, Pos pos) {
  bool is_equality = op == Tok::Eql || op == Tok::Neq;
  auto decide = [op](int order) {
    return Value::of(op == Tok::Eql   ? order == 0
                     : op == Tok::Neq ? order != 0
                     : op == Tok::Lss ? order < 0
                     : op == Tok::Leq ? order <= 0
                     : op == Tok::Gtr ? order > 0
                                      : order >= 0);
  };
  if (a.tag == Value::Tag::Int && b.tag == Value::Tag::Int) return decide(a.integer < b.integer ? -1 : a.integer > b.integer);
  if (a.is_number() && b.is_number()) return decide(compare(to_decimal(a), to_decimal(b)));
  if (a.tag == b.tag && (a.tag == Value::Tag::String || a.tag == Value::Tag::Bytes)) return decide(a.str().compare(b.str()));
  if (is_equality && a.tag == b.tag && a.tag == Value::Tag::Bool) return decide(a.boolean == b.boolean ? 0 : 1);
  if (is_equality && (a.tag == Value::Tag::Null || b.tag == Value::Tag::Null)) return decide(a.tag == b.tag ? 0 : 1);
  auto is_list = [](const Value& side) { return side.is_vertex() && deref(side.vertex)->base.tag == Value::Tag::List; };
  if (is_equality && is_list(a) && is_list(b)) return compare_lists(op, a, b, pos);
  return bottom(Code::Eval, "invalid operands {0} and {1} (mismatched types)", pos, a, b);
}

// What in a list or struct has no value yet, or is wrong; none when all has.
Value Evaluator::lacks_value(Vertex* v, Pos pos) {
  complete(v);
  for (Vertex* field : deref(v)->arcs) {
    if (field->mark != ArcMark::Member || field->label.is_let()) continue;
    Value value = make_concrete(Value::of(field), pos);
    if (value.is_vertex()) value = lacks_value(value.vertex, pos);
    if (value.is_bottom()) return value;
  }
  return {};
}

Value Evaluator::compare_lists(Tok op, const Value& a, const Value& b, Pos pos) {
  for (const Value& side : {a, b}) {
    Value lacking = lacks_value(side.vertex, pos);
    if (lacking.is_bottom()) return bottom(lacking.bottom->code, "invalid operand to '==' (type list)", pos);
  }
  return Value::of(is_same_data(a, b, true) == (op == Tok::Eql));
}

// One side of a comparison of data: its value with defaults taken, or what it is said to be.
Value Evaluator::compared(const Value& side) {
  Value value = make_concrete(side, 0);
  return value.is_bottom() && side.is_vertex() ? deref(side.vertex)->base : value.is_bottom() ? side : value;
}

bool Evaluator::is_same_data(const Value& a, const Value& b, bool regular_only) {
  Value x = compared(a);
  Value y = compared(b);
  if (!x.is_vertex() || !y.is_vertex()) return kinds_of(x) == kinds_of(y) && is_identical(x, y);
  if (over_budget() || deref(x.vertex)->base.tag != deref(y.vertex)->base.tag) return false;
  auto counts = [regular_only](const Vertex* one) {
    if (one->mark != ArcMark::Member || one->label.is_let()) return false;
    return !regular_only || one->label.is_regular() || one->label.is_index();
  };
  for (Vertex* side : {deref(x.vertex), deref(y.vertex)}) {
    const Vertex* other = side == deref(x.vertex) ? deref(y.vertex) : deref(x.vertex);
    for (Vertex* one : side->arcs) {
      if (!counts(one)) continue;
      Vertex* twin = find_arc(other, one->label);
      if (twin == nullptr || !counts(twin)) return false;
      if (side == deref(x.vertex) && !is_same_data(Value::of(one), Value::of(twin), regular_only)) return false;
    }
  }
  return true;
}

bool Evaluator::is_identical(const Value& a_in, const Value& b_in) {
  // What a vertex came to, itself or as the one it is shared with, unless its fields are its value.
  auto settled = [](const Value& side) {
    if (!side.is_vertex()) return side;
    const Value& base = deref(side.vertex)->base;
    return base.is_none() || base.is_container() ? side : base;
  };
  const Value a = settled(a_in);
  const Value b = settled(b_in);
  if (a.is_number() && b.is_number())
    return kinds_of(a) == kinds_of(b) ? compare(to_decimal(a), to_decimal(b)) == 0 : compare(to_decimal(a), to_decimal(b)) == 0;
  if (a.tag != b.tag) return false;
  switch (a.tag) {
    case Value::Tag::Null:
      return true;
    case Value::Tag::Bool:
      return a.boolean == b.boolean;
    case Value::Tag::String:
    case Value::Tag::Bytes:
      return a.str() == b.str();
    case Value::Tag::Type:
      return a.kinds == b.kinds;
    case Value::Tag::Bound:
      return a.bound->op == b.bound->op && is_identical(a.bound->operand, b.bound->operand);
    case Value::Tag::Validator:
      return a.validator->builtin == b.validator->builtin &&
             std::equal(a.validator->args.begin(), a.validator->args.end(), b.validator->args.begin(), b.validator->args.end(),
                        [this](const Value& x, const Value& y) { return is_identical(x, y); });
    case Value::Tag::Conjunction: {
      auto x = a.conjunction->parts;
      auto y = b.conjunction->parts;
      return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                        [this](const Value& p, const Value& q) { return is_identical(p, q); });
    }
    case Value::Tag::Disjunction: {
      auto x = a.disjunction->values;
      auto y = b.disjunction->values;
      return a.disjunction->defaults == b.disjunction->defaults &&
             std::equal(x.begin(), x.end(), y.begin(), y.end(),
                        [this](const Value& p, const Value& q) { return is_identical(p, q); });
    }
    case Value::Tag::Builtin:
      return a.builtin == b.builtin;
    case Value::Tag::Bottom:
      // The same words of the source, met twice.
      return a.bottom->code == b.bottom->code && a.bottom->pos == b.bottom->pos && a.bottom->pos != 0;
    case Value::Tag::Vertex:
      break;
    default:
      return false;
  }
  const Vertex* x = deref(a.vertex);
  const Vertex* y = deref(b.vertex);
  if (x == y) return true;
  if (x->base.tag != y->base.tag || x->is_open_list != y->is_open_list || over_budget()) return false;
  auto count = [](const Vertex* v) {
    return std::count_if(v->arcs.begin(), v->arcs.end(), [](const Vertex* one) { return one->mark != ArcMark::Absent; });
  };
  if (count(x) != count(y)) return false;
  for (Vertex* one : x->arcs) {
    if (one->mark == ArcMark::Absent) continue;
    Vertex* other = find_arc(y, one->label);
    if (other == nullptr || other->mark != one->mark) return false;
    settle(one);
    settle(other);
    if (deref(one)->base.is_none() || deref(other)->base.is_none()) return false;
    if (!is_identical(Value::of(one), Value::of(other))) return false;
  }
  return true;
}

bool Evaluator::matches_regexp(std::string_view text, std::string_view pattern, Value& error, Pos pos) {
  Pos outer = std::exchange(calling_pos_, pos);
  const re2::RE2* compiled = regexp(pattern, error);
  if (compiled != nullptr && !spend(match_steps(*compiled, text.size()))) {
    error = ended();
    compiled = nullptr;
  }
  calling_pos_ = outer;
  return compiled != nullptr && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled);
}

int Evaluator::satisfies(const Value& value, const Value& bound, Value& error) {
  if (bound.tag == Value::Tag::Validator) {
    const Validator& validator = *bound.validator;
    for (const Judgement& one : judging_) {
      if (one.pos != validator.pos || validator.pos == 0 || !is_equal(one.subject, value)) continue;
      error = bottom(Code::StructuralCycle, "structural cycle", validator.pos);
      return 0;
    }
    judging_.push_back({validator.pos, value});
    std::vector<Value> args = {value};
    args.insert(args.end(), validator.args.begin(), validator.args.end());
    const Builtin* outer = std::exchange(calling_, validator.builtin);
    Pos outer_pos = std::exchange(calling_pos_, validator.pos);
    Value result = call_within_range(*validator.builtin, args);
    calling_ = outer;
    calling_pos_ = outer_pos;
    judging_.pop_back();
    if (result.is_bottom()) {
      error = result;
      return is_incomplete(result.bottom->code) ? -1 : 0;
    }
    return result.tag == Value::Tag::Bool ? (result.boolean ? 1 : 0) : 1;
  }
  const Bound& limit = *bound.bound;
  if (limit.op == Tok::Neq || limit.op == Tok::Eql) {
    bool equal = is_identical(value, limit.operand);
    return equal == (limit.op == Tok::Eql) ? 1 : 0;
  }
  Value result = binary_values(limit.op, value, limit.operand, limit.pos);
  if (result.is_bottom()) {
    error = result;
    return 0;
  }
  return result.boolean ? 1 : 0;
}

}  // namespace slipway::cue
