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

const ir::Expr* Evaluator::data_rest(const Vertex* list) const {
  auto known = data_rests_.find(list);
  return known == data_rests_.end() ? nullptr : known->second;
}

Value Evaluator::make_list(std::span<const Value> items) {
  if (!spend(items.size()) || !has_room(items.size() * kItemBytes)) return ended();
  Vertex* v = arena_.make<Vertex>();
  v->is_data = true;
  v->phase = Phase::Settled;
  v->base = Value::of(Value::Tag::List);
  for (std::uint32_t i = 0; i < items.size(); ++i) v->add(arena_, data_vertex(v, Label::item(i), items[i]));
  return Value::of(v);
}

Value Evaluator::make_struct(std::span<const Member> members) {
  if (!spend(members.size()) || !has_room(members.size() * kItemBytes)) return ended();
  Vertex* v = arena_.make<Vertex>();
  v->is_data = true;
  v->phase = Phase::Settled;
  v->base = Value::of(Value::Tag::Struct);
  for (const Member& one : members) v->add(arena_, data_vertex(v, labels_.regular(one.name), one.value));
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
      if (!number) return error("number out of range: " + text);
      return make_number(*number, text.find_first_of(".eE") != std::string::npos);
    }
    case json::Type::String:
      return make_string(data.as_string());
    case json::Type::Array: {
      if (!spend(data.size()) || !has_room(data.size() * kItemBytes)) return ended();
      std::vector<Value> items;
      for (const json::Value& one : data.items()) items.push_back(from_json(one));
      return make_list(items);
    }
    case json::Type::Object: {
      if (!spend(data.size()) || !has_room(data.size() * kItemBytes)) return ended();
      std::vector<Member> members;
      for (auto [key, value] : data.members()) members.push_back({key, from_json(value)});
      return make_struct(members);
    }
  }
  return Value::null();
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
  if (known == regexps_.end()) {
    constexpr std::uint64_t kCompileSteps = 32;
    constexpr std::uint64_t kBytesPerCharacter = 64;
    constexpr std::uint64_t kExpressionBytes = std::uint64_t{8} << 10;
    const std::uint64_t bytes = kExpressionBytes + pattern.size() * kBytesPerCharacter;
    if (!spend(kCompileSteps + pattern.size()) || !has_room(bytes)) {
      error = ended();
      return nullptr;
    }
    table_bytes_ += bytes;
    known = regexps_.emplace(std::string(pattern), compile_regexp(pattern)).first;
  }
  if (known->second->ok()) return known->second.get();
  std::string text = describe_regexp_error(*known->second);
  error = bottom(Code::Eval, "{0}", calling_pos_, Value::string(arena_.copy(std::string_view(text))));
  return nullptr;
}

std::size_t Evaluator::list_size(const Value& list) {
  const Vertex* v = list.is_vertex() ? deref(list.vertex) : nullptr;
  return v == nullptr || v->base.tag == Value::Tag::Struct ? 0 : v->elements;
}

// Fields like definitions may stand between the items.
Value Evaluator::raw_item(const Value& list, std::size_t index) {
  return Value::of(find_arc(deref(list.vertex), Label::item(static_cast<std::uint32_t>(index))));
}

Value Evaluator::list_item(const Value& list, std::size_t index) {
  if (over_budget(calling_pos_)) return ended();
  Vertex* item = raw_item(list, index).vertex;
  complete(item);
  return make_concrete(Value::of(item), item->pos);
}

std::size_t Evaluator::member_count(const Value& object) {
  const Vertex* v = object.is_vertex() ? deref(object.vertex) : nullptr;
  return v == nullptr || v->base.tag == Value::Tag::List ? 0 : v->elements;
}

std::vector<Evaluator::Member> Evaluator::members(const Value& object) {
  std::vector<Member> out;
  const std::size_t count = member_count(object);
  if (count == 0 || !spend(count) || !has_room(count * sizeof(Member))) return out;
  out.reserve(count);
  for (Vertex* one : deref(object.vertex)->arcs) {
    if (!one->label.is_regular() || one->mark != ArcMark::Member) continue;
    complete(one);
    out.push_back({labels_.text(one->label), make_concrete(Value::of(one), one->pos)});
  }
  return out;
}

std::vector<Evaluator::Member> Evaluator::members_in_order(const Value& object) {
  std::vector<Member> out;
  if (!object.is_vertex() || !spend(member_count(object))) return out;
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
