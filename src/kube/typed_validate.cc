#include <fmt/format.h>

#include <string>
#include <utility>

#include "json/text.h"
#include "kube/typed_merge.h"
#include "kube/typed_shape.h"

namespace slipway::kube::typed {
namespace {

using json::Value;

/// Frames on the stack, turned into text only for a message.
struct Place {
  const Place* parent = nullptr;
  std::string_view field{};
  const SchemaNode* list = nullptr;  // with `item`: an item of an associative list
  const Value* item = nullptr;
  std::size_t index = 0;

  std::string text() const {
    if (parent == nullptr) return {};
    std::string out = parent->text();
    if (item == nullptr) {
      PathElement::field(field).print_to(out);
    } else if (list != nullptr) {
      item_element(*list, *item).print_to(out);
    } else {
      PathElement::index(static_cast<std::int64_t>(index)).print_to(out);
    }
    return out;
  }
};

class Check {
 public:
  explicit Check(Duplicates duplicates) : duplicates_(duplicates) {}

  void value(const SchemaNode* node, const Value& value, const Place& place) {
    if (node == nullptr || value.is_null()) return;
    if (value.is_object() && may_be_map(*node)) return map(*node, value, place);
    if (value.is_array() && may_be_list(*node)) return list(*node, value, place);
    if (const char* expected = unmet(*node, value); expected != nullptr) {
      fail(place, fmt::format("expected {}, got {}", expected, shown(value)));
    }
  }

  std::vector<Cause> take() { return std::move(causes_); }

 private:
  static bool is_free(const SchemaNode& node) { return node.type == SchemaNode::Type::Any && !node.is_int_or_string; }
  static bool may_be_map(const SchemaNode& node) { return node.type == SchemaNode::Type::Object || is_free(node); }
  static bool may_be_list(const SchemaNode& node) { return node.type == SchemaNode::Type::Array || is_free(node); }

  /// What the node wants where the value is something else, or nullptr. Texts with a format take any scalar, as upstream.
  static const char* unmet(const SchemaNode& node, const Value& value) {
    const bool is_scalar = !value.is_object() && !value.is_array();
    switch (node.type) {
      case SchemaNode::Type::Any:
        return is_scalar || !node.is_int_or_string ? nullptr : "any scalar";
      case SchemaNode::Type::Object:
        return "map";
      case SchemaNode::Type::Array:
        return "list";
      case SchemaNode::Type::String:
        if (node.checks != nullptr && !node.checks->format.empty() && node.checks->format != "byte") {
          return is_scalar ? nullptr : "any scalar";
        }
        return value.is_string() ? nullptr : "string";
      case SchemaNode::Type::Integer:
      case SchemaNode::Type::Number:
        return value.is_number() ? nullptr : "numeric (int or float)";
      case SchemaNode::Type::Boolean:
        return value.is_bool() ? nullptr : "boolean";
    }
    return nullptr;
  }

  void map(const SchemaNode& node, const Value& object, const Place& place) {
    if (is_free(node) && shape_of(&node, object) == Shape::Leaf) return;
    for (auto [name, member] : object.members()) {
      const MemberNode below = member_node(&node, name);
      const Place here{.parent = &place, .field = name};
      if (!below.is_known) {
        fail(here, "field not declared in schema");
        continue;
      }
      value(below.node, member, here);
    }
  }

  void list(const SchemaNode& node, const Value& array, const Place& place) {
    if (is_free(node)) return;
    const SchemaNode* item = item_node(&node);
    if (shape_of(&node, array) == Shape::Leaf) {
      for (std::size_t at = 0; at < array.size(); ++at) {
        value(item, array.item(at), {.parent = &place, .item = &array.item(at), .index = at});
      }
      return;
    }
    const ItemIndex index(node, array.items());
    for (std::size_t at = 0; at < array.size(); ++at) {
      if (const char* error = identity_error(node, array.item(at)); error != nullptr) {
        fail(place, fmt::format("element {}: {}", at, error));
        return;
      }
      const Place here{.parent = &place, .list = &node, .item = &array.item(at)};
      if (duplicates_ == Duplicates::Refused && !index.is_first(at)) {
        std::string element;
        item_element(node, array.item(at)).print_to(element);
        fail(place, "duplicate entries for key " + element);
      }
      value(item, array.item(at), here);
    }
  }

  static std::string shown(const Value& value) {
    if (value.is_object()) return "map";
    if (value.is_array()) return "list";
    return json::print(value);
  }

  void fail(const Place& place, std::string message) {
    causes_.push_back({"FieldValueTypeInvalid", std::move(message), place.text()});
  }

  Duplicates duplicates_;
  std::vector<Cause> causes_;
};

}  // namespace

std::vector<Cause> mismatches(const SchemaNode* node, const Value& value, Duplicates duplicates) {
  Check check(duplicates);
  check.value(node, value, {});
  return check.take();
}

}  // namespace slipway::kube::typed
