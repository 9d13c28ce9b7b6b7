#include "kube/schema_structural.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "json/text.h"
#include "kube/schema.h"
#include "kube/schema_node.h"

namespace slipway::kube {
namespace {

constexpr int kMaxDepth = 100;
constexpr std::array<std::string_view, 6> kTypes{"array", "boolean", "integer", "number", "object", "string"};
constexpr std::array<std::string_view, 4> kLogical{"allOf", "anyOf", "oneOf", "not"};

std::string text(const json::Value& value) { return json::print(value); }
std::string property_path(const std::string& path, std::string_view name) {
  return fmt::format("{}.properties[{}]", path, name);
}
bool is_set_true(const json::Value& schema, std::string_view key) { return schema[key].as_bool(); }

struct Unsupported {
  std::string_view key;
  std::string_view detail;
};
constexpr std::array kUnsupported{
    Unsupported{"$ref", "$ref is not supported"},
    Unsupported{"$schema", "$schema is not supported"},
    Unsupported{"id", "id is not supported"},
    Unsupported{"definitions", "definitions is not supported"},
    Unsupported{"dependencies", "dependencies is not supported"},
    Unsupported{"patternProperties", "patternProperties is not supported"},
    Unsupported{"additionalItems", "additionalItems is not supported"},
};

/// What may not stand inside allOf, anyOf, oneOf and not, with the rule it breaks.
constexpr std::array kStructureOnly{
    Unsupported{"additionalProperties", "must be undefined to be structural"},
    Unsupported{"default", "must be undefined to be structural"},
    Unsupported{"title", "must be empty to be structural"},
    Unsupported{"description", "must be empty to be structural"},
    Unsupported{"nullable", "must be false to be structural"},
    Unsupported{"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
    Unsupported{"x-kubernetes-embedded-resource", "must be false to be structural"},
    Unsupported{"x-kubernetes-int-or-string", "must be false to be structural"},
    Unsupported{"x-kubernetes-list-map-keys", "must be empty to be structural"},
    Unsupported{"x-kubernetes-list-type", "must be undefined to be structural"},
    Unsupported{"x-kubernetes-map-type", "must be undefined to be structural"},
};

bool says_something(const json::Value& value) {
  if (value.is_bool()) return value.as_bool();
  if (value.is_string()) return !value.as_string().empty();
  if (value.is_array()) return !value.empty();
  return !value.is_null();
}

class StructuralCheck {
 public:
  enum class Place { Root, Field, Item };

  std::vector<Cause> run(const json::Value& schema, const std::string& path) {
    visit(schema, path, Place::Root, 0);
    return std::move(causes_);
  }

 private:
  void visit(const json::Value& schema, const std::string& path, Place place, int depth) {
    if (depth > kMaxDepth) {
      causes_.push_back(field::forbidden(path, fmt::format("may not be nested deeper than {} levels", kMaxDepth)));
      return;
    }
    if (!schema.is_object()) {
      causes_.push_back(field::invalid(path, text(schema), "must be an object"));
      return;
    }
    check_type(schema, path, place);
    check_unsupported(schema, path);
    check_list(schema, path);
    check_map(schema, path);
    if (is_set_true(schema, "x-kubernetes-embedded-resource")) check_embedded(schema, path);
    if (place == Place::Root || is_set_true(schema, "x-kubernetes-embedded-resource")) check_metadata(schema, path);
    visit_children(schema, path, depth);
    for (const std::string_view key : kLogical) check_logical(schema, schema, key, path, path);
  }

  void visit_children(const json::Value& schema, const std::string& path, int depth) {
    if (schema.has("items") && schema["items"].is_object()) visit(schema["items"], path + ".items", Place::Item, depth + 1);
    if (schema["additionalProperties"].is_object()) {
      visit(schema["additionalProperties"], path + ".additionalProperties", Place::Field, depth + 1);
    }
    for (const auto [name, property] : schema["properties"].members()) {
      visit(property, property_path(path, name), Place::Field, depth + 1);
    }
  }

  void check_type(const json::Value& schema, const std::string& path, Place place) {
    const std::string_view type = schema["type"].as_string();
    const bool may_have_none =
        is_set_true(schema, "x-kubernetes-int-or-string") || is_set_true(schema, "x-kubernetes-preserve-unknown-fields");
    if (is_set_true(schema, "x-kubernetes-int-or-string") && !type.empty()) {
      causes_.push_back(
          field::invalid(path + ".type", text(schema["type"]), "must be empty if x-kubernetes-int-or-string is true"));
    }
    if (place == Place::Root && type != "object") {
      causes_.push_back(type.empty() ? field::required(path + ".type", "must not be empty at the root")
                                     : field::invalid(path + ".type", text(schema["type"]), "must be object at the root"));
    } else if (type.empty() && !may_have_none) {
      causes_.push_back(field::required(path + ".type", place == Place::Item
                                                            ? "must not be empty for specified array items"
                                                            : "must not be empty for specified object fields"));
    } else if (!type.empty() && std::ranges::find(kTypes, type) == kTypes.end()) {
      causes_.push_back(
          field::not_supported(path + ".type", text(schema["type"]), std::vector<std::string>(kTypes.begin(), kTypes.end())));
    }
  }

  void check_unsupported(const json::Value& schema, const std::string& path) {
    for (const Unsupported& one : kUnsupported) {
      if (schema.has(one.key))
        causes_.push_back(field::forbidden(fmt::format("{}.{}", path, one.key), std::string(one.detail)));
    }
    if (is_set_true(schema, "uniqueItems")) {
      causes_.push_back(field::forbidden(path + ".uniqueItems",
                                         "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    }
    if (schema["items"].is_array()) {
      causes_.push_back(field::forbidden(path + ".items", "items must be a schema object and not an array"));
    }
    if (schema["type"].as_string() == "array" && !schema.has("items") &&
        !is_set_true(schema, "x-kubernetes-preserve-unknown-fields")) {
      causes_.push_back(field::required(path + ".items", "must be specified"));
    }
    const json::Value* additional = schema.find("additionalProperties");
    if (additional == nullptr) return;
    if (additional->is_bool() && !additional->as_bool()) {
      causes_.push_back(field::forbidden(path + ".additionalProperties", "additionalProperties cannot be set to false"));
    } else if (!schema["properties"].empty()) {
      causes_.push_back(
          field::forbidden(path + ".additionalProperties", "additionalProperties and properties are mutual exclusive"));
    }
  }

  void check_list(const json::Value& schema, const std::string& path) {
    const json::Value& list_type = schema["x-kubernetes-list-type"];
    const std::string_view name = list_type.as_string();
    const json::Value& keys = schema["x-kubernetes-list-map-keys"];
    const std::string key_path = path + ".x-kubernetes-list-map-keys";
    if (name != "map" && !keys.empty()) {
      causes_.push_back(field::forbidden(key_path, "must be empty if x-kubernetes-list-type is not map"));
    }
    if (list_type.is_null()) return;
    if (name != "atomic" && name != "set" && name != "map") {
      causes_.push_back(field::not_supported(path + ".x-kubernetes-list-type", text(list_type), {"atomic", "set", "map"}));
      return;
    }
    if (schema["type"].as_string() != "array") {
      causes_.push_back(
          field::invalid(path + ".type", text(schema["type"]), "must be array if x-kubernetes-list-type is specified"));
      return;
    }
    if (name == "set") check_set_items(schema["items"], path + ".items");
    if (name == "map") check_map_items(schema["items"], keys, path, key_path);
  }

  void check_set_items(const json::Value& items, const std::string& path) {
    const std::string_view type = items["type"].as_string();
    if (type == "array" && items["x-kubernetes-list-type"].as_string() != "atomic" && items.has("x-kubernetes-list-type")) {
      causes_.push_back(field::invalid(path + ".x-kubernetes-list-type", text(items["x-kubernetes-list-type"]),
                                       "must be atomic as item of a list with x-kubernetes-list-type=set"));
    }
    if (type == "object" && items["x-kubernetes-map-type"].as_string() != "atomic") {
      causes_.push_back(field::invalid(path + ".x-kubernetes-map-type", text(items["x-kubernetes-map-type"]),
                                       "must be atomic as item of a list with x-kubernetes-list-type=set"));
    }
    if (is_set_true(items, "nullable")) {
      causes_.push_back(field::forbidden(path + ".nullable", "cannot be nullable when x-kubernetes-list-type is set"));
    }
  }

  void check_map_items(const json::Value& items, const json::Value& keys, const std::string& path,
                       const std::string& key_path) {
    if (items["type"].as_string() != "object") {
      causes_.push_back(field::invalid(path + ".items.type", text(items["type"]),
                                       "must be object if parent array's x-kubernetes-list-type is map"));
    }
    if (keys.empty()) causes_.push_back(field::required(key_path, "must not be empty if x-kubernetes-list-type is map"));
    if (is_set_true(items, "nullable")) {
      causes_.push_back(field::forbidden(path + ".items.nullable", "cannot be nullable when x-kubernetes-list-type is map"));
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const std::string_view key = keys.item(i).as_string();
      const json::Value* property = items["properties"].find(key);
      const std::string property_at = property_path(path + ".items", key);
      if (property == nullptr) {
        causes_.push_back(field::invalid(fmt::format("{}[{}]", key_path, i), text(keys.item(i)),
                                         "entries must all be names of item properties"));
        continue;
      }
      const std::string_view type = (*property)["type"].as_string();
      if (type == "array" || type == "object") {
        causes_.push_back(field::invalid(property_at + ".type", text((*property)["type"]),
                                         "must be a scalar type if parent array's x-kubernetes-list-type is map"));
      }
      const auto required = items["required"].items();
      const bool is_required = std::ranges::any_of(required, [&](const json::Value& one) { return one.as_string() == key; });
      if (!is_required && !property->has("default")) {
        causes_.push_back(field::required(
            property_at + ".default",
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"));
      }
      const auto earlier = keys.items().first(i);
      if (std::ranges::find(earlier, keys.item(i)) != earlier.end()) {
        causes_.push_back(field::duplicate(fmt::format("{}[{}]", key_path, i), text(keys.item(i))));
      }
    }
  }

  void check_map(const json::Value& schema, const std::string& path) {
    const json::Value& map_type = schema["x-kubernetes-map-type"];
    if (map_type.is_null()) return;
    if (map_type.as_string() != "granular" && map_type.as_string() != "atomic") {
      causes_.push_back(field::not_supported(path + ".x-kubernetes-map-type", text(map_type), {"granular", "atomic"}));
    }
    if (schema["type"].as_string() != "object") {
      causes_.push_back(
          field::invalid(path + ".type", text(schema["type"]), "must be object if x-kubernetes-map-type is specified"));
    }
  }

  void check_embedded(const json::Value& schema, const std::string& path) {
    if (schema["type"].as_string() != "object") {
      causes_.push_back(
          field::invalid(path + ".type", text(schema["type"]), "must be object if x-kubernetes-embedded-resource is true"));
    }
    if (schema["properties"].empty() && !is_set_true(schema, "x-kubernetes-preserve-unknown-fields")) {
      causes_.push_back(field::required(
          path + ".properties",
          "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"));
    }
  }

  void check_metadata(const json::Value& schema, const std::string& path) {
    const json::Value* metadata = schema["properties"].find("metadata");
    if (metadata == nullptr) return;
    const std::string where = property_path(path, "metadata");
    if ((*metadata)["type"].as_string() != "object") {
      causes_.push_back(field::invalid(where + ".type", text((*metadata)["type"]), "must be object"));
    }
    for (const auto [name, property] : (*metadata)["properties"].members()) {
      if (name == "name" || name == "generateName") continue;
      causes_.push_back(field::forbidden(
          where, "must not specify anything other than name and generateName, but metadata is implicitly specified"));
      return;
    }
  }

  /// `key` is one of kLogical in `rules`, which restricts `structure`.
  void check_logical(const json::Value& structure, const json::Value& rules, std::string_view key, const std::string& path,
                     const std::string& structure_path) {
    const json::Value* operand = rules.find(key);
    if (operand == nullptr) return;
    const std::string where = fmt::format("{}.{}", path, key);
    if (operand->is_object()) check_rule(structure, *operand, where, structure_path);
    std::size_t at = 0;
    const bool is_int_or_string = is_set_true(structure, "x-kubernetes-int-or-string");
    for (const json::Value& one : operand->items()) {
      const std::string item_path = fmt::format("{}[{}]", where, at++);
      const bool is_type_only = one.size() == 1 && one.has("type");
      const bool holds_types = one.size() == 1 && one.has("anyOf");
      if (is_int_or_string && ((key == "anyOf" && is_type_only) || (key == "allOf" && holds_types))) continue;
      check_rule(structure, one, item_path, structure_path);
    }
  }

  void check_rule(const json::Value& structure, const json::Value& rule, const std::string& path,
                  const std::string& structure_path) {
    if (says_something(rule["type"])) causes_.push_back(field::forbidden(path + ".type", "must be empty to be structural"));
    for (const Unsupported& one : kStructureOnly) {
      if (says_something(rule[one.key]))
        causes_.push_back(field::forbidden(fmt::format("{}.{}", path, one.key), std::string(one.detail)));
    }
    for (const auto [name, property] : rule["properties"].members()) {
      const json::Value* declared = structure["properties"].find(name);
      if (declared == nullptr && structure["additionalProperties"].is_object())
        declared = structure.find("additionalProperties");
      const std::string declared_path = property_path(structure_path, name);
      if (declared == nullptr) {
        if (is_object_field(name)) continue;  // every object has them
        causes_.push_back(
            field::required(declared_path, fmt::format("because it is defined in {}", property_path(path, name))));
      } else {
        check_rule(*declared, property, property_path(path, name), declared_path);
      }
    }
    if (rule["items"].is_object()) {
      if (!structure["items"].is_object()) {
        causes_.push_back(field::required(structure_path + ".items", fmt::format("because it is defined in {}.items", path)));
      } else {
        check_rule(structure["items"], rule["items"], path + ".items", structure_path + ".items");
      }
    }
    for (const std::string_view key : kLogical) check_logical(structure, rule, key, path, structure_path);
  }

  static bool is_object_field(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

  std::vector<Cause> causes_;
};

void check_default(const SchemaNode& node, const json::Value& value, const std::string& path, std::vector<Cause>& causes) {
  // The arena is kept alive by the caller's Schema.
  const Schema part(std::shared_ptr<const SchemaNode>(std::shared_ptr<const SchemaNode>(), &node));
  std::vector<std::string> dropped;
  part.prune(value, &dropped);
  if (!dropped.empty()) {
    causes.push_back(field::invalid(path, text(value), fmt::format("must not have unknown fields: {}", dropped.front())));
  }
  for (Cause& cause : part.validate(part.fill_defaults(value))) {
    cause.field = cause.field.empty() ? path : path + "." + cause.field;
    causes.push_back(std::move(cause));
  }
}

void check_defaults_below(const SchemaNode* node, const json::Value& schema, const std::string& path,
                          std::vector<Cause>& causes) {
  if (node == nullptr || !node->has_defaults_within) return;
  if (node->has_default) check_default(*node, node->default_value, path + ".default", causes);
  check_defaults_below(node->items, schema["items"], path + ".items", causes);
  check_defaults_below(node->additional_properties, schema["additionalProperties"], path + ".additionalProperties", causes);
  for (const auto [name, property] : schema["properties"].members()) {
    if (name == "metadata" && node->property(name) == &object_meta_node()) continue;
    check_defaults_below(node->property(name), property, property_path(path, name), causes);
  }
}

}  // namespace

std::vector<Cause> structural_causes(const json::Value& open_api, const std::string& path) {
  return StructuralCheck().run(open_api, path);
}

void check_defaults(const Schema& schema, const json::Value& open_api, const std::string& path, std::vector<Cause>& causes) {
  check_defaults_below(&schema.root(), open_api, path, causes);
}

}  // namespace slipway::kube
