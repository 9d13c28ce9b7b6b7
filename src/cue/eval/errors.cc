// Errors and how values look in them.
#include <fmt/format.h>

#include "cue/eval/evaluator.h"
#include "cue/eval/expression_text.h"
#include "cue/syntax/literal.h"

// Expressions are told apart a few at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

namespace {

// Where a scalar stands that is one side of a & b.
void report_parts(const Vertex* v, std::vector<Pos>& out) {
  for (const Conjunct& one : v->conjuncts) {
    if (one.expr == nullptr || one.expr->op != ir::Op::And) continue;
    for (const ir::Expr* part : ir::as<ir::And>(*one.expr).parts) {
      bool is_constant = part->op == ir::Op::Constant;
      if (is_constant && ir::as<ir::Constant>(*part).value.is_concrete_scalar()) out.push_back(part->pos);
    }
  }
}

}  // namespace

Value Evaluator::bottom(Code code, const char* format, Pos pos, Value a, Value b, Pos other) {
  auto* reason = arena_.make<Bottom>();
  ++errors_made_;
  reason->code = code;
  reason->format = format;
  reason->operands[0] = a;
  reason->operands[1] = b;
  reason->pos = pos;
  reason->other = other;
  reason->node = current_;
  return Value::of(reason);
}

Value Evaluator::conflict(const Value& a, const Origin& a_from, const Value& b, const Origin& b_from, KindMask kinds) {
  KindMask a_kinds = kinds != 0 ? kinds : kinds_of(a);
  bool is_same_kind = kinds_of(a) == kinds_of(b) && a.is_concrete_scalar() && b.is_concrete_scalar();
  Value reason = bottom(Code::Eval, "conflicting values {1} and {0}", a_from.pos, a, b, b_from.pos);
  Bottom* fresh = just_made(reason);
  fresh->is_unplaced = true;
  fresh->trails[0] = a_from.trail;
  fresh->trails[1] = b_from.trail;
  fresh->shown[0] = a_from.expr;
  fresh->shown[1] = b_from.expr;
  if (is_same_kind) return reason;
  fresh->operands[2] = Value::type(a_kinds);
  fresh->operands[3] = Value::type(kinds_of(b));
  fresh->format = "conflicting values {0} and {1} (mismatched types {2} and {3})";
  return reason;
}

namespace {

Pos start_of(const ir::Expr& expr) {
  switch (expr.op) {
    case ir::Op::Selector:
      return start_of(*ir::as<ir::Selector>(expr).base);
    case ir::Op::Index:
      return start_of(*ir::as<ir::Index>(expr).base);
    case ir::Op::Presence:
      return start_of(*ir::as<ir::Presence>(expr).ref);
    default:
      return expr.pos;
  }
}

}  // namespace

// Evaluates nothing.
Vertex* Evaluator::named_by(const ir::Expr& expr, Env* env) const {
  if (expr.op == ir::Op::FieldRef) {
    const auto& ref = ir::as<ir::Ref>(expr);
    return find_arc(deref(up(env, ref.up)->vertex), ref.label);
  }
  if (expr.op != ir::Op::Selector) return nullptr;
  const auto& selector = ir::as<ir::Selector>(expr);
  const Vertex* base = named_by(*selector.base, env);
  return base == nullptr ? nullptr : find_arc(deref(base), selector.label);
}

Vertex* Evaluator::only_reference(const Vertex* v) const {
  if (v->conjuncts.size() != 1 || v->conjuncts[0].expr == nullptr) return nullptr;
  return named_by(*v->conjuncts[0].expr, v->conjuncts[0].env);
}

// Where a field was said to be something.
void Evaluator::report_sources(const Vertex* v, std::vector<Pos>& out) const {
  for (const Conjunct& one : v->conjuncts) {
    if (one.expr != nullptr) out.push_back(start_of(*one.expr));
  }
}

// Where the value that a reference leads to was written, and the references on the way there.
void Evaluator::follow(const Vertex* target, std::vector<Pos>& out, int depth) {
  bool is_scalar = deref(target)->base.is_concrete_scalar();
  for (const Conjunct& one : target->conjuncts) {
    if (one.expr == nullptr || depth > 8) continue;
    std::vector<const ir::Expr*> parts = {one.expr};
    if (one.expr->op == ir::Op::And)
      parts.assign(ir::as<ir::And>(*one.expr).parts.begin(), ir::as<ir::And>(*one.expr).parts.end());
    for (const ir::Expr* part : parts) {
      bool is_constant = part->op == ir::Op::Constant;
      if (is_constant && is_scalar && !ir::as<ir::Constant>(*part).value.is_concrete_scalar()) continue;
      out.push_back(start_of(*part));
      if (!ir::is_reference(*part)) continue;
      Lookup found = resolve(*part, one.env);
      if (found.found == Found::Arc && found.arc != target) follow(found.arc, out, depth + 1);
    }
  }
}

void Evaluator::add_side(Pos pos, const RefTrail* trail, std::vector<Pos>& out) {
  bool is_led_to = trail != nullptr && trail->arc != nullptr && trail->ref->pos == pos;
  if (is_led_to)
    follow(trail->arc, out, 0);
  else
    out.push_back(pos);
  for (; trail != nullptr; trail = trail->next) {
    bool is_value = trail->ref->op == ir::Op::Call || trail->ref->op == ir::Op::Constant;  // what or() came to
    if (!is_value) out.push_back(start_of(*trail->ref));
  }
}

std::vector<Pos> Evaluator::required_places(const Vertex* field) const {
  std::vector<Pos> out;
  for (const Conjunct& one : field->conjuncts) {
    bool is_guarded = one.trail != nullptr && one.trail->ref->op == ir::Op::Comprehension;
    if (is_guarded) continue;
    if (out.empty()) out.push_back(field->pos);
    for (const RefTrail* at = one.trail; at != nullptr; at = at->next) out.push_back(start_of(*at->ref));
  }
  return out;
}

std::vector<Pos> Evaluator::places_of(const Bottom& reason) {
  std::vector<Pos> out(reason.more.begin(), reason.more.end());
  add_side(reason.other, reason.trails[1], out);
  if (reason.is_unplaced) add_side(reason.pos, reason.trails[0], out);
  for (const ir::Expr* one : reason.exprs) {
    if (one == nullptr) continue;
    Lookup found;
    if (ir::is_reference(*one)) found = resolve(*one, reason.env);
    if (one->op == ir::Op::FieldRef && found.found != Found::Arc) {  // around it all is wrong
      const auto& ref = ir::as<ir::Ref>(*one);
      found.arc = find_arc(up(reason.env, ref.up)->vertex, ref.label);
      found.found = found.arc != nullptr ? Found::Arc : Found::Absent;
    }
    if (found.found == Found::Arc && found.arc != nullptr)
      follow(found.arc, out, 0);
    else
      out.push_back(start_of(*one));
  }
  if (reason.from != nullptr) report_sources(reason.from, out);
  if (reason.wants_sources && reason.node != nullptr) report_sources(reason.node, out);
  if (reason.wants_sources && reason.node != nullptr && reason.code == Code::Eval) report_parts(reason.node, out);
  if (reason.source != nullptr) {
    out.push_back(reason.source->pos);
    std::vector<Pos> below = places_of(*reason.source);
    // The definition is an argument, and stands there.
    if (!reason.source->is_close_check) out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

void Evaluator::add_error(Vertex* v, const Value& error) {
  Node& node = *v->node;
  ++progress_;
  constexpr int kMost = 100;  // of one field; more would not be read
  int count = 0;
  for (const Bottom* at = node.errors; at != nullptr; at = at->next) {
    if (++count >= kMost) return;
    if (at->format == error.bottom->format && at->pos == error.bottom->pos && at->other == error.bottom->other) return;
  }
  auto* reason = arena_.make<Bottom>(*error.bottom);
  if (reason->node == nullptr || reason->code == Code::StructuralCycle) reason->node = v;
  // The worst first: it decides the code.
  if (node.errors == nullptr || reason->code > node.errors->code) {
    reason->next = node.errors;
    node.errors = reason;
    return;
  }
  auto* first = arena_.make<Bottom>(*node.errors);
  reason->next = first->next;
  first->next = reason;
  node.errors = first;
}

std::string Evaluator::path_of(const Vertex* v) const {
  std::string path;
  for (; v != nullptr; v = v->parent) {
    if (v->label.is_none() || v->label.is_let()) continue;
    std::string label = labels_.describe(v->label);
    path = path.empty() ? label : label + "." + path;
  }
  return path;
}

std::string Evaluator::show(const Value& value) {
  switch (value.tag) {
    case Value::Tag::None:
      return "";
    case Value::Tag::Null:
      return "null";
    case Value::Tag::Bool:
      return value.boolean ? "true" : "false";
    case Value::Tag::Int:
    case Value::Tag::Number:
      return number_text(value);
    case Value::Tag::String:
      return quote(value.str());
    case Value::Tag::Bytes:
      return quote_bytes(value.str());
    case Value::Tag::Type:
      return describe_kind(value.kinds);
    case Value::Tag::Bound:
      return std::string(value.bound->op == Tok::Eql ? "==" : name(value.bound->op)) + show(value.bound->operand);
    case Value::Tag::Validator: {
      const Builtin& builtin = *value.validator->builtin;
      std::string text = (builtin.package.empty() ? "" : std::string(builtin.package) + ".") + std::string(builtin.name);
      // Arguments that are no values of their own are not repeated.
      if (builtin.wants_raw || (value.validator->args.empty() && builtin.params.size() == 1)) return text;
      text += "(";
      for (std::size_t i = 0; i < value.validator->args.size(); ++i)
        text += (i > 0 ? ", " : "") + show(value.validator->args[i]);
      return text + ")";
    }
    case Value::Tag::Conjunction: {
      std::string text;
      for (const Value& part : value.conjunction->parts) text += (text.empty() ? "" : " & ") + show(part);
      return text;
    }
    case Value::Tag::Disjunction: {
      std::string text;
      for (std::size_t i = 0; i < value.disjunction->values.size(); ++i) {
        text +=
            (i > 0 ? " | " : "") + std::string(i < value.disjunction->defaults ? "*" : "") + show(value.disjunction->values[i]);
      }
      return text;
    }
    case Value::Tag::Builtin:
      return (value.builtin->package.empty() ? "" : std::string(value.builtin->package) + ".") +
             std::string(value.builtin->name);
    case Value::Tag::Struct:
      return "{...}";
    case Value::Tag::List:
      return "[...]";
    case Value::Tag::Bottom:
      return "_|_";
    case Value::Tag::Vertex:
      break;
  }
  const Vertex* v = deref(value.vertex);
  if (!v->base.is_container()) return show(v->base);
  if (why_spent(1) != nullptr) return "…";
  bool is_list = v->base.tag == Value::Tag::List;
  std::string text;
  for (Vertex* field : v->arcs) {
    if (field->mark != ArcMark::Member || text.size() > 200) continue;
    text += text.empty() ? "" : ",";
    if (!is_list) text += labels_.describe(field->label) + ":";
    text += show(Value::of(field));
  }
  return is_list ? "[" + text + "]" : "{" + text + "}";
}

std::string Evaluator::message(const Bottom& reason) const {
  auto* self = const_cast<Evaluator*>(this);  // showing a value evaluates nothing that is not evaluated
  std::string text;
  std::string_view format = reason.format;
  // Words rather than values; the first one is shown as it is written for the rest.
  bool is_worded = format.starts_with("non-concrete value {") || format.starts_with("operand {x}") ||
                   format.starts_with("invalid operation {1}");
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format.substr(i).starts_with("{x}")) {
      if (reason.shown[0] != nullptr) text += expression_text(*self, *reason.shown[0]);
      i += 2;
      continue;
    }
    if (format[i] == '{' && i + 2 < format.size() && format[i + 2] == '}' && format[i + 1] >= '0' && format[i + 1] <= '3') {
      std::size_t number = static_cast<std::size_t>(format[i + 1] - '0');
      const Value& operand = reason.operands[number];
      bool is_container = operand.tag == Value::Tag::Type && (operand.kinds == kStruct || operand.kinds == kList);
      if (is_container && number < 2 && reason.shown[number] != nullptr && format.starts_with("conflicting values {")) {
        text += expression_text(*self, *reason.shown[number]);
        i += 2;
        continue;
      }
      bool is_plain = operand.tag == Value::Tag::String && format.find("({0}") == std::string_view::npos &&
                      (reason.is_absent || format.starts_with("{0}") || format.starts_with("error in") ||
                       format.starts_with("adding field") || (is_worded && number == 1));
      text += is_plain ? std::string(operand.str()) : self->show(operand);
      i += 2;
    } else {
      text += format[i];
    }
  }
  if (reason.cause != nullptr && text.size() < 2000 && !text.ends_with(':')) text += ": " + message(*reason.cause);
  return text;
}

void Evaluator::collect_errors(const Vertex* v, std::vector<const Bottom*>& out) const {
  v = deref(v);
  if (v->base.is_bottom()) {
    for (const Bottom* at = v->base.bottom; at != nullptr; at = at->next) out.push_back(at);
    return;
  }
  if (v->child_error == nullptr && !v->has_incomplete) return;
  for (const Vertex* field : v->arcs) {
    if (field->mark == ArcMark::Member) collect_errors(field, out);
  }
}

}  // namespace slipway::cue
