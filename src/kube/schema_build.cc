#include "kube/schema_build.h"

#include <re2/re2.h>

#include <array>

#include "kube/format.h"

namespace slipway::kube {
namespace {

SchemaNode::Type type_named(std::string_view name) {
  if (name == "object") return SchemaNode::Type::Object;
  if (name == "array") return SchemaNode::Type::Array;
  if (name == "string") return SchemaNode::Type::String;
  if (name == "integer") return SchemaNode::Type::Integer;
  if (name == "number") return SchemaNode::Type::Number;
  if (name == "boolean") return SchemaNode::Type::Boolean;
  return SchemaNode::Type::Any;
}

std::optional<double> number_at(const json::Value& schema, std::string_view key) {
  const json::Value& value = schema[key];
  return value.is_number() ? std::optional(value.as_double()) : std::nullopt;
}

std::optional<std::int64_t> count_at(const json::Value& schema, std::string_view key) {
  const json::Value& value = schema[key];
  return value.is_number() ? std::optional(value.as_int()) : std::nullopt;
}

std::vector<std::string> strings_at(const json::Value& schema, std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& item : schema[key].items()) out.push_back(item.str());
  return out;
}

/// Most nodes have no checks: look before making any.
bool has_checks(const json::Value& schema) {
  constexpr std::array kKeys{"minimum", "maximum", "multipleOf",    "minLength",     "maxLength", "minItems", "maxItems",
                             "pattern", "enum",    "minProperties", "maxProperties", "format",    "allOf",    "anyOf",
                             "oneOf",   "not"};
  for (const auto [key, value] : schema.members()) {
    if (std::ranges::find(kKeys, key) != kKeys.end()) return true;
  }
  return false;
}

void set_property(SchemaNode& node, std::string_view name, const SchemaNode* child) {
  for (SchemaNode::Property& one : node.properties) {
    if (one.name == name) {
      one.node = child;
      return;
    }
  }
  node.properties.push_back({std::string(name), child});
}

SchemaNode::StoredForm stored_form_of(const json::Value& schema, SchemaNode::StoredForm inherited) {
  using enum SchemaNode::StoredForm;
  const std::string_view format = schema["format"].as_string();
  if (format == "date-time") return schema["x-slipway-micro"].as_bool() ? MicroTime : Time;
  return format == "quantity" ? Quantity : inherited;
}

}  // namespace

const SchemaNode* SchemaBuilder::build(const json::Value& schema) {
  if (schema.is_null()) return nullptr;
  if (const json::Value* reference = schema.find("$ref"); reference != nullptr && resolve_ && schema.size() == 1) {
    return resolve_(reference->as_string());
  }
  SchemaNode* node = arena_.add();
  fill(*node, schema);
  return node;
}

const SchemaNode* SchemaBuilder::build_resource(const json::Value& schema) {
  implies_object_fields_ = true;
  SchemaNode* node = arena_.add();
  fill(*node, schema);
  if (!node->is_embedded_resource) imply_object_fields(*node, schema);
  implies_object_fields_ = false;
  return node;
}

void SchemaBuilder::fill(SchemaNode& node, const json::Value& schema) {
  if (const json::Value* reference = schema.find("$ref"); reference != nullptr && resolve_) {
    // Facts beside a reference (a default, list keys) are laid over a copy of what it names.
    if (const SchemaNode* named = resolve_(reference->as_string())) node = *named;
  }
  fill_structure(node, schema);
  fill_extensions(node, schema);
  if (resolve_) node.stored_form = stored_form_of(schema, node.stored_form);
  if (has_checks(schema)) fill_checks(node, schema);
  if (!node.is_embedded_resource) return;
  if (implies_object_fields_) {
    imply_object_fields(node, schema);
  } else {
    std::erase_if(node.properties, [](const SchemaNode::Property& one) { return is_object_field(one.name); });
  }
}

void SchemaBuilder::fill_structure(SchemaNode& node, const json::Value& schema) {
  if (schema.has("type")) node.type = type_named(schema["type"].as_string());
  node.may_repeat = resolve_ != nullptr;
  if (schema.has("nullable")) node.is_nullable = schema["nullable"].as_bool();
  if (const json::Value* value = schema.find("default"); value != nullptr && !value->is_null()) {
    node.has_default = true;
    node.default_value = *value;
  }
  if (schema.has("required")) node.required = strings_at(schema, "required");
  if (const json::Value* items = schema.find("items")) node.items = build(*items);
  if (const json::Value* additional = schema.find("additionalProperties")) {
    if (additional->is_bool()) {
      node.has_bool_additional = true;
    } else {
      node.additional_properties = build(*additional);
    }
  }
  if (const json::Value* properties = schema.find("properties")) {
    node.properties.reserve(properties->size());
    for (const auto [name, property] : properties->members()) node.properties.push_back({std::string(name), build(property)});
    node.sort_properties();
  }
}

void SchemaBuilder::fill_extensions(SchemaNode& node, const json::Value& schema) {
  for (const auto [key, value] : schema.members()) {
    if (!key.starts_with("x-")) continue;
    if (key == "x-kubernetes-preserve-unknown-fields") node.preserves_unknown_fields = value.as_bool();
    if (key == "x-kubernetes-int-or-string") node.is_int_or_string = value.as_bool();
    if (key == "x-kubernetes-embedded-resource") node.is_embedded_resource = value.as_bool();
    if (key == "x-kubernetes-list-map-keys") node.list_map_keys = strings_at(schema, key);
    if (key == "x-kubernetes-map-type" && value.as_string() == "atomic") node.map_type = SchemaNode::MapType::Atomic;
    if (key == "x-kubernetes-list-type") {
      node.list_type = value.as_string() == "set"   ? SchemaNode::ListType::Set
                       : value.as_string() == "map" ? SchemaNode::ListType::Map
                                                    : SchemaNode::ListType::Atomic;
    }
    if (key == "x-slipway-empty-is-absent") node.empty_is_absent = value.as_bool();
    if (key == "x-slipway-omits-zero") node.omits_zero = resolve_ != nullptr && value.as_bool();
    if (key == "x-kubernetes-patch-merge-key") node.patch_merge_key = value.str();
    if (key == "x-kubernetes-patch-strategy") {
      node.patch_merges = value.as_string().find("merge") != std::string_view::npos;
      node.patch_retains_keys = value.as_string().find("retainKeys") != std::string_view::npos;
      node.patch_replaces = value.as_string().find("replace") != std::string_view::npos;
    }
  }
}

void SchemaBuilder::fill_checks(SchemaNode& node, const json::Value& schema) {
  auto checks = std::make_shared<SchemaChecks>();
  checks->minimum = number_at(schema, "minimum");
  checks->maximum = number_at(schema, "maximum");
  checks->is_minimum_exclusive = schema["exclusiveMinimum"].as_bool();
  checks->is_maximum_exclusive = schema["exclusiveMaximum"].as_bool();
  checks->multiple_of = number_at(schema, "multipleOf");
  checks->min_length = count_at(schema, "minLength");
  checks->max_length = count_at(schema, "maxLength");
  checks->min_items = count_at(schema, "minItems");
  checks->max_items = count_at(schema, "maxItems");
  checks->min_properties = count_at(schema, "minProperties");
  checks->max_properties = count_at(schema, "maxProperties");
  for (const json::Value& one : schema["enum"].items()) checks->enumeration.push_back(one);
  const std::string_view format = schema["format"].as_string();
  if (format == "quantity") {
    node.is_quantity = true;
  } else if (is_known_format(format)) {
    checks->format = std::string(format);
  }
  fill_pattern(*checks, schema);
  for (const json::Value& one : schema["allOf"].items()) checks->all_of.push_back(build(one));
  for (const json::Value& one : schema["anyOf"].items()) checks->any_of.push_back(build(one));
  for (const json::Value& one : schema["oneOf"].items()) checks->one_of.push_back(build(one));
  checks->not_schema = build(schema["not"]);
  node.checks = std::move(checks);
}

void SchemaBuilder::fill_pattern(SchemaChecks& checks, const json::Value& schema) {
  checks.pattern = schema["pattern"].str();
  if (checks.pattern.empty()) return;
  RE2::Options options;
  options.set_log_errors(false);
  auto compiled = std::make_shared<RE2>(checks.pattern, options);
  if (compiled->ok()) {
    checks.compiled_pattern = std::move(compiled);
  } else if (bad_pattern_.empty()) {
    bad_pattern_ = checks.pattern;
  }
}

void SchemaBuilder::imply_object_fields(SchemaNode& node, const json::Value& schema) {
  const json::Value& declared = schema["properties"];
  const auto imply_string = [&](std::string_view name) {
    if (declared.has(name)) return;
    SchemaNode* text = arena_.add();
    text->type = SchemaNode::Type::String;
    set_property(node, name, text);
  };
  imply_string("apiVersion");
  imply_string("kind");
  const SchemaNode* meta = &object_meta_node();
  if (const json::Value& rules = declared["metadata"]["properties"]; !rules.empty()) {
    // A CRD may narrow metadata.name and metadata.generateName; everything else stays ObjectMeta.
    SchemaNode* narrowed = arena_.add();
    *narrowed = *meta;
    for (const auto [name, rule] : rules.members()) set_property(*narrowed, name, build(rule));
    narrowed->sort_properties();
    meta = narrowed;
  }
  set_property(node, "metadata", meta);
  node.sort_properties();
}

}  // namespace slipway::kube
