// Which disjuncts remain. Scalars are decided on values. Others are tried one by one: a copy of the vertex with the same
// conjuncts and one choice made, evaluated as a whole; what fails is dropped, what is equal is joined.
#include <fmt/format.h>

#include <algorithm>

#include "cue/eval/evaluator.h"

namespace slipway::cue {

namespace {

// A disjunct with a field that has no value yet is none either, so that one without such remains.
const Bottom* unknown_field(const Vertex* v) {
  for (const Vertex* field : v->arcs) {
    const Vertex* real = deref(field);
    if (field->mark <= ArcMark::Required && real->base.is_bottom() && is_incomplete(real->base.bottom->code))
      return real->base.bottom;
  }
  return nullptr;
}

// Alternatives that are met with the next disjunction though they lack something.
constexpr std::size_t kMostUnknown = 16;

}  // namespace

bool Evaluator::decide(Vertex* v) {
  if (v->node->disjunctions.empty()) return true;
  return (!tells_all_ && decide_scalars(v)) || decide_trials(v);
}

// Of two that are the same: a default stays one.
DefaultMode Evaluator::join(DefaultMode a, DefaultMode b) {
  return a == DefaultMode::Default || b == DefaultMode::Default ? DefaultMode::Default : std::min(a, b);
}

// Equal, with the same definitions and hidden fields. Patterns make no difference, as upstream has it, but between a struct
// that is closed and one that is not.
bool Evaluator::is_same(const Value& a, const Value& b) {
  if (!is_identical(a, b)) return false;
  if (!a.is_vertex() || !b.is_vertex()) return true;
  const Vertex* x = deref(a.vertex);
  const Vertex* y = deref(b.vertex);
  auto patterns = [](const Vertex* v) { return v->node == nullptr ? 0 : v->node->patterns.size(); };
  bool is_unlike = x->is_closed != y->is_closed && patterns(x) != patterns(y);
  if (is_unlike || x->arcs.size() != y->arcs.size()) return false;
  return std::all_of(x->arcs.begin(), x->arcs.end(), [&](Vertex* one) {
    Vertex* other = find_arc(y, one->label);
    return other != nullptr && is_identical(Value::of(one), Value::of(other));
  });
}

void Evaluator::append_alternative(std::vector<Alternative>& out, Alternative one) {
  constexpr std::size_t kLooksPerStep = 8;
  meter_.add(out.size() / kLooksPerStep);  // a long look costs, too
  for (Alternative& known : out) {
    if (!is_same(known.value, one.value)) continue;
    known.mode = join(known.mode, one.mode);
    known.mark = join(known.mark, one.mark);
    return;
  }
  out.push_back(one);
}

// Of a trial that leaves further disjunctions aside: a field of which the disjunct says nothing. It is what it is in the vertex
// that is tried, and need not be evaluated before all disjunctions have been met.
bool Evaluator::is_untouched(const Vertex* trial, const Vertex* field) const {
  if (!trial->is_preliminary || trial->stands_for == nullptr || field->phase != Phase::Raw) return false;
  const Vertex* before = find_arc(trial->stands_for, field->label);
  return before != nullptr && before->mark == field->mark && before->conjuncts.size() == field->conjuncts.size();
}

// As is_same, of two trials of one vertex.
bool Evaluator::is_same_trial(const Value& a, const Value& b) {
  const Vertex* x = a.is_vertex() ? deref(a.vertex) : nullptr;
  const Vertex* y = b.is_vertex() ? deref(b.vertex) : nullptr;
  bool are_trials = x != nullptr && y != nullptr && x->is_preliminary && x->stands_for != nullptr && y->is_preliminary &&
                    y->stands_for == x->stands_for && x->node != nullptr && y->node != nullptr;
  bool is_container = are_trials && (x->base.is_container());
  if (!is_container) return is_same(a, b);
  if (x->base.tag != y->base.tag || x->is_open_list != y->is_open_list || x->arcs.size() != y->arcs.size() ||
      x->node->patterns.size() != y->node->patterns.size())
    return false;
  return std::all_of(x->arcs.begin(), x->arcs.end(), [&](Vertex* one) {
    Vertex* other = find_arc(y, one->label);
    if (other == nullptr || one->mark != other->mark) return false;
    return (is_untouched(x, one) && is_untouched(y, other)) || is_identical(Value::of(one), Value::of(other));
  });
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
    ask_of_field(v, field);
    bool is_allowed = std::all_of(closed.begin(), closed.end(), [this](CloseScope* one) { return allows(one); });
    if (!is_allowed) {
      for (const Vertex* at : path) out += std::to_string(at->label.word) + ".";
      out += ";";
    }
    not_allowed_yet(field, path, out);
    path.pop_back();
  }
}

// A trial that left further disjunctions aside, unless one before came to the same.
void Evaluator::append_preliminary(std::vector<Alternative>& out, Alternative one) {
  auto open_fields = [this](const Alternative& of) {
    std::string text;
    std::vector<const Vertex*> path;
    if (of.value.is_vertex()) not_allowed_yet(of.value.vertex, path, text);
    return text;
  };
  constexpr std::size_t kLooksPerStep = 8;
  meter_.add(out.size() / kLooksPerStep);  // a long look costs, too
  std::optional<std::string> its_fields;   // found out when there is one to compare with
  for (Alternative& known : out) {
    if (!is_same_trial(known.value, one.value)) continue;
    if (!its_fields) its_fields = open_fields(one);
    if (open_fields(known) != *its_fields) continue;
    known.mode = join(known.mode, one.mode);
    known.mark = join(known.mark, one.mark);
    return;
  }
  out.push_back(one);
}

// Rules U1 and U2 of the specification, and D2 and M2 for a disjunct that is a disjunction. Defaults none of which is left do
// not count. `found` has the modes from inside the disjunct, where the left side is unified already.
void Evaluator::unify_modes(std::vector<Crossing>& all) {
  bool loses_left = true;
  bool loses_right = true;
  for (const Crossing& one : all) {
    if (one.found.empty()) continue;
    loses_left = loses_left && one.left != DefaultMode::Default && one.left_mark != DefaultMode::Default;
    loses_right = loses_right && one.mark != DefaultMode::Default;
  }
  bool has_marks = false;
  for (Crossing& one : all) {
    for (Alternative& found : one.found) {
      if (one.is_nested) {
        found.mode = std::max(one.mark, found.mode);
        has_marks = has_marks || found.mode != DefaultMode::Maybe;
      } else {
        found.mode = std::max(loses_left ? DefaultMode::Maybe : found.mode, loses_right ? DefaultMode::Maybe : one.mark);
        found.mark = one.mark;
      }
    }
  }
  // Beside a disjunction that has defaults, what has none is none.
  for (Crossing& one : all) {
    for (Alternative& found : one.found) {
      if (has_marks && found.mode == DefaultMode::Maybe) found.mode = DefaultMode::Not;
    }
  }
}

// What was chosen, and one more choice. What was left aside no longer is.
std::span<const Choice> Evaluator::with_choice(std::span<const Choice> made, const Choice& one) {
  std::vector<Choice> all;
  std::ranges::copy_if(made, std::back_inserter(all), [](const Choice& known) { return known.index != kDeferred; });
  all.push_back(one);
  return arena_.copy(all);
}

// The mark of a disjunct.
DefaultMode Evaluator::mark_of(const PendingDisjunction& pending, std::size_t index) {
  if (pending.values != nullptr) {
    std::uint32_t defaults = pending.values->defaults;
    return defaults == 0 ? DefaultMode::Maybe : index < defaults ? DefaultMode::Default : DefaultMode::Not;
  }
  const auto& disjunction = ir::as<ir::Or>(*pending.conjunct.expr);
  return !disjunction.has_default              ? DefaultMode::Maybe
         : disjunction.parts[index].is_default ? DefaultMode::Default
                                               : DefaultMode::Not;
}

// Cheap signs that a disjunct cannot be.
bool Evaluator::is_hopeless(Vertex* v, const ir::Expr& disjunct) {
  const Node& node = *v->node;
  KindMask known = node.kinds;
  if (node.has_struct) known &= kStruct;
  if (disjunct.op == ir::Op::Constant) {
    const Value& value = ir::as<ir::Constant>(disjunct).value;
    if (value.is_bottom() || value.tag == Value::Tag::Builtin) return false;  // a function may judge
    bool is_other = node.has_scalar() && value.is_concrete_scalar() && !is_identical(node.said(), value);
    return is_other || (kinds_of(value) & known) == 0;
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
      if (is.is_concrete_scalar() && !is_identical(is, wanted)) return true;
    }
  }
  return false;
}

Vertex* Evaluator::trial_of(Vertex* v, std::span<const Choice> choices) {
  Vertex* trial = arena_.make<Vertex>();
  trial->parent = v->parent;
  trial->label = v->label;
  trial->mark = ArcMark::Member;
  trial->stands_for = v;
  trial->closes_fields = v->closes_fields;
  trial->is_detached = v->is_detached;
  trial->pos = v->pos;
  trial->info = v->info;
  // What the disjunct is compared with comes first, as upstream tells it.
  auto is_disjunction = [](const Conjunct& c) { return c.expr != nullptr && c.expr->op == ir::Op::Or; };
  for (bool last : {false, true}) {
    for (const Conjunct& c : v->conjuncts) {
      if ((tells_all_ && is_disjunction(c)) == last) trial->conjuncts.push(arena_, c);
    }
  }
  trial->node = take_node();
  trial->node->choices = arena_.copy(std::vector<Choice>(choices.begin(), choices.end()));
  return trial;
}

// False when it must wait.
bool Evaluator::try_disjunct(Vertex* v, std::vector<Choice> choices, Crossing& out, std::vector<Branch>& errors) {
  Vertex* trial = trial_of(v, choices);
  const LeftDisjunct before{out.left, out.mark, {}};
  trial->node->before = {before.mode, before.mark};
  trial->is_preliminary = v->is_preliminary || (!choices.empty() && choices.back().index == kDeferred);
  std::uint32_t outer_low = std::exchange(low_, kNothing);
  Vertex* outer_trial = std::exchange(v->node->trial, trial);
  bool done = settle(trial);
  if (done && !deref(trial)->base.is_bottom()) done = complete(trial);  // what failed already needs no fields
  v->node->trial = outer_trial;
  std::uint32_t low = std::exchange(low_, std::min(low_, outer_low));
  Vertex* real = deref(trial);
  if (!done && low != kNothing && !force_) return false;
  const Bottom* failure = real->base.is_bottom() ? real->base.bottom : real->child_error;
  if (failure == nullptr && !trial->is_preliminary) failure = unknown_field(real);
  if (!done && real->base.is_none()) failure = bottom(Code::Cycle, "cycle error", v->pos).bottom;
  if (failure != nullptr) {
    errors.push_back({failure, real->base.is_bottom() ? nullptr : real});
    if (trial->arcs.empty() && !tells_all_) give_node(trial);
    return true;
  }
  const List<LeftDisjunct>& left = trial->node->left;
  auto add = [&](std::size_t i, const Value& value) {
    const LeftDisjunct& is = i < left.size() ? left[i] : before;
    append_alternative(out.found, {value, is.mode, is.mark, i < left.size() ? is.choices : trial->node->choices});
  };
  if (real->base.tag == Value::Tag::Disjunction) {
    out.is_nested = true;
    const Disjunction& d = *real->base.disjunction;
    for (std::size_t i = 0; i < d.values.size(); ++i) add(i, d.values[i]);
    return true;
  }
  bool is_scalar = is_simple(real->base) && real->arcs.empty();
  add(0, is_scalar ? real->base : Value::of(real));
  if (is_scalar && trial->arcs.empty()) give_node(trial);
  return true;
}

// What is left so far with every disjunct of one more disjunction. False when it must wait.
bool Evaluator::cross(Vertex* v, std::uint32_t index, const std::vector<Alternative>& left, std::vector<Crossing>& out,
                      std::vector<Branch>& errors) {
  Node& node = *v->node;
  const PendingDisjunction pending = node.disjunctions[index];
  const ir::Or* written = pending.values == nullptr ? &ir::as<ir::Or>(*pending.conjunct.expr) : nullptr;
  std::size_t count = written != nullptr ? written->parts.size() : pending.values->values.size();
  for (const Alternative& one : left) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (over_budget(v->pos, v)) {
        add_error(v, bottom(Code::Eval, kTooManySteps, v->pos));
        return true;
      }
      Crossing& crossing = out.emplace_back(one.mode, one.mark, mark_of(pending, i));
      if (written != nullptr && !tells_all_ && is_hopeless(v, *written->parts[i].value)) {
        errors.push_back({bottom(Code::Eval, "conflicting values", written->parts[i].value->pos).bottom, nullptr});
        continue;
      }
      auto chosen = with_choice(one.choices, {pending.conjunct.expr, pending.ordinal, i});
      std::vector<Choice> choices(chosen.begin(), chosen.end());
      std::ranges::copy_if(node.choices, std::back_inserter(choices), [](const Choice& c) { return c.index == kDeferred; });
      for (std::uint32_t later = index + 1; later < node.disjunctions.size(); ++later) {
        choices.push_back({node.disjunctions[later].conjunct.expr, node.disjunctions[later].ordinal, kDeferred});
      }
      if (!try_disjunct(v, std::move(choices), crossing, errors)) return false;
      // What it lacks, a disjunction that was left aside may bring. The marks of more than two would count too early.
      bool is_unknown = crossing.found.empty() && is_incomplete(errors.back().reason->code);
      bool may_come = index + 1 < node.disjunctions.size() && out.size() <= kMostUnknown &&
                      (node.disjunctions.size() == 2 || mark_of(pending, i) == DefaultMode::Maybe);
      if (!is_unknown || !may_come) continue;
      errors.pop_back();
      crossing.found.push_back({{}, one.mode, one.mark, chosen});
    }
  }
  return true;
}

bool Evaluator::decide_trials(Vertex* v) {
  Node& node = *v->node;
  v->tried_disjuncts = true;
  std::vector<Alternative> left = {{{}, node.before.mode, node.before.mark, node.choices}};
  std::vector<Branch> errors;
  for (std::uint32_t k = 0; k < node.disjunctions.size() && !left.empty(); ++k) {
    bool is_last = k + 1 == node.disjunctions.size();
    std::vector<Crossing> crossings;
    if (!cross(v, k, left, crossings, errors)) return false;
    if (node.errors != nullptr) return true;
    unify_modes(crossings);
    left.clear();
    for (const Crossing& crossing : crossings) {
      for (const Alternative& found : crossing.found) {
        if (over_budget(v->pos, v)) {
          add_error(v, bottom(Code::Eval, kTooManySteps, v->pos));
          return true;
        }
        if (is_last) {
          append_alternative(left, found);
        } else {
          append_preliminary(left, found);
        }
      }
    }
  }
  set_alternatives(v, left, errors);
  return true;
}

void Evaluator::set_alternatives(Vertex* v, const std::vector<Alternative>& all, const std::vector<Branch>& errors) {
  Node& node = *v->node;
  node.has_noncyclic = true;
  v->lost_to_cycle = std::any_of(errors.begin(), errors.end(), [](const Branch& branch) {
    const Bottom* at = branch.reason;
    while (at != nullptr && at->code != Code::StructuralCycle) at = at->cause;
    return at != nullptr;
  });
  if (all.empty()) return fail_disjunction(v, errors);
  std::vector<Value> values;
  std::uint32_t defaults = 0;
  for (bool marked : {true, false}) {
    for (const Alternative& one : all) {
      if ((one.mode == DefaultMode::Default) != marked) continue;
      values.push_back(one.value);
      if (v->stands_for != nullptr) node.left.push(arena_, {one.mode, one.mark, one.choices});
      defaults += marked ? 1 : 0;
    }
  }
  if (values.size() == 1) {
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

void Evaluator::fail_disjunction(Vertex* v, const std::vector<Branch>& errors) {
  Code code = Code::Eval;
  const Bottom* said = nullptr;
  for (const Branch& one : errors) {
    if (is_incomplete(one.reason->code) && code != Code::Cycle) code = one.reason->code;
    if (one.reason->code == Code::User) said = one.reason;
  }
  // What an author says about it is the reason, whatever else failed; but not as long as a disjunct may come to a value.
  if (is_incomplete(code)) said = nullptr;
  auto* reason = arena_.make<Bottom>();
  if (said != nullptr || errors.size() == 1) {
    *reason = said != nullptr ? *said : *errors[0].reason;
    if (said != nullptr && errors[0].reason != said) reason->more = arena_.copy(places_of(*errors[0].reason));
  } else {
    reason->code = code;
    reason->format = "{0} errors in empty disjunction:";
    reason->operands[0] = Value::of_int(static_cast<std::int64_t>(errors.size()));
    reason->is_unplaced = true;
    reason->branches = arena_.copy(errors);
    reason->cause = errors.empty() ? nullptr : errors[0].reason;
  }
  reason->is_summary = !tells_all_;
  add_error(v, Value::of(reason));
}

const Bottom& Evaluator::in_full(const Bottom& reason) {
  bool is_known = !reason.is_summary || reason.node == nullptr || reason.node->node == nullptr || why_spent(1) != nullptr;
  if (is_known) return reason;
  auto* v = const_cast<Vertex*>(reason.node);  // nothing is changed in it
  Vertex* trial = trial_of(v, v->node->choices);
  trial->node->before = v->node->before;
  bool outer = std::exchange(tells_all_, true);
  settle(trial);
  complete(trial);
  tells_all_ = outer;
  const Vertex* real = deref(trial);
  return real->base.is_bottom() && real->base.bottom->code == reason.code ? *real->base.bottom : reason;
}

void Evaluator::expand(const Bottom& short_reason, std::vector<const Bottom*>& out) {
  constexpr std::uint32_t kDeepest = 5;  // disjunctions in disjuncts; what a branch failed with may be the disjunction again
  const Bottom& reason = expanding_ < kDeepest ? in_full(short_reason) : short_reason;
  if (reason.branches.empty() || expanding_ == kDeepest) return out.push_back(&reason);
  std::vector<const Bottom*> told;
  ++expanding_;
  select_branches(reason, told);
  --expanding_;
  // What disjuncts have in common is told once, and is all there is to tell when there is nothing else.
  std::vector<std::string> known;
  std::erase_if(told, [&](const Bottom* one) {
    std::string text = fmt::format("{}: {}: {}", one->pos, path_of(one->node), message(*one));
    bool is_known = std::ranges::find(known, text) != known.end();
    if (!is_known) known.push_back(std::move(text));
    return is_known;
  });
  auto* head = arena_.make<Bottom>(reason);
  if (head->source == nullptr) {  // "3 errors in empty disjunction"
    head->operands[0] = Value::of_int(static_cast<std::int64_t>(told.size()));
    head->cause = nullptr;
  }
  if (head->source != nullptr || told.size() != 1) out.push_back(head);
  out.insert(out.end(), told.begin(), told.end());
}

void Evaluator::select_branches(const Bottom& reason, std::vector<const Bottom*>& out) {
  for (const Branch& one : reason.branches) {
    std::vector<const Bottom*> found;
    if (one.tried == nullptr) {
      for (const Bottom* at = one.reason; at != nullptr; at = at->next) found.push_back(at);
    } else {
      collect_errors(one.tried, found);
      // Of fields the first that is wrong says enough.
      std::erase_if(found, [&](const Bottom* at) { return is_incomplete(at->code) != is_incomplete(reason.code); });
      if (found.size() > 1 && found[0]->node != deref(one.tried)) found.resize(1);
    }
    for (const Bottom* at : found) {
      if (is_incomplete(at->code) == is_incomplete(reason.code)) expand(*at, out);
    }
  }
}

}  // namespace slipway::cue
