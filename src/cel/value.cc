#include "cel/value.h"

#include <algorithm>
#include <cmath>

#include "cel/library.h"
#include "cel/time_text.h"

// Of the kinds only some matter in each place.
#pragma clang diagnostic ignored "-Wswitch-enum"

namespace slipway::cel {
namespace {

Value make(Kind kind) {
  Value value;
  value.kind = kind;
  return value;
}

TypePtr param(const TypePtr& type, std::size_t index) {
  return type != nullptr && index < type->params.size() ? type->params[index] : nullptr;
}

Value view(Kind kind, const json::Value& json, const TypePtr& type) {
  Value value = make(kind);
  value.json = json;
  if (type != nullptr && type->kind == kind) value.type = type;
  return value;
}

Value from_dynamic(const json::Value& value) {
  switch (value.type()) {
    case json::Type::Null:
      return Value{};
    case json::Type::Bool:
      return make_bool(value.as_bool());
    case json::Type::Int:
      return make_int(value.as_int());
    case json::Type::Double:
    case json::Type::Number:
      return make_double(value.as_double());
    case json::Type::String:
      return make_string(value.as_string());
    case json::Type::Array:
      return view(Kind::List, value, nullptr);
    case json::Type::Object:
      return view(Kind::Map, value, nullptr);
  }
  return Value{};
}

Value from_text(const json::Value& value, Kind kind) {
  switch (kind) {
    case Kind::Bytes:
      if (const auto bytes = from_base64(value.as_string())) return make_bytes(*bytes);
      return make_error("invalid base64 in a value of format byte");
    case Kind::Timestamp:
      if (const auto time = parse_timestamp(value.as_string())) return make_timestamp(time->seconds, time->nanos);
      return make_error("invalid date-time: " + value.str());
    case Kind::Duration:
      if (const auto nanos = parse_go_duration(value.as_string())) return make_duration(*nanos);
      return make_error("invalid duration: " + value.str());
    default:
      return from_dynamic(value);
  }
}

// The start of the year 1 in seconds since 1970: the zero of Go's times.
constexpr std::int64_t kYearOne = -62'135'596'800;

bool is_numeric(const Value& value) { return value.is(Kind::Int) || value.is(Kind::Uint) || value.is(Kind::Double); }

std::optional<int> order(auto left, auto right) { return left < right ? -1 : left > right ? 1 : 0; }

std::optional<int> compare_double(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return std::nullopt;
  return order(left, right);
}

std::optional<int> compare_numbers(const Value& left, const Value& right) {
  if (right.is(Kind::Double)) {
    if (left.is(Kind::Double)) return compare_double(left.real, right.real);
    // As cel-go: an integer beyond 2^53 is rounded first.
    return compare_double(left.is(Kind::Int) ? static_cast<double>(left.integer) : static_cast<double>(left.natural),
                          right.real);
  }
  if (left.is(Kind::Double)) {
    const auto turned = compare_numbers(right, left);
    return turned ? std::optional<int>(-*turned) : std::nullopt;
  }
  if (left.is(Kind::Int) && right.is(Kind::Int)) return order(left.integer, right.integer);
  if (left.is(Kind::Uint) && right.is(Kind::Uint)) return order(left.natural, right.natural);
  if (left.is(Kind::Int)) return left.integer < 0 ? -1 : order(static_cast<std::uint64_t>(left.integer), right.natural);
  return right.integer < 0 ? 1 : order(left.natural, static_cast<std::uint64_t>(right.integer));
}

/// A field of an object that is null counts as one that is not there.
bool is_absent(const Value& map, const json::Value& member) { return map.is(Kind::Object) && member.is_null(); }

bool has_entries(const Value& value) { return value.is(Kind::Map) || value.is(Kind::Object); }

bool equal_lists(const Value& left, const Value& right, Budget* budget) {
  const std::size_t count = size(left);
  if (count != size(right)) return false;
  const TypePtr& type = left.type != nullptr && left.type->identity != Identity::Order ? left.type : right.type;
  if (type == nullptr || type->identity == Identity::Order) {
    for (std::size_t i = 0; i < count; ++i) {
      if (!equal(item(left, i), item(right, i), budget)) return false;
    }
    return true;
  }
  const Items others = items_of(right);
  for (const Value& one : items_of(left)) {
    const bool is_keyed = type->identity == Identity::Keys;
    const auto same = [&](const Value& other) {
      return (!is_keyed || has_equal_keys(one, other, type->keys)) && equal(one, other, budget);
    };
    if (std::ranges::none_of(others, same)) return false;
  }
  return true;
}

bool equal_maps(const Value& left, const Value& right, Budget* budget) {
  if (size(left) != size(right)) return false;
  for (const auto& [key, value] : entries_of(left)) {
    const auto other = find(right, key);
    if (!other || !equal(value, *other, budget)) return false;
  }
  return true;
}

}  // namespace

Value make_bool(bool value) {
  Value out = make(Kind::Bool);
  out.truth = value;
  return out;
}
Value make_int(std::int64_t value) {
  Value out = make(Kind::Int);
  out.integer = value;
  return out;
}
Value make_uint(std::uint64_t value) {
  Value out = make(Kind::Uint);
  out.natural = value;
  return out;
}
Value make_double(double value) {
  Value out = make(Kind::Double);
  out.real = value;
  return out;
}
Value make_string(std::string_view value) {
  Value out = make(Kind::String);
  out.json = json::Value(value);
  return out;
}
Value make_bytes(std::string_view value) {
  Value out = make(Kind::Bytes);
  out.json = json::Value(value);
  return out;
}
Value make_list(Items items) {
  Value out = make(Kind::List);
  out.items = std::make_shared<const Items>(std::move(items));
  return out;
}
Value make_map(Entries entries) {
  Value out = make(Kind::Map);
  out.entries = std::make_shared<const Entries>(std::move(entries));
  return out;
}
Value make_timestamp(std::int64_t seconds, std::int32_t nanos) {
  Value out = make(Kind::Timestamp);
  out.integer = seconds;
  out.nanos = nanos;
  return out;
}
Value make_duration(std::int64_t nanoseconds) {
  Value out = make(Kind::Duration);
  out.integer = nanoseconds;
  return out;
}
Value make_type(TypePtr type) {
  Value out = make(Kind::Type);
  out.type = std::move(type);
  return out;
}
Value optional_value(std::optional<Value> value) {
  Value out = make(Kind::Optional);
  Items items;
  if (value) items.push_back(std::move(*value));
  out.items = std::make_shared<const Items>(std::move(items));
  return out;
}
Value make_opaque(std::shared_ptr<const Opaque> value) {
  Value out = make(Kind::Opaque);
  out.opaque = std::move(value);
  return out;
}
Value make_error(std::string_view message) {
  Value out = make(Kind::Error);
  out.json = json::Value(message);
  return out;
}
Value no_overload() { return make_error("no such overload"); }

Value from_json(const json::Value& value, const TypePtr& type) {
  if (type == nullptr || value.is_null()) return from_dynamic(value);
  if (value.is_string()) return from_text(value, type->kind);
  if (value.is_number() && type->kind == Kind::Double) return make_double(value.as_double());
  if (value.is_number() && type->kind == Kind::Int && value.as_double() == static_cast<double>(value.as_int()))
    return make_int(value.as_int());
  if (value.is_array() && type->kind == Kind::List) return view(Kind::List, value, type);
  if (value.is_object() && (type->kind == Kind::Map || type->kind == Kind::Object)) return view(type->kind, value, type);
  return from_dynamic(value);
}

std::size_t size(const Value& value) {
  if (value.is(Kind::List)) return value.items != nullptr ? value.items->size() : value.json.size();
  if (!has_entries(value)) return 0;
  if (value.entries != nullptr) return value.entries->size();
  const auto is_there = [&](const auto& member) { return !is_absent(value, member.value); };
  return static_cast<std::size_t>(std::ranges::count_if(value.json.members(), is_there));
}

Value item(const Value& list, std::size_t index) {
  if (list.items != nullptr) return (*list.items)[index];
  return from_json(list.json.item(index), param(list.type, 0));
}

Items items_of(const Value& list) {
  if (list.items != nullptr) return *list.items;
  Items out;
  out.reserve(list.json.size());
  const TypePtr type = param(list.type, 0);
  for (const json::Value& one : list.json.items()) out.push_back(from_json(one, type));
  return out;
}

Entries entries_of(const Value& map) {
  if (map.entries != nullptr) return *map.entries;
  Entries out;
  out.reserve(map.json.size());
  for (const auto& [key, value] : map.json.members()) {
    if (is_absent(map, value)) continue;
    TypePtr type = param(map.type, 1);
    if (map.is(Kind::Object) && map.type != nullptr) {
      const auto field = map.type->fields.find(escape(key));
      if (field != map.type->fields.end()) type = field->second.type;
    }
    out.emplace_back(make_string(key), from_json(value, type));
  }
  return out;
}

std::optional<Value> find(const Value& map, const Value& key) {
  if (map.entries != nullptr) {
    for (const auto& [known, value] : *map.entries) {
      if (equal(known, key)) return value;
    }
    return std::nullopt;
  }
  if (!key.is(Kind::String)) return std::nullopt;
  const json::Value* member = map.json.find(key.text());
  if (member == nullptr || is_absent(map, *member)) return std::nullopt;
  TypePtr type = param(map.type, 1);
  if (map.is(Kind::Object) && map.type != nullptr) {
    const auto field = map.type->fields.find(escape(key.text()));
    if (field != map.type->fields.end()) type = field->second.type;
  }
  return from_json(*member, type);
}

std::optional<Value> find_field(const Value& map, std::string_view name) {
  if (!map.is(Kind::Object) || map.type == nullptr) return find(map, make_string(name));
  const Field* field = field_of(*map.type, name);
  if (field == nullptr) return std::nullopt;
  const json::Value* member = map.json.find(field->json_name);
  if (member == nullptr || is_absent(map, *member)) return std::nullopt;
  return from_json(*member, field->type);
}

const Value* content(const Value& optional) {
  return optional.items != nullptr && !optional.items->empty() ? &optional.items->front() : nullptr;
}

bool has_equal_keys(const Value& left, const Value& right, const std::vector<std::string>& keys) {
  if (!has_entries(left) || !has_entries(right)) return false;
  return std::ranges::all_of(keys, [&](const std::string& key) {
    const auto one = find(left, make_string(key));
    const auto other = find(right, make_string(key));
    return one && other ? equal(*one, *other) : one.has_value() == other.has_value();
  });
}

bool equal(const Value& left, const Value& right, Budget* budget) {
  if (budget != nullptr && !budget->look()) return false;
  if (is_numeric(left) && is_numeric(right)) return compare_numbers(left, right) == 0;
  if (has_entries(left) && has_entries(right)) return equal_maps(left, right, budget);
  if (left.kind != right.kind) return false;
  switch (left.kind) {
    case Kind::Null:
      return true;
    case Kind::Bool:
      return left.truth == right.truth;
    case Kind::String:
    case Kind::Bytes:
      return left.text() == right.text();
    case Kind::List:
      return equal_lists(left, right, budget);
    case Kind::Timestamp:
      return left.integer == right.integer && left.nanos == right.nanos;
    case Kind::Duration:
      return left.integer == right.integer;
    case Kind::Type:
      return left.type->kind == right.type->kind && left.type->name == right.type->name;
    case Kind::Optional: {
      const Value* one = content(left);
      const Value* other = content(right);
      return one == nullptr || other == nullptr ? one == other : equal(*one, *other, budget);
    }
    case Kind::Opaque:
      return left.opaque->type_name() == right.opaque->type_name() && left.opaque->equals(*right.opaque);
    default:
      return false;
  }
}

std::optional<int> compare(const Value& left, const Value& right) {
  if (is_numeric(left) && is_numeric(right)) return compare_numbers(left, right);
  if (left.kind != right.kind) return std::nullopt;
  switch (left.kind) {
    case Kind::Bool:
      return order(left.truth, right.truth);
    case Kind::String:
    case Kind::Bytes:
      return order(left.text(), right.text());
    case Kind::Timestamp:
      return order(std::pair(left.integer, left.nanos), std::pair(right.integer, right.nanos));
    case Kind::Duration:
      return order(left.integer, right.integer);
    default:
      return std::nullopt;
  }
}

TypePtr runtime_type(const Value& value) {
  if (value.is(Kind::Opaque)) return opaque(value.opaque->type_name());
  if (value.is(Kind::Object)) return type_of(Kind::Map);
  return type_of(value.kind);
}

bool is_zero(const Value& value) {
  switch (value.kind) {
    case Kind::Null:
      return true;
    case Kind::Bool:
      return !value.truth;
    case Kind::Int:
    case Kind::Duration:
      return value.integer == 0;
    case Kind::Uint:
      return value.natural == 0;
    case Kind::Double:
      return value.real == 0;
    case Kind::String:
    case Kind::Bytes:
      return value.text().empty();
    case Kind::List:
    case Kind::Map:
    case Kind::Object:
      return size(value) == 0;
    case Kind::Timestamp:
      return value.integer == kYearOne && value.nanos == 0;
    case Kind::Optional:
      return content(value) == nullptr;
    default:
      return false;
  }
}

std::size_t character_count(std::string_view text) { return characters(text).size(); }

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + length > text.size()) length = 1;
    for (std::size_t i = 1; i < length; ++i) {
      if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) length = 1;
    }
    out.push_back(text.substr(at, length));
    at += length;
  }
  return out;
}

}  // namespace slipway::cel
