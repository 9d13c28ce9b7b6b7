// When a vertex is worked on: settled when it is needed, its fields completed in the end.
#include <algorithm>

#include "cue/eval/evaluator.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {

// A vertex made of values is all there is: nothing needs copying. In a closed struct a copy would be closed.
bool is_only_data(const Vertex* v) {
  if (v->conjuncts.size() != 1 || v->conjuncts[0].expr->op != ir::Op::Constant || v->mark != ArcMark::Member) return false;
  const Value& value = ir::as<ir::Constant>(*v->conjuncts[0].expr).value;
  if (!value.is_vertex() || !value.vertex->is_data || value.vertex->closes_once || value.vertex->phase < Phase::Settled)
    return false;
  bool is_plain = v->arcs.empty() && v->notify.empty() && v->stands_for == nullptr && !v->closes_once && !v->closes_fields;
  return is_plain && v->parent != nullptr && !v->parent->in_closed && !v->parent->closes_below && !v->label.is_let();
}

// What goes deeper than may be ends the whole when it has done so this often: it costs its part of the steps.
constexpr std::uint64_t kMostDeep = 32;
}  // namespace

Evaluator::Evaluator(const ProgramData& program, Budget budget)
    : program_(program), meter_(std::move(budget)), arena_(program.chunks), labels_(&program.labels) {
  // What is deeper than this and than the program is long goes round rather than to an end.
  constexpr std::uint32_t kDeep = 1000;
  meter_.limit_depth(std::min(meter_.limits().max_depth, std::max(kDeep, program.size + 200)));
}

Vertex* Evaluator::run(std::span<const Conjunct> extra) {
  Vertex* root = instance(0);
  for (const Conjunct& c : extra) root->conjuncts.push(arena_, c);
  settle(root);
  complete(root);
  if (completing_.may_have_rings()) {
    for (Vertex* field : endless_fields(root, meter_.limits().max_depth)) make_endless(field);
  }
  return root;
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
  const bool is_too_deep = depth_ >= meter_.limits().max_depth;
  if (is_too_deep || over_budget(v->pos, v)) {
    if (is_too_deep) meter_.add(meter_.limits().max_steps / kMostDeep);
    v->base = out_of_budget(is_too_deep ? kTooDeep : kTooManySteps, v->pos, v);
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
  std::uint32_t outer_low = std::exchange(low_, kNothing);
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
  v->base = out_of_budget(kTooDeep, v->pos, v);
  v->phase = Phase::Final;
  return true;
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

// Of scalars and types; none when there is more to it. What contradicts itself is reported when it is asked why no disjunct
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
    node.waits_for = kNothing;
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
    std::uint32_t outer = std::exchange(low_, kNothing);
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
  if (depth_ >= meter_.limits().max_depth) {
    v->base = out_of_budget(kTooDeep, v->pos, v);
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
