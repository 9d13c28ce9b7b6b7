// References to vertices.
#include <algorithm>

#include "cue/eval/evaluator.h"

// References are few of the kinds of expressions.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

Env* Evaluator::up(Env* env, std::uint16_t levels) const {
  for (; levels > 0; --levels) env = env->up;
  return env;
}

bool Evaluator::refers_to_definition(const ir::Expr& expr) {
  const ir::Expr* at = &expr;
  for (;;) {
    if (at->op == ir::Op::FieldRef || at->op == ir::Op::NodeRef) return ir::as<ir::Ref>(*at).label.is_definition();
    if (at->op == ir::Op::Index) {
      at = ir::as<ir::Index>(*at).base;
      continue;
    }
    if (at->op != ir::Op::Selector) return false;
    if (ir::as<ir::Selector>(*at).label.is_definition()) return true;
    at = ir::as<ir::Selector>(*at).base;
  }
}

// To what stands inside a disjunct that is tried, that disjunct is the vertex.
Vertex* Evaluator::tried(Vertex* v) const {
  while (v->node != nullptr && v->node->trial != nullptr) {
    Vertex* trial = v->node->trial;
    bool is_inside = current_ == trial || (current_ != nullptr && has_ancestor(current_, trial));
    if (!is_inside || trial->is_preliminary) break;
    v = trial;
  }
  return v;
}

// The field of a vertex, once everything is done that could add to it.
Lookup Evaluator::lookup(Vertex* v, Label label, Pos pos) {
  meter_.add(1);
  if (v->phase == Phase::Raw || v->phase == Phase::Partial) settle(v);
  v = deref(v);
  if (v->phase == Phase::Raw || v->phase == Phase::Partial) settle(v);
  v = deref(v);
  if (Vertex* trial = tried(v); trial != v) {
    Lookup found = lookup(trial, label, pos);
    // What it has not by itself, it will not get.
    if (found.found == Found::Absent && found.holder == nullptr && !is_asking_)
      found.value = bottom(Code::Eval, "undefined field", pos);
    return found;
  }
  if (v->phase == Phase::Running || v->phase == Phase::Partial) {
    bool waits = false;
    bool waits_for_guard = false;
    for (std::uint32_t i = 0; i < v->node->tasks.size(); ++i) {
      if (v->node->tasks[i].state == Task::State::Done || !may_produce(v->node->tasks[i], label)) continue;
      if (v->node->tasks[i].state == Task::State::Waiting && v->phase == Phase::Running) {
        bool outer = std::exchange(force_, false);
        attempt(v, i);
        force_ = outer;
      }
      if (v->node->tasks[i].state == Task::State::Done) continue;
      waits = true;
      waits_for_guard = waits_for_guard || names_label(v->node->tasks[i], label);
    }
    Vertex* arc = find_arc(v, label);
    bool exists = arc != nullptr && arc->mark == ArcMark::Member;
    // A reference that asks for what it may itself add to sees what is there.
    if (exists && (!waits || force_ || v->node->is_deciding)) return {Found::Arc, arc, {}};
    if (waits && force_ && decide_known(v, label)) return lookup(v, label, pos);
    if (waits && force_ && waits_for_guard && !is_asking_ && v != current_)
      v->node->tell(arena_).promised.push(arena_, {v, label, pos});
    if (waits && force_) return {Found::Absent, nullptr, {}, waits_for_guard ? v : nullptr, label};
    if (exists && waits && is_scalar_known(arc)) return {Found::Arc, arc, {}};
    if (waits || !v->node->disjunctions.empty()) {
      low_ = std::min(low_, v->phase == Phase::Running ? v->node->depth : v->node->waits_for);
      return {Found::Blocked, exists ? arc : nullptr, {}};
    }
    return {Found::Absent, nullptr, {}};
  }
  if (v->base.tag == Value::Tag::Disjunction) {
    Value chosen = default_of(v->base);
    if (chosen.is_bottom()) return {Found::Error, nullptr, chosen};
    return lookup_in_value(chosen, label, pos);
  }
  Vertex* arc = find_arc(v, label);
  bool is_wrong = v->base.is_bottom() && v->base.bottom->code >= Code::User;
  if (arc != nullptr && arc->mark == ArcMark::Member && !is_wrong) {
    if (const Bottom* reason = early_denial(v, arc)) return {Found::Error, nullptr, Value::of(reason)};
    return {Found::Arc, arc, {}};
  }
  if (v->base.is_bottom()) return {Found::Error, nullptr, v->base};
  bool is_container = v->base.is_container();
  if (is_container || (kinds_of(v->base) & (kStruct | kList)) != 0) return {Found::Absent, nullptr, {}};
  if (label.is_definition() || label.is_hidden()) return {Found::Absent, nullptr, {}};
  return {
      Found::Error, nullptr,
      bottom(Code::Eval, "invalid operand {0} (found {1}, want list or struct)", pos, v->base, Value::type(kinds_of(v->base)))};
}

// Of what waits for each other, a guard that asks for a field which is there can be decided before one that asks for what may
// come yet, whichever of them was come to first. True when one was.
bool Evaluator::decide_known(Vertex* v, Label label) {
  Node& node = *v->node;
  if (node.is_deciding) return false;
  node.is_deciding = true;
  bool moved = false;
  for (std::uint32_t i = 0; i < node.tasks.size(); ++i) {
    const Task task = node.tasks[i];
    const bool may_help =
        task.state == Task::State::Waiting && task.kind == Task::Kind::Comprehension && may_produce(task, label);
    if (may_help && asks_for_known(task)) moved = attempt(v, i) || moved;
  }
  node.is_deciding = false;
  if (moved) ++progress_;
  return moved;
}

// What may still be added to a scalar agrees with it or makes it an error.
bool Evaluator::is_scalar_known(Vertex* field) {
  std::uint32_t outer_low = std::exchange(low_, kNothing);
  settle(field);
  low_ = outer_low;
  const Vertex* real = deref(field);
  if (real->phase >= Phase::Settled) return real->base.is_concrete_scalar();
  return real->node != nullptr && real->node->has_scalar() && real->node->errors == nullptr;
}

bool Evaluator::asks_for_known(const Task& task) {
  const ir::Clause& first = ir::as<ir::Comprehension>(*task.conjunct.expr).clauses[0];
  if (first.kind != ast::Clause::If || first.expr->op != ir::Op::Presence) return false;
  std::uint32_t outer_low = std::exchange(low_, kNothing);
  bool outer_asking = std::exchange(is_asking_, true);
  Lookup found = resolve(*ir::as<ir::Presence>(*first.expr).ref, task.conjunct.env);
  is_asking_ = outer_asking;
  low_ = outer_low;
  return found.found == Found::Arc && found.arc->mark == ArcMark::Member;
}

// "..." stands in the struct, or it came in by one of the struct around it, or because a "_" is all that says what
// is there.
bool Evaluator::may_have_any(Vertex* v) {
  for (const Vertex* of = v; v != nullptr && v->node != nullptr; v = v->parent) {
    auto lets_in = [&](const ScopeMark& mark) { return mark.is_ellipsis || (mark.is_top && v != of); };
    if (std::any_of(v->node->scopes.begin(), v->node->scopes.end(), lets_in)) return true;
    if (v->closes_fields || !requirements(v).empty()) return false;
  }
  return false;
}

namespace {

// A field of a field of the root; not a let clause, nor a struct in the middle of an expression.
bool is_rooted(const Vertex* v) {
  for (; v->parent != nullptr; v = v->parent) {
    if (v->label.is_none() || v->label.is_let()) return false;
  }
  return true;
}

}  // namespace

// Disjunctions that are left aside may still add to it.
bool Evaluator::is_preliminary(const Vertex* v) {
  while (v != nullptr && !v->is_preliminary) v = v->parent;
  return v != nullptr;
}

Lookup Evaluator::lookup_in_value(const Value& base, Label label, Pos pos) {
  if (base.is_bottom()) return {Found::Error, nullptr, base};
  if (!base.is_vertex()) {
    return {Found::Error, nullptr,
            bottom(kinds_of(base) & (kStruct | kList) ? Code::Incomplete : Code::Eval,
                   "invalid operand {0} (found {1}, want list or struct)", pos, base, Value::type(kinds_of(base)))};
  }
  Lookup found = lookup(base.vertex, label, pos);
  // The disjunct that has the field may be the one that asks for it.
  if (found.found == Found::Absent && base.vertex->lost_to_cycle && base.vertex->label.is_none() && !is_asking_)
    return {Found::Error, nullptr, bottom(Code::StructuralCycle, "structural cycle", pos)};
  if (found.found == Found::Absent && !found.value.is_bottom() && !is_asking_) {
    Value name =
        label.is_index() ? Value::of_int(label.index()) : Value::string(arena_.copy(std::string_view(labels_.describe(label))));
    Vertex* in = deref(base.vertex);
    bool is_list = in->base.tag == Value::Tag::List;
    bool out_of_range = is_list && label.is_index();
    // A field that may come yet is only incomplete, even in a closed struct.
    const Vertex* declared = find_arc(in, label);
    bool is_optional = declared != nullptr && declared->mark != ArcMark::Absent;
    bool is_allowed = is_optional;
    for (std::uint32_t i = 0; in->node != nullptr && i < in->node->patterns.size() && !is_allowed; ++i)
      is_allowed = label.is_regular() && matches(in->node->patterns[i].matcher, label);
    const char* text = out_of_range  ? "index out of range [{0}] with length {1}"
                       : is_optional ? "cannot reference optional field: {0}"
                                     : "undefined field: {0}";
    auto is_once = [](const CloseScope* one) { return one->kind == CloseScope::Kind::Once; };
    bool was_closed = in->node != nullptr && in->phase >= Phase::Settled && !in->arcs.empty() &&
                      std::any_of(in->node->requirements.begin(), in->node->requirements.end(), is_once);
    was_closed = was_closed || (in->closes_once && in->phase >= Phase::Settled);
    // Of what has a place of its own it is known as soon as it is settled, whoever asks first.
    bool is_struct = in->base.tag == Value::Tag::Struct;
    bool is_settled = is_struct && (in->phase == Phase::Final || (in->phase >= Phase::Settled && is_rooted(in)));
    // But for what it says itself, when it is closed by what it refers to.
    bool is_inside = !in->closes_fields && in->node != nullptr && !in->node->requirements.empty() && has_ancestor(current_, in);
    is_settled = is_settled && !is_inside && label.is_regular();
    bool is_closed =
        in->is_closed && (is_settled || was_closed) && !is_list && !is_allowed && !may_have_any(in) && !is_preliminary(in);
    bool is_permanent = (out_of_range && !in->is_open_list) || is_closed || (is_list && label.is_regular());
    auto* reason = arena_.make<Bottom>(
        *bottom(is_permanent ? Code::Eval : Code::Incomplete, text, pos, name, Value::of_int(in->arcs.size())).bottom);
    reason->is_absent = true;
    reason->is_guard = found.holder != nullptr && found.holder != current_;
    found.value = Value::of(reason);
  }
  return found;
}

// What could not be put together gives that error instead of its fields, but to those who stand inside it. What is only not
// accepted yet by a validator has its fields.
Lookup Evaluator::select(const ir::Expr& base, const Value& value, Label label, Pos pos) {
  if (value.is_vertex() && base.op != ir::Op::LetRef && base.op != ir::Op::NodeRef) {
    settle(tried(value.vertex));
    const Vertex* v = deref(value.vertex);
    bool is_failed = v->phase >= Phase::Settled && v->base.is_bottom() && (v->node == nullptr || v->node->errors != nullptr);
    if (is_failed && v != current_ && !has_ancestor(current_, v)) return {Found::Error, nullptr, v->base};
  }
  return lookup_in_value(value, label, pos);
}

Lookup Evaluator::resolve(const ir::Expr& expr, Env* env) {
  switch (expr.op) {
    case ir::Op::FieldRef: {
      const auto& ref = ir::as<ir::Ref>(expr);
      Vertex* holder = up(env, ref.up)->vertex;
      return lookup_in_value(Value::of(holder), ref.label, expr.pos);
    }
    case ir::Op::LetRef:
      return resolve_let(ir::as<ir::Ref>(expr), env);
    case ir::Op::NodeRef:
      return {Found::Arc, up(env, ir::as<ir::Ref>(expr).up)->vertex, {}};
    case ir::Op::DynamicRef: {
      const auto& ref = ir::as<ir::Ref>(expr);
      Env* at = up(env, ref.up);
      Value name = concrete(*ref.value, at);
      if (name.tag != Value::Tag::String)
        return {Found::Error, nullptr, name.is_bottom() ? name : bottom(Code::Eval, "invalid label {0}", expr.pos, name)};
      return lookup_in_value(Value::of(at->vertex), labels_.regular(name.str()), expr.pos);
    }
    case ir::Op::Import:
      return {Found::Arc, instance(ir::as<ir::Import>(expr).instance), {}};
    case ir::Op::Selector: {
      const auto& selector = ir::as<ir::Selector>(expr);
      if (ir::is_reference(*selector.base)) {
        Lookup base = resolve_through(*selector.base, env);
        if (base.found == Found::Absent && !base.value.is_bottom() && !is_asking_) {
          base.value = bottom(Code::Incomplete, "undefined field", expr.pos);
        }
        if (base.found != Found::Arc) {
          if (base.found == Found::Blocked) base.arc = nullptr;
          return base;
        }
        return select(*selector.base, Value::of(base.arc), selector.label, expr.pos);
      }
      return select(*selector.base, evaluate(*selector.base, env), selector.label, expr.pos);
    }
    case ir::Op::Index:
      return resolve_index(ir::as<ir::Index>(expr), env);
    default: {
      Value value = evaluate(expr, env);
      if (value.is_vertex()) return {Found::Arc, value.vertex, {}};
      return {Found::Error, nullptr, value};
    }
  }
}

// What a field is looked up in. The name of a reference stands for it: the field may be there though all of it would repeat
// itself.
Lookup Evaluator::resolve_through(const ir::Expr& base, Env* env) {
  if (base.op != ir::Op::LetRef) return resolve(base, env);
  const auto& ref = ir::as<ir::Ref>(base);
  if (!ir::is_reference(*ref.value)) return resolve_let(ref, env);
  return resolve_through(*ref.value, up(env, ref.up));
}

// A let clause is evaluated once per level it stands in.
Lookup Evaluator::resolve_let(const ir::Ref& ref, Env* env) {
  Env* at = up(env, ref.up);
  for (LetMemo* memo = at->lets; memo != nullptr; memo = memo->next) {
    if (memo->label == ref.label) return {Found::Arc, memo->vertex, {}};
  }
  Vertex* bound = arena_.make<Vertex>();
  bound->parent = at->vertex;
  bound->label = ref.label;
  bound->conjuncts.push(arena_, {ref.value, at, nullptr, nullptr, Cycle::None});
  at->lets = arena_.make<LetMemo>(ref.label, bound, at->lets);
  return {Found::Arc, bound, {}};
}

Lookup Evaluator::resolve_index(const ir::Index& index, Env* env) {
  Value given = evaluate(*index.index, env);
  Value key = make_concrete(given, index.index->pos);
  if (key.is_bottom()) {
    // A type that is neither that of a name nor that of a position will not become one.
    Value type = given.is_vertex() ? deref(given.vertex)->base : given;
    bool may_be_key = type.tag != Value::Tag::Type || type.kinds == kString || (type.kinds & ~kNumber) == 0;
    if (!may_be_key) key = bottom(Code::Eval, "invalid index {0} (invalid type {1})", index.pos, type, Value::type(type.kinds));
    if (key.bottom->is_open)
      key = lacks_there(key, "invalid non-ground value {0} (must be concrete {1})",
                        Value::type(kinds_of(key.bottom->operands[0])));
    return {Found::Error, nullptr, key};
  }
  Value base;
  if (ir::is_reference(*index.base)) {
    Lookup found = resolve_through(*index.base, env);
    if (found.found != Found::Arc) {
      if (found.found == Found::Blocked) found.arc = nullptr;
      return found;
    }
    base = Value::of(found.arc);
  } else {
    base = evaluate(*index.base, env);
  }
  if (base.is_bottom()) return {Found::Error, nullptr, base};
  if (key.tag == Value::Tag::String) {
    if (base.is_vertex()) {
      settle(base.vertex);
      if (deref(base.vertex)->base.tag == Value::Tag::List) {
        return {Found::Error, nullptr, bottom(Code::Eval, "invalid list index {0} (type string)", index.pos, key)};
      }
    }
    return select(*index.base, base, labels_.regular(key.str()), index.pos);
  }
  auto position = key.tag == Value::Tag::Int ? std::optional<std::int64_t>(key.integer) : std::nullopt;
  if (key.tag == Value::Tag::Number && !is_float(key)) position = -1;
  if (!position)
    return {Found::Error, nullptr,
            bottom(Code::Eval, "invalid index {0} (invalid type {1})", index.pos, key, Value::type(kinds_of(key)))};
  if (*position < 0)
    return {Found::Error, nullptr, bottom(Code::Eval, "invalid index {0} (index must be non-negative)", index.pos, key)};
  if (base.is_vertex()) {
    settle(base.vertex);
    Vertex* list = deref(base.vertex);
    if (list->base.tag == Value::Tag::Disjunction) {
      Value chosen = default_of(list->base);
      if (chosen.is_vertex()) list = deref(chosen.vertex);
    }
    if (list->base.tag == Value::Tag::Struct) {
      return {Found::Error, nullptr, bottom(Code::Eval, "invalid struct selector {0} (type int)", index.pos, key)};
    }
  }
  Label item = Label::item(static_cast<std::uint32_t>(std::min<std::int64_t>(*position, 1 << 28)));
  return select(*index.base, base, item, index.pos);
}

Vertex* Evaluator::instance(std::uint32_t index) {
  if (instances_.size() <= index) instances_.resize(program_.instances.size(), nullptr);
  if (instances_[index] != nullptr) return instances_[index];
  Vertex* root = arena_.make<Vertex>();
  std::span<const ir::Struct* const> files = program_.instances[index].files;
  bool has_embeds =
      std::any_of(files.begin(), files.end(), [](const ir::Struct* file) { return file->is_file && file->has_embeds; });
  CloseScope* inside = has_embeds ? scope(nullptr, CloseScope::Kind::File) : nullptr;
  for (const ir::Struct* file : files)
    root->conjuncts.push(arena_, {file, nullptr, file->is_file ? inside : nullptr, nullptr, Cycle::None});
  return instances_[index] = root;
}

}  // namespace slipway::cue
