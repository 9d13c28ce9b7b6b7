// Conjuncts into vertices.
#include <algorithm>

#include "cue/eval/evaluator.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {

ArcMark arc_mark(ast::Mark mark) {
  return mark == ast::Mark::Optional ? ArcMark::Optional : mark == ast::Mark::Required ? ArcMark::Required : ArcMark::Member;
}

// and([a, b]) is a & b; none when it is not written so.
std::span<const ir::Expr* const> conjuncts_of(const ir::Call& call) {
  if (call.function->op != ir::Op::Constant || call.args.size() != 1 || call.args[0]->op != ir::Op::List) return {};
  const Value& function = ir::as<ir::Constant>(*call.function).value;
  const auto& list = ir::as<ir::List>(*call.args[0]);
  bool is_and = function.tag == Value::Tag::Builtin && function.builtin->package.empty() && function.builtin->name == "and";
  auto is_item = [](const ir::Expr* one) { return one->op != ir::Op::Comprehension; };
  if (!is_and || list.rest != nullptr || !std::all_of(list.items.begin(), list.items.end(), is_item)) return {};
  return list.items;
}

}  // namespace

CloseScope* Evaluator::scope(CloseScope* parent, CloseScope::Kind kind, const Vertex* of) {
  bool in_definition = kind == CloseScope::Kind::Definition || is_in_definition(parent);
  return arena_.make<CloseScope>(parent, of, kind, in_definition);
}

void Evaluator::note_conjunct(Vertex* v, const Conjunct& c) {
  if (c.cycle < Cycle::Lap || (c.cycle == Cycle::Lap && v->is_detached)) v->node->has_noncyclic = true;
  // A list in the middle of what repeats itself is made of the same again.
  bool is_list = c.expr != nullptr && c.expr->op == ir::Op::List;
  if (c.cycle == Cycle::Certain && is_list && v->label.is_none()) v->node->has_cyclic = true;
}

void Evaluator::add_task(Vertex* v, Task::Kind kind, const Conjunct& c, const ir::Decl* decl) {
  v->node->tasks.push(arena_, {kind, Task::State::Waiting, c, decl});
  ++progress_;
}

void Evaluator::insert(Vertex* v, const Conjunct& c) {
  if (over_budget(c.expr->pos, v)) return add_error(v, bottom(Code::Eval, kTooManySteps, c.expr->pos));
  if (is_in_definition(c.scope)) v->has_definition = true;
  switch (c.expr->op) {
    case ir::Op::Constant:
      return insert_value(v, c, ir::as<ir::Constant>(*c.expr).value, c.expr->pos);
    case ir::Op::Struct:
      return insert_struct(v, c, ir::as<ir::Struct>(*c.expr));
    case ir::Op::List:
      return insert_list(v, c, ir::as<ir::List>(*c.expr));
    case ir::Op::And:
      for (const ir::Expr* part : ir::as<ir::And>(*c.expr).parts) insert(v, {part, c.env, c.scope, c.trail, c.cycle});
      return;
    case ir::Op::Or:
      return insert_disjunction(v, c);
    case ir::Op::FieldRef:
    case ir::Op::LetRef:
    case ir::Op::NodeRef:
    case ir::Op::DynamicRef:
    case ir::Op::Import:
    case ir::Op::Selector:
    case ir::Op::Index:
      return add_task(v, Task::Kind::Resolve, c);
    case ir::Op::Comprehension:
      return add_task(v, Task::Kind::Comprehension, c);
    case ir::Op::LabelRef:
    case ir::Op::Unary:
    case ir::Op::Binary:
    case ir::Op::Interpolation:
    case ir::Op::Bound:
    case ir::Op::Presence:
      return add_task(v, Task::Kind::Expression, c);
    case ir::Op::Call: {
      std::span<const ir::Expr* const> conjuncts = conjuncts_of(ir::as<ir::Call>(*c.expr));
      for (const ir::Expr* part : conjuncts) insert(v, {part, c.env, c.scope, c.trail, c.cycle});
      if (conjuncts.empty()) add_task(v, Task::Kind::Expression, c);
      return;
    }
  }
}

void Evaluator::insert_struct(Vertex* v, const Conjunct& c, const ir::Struct& s) {
  Node& node = *v->node;
  note_conjunct(v, c);
  if (s.is_definite)
    node.has_struct = true;
  else
    node.maybe_struct = true;
  node.note_struct(&s, c.trail);
  Env* env = arena_.make<Env>(c.env, v, c.env == nullptr ? kNoLabel : kNoLabel, nullptr);
  // Only what a struct embeds makes a difference between it and those beside it; without, its place is theirs.
  CloseScope* inside = s.has_embeds && !s.is_file ? scope(c.scope, CloseScope::Kind::Struct) : c.scope;
  node.scopes.push(arena_, {inside, false, true, s.has_ellipsis});
  for (const ir::Decl& decl : s.decls) {
    Conjunct inner{decl.value, env, inside, c.trail, c.cycle};
    switch (decl.kind) {
      case ir::DeclKind::Field: {
        Vertex* field = arc(v, decl.label, arc_mark(decl.mark), &c);
        if (decl.mark == ast::Mark::Optional) inner.cycle = std::max(inner.cycle, Cycle::Optional);
        add_info(field, decl.info);
        if (field->pos == 0) field->pos = decl.pos;
        add_conjunct(field, inner);
        break;
      }
      case ir::DeclKind::Dynamic:
        add_task(v, Task::Kind::Dynamic, inner, &decl);
        break;
      case ir::DeclKind::Pattern:
        if (decl.name->op == ir::Op::Constant) {
          add_pattern(v, {ir::as<ir::Constant>(*decl.name).value, inner});
        } else {
          add_task(v, Task::Kind::Pattern, inner, &decl);
        }
        break;
      case ir::DeclKind::Embed:
        inner.scope = scope(inside, CloseScope::Kind::Embed);
        inner.scope->is_of_root = v->parent == nullptr;
        // A reference tells of itself.
        if (!ir::is_reference(*decl.value)) inner.trail = arena_.make<RefTrail>(decl.value, nullptr, v, c.trail);
        insert(v, inner);
        break;
      case ir::DeclKind::Comprehension:
        inner.scope = scope(inside, CloseScope::Kind::Embed);
        inner.scope->is_of_root = v->parent == nullptr;
        inner.trail = arena_.make<RefTrail>(decl.value, nullptr, v, c.trail);
        add_task(v, Task::Kind::Comprehension, inner);
        break;
    }
  }
}

// Comments and attributes of every declaration of a field, each once.
void Evaluator::add_info(Vertex* field, const ir::FieldInfo* info) {
  if (info == nullptr || field->info == info) return;
  if (field->info == nullptr) {
    field->info = info;
    return;
  }
  std::vector<std::string_view> doc(field->info->doc.begin(), field->info->doc.end());
  std::vector<const ast::Attribute*> attributes(field->info->attributes.begin(), field->info->attributes.end());
  auto is_new = [&](std::string_view line) {
    return std::ranges::none_of(doc, [&](std::string_view known) { return known.data() == line.data(); });
  };
  std::ranges::copy_if(info->doc, std::back_inserter(doc), is_new);
  for (const ast::Attribute* one : info->attributes) {
    if (std::ranges::find(attributes, one) == attributes.end()) attributes.push_back(one);
  }
  if (doc.size() == field->info->doc.size() && attributes.size() == field->info->attributes.size()) return;
  auto* all = arena_.make<ir::FieldInfo>();
  all->doc = arena_.copy(doc);
  all->attributes = arena_.copy(attributes);
  field->info = all;
}

void Evaluator::insert_list(Vertex* v, const Conjunct& c, const ir::List& list) {
  for (const ir::Expr* item : list.items) {
    if (item->op != ir::Op::Comprehension) continue;
    insert_kinds(v, kList, Value::type(kList), {list.pos, c.trail, &list});
    return add_task(v, Task::Kind::List, c);
  }
  note_conjunct(v, c);
  insert_kinds(v, kList, Value::type(kList), {list.pos, c.trail, &list});
  v->node->scopes.push(arena_, {c.scope, false, true, false});
  for (std::uint32_t i = 0; i < list.items.size(); ++i) {
    Vertex* item = arc(v, Label::item(i), ArcMark::Member);
    if (item->pos == 0) item->pos = list.items[i]->pos;
    add_conjunct(item, {list.items[i], c.env, c.scope, c.trail, c.cycle});
  }
  Conjunct rest{list.rest, c.env, c.scope, c.trail, std::max(c.cycle, Cycle::Optional)};
  v->node->lists.push(arena_, {static_cast<std::uint32_t>(list.items.size()), list.rest != nullptr, rest, list.pos});
}

void Evaluator::insert_kinds(Vertex* v, KindMask kinds, const Value& shown, const Origin& from) {
  Node& node = *v->node;
  KindMask both = node.kinds & kinds;
  if (both == node.kinds) return;
  if (both == 0) {
    // It stays what it was, so that whatever else contradicts it is told of, too.
    return add_error(v, conflict(node.said(), node.said_from(), shown, from, node.kinds));
  }
  node.kinds = both;
  node.say(shown, from);
}

void Evaluator::insert_scalar(Vertex* v, const Value& value, const Origin& from) {
  Node& node = *v->node;
  if (!node.has_scalar()) {
    bool fits = (node.kinds & kinds_of(value)) != 0;
    insert_kinds(v, kinds_of(value), value, from);
    if (!fits) return;
    node.say(value, from);
    ++progress_;
    return;
  }
  bool same_kind = (kinds_of(node.said()) & kinds_of(value)) != 0;
  if (!same_kind || !is_identical(node.said(), value)) add_error(v, conflict(node.said(), node.said_from(), value, from));
}

void Evaluator::insert_value(Vertex* v, const Conjunct& c, const Value& value, Pos pos) {
  Node& node = *v->node;
  if (!value.is_vertex()) note_conjunct(v, c);
  switch (value.tag) {
    case Value::Tag::None:
    case Value::Tag::Struct:
    case Value::Tag::List:
      return;
    case Value::Tag::Bottom:
      return add_error(v, value);
    case Value::Tag::Type:
      if (value.kinds == kTop) {
        node.has_top = true;
        node.scopes.push(arena_, {c.scope, true, false, false});
        return;
      }
      return insert_kinds(v, value.kinds, value, {pos, c.trail});
    case Value::Tag::Validator:
      // A schema among the arguments says what fields there may be.
      if (value.validator->builtin->wants_raw) node.scopes.push(arena_, {c.scope, false, false, true});
      return insert_bound(v, value, {pos, c.trail});
    case Value::Tag::Bound:
      return insert_bound(v, value, {pos, c.trail});
    case Value::Tag::Conjunction:
      if ((node.kinds & kinds_of(value)) == 0) return insert_kinds(v, kinds_of(value), value, {pos, c.trail});
      for (const Value& part : value.conjunction->parts) insert_value(v, c, part, pos);
      return;
    case Value::Tag::Disjunction:
      return insert_disjunction(v, c, value.disjunction);
    case Value::Tag::Vertex:
      return insert_data(v, c, value.vertex);
    case Value::Tag::Builtin:
      if (value.builtin->judges() && value.builtin->params.size() == 1) {
        Value validator = Value::of(Value::Tag::Validator);
        validator.validator = arena_.make<Validator>(value.builtin, std::span<const Value>(), Pos{0});
        return insert_bound(v, validator, {pos, c.trail});
      }
      return insert_scalar(v, value, {pos, c.trail});
    case Value::Tag::Null:
    case Value::Tag::Bool:
    case Value::Tag::Int:
    case Value::Tag::Number:
    case Value::Tag::String:
    case Value::Tag::Bytes:
      return insert_scalar(v, value, {pos, c.trail});
  }
}

void Evaluator::insert_bound(Vertex* v, const Value& bound, const Origin& from) {
  insert_kinds(v, kinds_of(bound), bound, from);
  v->node->bounds.push(arena_, bound);
}

// A vertex made of values, or one evaluated elsewhere, as a conjunct.
void Evaluator::insert_data(Vertex* v, const Conjunct& c, Vertex* data) {
  data = declared(data);
  bool is_disjunct = data->stands_for != nullptr && data->node != nullptr && !data->node->choices.empty();
  if (!data->conjuncts.empty() && !data->is_data && !is_disjunct) return add_vertex(v, c, data, data->closes_fields);
  settle(data);
  data = deref(data);
  if (!data->base.is_container()) return insert_value(v, c, data->base, c.expr->pos);
  note_conjunct(v, c);
  Node& node = *v->node;
  CloseScope* inside = c.scope;
  if (data->closes_once) inside = close_once(v, c.scope, data);
  node.scopes.push(arena_, {inside, false, true, false});
  if (data->base.tag == Value::Tag::Struct) {
    node.has_struct = true;
    node.note_struct(c.expr, c.trail);
  } else {
    insert_kinds(v, kList, Value::of(data), {c.expr->pos, c.trail});
    Conjunct rest{data_rest(data), nullptr, inside, c.trail, c.cycle};
    bool fits = std::all_of(node.lists.begin(), node.lists.end(), [data](const ListPart& known) {
      return (data->is_open_list || known.size <= data->arcs.size()) && (known.is_open || data->arcs.size() <= known.size);
    });
    node.lists.push(arena_, {data->arcs.size(), data->is_open_list, rest, c.expr->pos});
    // finish_lists tells of it. A computed list of another length says nothing of the items; a written one does.
    if (!fits && c.expr->op != ir::Op::Constant) return;
  }
  if (!has_room(data->arcs.size() * kItemBytes)) return add_error(v, ended());
  for (std::uint32_t i = 0; i < data->arcs.size() && !over_budget(c.expr->pos, v); ++i) {
    Vertex* from = data->arcs[i];
    Pos place = from->is_data && !from->conjuncts.empty() ? from->conjuncts[0].expr->pos : from->pos;
    const ir::Expr* item = constant(Value::of(from), place != 0 ? place : c.expr->pos);
    Vertex* field = arc(v, from->label, from->mark, &c);
    if (field->pos == 0) field->pos = from->pos;
    add_conjunct(field, {item, nullptr, inside, c.trail, c.cycle});
  }
}

void Evaluator::insert_disjunction(Vertex* v, const Conjunct& written, const Disjunction* values) {
  Node& node = *v->node;
  Conjunct c = written;
  if (c.cycle == Cycle::None) c.cycle = Cycle::Optional;
  // The same words in the same place are the same disjunction, however often they are referred to.
  std::uint32_t ordinal = 0;
  bool is_known = false;
  for (const SeenDisjunction& seen : node.seen_disjunctions) {
    if (seen.expr != c.expr) continue;
    is_known = seen.env == c.env && seen.values == values;
    if (is_known) break;
    ++ordinal;
  }
  if (!is_known) node.seen_disjunctions.push(arena_, {c.expr, c.env, values});
  for (const Choice& choice : node.choices) {
    if (choice.disjunction != c.expr || choice.ordinal != ordinal) continue;
    if (choice.index == kDeferred) return;
    if (values == nullptr) {
      return insert(v, {ir::as<ir::Or>(*c.expr).parts[choice.index].value, c.env, c.scope, c.trail, c.cycle});
    }
    Pos place = choice.index < values->places.size() ? values->places[choice.index] : 0;
    return insert_value(v, c, values->values[choice.index], place != 0 ? place : c.expr->pos);
  }
  if (is_known) return;
  node.disjunctions.push(arena_, {c, ordinal, values});
  ++progress_;
}

Vertex* Evaluator::find_arc(const Vertex* v, Label label) const {
  const List<Vertex*>& arcs = v->arcs;
  if (label.is_index() && label.index() < arcs.size() && arcs[label.index()]->label == label) return arcs[label.index()];
  // Items come in order: the one after the last is not there.
  bool is_next = label.is_index() && label.index() == arcs.size() && label.index() > 0;
  if (is_next && arcs[label.index() - 1]->label == Label::item(label.index() - 1)) return nullptr;
  constexpr std::uint32_t kWide = 48;
  if (arcs.size() <= kWide) {
    auto found = std::ranges::find(arcs, label, &Vertex::label);
    return found == arcs.end() ? nullptr : *found;
  }
  constexpr std::uint64_t kEntryBytes = 48;
  FieldIndex& index = indexes_[v];
  table_bytes_ += (arcs.size() - index.size) * kEntryBytes;
  for (; index.size < arcs.size(); ++index.size) index.fields.emplace(arcs[index.size]->label.word, arcs[index.size]);
  auto found = index.fields.find(label.word);
  return found == index.fields.end() ? nullptr : found->second;
}

Vertex* Evaluator::arc(Vertex* v, Label label, ArcMark mark, const Conjunct* by) {
  Vertex* found = find_arc(v, label);
  bool is_new = found == nullptr || found->mark == ArcMark::Absent;
  if (found == nullptr) {
    found = arena_.make<Vertex>();
    found->parent = v;
    found->label = label;
    found->mark = mark;
    found->closes_fields = v->closes_fields || label.is_definition();
    v->add(arena_, found);
    ++progress_;
  }
  bool was_member = found->mark == ArcMark::Member && !is_new;
  if (mark < found->mark) {
    const bool was_element = found->is_element();
    found->mark = mark;
    v->elements += found->is_element() && !was_element ? 1 : 0;
    ++progress_;
  }
  if (v->is_counted && !was_member && found->mark == ArcMark::Member && label.is_regular() && v->node != nullptr) {
    Value name = Value::string(labels_.text(label));
    add_error(v, bottom(Code::Eval, "adding field {0} not allowed as field set was already referenced",
                        by != nullptr ? by->expr->pos : v->pos, name));
  }
  bool is_member_now = !was_member && found->mark == ArcMark::Member && v->node != nullptr && v->node->told != nullptr;
  for (std::uint32_t i = 0; is_member_now && i < v->node->told->failed_guards.size(); ++i) {
    const FailedGuard failed = v->node->told->failed_guards[i];
    for (const ir::Decl& decl : failed.body->decls) {
      if (decl.kind == ir::DeclKind::Field && decl.label == label) fail_field(found, *decl.value, failed.error);
    }
  }
  if (is_new && v->node != nullptr && label.is_regular()) {
    for (std::uint32_t i = 0; i < v->node->patterns.size(); ++i) apply_pattern(v->node->patterns[i], found);
  }
  return found;
}

void Evaluator::add_conjunct(Vertex* v, const Conjunct& c) {
  constexpr std::uint32_t kLooksPerStep = 64;
  meter_.add(v->conjuncts.size() / kLooksPerStep);  // a long look costs, too
  for (const Conjunct& known : v->conjuncts) {
    if (known.expr == c.expr && known.env == c.env && known.scope == c.scope) return;
  }
  ++progress_;
  v->conjuncts.push(arena_, c);
  if (v->phase >= Phase::Settled) reopen(v);
  for (std::uint32_t i = 0; i < v->notify.size(); ++i) {
    Notify to = v->notify[i];
    add_conjunct(to.target, {c.expr, c.env, to.scope, to.trail, to.cycle});
  }
}

// Evaluation goes on with one more conjunct. What was only a reference to another vertex begins again, on its own.
void Evaluator::reopen(Vertex* v) {
  ++reopened_;
  bool was_reference = v->shared != nullptr && !v->tried_disjuncts;
  v->phase = v->node == nullptr || was_reference ? Phase::Raw : Phase::Partial;
  if (was_reference) v->node = nullptr;
  if (v->node != nullptr) v->node->waits_for = kNothing;
  v->shared = nullptr;
  v->base = {};
  v->child_error = nullptr;
  for (Vertex* above = v->parent; above != nullptr && above->phase == Phase::Final; above = above->parent) {
    above->phase = Phase::Settled;
    above->child_error = nullptr;
  }
}

bool Evaluator::matches(const Value& matcher, Label label) {
  std::string_view text = labels_.text(label);
  switch (matcher.tag) {
    case Value::Tag::Type:
      return (matcher.kinds & kString) != 0;
    case Value::Tag::String:
      return matcher.str() == text;
    case Value::Tag::Bound:
    case Value::Tag::Validator: {
      Value error;
      return satisfies(Value::string(text), matcher, error) == 1;
    }
    case Value::Tag::Conjunction:
      for (const Value& part : matcher.conjunction->parts) {
        if (!matches(part, label)) return false;
      }
      return true;
    case Value::Tag::Disjunction:
      for (const Value& one : matcher.disjunction->values) {
        if (matches(one, label)) return true;
      }
      return false;
    case Value::Tag::Builtin: {
      Value validator = Value::of(Value::Tag::Validator);
      validator.validator = arena_.make<Validator>(matcher.builtin, std::span<const Value>(), Pos{0});
      Value error;
      return satisfies(Value::string(text), validator, error) == 1;
    }
    default:
      return false;
  }
}

void Evaluator::apply_pattern(const Pattern& pattern, Vertex* field) {
  if (!field->label.is_regular() || !matches(pattern.matcher, field->label)) return;
  Conjunct c = pattern.conjunct;
  c.env = arena_.make<Env>(c.env, field, field->label, nullptr);
  if (c.cycle == Cycle::None) c.cycle = Cycle::Optional;
  add_conjunct(field, c);
}

void Evaluator::add_pattern(Vertex* v, const Pattern& pattern) {
  v->node->patterns.push(arena_, pattern);
  ++progress_;
  for (std::uint32_t i = 0; i < v->arcs.size(); ++i) {
    if (v->arcs[i]->mark != ArcMark::Absent) apply_pattern(pattern, v->arcs[i]);
  }
}

}  // namespace slipway::cue
