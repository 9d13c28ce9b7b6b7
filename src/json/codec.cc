#include "json/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "json/text.h"
#include "json/utf8.h"

namespace slipway::json {

namespace codec {

namespace {

constexpr std::size_t kMostCauses = 100;
constexpr std::size_t kShownValue = 120;

std::string shown(const Value& value) {
  std::string text = print(value);
  if (text.size() <= kShownValue) return text;
  std::size_t end = kShownValue;
  while (end > 0 && (text[end] & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

const Rules kNoRules;

class Decoder {
 public:
  Decoder(std::string path, bool allow_unknown) : path_(std::move(path)), allow_unknown_(allow_unknown) {}

  void read(const Shape& shape, void* at, const Value& value, const Rules& rules, const Rules& item_rules);
  Result<void> outcome() &&;

 private:
  void read_scalar(const Shape& shape, void* at, const Value& value, const Rules& rules);
  void read_integer(const Shape& shape, void* at, const Value& value, const Rules& rules);
  void read_string(void* at, const Value& value, const Rules& rules);
  void read_time(const Shape& shape, void* at, const Value& value);
  void read_enum(const Shape& shape, void* at, const Value& value);
  void read_any(void* at, const Value& value, const Rules& rules);
  void read_list(const Shape& shape, void* at, const Value& value, const Rules& rules, const Rules& item_rules);
  void read_map(const Shape& shape, void* at, const Value& value, const Rules& rules, const Rules& item_rules);
  void read_struct(const Shape& shape, void* at, const Value& value);
  void check_bounds(double number, const Value& value, const Rules& rules);

  void report(Cause cause) {
    if (causes_.size() < kMostCauses) causes_.push_back(std::move(cause));
  }
  void wrong_type(const Value& value, std::string_view type) {
    report(field::type_invalid(path_, shown(value), fmt::format("must be of type {}", type)));
  }
  void invalid(const Value& value, std::string detail) { report(field::invalid(path_, shown(value), std::move(detail))); }
  std::string below(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }
  template <class Read>
  void at_path(std::string path, Read read) {
    path_.swap(path);
    read();
    path_.swap(path);
  }

  std::string path_;
  bool allow_unknown_;
  std::vector<Cause> causes_;
};

void Decoder::read(const Shape& shape, void* at, const Value& value, const Rules& rules, const Rules& item_rules) {
  switch (shape.kind) {
    case Kind::Optional:
      if (!value.is_null()) read(shape.element(), shape.grow(at, {}), value, rules, item_rules);
      return;
    case Kind::List:
      return read_list(shape, at, value, rules, item_rules);
    case Kind::Map:
      return read_map(shape, at, value, rules, item_rules);
    case Kind::Struct:
      return read_struct(shape, at, value);
    case Kind::Any:
      return read_any(at, value, rules);
    case Kind::Bool:
    case Kind::Integer:
    case Kind::Double:
    case Kind::String:
    case Kind::Time:
    case Kind::Duration:
    case Kind::Enum:
      return read_scalar(shape, at, value, rules);
  }
}

void Decoder::read_scalar(const Shape& shape, void* at, const Value& value, const Rules& rules) {
  switch (shape.kind) {
    case Kind::Bool:
      if (!value.is_bool()) return wrong_type(value, "boolean");
      return shape.write_int(at, value.as_bool());
    case Kind::Integer:
      return read_integer(shape, at, value, rules);
    case Kind::Double:
      if (!value.is_number()) return wrong_type(value, "number");
      check_bounds(value.as_double(), value, rules);
      *static_cast<double*>(at) = value.as_double();
      return;
    case Kind::String:
      return read_string(at, value, rules);
    case Kind::Time:
    case Kind::Duration:
      return read_time(shape, at, value);
    case Kind::Enum:
      return read_enum(shape, at, value);
    case Kind::Any:
    case Kind::Optional:
    case Kind::List:
    case Kind::Map:
    case Kind::Struct:
      break;
  }
}

void Decoder::read_integer(const Shape& shape, void* at, const Value& value, const Rules& rules) {
  if (!value.is_number()) return wrong_type(value, "integer");
  // Both fallbacks come back only from a number that is not whole or does not fit.
  const std::int64_t number = value.as_int(0);
  if (number != value.as_int(1)) {
    const double size = value.as_double();
    if (size == std::trunc(size)) return invalid(value, "must fit in 64 bits");
    return wrong_type(value, "integer");
  }
  if (number < shape.least || number > shape.most) {
    return invalid(value, fmt::format("must be between {} and {}", shape.least, shape.most));
  }
  check_bounds(static_cast<double>(number), value, rules);
  shape.write_int(at, number);
}

void Decoder::check_bounds(double number, const Value& value, const Rules& rules) {
  if (rules.minimum && number < *rules.minimum) {
    invalid(value, fmt::format("must be greater than or equal to {}", Value(*rules.minimum).number_text()));
  }
  if (rules.maximum && number > *rules.maximum) {
    invalid(value, fmt::format("must be less than or equal to {}", Value(*rules.maximum).number_text()));
  }
}

void Decoder::read_string(void* at, const Value& value, const Rules& rules) {
  if (!value.is_string()) return wrong_type(value, "string");
  const std::string_view text = value.as_string();
  if (rules.max_length && characters(text) > *rules.max_length) report(field::too_long(path_, *rules.max_length));
  if (rules.min_length && characters(text) < *rules.min_length) {
    invalid(value, fmt::format("must be at least {} characters long", *rules.min_length));
  }
  if (!rules.one_of.empty() && std::ranges::find(rules.one_of, text) == rules.one_of.end()) {
    report(field::not_supported(path_, shown(value), rules.one_of));
  }
  *static_cast<std::string*>(at) = text;
}

void Decoder::read_time(const Shape& shape, void* at, const Value& value) {
  if (!value.is_string()) return wrong_type(value, "string");
  if (shape.kind == Kind::Time) {
    auto time = parse_rfc3339(value.as_string());
    if (!time) return invalid(value, "must be a date and time as in 2026-01-02T03:04:05Z");
    *static_cast<Time*>(at) = *time;
    return;
  }
  auto duration = parse_duration(value.as_string());
  if (!duration) return invalid(value, "must be a duration as in 1h30m or 10s");
  *static_cast<Duration*>(at) = *duration;
}

void Decoder::read_enum(const Shape& shape, void* at, const Value& value) {
  if (!value.is_string()) return wrong_type(value, "string");
  std::vector<std::string> names;
  for (const auto& [number, name] : shape.names) {
    if (value.as_string() == name) return shape.write_int(at, number);
    names.push_back(name);
  }
  report(field::not_supported(path_, shown(value), names));
}

void Decoder::read_any(void* at, const Value& value, const Rules& rules) {
  if (rules.int_or_string && !value.is_int() && !value.is_string()) return wrong_type(value, "integer or string");
  if ((rules.any_object || rules.embedded_resource) && !value.is_object()) return wrong_type(value, "object");
  if (rules.max_properties && value.is_object() && value.size() > *rules.max_properties) {
    report(field::too_many(path_, value.size(), *rules.max_properties));
  }
  *static_cast<Value*>(at) = value;
}

void Decoder::read_list(const Shape& shape, void* at, const Value& value, const Rules& rules, const Rules& item_rules) {
  if (!value.is_array()) return wrong_type(value, "array");
  if (rules.max_items && value.size() > *rules.max_items) return report(field::too_many(path_, value.size(), *rules.max_items));
  if (rules.min_items && value.size() < *rules.min_items) {
    invalid(value, fmt::format("must have at least {} items", *rules.min_items));
  }
  std::size_t index = 0;
  for (const Value& item : value.items()) {
    at_path(fmt::format("{}[{}]", path_, index++),
            [&] { read(shape.element(), shape.grow(at, {}), item, item_rules, kNoRules); });
  }
}

void Decoder::read_map(const Shape& shape, void* at, const Value& value, const Rules& rules, const Rules& item_rules) {
  if (!value.is_object()) return wrong_type(value, "object");
  if (rules.max_properties && value.size() > *rules.max_properties) {
    return report(field::too_many(path_, value.size(), *rules.max_properties));
  }
  for (auto [key, item] : value.members()) {
    at_path(fmt::format("{}[{}]", path_, key),
            [&] { read(shape.element(), shape.grow(at, std::string(key)), item, item_rules, kNoRules); });
  }
}

void Decoder::read_struct(const Shape& shape, void* at, const Value& value) {
  if (!value.is_object()) return wrong_type(value, "object");
  for (const Field& one : shape.fields.fields) {
    const Value& member = value[one.name];
    if (!member.is_null()) {
      at_path(below(one.name),
              [&] { read(one.shape(), static_cast<char*>(at) + one.offset, member, one.rules, one.item_rules); });
    } else if (one.rules.required) {
      report(field::required(below(one.name)));
    }
  }
  if (allow_unknown_ || shape.fields.ignores_unknown) return;
  for (auto [key, member] : value.members()) {
    const bool known = std::ranges::any_of(shape.fields.fields, [name = key](const Field& one) { return one.name == name; });
    if (!known) {
      std::string path = below(key);
      std::string message = fmt::format("unknown field \"{}\"", path);
      report({.reason = "FieldValueForbidden", .message = std::move(message), .field = std::move(path)});
    }
  }
}

Result<void> Decoder::outcome() && {
  if (causes_.empty()) return {};
  Status status;
  status.reason = Reason::Invalid;
  for (const Cause& cause : causes_) {
    const bool has_place = !cause.field.empty() && !cause.message.starts_with("unknown field");
    status.message += fmt::format("{}{}{}{}", status.message.empty() ? "" : ", ", has_place ? cause.field : "",
                                  has_place ? ": " : "", cause.message);
  }
  if (causes_.size() > 1) status.message = fmt::format("[{}]", status.message);
  status.causes = std::move(causes_);
  return fail(std::move(status));
}

Value encode_struct(const Shape& shape, const void* at) {
  ObjectBuilder object(shape.fields.fields.size());
  for (const Field& one : shape.fields.fields) {
    Value value = encode_from(one.shape(), static_cast<const char*>(at) + one.offset, &one.rules);
    if (one.rules.required || one.rules.always || !(value == one.fresh)) object.add(one.name, std::move(value));
  }
  return object.build();
}

Value encode_container(const Shape& shape, const void* at, const Rules* rules) {
  struct State {
    const Shape& of;  // its element is asked for only when there is one: a struct being described may contain itself
    const Rules* rules;
    Value one;
    ArrayBuilder list;
    ObjectBuilder map;
  } state{shape, rules, {}, {}, {}};
  if (shape.kind == Kind::Optional) {
    shape.each(at, &state, [](void* to, const std::string&, const void* item) {
      auto& made = *static_cast<State*>(to);
      made.one = encode_from(made.of.element(), item, made.rules);
    });
    return state.one;
  }
  if (shape.kind == Kind::List) {
    shape.each(at, &state, [](void* to, const std::string&, const void* item) {
      auto& made = *static_cast<State*>(to);
      made.list.add(encode_from(made.of.element(), item, made.rules));
    });
    return state.list.build();
  }
  shape.each(at, &state, [](void* to, const std::string& key, const void* item) {
    auto& made = *static_cast<State*>(to);
    made.map.add(key, encode_from(made.of.element(), item, made.rules));
  });
  return state.map.build();
}

}  // namespace

std::size_t add_field(Struct& owner, std::string name, std::string doc, std::size_t offset, ShapeOf shape, const void* fresh) {
  for (const Field& one : owner.fields) SLIPWAY_CHECK(one.name != name, name);
  Field added{.name = std::move(name),
              .doc = std::move(doc),
              .offset = offset,
              .shape = shape,
              .rules = {},
              .item_rules = {},
              .fresh = {}};
  added.fresh = encode_from(shape(), fresh, nullptr);
  owner.fields.push_back(std::move(added));
  return owner.fields.size() - 1;
}

std::string_view name_in(const Shape& shape, std::int64_t value) {
  for (const auto& [number, name] : shape.names) {
    if (number == value) return name;
  }
  return {};
}

Result<void> decode_into(const Shape& shape, void* at, const Value& value, std::string path, bool allow_unknown) {
  Decoder decoder(std::move(path), allow_unknown);
  decoder.read(shape, at, value, kNoRules, kNoRules);
  return std::move(decoder).outcome();
}

Value encode_from(const Shape& shape, const void* at, const Rules* rules) {
  switch (shape.kind) {
    case Kind::Any:
      return *static_cast<const Value*>(at);
    case Kind::Bool:
      return shape.read_int(at) != 0;
    case Kind::Integer:
      return shape.read_int(at);
    case Kind::Double:
      return *static_cast<const double*>(at);
    case Kind::String:
      return *static_cast<const std::string*>(at);
    case Kind::Time: {
      const Time time = *static_cast<const Time*>(at);
      return rules && rules->micro_time ? to_rfc3339_micro(time) : to_rfc3339(time);
    }
    case Kind::Duration:
      return to_string(*static_cast<const Duration*>(at));
    case Kind::Enum:
      return name_in(shape, shape.read_int(at));
    case Kind::Optional:
    case Kind::List:
    case Kind::Map:
      return encode_container(shape, at, rules);
    case Kind::Struct:
      return encode_struct(shape, at);
  }
  return {};
}

}  // namespace codec

}  // namespace slipway::json
