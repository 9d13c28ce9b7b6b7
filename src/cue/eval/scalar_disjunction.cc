// Disjunctions of scalars, types and bounds are decided on values: nothing is tried.
#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

namespace {

// From so many disjuncts on it pays to keep what was found out of a disjunction, and to look scalars up.
constexpr std::size_t kLarge = 24;
// Failures that are counted; an error says how many there are.
constexpr std::size_t kMostClashes = 100'000;

// A function may judge others.
bool is_scalar(const Value& value) { return value.is_concrete_scalar() && value.tag != Value::Tag::Builtin; }

}  // namespace

std::size_t ScalarIndex::hash(const Value& scalar) {
  if (scalar.tag == Value::Tag::String || scalar.tag == Value::Tag::Bytes)
    return std::hash<std::string_view>()(scalar.str()) + static_cast<std::size_t>(scalar.tag);
  if (scalar.tag == Value::Tag::Int) return std::hash<std::int64_t>()(scalar.integer);
  if (scalar.tag == Value::Tag::Number) return std::hash<std::int64_t>()(to_int64(scalar.number->decimal()).value_or(7));
  return static_cast<std::size_t>(scalar.tag);
}

bool Evaluator::decide_scalars(Vertex* v) {
  Node& node = *v->node;
  if (node.has_struct || node.maybe_struct || !node.lists.empty() || !v->arcs.empty() || node.errors != nullptr) return false;
  for (const Value& bound : node.bounds) {
    if (bound.tag == Value::Tag::Validator) return false;
  }
  std::vector<ScalarFactor> own(node.disjunctions.size());
  std::vector<ScalarFactor*> factors(own.size());
  for (std::size_t k = 0; k < own.size(); ++k) {
    factors[k] = factor_of(node.disjunctions[k], own[k]);
    if (factors[k] == nullptr) return false;
  }
  node.has_noncyclic = true;
  if (factors.size() == 1 && take_factor(v, *factors[0])) return true;
  std::vector<Alternative> all = {{finish_base(v), node.before.mode, node.before.mark, node.choices}};
  std::vector<Branch> errors;
  for (std::size_t k = 0; k < factors.size(); ++k) meet_factor(v, node.disjunctions[k], *factors[k], all, errors);
  set_alternatives(v, all, errors);
  return true;
}

// Null when some disjunct is not known to be a scalar or a set of them.
ScalarFactor* Evaluator::factor_of(const PendingDisjunction& pending, ScalarFactor& own) {
  const ir::Or* written = pending.values == nullptr ? &ir::as<ir::Or>(*pending.conjunct.expr) : nullptr;
  if (written == nullptr || written->parts.size() < kLarge) return make_factor(pending, own) ? &own : nullptr;
  auto known = factors_.find(written);
  if (known != factors_.end()) return &known->second;
  if (!make_factor(pending, own)) return nullptr;
  return &factors_.emplace(written, std::move(own)).first->second;
}

bool Evaluator::make_factor(const PendingDisjunction& pending, ScalarFactor& out) {
  if (pending.values != nullptr) {
    const Disjunction& d = *pending.values;
    if (!std::ranges::all_of(d.values, is_simple)) return false;
    for (std::uint32_t i = 0; i < d.values.size(); ++i) add_part(out, d.values[i], mark_of(pending, i), i);
    return true;
  }
  const auto& disjunction = ir::as<ir::Or>(*pending.conjunct.expr);
  for (std::uint32_t i = 0; i < disjunction.parts.size(); ++i) {
    const ir::Expr& one = *disjunction.parts[i].value;
    Value value;
    if (one.op == ir::Op::Bound) {
      const auto& limit = ir::as<ir::Bound>(one);
      if (limit.operand->op != ir::Op::Constant) return false;
      value = bound(limit, pending.conjunct.env);
    } else if (one.op == ir::Op::Constant) {
      value = ir::as<ir::Constant>(one).value;
    } else {
      return false;
    }
    if (value.is_bottom()) continue;
    if (!is_simple(value)) return false;
    add_part(out, value, mark_of(pending, i), i);
  }
  return true;
}

void Evaluator::add_part(ScalarFactor& factor, const Value& value, DefaultMode mark, std::uint32_t index) {
  for (std::uint32_t at : is_scalar(value) ? factor.scalars.like(value) : factor.sets) {
    ScalarFactor::Part& known = factor.parts[at];
    if (!is_identical(known.value, value)) continue;
    known.mark = join(known.mark, mark);
    return;
  }
  auto position = static_cast<std::uint32_t>(factor.parts.size());
  if (is_scalar(value)) {
    factor.scalars.add(value, position);
  } else {
    factor.sets.push_back(position);
  }
  factor.kinds |= kinds_of(value);
  factor.parts.push_back({value, mark, index});
}

// When all of its disjuncts are left, every vertex of which no more is said has the same value.
bool Evaluator::take_factor(Vertex* v, ScalarFactor& factor) {
  const Node& node = *v->node;
  bool is_plain = !node.has_scalar() && node.bounds.empty() && (factor.kinds & ~node.kinds) == 0 && v->stands_for == nullptr &&
                  !v->is_preliminary;
  bool is_exact = node.kinds == kTop || std::ranges::all_of(factor.sets, [&](std::uint32_t at) {
                    return factor.parts[at].value.tag == Value::Tag::Type;
                  });
  if (!is_plain || !is_exact || factor.parts.size() < 2) return false;
  if (factor.as_value.is_none()) {
    std::vector<Value> values;
    std::uint32_t defaults = 0;
    for (bool marked : {true, false}) {
      for (const ScalarFactor::Part& one : factor.parts) {
        if ((one.mark == DefaultMode::Default) != marked) continue;
        values.push_back(one.value);
        defaults += marked ? 1 : 0;
      }
    }
    auto* disjunction = arena_.make<Disjunction>();
    disjunction->values = arena_.copy(values);
    disjunction->defaults = defaults;
    factor.as_value = Value::of(disjunction);
  }
  v->base = factor.as_value;
  return true;
}

// a & b. None when they have nothing in common.
Value Evaluator::meet_scalars(const Value& a, const Value& b) {
  bool is_disjoint = (kinds_of(a) & kinds_of(b)) == 0;
  auto includes = [](const Value& set, const Value& one) {
    return set.tag == Value::Tag::Type && (set.kinds == kTop || is_scalar(one));
  };
  if (is_scalar(a) && is_scalar(b)) return !is_disjoint && is_identical(a, b) ? a : Value{};
  if (includes(a, b)) return is_disjoint ? Value{} : b;
  if (includes(b, a)) return is_disjoint ? Value{} : a;
  Vertex* v = arena_.make<Vertex>();
  v->phase = Phase::Running;
  v->node = take_node();
  Conjunct none{nullptr, nullptr, nullptr, nullptr, Cycle::None};
  insert_value(v, none, a, 0);
  insert_value(v, none, b, 0);
  v->base = finish_base(v);
  give_node(v);
  return v->base;
}

// What is left so far with every disjunct of one more disjunction.
void Evaluator::meet_factor(Vertex* v, const PendingDisjunction& pending, const ScalarFactor& factor,
                            std::vector<Alternative>& all, std::vector<Branch>& errors) {
  std::size_t clashes = 0;
  std::vector<Crossing> crossings;
  std::vector<std::uint32_t> near;  // parts that one alternative may have something in common with
  for (const Alternative& a : all) {
    bool is_looked_up = is_scalar(a.value) && factor.parts.size() >= kLarge;
    if (is_looked_up) {
      near.clear();
      std::ranges::merge(factor.scalars.like(a.value), factor.sets, std::back_inserter(near));
    }
    std::size_t count = is_looked_up ? near.size() : factor.parts.size();
    for (std::size_t i = 0; i < count && !over_budget(); ++i) {
      const ScalarFactor::Part& b = factor.parts[is_looked_up ? near[i] : i];
      Value both = meet_scalars(a.value, b.value);
      if (both.is_bottom()) errors.push_back({both.bottom, nullptr});
      clashes += both.is_none() ? 1 : 0;
      if (both.is_bottom() || both.is_none()) continue;
      std::span<const Choice> choices;
      if (v->is_preliminary) choices = with_choice(a.choices, {pending.conjunct.expr, pending.ordinal, b.index});
      crossings.emplace_back(a.mode, a.mark, b.mark).found.push_back({both, a.mode, b.mark, choices});
    }
    clashes += factor.parts.size() - count;
  }
  if (crossings.empty() && clashes > 0) {
    const Value clash = bottom(Code::Eval, "conflicting values", v->pos);
    errors.insert(errors.end(), std::min(clashes, kMostClashes), {clash.bottom, nullptr});
  }
  unify_modes(crossings);
  all.clear();
  ScalarIndex known;
  std::vector<std::uint32_t> sets;
  for (const Crossing& one : crossings) {
    const Alternative& found = one.found[0];
    const std::vector<std::uint32_t>& like = is_scalar(found.value) ? known.like(found.value) : sets;
    auto same = std::ranges::find_if(like, [&](std::uint32_t at) { return is_identical(all[at].value, found.value); });
    if (same != like.end()) {
      all[*same].mode = join(all[*same].mode, found.mode);
      all[*same].mark = join(all[*same].mark, found.mark);
      continue;
    }
    auto position = static_cast<std::uint32_t>(all.size());
    if (is_scalar(found.value)) {
      known.add(found.value, position);
    } else {
      sets.push_back(position);
    }
    all.push_back(found);
  }
}

}  // namespace slipway::cue
