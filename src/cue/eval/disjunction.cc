// Which disjuncts remain. Scalars are decided on values. Others are tried one by one: a copy of the vertex with the same
// conjuncts and one choice made, evaluated as a whole; what fails is dropped, what is equal is joined.
#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

bool is_simple(const Value& value) {
  return value.is_concrete_scalar() || value.tag == Value::Tag::Type || value.tag == Value::Tag::Bound ||
         value.tag == Value::Tag::Conjunction;
}

}  // namespace

bool Evaluator::decide(Vertex* v) {
  if (v->node->disjunctions.empty()) return true;
  // The same disjunction twice is one.
  return decide_simple(v) || decide_trials(v);
}

// Of two that are the same: a default stays one.
Evaluator::Mode Evaluator::join(Mode a, Mode b) {
  return a == Mode::Default || b == Mode::Default ? Mode::Default : std::min(a, b);
}

// Equal, with the same definitions and hidden fields, and as many patterns.
bool Evaluator::is_same(const Value& a, const Value& b) {
  if (!is_equal(a, b)) return false;
  if (!a.is_vertex() || !b.is_vertex()) return true;
  const Vertex* x = deref(a.vertex);
  const Vertex* y = deref(b.vertex);
  auto patterns = [](const Vertex* v) { return v->node == nullptr ? 0 : v->node->patterns.size(); };
  if (patterns(x) != patterns(y) || x->arcs.size() != y->arcs.size()) return false;
  return std::all_of(x->arcs.begin(), x->arcs.end(), [&](Vertex* one) {
    Vertex* other = find_arc(y, one->label);
    return other != nullptr && is_equal(Value::of(one), Value::of(other));
  });
}

void Evaluator::append_alternative(std::vector<Alternative>& out, Alternative one) {
  for (Alternative& known : out) {
    if (!is_same(known.value, one.value)) continue;
    known.mode = join(known.mode, one.mode);
    return;
  }
  out.push_back(one);
}

// The fields that closed structs do not allow so far. A disjunction that was left aside may allow them yet, so trials that
// differ in this are different.
void Evaluator::not_allowed_yet(const Vertex* v, std::vector<const Vertex*>& path, std::string& out) {
  v = deref(v);
  if (v->node == nullptr || path.size() > 20) return;
  std::vector<CloseScope*> closed;
  if (v->in_closed) closed = requirements(v);
  for (const Vertex* field : v->arcs) {
    if (!field->label.is_regular() || field->mark > ArcMark::Required) continue;
    path.push_back(field);
    bool is_allowed =
        std::all_of(closed.begin(), closed.end(), [&](const CloseScope* one) { return allows_arc(v, field, one); });
    if (!is_allowed) {
      for (const Vertex* at : path) out += std::to_string(at->label.word) + ".";
      out += ";";
    }
    not_allowed_yet(field, path, out);
    path.pop_back();
  }
}

// The index of the trial seen before that came to the same; the number of trials when there is none.
std::size_t Evaluator::same_preliminary(const std::vector<Preliminary>& seen, const std::vector<Alternative>& found) {
  auto open_fields = [this](const Alternative& one) {
    std::string text;
    std::vector<const Vertex*> path;
    if (one.value.is_vertex()) not_allowed_yet(one.value.vertex, path, text);
    return text;
  };
  for (std::size_t i = 0; i < seen.size(); ++i) {
    bool is_same = std::equal(seen[i].found.begin(), seen[i].found.end(), found.begin(), found.end(),
                              [&](const Alternative& a, const Alternative& b) {
                                return a.mode == b.mode && is_equal(a.value, b.value) && open_fields(a) == open_fields(b);
                              });
    if (is_same) return i;
  }
  return seen.size();
}

// The alternatives of a disjunction all of whose disjuncts are constants.
bool Evaluator::simple_alternatives(const PendingDisjunction& pending, std::vector<Alternative>& out) {
  const Conjunct& c = pending.conjunct;
  if (pending.values != nullptr) {
    const Disjunction& d = *pending.values;
    for (std::size_t i = 0; i < d.values.size(); ++i) {
      if (!is_simple(d.values[i])) return false;
      out.push_back({d.values[i], d.defaults == 0 ? Mode::Maybe : i < d.defaults ? Mode::Default : Mode::Not});
    }
    return true;
  }
  const auto& disjunction = ir::as<ir::Or>(*c.expr);
  for (const ir::Disjunct& one : disjunction.parts) {
    Value value;
    if (one.value->op == ir::Op::Bound) {
      const auto& limit = ir::as<ir::Bound>(*one.value);
      if (limit.operand->op != ir::Op::Constant) return false;
      value = bound(limit, c.env);
    } else if (one.value->op == ir::Op::Constant) {
      value = ir::as<ir::Constant>(*one.value).value;
    } else {
      return false;
    }
    Mode mode = !disjunction.has_default ? Mode::Maybe : one.is_default ? Mode::Default : Mode::Not;
    if (value.is_bottom()) continue;
    if (!is_simple(value)) return false;
    append_alternative(out, {value, mode});
  }
  return true;
}

// a & b for scalars, types and bounds.
Value Evaluator::unify_simple(const Value& a, const Value& b) {
  Vertex* v = arena_.make<Vertex>();
  v->phase = Phase::Running;
  v->node = arena_.make<Node>();
  Conjunct none{nullptr, nullptr, nullptr, nullptr, false};
  insert_value(v, none, a, 0);
  insert_value(v, none, b, 0);
  v->base = finish_base(v);
  return v->base;
}

bool Evaluator::decide_simple(Vertex* v) {
  Node& node = *v->node;
  if (node.has_struct || node.maybe_struct || !node.lists.empty() || !v->arcs.empty() || node.errors != nullptr) return false;
  std::vector<Alternative> all;
  bool first = true;
  for (const PendingDisjunction& pending : node.disjunctions) {
    std::vector<Alternative> next;
    if (!simple_alternatives(pending, next)) return false;
    if (first) {
      all = std::move(next);
      first = false;
      continue;
    }
    std::vector<Alternative> cross;
    for (const Alternative& a : all) {
      for (const Alternative& b : next) {
        if (over_budget()) break;
        Value both = unify_simple(a.value, b.value);
        if (!both.is_bottom()) append_alternative(cross, {both, std::max(a.mode, b.mode)});
      }
    }
    all = std::move(cross);
  }
  for (const Value& bound : node.bounds) {
    if (bound.tag == Value::Tag::Validator) return false;
  }
  Value own = finish_base(v);
  std::vector<Alternative> kept;
  std::vector<const Bottom*> errors;
  for (const Alternative& a : all) {
    Value both = own.tag == Value::Tag::Type && own.kinds == kTop ? a.value : unify_simple(own, a.value);
    if (both.is_bottom()) {
      errors.push_back(both.bottom);
    } else {
      append_alternative(kept, {both, a.mode});
    }
  }
  node.has_noncyclic = true;
  set_alternatives(v, kept, errors);
  return true;
}

// Cheap signs that a disjunct cannot be.
bool Evaluator::is_hopeless(Vertex* v, const ir::Expr& disjunct) {
  const Node& node = *v->node;
  KindMask known = node.kinds;
  if (node.has_struct) known &= kStruct;
  if (disjunct.op == ir::Op::Constant) {
    const Value& value = ir::as<ir::Constant>(disjunct).value;
    if (value.is_bottom()) return value.bottom->code == Code::User && false;
    return (kinds_of(value) & known) == 0;
  }
  if (disjunct.op == ir::Op::List) return (known & kList) == 0;
  if (disjunct.op != ir::Op::Struct) return false;
  const auto& s = ir::as<ir::Struct>(disjunct);
  if (!s.is_definite) return false;
  if ((known & kStruct) == 0) return true;
  for (const ir::Decl& decl : s.decls) {
    if (decl.kind != ir::DeclKind::Field || decl.mark != ast::Mark::Regular || decl.value->op != ir::Op::Constant) continue;
    const Value& wanted = ir::as<ir::Constant>(*decl.value).value;
    const Vertex* field = wanted.is_concrete_scalar() ? find_arc(v, decl.label) : nullptr;
    if (field == nullptr) continue;
    for (const Conjunct& c : field->conjuncts) {
      if (c.expr->op != ir::Op::Constant) continue;
      const Value& is = ir::as<ir::Constant>(*c.expr).value;
      if (is.is_concrete_scalar() && !is_equal(is, wanted)) return true;
    }
  }
  return false;
}

// False when it must wait.
bool Evaluator::try_disjunct(Vertex* v, std::vector<Choice> choices, Mode mode, std::vector<Alternative>& out,
                             std::vector<const Bottom*>& errors) {
  Vertex* trial = arena_.make<Vertex>();
  trial->parent = v->parent;
  trial->label = v->label;
  trial->mark = ArcMark::Member;
  trial->stands_for = v;
  trial->closes_fields = v->closes_fields;
  trial->pos = v->pos;
  trial->info = v->info;
  for (const Conjunct& c : v->conjuncts) trial->conjuncts.push(arena_, c);
  trial->node = arena_.make<Node>();
  trial->node->choices = arena_.copy(choices);
  trial->is_preliminary = v->is_preliminary || (!choices.empty() && choices.back().index == kDeferred);
  std::uint32_t outer_low = std::exchange(low_, kNone);
  bool done = settle(trial) && complete(trial);
  std::uint32_t low = std::exchange(low_, std::min(low_, outer_low));
  Vertex* real = deref(trial);
  if (!done && low != kNone && !force_) return false;
  const Bottom* failure = real->base.is_bottom() ? real->base.bottom : real->child_error;
  if (!done && real->base.is_none()) failure = bottom(Code::Cycle, "cycle error", v->pos).bottom;
  if (failure != nullptr && (real->base.is_bottom() || !is_incomplete(failure->code))) {
    errors.push_back(failure);
    return true;
  }
  auto with = [mode](Mode inner) {
    return mode == Mode::Maybe ? inner : mode == Mode::Not ? Mode::Not : inner == Mode::Maybe ? Mode::Default : inner;
  };
  if (real->base.tag == Value::Tag::Disjunction) {
    const Disjunction& d = *real->base.disjunction;
    for (std::size_t i = 0; i < d.values.size(); ++i) {
      Mode inner = d.defaults == 0 ? Mode::Maybe : i < d.defaults ? Mode::Default : Mode::Not;
      append_alternative(out, {d.values[i], with(inner)});
    }
    return true;
  }
  bool is_scalar = is_simple(real->base) && real->arcs.empty();
  append_alternative(out, {is_scalar ? real->base : Value::of(real), with(static_cast<Mode>(trial->left_mode))});
  return true;
}

bool Evaluator::decide_trials(Vertex* v) {
  Node& node = *v->node;
  v->tried_disjuncts = true;
  struct Survivor {
    std::vector<Choice> choices;
    Mode mode;
  };
  std::vector<Survivor> survivors = {{{node.choices.begin(), node.choices.end()}, Mode::Maybe}};
  std::vector<Alternative> all;
  std::vector<const Bottom*> errors;
  for (std::uint32_t k = 0; k < node.disjunctions.size(); ++k) {
    const PendingDisjunction pending = node.disjunctions[k];
    bool is_last = k + 1 == node.disjunctions.size();
    bool is_or = pending.values == nullptr;
    const Disjunction* values = pending.values;
    std::size_t count = is_or ? ir::as<ir::Or>(*pending.conjunct.expr).parts.size() : values->values.size();
    std::vector<Survivor> next;
    std::vector<Preliminary> seen;
    all.clear();
    for (const Survivor& survivor : survivors) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (over_budget()) {
          add_error(v, bottom(Code::Eval, "evaluation takes too many steps", v->pos));
          return true;
        }
        Mode mode = Mode::Maybe;
        if (is_or) {
          const auto& disjunction = ir::as<ir::Or>(*pending.conjunct.expr);
          if (is_hopeless(v, *disjunction.parts[i].value)) {
            errors.push_back(bottom(Code::Eval, "conflicting values", disjunction.parts[i].value->pos).bottom);
            continue;
          }
          if (disjunction.has_default) mode = disjunction.parts[i].is_default ? Mode::Default : Mode::Not;
        } else if (values->defaults > 0) {
          mode = i < values->defaults ? Mode::Default : Mode::Not;
        }
        mode = std::max(mode, survivor.mode);
        Survivor one{survivor.choices, mode};
        one.choices.push_back({pending.conjunct.expr, pending.ordinal, i});
        std::vector<Choice> choices = one.choices;
        for (std::uint32_t later = k + 1; later < node.disjunctions.size(); ++later) {
          choices.push_back({node.disjunctions[later].conjunct.expr, node.disjunctions[later].ordinal, kDeferred});
        }
        std::size_t failed = errors.size();
        if (is_last) {
          if (!try_disjunct(v, std::move(choices), mode, all, errors)) return false;
          continue;
        }
        std::vector<Alternative> found;
        if (!try_disjunct(v, std::move(choices), mode, found, errors)) return false;
        if (errors.size() > failed || found.empty()) continue;
        std::size_t known = same_preliminary(seen, found);
        if (known == seen.size()) {
          seen.push_back({std::move(found), next.size()});
          next.push_back(std::move(one));
        } else {
          Mode& kept = next[seen[known].survivor].mode;
          kept = join(kept, mode);
        }
      }
    }
    survivors = std::move(next);
    if (survivors.empty() && !is_last) break;
  }
  set_alternatives(v, all, errors);
  return true;
}

void Evaluator::set_alternatives(Vertex* v, const std::vector<Alternative>& all, const std::vector<const Bottom*>& errors) {
  Node& node = *v->node;
  node.has_noncyclic = true;
  v->lost_to_cycle = std::any_of(errors.begin(), errors.end(), [](const Bottom* e) {
    while (e != nullptr && e->code != Code::StructuralCycle) e = e->cause;
    return e != nullptr;
  });
  if (all.empty()) {
    Code code = Code::Eval;
    for (const Bottom* one : errors) {
      if (is_incomplete(one->code)) code = Code::Incomplete;
    }
    for (const Bottom* one : errors) {
      if (one->code == Code::User) code = Code::User;
    }
    auto* reason = arena_.make<Bottom>();
    reason->code = code;
    reason->format = "{0} errors in empty disjunction";
    reason->operands[0] = Value::of_int(static_cast<std::int64_t>(errors.size()));
    reason->pos = v->pos;
    reason->cause = errors.empty() ? nullptr : errors[0];
    if (errors.size() == 1) reason = arena_.make<Bottom>(*errors[0]);
    // What an author says about it is the reason, whatever else failed.
    for (auto one = errors.rbegin(); one != errors.rend(); ++one) {
      if ((*one)->code == Code::User) reason = arena_.make<Bottom>(**one);
    }
    add_error(v, Value::of(reason));
    return;
  }
  std::vector<Value> values;
  for (const Alternative& one : all) {
    if (one.mode == Mode::Default) values.push_back(one.value);
  }
  auto defaults = static_cast<std::uint32_t>(values.size());
  for (const Alternative& one : all) {
    if (one.mode != Mode::Default) values.push_back(one.value);
  }
  if (values.size() == 1) {
    v->left_mode = static_cast<std::uint8_t>(all[0].mode);
    if (values[0].is_vertex()) {
      v->shared = values[0].vertex;
    } else {
      v->base = values[0];
    }
    return;
  }
  auto* disjunction = arena_.make<Disjunction>();
  disjunction->values = arena_.copy(values);
  disjunction->defaults = defaults;
  v->base = Value::of(disjunction);
}

}  // namespace slipway::cue
