// For tests: schemas in structured-merge-diff's own YAML (types made of atoms) as SchemaNodes.
#pragma once

#include <map>
#include <string>

#include "json/text.h"
#include "kube/schema_node.h"

namespace slipway::kube {

/// Named types become nodes once per name and override of their relation, so that recursive types end.
class SmdSchema {
 public:
  explicit SmdSchema(std::string_view yaml) {
    auto parsed = json::parse_yaml(yaml);
    if (parsed) types_ = (*parsed)["types"];
  }
  bool empty() const { return types_.empty(); }
  /// nullptr: the deduced type.
  const SchemaNode* type(std::string_view name) { return named(name, ""); }

 private:
  const SchemaNode* named(std::string_view name, std::string_view relation) {
    if (name == "__untyped_deduced_") return nullptr;
    auto [at, is_new] = known_.try_emplace({std::string(name), std::string(relation)});
    if (!is_new) return at->second;
    SchemaNode* node = arena_.add();
    at->second = node;
    for (const json::Value& type : types_.items()) {
      if (type["name"].as_string() == name) fill(*node, type, relation);
    }
    return node;
  }

  const SchemaNode* reference(const json::Value& ref) {
    const std::string_view relation = ref["elementRelationship"].as_string();
    if (ref.has("namedType")) return named(ref["namedType"].as_string(), relation);
    SchemaNode* node = arena_.add();
    fill(*node, ref, relation);
    return node;
  }

  void fill(SchemaNode& node, const json::Value& atom, std::string_view relation) {
    const int kinds = int{atom.has("scalar")} + int{atom.has("list")} + int{atom.has("map")};
    const std::string_view scalar = atom["scalar"].as_string();
    if (kinds == 1 && !scalar.empty()) {
      node.type = scalar == "numeric"   ? SchemaNode::Type::Number
                  : scalar == "string"  ? SchemaNode::Type::String
                  : scalar == "boolean" ? SchemaNode::Type::Boolean
                                        : SchemaNode::Type::Any;
      node.is_int_or_string = node.type == SchemaNode::Type::Any;
    }
    if (const json::Value* list = atom.find("list")) {
      if (kinds == 1) node.type = SchemaNode::Type::Array;
      const std::string_view own = relation.empty() ? (*list)["elementRelationship"].as_string() : relation;
      for (const json::Value& key : (*list)["keys"].items()) node.list_map_keys.push_back(key.str());
      if (own == "associative") {
        node.list_type = node.list_map_keys.empty() ? SchemaNode::ListType::Set : SchemaNode::ListType::Map;
      }
      node.items = reference((*list)["elementType"]);
    }
    if (const json::Value* map = atom.find("map")) fill_map(node, *map, kinds, relation);
  }

  void fill_map(SchemaNode& node, const json::Value& map, int kinds, std::string_view relation) {
    if (kinds == 1) node.type = SchemaNode::Type::Object;
    const std::string_view own = relation.empty() ? map["elementRelationship"].as_string() : relation;
    if (own == "atomic") node.map_type = SchemaNode::MapType::Atomic;
    for (const json::Value& field : map["fields"].items()) {
      const SchemaNode* below = reference(field["type"]);
      if (const json::Value* value = field.find("default"); value != nullptr && below != nullptr) {
        SchemaNode* with_default = arena_.add();
        with_default->type = below->type;
        with_default->has_default = true;
        with_default->default_value = *value;
        below = with_default;
      }
      node.properties.push_back({field["name"].str(), below});
    }
    node.sort_properties();
    if (!map.has("elementType")) return;
    node.additional_properties = reference(map["elementType"]);
    if (node.additional_properties == nullptr) node.preserves_unknown_fields = true;
  }

  json::Value types_;
  SchemaArena arena_;
  std::map<std::pair<std::string, std::string>, const SchemaNode*> known_;
};

}  // namespace slipway::kube
