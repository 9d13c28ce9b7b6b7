// Values judged by schemas: what matchN, matchIf and the Validate functions of texts ask.
#include "cue/eval/evaluator.h"

namespace slipway::cue {

namespace {

// Of what a validator accepts: the worst that is not there yet, e.g. a required field.
Code missing_below(const Vertex* v) {
  Code worst = Code::None;
  for (Vertex* one : v->arcs) {
    if (one->mark > ArcMark::Required || one->label.is_let()) continue;
    if (one->mark == ArcMark::Required) worst = std::max(worst, Code::Incomplete);
    const Vertex* real = deref(one);
    worst = std::max(worst, real->base.is_bottom() ? real->base.bottom->code : missing_below(real));
  }
  return worst;
}

}  // namespace

Value Evaluator::reject(std::string message, std::span<const Value> because) {
  Value value = bottom(Code::Eval, "{0}", calling_pos_, Value::string(arena_.copy(std::string_view(message))));
  Bottom* fresh = just_made(value);
  fresh->is_rejection = true;
  std::vector<Branch> branches;
  for (const Value& one : because) branches.push_back({one.bottom, nullptr});
  fresh->branches = arena_.copy(branches);
  return value;
}

Value Evaluator::incomplete(std::string message, std::span<const Value> because) {
  Value value = reject(std::move(message), because);
  just_made(value)->code = Code::Incomplete;
  return value;
}

Value Evaluator::reject(const Value& reason) {
  auto* fresh = arena_.make<Bottom>(*reason.bottom);
  fresh->is_rejection = true;
  fresh->next = nullptr;
  return Value::of(fresh);
}

Value Evaluator::fail(const Value& reason, Code code) {
  Value failure = fail(message(*reason.bottom));
  Bottom* fresh = just_made(failure);
  fresh->code = code;
  fresh->source = reason.bottom;
  return failure;
}

// Where a scalar was written, as far as that is known.
Pos Evaluator::place_of_value(const Vertex* v) const {
  if (v->node != nullptr && v->node->has_scalar()) return v->node->said_from().pos;
  for (; v != nullptr; v = v->shared) {
    for (const Conjunct& one : v->conjuncts) {
      if (one.expr == nullptr || one.expr->op != ir::Op::Constant) continue;
      if (ir::as<ir::Constant>(*one.expr).value.is_concrete_scalar()) return one.expr->pos;
    }
  }
  return 0;
}

// One of the data, with the places of its name and of its value.
Vertex* Evaluator::placed_data(Vertex* parent, Label label, const Value& value, Pos name, Pos place) {
  Vertex* v = data_vertex(parent, label, value);
  if (v->shared != nullptr) return v;
  v->pos = name;
  if (place != 0) v->conjuncts.push(arena_, {constant(value, place), nullptr, nullptr, nullptr, Cycle::None});
  return v;
}

Value Evaluator::data_of(const Value& given) {
  constexpr int kMostDefaults = 100;  // inside each other
  if (given.is_vertex()) complete(given.vertex);
  Value value = given;
  for (int hops = 0; hops < kMostDefaults; ++hops) {
    const Vertex* v = value.is_vertex() ? deref(value.vertex) : nullptr;
    if (v != nullptr && !v->base.is_container()) value = v->base;
    if (value.tag != Value::Tag::Disjunction || value.disjunction->defaults != 1) break;
    value = value.disjunction->values[0];
  }
  if (!value.is_vertex() || over_budget()) return value;
  const Vertex* from = deref(value.vertex);
  Vertex* v = arena_.make<Vertex>();
  v->is_data = true;
  v->phase = Phase::Settled;
  v->base = from->base;
  v->is_open_list = from->is_open_list;
  for (Vertex* one : from->arcs) {
    if (one->mark != ArcMark::Member || !(one->label.is_regular() || one->label.is_index())) continue;
    v->add(arena_, placed_data(v, one->label, data_of(Value::of(one)), one->pos, place_of_value(one)));
  }
  return Value::of(v);
}

Vertex* Evaluator::meet(const Value& a, const Value& b, Pos a_pos) {
  Vertex* v = arena_.make<Vertex>();
  v->parent = current_;
  v->conjuncts.push(arena_, {constant(a, a_pos), nullptr, nullptr, nullptr, Cycle::None});
  v->conjuncts.push(arena_, {constant(b, 0), nullptr, nullptr, nullptr, Cycle::None});
  settle(v);
  complete(v);
  return v;
}

Value Evaluator::unify(const Value& a, const Value& b) {
  Vertex* real = deref(meet(a, b, 0));
  if (real->base.is_bottom()) return real->base;
  if (real->child_error != nullptr) return Value::of(real->child_error);
  return real->base.is_container() ? Value::of(real) : real->base;
}

Code Evaluator::fit(const Value& data, const Value& schema, std::vector<Value>* why) {
  Vertex* both = meet(data, schema, judged_ != nullptr ? place_of_value(judged_) : 0);
  const Vertex* real = deref(both);
  const Bottom* wrong = real->base.is_bottom() ? real->base.bottom : real->child_error;
  bool is_container = real->base.is_container();
  Code code = wrong != nullptr ? wrong->code : is_container ? missing_below(real) : Code::None;
  if (why == nullptr || code == Code::None) return code;
  Value reason = wrong != nullptr ? Value::of(wrong) : lacking(both, Wanted::Fields);
  if (reason.is_bottom()) why->push_back(reason);
  return code;
}

Value Evaluator::check(const Value& value, const Value& schema, Wanted wanted) {
  Vertex* both = meet(value, schema, value.is_vertex() ? place_of_value(value.vertex) : 0);
  const Vertex* real = deref(both);
  const Bottom* wrong = real->base.is_bottom() ? real->base.bottom : real->child_error;
  if (wrong != nullptr && !is_incomplete(wrong->code)) return Value::of(wrong);
  return wanted == Wanted::Fit ? Value() : lacking(both, wanted);
}

// The first that is not there, or has no single value, as `wanted` says.
Value Evaluator::lacking(Vertex* v, Wanted wanted) {
  complete(v);
  Vertex* real = deref(v);
  Value base = default_of(real->base);
  if (base.is_vertex()) real = deref(base.vertex);
  if (base.is_vertex()) base = real->base;
  bool is_container = base.is_container();
  if (!is_container) {
    if (wanted == Wanted::Fields || base.is_concrete_scalar()) return {};
    if (base.is_bottom() && base.bottom == real->base.bottom) return base;
    Value reason = bottom(Code::Incomplete, "incomplete value {0}", 0, real->base);
    Bottom* fresh = just_made(reason);
    fresh->node = v;
    fresh->is_unplaced = true;
    fresh->wants_sources = true;
    return reason;
  }
  for (std::uint32_t i = 0; i < real->arcs.size() && !over_budget(); ++i) {
    Vertex* field = real->arcs[i];
    if (field->mark == ArcMark::Required) {
      Value reason = bottom(Code::Incomplete, "field is required but not present", field->pos);
      just_made(reason)->node = field;
      return reason;
    }
    bool counts = field->label.is_regular() || field->label.is_index();
    if (field->mark != ArcMark::Member || !counts) continue;
    Value reason = lacking(field, wanted);
    if (reason.is_bottom()) return reason;
  }
  return {};
}

// --- places in texts

// Names and values get numbers in the order of the text; where that is shows when an error is read.
void Evaluator::place(const Value& data, const TextRead& text) {
  std::string name = callee();
  texts_read_.begin(text, name.substr(name.rfind('/') + 1));  // "json.Validate"
  if (data.is_vertex()) place_below(data.vertex);
}

void Evaluator::place_below(Vertex* data) {
  bool is_struct = data->base.tag == Value::Tag::Struct;
  for (Vertex* to : data->arcs) {
    if (is_struct) to->pos = texts_read_.next_place();
    Pos pos = texts_read_.next_place();
    if (to->base.is_concrete_scalar())
      to->conjuncts.push(arena_, {constant(to->base, pos), nullptr, nullptr, nullptr, Cycle::None});
    else
      place_below(to);
  }
}

}  // namespace slipway::cue
