// Closed structs: which scopes bind the fields of a vertex, and what may be in them.
#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

bool Evaluator::allows(const CloseScope* closed, const CloseScope* evidence) {
  const CloseScope* below = nullptr;
  const CloseScope* a = closed;
  const CloseScope* b = evidence;
  while (a != b) {
    std::uint32_t a_depth = a == nullptr ? 0 : a->depth;
    std::uint32_t b_depth = b == nullptr ? 0 : b->depth;
    if (a_depth >= b_depth) {
      below = a;
      a = a->parent;
    }
    if (b_depth > a_depth || (b_depth == a_depth && b != nullptr)) b = b->parent;
  }
  return below == nullptr || below->kind == CloseScope::Kind::Embed;
}

void Evaluator::mark_ways(std::span<CloseScope* const> closed) {
  ++asked_;
  binding_roots_ = 0;
  for (CloseScope* one : closed) {
    const CloseScope* below = nullptr;
    bool is_known = false;
    for (CloseScope* at = one; !is_known; at = at->parent) {
      is_known = at == nullptr || std::exchange(at->asked, asked_) == asked_;
      std::uint32_t& binding = at == nullptr ? binding_roots_ : at->binding;
      if (!is_known) binding = 0;
      if (below != nullptr && below->kind != CloseScope::Kind::Embed) ++binding;
      if (is_known) break;
      below = at;
    }
  }
}

bool Evaluator::is_allowed_by_all(CloseScope* evidence) {
  auto binds = [this](const CloseScope* at) { return at == nullptr ? binding_roots_ : at->asked == asked_ ? at->binding : 0; };
  bool is_free = true;
  CloseScope* at = evidence;
  for (; at != nullptr && is_free; at = at->parent) {
    if (at->answered == asked_) {
      is_free = at->is_free;
      break;
    }
    bool is_counted = at->asked == asked_ && at->kind != CloseScope::Kind::Embed;
    is_free = binds(at->parent) == (is_counted ? 1U : 0U);
  }
  for (CloseScope* below = evidence; below != at; below = below->parent) {
    below->answered = asked_;
    below->is_free = is_free;
  }
  return is_free && binds(evidence) == 0;
}

// Definitions close what is below them, where they have a say in it.
std::vector<CloseScope*> Evaluator::inherited_requirements(const Vertex* v) {
  std::vector<CloseScope*> all;
  if (v->parent == nullptr || v->parent->node == nullptr || !v->parent->in_closed || v->label.is_none() || v->label.is_let())
    return all;
  for (CloseScope* one : requirements(v->parent)) {
    // Where it, or one embedded beside it, says "...", only what it declares itself is bound by it.
    const List<ScopeMark>& marks = v->parent->node->scopes;
    bool is_open = std::any_of(marks.begin(), marks.end(), [one](const ScopeMark& mark) {
      return mark.is_ellipsis && allows(one, mark.scope) && (mark.scope == one || !is_within(one, mark.scope));
    });
    auto inside = [&](const Conjunct& c) { return is_open ? is_within(c.scope, one) : allows(one, c.scope); };
    if (one->kind == CloseScope::Kind::Definition && std::any_of(v->conjuncts.begin(), v->conjuncts.end(), inside))
      all.push_back(one);
  }
  return all;
}

bool Evaluator::is_within(const CloseScope* scope, const CloseScope* outer) {
  while (scope != nullptr && scope != outer) scope = scope->parent;
  return scope != nullptr;
}

// A bare "_" leaves everything below it open, unless the definition also says what is there.
bool Evaluator::is_left_open(const Vertex* v, const CloseScope* closed) {
  bool has_top = std::any_of(v->node->scopes.begin(), v->node->scopes.end(),
                             [closed](const ScopeMark& mark) { return mark.is_top && allows(closed, mark.scope); });
  if (!has_top) return false;
  return std::none_of(v->node->scopes.begin(), v->node->scopes.end(),
                      [closed](const ScopeMark& mark) { return mark.is_struct && is_within(mark.scope, closed); });
}

// The closed scopes that bind the fields of v: its own and those above.
std::vector<CloseScope*> Evaluator::requirements(const Vertex* v) {
  Node& node = *v->node;
  if (node.bound_at == reopened_) return {node.bound_by.begin(), node.bound_by.end()};
  std::vector<CloseScope*> all = inherited_requirements(v);
  for (CloseScope* one : node.requirements) all.push_back(one);
  bool has_top = std::any_of(node.scopes.begin(), node.scopes.end(), [](const ScopeMark& mark) { return mark.is_top; });
  if (has_top) std::erase_if(all, [v](const CloseScope* one) { return is_left_open(v, one); });
  // Every level below asks: kept as long as nothing above can change.
  const Vertex* above = v->parent;
  bool is_known_above =
      above == nullptr ||
      (above->phase >= Phase::Settled && (above->node == nullptr || !above->in_closed || above->node->bound_at == reopened_));
  if (v->phase >= Phase::Settled && is_known_above) {
    node.bound_by.clear();
    for (CloseScope* one : all) node.bound_by.push(arena_, one);
    node.bound_at = reopened_;
  }
  return all;
}

// Whether something inside the closed scope, or that embeds it, declares the field or leaves its struct open.
bool Evaluator::allows_arc(const Vertex* v, const Vertex* field, const CloseScope* closed) {
  return std::any_of(field->conjuncts.begin(), field->conjuncts.end(),
                     [closed](const Conjunct& c) { return allows(closed, c.scope); }) ||
         std::any_of(v->node->scopes.begin(), v->node->scopes.end(),
                     [closed](const ScopeMark& mark) { return mark.is_ellipsis && allows(closed, mark.scope); });
}

bool Evaluator::allows_field(Vertex* v, Label label) {
  complete(v);
  v = deref(v);
  if (!v->is_closed || v->node == nullptr) return !v->is_closed;
  auto is_allowed = [&](auto&& counts) {
    const Vertex* field = label.is_none() ? nullptr : find_arc(v, label);
    for (std::uint32_t i = 0; field != nullptr && field->mark != ArcMark::Absent && i < field->conjuncts.size(); ++i) {
      if (counts(field->conjuncts[i].scope)) return true;
    }
    for (const Pattern& pattern : v->node->patterns) {
      bool applies = label.is_none() ? pattern.matcher.tag == Value::Tag::Type && (pattern.matcher.kinds & kString) != 0
                                     : matches(pattern.matcher, label);
      if (applies && counts(pattern.conjunct.scope)) return true;
    }
    return std::any_of(v->node->scopes.begin(), v->node->scopes.end(),
                       [&](const ScopeMark& mark) { return mark.is_ellipsis && counts(mark.scope); });
  };
  for (const CloseScope* one : requirements(v)) {
    if (!is_allowed([one](const CloseScope* evidence) { return allows(one, evidence); })) return false;
  }
  return is_allowed([](const CloseScope*) { return true; });
}

// What a closed scope does not allow, it does not allow the fields of, either, but for those it says something of itself.
void Evaluator::deny_below(Vertex* v, const CloseScope* closed, const Bottom* reason) {
  for (Vertex* field : v->arcs) {
    bool is_known = std::any_of(field->conjuncts.begin(), field->conjuncts.end(),
                                [closed](const Conjunct& c) { return allows(closed, c.scope); });
    if (is_known || !field->label.is_regular()) continue;
    deny_below(field, closed, reason);
    field->shared = nullptr;
    field->base = Value::of(reason);
    field->phase = Phase::Final;
  }
}

void Evaluator::check_closed(Vertex* v) {
  if (v->base.is_bottom() || v->arcs.empty()) return;
  // One error is enough.
  if (v->child_error != nullptr && !v->child_error->is_close_check) return;
  std::vector<CloseScope*> closed;
  if (v->in_closed) closed = requirements(v);
  if (closed.empty()) return;
  // Disjunctions that were left aside may still allow more.
  if (is_preliminary(v)) return;
  mark_ways(closed);
  for (std::uint32_t i = 0; i < v->arcs.size(); ++i) {
    Vertex* field = v->arcs[i];
    if (!field->label.is_regular() || field->mark > ArcMark::Optional) continue;
    auto is_free = [this](const Conjunct& c) { return is_allowed_by_all(c.scope); };
    if (std::any_of(field->conjuncts.begin(), field->conjuncts.end(), is_free)) continue;
    for (const CloseScope* one : closed) {
      if (allows_arc(v, field, one)) continue;
      auto* reason = arena_.make<Bottom>(
          *bottom(Code::Eval, "field not allowed", field->pos, {}, {}, one->of != nullptr ? one->of->pos : 0).bottom);
      reason->is_close_check = true;
      reason->node = field;
      Vertex* target = field;
      if (target->shared != nullptr || target->base.is_bottom()) {
        target->shared = nullptr;
      }
      target->base = Value::of(reason);
      target->phase = Phase::Final;
      if (one->kind == CloseScope::Kind::Definition) deny_below(field, one, reason);
      bool is_there = field->mark <= ArcMark::Required;
      if (is_there && (v->child_error == nullptr || v->child_error->code < Code::Eval)) v->child_error = reason;
      break;
    }
  }
}

}  // namespace slipway::cue
