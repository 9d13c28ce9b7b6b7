// What functions of the standard packages may ask for.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "cue/eval/evaluator.h"
#include "cue/export/field_order.h"
#include "cue/std/regexp.h"
#include "json/text.h"

// Values are told apart a few tags at a time.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cue {

Vertex* Evaluator::data_vertex(Vertex* parent, Label label, const Value& value) {
  if (value.is_vertex() && value.vertex->parent == nullptr && value.vertex->is_data) {
    value.vertex->parent = parent;
    value.vertex->label = label;
    return value.vertex;
  }
  Vertex* v = arena_.make<Vertex>();
  v->parent = parent;
  v->label = label;
  if (value.is_vertex()) {
    v->shared = value.vertex;
    v->phase = Phase::Settled;
    return v;
  }
  v->base = value;
  v->is_data = true;
  v->phase = Phase::Final;
  return v;
}

Value Evaluator::make_list(std::span<const Value> items) {
  Vertex* v = arena_.make<Vertex>();
  v->is_data = true;
  v->phase = Phase::Settled;
  v->base = Value::of(Value::Tag::List);
  for (std::uint32_t i = 0; i < items.size(); ++i) v->arcs.push(arena_, data_vertex(v, Label::item(i), items[i]));
  return Value::of(v);
}

Value Evaluator::make_struct(std::span<const Member> members) {
  Vertex* v = arena_.make<Vertex>();
  v->is_data = true;
  v->phase = Phase::Settled;
  v->base = Value::of(Value::Tag::Struct);
  for (const Member& one : members) v->arcs.push(arena_, data_vertex(v, labels_.regular(one.name), one.value));
  return Value::of(v);
}

std::string Evaluator::callee() const {
  if (calling_ == nullptr) return "";
  return (calling_->package.empty() ? "" : std::string(calling_->package) + ".") + std::string(calling_->name);
}

Value Evaluator::fail(std::string message) {
  return bottom(Code::Eval, "error in call to {0}: {1}", calling_pos_, Value::string(arena_.copy(std::string_view(callee()))),
                Value::string(arena_.copy(std::string_view(message))));
}

Value Evaluator::error(std::string message) {
  return bottom(Code::Eval, "{0}", calling_pos_, Value::string(arena_.copy(std::string_view(message))));
}

Value Evaluator::from_json(const json::Value& data) {
  switch (data.type()) {
    case json::Type::Null:
      return Value::null();
    case json::Type::Bool:
      return Value::of(data.as_bool());
    case json::Type::Int:
      return Value::of_int(data.as_int());
    case json::Type::Double:
    case json::Type::Number: {
      std::string text = data.number_text();
      auto number = parse_decimal(text);
      if (!number) return Value::of_int(0);
      return make_number(*number, text.find_first_of(".eE") != std::string::npos);
    }
    case json::Type::String:
      return make_string(data.as_string());
    case json::Type::Array: {
      std::vector<Value> items;
      for (const json::Value& one : data.items()) items.push_back(from_json(one));
      return make_list(items);
    }
    case json::Type::Object: {
      std::vector<Member> members;
      for (auto [key, value] : data.members()) members.push_back({key, from_json(value)});
      return make_struct(members);
    }
  }
  return Value::null();
}

json::Value Evaluator::to_data(const Value& value, Value& error) {
  std::string text = to_json(value, error);
  if (error.is_bottom()) return {};
  auto data = json::parse(text, {.max_bytes = std::size_t{1} << 30});
  if (!data) error = fail(data.error().message);
  return data ? *data : json::Value();
}

bool Evaluator::may_grow(const Value& value) {
  if (!value.is_vertex()) return false;
  const Vertex* v = deref(value.vertex);
  return v->base.tag == Value::Tag::List ? v->is_open_list : !v->is_closed;
}

std::size_t Evaluator::optional_count(const Value& object) {
  std::size_t count = 0;
  if (!object.is_vertex()) return 0;
  for (const Vertex* one : deref(object.vertex)->arcs)
    count += one->label.is_regular() && (one->mark == ArcMark::Optional || one->mark == ArcMark::Required) ? 1 : 0;
  return count;
}

const re2::RE2* Evaluator::regexp(std::string_view pattern, Value& error) {
  if (auto known = program_.regexps.find(pattern); known != program_.regexps.end() && known->second->ok())
    return known->second.get();
  auto known = regexps_.find(pattern);
  if (known == regexps_.end()) known = regexps_.emplace(std::string(pattern), compile_regexp(pattern)).first;
  if (known->second->ok()) return known->second.get();
  std::string text = describe_regexp_error(*known->second);
  error = bottom(Code::Eval, "{0}", calling_pos_, Value::string(arena_.copy(std::string_view(text))));
  return nullptr;
}

std::size_t Evaluator::list_size(const Value& list) {
  if (!list.is_vertex()) return 0;
  const Vertex* v = deref(list.vertex);
  auto is_item = [](const Vertex* one) { return one->label.is_index(); };
  return static_cast<std::size_t>(std::count_if(v->arcs.begin(), v->arcs.end(), is_item));
}

// Fields like definitions may stand between the items.
Value Evaluator::raw_item(const Value& list, std::size_t index) {
  return Value::of(find_arc(deref(list.vertex), Label::item(static_cast<std::uint32_t>(index))));
}

Value Evaluator::list_item(const Value& list, std::size_t index) {
  Vertex* item = raw_item(list, index).vertex;
  complete(item);
  return make_concrete(Value::of(item), item->pos);
}

std::size_t Evaluator::member_count(const Value& object) {
  if (!object.is_vertex()) return 0;
  std::size_t count = 0;
  for (const Vertex* one : deref(object.vertex)->arcs) count += one->label.is_regular() && one->mark == ArcMark::Member ? 1 : 0;
  return count;
}

Evaluator::Member Evaluator::member(const Value& object, std::size_t index) {
  for (Vertex* one : deref(object.vertex)->arcs) {
    if (!one->label.is_regular() || one->mark != ArcMark::Member || index-- > 0) continue;
    complete(one);
    return {labels_.text(one->label), make_concrete(Value::of(one), one->pos)};
  }
  return {};
}

std::vector<Evaluator::Member> Evaluator::members_in_order(const Value& object) {
  std::vector<Member> out;
  if (!object.is_vertex()) return out;
  for (Vertex* one : fields_in_order(*this, deref(object.vertex))) {
    if (!one->label.is_regular() || one->mark != ArcMark::Member) continue;
    complete(one);
    out.push_back({labels_.text(one->label), make_concrete(Value::of(one), one->pos)});
  }
  return out;
}

const ir::Expr* Evaluator::constant(const Value& value, Pos pos) {
  auto* node = arena_.make<ir::Constant>();
  node->op = ir::Op::Constant;
  node->pos = pos;
  node->value = value;
  return node;
}

Value Evaluator::any_of(const Value& list) {
  std::vector<Value> values;
  std::vector<Pos> places;
  const Bottom* failed = nullptr;
  for (std::size_t i = 0; i < list_size(list); ++i) {
    Vertex* item = raw_item(list, i).vertex;
    settle(item);
    const Vertex* real = deref(item);
    bool is_container = real->base.is_container();
    const Bottom* wrong = real->base.is_bottom() ? real->base.bottom : real->child_error;
    if (wrong != nullptr && (real->base.is_bottom() || !is_incomplete(wrong->code))) {
      if (failed == nullptr || failed->code < wrong->code) failed = wrong;
      continue;
    }
    values.push_back(is_container || real->base.is_none() || !real->arcs.empty() ? Value::of(item) : real->base);
    places.push_back(place_of_value(item));
  }
  if (values.empty() && failed != nullptr && !is_incomplete(failed->code)) return Value::of(failed);
  if (values.empty()) {
    return bottom(Code::Incomplete, "empty list in call to or", calling_pos_);
  }
  if (values.size() == 1) return values[0];
  auto* disjunction = arena_.make<Disjunction>();
  disjunction->values = arena_.copy(values);
  disjunction->places = arena_.copy(places);
  return Value::of(disjunction);
}

Value Evaluator::all_of(const Value& list) {
  const RefTrail* trail = current_conjunct_ != nullptr ? current_conjunct_->trail : nullptr;
  std::size_t size = list_size(list);
  if (size == 0) return Value::type(kTop);
  Vertex* v = arena_.make<Vertex>();
  v->parent = current_;
  // What is no struct or list is one constraint, of no place of its own.
  std::vector<Value> parts;
  for (std::size_t i = 0; i < size; ++i) {
    Vertex* item = raw_item(list, i).vertex;
    if (!settle(item) || !is_simple(deref(item)->base) || deref(item)->base.is_concrete_scalar()) break;
    parts.push_back(deref(item)->base);
  }
  if (parts.size() == size && size > 1) {
    auto* conjunction = arena_.make<Conjunction>();
    conjunction->parts = arena_.copy(parts);
    Value all = Value::of(Value::Tag::Conjunction);
    all.conjunction = conjunction;
    v->conjuncts.push(arena_, {constant(all, 0), nullptr, nullptr, trail, Cycle::None});
    return Value::of(v);
  }
  for (std::size_t i = 0; i < size; ++i) {
    v->conjuncts.push(arena_, {constant(raw_item(list, i), calling_pos_), nullptr, nullptr, trail, Cycle::None});
  }
  return Value::of(v);
}

Value Evaluator::with_default(const Value& preferred, const Value& other) {
  std::vector<Value> values = {preferred, other};
  auto* disjunction = arena_.make<Disjunction>();
  disjunction->values = arena_.copy(values);
  disjunction->defaults = 1;
  return Value::of(disjunction);
}

Value Evaluator::closed(const Value& object) {
  Vertex* v = arena_.make<Vertex>();
  v->parent = current_;
  v->closes_once = true;
  v->conjuncts.push(arena_, {constant(object, calling_pos_), nullptr, nullptr, nullptr, Cycle::None});
  return Value::of(v);
}

namespace {

// Whether a side of a comparator takes the item as it is.
bool takes_as_is(const Vertex* side, const Value& item) {
  if (side == nullptr || side->mark != ArcMark::Member || side->base.tag != Value::Tag::Type || !side->arcs.empty())
    return false;
  if (side->base.kinds == kTop) return true;
  const Value& is = item.is_vertex() ? deref(item.vertex)->base : item;
  return is.is_concrete_scalar() && (kinds_of(is) & ~side->base.kinds) == 0;
}

bool says_same_anywhere(const Conjunct& c) {
  auto is_constant = [](const ir::Disjunct& one) { return one.value->op == ir::Op::Constant; };
  return c.expr->op == ir::Op::Constant ||
         (c.expr->op == ir::Op::Or && std::ranges::all_of(ir::as<ir::Or>(*c.expr).parts, is_constant));
}

}  // namespace

// The expression that compares, with x and y in the place of those of the comparator. None when the comparator says more of
// them than what kind they are, or has fields that may be made of them.
Value Evaluator::compare_in_place(Vertex* comparator, const Value& x, const Value& y) {
  const Label names[] = {labels_.regular("x"), labels_.regular("y")};
  Vertex* less = find_arc(comparator, labels_.regular("less"));
  bool is_plain = comparator->base.tag == Value::Tag::Struct && less != nullptr && less->conjuncts.size() == 1;
  if (!is_plain || !takes_as_is(find_arc(comparator, names[0]), x) || !takes_as_is(find_arc(comparator, names[1]), y))
    return {};
  const Conjunct judges = less->conjuncts[0];
  if (judges.env == nullptr || judges.env->vertex != comparator) return {};
  Vertex* both = arena_.make<Vertex>();
  both->parent = current_;
  both->base = comparator->base;
  both->phase = Phase::Settled;
  both->arcs.push(arena_, data_vertex(both, names[0], x));
  both->arcs.push(arena_, data_vertex(both, names[1], y));
  for (Vertex* one : comparator->arcs) {
    if (one == less || one->label == names[0] || one->label == names[1]) continue;
    if (!std::ranges::all_of(one->conjuncts, says_same_anywhere)) return {};
    both->arcs.push(arena_, one);
  }
  return concrete(*judges.expr, arena_.make<Env>(judges.env->up, both, judges.env->label, nullptr));
}

Value Evaluator::compare_with(const Value& comparator, const Value& x, const Value& y) {
  if (comparator.is_vertex()) {
    Value less = compare_in_place(deref(comparator.vertex), x, y);
    if (less.tag == Value::Tag::Bool) return less;
  }
  Member members[] = {{"x", x}, {"y", y}};
  Value both = unify(comparator, make_struct(members));
  if (both.is_bottom()) return both;
  Vertex* less = find_arc(deref(both.vertex), labels_.regular("less"));
  return less == nullptr ? fail("field not found: less") : make_concrete(Value::of(less), calling_pos_);
}

std::string Evaluator::to_json(const Value& value, Value& error) {
  std::string out;
  return write_json(out, value, error, true) ? out : std::string();
}

std::string Evaluator::to_unordered_json(const Value& value, Value& error) {
  std::string out;
  return write_json(out, value, error, false) ? out : std::string();
}

namespace {

void write_base64(std::string& out, std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  out += '"';
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : kDigits[word >> (18 - 6 * k) & 63];
  }
  out += '"';
}

}  // namespace

bool Evaluator::write_json(std::string& out, const Value& raw, Value& error, bool in_order) {
  if (over_budget()) {
    error = bottom(Code::Eval, kTooManySteps, 0);
    return false;
  }
  if (raw.is_vertex()) complete(raw.vertex);
  Value value = make_concrete(raw, raw.is_vertex() ? raw.vertex->pos : 0);
  switch (value.tag) {
    case Value::Tag::Bottom: {
      if (value.bottom->is_open) value = lacks_there(value, "incomplete value {0}");
      auto* reason = arena_.make<Bottom>(*value.bottom);
      if (raw.is_vertex() && raw.vertex->base.tag == Value::Tag::Type) reason->node = raw.vertex;
      error = Value::of(reason);
      return false;
    }
    case Value::Tag::Null:
      out += "null";
      return true;
    case Value::Tag::Bool:
      out += value.boolean ? "true" : "false";
      return true;
    case Value::Tag::Int:
    case Value::Tag::Number:
      out += data_text(value);
      return true;
    case Value::Tag::String:
      json::print_to(out, json::Value(value.str()));
      return true;
    case Value::Tag::Bytes:
      write_base64(out, value.str());
      return true;
    case Value::Tag::Vertex:
      break;
    default:
      error = bottom(Code::Incomplete, "incomplete value {0}", 0, value);
      return false;
  }
  Vertex* v = deref(value.vertex);
  if (v->child_error != nullptr) {
    error = Value::of(v->child_error);
    return false;
  }
  bool is_list = v->base.tag == Value::Tag::List;
  out += is_list ? '[' : '{';
  bool is_first = true;
  std::vector<Vertex*> ordered;
  if (in_order && !is_list) ordered = fields_in_order(*this, v);
  bool is_ordered = in_order && !is_list;
  for (std::size_t i = 0; i < v->arcs.size(); ++i) {
    Vertex* field = is_ordered ? ordered[i] : v->arcs[i];
    if (field->mark == ArcMark::Required && !is_list) {
      error = bottom(Code::Incomplete, "field is required but not present", field->pos);
      return false;
    }
    if (field->mark != ArcMark::Member || (is_list ? !field->label.is_index() : !field->label.is_regular())) continue;
    if (!std::exchange(is_first, false)) out += ',';
    if (!is_list) {
      json::print_to(out, json::Value(labels_.text(field->label)));
      out += ':';
    }
    if (!write_json(out, Value::of(field), error, in_order)) return false;
  }
  out += is_list ? ']' : '}';
  return true;
}

// What a name leads to is told of where it is.
Vertex* Evaluator::complete_expression(const ir::Expr* expr) {
  Vertex* made = complete_all({&expr, 1});
  const Value& value = deref(made)->base;
  bool is_there = value.is_concrete_scalar() || value.is_container();
  if (is_there || !ir::is_reference(*expr)) return made;
  Lookup found = resolve(*expr, arena_.make<Env>(nullptr, instance(0), kNoLabel, nullptr));
  return found.found == Found::Arc ? found.arc : made;
}

Vertex* Evaluator::complete_all(std::span<const ir::Expr* const> parts) {
  Env* env = arena_.make<Env>(nullptr, instance(0), kNoLabel, nullptr);
  Vertex* v = arena_.make<Vertex>();
  for (const ir::Expr* one : parts) v->conjuncts.push(arena_, {one, env, nullptr, nullptr, Cycle::None});
  settle(v);
  complete(v);
  return v;
}

}  // namespace slipway::cue
