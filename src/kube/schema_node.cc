#include "kube/schema_node.h"

#include <algorithm>

namespace slipway::kube {
namespace {

/// The order of property(): by size first, so that most comparisons need no bytes.
bool name_less(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return left.size() < right.size();
  return left < right;
}

bool has_default_child(const SchemaNode& node) {
  const auto marked = [](const SchemaNode* child) { return child != nullptr && child->has_defaults_within; };
  if (marked(node.items) || marked(node.additional_properties)) return true;
  return std::ranges::any_of(node.properties, [&](const SchemaNode::Property& one) { return marked(one.node); });
}

}  // namespace

const SchemaNode* SchemaNode::property(std::string_view name) const {
  const auto at = std::lower_bound(properties.begin(), properties.end(), name,
                                   [](const Property& one, std::string_view wanted) { return name_less(one.name, wanted); });
  return at != properties.end() && at->name == name ? at->node : nullptr;
}

void SchemaNode::sort_properties() {
  std::ranges::sort(properties, [](const Property& left, const Property& right) { return name_less(left.name, right.name); });
}

void mark_defaults(SchemaArena& arena) {
  for (SchemaNode& node : arena.nodes()) node.has_defaults_within = node.has_default || node.empty_is_absent;
  // Types may be recursive: repeat until nothing changes. Children come after their parents, so going backwards settles a tree
  // at once.
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (auto node = arena.nodes().rbegin(); node != arena.nodes().rend(); ++node) {
      if (node->has_defaults_within || !has_default_child(*node)) continue;
      node->has_defaults_within = true;
      has_changed = true;
    }
  }
}

}  // namespace slipway::kube
