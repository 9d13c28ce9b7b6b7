#include "kube/strategic_merge_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/text.h"

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

/// Go prints a map in the order of its keys.
void append_go_text(std::string& out, const json::Value& value) {
  if (value.is_null()) out += "<nil>";
  if (value.is_bool()) out += value.as_bool() ? "true" : "false";
  if (value.is_string()) out += value.as_string();
  if (value.is_number()) out += value.number_text();
  if (!value.is_object() && !value.is_array()) return;
  out += value.is_object() ? "map[" : "[";
  std::vector<std::pair<std::string, const json::Value*>> members;
  for (const auto [key, member] : value.members()) members.emplace_back(key, &member);
  std::ranges::sort(members, {}, &std::pair<std::string, const json::Value*>::first);
  bool is_first = true;
  for (const auto& [key, member] : members) {
    if (!std::exchange(is_first, false)) out += ' ';
    out += key;
    out += ':';
    append_go_text(out, *member);
  }
  for (const json::Value& item : value.items()) {
    if (!std::exchange(is_first, false)) out += ' ';
    append_go_text(out, item);
  }
  out += ']';
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
  std::string out;
  append_go_text(out, value);
  return out;
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

std::string key_text(const json::Value& item, std::string_view merge_key) {
  const json::Value& key = merge_key.empty() || !item.is_object() ? item : item[merge_key];
  std::string text(go_type(key));
  text += ' ';
  if (key.is_string()) {
    text += key.as_string();
  } else {
    json::print_to(text, key);
  }
  return text;
}

bool is_deletion(const json::Value& item) { return item[kPatch].as_string() == "delete"; }

Result<Items> in_order_of(const Items& list, const Items& order, const Places& places, std::string_view merge_key) {
  if (!merge_key.empty()) {
    for (const Items* one : std::initializer_list<const Items*>{&list, &order}) {
      for (const json::Value& item : *one) {
        if (!item.is_object()) return bad_type(kGoMap, item);
        if (!item.has(merge_key)) return no_merge_key(item, merge_key);
      }
    }
  }
  return sorted_by(list, [&](const json::Value& item) {
    const std::ptrdiff_t at = places.of(item);
    const bool is_last = is_deletion(item) || at < 0;
    return std::pair(is_deletion(item), is_last ? static_cast<std::ptrdiff_t>(order.size()) : at);
  });
}

Items items_of(const json::Value& list) { return {list.items().begin(), list.items().end()}; }

}  // namespace slipway::kube::strategic
