#include <optional>
#include <utility>

#include "kube/typed_merge.h"
#include "kube/typed_shape.h"

namespace slipway::kube::typed {
namespace {

using json::Value;

const FieldSet::Entry* entry_of(const FieldSet& set, const SchemaNode* list, const Value& item) {
  if (identity_error(*list, item) != nullptr) return nullptr;
  return set.find(item_element(*list, item));
}

/// Takes items away; nullopt when a container is left with nothing.
std::optional<Value> without(const SchemaNode* node, const Value& value, const FieldSet& items, Emptied emptied);

/// What is left of one member or item; nullopt when it goes.
std::optional<Value> what_is_left(const SchemaNode* node, const Value& value, const FieldSet::Entry* entry, Emptied emptied) {
  if (entry == nullptr) return value;
  if (entry->is_member) return std::nullopt;
  std::optional<Value> left = without(node, value, entry->children, emptied);
  if (!left && emptied == Emptied::Null) return Value();
  return left;
}

std::optional<Value> map_without(const SchemaNode* node, const Value& value, const FieldSet& items, Emptied emptied) {
  json::ObjectBuilder result(value.size());
  bool is_changed = false;
  for (auto [name, member] : value.members()) {
    std::optional<Value> left =
        what_is_left(member_node(node, name).node, member, items.find(PathElement::field(name)), emptied);
    is_changed = is_changed || !left || !left->is_same(member);
    if (left) result.add(name, *std::move(left));
  }
  if (!is_changed) return value;
  if (result.empty()) return std::nullopt;
  return result.build();
}

std::optional<Value> list_without(const SchemaNode* node, const Value& value, const FieldSet& items, Emptied emptied) {
  json::ArrayBuilder result;
  bool is_changed = false;
  for (const Value& item : value.items()) {
    std::optional<Value> left = what_is_left(item_node(node), item, entry_of(items, node, item), emptied);
    is_changed = is_changed || !left || !left->is_same(item);
    if (left) result.add(*std::move(left));
  }
  if (!is_changed) return value;
  if (result.empty()) return std::nullopt;
  return result.build();
}

std::optional<Value> without(const SchemaNode* node, const Value& value, const FieldSet& items, Emptied emptied) {
  if (items.empty() || value.empty()) return value;
  switch (shape_of(node, value)) {
    case Shape::Null:
    case Shape::Leaf:
      return value;
    case Shape::Map:
      return map_without(node, value, items, emptied);
    case Shape::List:
      return list_without(node, value, items, emptied);
  }
  return value;
}

Value with_keys(const SchemaNode& list, const Value& item, Value extracted) {
  if (!extracted.is_object()) return extracted;
  for (const std::string& key : list.list_map_keys) {
    if (const Value* field = item.find(key); field != nullptr && !extracted.has(key)) extracted = extracted.with(key, *field);
  }
  return extracted;
}

}  // namespace

Value remove_items(const SchemaNode* node, const Value& value, const FieldSet& items, Emptied emptied) {
  return without(node, value, items, emptied).value_or(Value());
}

Value extract_items(const SchemaNode* node, const Value& value, const FieldSet& items, KeyFields keys) {
  const Shape shape = shape_of(node, value);
  if (value.empty() || shape == Shape::Leaf) return value;
  if (shape == Shape::Map) {
    json::ObjectBuilder result;
    for (auto [name, member] : value.members()) {
      const FieldSet::Entry* entry = items.find(PathElement::field(name));
      if (entry == nullptr) continue;
      result.add(name, extract_items(member_node(node, name).node, member, entry->children, keys));
    }
    return result.empty() ? Value() : result.build();
  }
  json::ArrayBuilder result;
  for (const Value& item : value.items()) {
    const FieldSet::Entry* entry = entry_of(items, node, item);
    if (entry == nullptr) continue;
    Value extracted = extract_items(item_node(node), item, entry->children, keys);
    result.add(keys == KeyFields::Always ? with_keys(*node, item, std::move(extracted)) : extracted);
  }
  return result.empty() ? Value() : result.build();
}

namespace {

MemberNode node_of(const SchemaNode* node, const PathElement& element) {
  if (element.kind() == PathElement::Kind::Field) return member_node(node, element.content().as_string());
  return {node == nullptr ? nullptr : node->items, false};
}

}  // namespace

FieldSet with_named_parents(const SchemaNode* node, const FieldSet& set) {
  if (node == nullptr || set.empty()) return set;
  std::vector<FieldSet::Entry> entries;
  entries.reserve(set.entries().size());
  for (const FieldSet::Entry& entry : set.entries()) {
    const auto [below, is_declared, is_known] = node_of(node, entry.element);
    const bool is_parent = is_declared && !entry.children.empty();
    entries.push_back({entry.element, with_named_parents(below, entry.children), entry.is_member || is_parent});
  }
  return FieldSet::of(std::move(entries));
}

FieldSet reconciled(const SchemaNode* node, const FieldSet& set) {
  if (node == nullptr || set.empty()) return set;
  std::vector<FieldSet::Entry> entries(set.entries().begin(), set.entries().end());
  bool is_changed = false;
  for (FieldSet::Entry& entry : entries) {
    if (entry.children.empty()) continue;
    const SchemaNode* below = node_of(node, entry.element).node;
    FieldSet children = is_atomic(below) ? FieldSet() : reconciled(below, entry.children);
    if (children.is_same(entry.children)) continue;
    is_changed = true;
    entry.is_member = entry.is_member || children.empty();
    entry.children = std::move(children);
  }
  return is_changed ? FieldSet::of(std::move(entries)) : set;
}

}  // namespace slipway::kube::typed
