// From what was inserted to what a vertex is.
#include <algorithm>

#include "cue/eval/evaluator.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {
bool is_lower(Tok op) { return op == Tok::Gtr || op == Tok::Geq; }
bool is_upper(Tok op) { return op == Tok::Lss || op == Tok::Leq; }
}  // namespace

bool Evaluator::is_simple(const Value& value) {
  return value.is_concrete_scalar() || value.tag == Value::Tag::Type || value.tag == Value::Tag::Bound ||
         value.tag == Value::Tag::Conjunction;
}

// Open lists give their rest to items beyond their own; closed ones must agree in length.
void Evaluator::finish_lists(Vertex* v) {
  Node& node = *v->node;
  if (node.lists.empty()) return;
  std::uint32_t length = 0;
  for (const ListPart& part : node.lists) length = std::max(length, part.size);
  // The later of two that do not go together is where it is told.
  const ListPart* closed = nullptr;
  for (const ListPart& part : node.lists) {
    bool fits = closed == nullptr || (part.is_open ? part.size <= closed->size : part.size == closed->size);
    if (!fits) return add_error(v, wrong_length(*closed, part));
    if (!part.is_open && closed == nullptr) closed = &part;
  }
  for (const ListPart& part : node.lists) {
    if (closed != nullptr && part.size > closed->size) return add_error(v, wrong_length(part, *closed));
  }
  for (const ListPart& part : node.lists) {
    if (part.rest.expr == nullptr) continue;
    for (std::uint32_t i = part.size; i < length && !over_budget(part.pos, v); ++i)
      add_conjunct(arc(v, Label::item(i), ArcMark::Member), part.rest);
  }
}

Value Evaluator::wrong_length(const ListPart& first, const ListPart& second) {
  // As upstream counts, "..." of the later one is an item.
  std::uint32_t sizes[] = {first.size, second.size + (second.rest.expr != nullptr ? 1 : 0)};
  return bottom(Code::Eval, "incompatible list lengths ({0} and {1})", second.pos != 0 ? second.pos : first.pos,
                Value::of_int(std::min(sizes[0], sizes[1])), Value::of_int(std::max(sizes[0], sizes[1])));
}

// Guards were decided with what was known; none may have been wrong.
void Evaluator::check_guards(Vertex* v) {
  Node& node = *v->node;
  if (node.told == nullptr) return;
  Told& told = *node.told;
  for (const AbsentField& one : told.absent) {
    const Vertex* field = find_arc(one.holder, one.label);
    if (field == nullptr || field->mark != ArcMark::Member) continue;
    add_error(v, bottom(Code::Cycle, "circular dependency in evaluation of conditionals: {0} changed after evaluation", one.pos,
                        Value::string(labels_.text(one.label))));
  }
  for (const AbsentField& one : told.promised) {
    const Vertex* field = find_arc(v, one.label);
    if (field == nullptr || field->mark != ArcMark::Member) continue;
    add_error(v, bottom(Code::Incomplete, "cyclic reference to field {0}", one.pos, Value::string(labels_.text(one.label))));
  }
  if (node.errors != nullptr) return;
  for (std::uint32_t i = 0; i < told.verdicts.size(); ++i) {
    const Verdict one = told.verdicts[i];
    Value now = presence(*one.question, one.env);
    if (now.tag != Value::Tag::Bool || now.boolean == one.answer) continue;
    add_error(v, bottom(Code::Cycle, "circular dependency in evaluation of conditionals: a value changed after evaluation",
                        one.question->pos));
  }
}

void Evaluator::finish(Vertex* v) {
  Node& node = *v->node;
  v->phase = Phase::Settled;
  if (v->shared != nullptr) return;
  if (node.has_cyclic && !node.has_noncyclic && node.errors == nullptr) {
    v->arcs.clear();
    v->elements = 0;
    indexes_.erase(v);
    add_error(v, bottom(Code::StructuralCycle, "structural cycle", v->pos));
  }
  check_guards(v);
  finish_closedness(v);
  if (node.errors != nullptr) {
    if (is_incomplete(node.errors->code)) find_contradiction(v);
    v->base = Value::of(node.errors);
    return;
  }
  if (v->base.is_none()) v->base = finish_base(v);
}

void Evaluator::finish_closedness(Vertex* v) {
  const Node& node = *v->node;
  bool has_parent = v->parent != nullptr && !v->label.is_none();
  v->in_closed = !node.requirements.empty() || (v->parent != nullptr && v->parent->in_closed);
  // What a definition says "_" of it takes in with all that is below.
  bool has_top = std::any_of(node.scopes.begin(), node.scopes.end(),
                             [](const ScopeMark& one) { return one.is_top && is_in_definition(one.scope); });
  v->closes_below = v->closes_below || has_top || (has_parent && v->parent->closes_below);
  v->is_closed = v->closes_fields || v->closes_once || v->closes_below || v->has_definition || !node.requirements.empty();
}

// What is not known yet does not hide that the rest contradicts itself.
void Evaluator::find_contradiction(Vertex* v) {
  const Bottom* unknown = std::exchange(v->node->errors, nullptr);
  Value rest = finish_base(v, false);
  if (!rest.is_bottom() && !v->node->disjunctions.empty()) {
    decide(v);
    rest = v->node->errors == nullptr ? Value{} : Value::of(v->node->errors);
    v->base = {};
    v->shared = nullptr;
    v->node->left.clear();
  }
  v->node->errors = unknown;
  if (rest.is_bottom() && !is_incomplete(rest.bottom->code)) add_error(v, rest);
}

// The base when there are no errors and no disjunction. Fields are not judged by validators unless all of them are known.
Value Evaluator::finish_base(Vertex* v, bool is_all_known) {
  Node& node = *v->node;
  if (node.errors != nullptr) return Value::of(node.errors);
  bool has_fields = std::any_of(v->arcs.begin(), v->arcs.end(),
                                [](const Vertex* a) { return a->label.is_regular() && a->mark <= ArcMark::Required; });
  if (!node.lists.empty()) {
    v->is_open_list = std::all_of(node.lists.begin(), node.lists.end(), [](const ListPart& p) { return p.is_open; });
    if (node.has_struct || has_fields)
      return conflict(node.said(), node.said_from(), Value::type(kStruct), node.struct_from(), kList);
    Value list = Value::of(Value::Tag::List);
    return node.bounds.empty() || !is_all_known ? list : run_validators(v, list);
  }
  bool is_bare = !node.has_scalar() && (node.kinds & kStruct) != 0;
  bool is_plain = is_bare && !node.has_top && node.kinds == kTop && node.bounds.empty();
  bool is_struct = node.has_struct || has_fields || (node.maybe_struct && is_plain);
  if (!is_struct && node.kinds == kStruct && (node.bounds.empty() || node.maybe_struct)) is_struct = true;
  if (is_struct) {
    if ((node.kinds & kStruct) == 0) {
      const Origin from = node.said_from();
      const Origin struct_from = node.struct_from();
      // What a reference leads to comes after what is written there.
      if (from.trail != struct_from.trail && from.trail != nullptr)
        return conflict(Value::type(kStruct), struct_from, node.said(), from, kStruct);
      return conflict(node.said(), from, Value::type(kStruct), struct_from, node.kinds);
    }
    Value object = Value::of(Value::Tag::Struct);
    return node.bounds.empty() || !is_all_known ? object : run_validators(v, object);
  }
  if (node.has_scalar()) return node.bounds.empty() ? node.said() : run_validators(v, node.said());
  return finish_bounds(v);
}

// Bounds and validators on a value that is there.
Value Evaluator::run_validators(Vertex* v, const Value& value) {
  Value subject = value;
  bool is_container = value.is_container();
  if (is_container) {
    v->base = value;
    v->phase = Phase::Settled;
    complete(v);
    // What is judged are the fields: the vertex itself would bring the validator along.
    Vertex* fields = arena_.make<Vertex>();
    fields->parent = v->parent;
    fields->label = v->label;
    fields->base = value;
    fields->phase = Phase::Final;
    fields->is_data = true;
    fields->is_open_list = v->is_open_list;
    bool is_bound = v->closes_fields || v->closes_once || !v->node->requirements.empty();
    fields->is_closed = is_bound && v->node->patterns.empty();
    for (Vertex* one : v->arcs) fields->add(arena_, one);
    subject = Value::of(fields);
    if (v->child_error != nullptr && !is_incomplete(v->child_error->code)) return value;
  }
  Value first;
  for (const Value& one : v->node->bounds) {
    if (is_implied_by_others(*v->node, one)) continue;
    Value error;
    const Vertex* outer = std::exchange(judged_, v);
    int verdict = satisfies(subject, one, error);
    judged_ = outer;
    if (verdict == 1) continue;
    Value reason = rejection(v, subject, one, error);
    if (verdict < 0) {
      if (first.is_none()) first = reason;
      continue;
    }
    if (first.is_bottom() && !is_incomplete(first.bottom->code)) {
      // As upstream has it, what the last one failed with is told.
      just_made(first)->branches = {};
      add_error(v, first);
      add_error(v, reason);
      first = Value::of(v->node->errors);
    } else {
      first = reason;
    }
  }
  return first.is_none() ? value : first;
}

// Where a scalar was written, rather than the reference that led to it.
Pos Evaluator::place_said(const Origin& from) const {
  bool is_led_to = from.trail != nullptr && from.trail->arc != nullptr && from.trail->ref->pos == from.pos;
  Pos written = is_led_to ? place_of_value(from.trail->arc) : 0;
  return written != 0 ? written : from.pos;
}

// Why a bound or a validator does not take a value.
Value Evaluator::rejection(Vertex* v, const Value& subject, const Value& judge, const Value& error) {
  if (error.is_bottom() && error.bottom->code == Code::User) return error;
  if (judge.tag == Value::Tag::Bound) {
    const Bound& limit = *judge.bound;
    Pos place = v->node->has_scalar() ? place_said(v->node->said_from()) : 0;
    Value reason = bottom(Code::Eval, "invalid value {0} (out of bound {1})", limit.pos, subject, judge, place);
    Bottom* fresh = just_made(reason);
    fresh->wants_sources = !is_lower(limit.op) && !is_upper(limit.op);
    fresh->is_unplaced = limit.pos == 0;
    if (error.is_bottom()) fresh->cause = error.bottom;
    return reason;
  }
  Value reason = bottom(Code::Eval, "invalid value {0} (does not satisfy {1})", judge.validator->pos, subject, judge);
  Bottom* fresh = just_made(reason);
  fresh->is_unplaced = judge.validator->pos == 0;
  fresh->wants_sources = true;
  fresh->more = judge.validator->arg_places;
  // A schema looks at a value that others have said something of, too.
  if (judged_ != nullptr && v->label.is_none()) {
    std::vector<Pos> places(fresh->more.begin(), fresh->more.end());
    report_sources(judged_, places);
    fresh->more = arena_.copy(places);
  }
  if (!error.is_bottom()) return reason;
  if (is_incomplete(error.bottom->code)) fresh->code = error.bottom->code;
  fresh->cause = fresh->source = error.bottom;
  if (error.bottom->is_rejection) fresh->branches = error.bottom->branches;
  return reason;
}

// A lower limit beside a higher one says nothing.
bool Evaluator::is_implied_by_others(const Node& node, const Value& one) {
  if (one.tag != Value::Tag::Bound || (!is_lower(one.bound->op) && !is_upper(one.bound->op))) return false;
  bool is_behind = false;
  for (const Value& other : node.bounds) {
    if (other.tag == Value::Tag::Bound && other.bound == one.bound) {
      is_behind = true;
      continue;
    }
    if (other.tag != Value::Tag::Bound || is_lower(other.bound->op) != is_lower(one.bound->op) ||
        is_upper(other.bound->op) != is_upper(one.bound->op))
      continue;
    if (is_equal(one.bound->operand, other.bound->operand)) {
      bool is_stricter = other.bound->op == Tok::Gtr || other.bound->op == Tok::Lss;
      bool is_strict = one.bound->op == Tok::Gtr || one.bound->op == Tok::Lss;
      if (is_stricter != is_strict ? is_stricter : !is_behind) return true;
      continue;
    }
    Value lower = compare_values(Tok::Lss, one.bound->operand, other.bound->operand, 0);
    if (!lower.is_bottom() && lower.boolean == is_lower(one.bound->op)) return true;
  }
  return false;
}

// No value lies between the bounds.
bool Evaluator::is_empty_range(const Bound& low, const Bound& high, KindMask kinds) {
  if (is_identical(low.operand, high.operand)) return low.op == Tok::Gtr || high.op == Tok::Lss;
  if (compare_values(Tok::Gtr, low.operand, high.operand, 0).boolean) return true;
  if (kinds != kInt || !low.operand.is_number()) return false;
  // The least and the greatest whole number within the bounds.
  auto whole_bound = [](const Bound& bound, int inwards) {
    Decimal limit = to_decimal(bound.operand);
    Decimal whole = truncate(limit);
    bool is_outside = inwards > 0 ? compare(whole, limit) < 0 : compare(whole, limit) > 0;
    bool is_excluded = compare(whole, limit) == 0 && (bound.op == Tok::Gtr || bound.op == Tok::Lss);
    return is_outside || is_excluded ? add(whole, decimal_of(inwards)) : whole;
  };
  return compare(whole_bound(low, 1), whole_bound(high, -1)) > 0;
}

// A type, or bounds joined where one implies the other.
Value Evaluator::finish_bounds(Vertex* v) {
  Node& node = *v->node;
  if (node.bounds.empty()) return Value::type(node.kinds);
  std::vector<Value> kept;
  KindMask implied = kTop;
  for (const Value& one : node.bounds) {
    bool drop = false;
    for (Value& other : kept) {
      if (is_identical(one, other)) drop = true;
      if (drop || one.tag != Value::Tag::Bound || other.tag != Value::Tag::Bound) continue;
      const Bound& a = *one.bound;
      const Bound& b = *other.bound;
      bool same_side = (is_lower(a.op) && is_lower(b.op)) || (is_upper(a.op) && is_upper(b.op));
      bool opposite = (is_lower(a.op) && is_upper(b.op)) || (is_upper(a.op) && is_lower(b.op));
      if (!same_side && !opposite) continue;
      Value order = compare_values(Tok::Lss, a.operand, b.operand, a.pos);
      if (order.is_bottom()) return conflict(one, {a.pos}, other, {b.pos});
      if (!same_side) continue;
      bool one_is_tighter =
          is_identical(a.operand, b.operand) ? a.op == Tok::Gtr || a.op == Tok::Lss : is_lower(a.op) != order.boolean;
      if (one_is_tighter) other = one;
      drop = true;
    }
    if (!drop) kept.push_back(one);
  }
  for (const Value& low : kept) {
    for (const Value& high : kept) {
      bool is_range =
          low.tag == Value::Tag::Bound && high.tag == Value::Tag::Bound && is_lower(low.bound->op) && is_upper(high.bound->op);
      if (is_range && is_empty_range(*low.bound, *high.bound, node.kinds)) {
        return bottom(Code::Eval, "conflicting bounds {0} and {1}", low.bound->pos, low, high, high.bound->pos);
      }
    }
  }
  std::vector<Value> tight;
  for (const Value& one : kept) {
    bool is_implied = false;
    for (const Value& other : kept) {
      if (one.tag != Value::Tag::Bound || one.bound->op != Tok::Neq || other.tag != Value::Tag::Bound ||
          other.bound->op == Tok::Neq)
        continue;
      Value error;
      is_implied = is_implied ||
                   ((kinds_of(one.bound->operand) & kinds_of(other)) != 0 && satisfies(one.bound->operand, other, error) == 0);
    }
    if (!is_implied) tight.push_back(one);
  }
  kept = std::move(tight);
  for (const Value& one : kept) implied &= kinds_of(one);
  if (kept.size() == 1 && implied == node.kinds) return kept[0];
  if (implied != node.kinds || kept.size() != 1) {
    if (implied != node.kinds) kept.insert(kept.begin(), Value::type(node.kinds));
  }
  auto* conjunction = arena_.make<Conjunction>();
  conjunction->parts = arena_.copy(kept);
  Value value = Value::of(Value::Tag::Conjunction);
  value.conjunction = conjunction;
  return value;
}

}  // namespace slipway::cue
