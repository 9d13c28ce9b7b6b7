// What a running vertex still has to do.
#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

/// True when the running task cannot tell yet: it needs a vertex that is still on the stack.
bool Evaluator::blocked(const Value& value) {
  return value.is_bottom() && is_incomplete(value.bottom->code) && low_ != kNothing && !force_;
}

bool Evaluator::may_produce(const Task& task, Label label) const {
  switch (task.kind) {
    case Task::Kind::Resolve:
      return !label.is_let();
    case Task::Kind::Dynamic:
      return label.is_regular();
    case Task::Kind::Comprehension: {
      const auto& comprehension = ir::as<ir::Comprehension>(*task.conjunct.expr);
      if (comprehension.any_label) return true;
      auto less = [](Label a, Label b) { return a.word < b.word; };
      return std::binary_search(comprehension.labels.begin(), comprehension.labels.end(), label, less);
    }
    case Task::Kind::List:
      return label.is_index();
    case Task::Kind::Expression:
      return !label.is_let() && task.conjunct.expr->op == ir::Op::Call;
    case Task::Kind::Pattern:
      return false;
  }
  return false;
}

// A guard whose body has that field, or a function that gives whatever it gives.
bool Evaluator::names_label(const Task& task, Label label) const {
  if (task.kind == Task::Kind::Expression) return may_produce(task, label);
  return task.kind == Task::Kind::Comprehension && !ir::as<ir::Comprehension>(*task.conjunct.expr).any_label &&
         may_produce(task, label);
}

// Runs what can run. True when nothing waits any more.
bool Evaluator::run_tasks(Vertex* v) {
  Node& node = *v->node;
  for (bool moved = true; moved;) {
    moved = false;
    while (node.next_conjunct < v->conjuncts.size()) {
      Conjunct c = v->conjuncts[node.next_conjunct++];
      insert(v, c);
      moved = true;
    }
    if (follow_cyclic(v)) moved = true;
    for (std::uint32_t i = 0; i < node.tasks.size(); ++i) {
      if (v->shared != nullptr) return true;
      if (node.tasks[i].state == Task::State::Waiting && attempt(v, i)) moved = true;
    }
  }
  for (const Task& task : node.tasks) {
    if (task.state != Task::State::Done) return false;
  }
  return true;
}

bool Evaluator::attempt(Vertex* v, std::uint32_t index) {
  if (over_budget(0, v)) {
    v->node->tasks[index].state = Task::State::Done;
    add_error(v, bottom(Code::Eval, kTooManySteps, 0));
    return true;
  }
  std::uint32_t outer_low = std::exchange(low_, kNothing);
  Vertex* outer = std::exchange(current_, v);
  Task task = v->node->tasks[index];
  const Conjunct* outer_conjunct = std::exchange(current_conjunct_, &task.conjunct);
  v->node->tasks[index].state = Task::State::Running;
  bool outer_asking = std::exchange(is_asking_, false);
  bool done = attempt_inner(v, task);
  is_asking_ = outer_asking;
  v->node->tasks[index].state = done ? Task::State::Done : Task::State::Waiting;
  if (done) {
    ++progress_;
    low_ = outer_low;
  } else {
    v->node->waits_for = std::min(v->node->waits_for, low_);
    low_ = std::min(low_, outer_low);
  }
  current_ = outer;
  current_conjunct_ = outer_conjunct;
  return done;
}

bool Evaluator::attempt_inner(Vertex* v, Task& task) {
  switch (task.kind) {
    case Task::Kind::Resolve:
      return run_resolve(v, task.conjunct);
    case Task::Kind::Expression:
      return run_expression(v, task.conjunct);
    case Task::Kind::Dynamic:
      return run_dynamic(v, task);
    case Task::Kind::Comprehension:
      return run_comprehension(v, task.conjunct);
    case Task::Kind::Pattern:
      return run_pattern(v, task);
    case Task::Kind::List:
      return run_list(v, task.conjunct);
  }
  return true;
}

bool Evaluator::run_resolve(Vertex* v, const Conjunct& c) {
  Lookup found = resolve(*c.expr, c.env);
  switch (found.found) {
    case Found::Blocked:
      if (!force_) return false;
      if (found.arc == nullptr) {
        note_conjunct(v, c);
        add_error(v, bottom(Code::Cycle, "cycle error", c.expr->pos));
        return true;
      }
      [[fallthrough]];
    case Found::Arc:
      add_vertex(v, c, found.arc, refers_to_definition(*c.expr));
      return true;
    case Found::Absent:
      break;
    case Found::Error:
      if (blocked(found.value)) return false;
      insert_value(v, c, found.value, c.expr->pos);
      return true;
  }
  if (low_ != kNothing && !force_) return false;
  note_conjunct(v, c);
  add_error(v, found.value.is_bottom() ? found.value : bottom(Code::Incomplete, "undefined field", c.expr->pos));
  return true;
}

bool Evaluator::run_expression(Vertex* v, const Conjunct& c) {
  Value value = evaluate(*c.expr, c.env);
  if (blocked(value)) return false;
  if (value.is_vertex()) {
    note_conjunct(v, c);
    insert_data(v, c, value.vertex);
  } else {
    insert_value(v, c, value, c.expr->pos);
  }
  return true;
}

bool Evaluator::run_dynamic(Vertex* v, const Task& task) {
  Value name = concrete(*task.decl->name, task.conjunct.env);
  if (blocked(name)) return false;
  if (spares_names_ && force_ && name.is_bottom() && is_incomplete(name.bottom->code)) return false;
  if (name.is_bottom()) name = lacks(name, "key value of dynamic field must be concrete, found {0}", task.decl->name->pos);
  if (name.tag != Value::Tag::String) {
    add_error(v, name.is_bottom()   ? name
                 : name.is_number() ? bottom(Code::Eval, "integer fields not supported", task.decl->name->pos)
                                    : bottom(Code::Eval, "invalid field name {0}: must be string", task.decl->pos, name));
    return true;
  }
  Label label = labels_.regular(name.str());
  auto mark = static_cast<ArcMark>(task.decl->mark == ast::Mark::Optional ? 2 : task.decl->mark == ast::Mark::Required ? 1 : 0);
  Vertex* field = arc(v, label, mark, &task.conjunct);
  add_info(field, task.decl->info);
  if (field->pos == 0) field->pos = task.decl->pos;
  Conjunct c = task.conjunct;
  c.env = arena_.make<Env>(c.env, field, label, nullptr);
  add_conjunct(field, c);
  return true;
}

bool Evaluator::run_pattern(Vertex* v, const Task& task) {
  Value matcher = evaluate(*task.decl->name, task.conjunct.env);
  if (blocked(matcher)) return false;
  if (matcher.is_vertex()) matcher = value_of(matcher.vertex);
  if (matcher.is_bottom()) {
    add_error(v, matcher);
    return true;
  }
  add_pattern(v, {matcher, task.conjunct});
  return true;
}

bool Evaluator::run_comprehension(Vertex* v, const Conjunct& c) {
  std::vector<Env*> envs;
  const auto& comprehension = ir::as<ir::Comprehension>(*c.expr);
  Value failed = clauses(comprehension, 0, c.env, envs);
  if (blocked(failed)) return false;
  v->node->maybe_struct = true;
  v->node->note_struct(c.expr, c.trail);
  note_conjunct(v, c);
  if (failed.is_bottom()) {
    add_error(v, failed);
    bool names_fields = is_incomplete(failed.bottom->code) && comprehension.body->op == ir::Op::Struct;
    Conjunct error{constant(failed, c.expr->pos), nullptr, c.scope, c.trail, c.cycle};
    if (names_fields) fail_fields(v, {&ir::as<ir::Struct>(*comprehension.body), error});
    return true;
  }

  for (Env* env : envs) insert(v, {comprehension.body, env, c.scope, c.trail, c.cycle});
  return true;
}

// As long as a guard is not decided, neither are the fields its body names: those that are there, and those to come. What its
// body embeds or names by expressions is not looked into.
void Evaluator::fail_fields(Vertex* v, const FailedGuard& failed) {
  if (v->node == nullptr) v->node = take_node();
  v->node->tell(arena_).failed_guards.push(arena_, failed);
  for (const ir::Decl& decl : failed.body->decls) {
    if (decl.kind != ir::DeclKind::Field) continue;
    Vertex* field = find_arc(v, decl.label);
    if (field != nullptr && field->mark == ArcMark::Member) fail_field(field, *decl.value, failed.error);
  }
}

// Of a field that the guard only adds named fields to, these alone are not decided.
void Evaluator::fail_field(Vertex* field, const ir::Expr& value, const Conjunct& error) {
  const auto* body = value.op == ir::Op::Struct ? &ir::as<ir::Struct>(value) : nullptr;
  bool names_all = body != nullptr && !body->decls.empty() && !body->has_ellipsis &&
                   std::ranges::all_of(body->decls, [](const ir::Decl& one) { return one.kind == ir::DeclKind::Field; });
  if (!names_all) return add_conjunct(field, error);
  if (field->shared == nullptr) fail_fields(field, {body, error});
}

bool Evaluator::run_list(Vertex* v, const Conjunct& c) {
  const auto& list = ir::as<ir::List>(*c.expr);
  v->is_computed = true;
  struct Item {
    const ir::Expr* expr;
    Env* env;
  };
  std::vector<Item> items;
  for (const ir::Expr* one : list.items) {
    if (one->op != ir::Op::Comprehension) {
      items.push_back({one, c.env});
      continue;
    }
    const auto& comprehension = ir::as<ir::Comprehension>(*one);
    std::vector<Env*> envs;
    Value failed = clauses(comprehension, 0, c.env, envs);
    if (blocked(failed)) return false;
    if (failed.is_bottom()) {
      note_conjunct(v, c);
      add_error(v, failed);
      return true;
    }
    if (!has_room((items.size() + envs.size()) * kItemBytes)) {
      add_error(v, ended());
      return true;
    }
    for (Env* env : envs) items.push_back({comprehension.body, env});
  }
  note_conjunct(v, c);
  insert_kinds(v, kList, Value::type(kList), {list.pos, c.trail, &list});
  v->node->scopes.push(arena_, {c.scope, false, true, false});
  for (std::uint32_t i = 0; i < items.size() && !over_budget(list.pos, v); ++i) {
    Vertex* item = arc(v, Label::item(i), ArcMark::Member);
    if (item->pos == 0) item->pos = items[i].expr->pos;
    add_conjunct(item, {items[i].expr, items[i].env, c.scope, c.trail, c.cycle});
  }
  Conjunct rest{list.rest, c.env, c.scope, c.trail, std::max(c.cycle, Cycle::Optional)};
  v->node->lists.push(arena_, {static_cast<std::uint32_t>(items.size()), list.rest != nullptr, rest, list.pos});
  return true;
}

Value Evaluator::clauses(const ir::Comprehension& comprehension, std::size_t index, Env* env, std::vector<Env*>& out) {
  if (index == comprehension.clauses.size()) {
    out.push_back(env);
    return {};
  }
  const ir::Clause& clause = comprehension.clauses[index];
  switch (clause.kind) {
    case ast::Clause::For:
      return for_clause(comprehension, index, env, out);
    case ast::Clause::If: {
      Value guard = concrete(*clause.expr, env);
      if (guard.is_bottom()) return lacks_there(guard, "incomplete bool: {0}");
      if (guard.tag != Value::Tag::Bool) {
        Value reason =
            bottom(Code::Eval, "cannot use {0} (type {1}) as type bool", clause.pos, guard, Value::type(kinds_of(guard)));
        Bottom* fresh = just_made(reason);
        fresh->exprs[0] = clause.expr;
        fresh->env = env;
        return reason;
      }
      return guard.boolean ? clauses(comprehension, index + 1, env, out) : Value{};
    }
    case ast::Clause::Let: {
      Vertex* holder = arena_.make<Vertex>();
      holder->parent = current_;
      holder->phase = Phase::Final;
      holder->base = Value::of(Value::Tag::Struct);
      Vertex* bound = arena_.make<Vertex>();
      bound->parent = current_;
      bound->label = clause.value;
      bound->conjuncts.push(arena_, {clause.expr, env, nullptr, current_conjunct_->trail, current_conjunct_->cycle});
      holder->add(arena_, bound);
      return clauses(comprehension, index + 1, arena_.make<Env>(env, holder, kNoLabel, nullptr), out);
    }
    case ast::Clause::Try:
      break;
  }
  return bottom(Code::Eval, "try clauses are not supported", clause.pos);
}

Value Evaluator::for_clause(const ir::Comprehension& comprehension, std::size_t index, Env* env, std::vector<Env*>& out) {
  const ir::Clause& clause = comprehension.clauses[index];
  Value source = concrete(*clause.expr, env);
  if (source.is_bottom()) return source;
  if (!source.is_vertex()) {
    return bottom(Code::Eval, "cannot range over {0} (found {1}, want list or struct)", clause.expr->pos, source,
                  Value::type(kinds_of(source)));
  }
  Vertex* from = deref(source.vertex);
  // What a reference leads to gives what is wrong anywhere in it rather than its other items.
  bool is_reference = ir::is_reference(*clause.expr);
  if (is_reference && !has_ancestor(current_, from)) complete(from);
  if (is_reference && from->child_error != nullptr && !is_incomplete(from->child_error->code))
    return Value::of(from->child_error);
  from->is_counted = true;
  bool is_list = from->base.tag == Value::Tag::List || (from->node != nullptr && !from->node->lists.empty());
  for (std::uint32_t i = 0; i < from->arcs.size(); ++i) {
    Vertex* item = from->arcs[i];
    if (item->mark == ArcMark::Required && item->label.is_regular()) {
      return bottom(Code::Incomplete, "missing required field in for comprehension: {0}", clause.expr->pos,
                    Value::string(labels_.text(item->label)));
    }
    if (item->mark != ArcMark::Member || (is_list ? !item->label.is_index() : !item->label.is_regular())) continue;
    if (over_budget(clause.pos)) return ended();
    Vertex* holder = arena_.make<Vertex>();
    holder->parent = current_;
    holder->phase = Phase::Final;
    holder->base = Value::of(Value::Tag::Struct);
    if (!clause.key.is_none()) {
      Value key = is_list ? Value::of_int(item->label.index()) : Value::string(labels_.text(item->label));
      holder->add(arena_, data_vertex(holder, clause.key, key));
    }
    if (!clause.value.is_none()) {
      Vertex* named = arena_.make<Vertex>();
      named->parent = holder;
      named->label = clause.value;
      named->shared = item;
      named->phase = Phase::Settled;
      holder->add(arena_, named);
    }
    Value failed = clauses(comprehension, index + 1, arena_.make<Env>(env, holder, kNoLabel, nullptr), out);
    if (failed.is_bottom()) return failed;
  }
  return {};
}

}  // namespace slipway::cue
