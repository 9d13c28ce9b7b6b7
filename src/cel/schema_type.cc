#include "cel/schema_type.h"

#include <algorithm>
#include <set>

namespace slipway::cel {

std::uint64_t min_json_bytes(const Type& type) {
  if (type.kind == Kind::Bool) return 4;
  return type.kind == Kind::Int || type.kind == Kind::Double ? 1 : type.min_json_bytes;
}

namespace {

/// What an object that has no limits of its own can hold at the most is what fits into a request.
constexpr std::uint64_t kMaxText = kMaxRequestBytes - 2;
constexpr std::uint64_t kMaxMoment = 32;  // 9999-12-31T23:59:59.999999999Z in quotes
constexpr std::uint64_t kDate = 12;

std::uint64_t limit_of(const json::Value& schema, const char* limit, std::uint64_t otherwise) {
  const json::Value& said = schema[limit];
  return said.is_number() ? static_cast<std::uint64_t>(std::max<std::int64_t>(said.as_int(), 0)) : otherwise;
}

TypePtr sized(Kind kind, std::uint64_t min_json_bytes, std::uint64_t max_size) {
  return std::make_shared<Type>(Type{.kind = kind, .max_size = max_size, .min_json_bytes = min_json_bytes});
}

/// Of characters with up to four bytes each.
std::uint64_t max_text(const json::Value& schema) {
  if (schema["maxLength"].is_number()) return 4 * std::min(limit_of(schema, "maxLength", 0), kMaxRequestBytes);
  std::uint64_t longest = 0;
  for (const json::Value& one : schema["enum"].items()) longest = std::max<std::uint64_t>(longest, one.as_string().size());
  return schema["enum"].empty() ? kMaxText : longest;
}

TypePtr array_type(const json::Value& schema) {
  const TypePtr item = schema_type(schema["items"], schema["items"]["x-kubernetes-embedded-resource"].as_bool());
  if (item == nullptr) return nullptr;
  Type type{.kind = Kind::List, .params = {item}};
  const std::string_view list_type = schema["x-kubernetes-list-type"].as_string();
  if (list_type == "set") type.identity = Identity::Set;
  if (list_type == "map") type.identity = Identity::Keys;
  for (const json::Value& key : schema["x-kubernetes-list-map-keys"].items()) type.keys.push_back(key.str());
  type.max_size = limit_of(schema, "maxItems", kMaxText / (min_json_bytes(*item) + 1));
  type.min_json_bytes = 2;
  return std::make_shared<Type>(std::move(type));
}

void add_field(Type& type, std::string_view name, TypePtr of) {
  const std::string reached = escape(name);
  if (of != nullptr && !reached.empty()) type.fields.insert_or_assign(reached, Field{std::string(name), std::move(of)});
}

/// Whether the schema itself declares what a rule may read of every resource; then it may read more of the metadata.
bool has_metadata(const json::Value& schema) {
  const json::Value& properties = schema["properties"];
  const json::Value& metadata = properties["metadata"];
  const auto is_text = [](const json::Value& property) { return property["type"].as_string() == "string"; };
  return is_text(properties["apiVersion"]) && is_text(properties["kind"]) && metadata["type"].as_string() == "object" &&
         is_text(metadata["properties"]["name"]) && is_text(metadata["properties"]["generateName"]);
}

TypePtr object_type(const json::Value& schema, bool is_resource) {
  if (const json::Value& values = schema["additionalProperties"]; values.is_object() && !is_resource) {
    TypePtr value = schema_type(values, values["x-kubernetes-embedded-resource"].as_bool());
    if (value == nullptr) return nullptr;
    const std::uint64_t most = limit_of(schema, "maxProperties", kMaxText / (min_json_bytes(*value) + 6));
    return std::make_shared<Type>(
        Type{.kind = Kind::Map, .params = {type_of(Kind::String), std::move(value)}, .max_size = most, .min_json_bytes = 2});
  }
  Type type{.kind = Kind::Object, .name = "object", .min_json_bytes = 2};
  std::set<std::string_view> required;
  for (const json::Value& name : schema["required"].items()) required.insert(name.as_string());
  for (const auto& [name, property] : schema["properties"].members()) {
    TypePtr of = schema_type(property, property["x-kubernetes-embedded-resource"].as_bool());
    const bool is_required = required.contains(name);
    if (of != nullptr && is_required && !property.has("default")) type.min_json_bytes += name.size() + min_json_bytes(*of) + 4;
    add_field(type, name, std::move(of));
  }
  if (is_resource && !has_metadata(schema)) {
    Type metadata{.kind = Kind::Object, .name = "object"};
    add_field(metadata, "name", sized(Kind::String, 2, kMaxText));
    add_field(metadata, "generateName", sized(Kind::String, 2, kMaxText));
    add_field(type, "apiVersion", sized(Kind::String, 2, kMaxText));
    add_field(type, "kind", sized(Kind::String, 2, kMaxText));
    add_field(type, "metadata", std::make_shared<Type>(std::move(metadata)));
  }
  return std::make_shared<Type>(std::move(type));
}

}  // namespace

TypePtr schema_type(const json::Value& schema, bool is_resource) {
  if (schema["x-kubernetes-int-or-string"].as_bool()) {
    return sized(Kind::Dyn, 1, schema["maxLength"].is_number() ? max_text(schema) : kMaxText);
  }
  const std::string_view type = is_resource ? "object" : schema["type"].as_string();
  const std::string_view format = schema["format"].as_string();
  if (type == "array") return array_type(schema);
  if (type == "object") return object_type(schema, is_resource);
  if (type == "boolean") return type_of(Kind::Bool);
  if (type == "number") return type_of(Kind::Double);
  if (type == "integer") return type_of(Kind::Int);
  if (type != "string") return nullptr;
  if (format == "byte") return sized(Kind::Bytes, 2, limit_of(schema, "maxLength", kMaxText));
  if (format == "duration") return sized(Kind::Duration, 3, kMaxMoment);
  if (format == "date") return sized(Kind::Timestamp, kDate, kDate);
  if (format == "date-time") return sized(Kind::Timestamp, 21, kMaxMoment);
  return sized(Kind::String, 2, max_text(schema));
}

}  // namespace slipway::cel
