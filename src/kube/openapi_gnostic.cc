// The messages of gnostic's openapi.v2 as tables: which member of a v2 document goes into which field of which message. Only
// what openapi_v2() writes is here.
#include <array>
#include <span>

#include "json/text.h"
#include "kube/openapi.h"
#include "kube/protobuf_wire.h"

namespace slipway::kube {
namespace {

using json::Value;

struct Shape;

enum class Form : std::uint8_t {
  Text,
  Texts,
  Flag,
  Number,
  Real,          // a double
  Any,           // message Any {2 yaml}
  Anys,          // repeated
  Message,       // `wrap`, when not 0, is the field of a message in between
  Named,         // a message with entries {1 name, 2 value} in field `entries`, from the members of an object
  Type,          // TypeItem {1 value, repeated}
  SchemaOrFlag,  // AdditionalPropertiesItem {1 schema | 2 boolean}
  Parameters,    // repeated ParametersItem
};

struct Member {
  std::string_view name;
  std::uint32_t number;
  Form form;
  const Shape* shape = nullptr;
  std::uint32_t wrap = 0;
  std::uint32_t entries = 0;
};

struct Shape {
  std::span<const Member> members;
  std::uint32_t extensions;  // the field for members that begin with "x-"
};

extern const Shape kSchema;

constexpr std::array kSchemaMembers{
    Member{"$ref", 1, Form::Text},
    Member{"format", 2, Form::Text},
    Member{"title", 3, Form::Text},
    Member{"description", 4, Form::Text},
    Member{"default", 5, Form::Any},
    Member{"multipleOf", 6, Form::Real},
    Member{"maximum", 7, Form::Real},
    Member{"exclusiveMaximum", 8, Form::Flag},
    Member{"minimum", 9, Form::Real},
    Member{"exclusiveMinimum", 10, Form::Flag},
    Member{"maxLength", 11, Form::Number},
    Member{"minLength", 12, Form::Number},
    Member{"pattern", 13, Form::Text},
    Member{"maxItems", 14, Form::Number},
    Member{"minItems", 15, Form::Number},
    Member{"uniqueItems", 16, Form::Flag},
    Member{"maxProperties", 17, Form::Number},
    Member{"minProperties", 18, Form::Number},
    Member{"required", 19, Form::Texts},
    Member{"enum", 20, Form::Anys},
    Member{"additionalProperties", 21, Form::SchemaOrFlag},
    Member{"type", 22, Form::Type},
    Member{"items", 23, Form::Message, &kSchema, 1},
    Member{"properties", 25, Form::Named, &kSchema, 0, 1},
};
constexpr Shape kSchema{kSchemaMembers, 31};

constexpr std::array kQueryMembers{
    Member{"required", 1, Form::Flag}, Member{"in", 2, Form::Text},   Member{"description", 3, Form::Text},
    Member{"name", 4, Form::Text},     Member{"type", 6, Form::Text}, Member{"uniqueItems", 20, Form::Flag},
};
constexpr Shape kQuery{kQueryMembers, 23};
constexpr std::array kPathParameterMembers{
    Member{"required", 1, Form::Flag}, Member{"in", 2, Form::Text},   Member{"description", 3, Form::Text},
    Member{"name", 4, Form::Text},     Member{"type", 5, Form::Text}, Member{"uniqueItems", 19, Form::Flag},
};
constexpr Shape kPathParameter{kPathParameterMembers, 22};
constexpr std::array kBodyMembers{
    Member{"description", 1, Form::Text},
    Member{"name", 2, Form::Text},
    Member{"in", 3, Form::Text},
    Member{"required", 4, Form::Flag},
    Member{"schema", 5, Form::Message, &kSchema},
};
constexpr Shape kBody{kBodyMembers, 6};

constexpr std::array kResponseMembers{
    Member{"description", 1, Form::Text},
    Member{"schema", 2, Form::Message, &kSchema, 1},
};
constexpr Shape kResponse{kResponseMembers, 5};

constexpr std::array kOperationMembers{
    Member{"tags", 1, Form::Texts},
    Member{"description", 3, Form::Text},
    Member{"operationId", 5, Form::Text},
    Member{"produces", 6, Form::Texts},
    Member{"consumes", 7, Form::Texts},
    Member{"parameters", 8, Form::Parameters},
    Member{"responses", 9, Form::Named, &kResponse, 1, 1},
};
constexpr Shape kOperation{kOperationMembers, 13};

constexpr std::array kPathItemMembers{
    Member{"get", 2, Form::Message, &kOperation},   Member{"put", 3, Form::Message, &kOperation},
    Member{"post", 4, Form::Message, &kOperation},  Member{"delete", 5, Form::Message, &kOperation},
    Member{"patch", 8, Form::Message, &kOperation}, Member{"parameters", 9, Form::Parameters},
};
constexpr Shape kPathItem{kPathItemMembers, 10};

constexpr std::array kInfoMembers{Member{"title", 1, Form::Text}, Member{"version", 2, Form::Text}};
constexpr Shape kInfo{kInfoMembers, 7};

constexpr std::array kDocumentMembers{
    Member{"swagger", 1, Form::Text},
    Member{"info", 2, Form::Message, &kInfo},
    Member{"paths", 8, Form::Named, &kPathItem, 0, 2},
    Member{"definitions", 9, Form::Named, &kSchema, 0, 1},
};
constexpr Shape kDocument{kDocumentMembers, 16};

std::string message_of(const Value& value, const Shape& shape);

std::string any_of(const Value& value) {
  std::string out;
  write_bytes_field(out, 2, json::print(value));  // JSON is YAML
  return out;
}

std::string wrapped(std::string inner, std::uint32_t number) {
  if (number == 0) return inner;
  std::string out;
  write_bytes_field(out, number, inner);
  return out;
}

std::string named(std::string_view name, std::string_view value) {
  std::string out;
  write_bytes_field(out, 1, name);
  write_bytes_field(out, 2, value);
  return out;
}

/// ParametersItem {1 Parameter {1 body | 2 NonBodyParameter {3 query | 4 path}}}.
std::string parameter_of(const Value& value) {
  const std::string_view place = value["in"].as_string();
  if (place == "body") return wrapped(wrapped(message_of(value, kBody), 1), 1);
  const bool is_query = place == "query";
  const std::string inner = wrapped(message_of(value, is_query ? kQuery : kPathParameter), is_query ? 3 : 4);
  return wrapped(wrapped(inner, 2), 1);
}

std::string entries_of(const Value& object, const Member& member) {
  std::string out;
  for (const auto [key, value] : object.members()) {
    write_bytes_field(out, member.entries, named(key, wrapped(message_of(value, *member.shape), member.wrap)));
  }
  return out;
}

void write_member(std::string& out, const Member& member, const Value& value) {
  switch (member.form) {
    case Form::Text:
      return write_bytes_field(out, member.number, value.as_string());
    case Form::Texts:
      for (const Value& item : value.items()) write_bytes_field(out, member.number, item.as_string());
      return;
    case Form::Flag:
      return write_varint_field(out, member.number, value.as_bool() ? 1 : 0);
    case Form::Number:
      return write_varint_field(out, member.number, static_cast<std::uint64_t>(value.as_int()));
    case Form::Real:
      return write_double_field(out, member.number, value.as_double());
    case Form::Any:
      return write_bytes_field(out, member.number, any_of(value));
    case Form::Anys:
      for (const Value& item : value.items()) write_bytes_field(out, member.number, any_of(item));
      return;
    case Form::Message:
      return write_bytes_field(out, member.number, wrapped(message_of(value, *member.shape), member.wrap));
    case Form::Named:
      return write_bytes_field(out, member.number, entries_of(value, member));
    case Form::Type: {
      std::string type;
      write_bytes_field(type, 1, value.as_string());
      return write_bytes_field(out, member.number, type);
    }
    case Form::SchemaOrFlag: {
      std::string item;
      if (value.is_bool()) write_varint_field(item, 2, value.as_bool() ? 1 : 0);
      return write_bytes_field(out, member.number, value.is_bool() ? item : wrapped(message_of(value, kSchema), 1));
    }
    case Form::Parameters:
      for (const Value& item : value.items()) write_bytes_field(out, member.number, parameter_of(item));
      return;
  }
}

std::string message_of(const Value& value, const Shape& shape) {
  std::string out;
  for (const Member& member : shape.members) {
    if (const Value* found = value.find(member.name)) write_member(out, member, *found);
  }
  for (const auto [key, extension] : value.members()) {
    if (key.starts_with("x-")) write_bytes_field(out, shape.extensions, named(key, any_of(extension)));
  }
  return out;
}

}  // namespace

std::string openapi_v2_protobuf(const Value& document) { return message_of(document, kDocument); }

}  // namespace slipway::kube
