// Values of other evaluations, copied into one.
#include "cue/evaluation.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {
/// Structs and lists inside each other that are copied.
constexpr int kMaxTransferDepth = 300;

Value too_deep(Arena& arena) {
  auto* reason = arena.make<Bottom>();
  reason->format = kTooDeep;
  return Value::of(reason);
}
}  // namespace

Value Evaluation::from_other_value(Evaluation& other, const Value& value, int depth) {
  Arena& arena = evaluator_.arena();
  switch (value.tag) {
    case Value::Tag::String:
      return evaluator_.make_string(value.str());
    case Value::Tag::Bytes:
      return evaluator_.make_bytes(value.str());
    case Value::Tag::Number:
      return evaluator_.make_number(value.number->decimal(), value.number->is_float);
    case Value::Tag::Bound: {
      Value copy = Value::of(Value::Tag::Bound);
      copy.bound = arena.make<Bound>(value.bound->op, from_other_value(other, value.bound->operand, depth), Pos{0});
      return copy;
    }
    case Value::Tag::Validator: {
      std::vector<Value> args;
      for (const Value& one : value.validator->args) args.push_back(from_other_value(other, one, depth));
      Value copy = Value::of(Value::Tag::Validator);
      copy.validator = arena.make<Validator>(value.validator->builtin, std::span<const Value>(arena.copy(args)), Pos{0});
      return copy;
    }
    case Value::Tag::Conjunction: {
      std::vector<Value> parts;
      for (const Value& one : value.conjunction->parts) parts.push_back(from_other_value(other, one, depth));
      Value copy = Value::of(Value::Tag::Conjunction);
      copy.conjunction = arena.make<Conjunction>(std::span<const Value>(arena.copy(parts)));
      return copy;
    }
    case Value::Tag::Disjunction: {
      std::vector<Value> values;
      for (const Value& one : value.disjunction->values) values.push_back(from_other_value(other, one, depth));
      auto* copy = arena.make<Disjunction>();
      copy->values = arena.copy(values);
      copy->defaults = value.disjunction->defaults;
      return Value::of(copy);
    }
    case Value::Tag::Vertex:
      return from_other(other, value.vertex, depth + 1);
    case Value::Tag::Bottom: {
      if (is_incomplete(value.bottom->code) && !keeps_incomplete_) return Value::type(kTop);
      auto* copy = arena.make<Bottom>();
      copy->code = value.bottom->code;
      copy->format = "{0}";
      copy->is_absent = true;
      copy->operands[0] = evaluator_.make_string(other.evaluator_.message(*value.bottom));
      return Value::of(copy);
    }
    case Value::Tag::Struct:
    case Value::Tag::List:
      return too_deep(arena);  // the fields are those of a vertex: whoever copies it stopped there
    default:
      return value;
  }
}

Value Evaluation::from_other(Evaluation& other, Vertex* v, int depth) {
  other.evaluator_.complete(v);
  if (depth == 0 && other.evaluator_.spent() != nullptr) return from_other_value(other, Value::of(other.evaluator_.spent()));
  const Vertex* real = deref(v);
  if (depth > kMaxTransferDepth && real->base.is_container()) return too_deep(evaluator_.arena());
  if (real->base.tag == Value::Tag::List) {
    std::vector<Value> items;
    for (Vertex* one : real->arcs) {
      if (one->label.is_index()) items.push_back(from_other(other, one, depth + 1));
    }
    Value list = evaluator_.make_list(items);
    if (real->is_open_list && !list.is_bottom()) open_list(list.vertex, rest_of(other, real, depth + 1));
    return list;
  }
  if (real->base.tag != Value::Tag::Struct) return from_other_value(other, real->base, depth);
  std::vector<Evaluator::Member> members;
  for (Vertex* one : real->arcs) {
    if (!one->label.is_regular() || one->mark != ArcMark::Member) continue;
    members.push_back({other.evaluator_.labels().text(one->label), from_other(other, one, depth + 1)});
  }
  return evaluator_.make_struct(members);
}

void Evaluation::open_list(Vertex* list, const Value& rest) {
  list->is_open_list = true;
  if (rest.is_none()) return;
  auto* constant = evaluator_.arena().make<ir::Constant>();
  constant->op = ir::Op::Constant;
  constant->value = rest;
  evaluator_.set_data_rest(list, constant);
}

Value Evaluation::rest_of(Evaluation& other, const Vertex* list, int depth) {
  const ir::Expr* written = other.evaluator_.data_rest(list);
  if (written != nullptr) return from_other_value(other, ir::as<ir::Constant>(*written).value, depth);
  if (list->node == nullptr) return {};
  Arena& arena = other.evaluator_.arena();
  auto* item = arena.make<Vertex>();
  for (const ListPart& part : list->node->lists) {
    if (part.is_open && part.rest.expr != nullptr) item->conjuncts.push(arena, part.rest);
  }
  if (item->conjuncts.empty()) return {};
  return from_other(other, item, depth);
}

Cursor Evaluation::unify(std::span<const Value> values) {
  Arena& arena = evaluator_.arena();
  std::vector<const ir::Expr*> parts;
  for (const Value& one : values) {
    auto* constant = arena.make<ir::Constant>();
    constant->op = ir::Op::Constant;
    constant->value = one;
    parts.push_back(constant);
  }
  auto* all = arena.make<ir::And>();
  all->op = ir::Op::And;
  all->parts = arena.copy(parts);
  return {shared_from_this(), evaluator_.complete_expression(all)};
}

}  // namespace slipway::cue
