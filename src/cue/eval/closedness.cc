// Closed structs: which scopes bind the fields of a vertex, and what may be in them.
#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

namespace {

void add_openings(const Vertex* v, std::vector<CloseScope*>& places) {
  for (const ScopeMark& mark : v->node->scopes) {
    if (mark.is_ellipsis) places.push_back(mark.scope);
  }
}

}  // namespace

void Evaluator::ask(std::span<CloseScope* const> places) {
  ++asked_;
  places_.assign(places.begin(), places.end());
  std::vector<CloseScope*> todo = places_;
  auto mark = [&](CloseScope* at) {
    if (at != nullptr && at->asked != asked_) todo.push_back(at);
  };
  while (!todo.empty()) {
    CloseScope* at = todo.back();
    todo.pop_back();
    for (; at != nullptr && at->asked != asked_; at = at->parent) {
      at->asked = asked_;
      for (const ScopeParent* more = at->more; more != nullptr; more = more->next) mark(more->scope);
    }
  }
}

// Goes up every way from what is embedded, until something that was asked for, and is not in what is embedded itself, lies in
// a struct there: what embeds lets in whatever the outermost struct around it has, as upstream does. The files are one for
// what they embed themselves.
bool Evaluator::is_bound_when_embedded(CloseScope* embedded) {
  bool is_answered = embedded->asked == asked_;
  std::vector<CloseScope*> others = places_;
  if (is_answered) std::erase_if(others, [&](CloseScope* one) { return is_within(one, embedded); });
  if (others.empty()) return true;
  std::uint32_t marked = is_answered ? walk(others) : 0;
  std::uint32_t visited = ++walks_;
  struct Step {
    CloseScope* at;
    bool is_in_struct;
  };
  std::vector<Step> todo = {{embedded->parent, false}};
  while (!todo.empty()) {
    auto [at, is_in_struct] = todo.back();
    todo.pop_back();
    if (at == nullptr) return true;
    if (at->walked == visited) continue;
    bool is_struct = at->kind == CloseScope::Kind::Struct;
    bool counts = is_struct || (at->kind == CloseScope::Kind::File && (embedded->is_of_root || !is_in_struct));
    if (counts && (is_answered ? at->walked == marked : at->asked == asked_)) continue;
    at->walked = visited;
    todo.push_back({at->parent, is_in_struct || is_struct});
    for (const ScopeParent* more = at->more; more != nullptr; more = more->next)
      todo.push_back({more->scope, is_in_struct || is_struct});
  }
  return false;
}

// Goes up every way, until one gets to the top or to where things are embedded.
bool Evaluator::allows(CloseScope* closed) {
  if (closed->asked == asked_) return true;
  struct Step {
    CloseScope* at;
    const ScopeParent* next;
  };
  std::vector<Step> way;
  bool is_bound = false;
  CloseScope* at = closed;
  while (!is_bound) {
    if (at == nullptr || at->answered == asked_) {
      is_bound = at == nullptr || at->is_bound;
    } else {
      at->answered = asked_;
      at->is_bound = at->kind == CloseScope::Kind::Embed && is_bound_when_embedded(at);
      is_bound = at->is_bound;
      if (at->kind != CloseScope::Kind::Embed) {
        way.push_back({at, at->more});
        at = at->parent;
        continue;
      }
    }
    while (!is_bound && !way.empty() && way.back().next == nullptr) way.pop_back();
    if (way.empty() || is_bound) break;
    at = std::exchange(way.back().next, way.back().next->next)->scope;
  }
  for (const Step& step : way) step.at->is_bound = is_bound;
  return !is_bound;
}

bool Evaluator::allows(CloseScope* closed, CloseScope* place) {
  ask({&place, 1});
  return allows(closed);
}

// What is closed by a call. A definition that is nothing else does not close what is below, either.
CloseScope* Evaluator::close_once(Vertex* v, CloseScope* outside, const Vertex* of) {
  List<CloseScope*>& own = v->node->requirements;
  auto is_reference = [&](const CloseScope* at) {
    return at != nullptr && (at->kind == CloseScope::Kind::Reference || std::find(own.begin(), own.end(), at) != own.end());
  };
  const CloseScope* top = outside;
  while (is_reference(top)) top = top->parent;
  bool is_whole = v->stands_for == nullptr && (top == nullptr || top->kind != CloseScope::Kind::Embed);
  for (CloseScope* at = outside; is_reference(at) && is_whole; at = at->parent) at->is_shallow = true;
  CloseScope* inside = scope(outside, CloseScope::Kind::Once, of);
  own.push(arena_, inside);
  return inside;
}

// Definitions close what is below them, where they have a say in it.
std::vector<CloseScope*> Evaluator::inherited_requirements(const Vertex* v) {
  std::vector<CloseScope*> all;
  if (v->parent == nullptr || v->parent->node == nullptr || !v->parent->in_closed || v->label.is_none() || v->label.is_let())
    return all;
  const std::vector<CloseScope*> above = requirements(v->parent);
  std::vector<bool> is_open;
  // Where it, or one embedded beside it, says "...", only what it declares itself is bound by it.
  auto lets_in = [&](CloseScope* one) {
    const List<ScopeMark>& marks = v->parent->node->scopes;
    return std::any_of(marks.begin(), marks.end(), [&](const ScopeMark& mark) {
      return mark.is_ellipsis && (mark.scope == one || (allows(one, mark.scope) && !is_within(one, mark.scope)));
    });
  };
  std::ranges::transform(above, std::back_inserter(is_open), lets_in);
  ask_of(v);
  for (std::size_t i = 0; i < above.size(); ++i) {
    CloseScope* one = above[i];
    auto inside = [&](const Conjunct& c) { return is_within(c.scope, one); };
    if (one->kind != CloseScope::Kind::Definition || one->is_shallow) continue;
    if (is_open[i] ? std::any_of(v->conjuncts.begin(), v->conjuncts.end(), inside) : allows(one)) all.push_back(one);
  }
  return all;
}

// Marks what the places lie in, as far as `outer`; the number of the walk.
std::uint32_t Evaluator::walk(std::span<CloseScope* const> places, const CloseScope* outer) {
  ++walks_;
  std::vector<CloseScope*> todo(places.begin(), places.end());
  while (!todo.empty()) {
    CloseScope* at = todo.back();
    todo.pop_back();
    for (; at != nullptr && at->walked != walks_; at = at->parent) {
      at->walked = walks_;
      if (at == outer) return walks_;
      for (const ScopeParent* more = at->more; more != nullptr; more = more->next) todo.push_back(more->scope);
    }
  }
  return walks_;
}

bool Evaluator::is_within(CloseScope* scope, const CloseScope* outer) {
  return outer != nullptr && walk({&scope, 1}, outer) == outer->walked;
}

// A bare "_" leaves everything below it open, unless the definition also says what is there.
bool Evaluator::is_left_open(const Vertex* v, CloseScope* closed) {
  bool has_top = std::any_of(v->node->scopes.begin(), v->node->scopes.end(),
                             [&](const ScopeMark& mark) { return mark.is_top && allows(closed, mark.scope); });
  if (!has_top) return false;
  return std::none_of(v->node->scopes.begin(), v->node->scopes.end(),
                      [&](const ScopeMark& mark) { return mark.is_struct && is_within(mark.scope, closed); });
}

// The closed scopes that bind the fields of v: its own and those above.
std::vector<CloseScope*> Evaluator::requirements(const Vertex* v) {
  Node& node = *v->node;
  if (node.bound_at == reopened_) return {node.bound_by.begin(), node.bound_by.end()};
  std::vector<CloseScope*> all = inherited_requirements(v);
  for (CloseScope* one : node.requirements) all.push_back(one);
  bool has_top = std::any_of(node.scopes.begin(), node.scopes.end(), [](const ScopeMark& mark) { return mark.is_top; });
  if (has_top) std::erase_if(all, [this, v](CloseScope* one) { return is_left_open(v, one); });
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

void Evaluator::ask_of(const Vertex* field) {
  std::vector<CloseScope*> places;
  for (const Conjunct& c : field->conjuncts) places.push_back(c.scope);
  ask(places);
}

void Evaluator::ask_of_field(const Vertex* v, const Vertex* field) {
  std::vector<CloseScope*> places;
  for (const Conjunct& c : field->conjuncts) places.push_back(c.scope);
  add_openings(v, places);
  if (places != places_) ask(places);
}

bool Evaluator::allows_field(Vertex* v, Label label) {
  complete(v);
  v = deref(v);
  if (!v->is_closed || v->node == nullptr) return !v->is_closed;
  const std::vector<CloseScope*> closed = requirements(v);
  std::vector<CloseScope*> places;
  const Vertex* field = label.is_none() ? nullptr : find_arc(v, label);
  for (std::uint32_t i = 0; field != nullptr && field->mark != ArcMark::Absent && i < field->conjuncts.size(); ++i)
    places.push_back(field->conjuncts[i].scope);
  for (const Pattern& pattern : v->node->patterns) {
    bool applies = label.is_none() ? pattern.matcher.tag == Value::Tag::Type && (pattern.matcher.kinds & kString) != 0
                                   : matches(pattern.matcher, label);
    if (applies) places.push_back(pattern.conjunct.scope);
  }
  add_openings(v, places);
  ask(places);
  return !places.empty() && std::all_of(closed.begin(), closed.end(), [this](CloseScope* one) { return allows(one); });
}

// What a closed scope does not allow, it does not allow the fields of, either, but for those it says something of itself.
void Evaluator::deny_below(Vertex* v, CloseScope* closed, const Bottom* reason) {
  for (Vertex* field : v->arcs) {
    ask_of(field);
    if (!field->label.is_regular() || allows(closed)) continue;
    deny_below(field, closed, reason);
    field->shared = nullptr;
    field->base = Value::of(reason);
    field->phase = Phase::Final;
  }
}

const Bottom* Evaluator::denial(Vertex* v, const Vertex* field, std::span<CloseScope* const> closed, CloseScope** by) {
  ask_of_field(v, field);
  for (CloseScope* one : closed) {
    if (allows(one)) continue;
    auto* reason = arena_.make<Bottom>(
        *bottom(Code::Eval, "field not allowed", field->pos, {}, {}, one->of != nullptr ? one->of->pos : 0).bottom);
    reason->is_close_check = true;
    reason->node = field;
    if (by != nullptr) *by = one;
    return reason;
  }
  return nullptr;
}

// Who asks for a field before the struct is complete gets none that will turn out to be wrong. Structs in the middle of an
// expression and those of other packages are not checked, as upstream does.
const Bottom* Evaluator::early_denial(Vertex* v, const Vertex* field) {
  if (!v->in_closed || v->node == nullptr || v->base.tag != Value::Tag::Struct || !field->label.is_regular()) return nullptr;
  const Vertex* root = v;
  for (const Vertex* p = v; p != nullptr; p = p->parent) {
    root = p;
    bool is_inline = p->parent != nullptr && (p->label.is_none() || p->label.is_let());
    if (is_inline || (p->phase < Phase::Settled && p->node != nullptr && !p->node->requirements.empty())) return nullptr;
  }
  if (is_preliminary(v) || root != instance(0)) return nullptr;
  std::vector<CloseScope*> closed = requirements(v);
  if (closed.empty()) return nullptr;
  places_.clear();
  ++asked_;
  return denial(v, field, closed, nullptr);
}

void Evaluator::check_closed(Vertex* v) {
  if (v->arcs.empty()) return;
  // As long as something is missing, only fields with fields of their own are reason enough to judge, as upstream does.
  auto is_container = [](const Vertex* field) {
    const Value& value = deref(field)->base;
    return field->label.is_regular() && (value.is_container());
  };
  if (v->base.is_bottom() && !is_incomplete(v->base.bottom->code)) return;
  if (v->base.is_bottom() && std::none_of(v->arcs.begin(), v->arcs.end(), is_container)) return;
  // One error is enough.
  if (v->child_error != nullptr && !v->child_error->is_close_check) return;
  std::vector<CloseScope*> closed;
  if (v->in_closed) closed = requirements(v);
  if (closed.empty()) return;
  // Disjunctions that were left aside may still allow more.
  if (is_preliminary(v)) return;
  places_.clear();
  ++asked_;
  for (std::uint32_t i = 0; i < v->arcs.size(); ++i) {
    Vertex* field = v->arcs[i];
    if (!field->label.is_regular() || field->mark > ArcMark::Optional || deref(field)->base.is_bottom()) continue;
    CloseScope* by = nullptr;
    const Bottom* reason = denial(v, field, closed, &by);
    if (reason == nullptr) continue;
    field->shared = nullptr;
    field->base = Value::of(reason);
    field->phase = Phase::Final;
    if (by->kind == CloseScope::Kind::Definition) deny_below(field, by, reason);
    bool is_there = field->mark <= ArcMark::Required;
    if (is_there && (v->child_error == nullptr || v->child_error->code < Code::Eval)) v->child_error = reason;
  }
}

}  // namespace slipway::cue
