// What a reference leads to becomes conjuncts of the vertex that has it, or the vertex itself; structures that repeat
// themselves.
#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

bool Evaluator::has_ancestor(const Vertex* v, const Vertex* ancestor) const {
  for (const Vertex* at = v->parent; at != nullptr; at = at->parent) {
    if (at == ancestor || at->stands_for == ancestor) return true;
    for (const Vertex* real = at->stands_for; real != nullptr; real = real->stands_for) {
      if (real == ancestor) return true;
    }
  }
  return false;
}

// An ancestor, with nothing in between that was made in the middle of an expression.
bool Evaluator::is_inside(const Vertex* v, const Vertex* ancestor) const {
  if (!has_ancestor(v, ancestor)) return false;
  for (const Vertex* at = v; at != nullptr && at != ancestor && at->stands_for != ancestor; at = at->parent) {
    if (at->is_detached) return false;
  }
  return true;
}

// Something says what is here that does not come from what repeats itself since `lap`: a structure that goes on as long as
// data goes on ends.
bool Evaluator::is_given(const Vertex* v, const Vertex* lap) const {
  // None of the references that led to `lap` has led there before.
  auto is_first = [lap](const RefTrail& entry) {
    for (const RefTrail* here = &entry; here != nullptr && here->node == lap; here = here->next) {
      for (const RefTrail* at = here->next; at != nullptr; at = at->next) {
        if (at->ref == here->ref && at->arc == here->arc) return false;
      }
    }
    return true;
  };
  return std::any_of(v->conjuncts.begin(), v->conjuncts.end(), [&](const Conjunct& k) {
    bool is_plain = k.expr->op == ir::Op::Struct || k.expr->op == ir::Op::List || k.expr->op == ir::Op::Constant ||
                    ir::is_reference(*k.expr);
    if (!is_plain || k.cycle == Cycle::Certain) return false;
    // A pattern applies to whatever there is.
    for (const Vertex* self = v; self != nullptr && k.env != nullptr; self = self->stands_for) {
      if (k.env->vertex == self) return false;
    }
    if (k.trail == nullptr) return true;
    if (lap == nullptr) return false;
    bool is_written = !ir::is_reference(*k.expr);
    return k.trail->node == lap ? is_written && is_first(*k.trail) : has_ancestor(lap, k.trail->node);
  });
}

// Follows the reference `c` to `from` for v. False when its conjuncts are in v already.
bool Evaluator::track_cycle(Vertex* v, Conjunct& c, const Vertex* from) {
  for (const Vertex* self = v; self != nullptr; self = self->stands_for) {
    if (self == from) return false;
  }
  if (is_inside(v, from)) {
    c.cycle = Cycle::Certain;
    v->node->has_cyclic = true;
  }
  // As long as something else asks for what is here.
  if (c.cycle == Cycle::Lap && v->node->has_noncyclic) return true;
  std::uint32_t hops = 0;
  bool is_inline = false;
  for (const Vertex* at = v; at->parent != nullptr && !is_inline; at = at->parent)
    is_inline = at->label.is_none() || at->label.is_let();
  bool was_cyclic = c.cycle == Cycle::Certain;
  for (const RefTrail* at = c.trail; at != nullptr; at = at->next) {
    if (++hops % 64 == 0) meter_.add(1);  // a long way costs, too
    if (at->arc != from) continue;
    // In the middle of an expression the same reference must lead there.
    if (at->ref != c.expr && is_inline && c.cycle == Cycle::None) continue;
    // What repeats itself already does so again with the first vertex it has met, whichever reference leads there.
    if (was_cyclic) v->node->has_cyclic = true;
    if (at->node == v) return false;
    if (c.cycle == Cycle::Optional) {
      c.cycle = Cycle::Lap;
      c.trail = nullptr;
      return true;
    }
    if (!was_cyclic && is_given(v, at->node)) break;
    c.cycle = Cycle::Certain;
    // An item of a list in an expression is one more step: what judges by it may have come to an end.
    bool is_item = v->label.is_index() && v->parent != nullptr && v->parent->label.is_none();
    if (!is_item) v->node->has_cyclic = true;
    return true;
  }
  c.trail = arena_.make<RefTrail>(c.expr, from, v, c.trail);
  return true;
}

// All that is said of v are references to one vertex.
bool Evaluator::names_only(Vertex* v, const Conjunct& c, const Vertex* from) {
  const Node& node = *v->node;
  if (!node.seen.empty() || node.has_struct || !node.lists.empty() || node.kinds != kTop || !node.disjunctions.empty())
    return false;
  for (std::uint32_t i = 0; i < v->conjuncts.size(); ++i) {
    const Conjunct said = v->conjuncts[i];
    std::span<const ir::Expr* const> parts{&said.expr, 1};
    if (said.expr->op == ir::Op::And) parts = ir::as<ir::And>(*said.expr).parts;
    bool is_alike = said.cycle != Cycle::Certain && is_in_definition(said.scope) == is_in_definition(c.scope);
    if (!is_alike || !std::ranges::all_of(parts, [](const ir::Expr* one) { return ir::is_reference(*one); })) return false;
    for (const ir::Expr* one : parts) {
      if (one == c.expr && said.env == c.env) continue;
      Lookup found = resolve(*one, said.env);
      if (found.found != Found::Arc) return false;
      if (found.arc->phase == Phase::Raw && !has_ancestor(v, found.arc)) settle(found.arc);
      if (deref(found.arc) != from) return false;
    }
  }
  return true;
}

bool Evaluator::may_share(Vertex* v, const Conjunct& c, const Vertex* from) {
  if (v->stands_for != nullptr || !v->node->choices.empty()) return false;
  if (from->phase < Phase::Settled || from->label.is_let() || !v->notify.empty()) return false;
  if (c.cycle == Cycle::Certain || v->mark == ArcMark::Absent || from->mark != ArcMark::Member || !v->arcs.empty())
    return false;
  bool is_container = from->base.is_container() || from->base.tag == Value::Tag::Disjunction;
  bool is_list = from->base.tag == Value::Tag::List;
  bool is_inside = is_in_definition(c.scope) || (v->parent != nullptr && v->parent->closes_below);
  bool closes = !from->is_closed && !is_list && is_inside;
  bool changes_closedness = v->closes_once || closes || (v->closes_fields && !from->closes_fields);
  if (!is_container || changes_closedness || has_ancestor(v, from)) return false;
  return (v->conjuncts.size() == 1 && v->conjuncts[0].expr == c.expr) || names_only(v, c, from);
}

// Of a disjunct that is nothing but a reference to what it came through before, what the same one of a field beside v is.
Vertex* Evaluator::written_out(Vertex* v, const Conjunct& c, const Vertex* from) {
  const Node& node = *v->node;
  if (v->stands_for == nullptr || v->conjuncts.size() != 1 || node.choices.size() != 1 || !v->arcs.empty()) return nullptr;
  if (node.kinds != kTop || node.has_struct || !node.seen.empty() || !node.bounds.empty() || v->parent == nullptr)
    return nullptr;
  const Choice& choice = node.choices[0];
  bool is_choice =
      choice.disjunction->op == ir::Op::Or && ir::as<ir::Or>(*choice.disjunction).parts[choice.index].value == c.expr;
  if (!is_choice || v->parent->node == nullptr) return nullptr;
  List<WrittenOut>& known = v->parent->node->tell(arena_).written_out;
  for (const WrittenOut& one : known) {
    Vertex* other = one.vertex;
    bool is_same = one.to == from && one.trail == c.trail && one.scope == c.scope && one.cycle == c.cycle;
    bool is_plain = other->phase == Phase::Final && other->closes_fields == v->closes_fields && !other->has_incomplete;
    if (is_same && is_plain && other->base.tag == Value::Tag::Struct && other->child_error == nullptr) return other;
  }
  known.push(arena_, {from, c.trail, c.scope, c.cycle, v});
  return nullptr;
}

namespace {

// Structs embedded side by side allow each other's fields, so the same one twice is one.
bool is_same_place(const CloseScope* a, const CloseScope* b) {
  if (a == b) return true;
  return a != nullptr && b != nullptr && a->kind == CloseScope::Kind::Embed && b->kind == CloseScope::Kind::Embed &&
         a->parent == b->parent;
}

// The scope that was made for what is in `inner`, a reference to `target`; null when it has none of its own.
CloseScope* own_scope(CloseScope* inner, const Vertex* target) {
  CloseScope* own = nullptr;
  for (CloseScope* at = inner; at != nullptr && at->of == target && own != at; at = at->parent) {
    own = at;
    if (at->kind != CloseScope::Kind::Once) break;
    if (at->parent == nullptr || at->parent->of != target) break;
  }
  return own;
}

// What has repeated itself in the middle of an expression would do so once more wherever it is put.
bool repeats_inline(const Vertex& real, const Vertex& target) {
  return real.base.is_bottom() && real.base.bottom->code == Code::StructuralCycle && target.parent != nullptr &&
         target.parent->parent != nullptr && target.parent->label.is_none();
}

// x: {a: x}.a says nothing of x.
bool has_seen(const Vertex& field, const Vertex* v) {
  if (field.node == nullptr || field.node->told == nullptr) return false;
  const List<CyclicReference>& cyclic = field.node->told->cyclic;
  return std::any_of(cyclic.begin(), cyclic.end(),
                     [v](const CyclicReference& one) { return one.to == v || one.to == v->stands_for; });
}

}  // namespace

void Evaluator::add_vertex(Vertex* v, const Conjunct& ref, Vertex* from, bool is_definition) {
  Conjunct c = ref;
  Vertex* target = from;
  if (from->phase >= Phase::Settled) target = declared(from);
  if (!track_cycle(v, c, target)) {
    note_conjunct(v, {c.expr, c.env, c.scope, c.trail, Cycle::None});
    v->node->has_top = v->node->has_top || target->phase != Phase::Final;
    return;
  }
  if (c.cycle == Cycle::Lap) {
    if (Vertex* same = written_out(v, ref, target); same != nullptr) {
      v->shared = same;
      return;
    }
  }
  if (v->node->has_cyclic && c.cycle == Cycle::Certain && !v->node->has_noncyclic) {
    v->node->tell(arena_).cyclic.push(arena_, {c, target, is_definition});
    return;
  }
  bool is_above = has_ancestor(v, target);
  if (!is_above && target->phase != Phase::Running && target->phase < Phase::Settled) settle(target);
  Vertex* real = deref(target);
  if (!is_above && target->phase >= Phase::Settled) {
    bool is_plain = real->base.is_concrete_scalar() || real->base.tag == Value::Tag::Type ||
                    real->base.tag == Value::Tag::Conjunction || real->base.tag == Value::Tag::Bound ||
                    real->base.tag == Value::Tag::Validator;
    // With a disjunct that would repeat itself, others may still have use for it.
    bool is_all_there_is = v->conjuncts.size() == 1 && v->conjuncts[0].expr == c.expr;
    bool is_decided = is_plain && real->arcs.empty() && (!target->lost_to_cycle || is_all_there_is);
    bool is_endless = repeats_inline(*real, *target);
    if (is_endless && has_seen(*target, v)) return note_conjunct(v, {c.expr, c.env, c.scope, c.trail, Cycle::None});
    if (is_decided || is_endless || (real->base.is_bottom() && real->conjuncts.empty())) {
      v->has_definition = v->has_definition || is_definition;
      v->closes_below = v->closes_below || (is_definition && real->base.tag == Value::Tag::Type && real->base.kinds == kTop);
      return insert_value(v, c, real->base, c.expr->pos);
    }
    if (may_share(v, c, real)) {
      if (v->mark != ArcMark::Member && leads_back(v, real)) {
        v->node->has_cyclic = true;
        return;
      }
      v->shared = real;
      return;
    }
  }
  add_conjuncts_of(v, c, target, is_definition);
}

// Whether one of the fields below `from`, or what they are, is around v. As far as it is known.
bool Evaluator::leads_back(const Vertex* v, const Vertex* from) {
  constexpr std::size_t kMostLooks = 200;
  std::vector<const Vertex*> all{from};
  for (std::size_t i = 0; i < all.size() && all.size() < kMostLooks; ++i) {
    for (const Vertex* field : all[i]->arcs) {
      const Vertex* real = deref(field);
      if (field->mark != ArcMark::Member || real->arcs.empty()) continue;
      if (has_ancestor(v, real)) return true;
      if (std::ranges::find(all, real) == all.end()) all.push_back(real);
    }
  }
  meter_.add(all.size() / 16);
  return false;
}

// References that repeat themselves are followed as soon as something else says what is there.
bool Evaluator::follow_cyclic(Vertex* v) {
  Node& node = *v->node;
  if (node.told == nullptr || !node.has_noncyclic || node.told->cyclic.empty()) return false;
  List<CyclicReference> put_off = std::exchange(node.told->cyclic, {});
  for (const CyclicReference& one : put_off) add_conjuncts_of(v, one.conjunct, one.to, one.is_definition);
  return true;
}

void Evaluator::add_conjuncts_of(Vertex* v, const Conjunct& c, Vertex* target, bool is_definition) {
  Vertex* real = deref(target);
  if (target->conjuncts.empty() && target->phase >= Phase::Settled) return insert_data(v, c, target);
  CloseScope* outside = c.scope;
  bool is_embedded = c.scope != nullptr && c.scope->kind == CloseScope::Kind::Embed;
  if (!is_embedded && real->phase >= Phase::Settled && real->base.tag == Value::Tag::Struct && real->is_closed)
    v->has_definition = true;
  Node& node = *v->node;
  if (node.seen.size() > 1000) meter_.add(node.seen.size() / 16);  // a long look costs, too
  bool is_again = false;
  if (is_known(v, c, target, is_definition, is_again)) return;
  if (is_definition) {
    outside = scope(c.scope, CloseScope::Kind::Definition, target);
    node.requirements.push(arena_, outside);
  } else if (is_again) {
    outside = scope(c.scope, CloseScope::Kind::Reference, target);
  }
  if (target->closes_once) outside = close_once(v, outside, target);
  node.seen.push(arena_, {c.expr, target, outside, c.cycle});
  if (target->phase < Phase::Final) {
    target->notify.push(arena_, {v, outside, c.trail, c.cycle});
  }
  std::uint32_t count = target->conjuncts.size();
  if (count == 0) node.has_top = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Conjunct from_target = target->conjuncts[i];
    Cycle cycle = from_target.cycle == Cycle::Certain ? Cycle::Certain : c.cycle;
    insert(v, {from_target.expr, from_target.env, outside, c.trail, cycle});
  }
}

// Whether what `c` refers to is in v already, wherever in it; then its scope gets a further parent. `is_again`: it is, but
// has no scope that could.
bool Evaluator::is_known(Vertex* v, const Conjunct& c, const Vertex* target, bool is_definition, bool& is_again) {
  bool has_ref = false;
  for (std::uint32_t i = 0; i < v->node->seen.size(); ++i) {
    const SeenVertex known = v->node->seen[i];
    if (known.arc != target) continue;
    has_ref = has_ref || known.ref == c.expr;
    CloseScope* own = own_scope(known.scope, target);
    bool was_definition = own != nullptr && own->kind == CloseScope::Kind::Definition;
    if (was_definition != is_definition) continue;
    if (is_same_place(own == nullptr ? known.scope : own->parent, c.scope)) return true;
    is_again = true;
    if (own == nullptr || (known.cycle >= Cycle::Lap && c.cycle < known.cycle) ||
        (is_in_definition(c.scope) && !own->in_definition))
      continue;
    for (const ScopeParent* more = own->more; more != nullptr; more = more->next) {
      if (is_same_place(more->scope, c.scope)) return true;
    }
    if (!is_within(c.scope, own)) own->more = arena_.make<ScopeParent>(c.scope, own->more);
    ++reopened_;
    if (!has_ref) v->node->seen.push(arena_, {c.expr, known.arc, known.scope, known.cycle});
    return true;
  }
  return false;
}

}  // namespace slipway::cue
