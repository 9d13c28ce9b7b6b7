#include "kube/strategic_merge_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::kube::strategic {
namespace {

std::string_view go_type(const json::Value& value) {
  switch (value.type()) {
    case json::Type::Null:
      return "%!s(<nil>)";
    case json::Type::Bool:
      return "bool";
    case json::Type::Int:
      return "int64";
    case json::Type::Double:
    case json::Type::Number:
      return "float64";
    case json::Type::String:
      return "string";
    case json::Type::Array:
      return kGoSlice;
    case json::Type::Object:
      return kGoMap;
  }
  return "";
}

}  // namespace

Field field_of(const SchemaNode* node, std::string_view name) {
  Field field;
  field.node = node == nullptr ? nullptr : node->member(name);
  if (field.node == nullptr) return field;
  field.merges = field.node->patch_merges;
  field.replaces = field.node->patch_replaces;
  field.retains_keys = field.node->patch_retains_keys;
  field.merge_key = field.node->patch_merge_key;
  return field;
}

std::string go_text(const json::Value& value) {
  if (value.is_null()) return "<nil>";
  if (value.is_bool()) return value.as_bool() ? "true" : "false";
  if (value.is_string()) return value.str();
  if (value.is_number()) return value.number_text();
  std::vector<std::string> parts;
  for (const auto [key, member] : value.members()) parts.push_back(fmt::format("{}:{}", key, go_text(member)));
  std::ranges::sort(parts);
  for (const json::Value& item : value.items()) parts.push_back(go_text(item));
  std::string out = value.is_object() ? "map[" : "[";
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i == 0 ? "" : " ") + parts[i];
  return out + "]";
}

std::unexpected<Status> malformed(std::string message) { return fail(Reason::BadRequest, std::move(message)); }

std::unexpected<Status> bad_type(std::string_view expected, const json::Value& actual) {
  return malformed(fmt::format("expected a {}, but received a {}", expected, go_type(actual)));
}

std::unexpected<Status> no_merge_key(const json::Value& item, std::string_view merge_key) {
  return malformed(fmt::format("map: {} does not contain declared merge key: {}", go_text(item), merge_key));
}

Result<bool> holds_objects(const Items& left, const Items& right) {
  const json::Value* first = nullptr;
  for (const Items* list : {&left, &right}) {
    for (const json::Value& item : *list) {
      if (first == nullptr) first = &item;
      if (item.is_array()) return fail(Reason::Invalid, "lists of lists are not supported");
      if (go_type(item) == go_type(*first)) continue;
      return malformed(fmt::format("list element types are not identical: [{} {}]", go_text(json::array(left)),
                                   go_text(json::array(right))));
    }
  }
  return first != nullptr && first->is_object();
}

std::ptrdiff_t index_of(const Items& list, const json::Value& item, std::string_view merge_key) {
  const auto key_of = [&](const json::Value& one) -> const json::Value& {
    return merge_key.empty() || !one.is_object() ? one : one[merge_key];
  };
  const json::Value& wanted = key_of(item);
  const auto at = std::ranges::find_if(list, [&](const json::Value& one) {
    const json::Value& key = key_of(one);
    return go_type(key) == go_type(wanted) && key == wanted;
  });
  return at == list.end() ? -1 : at - list.begin();
}

bool is_deletion(const json::Value& item) { return item[kPatch].as_string() == "delete"; }

Result<Items> in_order_of(const Items& list, const Items& order, std::string_view merge_key) {
  if (!merge_key.empty()) {
    for (const Items* one : std::initializer_list<const Items*>{&list, &order}) {
      for (const json::Value& item : *one) {
        if (!item.is_object()) return bad_type(kGoMap, item);
        if (!item.has(merge_key)) return no_merge_key(item, merge_key);
      }
    }
  }
  return sorted_by(list, [&](const json::Value& item) {
    const std::ptrdiff_t at = index_of(order, item, merge_key);
    const bool is_last = is_deletion(item) || at < 0;
    return std::pair(is_deletion(item), is_last ? static_cast<std::ptrdiff_t>(order.size()) : at);
  });
}

Items items_of(const json::Value& list) { return {list.items().begin(), list.items().end()}; }

}  // namespace slipway::kube::strategic
