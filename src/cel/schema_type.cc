#include "cel/schema_type.h"

namespace slipway::cel {
namespace {

TypePtr array_type(const json::Value& schema) {
  const TypePtr item = schema_type(schema["items"], schema["items"]["x-kubernetes-embedded-resource"].as_bool());
  if (item == nullptr) return nullptr;
  Type type{.kind = Kind::List, .params = {item}};
  const std::string_view list_type = schema["x-kubernetes-list-type"].as_string();
  if (list_type == "set") type.identity = Identity::Set;
  if (list_type == "map") type.identity = Identity::Keys;
  for (const json::Value& key : schema["x-kubernetes-list-map-keys"].items()) type.keys.push_back(key.str());
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
    return value == nullptr ? nullptr : map_of(type_of(Kind::String), std::move(value));
  }
  Type type{.kind = Kind::Object, .name = "object"};
  for (const auto& [name, property] : schema["properties"].members()) {
    add_field(type, name, schema_type(property, property["x-kubernetes-embedded-resource"].as_bool()));
  }
  if (is_resource && !has_metadata(schema)) {
    Type metadata{.kind = Kind::Object, .name = "object"};
    add_field(metadata, "name", type_of(Kind::String));
    add_field(metadata, "generateName", type_of(Kind::String));
    add_field(type, "apiVersion", type_of(Kind::String));
    add_field(type, "kind", type_of(Kind::String));
    add_field(type, "metadata", std::make_shared<Type>(std::move(metadata)));
  }
  return std::make_shared<Type>(std::move(type));
}

}  // namespace

TypePtr schema_type(const json::Value& schema, bool is_resource) {
  if (schema["x-kubernetes-int-or-string"].as_bool()) return type_of(Kind::Dyn);
  const std::string_view type = is_resource ? "object" : schema["type"].as_string();
  const std::string_view format = schema["format"].as_string();
  if (type == "array") return array_type(schema);
  if (type == "object") return object_type(schema, is_resource);
  if (type == "boolean") return type_of(Kind::Bool);
  if (type == "number") return type_of(Kind::Double);
  if (type == "integer") return type_of(Kind::Int);
  if (type != "string") return nullptr;
  if (format == "byte") return type_of(Kind::Bytes);
  if (format == "duration") return type_of(Kind::Duration);
  if (format == "date" || format == "date-time") return type_of(Kind::Timestamp);
  return type_of(Kind::String);
}

}  // namespace slipway::cel
