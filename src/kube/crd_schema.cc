#include "kube/crd_schema.h"

#include <algorithm>
#include <cmath>

namespace slipway::kube {
namespace {

/// Whole bounds are written as whole numbers.
json::Value number(double value) {
  if (value == std::floor(value) && std::abs(value) < 9e15) return json::Value(static_cast<std::int64_t>(value));
  return json::Value(value);
}

void add_count(json::ObjectBuilder& out, std::string_view key, const std::optional<std::size_t>& count) {
  if (count) out.add(key, static_cast<std::int64_t>(*count));
}

void add_rules(json::ObjectBuilder& out, const json::codec::Rules& rules) {
  if (rules.minimum) out.add("minimum", number(*rules.minimum));
  if (rules.maximum) out.add("maximum", number(*rules.maximum));
  add_count(out, "minLength", rules.min_length);
  add_count(out, "maxLength", rules.max_length);
  add_count(out, "minItems", rules.min_items);
  add_count(out, "maxItems", rules.max_items);
  add_count(out, "maxProperties", rules.max_properties);
  if (!rules.pattern.empty()) out.add("pattern", rules.pattern);
  if (!rules.list_type.empty()) out.add("x-kubernetes-list-type", rules.list_type);
  if (!rules.list_map_keys.empty()) out.add("x-kubernetes-list-map-keys", json::array(rules.list_map_keys));
  if (!rules.map_type.empty()) out.add("x-kubernetes-map-type", rules.map_type);
}

void add_type(json::ObjectBuilder& out, const json::Description& description) {
  const json::codec::Rules& rules = description.rules;
  if (rules.int_or_string) {
    out.add("x-kubernetes-int-or-string", true);
    return;
  }
  const bool holds_anything = rules.any_object || rules.embedded_resource || description.preserve_unknown;
  if (!description.type.empty()) out.add("type", description.type);
  if (!description.format.empty()) out.add("format", description.format);
  if (holds_anything || description.type.empty()) out.add("x-kubernetes-preserve-unknown-fields", true);
  if (rules.embedded_resource) out.add("x-kubernetes-embedded-resource", true);
}

void add_fields(json::ObjectBuilder& out, const json::Description& description) {
  if (description.fields.empty()) return;
  json::ObjectBuilder properties;
  json::ArrayBuilder required;
  for (const json::Description& field : description.fields) {
    properties.add(field.name, open_api_schema(field));
    if (field.rules.required) required.add(field.name);
  }
  out.add("properties", properties.build());
  if (!required.empty()) out.add("required", required.build());
}

json::Value names(const CrdSpec& spec) {
  std::string lower = spec.kind;
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  json::ObjectBuilder out;
  out.add("kind", spec.kind)
      .add("listKind", spec.list_kind.empty() ? spec.kind + "List" : spec.list_kind)
      .add("plural", spec.plural);
  out.add("singular", spec.singular.empty() ? lower : spec.singular);
  if (!spec.short_names.empty()) out.add("shortNames", json::array(spec.short_names));
  if (!spec.categories.empty()) out.add("categories", json::array(spec.categories));
  return out.build();
}

json::Value column(const Column& column) {
  json::ObjectBuilder out;
  out.add("name", column.name).add("type", column.type).add("jsonPath", column.json_path);
  if (!column.format.empty()) out.add("format", column.format);
  if (!column.description.empty()) out.add("description", column.description);
  if (column.priority != 0) out.add("priority", column.priority);
  return out.build();
}

json::Value root_schema(const CrdSpec& spec) {
  json::ObjectBuilder properties;
  properties.add("apiVersion", json::object({{"type", "string"}})).add("kind", json::object({{"type", "string"}}));
  properties.add("metadata", json::object({{"type", "object"}}));
  if (!spec.spec_schema.is_null()) properties.add("spec", spec.spec_schema);
  if (!spec.status_schema.is_null()) properties.add("status", spec.status_schema);
  json::ObjectBuilder out;
  if (!spec.doc.empty()) out.add("description", spec.doc);
  out.add("type", "object").add("properties", properties.build());
  if (!spec.spec_schema.is_null()) out.add("required", json::array({"spec"}));
  return out.build();
}

json::Value scale(const ScalePaths& paths) {
  json::ObjectBuilder out;
  out.add("specReplicasPath", paths.spec_replicas).add("statusReplicasPath", paths.status_replicas);
  if (!paths.label_selector.empty()) out.add("labelSelectorPath", paths.label_selector);
  return out.build();
}

json::Value version(const CrdSpec& spec) {
  json::ObjectBuilder out;
  out.add("name", spec.version).add("served", true).add("storage", true);
  out.add("schema", json::object({{"openAPIV3Schema", root_schema(spec)}}));
  json::ObjectBuilder subresources;
  if (spec.has_status) subresources.add("status", json::Value::empty_object());
  if (spec.scale) subresources.add("scale", scale(*spec.scale));
  if (!subresources.empty()) out.add("subresources", subresources.build());
  if (!spec.columns.empty()) {
    json::ArrayBuilder columns;
    for (const Column& one : spec.columns) columns.add(column(one));
    out.add("additionalPrinterColumns", columns.build());
  }
  if (!spec.selectable_fields.empty()) {
    json::ArrayBuilder fields;
    for (const std::string& one : spec.selectable_fields) fields.add(json::object({{"jsonPath", "." + one}}));
    out.add("selectableFields", fields.build());
  }
  return out.build();
}

}  // namespace

json::Value open_api_schema(const json::Description& description) {
  json::ObjectBuilder out;
  const std::string& doc = description.doc.empty() ? description.type_doc : description.doc;
  if (!doc.empty()) out.add("description", doc);
  add_type(out, description);
  if (!description.enum_values.empty()) out.add("enum", json::array(description.enum_values));
  add_rules(out, description.rules);
  if (description.default_value) out.add("default", *description.default_value);
  if (!description.element.empty()) {
    out.add(description.type == "array" ? "items" : "additionalProperties", open_api_schema(description.element.front()));
  }
  add_fields(out, description);
  return out.build();
}

Column column(std::string name, std::string path, std::string type, std::string description, int priority) {
  return {.name = std::move(name),
          .type = std::move(type),
          .format = "",
          .description = std::move(description),
          .priority = priority,
          .json_path = std::move(path)};
}

json::Value make_crd(const CrdSpec& spec) {
  return json::object({{"apiVersion", "apiextensions.k8s.io/v1"},
                       {"kind", "CustomResourceDefinition"},
                       {"metadata", json::object({{"name", spec.plural + "." + spec.group}})},
                       {"spec", json::object({{"group", spec.group},
                                              {"names", names(spec)},
                                              {"scope", spec.is_namespaced ? "Namespaced" : "Cluster"},
                                              {"versions", json::array({version(spec)})}})}});
}

}  // namespace slipway::kube
