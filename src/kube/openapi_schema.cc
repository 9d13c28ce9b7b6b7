#include "kube/openapi_schema.h"

#include <algorithm>
#include <array>
#include <vector>

#include "json/text.h"
#include "kube/builtin_rows.h"
#include "kube/protobuf_table.h"

namespace slipway::kube {
namespace {

using json::Value;

/// Types that are no object of fields, as they are in v2 and v3.
struct FixedType {
  std::string_view name;
  std::string_view v2;
  std::string_view v3;
};
constexpr std::string_view kTime = R"({"type":"string","format":"date-time"})";
constexpr std::string_view kAnyObject = R"({"type":"object"})";
constexpr std::array kFixedTypes{
    FixedType{"meta.v1.Time", kTime, kTime},
    FixedType{"meta.v1.MicroTime", kTime, kTime},
    FixedType{"meta.v1.FieldsV1", kAnyObject, kAnyObject},
    FixedType{"meta.v1.Patch", kAnyObject, kAnyObject},
    FixedType{"runtime.RawExtension", kAnyObject, kAnyObject},
    FixedType{"api.resource.Quantity", R"({"type":"string"})", R"({"oneOf":[{"type":"string"},{"type":"number"}]})"},
    FixedType{"util.intstr.IntOrString", R"({"type":"string","format":"int-or-string"})",
              R"({"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]})"},
};

/// What every object has.
struct ObjectMember {
  std::string_view name;
  std::string_view description;
};
constexpr std::array kObjectMembers{
    ObjectMember{"apiVersion", "Group and version of the API in which this object is written."},
    ObjectMember{"kind", "The kind of this object."},
    ObjectMember{"metadata", "Name, labels, annotations and what the server keeps about the object."},
    ObjectMember{"spec", "What is wanted."},
    ObjectMember{"status", "What was observed last. Written by controllers."},
};

Value parsed(std::string_view text) { return json::parse(text).value(); }

/// The type that a node of the built-in tables stands for, or "" when it is spelled out.
std::string_view type_named_by(const Value& schema) {
  if (schema.has("$ref")) return schema["$ref"].as_string();
  if (schema["format"].as_string() == "quantity") return "api.resource.Quantity";
  if (schema["x-kubernetes-int-or-string"].as_bool()) return "util.intstr.IntOrString";
  const std::string_view type = schema["type"].as_string();
  if (type == "string" && schema["format"].as_string() == "date-time") return "meta.v1.Time";
  const bool is_raw = type == "object" && schema["x-kubernetes-preserve-unknown-fields"].as_bool() && !schema.has("properties");
  return is_raw ? "runtime.RawExtension" : "";
}

bool is_part_of_named_type(std::string_view key) {
  return key == "$ref" || key == "type" || key == "format" || key == "nullable" || key == "x-kubernetes-int-or-string" ||
         key == "x-kubernetes-preserve-unknown-fields";
}

Value scalar_schema(ProtoType type) {
  switch (type) {
    case ProtoType::String:
      return json::object({{"type", "string"}});
    case ProtoType::Bool:
      return json::object({{"type", "boolean"}});
    case ProtoType::Int32:
      return json::object({{"type", "integer"}, {"format", "int32"}});
    case ProtoType::Int64:
      return json::object({{"type", "integer"}, {"format", "int64"}});
    case ProtoType::Double:
      return json::object({{"type", "number"}, {"format", "double"}});
    case ProtoType::Bytes:
      return json::object({{"type", "string"}, {"format", "byte"}});
    case ProtoType::Message:
      break;
  }
  return parsed(kAnyObject);
}

/// What a structural schema carries; examples, external documents and the like are no part of it.
bool is_structural(std::string_view key) {
  constexpr std::array<std::string_view, 30> kKeys{"type",
                                                   "format",
                                                   "title",
                                                   "description",
                                                   "default",
                                                   "nullable",
                                                   "properties",
                                                   "items",
                                                   "required",
                                                   "enum",
                                                   "additionalProperties",
                                                   "pattern",
                                                   "minimum",
                                                   "maximum",
                                                   "exclusiveMinimum",
                                                   "exclusiveMaximum",
                                                   "multipleOf",
                                                   "minLength",
                                                   "maxLength",
                                                   "minItems",
                                                   "maxItems",
                                                   "uniqueItems",
                                                   "minProperties",
                                                   "maxProperties",
                                                   "allOf",
                                                   "anyOf",
                                                   "oneOf",
                                                   "not"};
  return key.starts_with("x-kubernetes-") || std::ranges::find(kKeys, key) != kKeys.end();
}

/// What v2 cannot say, or kubectl <= 1.28 misreads: it checks objects by v2 itself and takes what is not declared for a
/// mistake. Such nodes lose their structure and become any value.
bool is_left_out_of_v2(std::string_view key, const Value& schema) {
  const bool is_nullable = schema["nullable"].as_bool();
  const bool is_open = schema["x-kubernetes-preserve-unknown-fields"].as_bool();
  const std::string_view type = schema["type"].as_string();
  if (key == "nullable" || key == "allOf" || key == "anyOf" || key == "oneOf" || key == "not") return true;
  if (key == "properties" || key == "items") return is_nullable || is_open;
  if (key == "additionalProperties") return !schema["additionalProperties"].is_object();
  if (key != "type") return false;
  return is_nullable || (is_open && type == "object") || (type == "array" && (is_open || !schema.has("items")));
}

/// The required fields of a schema in v2: a field that may be null need not be there.
Value required_in_v2(const Value& schema) {
  const Value& values = schema["additionalProperties"];
  json::ArrayBuilder out;
  for (const Value& name : schema["required"].items()) {
    if (!schema["properties"][name.as_string()]["nullable"].as_bool() && !values["nullable"].as_bool()) out.add(name);
  }
  return out.empty() ? Value() : out.build();
}

/// The tables spell special types out, and some look alike (Time and MicroTime, RawExtension and FieldsV1): the protobuf table
/// tells which it is.
Value with_exact_types(Value table, std::string_view short_name) {
  const ProtoMessage* message = protobuf_message(short_name);
  if (message == nullptr) return table;
  for (const ProtoField& field : message->fields) {
    const Value& property = table["properties"][field.name];
    const bool is_named = field.message != nullptr && field.shape == ProtoField::Shape::Single;
    if (!is_named || property.has("$ref") || type_named_by(property).empty()) continue;
    Value exact = json::object({{"$ref", field.message->name}});
    for (const auto [key, value] : property.members()) {
      if (!is_part_of_named_type(key)) exact = exact.with(key, value);
    }
    table = table.with_path({"properties", field.name}, exact);
  }
  return table;
}

std::string custom_name(const GroupVersionKind& kind) {
  std::string reversed;
  for (std::string_view rest = kind.group; !rest.empty();) {
    const std::size_t dot = rest.rfind('.');
    reversed += std::string(rest.substr(dot == rest.npos ? 0 : dot + 1)) + ".";
    rest = dot == rest.npos ? "" : rest.substr(0, dot);
  }
  return reversed + kind.version + "." + kind.kind;
}

}  // namespace

std::string openapi_long_name(std::string_view short_name) {
  const auto in = [&](std::string_view package) { return short_name.starts_with(package); };
  if (in("meta.")) return "io.k8s.apimachinery.pkg.apis." + std::string(short_name);
  if (in("api.") || in("util.") || in("runtime.")) return "io.k8s.apimachinery.pkg." + std::string(short_name);
  if (in("apiextensions.")) return "io.k8s.apiextensions-apiserver.pkg.apis." + std::string(short_name);
  return "io.k8s.api." + std::string(short_name);
}

Value openapi_kind(const GroupVersionKind& kind) {
  return json::object({{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}});
}

OpenApiSchemas::OpenApiSchemas(OpenApiDialect dialect, Value tables) : dialect_(dialect), tables_(std::move(tables)) {
  for (const BuiltinRow& row : builtin_rows()) {
    kinds_[std::string(row.schema)] = {std::string(row.group), std::string(row.version), std::string(row.kind)};
  }
  for (const std::string kind : {"Status", "DeleteOptions"}) kinds_["meta.v1." + kind] = {"", "v1", kind};
}

Value OpenApiSchemas::reference_to(const std::string& long_name) const {
  const std::string_view place = dialect_ == OpenApiDialect::V2 ? "#/definitions/" : "#/components/schemas/";
  return json::object({{"$ref", std::string(place) + long_name}});
}

void OpenApiSchemas::reach(const std::string& short_name) {
  if (seen_.insert(short_name).second) pending_.insert(short_name);
}

Value OpenApiSchemas::reference(std::string_view short_name) {
  reach(std::string(short_name));
  return reference_to(openapi_long_name(short_name));
}

Value OpenApiSchemas::built_in(const GroupVersionKind& kind) {
  const std::string name = protobuf_name(kind);
  kinds_[name] = kind;
  return reference(name);
}

Value OpenApiSchemas::custom(const GroupVersionKind& kind, const Value& schema) {
  const std::string name = custom_name(kind);
  if (!done_.contains(name)) {
    // Without a word about fields nothing may be declared either: clients would refuse all others.
    const bool is_open = schema["x-kubernetes-preserve-unknown-fields"].as_bool();
    const bool is_any = !schema.is_object() || (is_open && dialect_ == OpenApiDialect::V2);
    const Value body = is_any ? parsed(kAnyObject) : with_object_fields(custom_node(schema), true);
    done_[name] = body.with("x-kubernetes-group-version-kind", json::array({openapi_kind(kind)}));
  }
  return reference_to(name);
}

Value OpenApiSchemas::list_of(const GroupVersionKind& kind, const std::string& list_kind, const Value& item) {
  const std::string full = item["$ref"].str();
  const std::string package = full.substr(full.rfind('/') + 1);
  const std::string name = package.substr(0, package.rfind('.') + 1) + list_kind;
  if (!done_.contains(name)) {
    const Value properties = json::object({{"apiVersion", json::object({{"type", "string"}})},
                                           {"items", json::object({{"type", "array"}, {"items", item}})},
                                           {"kind", json::object({{"type", "string"}})},
                                           {"metadata", reference("meta.v1.ListMeta")}});
    const GroupVersionKind list{kind.group, kind.version, list_kind};
    done_[name] = json::object({{"type", "object"},
                                {"required", json::array({"items"})},
                                {"properties", properties},
                                {"x-kubernetes-group-version-kind", json::array({openapi_kind(list)})}});
  }
  return reference_to(name);
}

Value OpenApiSchemas::build() {
  while (!pending_.empty()) {
    const std::string name = *pending_.begin();
    pending_.erase(pending_.begin());
    done_[openapi_long_name(name)] = type(name);
  }
  json::ObjectBuilder out(done_.size());
  for (const auto& [name, schema] : done_) out.add(name, schema);
  return out.build();
}

Value OpenApiSchemas::type(const std::string& short_name) {
  const auto fixed = std::ranges::find(kFixedTypes, short_name, &FixedType::name);
  if (fixed != kFixedTypes.end()) return parsed(dialect_ == OpenApiDialect::V2 ? fixed->v2 : fixed->v3);
  const Value* table = tables_.find(short_name);
  const auto kind = kinds_.find(short_name);
  if (table == nullptr) {
    const Value made = message_type(short_name);
    return kind == kinds_.end() ? made
                                : made.with("x-kubernetes-group-version-kind", json::array({openapi_kind(kind->second)}));
  }
  Value described = with_exact_types(*table, short_name);
  if (kind == kinds_.end()) return converted(described);
  for (const auto& [name, description] : kObjectMembers) {
    const Value& member = (*table)["properties"][name];
    if (!member.is_null()) described = described.with_path({"properties", name, "description"}, description);
  }
  return converted(described).with("x-kubernetes-group-version-kind", json::array({openapi_kind(kind->second)}));
}

/// A type that only the protobuf table knows: its fields and their types.
Value OpenApiSchemas::message_type(std::string_view short_name) {
  const ProtoMessage* message = protobuf_message(short_name);
  if (message == nullptr || (message->fields.empty() && !kinds_.contains(short_name))) return parsed(kAnyObject);
  std::map<std::string, Value> properties;
  if (kinds_.contains(short_name)) {
    properties["apiVersion"] = properties["kind"] = json::object({{"type", "string"}});
  }
  for (const ProtoField& field : message->fields) {
    const Value one = field.message == nullptr ? scalar_schema(field.type) : reference(field.message->name);
    Value& out = properties[std::string(field.name)];
    out = one;
    if (field.shape == ProtoField::Shape::Repeated) out = json::object({{"type", "array"}, {"items", one}});
    if (field.shape == ProtoField::Shape::Map) out = json::object({{"type", "object"}, {"additionalProperties", one}});
  }
  json::ObjectBuilder members;
  for (const auto& [name, schema] : properties) members.add(name, schema);
  return json::object({{"type", "object"}, {"properties", members.build()}});
}

/// From the dialect of the built-in tables.
Value OpenApiSchemas::converted(const Value& schema) {
  const std::string_view named = type_named_by(schema);
  json::ObjectBuilder out;
  for (const auto [key, value] : schema.members()) {
    if (key == "x-slipway-required") out.add("required", value);
    if (key == "x-slipway-format") out.add("format", value);
    if (key.starts_with("x-slipway-") || (!named.empty() && is_part_of_named_type(key))) continue;
    if (key == "required" && schema.has("x-slipway-required")) continue;
    if (key == "properties" && value.empty()) continue;
    if (key == "nullable" && dialect_ == OpenApiDialect::V2) continue;
    if (key == "properties") {
      json::ObjectBuilder properties(value.size());
      for (const auto [name, property] : value.members()) properties.add(name, converted(property));
      out.add(key, properties.build());
    } else {
      out.add(key, key == "items" || key == "additionalProperties" ? converted(value) : value);
    }
  }
  if (named.empty()) return out.build();
  const Value refers = reference(named);
  if (out.empty()) return refers;
  if (dialect_ == OpenApiDialect::V2) return out.add("$ref", refers["$ref"]).build();
  return out.add("allOf", json::array({refers})).build();
}

/// apiVersion, kind and metadata, which custom schemas take for granted.
Value OpenApiSchemas::with_object_fields(const Value& schema, bool is_root) {
  json::ObjectBuilder properties(schema["properties"]);
  for (const auto& [name, description] : std::span(kObjectMembers).first(3)) {
    const Value type = name == "metadata" ? reference("meta.v1.ObjectMeta") : json::object({{"type", "string"}});
    properties.set(name, is_root && name != "metadata" ? type.with("description", description) : type);
  }
  return schema.with("properties", properties.build());
}

Value OpenApiSchemas::custom_node(const Value& schema) {
  const bool is_v2 = dialect_ == OpenApiDialect::V2;
  json::ObjectBuilder out;
  for (const auto [key, value] : schema.members()) {
    if (!is_structural(key) || (is_v2 && is_left_out_of_v2(key, schema))) continue;
    if (key == "properties") {
      json::ObjectBuilder properties(value.size());
      for (const auto [name, property] : value.members()) properties.add(name, custom_node(property));
      if (!value.empty()) out.add(key, properties.build());
    } else if (key == "required" && is_v2) {
      if (const Value required = required_in_v2(schema); !required.is_null()) out.add(key, required);
    } else if (value.is_object() && (key == "items" || key == "additionalProperties")) {
      out.add(key, custom_node(value));
    } else {
      out.add(key, value);
    }
  }
  const Value made = out.build();
  const bool is_any = is_v2 && schema["x-kubernetes-preserve-unknown-fields"].as_bool();
  return made["x-kubernetes-embedded-resource"].as_bool() && !is_any ? with_object_fields(made, false) : made;
}

}  // namespace slipway::kube
