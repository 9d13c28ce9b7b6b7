// From what was inserted to what a vertex is.
#include <algorithm>

#include "cue/eval/evaluator.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {
constexpr std::uint32_t kNone = 0xFFFFFFFF;
// What goes deeper than may be ends the whole when it has done so this often: it costs its part of the steps.
constexpr std::uint64_t kMostDeep = 32;

bool is_lower(Tok op) { return op == Tok::Gtr || op == Tok::Geq; }
bool is_upper(Tok op) { return op == Tok::Lss || op == Tok::Leq; }
}  // namespace

Evaluator::Evaluator(const ProgramData& program, Budget budget)
    : program_(program), budget_(budget), arena_(program.chunks), labels_(&program.labels) {
  // What is deeper than this and than the program is long goes round rather than to an end.
  constexpr std::uint32_t kDeep = 1000;
  budget_.max_depth = std::min(budget_.max_depth, std::max(kDeep, program.size + 200));
}

Vertex* Evaluator::run(std::span<const Conjunct> extra) {
  Vertex* root = instance(0);
  for (const Conjunct& c : extra) root->conjuncts.push(arena_, c);
  settle(root);
  complete(root);
  if (completing_.may_have_rings()) {
    for (Vertex* field : endless_fields(root, budget_.max_depth)) make_endless(field);
  }
  return root;
}

bool Evaluator::is_simple(const Value& value) {
  return value.is_concrete_scalar() || value.tag == Value::Tag::Type || value.tag == Value::Tag::Bound ||
         value.tag == Value::Tag::Conjunction;
}

/// True when the vertex is settled now; false when it waits for one that is on the stack.
bool Evaluator::settle(Vertex* v) {
  v = deref(v);
  if (v->phase >= Phase::Settled) return true;
  if (v->phase == Phase::Running) {
    low_ = std::min(low_, v->node->depth);
    return false;
  }
  if (v->phase == Phase::Partial && v->node->waits_since == progress_ && v->node->waits_for <= depth_) {
    low_ = std::min(low_, v->node->waits_for);
    return false;
  }
  if (depth_ >= budget_.max_depth || over_budget(v->pos, v)) {
    if (depth_ >= budget_.max_depth) steps_ += budget_.max_steps / kMostDeep;
    v->base = out_of_budget(depth_ >= budget_.max_depth ? "nested too deeply" : "evaluation takes too many steps", v->pos, v);
    v->phase = Phase::Final;
    return true;
  }
  if (stack_.is_used_up()) return on_wide_stack(v, &Evaluator::settle);
  if (v->node == nullptr && is_only_data(v)) {
    v->shared = deref(ir::as<ir::Constant>(*v->conjuncts[0].expr).value.vertex);
    if (v->shared->parent == nullptr) {  // for the paths of what lies below
      v->shared->parent = v->parent;
      v->shared->label = v->label;
    }
    v->phase = Phase::Settled;
    return true;
  }
  if (v->phase == Phase::Raw && v->node == nullptr && take_known(v)) return true;
  if (v->node == nullptr) v->node = take_node();
  if (v->phase == Phase::Raw && v->stands_for == nullptr) ++unifications_;
  v->phase = Phase::Running;
  v->node->depth = ++depth_;
  std::uint32_t outer_low = std::exchange(low_, kNone);
  bool outer_force = std::exchange(force_, false);
  bool outer_asking = std::exchange(is_asking_, false);
  Vertex* outer_current = std::exchange(current_, v);  // what is wrong here is told of here
  bool done = settle_running(v);
  current_ = outer_current;
  --depth_;
  force_ = outer_force;
  is_asking_ = outer_asking;
  if (!done) {
    v->phase = Phase::Partial;
    v->node->waits_since = progress_;
    low_ = std::min(outer_low, v->node->waits_for);
    return false;
  }
  low_ = outer_low;
  ++progress_;
  if (v->shared != nullptr && v->arcs.empty() && !v->tried_disjuncts && v->stands_for == nullptr) give_node(v);
  return true;
}

// The rest of the recursion, where there is more room for it.
bool Evaluator::on_wide_stack(Vertex* v, bool (Evaluator::*what)(Vertex*)) {
  bool done = true;
  if (!stack_.is_wide() && stack_.call([&] { done = (this->*what)(v); })) return done;
  v->base = out_of_budget("nested too deeply", v->pos, v);
  v->phase = Phase::Final;
  return true;
}

// A vertex made of values is all there is: nothing needs copying. In a closed struct a copy would be closed.
bool Evaluator::is_only_data(const Vertex* v) {
  if (v->conjuncts.size() != 1 || v->conjuncts[0].expr->op != ir::Op::Constant || v->mark != ArcMark::Member) return false;
  const Value& value = ir::as<ir::Constant>(*v->conjuncts[0].expr).value;
  if (!value.is_vertex() || !value.vertex->is_data || value.vertex->closes_once || value.vertex->phase < Phase::Settled)
    return false;
  bool is_plain = v->arcs.empty() && v->notify.empty() && v->stands_for == nullptr && !v->closes_once && !v->closes_fields;
  return is_plain && v->parent != nullptr && !v->parent->in_closed && !v->parent->closes_below && !v->label.is_let();
}

namespace {

// Nothing but scalars and types, so that it is the same wherever it stands.
bool is_fixed(const ir::Expr& expr) {
  switch (expr.op) {
    case ir::Op::Constant: {
      const Value& value = ir::as<ir::Constant>(expr).value;
      return (value.is_concrete_scalar() && value.tag != Value::Tag::Builtin) || value.tag == Value::Tag::Type;
    }
    case ir::Op::Bound:
      return ir::as<ir::Bound>(expr).operand->op == ir::Op::Constant;
    case ir::Op::And:
      return std::ranges::all_of(ir::as<ir::And>(expr).parts,
                                 [](const ir::Expr* one) { return one->op != ir::Op::And && is_fixed(*one); });
    case ir::Op::Or:
      return std::ranges::all_of(ir::as<ir::Or>(expr).parts,
                                 [](const ir::Disjunct& one) { return one.value->op != ir::Op::Or && is_fixed(*one.value); });
    default:
      return false;
  }
}

}  // namespace

// A field of a trial that is fixed needs no evaluation: it is what it is in the vertex tried, or in the middle of which its
// scalars agree. False when it has to be evaluated.
bool Evaluator::take_known(Vertex* v) {
  const Vertex* trial = v->parent;
  if (trial == nullptr || trial->stands_for == nullptr || !v->arcs.empty() || v->conjuncts.empty() || tells_all_) return false;
  bool is_acyclic = std::ranges::any_of(v->conjuncts, [](const Conjunct& c) { return c.cycle != Cycle::Certain; });
  if (!is_acyclic || !std::ranges::all_of(v->conjuncts, [](const Conjunct& c) { return is_fixed(*c.expr); })) return false;
  const Vertex* before = find_arc(trial->stands_for, v->label);
  auto is_same_expr = [](const Conjunct& a, const Conjunct& b) { return a.expr == b.expr; };
  bool is_known = before != nullptr && before->phase >= Phase::Settled && before->shared == nullptr &&
                  !before->base.is_bottom() && std::ranges::equal(before->conjuncts, v->conjuncts, is_same_expr);
  Value value = is_known ? before->base : fixed_value(v);
  bool is_clash = value.is_bottom();
  if (value.is_none() || value.tag == Value::Tag::Struct) return false;
  for (const Conjunct& c : v->conjuncts) v->has_definition = v->has_definition || is_in_definition(c.scope);
  v->base = value;
  v->phase = Phase::Final;
  unifications_ += is_known || is_clash || trial->is_preliminary ? 0 : 1;
  ++progress_;
  return true;
}

// Of scalars and types; none when there is more to it. What contradicts itself is told of when somebody asks why no disjunct
// is left, which evaluates it in full.
Value Evaluator::fixed_value(const Vertex* v) {
  Value scalar;
  KindMask kinds = kTop;
  for (const Conjunct& c : v->conjuncts) {
    if (c.expr->op != ir::Op::Constant) return {};
    const Value& value = ir::as<ir::Constant>(*c.expr).value;
    if (value.tag != Value::Tag::Type) {
      if (!scalar.is_none() && !is_identical(scalar, value)) kinds = 0;
      if (scalar.is_none()) scalar = value;
    }
    kinds &= kinds_of(value);
  }
  if (kinds == 0) return bottom(Code::Eval, "conflicting values", v->pos);
  if (scalar.is_none() && (kinds & ~kScalar) != 0) return {};
  return scalar.is_none() ? Value::type(kinds) : scalar;
}

Node* Evaluator::take_node() {
  if (free_nodes_.empty()) return arena_.make<Node>();
  Node* node = free_nodes_.back();
  free_nodes_.pop_back();
  return node;
}

// For another vertex. Should v get one more conjunct, it begins again, with a node of its own. REQUIRES: no fields.
void Evaluator::give_node(Vertex* v) {
  Node* node = std::exchange(v->node, nullptr);
  if (node == nullptr) return;
  Node fresh;
  fresh.tasks = node->tasks;
  fresh.scopes = node->scopes;
  fresh.disjunctions = node->disjunctions;
  fresh.tasks.clear();
  fresh.scopes.clear();
  fresh.disjunctions.clear();
  *node = fresh;
  free_nodes_.push_back(node);
}

bool Evaluator::settle_running(Vertex* v) {
  Node& node = *v->node;
  for (;;) {
    node.waits_for = kNone;
    bool done = run_tasks(v);
    if (v->shared != nullptr) {
      v->phase = Phase::Settled;
      return true;
    }
    if (!done) {
      if (node.waits_for < node.depth) return false;
      if (force_one(v)) continue;
    }
    finish_lists(v);
    if (node.next_conjunct < v->conjuncts.size()) continue;
    std::uint32_t outer = std::exchange(low_, kNone);
    bool decided = node.errors != nullptr || decide(v);
    std::uint32_t waits = std::exchange(low_, outer);
    if (!decided) {
      node.waits_for = waits;
      if (waits < node.depth) return false;
      force_ = true;
      decide(v);
      force_ = false;
    }
    if (node.next_conjunct < v->conjuncts.size()) continue;
    finish(v);
    return true;
  }
}

// What it waits for waits for it: decide with what is known, one task at a time. A field whose name is not known yet comes
// after the others, which may add what it is made of.
bool Evaluator::force_one(Vertex* v) {
  Node& node = *v->node;
  bool moved = false;
  bool outer = spares_names_;
  force_ = true;
  node.is_deciding = true;
  ++progress_;
  for (bool spare_names : {true, false}) {
    spares_names_ = spare_names;
    for (std::uint32_t i = 0; i < node.tasks.size() && !moved; ++i) {
      if (node.tasks[i].state == Task::State::Waiting) moved = attempt(v, i);
    }
  }
  node.is_deciding = false;
  force_ = false;
  spares_names_ = outer;
  return moved;
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
    for (std::uint32_t i = part.size; i < length; ++i) add_conjunct(arc(v, Label::item(i), ArcMark::Member), part.rest);
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
  bool is_container = value.tag == Value::Tag::Struct || value.tag == Value::Tag::List;
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
    for (Vertex* one : v->arcs) fields->arcs.push(arena_, one);
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
      const_cast<Bottom*>(first.bottom)->branches = {};
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
    auto* fresh = const_cast<Bottom*>(reason.bottom);  // nobody else has it yet
    fresh->wants_sources = !is_lower(limit.op) && !is_upper(limit.op);
    fresh->is_unplaced = limit.pos == 0;
    if (error.is_bottom()) fresh->cause = error.bottom;
    return reason;
  }
  Value reason = bottom(Code::Eval, "invalid value {0} (does not satisfy {1})", judge.validator->pos, subject, judge);
  auto* fresh = const_cast<Bottom*>(reason.bottom);
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

/// Evaluates the fields below. False when some wait for what is on the stack.
bool Evaluator::complete(Vertex* v) {
  v = deref(v);
  if (v->phase == Phase::Final || v->phase == Phase::Completing) return true;
  std::size_t outer = completing_.begin_demand();
  bool done = complete_below(v);
  completing_.end_demand(outer);
  return done;
}

bool Evaluator::complete_below(Vertex* v) {
  v = deref(v);
  if (v->phase == Phase::Final || v->phase == Phase::Completing) return true;
  if (!settle(v)) return false;
  v = deref(v);
  if (v->phase != Phase::Settled) return true;
  if (v->base.tag == Value::Tag::Disjunction) {
    v->phase = Phase::Final;
    return true;
  }
  if (depth_ >= budget_.max_depth) {
    v->base = out_of_budget("nested too deeply", v->pos, v);
    v->phase = Phase::Final;
    return true;
  }
  if (stack_.is_used_up()) return on_wide_stack(v, &Evaluator::complete);
  v->phase = Phase::Completing;
  ++depth_;
  bool done = true;
  completing_.enter(v);
  complete_arcs(v, done);
  completing_.leave();
  if (done && v->node != nullptr) check_closed(v);
  --depth_;
  if (v->phase != Phase::Completing) return done && complete_below(v);
  v->phase = done ? Phase::Final : Phase::Settled;
  // With something wrong below it is known enough: what it is said to be besides does not matter any more.
  bool is_wrong_below = v->child_error != nullptr && !is_incomplete(v->child_error->code);
  if (is_wrong_below && v->base.is_bottom() && is_incomplete(v->base.bottom->code)) {
    bool is_list = v->node != nullptr && !v->node->lists.empty();
    v->base = Value::of(is_list ? Value::Tag::List : Value::Tag::Struct);
  }
  if (done && is_simple(v->base) && v->arcs.empty() && v->stands_for == nullptr) give_node(v);
  return done;
}

// It is the same as what it lies in.
void Evaluator::make_endless(Vertex* field) {
  Vertex* outer = std::exchange(current_, field);
  field->shared = nullptr;
  field->base = bottom(Code::StructuralCycle, "structural cycle", field->pos);
  field->phase = Phase::Final;
  current_ = outer;
  for (Vertex* above = field->parent; above != nullptr && above->child_error == nullptr; above = above->parent)
    above->child_error = field->base.bottom;
}

void Evaluator::complete_arcs(Vertex* v, bool& done) {
  for (std::uint32_t i = 0; i < v->arcs.size(); ++i) {
    Vertex* field = v->arcs[i];
    if (field->mark > ArcMark::Required || is_untouched(v, field)) continue;
    if (!settle(field) || !complete_below(field)) {
      done = false;
      continue;
    }
    if (field->shared != nullptr && deref(field)->phase == Phase::Completing && completing_.holds(field)) make_endless(field);
    const Vertex* real = deref(field);
    const Bottom* error = real->base.is_bottom() ? real->base.bottom : real->child_error;
    bool is_required = field->mark == ArcMark::Required;
    if (is_required && (error == nullptr || error->is_close_check)) continue;
    v->has_incomplete = v->has_incomplete || real->has_incomplete || (error != nullptr && is_incomplete(error->code));
    if (error == nullptr || is_incomplete(error->code)) continue;
    if (v->child_error == nullptr || v->child_error->code < error->code) v->child_error = error;
  }
}

}  // namespace slipway::cue
