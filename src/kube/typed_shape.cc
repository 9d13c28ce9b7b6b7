#include "kube/typed_shape.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace slipway::kube::typed {
namespace {

using json::Type;
using json::Value;

// Beyond this many items the linear search over hashes gives way to a sorted table.
constexpr std::size_t kSearchedInOrder = 48;

bool is_granular_map(const SchemaNode* node) {
  if (node == nullptr) return true;
  if (node->map_type == SchemaNode::MapType::Atomic) return false;
  if (node->type == SchemaNode::Type::Object) return true;
  if (node->type != SchemaNode::Type::Any) return false;
  return node->preserves_unknown_fields || !node->properties.empty() || node->additional_properties != nullptr;
}

bool is_associative(const SchemaNode* node) {
  if (node == nullptr || node->list_type == SchemaNode::ListType::Atomic) return false;
  return node->type == SchemaNode::Type::Array || node->type == SchemaNode::Type::Any;
}

/// A node without a type: any scalar, and containers as a whole.
const SchemaNode& opaque_node() {
  static const SchemaNode node{};
  return node;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), 8);
    hash = mixed(hash, word);
  }
  std::uint64_t word = text.size() << 56;
  for (char c : text) word = (word << 8) | static_cast<unsigned char>(c);
  return mixed(hash, word);
}

/// Equal for values that are ==.
std::uint64_t hash_of(std::uint64_t seed, const Value* value) {
  if (value == nullptr) return mixed(seed, 1);
  switch (value->type()) {
    case Type::String:
      return mixed(seed, value->as_string());
    case Type::Int:
    case Type::Double:
    case Type::Number:
      return mixed(seed, std::bit_cast<std::uint64_t>(value->as_double() + 0.0));  // -0.0 as 0.0
    case Type::Bool:
      return mixed(seed, value->as_bool() ? 3 : 2);
    case Type::Null:
    case Type::Array:
    case Type::Object:
      return mixed(seed, 4);
  }
  return seed;
}

std::uint64_t identity_hash(const SchemaNode& list, const Value& item) {
  if (list.list_type == SchemaNode::ListType::Set) return hash_of(0, &item);
  std::uint64_t hash = 0;
  for (const std::string& key : list.list_map_keys) hash = hash_of(hash, key_field(list, item, key));
  return hash;
}

bool is_same_identity(const SchemaNode& list, const Value& left, const Value& right) {
  if (list.list_type == SchemaNode::ListType::Set) return left == right;
  return std::ranges::all_of(list.list_map_keys, [&](const std::string& key) {
    const Value* l = key_field(list, left, key);
    const Value* r = key_field(list, right, key);
    return l == r || (l != nullptr && r != nullptr && *l == *r);
  });
}

}  // namespace

Shape shape_of(const SchemaNode* node, const Value& value) {
  switch (value.type()) {
    case Type::Null:
      return Shape::Null;
    case Type::Object:
      return is_granular_map(node) ? Shape::Map : Shape::Leaf;
    case Type::Array:
      return is_associative(node) ? Shape::List : Shape::Leaf;
    case Type::Bool:
    case Type::Int:
    case Type::Double:
    case Type::Number:
    case Type::String:
      return Shape::Leaf;
  }
  return Shape::Leaf;
}

bool is_atomic(const SchemaNode* node) {
  if (node == nullptr) return false;
  switch (node->type) {
    case SchemaNode::Type::Any:
    case SchemaNode::Type::Object:
      return !is_granular_map(node);
    case SchemaNode::Type::Array:
      return !is_associative(node);
    case SchemaNode::Type::String:
    case SchemaNode::Type::Integer:
    case SchemaNode::Type::Number:
    case SchemaNode::Type::Boolean:
      return false;
  }
  return false;
}

MemberNode member_node(const SchemaNode* node, std::string_view name) {
  if (node == nullptr) return {};
  if (const SchemaNode* property = node->property(name); property != nullptr) return {property, true};
  if (node->additional_properties != nullptr) return {node->additional_properties, false};
  if (node->preserves_unknown_fields) return {};
  if (node->has_bool_additional) return {&opaque_node(), false};
  return {nullptr, false, false};
}

const Value* Beside::find(std::string_view name) {
  constexpr int kLooksAhead = 3;
  auto at = next_;
  for (int steps = 0; steps < kLooksAhead && at != members_.end(); ++steps, ++at) {
    const json::MemberView member = *at;
    const bool is_it = member.key.data() == name.data() ? member.key.size() == name.size() : member.key == name;
    if (!is_it) continue;
    next_ = ++at;
    return &member.value;
  }
  return object_.find(name);
}

const Value* key_field(const SchemaNode& list, const Value& item, const std::string& key) {
  if (const Value* found = item.find(key); found != nullptr) return found;
  const SchemaNode* field = list.items == nullptr ? nullptr : list.items->property(key);
  return field != nullptr && field->has_default ? &field->default_value : nullptr;
}

const char* identity_error(const SchemaNode& list, const Value& item) {
  if (list.list_type == SchemaNode::ListType::Set) {
    if (item.is_object()) return "associative list without keys has an element that's a map type";
    if (item.is_array()) return "not supported: associative list with lists as elements";
    if (item.is_null()) return "associative list without keys has an element that's an explicit null";
    return nullptr;
  }
  if (item.is_null()) return "associative list with keys may not have a null element";
  if (!item.is_object()) return "associative list with keys may not have non-map elements";
  for (const std::string& key : list.list_map_keys) {
    if (key_field(list, item, key) != nullptr) return nullptr;
  }
  return "associative list with keys has an element that omits all key fields";
}

PathElement item_element(const SchemaNode& list, const Value& item) {
  if (list.list_type == SchemaNode::ListType::Set) return PathElement::value(item);
  json::ObjectBuilder fields(list.list_map_keys.size());
  for (const std::string& key : list.list_map_keys) {
    if (const Value* field = key_field(list, item, key); field != nullptr) fields.set(key, *field);
  }
  return PathElement::key(fields.build());
}

ItemIndex::ItemIndex(const SchemaNode& list, std::span<const Value> items) : list_(list), items_(items), slots_(items.size()) {
  const bool is_long = items_.size() > kSearchedInOrder;
  for (std::size_t at = 0; at < items_.size(); ++at) {
    if (identity_error(list_, items_[at]) != nullptr) continue;
    const std::uint64_t hash = identity_hash(list_, items_[at]);
    slots_[at].hash = hash;
    if (is_long) {
      sorted_.push_back({hash, at});
    } else {
      const std::size_t earlier = find_in_order(hash, items_[at], at);
      put(at, earlier == kNone ? at : earlier);
    }
  }
  if (is_long) sort();
}

void ItemIndex::put(std::size_t at, std::size_t first) {
  slots_[at].first = first;
  Slot& leader = slots_[first];
  if (at != first) slots_[leader.last].next = at;
  leader.last = at;
  ++leader.count;
}

void ItemIndex::sort() {
  std::ranges::sort(sorted_, [this](const Known& left, const Known& right) {
    if (left.hash != right.hash) return left.hash < right.hash;
    if (left.at == right.at) return false;
    const int order = item_element(list_, items_[left.at]).compare(item_element(list_, items_[right.at]));
    return order != 0 ? order < 0 : left.at < right.at;
  });
  std::size_t first = kNone;
  for (const Known& known : sorted_) {
    const bool is_next =
        first != kNone && slots_[first].hash == known.hash && is_same_identity(list_, items_[first], items_[known.at]);
    if (!is_next) first = known.at;
    put(known.at, first);
  }
}

std::size_t ItemIndex::find_in_order(std::uint64_t hash, const Value& item, std::size_t end) const {
  for (std::size_t at = 0; at < end; ++at) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && slot.first == at && is_same_identity(list_, items_[at], item)) return at;
  }
  return kNone;
}

std::size_t ItemIndex::find_sorted(std::uint64_t hash, const Value& item) const {
  std::optional<PathElement> element;  // made only when hashes meet
  auto found = std::ranges::partition_point(sorted_, [&](const Known& known) {
    if (known.hash != hash) return known.hash < hash;
    if (!element) element = item_element(list_, item);
    return item_element(list_, items_[known.at]).compare(*element) < 0;
  });
  const bool is_it = found != sorted_.end() && found->hash == hash && is_same_identity(list_, items_[found->at], item);
  return is_it ? found->at : kNone;
}

std::size_t ItemIndex::match(const ItemIndex& other, std::size_t at) const {
  if (!other.has_identity(at)) return kNone;
  const std::uint64_t hash = other.slots_[at].hash;
  if (items_.size() > kSearchedInOrder) return find_sorted(hash, other.items_[at]);
  return find_in_order(hash, other.items_[at], items_.size());
}

}  // namespace slipway::kube::typed
