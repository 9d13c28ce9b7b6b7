// Values compared as a whole: hashes of data, and the comparators of sorting functions.
#include <algorithm>
#include <functional>

#include "cue/eval/evaluator.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

// Of what is no struct or list. Numbers that are equal have one hash, however they are written.
std::uint64_t hash_of_scalar(const Value& value) {
  switch (value.tag) {
    case Value::Tag::Bool:
      return value.boolean ? 2 : 1;
    case Value::Tag::Int:
      return mixed(std::hash<double>()(static_cast<double>(value.integer)));
    case Value::Tag::Number:
      return mixed(std::hash<double>()(to_double(to_decimal(value))));
    case Value::Tag::String:
    case Value::Tag::Bytes:
      return std::hash<std::string_view>()(value.str());
    case Value::Tag::Type:
      return mixed(value.kinds);
    default:
      return mixed(static_cast<std::uint64_t>(value.tag));
  }
}

}  // namespace

// Fields count in any order, as they do for is_same_data.
std::uint64_t Evaluator::hash_of(const Value& of) {
  const Value value = compared(of);
  if (!value.is_vertex()) return hash_of_scalar(value);
  const Vertex* v = deref(value.vertex);
  std::uint64_t all = static_cast<std::uint64_t>(v->base.tag);
  if (over_budget(calling_pos_)) return all;
  for (Vertex* one : v->arcs) {
    if (one->mark == ArcMark::Member && !one->label.is_let()) all += mixed(mixed(one->label.word) ^ hash_of(Value::of(one)));
  }
  return all;
}

namespace {

// Of a field that is nothing but a type, or one of several types: which kinds it takes. Of any other none.
KindMask kinds_taken(const Vertex* side) {
  if (side == nullptr || side->mark != ArcMark::Member) return 0;
  const Vertex* real = deref(side);
  if (!real->arcs.empty()) return 0;
  if (real->base.tag == Value::Tag::Type) return real->base.kinds;
  if (real->base.tag != Value::Tag::Disjunction || real->base.disjunction->defaults != 0) return 0;
  auto is_type = [](const Value& one) { return one.tag == Value::Tag::Type; };
  return std::ranges::all_of(real->base.disjunction->values, is_type) ? kinds_of(real->base) : KindMask{0};
}

// Whether a side of a comparator takes the item as it is.
bool takes_as_is(const Vertex* side, const Value& item) {
  const KindMask kinds = kinds_taken(side);
  if (kinds == kTop) return true;
  const Value& is = item.is_vertex() ? deref(item.vertex)->base : item;
  return is.is_concrete_scalar() && (kinds_of(is) & ~kinds) == 0;
}

bool says_same_anywhere(const Conjunct& c) {
  auto is_constant = [](const ir::Disjunct& one) { return one.value->op == ir::Op::Constant; };
  return c.expr->op == ir::Op::Constant ||
         (c.expr->op == ir::Op::Or && std::ranges::all_of(ir::as<ir::Or>(*c.expr).parts, is_constant));
}

bool names_field(const ir::Expr& expr, Label label) {
  if (expr.op != ir::Op::FieldRef) return false;
  const auto& ref = ir::as<ir::Ref>(expr);
  return ref.up == 0 && ref.label == label;
}

}  // namespace

// Makes the struct in which items stand for x and y of the comparator. False when the comparator has fields that may be made of
// them.
bool Evaluator::prepare_comparison(Vertex* comparator) {
  if (comparison_.comparator == comparator) return true;
  const Label names[] = {labels_.regular("x"), labels_.regular("y")};
  Vertex* less = find_arc(comparator, labels_.regular("less"));
  bool is_plain = comparator->base.tag == Value::Tag::Struct && less != nullptr && less->conjuncts.size() == 1;
  if (!is_plain) return false;
  const Conjunct judges = less->conjuncts[0];
  if (judges.env == nullptr || judges.env->vertex != comparator) return false;
  Vertex* both = arena_.make<Vertex>();
  both->parent = current_;
  both->base = comparator->base;
  both->phase = Phase::Settled;
  for (Label name : names) {
    Vertex* side = arena_.make<Vertex>();
    side->parent = both;
    side->label = name;
    both->add(arena_, side);
  }
  for (Vertex* one : comparator->arcs) {
    if (one == less || one->label == names[0] || one->label == names[1]) continue;
    if (!std::ranges::all_of(one->conjuncts, says_same_anywhere)) return false;
    both->add(arena_, one);
  }
  Env* env = arena_.make<Env>(judges.env->up, both, judges.env->label, nullptr);
  comparison_ = {comparator, judges.expr, both->arcs[0], both->arcs[1], env};
  return true;
}

// The expression that compares, with x and y in the place of those of the comparator. None when the comparator says more of
// them than what kind they are, or has fields that may be made of them.
Value Evaluator::compare_in_place(Vertex* comparator, const Value& x, const Value& y) {
  if (!takes_as_is(find_arc(comparator, labels_.regular("x")), x) ||
      !takes_as_is(find_arc(comparator, labels_.regular("y")), y))
    return {};
  if (!prepare_comparison(comparator)) return {};
  const Comparison now = std::exchange(comparison_, {});  // not for comparisons inside this one
  auto give = [](Vertex* side, const Value& item) {
    Vertex fresh;
    fresh.parent = side->parent;
    fresh.label = side->label;
    fresh.is_data = !item.is_vertex();
    fresh.phase = item.is_vertex() ? Phase::Settled : Phase::Final;
    fresh.shared = item.is_vertex() ? item.vertex : nullptr;
    fresh.base = item.is_vertex() ? Value() : item;
    *side = fresh;
  };
  give(now.x, x);
  give(now.y, y);
  now.env->lets = nullptr;
  Value less = concrete(*now.less, now.env);
  comparison_ = now;
  return less;
}

Value Evaluator::compare_with(const Value& comparator, const Value& x, const Value& y) {
  if (comparator.is_vertex()) {
    Value less = compare_in_place(deref(comparator.vertex), x, y);
    if (less.tag == Value::Tag::Bool) return less;
  }
  Member members[] = {{"x", x}, {"y", y}};
  const Value items = make_struct(members);
  if (items.is_bottom()) return items;
  Value both = unify(comparator, items);
  if (both.is_bottom()) return both;
  Vertex* less = find_arc(deref(both.vertex), labels_.regular("less"));
  return less == nullptr ? fail("field not found: less") : make_concrete(Value::of(less), calling_pos_);
}

// 1 when the comparator is x < y of numbers and texts and nothing else, -1 when it is x > y, 0 when there is more to it.
int Evaluator::natural_order(const Value& comparator) {
  Vertex* v = comparator.is_vertex() ? deref(comparator.vertex) : nullptr;
  if (v == nullptr || !prepare_comparison(v)) return 0;
  constexpr KindMask kOrdered = kNumber | kString;
  const Label names[] = {labels_.regular("x"), labels_.regular("y")};
  for (Label name : names) {
    if ((kinds_taken(find_arc(v, name)) & kOrdered) != kOrdered) return 0;
  }
  const ir::Expr& less = *comparison_.less;
  if (less.op != ir::Op::Binary) return 0;
  const auto& binary = ir::as<ir::Binary>(less);
  if (!names_field(*binary.left, names[0]) || !names_field(*binary.right, names[1])) return 0;
  return binary.kind == Tok::Lss ? 1 : binary.kind == Tok::Gtr ? -1 : 0;
}

}  // namespace slipway::cue
