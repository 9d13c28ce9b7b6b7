#include <algorithm>
#include <utility>

#include "kube/typed_merge.h"
#include "kube/typed_shape.h"

namespace slipway::kube::typed {
namespace {

using json::Value;
using Entries = std::vector<FieldSet::Entry>;

using PathsBelow = FieldSet (*)(const SchemaNode* node, const Value& value);

/// The items of an associative list, each with the paths below it; those with equal keys without.
FieldSet items_of(const SchemaNode& node, const Value& list, PathsBelow paths_below) {
  ItemIndex index(node, list.items());
  Entries entries;
  entries.reserve(index.size());
  for (std::size_t at = 0; at < index.size(); ++at) {
    if (!index.has_identity(at) || !index.is_first(at)) continue;
    FieldSet below = index.count(at) == 1 ? paths_below(item_node(&node), index.item(at)) : FieldSet();
    entries.push_back({item_element(node, index.item(at)), std::move(below), true});
  }
  return FieldSet::of(std::move(entries));
}

/// What happened to one path and to those below it. An item that was there twice and is there once is removed and added.
struct Outcome {
  bool is_removed = false;
  bool is_modified = false;
  bool is_added = false;
  Difference below{};

  bool is_same() const { return !is_removed && !is_modified && !is_added && below.empty(); }
};

/// The outcomes of the members or items of one container.
class Gathered {
 public:
  template <class Element>
  void add(Outcome outcome, Element element) {
    if (outcome.is_same()) return;
    PathElement made = element();
    put(removed_, made, std::move(outcome.below.removed), outcome.is_removed);
    put(modified_, made, std::move(outcome.below.modified), outcome.is_modified);
    put(added_, made, std::move(outcome.below.added), outcome.is_added);
  }
  Difference take() {
    return {FieldSet::of(std::move(removed_)), FieldSet::of(std::move(modified_)), FieldSet::of(std::move(added_))};
  }

 private:
  static void put(Entries& entries, const PathElement& element, FieldSet below, bool is_member) {
    if (is_member || !below.empty()) entries.push_back({element, std::move(below), is_member});
  }

  Entries removed_;
  Entries modified_;
  Entries added_;
};

Outcome gone(const SchemaNode* node, const Value& value) {
  return {.is_removed = true, .below = {.removed = paths_of(node, value)}};
}
Outcome come(const SchemaNode* node, const Value& value) {
  return {.is_added = true, .below = {.added = paths_of(node, value)}};
}

Outcome compare_values(const SchemaNode* node, const Value& before, const Value& after);

Difference compare_maps(const SchemaNode* node, const Value& before, const Value& after) {
  Gathered gathered;
  Beside others(after);
  std::size_t shared = 0;
  for (auto [name, value] : before.members()) {
    const Value* other = others.find(name);
    shared += other == nullptr ? 0 : 1;
    if (other != nullptr && value.is_same(*other)) continue;
    const SchemaNode* member = member_node(node, name).node;
    gathered.add(other == nullptr ? gone(member, value) : compare_values(member, value, *other),
                 [name] { return PathElement::field(name); });
  }
  if (shared == after.size()) return gathered.take();
  Beside olds(before);
  for (auto [name, value] : after.members()) {
    if (olds.find(name) != nullptr) continue;
    gathered.add(come(member_node(node, name).node, value), [name] { return PathElement::field(name); });
  }
  return gathered.take();
}

/// Items with the same identity in one of the lists: what they are is compared as a whole.
Outcome compare_repeated(const SchemaNode* node, const ItemIndex& before, std::size_t l, const ItemIndex& after,
                         std::size_t r) {
  const bool was_repeated = before.count(l) > 1;
  const bool is_repeated = after.count(r) > 1;
  if (was_repeated && is_repeated) {
    auto same_as = [](const ItemIndex& index, std::size_t first) {
      std::vector<Value> found;
      for (std::size_t at = first; at != ItemIndex::kNone; at = index.next(at)) found.push_back(index.item(at));
      return found;
    };
    return {.is_modified = same_as(before, l) != same_as(after, r)};
  }
  // The one that is, or was, alone counts with all it has, the repeated ones as one path.
  Outcome outcome = was_repeated ? come(node, after.item(r)) : gone(node, before.item(l));
  outcome.is_removed = true;
  outcome.is_added = true;
  return outcome;
}

Outcome compare_items(const SchemaNode* node, const ItemIndex& before, std::size_t l, const ItemIndex& after) {
  const std::size_t r = after.match(before, l);
  if (r == ItemIndex::kNone) return before.count(l) == 1 ? gone(node, before.item(l)) : Outcome{.is_removed = true};
  if (before.count(l) == 1 && after.count(r) == 1) return compare_values(node, before.item(l), after.item(r));
  return compare_repeated(node, before, l, after, r);
}

Difference compare_lists(const SchemaNode& node, const Value& before, const Value& after) {
  ItemIndex left(node, before.items());
  ItemIndex right(node, after.items());
  const SchemaNode* item = item_node(&node);
  Gathered gathered;
  for (std::size_t at = 0; at < left.size(); ++at) {
    if (!left.has_identity(at) || !left.is_first(at)) continue;
    gathered.add(compare_items(item, left, at, right), [&] { return item_element(node, left.item(at)); });
  }
  for (std::size_t at = 0; at < right.size(); ++at) {
    if (!right.has_identity(at) || !right.is_first(at) || left.match(right, at) != ItemIndex::kNone) continue;
    gathered.add(right.count(at) == 1 ? come(item, right.item(at)) : Outcome{.is_added = true},
                 [&] { return item_element(node, right.item(at)); });
  }
  return gathered.take();
}

/// The shape both values are walked in; Leaf when they have none in common. Null goes with any map, and with a list where
/// nothing else may stand.
Shape common_shape(const SchemaNode* node, Shape before, Shape after) {
  if (before == after) return before;
  if (before != Shape::Null && after != Shape::Null) return Shape::Leaf;
  const Shape other = before == Shape::Null ? after : before;
  return other == Shape::List && node->type != SchemaNode::Type::Array ? Shape::Leaf : other;
}

Outcome compare_values(const SchemaNode* node, const Value& before, const Value& after) {
  if (before.is_same(after)) return {};
  const Shape left = shape_of(node, before);
  const Shape right = shape_of(node, after);
  const Shape both = common_shape(node, left, right);
  const bool is_walked = (both == Shape::Map || both == Shape::List) && !(before.empty() && after.empty());
  if (is_walked && both == Shape::Map) return {.below = compare_maps(node, before, after)};
  if (is_walked && both == Shape::List) return {.below = compare_lists(*node, before, after)};
  if (left == right) return {.is_modified = !(before == after)};
  // A map became a scalar or the like: what was below went, and the value itself changed where it is or was a leaf.
  auto is_leaf = [](Shape shape, const Value& value) { return shape == Shape::Null || shape == Shape::Leaf || value.empty(); };
  const bool is_modified = is_leaf(left, before) || is_leaf(right, after);
  return {.is_modified = is_modified, .below = {.removed = paths_of(node, before), .added = paths_of(node, after)}};
}

}  // namespace

Difference compare(const SchemaNode* node, const Value& before, const Value& after) {
  return compare_values(node, before, after).below;
}

FieldSet paths_of(const SchemaNode* node, const Value& value) {
  switch (shape_of(node, value)) {
    case Shape::Null:
    case Shape::Leaf:
      return {};
    case Shape::List:
      return items_of(*node, value, paths_of);
    case Shape::Map:
      break;
  }
  Entries entries;
  entries.reserve(value.size());
  for (auto [name, member] : value.members()) {
    entries.push_back({PathElement::field(name), paths_of(member_node(node, name).node, member), true});
  }
  return FieldSet::of(std::move(entries));
}

std::size_t least_added_bytes(const SchemaNode* node, const Value& before, const Value& after) {
  constexpr std::size_t kAround = std::string_view(R"("f:":{},)").size();
  if (before.is_same(after) || shape_of(node, after) != Shape::Map) return 0;
  const bool was_map = shape_of(node, before) == Shape::Map;
  Beside others(before);
  std::size_t bytes = 0;
  for (auto [name, value] : after.members()) {
    const Value* other = was_map ? others.find(name) : nullptr;
    if (other != nullptr && other->is_same(value)) continue;
    bytes += other == nullptr ? name.size() + kAround : 0;
    bytes += least_added_bytes(member_node(node, name).node, other == nullptr ? Value() : *other, value);
  }
  return bytes;
}

FieldSet fields_of(const SchemaNode* node, const Value& value) {
  switch (shape_of(node, value)) {
    case Shape::Null:
    case Shape::Leaf:
      return {};
    case Shape::List:
      return items_of(*node, value, fields_of);
    case Shape::Map:
      break;
  }
  Entries entries;
  entries.reserve(value.size());
  for (auto [name, member] : value.members()) {
    const auto [below, is_declared, is_known] = member_node(node, name);
    const Shape shape = shape_of(below, member);
    const bool is_leaf = shape == Shape::Null || shape == Shape::Leaf || (shape == Shape::Map && member.empty());
    entries.push_back({PathElement::field(name), fields_of(below, member), is_leaf || !is_declared});
  }
  return FieldSet::of(std::move(entries));
}

}  // namespace slipway::kube::typed
