// The rules of described fields, and descriptions as plain data.
#include <algorithm>

#include "json/codec.h"

namespace slipway::json {

codec::Rules& FieldRules::rules() {
  codec::Field& field = owner_.fields[index_];
  return for_items_ ? field.item_rules : field.rules;
}

#define SLIPWAY_RULE(name, parameter, statement) \
  FieldRules& FieldRules::name(parameter) {      \
    statement;                                   \
    return *this;                                \
  }

SLIPWAY_RULE(required, , rules().required = true)
SLIPWAY_RULE(always, , rules().always = true)
SLIPWAY_RULE(with_default, , rules().has_default = true)
SLIPWAY_RULE(int_or_string, , rules().int_or_string = true)
SLIPWAY_RULE(any_object, , rules().any_object = true)
SLIPWAY_RULE(embedded_resource, , rules().embedded_resource = true)
SLIPWAY_RULE(micro_time, , rules().micro_time = true)
SLIPWAY_RULE(minimum, double least, rules().minimum = least)
SLIPWAY_RULE(maximum, double most, rules().maximum = most)
SLIPWAY_RULE(min_length, std::size_t count, rules().min_length = count)
SLIPWAY_RULE(max_length, std::size_t count, rules().max_length = count)
SLIPWAY_RULE(min_items, std::size_t count, rules().min_items = count)
SLIPWAY_RULE(max_items, std::size_t count, rules().max_items = count)
SLIPWAY_RULE(max_properties, std::size_t count, rules().max_properties = count)
SLIPWAY_RULE(pattern, std::string regex, rules().pattern = std::move(regex))
SLIPWAY_RULE(format, std::string name, rules().format = std::move(name))
SLIPWAY_RULE(map_type, std::string type, rules().map_type = std::move(type))
SLIPWAY_RULE(one_of, std::initializer_list<std::string_view> values, rules().one_of.assign(values.begin(), values.end()))

#undef SLIPWAY_RULE

FieldRules& FieldRules::list_type(std::string type, std::vector<std::string> keys) {
  rules().list_type = std::move(type);
  rules().list_map_keys = std::move(keys);
  return *this;
}

// Descriptions.

namespace {

using codec::Kind;

class Drawing {
 public:
  Description draw(const codec::Shape& shape, const codec::Rules& rules, const codec::Rules& item_rules);

 private:
  void draw_scalar(Description& drawn, const codec::Shape& shape);
  void draw_struct(Description& drawn, const codec::Shape& shape);
  std::vector<const codec::Shape*> open_;
};

Description Drawing::draw(const codec::Shape& shape, const codec::Rules& rules, const codec::Rules& item_rules) {
  if (shape.kind == Kind::Optional) return draw(shape.element(), rules, item_rules);
  Description drawn;
  drawn.rules = rules;
  if (shape.kind == Kind::List || shape.kind == Kind::Map) {
    drawn.type = shape.kind == Kind::List ? "array" : "object";
    drawn.element.push_back(draw(shape.element(), item_rules, {}));
  } else if (shape.kind == Kind::Struct) {
    draw_struct(drawn, shape);
  } else {
    draw_scalar(drawn, shape);
  }
  if (!rules.format.empty()) drawn.format = rules.format;
  if (!rules.one_of.empty()) drawn.enum_values = rules.one_of;
  return drawn;
}

void Drawing::draw_scalar(Description& drawn, const codec::Shape& shape) {
  drawn.type = "string";
  if (shape.kind == Kind::Bool) drawn.type = "boolean";
  if (shape.kind == Kind::Integer) {
    drawn.type = "integer";
    drawn.format = shape.most > INT32_MAX ? "int64" : "int32";
  }
  if (shape.kind == Kind::Double) drawn.type = "number", drawn.format = "double";
  if (shape.kind == Kind::Time) drawn.format = "date-time";
  if (shape.kind == Kind::Duration) drawn.format = "duration";
  for (const auto& [number, name] : shape.names) drawn.enum_values.push_back(name);
  if (shape.kind == Kind::Any) {
    const bool object = drawn.rules.any_object || drawn.rules.embedded_resource;
    drawn.type = object ? "object" : "";
    drawn.preserve_unknown = !drawn.rules.int_or_string;
  }
}

void Drawing::draw_struct(Description& drawn, const codec::Shape& shape) {
  drawn.type = "object";
  drawn.type_doc = shape.fields.doc;
  drawn.preserve_unknown = shape.fields.ignores_unknown;
  if (std::ranges::find(open_, &shape) != open_.end()) {
    drawn.preserve_unknown = true;
    return;
  }
  open_.push_back(&shape);
  for (const codec::Field& one : shape.fields.fields) {
    Description member = draw(one.shape(), one.rules, one.item_rules);
    member.name = one.name;
    member.doc = one.doc;
    if (one.rules.has_default) member.default_value = one.fresh;
    drawn.fields.push_back(std::move(member));
  }
  open_.pop_back();
}

}  // namespace

Description describe_shape(const codec::Shape& shape) {
  Description drawn = Drawing().draw(shape, {}, {});
  drawn.doc = drawn.type_doc;
  return drawn;
}

}  // namespace slipway::json
