#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "json/text.h"
#include "kube/format.h"
#include "kube/names.h"
#include "kube/quantity.h"
#include "kube/schema.h"
#include "kube/schema_node.h"
#include "kube/value_path.h"

namespace slipway::kube {
namespace {

using Type = SchemaNode::Type;

/// What go-openapi calls the type of a value.
std::string_view type_name(const json::Value& value) {
  switch (value.type()) {
    case json::Type::Null:
      return "null";
    case json::Type::Bool:
      return "boolean";
    case json::Type::Int:
      return "integer";
    case json::Type::Double:
    case json::Type::Number:
      return "number";
    case json::Type::String:
      return "string";
    case json::Type::Array:
      return "array";
    case json::Type::Object:
      return "object";
  }
  return "";
}

std::string_view type_name(const SchemaNode& node) {
  if (node.is_int_or_string) return "integer,string";
  switch (node.type) {
    case Type::Any:
      return "";
    case Type::Object:
      return "object";
    case Type::Array:
      return "array";
    case Type::String:
      return "string";
    case Type::Integer:
      return "integer";
    case Type::Number:
      return "number";
    case Type::Boolean:
      return "boolean";
  }
  return "";
}

bool is_whole(const json::Value& value) {
  if (value.is_int()) return true;
  const double number = value.as_double();
  return value.is_number() && std::abs(number) <= 9007199254740992.0 && number == std::floor(number);
}

bool has_type(const json::Value& value, const SchemaNode& node) {
  if (node.is_int_or_string) return value.is_string() || is_whole(value);
  switch (node.type) {
    case Type::Any:
      return true;
    case Type::Object:
      return value.is_object();
    case Type::Array:
      return value.is_array();
    case Type::String:
      return value.is_string();
    case Type::Integer:
      return is_whole(value);
    case Type::Number:
      return value.is_number();
    case Type::Boolean:
      return value.is_bool();
  }
  return true;
}

std::string shortest(double number) { return json::print(json::Value(number)); }

std::int64_t code_points(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

/// OpenAPI findings come before those on the uniqueness of lists, as upstream runs the two one after the other.
class Validator {
 public:
  std::vector<Cause> run(const json::Value& value, const SchemaNode& node, const json::Value* old) {
    visit(value, node, old, ValuePath());
    causes_.insert(causes_.end(), std::make_move_iterator(list_causes_.begin()), std::make_move_iterator(list_causes_.end()));
    return std::move(causes_);
  }

 private:
  void visit(const json::Value& value, const SchemaNode& node, const json::Value* old, const ValuePath& path) {
    // Ratcheting (KEP-4008): what has not changed is tolerated.
    if (old != nullptr && (value.is_same(*old) || value == *old)) return;
    if (value.is_null() && node.is_nullable) return;
    if (!has_type(value, node)) {
      const std::string where = path.dotted();
      causes_.push_back(
          field::type_invalid(where, quoted(type_name(value)),
                              fmt::format("{} in body must be of type {}: \"{}\"", where, type_name(node), type_name(value))));
    }
    if (node.is_quantity) check_quantity(value, path);
    if (node.is_embedded_resource && value.is_object()) check_embedded(value, path);
    if (node.checks != nullptr) check(value, node, *node.checks, path);
    if (value.is_object()) visit_members(value, node, old, path);
    if (value.is_array()) visit_items(value, node, old, path);
  }

  void visit_members(const json::Value& value, const SchemaNode& node, const json::Value* old, const ValuePath& path) {
    for (const std::string& name : node.required) {
      if (!value.has(name)) causes_.push_back(field::required(path.field(name).dotted()));
    }
    if (node.properties.empty() && node.additional_properties == nullptr) return;
    for (const auto [key, member] : value.members()) {
      const SchemaNode* child = node.property(key);
      const bool is_map_key = child == nullptr;
      if (is_map_key) child = node.additional_properties;
      if (child == nullptr) continue;
      visit(member, *child, old != nullptr ? old->find(key) : nullptr, is_map_key ? path.key(key) : path.field(key));
    }
  }

  void visit_items(const json::Value& value, const SchemaNode& node, const json::Value* old, const ValuePath& path) {
    if (node.list_type == SchemaNode::ListType::Set && !node.may_repeat) check_set(value.items(), path);
    if (node.list_type == SchemaNode::ListType::Map && !node.may_repeat) check_map_list(value.items(), node, path);
    if (node.items == nullptr) return;
    std::size_t at = 0;
    for (const json::Value& item : value.items()) {
      visit(item, *node.items, correlated(item, node, old), path.item(at));
      ++at;
    }
  }

  /// The item of the old list that has the same keys. Only items of map lists can be told apart.
  static const json::Value* correlated(const json::Value& item, const SchemaNode& node, const json::Value* old) {
    if (old == nullptr || node.list_type != SchemaNode::ListType::Map) return nullptr;
    const json::Value* found = nullptr;
    for (const json::Value& candidate : old->items()) {
      if (!std::ranges::all_of(node.list_map_keys, [&](const std::string& key) { return candidate[key] == item[key]; }))
        continue;
      if (found != nullptr) return nullptr;
      found = &candidate;
    }
    return found;
  }

  void check(const json::Value& value, const SchemaNode& node, const SchemaChecks& checks, const ValuePath& path) {
    if (!checks.enumeration.empty() && std::ranges::find(checks.enumeration, value) == checks.enumeration.end()) {
      std::vector<std::string> supported;
      for (const json::Value& one : checks.enumeration) supported.push_back(one.is_string() ? one.str() : json::print(one));
      causes_.push_back(field::not_supported(path.dotted(), json::print(value), supported));
    }
    if (value.is_string()) check_string(value, checks, path);
    if (value.is_number()) check_number(value, node, checks, path);
    if (value.is_array()) check_count(value.size(), checks.min_items, checks.max_items, "items", path);
    if (value.is_object()) check_count(value.size(), checks.min_properties, checks.max_properties, "properties", path);
    if (!checks.all_of.empty()) check_all_of(value, checks, path);
    if (!checks.any_of.empty()) check_any_of(value, checks, path);
    if (!checks.one_of.empty()) check_one_of(value, checks, path);
    if (checks.not_schema != nullptr && holds(value, *checks.not_schema, path))
      add_composite(path, "must not validate the schema (not)");
  }

  void check_string(const json::Value& value, const SchemaChecks& checks, const ValuePath& path) {
    const std::string_view text = value.as_string();
    const auto size = checks.min_length || checks.max_length ? code_points(text) : 0;
    if (checks.max_length && size > *checks.max_length) {
      causes_.push_back(field::too_long(path.dotted(), static_cast<std::size_t>(*checks.max_length)));
    }
    if (checks.min_length && size < *checks.min_length) {
      add_invalid(path, value, fmt::format("should be at least {} chars long", *checks.min_length));
    }
    if (checks.compiled_pattern != nullptr &&
        !RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *checks.compiled_pattern)) {
      add_invalid(path, value, fmt::format("should match '{}'", checks.pattern));
    }
    if (!checks.format.empty() && !has_format(checks.format, text)) {
      const std::string where = path.dotted();
      causes_.push_back(
          field::type_invalid(where, json::print(value),
                              fmt::format("{} in body must be of type {}: {}", where, checks.format, json::print(value))));
    }
  }

  void check_number(const json::Value& value, const SchemaNode& node, const SchemaChecks& checks, const ValuePath& path) {
    const double number = value.as_double();
    if (checks.maximum && (checks.is_maximum_exclusive ? number >= *checks.maximum : number > *checks.maximum)) {
      add_invalid(path, value,
                  fmt::format("should be less than {}{}", checks.is_maximum_exclusive ? "" : "or equal to ",
                              shortest(*checks.maximum)));
    }
    if (checks.minimum && (checks.is_minimum_exclusive ? number <= *checks.minimum : number < *checks.minimum)) {
      add_invalid(path, value,
                  fmt::format("should be greater than {}{}", checks.is_minimum_exclusive ? "" : "or equal to ",
                              shortest(*checks.minimum)));
    }
    if (checks.multiple_of && *checks.multiple_of > 0) {
      const double times = number / *checks.multiple_of;
      if (times != std::floor(times))
        add_invalid(path, value, fmt::format("should be a multiple of {}", shortest(*checks.multiple_of)));
    }
    const bool is_int32 = checks.format == "int32" && node.type == Type::Integer;
    if (is_int32 && is_whole(value) && std::abs(number + 0.5) > 2147483648.0) {
      add_invalid(path, value, "must be of type integer with format int32");
    }
  }

  void check_count(std::size_t count, std::optional<std::int64_t> least, std::optional<std::int64_t> most,
                   std::string_view what, const ValuePath& path) {
    const auto size = static_cast<std::int64_t>(count);
    if (most && size > *most) causes_.push_back(field::too_many(path.dotted(), count, static_cast<std::size_t>(*most)));
    if (least && size < *least) add_invalid(path, json::Value(size), fmt::format("should have at least {} {}", *least, what));
  }

  void check_quantity(const json::Value& value, const ValuePath& path) {
    const bool is_right = value.is_string()   ? Quantity::parse(value.as_string()).has_value()
                          : value.is_number() ? Quantity::parse(value.number_text()).has_value()
                                              : false;
    if (!is_right) causes_.push_back(field::invalid(path.dotted(), json::print(value), std::string(Quantity::kRule)));
  }

  void check_embedded(const json::Value& value, const ValuePath& path) {
    for (const std::string_view name : {"apiVersion", "kind"}) {
      if (value[name].as_string().empty()) causes_.push_back(field::required(path.field(name).dotted(), "must not be empty"));
    }
    std::string kind = value["kind"].str();
    std::ranges::transform(kind, kind.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    if (kind.empty()) return;
    for (auto& fault : dns1035_label_faults(kind)) {
      causes_.push_back(field::invalid(path.field("kind").dotted(), json::print(value["kind"]),
                                       "may have mixed case, but should otherwise match: " + fault));
    }
  }

  /// What a validation-only node finds, apart from everything else.
  static std::vector<Cause> findings(const json::Value& value, const SchemaNode& node, const ValuePath& path) {
    Validator inner;
    inner.visit(value, node, nullptr, path);
    return std::move(inner.causes_);
  }
  static bool holds(const json::Value& value, const SchemaNode& node, const ValuePath& path) {
    return findings(value, node, path).empty();
  }

  void check_all_of(const json::Value& value, const SchemaChecks& checks, const ValuePath& path) {
    bool is_valid = true;
    for (const SchemaNode* one : checks.all_of) is_valid &= add(findings(value, *one, path));
    if (!is_valid) add_composite(path, "must validate all the schemas (allOf)");
  }

  void check_any_of(const json::Value& value, const SchemaChecks& checks, const ValuePath& path) {
    std::vector<Cause> best;
    for (const SchemaNode* one : checks.any_of) {
      auto found = findings(value, *one, path);
      if (found.empty()) return;
      if (best.empty() || found.size() < best.size()) best = std::move(found);
    }
    add(std::move(best));
    add_composite(path, "must validate at least one schema (anyOf)");
  }

  void check_one_of(const json::Value& value, const SchemaChecks& checks, const ValuePath& path) {
    std::vector<Cause> best;
    int valid = 0;
    for (const SchemaNode* one : checks.one_of) {
      auto found = findings(value, *one, path);
      if (found.empty()) ++valid;
      if (!found.empty() && (best.empty() || found.size() < best.size())) best = std::move(found);
    }
    if (valid == 1) return;
    if (valid == 0) add(std::move(best));
    add_composite(path, valid == 0
                            ? "must validate one and only one schema (oneOf). Found none valid"
                            : fmt::format("must validate one and only one schema (oneOf). Found {} valid alternatives", valid));
  }

  /// True when there was nothing to add.
  bool add(std::vector<Cause> found) {
    causes_.insert(causes_.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    return found.empty();
  }

  void check_set(std::span<const json::Value> items, const ValuePath& path) {
    report_repeats(items, path, [&](std::size_t at) { return json::print(items[at]); });
  }

  void check_map_list(std::span<const json::Value> items, const SchemaNode& node, const ValuePath& path) {
    for (std::size_t at = 0; at < items.size(); ++at) {
      if (items[at].is_object() || items[at].is_null()) continue;
      list_causes_.push_back(field::invalid(path.item(at).bracketed(), json::print(items[at]),
                                            "must be an object for an x-kubernetes-list-type: map"));
      return;
    }
    std::vector<json::Value> keys;
    keys.reserve(items.size());
    for (const json::Value& item : items) {
      json::ObjectBuilder key(node.list_map_keys.size());
      for (const std::string& name : node.list_map_keys) {
        if (const json::Value* value = item.find(name)) key.add(name, *value);
      }
      keys.push_back(key.build());
    }
    report_repeats(keys, path, [&](std::size_t at) { return json::print(keys[at]); });
  }

  /// Reports the second of equal items, once per value as upstream. Lists are short as a rule: comparing each with each costs
  /// nothing. Long ones are compared by their text.
  template <class Text>
  void report_repeats(std::span<const json::Value> items, const ValuePath& path, Text text) {
    constexpr std::size_t kFewItems = 32;
    std::map<std::string, int> seen;
    for (std::size_t at = 0; at < items.size(); ++at) {
      const auto earlier = items.first(at);
      const auto times = items.size() <= kFewItems ? std::ranges::count(earlier, items[at]) : seen[canonical(items[at])]++;
      if (times == 1) list_causes_.push_back(field::duplicate(path.item(at).bracketed(), text(at)));
    }
  }

  /// Text that equal values share: members sorted, numbers by value.
  static std::string canonical(const json::Value& value) {
    if (value.is_number()) return is_whole(value) ? std::to_string(value.as_int()) : value.number_text();
    if (value.is_array()) {
      std::string out = "[";
      for (const json::Value& item : value.items()) out += canonical(item) + ",";
      return out + "]";
    }
    if (!value.is_object()) return json::print(value);
    std::vector<std::string> members;
    for (const auto [key, member] : value.members()) members.push_back(json::print(json::Value(key)) + ":" + canonical(member));
    std::ranges::sort(members);
    std::string out = "{";
    for (const auto& member : members) out += member + ",";
    return out + "}";
  }

  static std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }
  void add_invalid(const ValuePath& path, const json::Value& value, std::string_view rule) {
    const std::string where = path.dotted();
    causes_.push_back(field::invalid(where, json::print(value), fmt::format("{} in body {}", where, rule)));
  }
  /// Findings on allOf, anyOf, oneOf and not have no path of their own upstream: the message names it.
  void add_composite(const ValuePath& path, std::string_view rule) {
    causes_.push_back(field::invalid("<nil>", "\"\"", fmt::format("\"{}\" {}", path.dotted(), rule)));
  }

  std::vector<Cause> causes_;
  std::vector<Cause> list_causes_;
};

}  // namespace

std::vector<Cause> Schema::validate(const json::Value& object, const json::Value* old) const {
  return Validator().run(object, root(), old);
}

}  // namespace slipway::kube
