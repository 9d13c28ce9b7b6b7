#include "delivery/rollout/fields.h"

#include <algorithm>
#include <span>

#include "base/count.h"
#include "base/text.h"

namespace slipway::delivery::rollout {
namespace {

using json::Value;
using Keys = std::vector<std::string>;

Keys keys_of(std::string_view path) {
  Keys keys;
  while (!path.empty()) {
    const auto dot = path.find('.');
    keys.emplace_back(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return keys;
}

std::size_t index_of(const std::string& key) {
  const auto number = parse_count(key);
  return number ? static_cast<std::size_t>(*number) : static_cast<std::size_t>(-1);
}

const Value& step(const Value& value, const std::string& key) {
  return value.is_array() ? value.item(index_of(key)) : value[key];
}

Value at(const Value& object, std::span<const std::string> keys) {
  Value value = object;
  for (const std::string& key : keys) value = Value(step(value, key));
  return value;
}

Value with_at(const Value& object, std::span<const std::string> keys, Value value) {
  if (keys.empty()) return value;
  Value inner = with_at(step(object, keys.front()), keys.subspan(1), std::move(value));
  if (object.is_array()) return object.with_item(index_of(keys.front()), std::move(inner));
  return object.with(keys.front(), std::move(inner));
}

Value without_at(const Value& object, std::span<const std::string> keys) {
  if (keys.size() == 1) return object.without(keys.front());
  return with_at(object, keys.first(1), without_at(step(object, keys.front()), keys.subspan(1)));
}

std::string pointer(std::span<const std::string> keys) {
  std::string out;
  for (const std::string& key : keys) {
    out += '/';
    for (const char c : key) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return out;
}

Value operation(const char* op, std::span<const std::string> keys, Value value) {
  return json::object({{"op", op}, {"path", pointer(keys)}, {"value", std::move(value)}});
}

void collect(const Value& value, std::span<const std::string> keys, const std::string& so_far, std::vector<std::string>& out) {
  if (value.is_null()) return;
  if (keys.empty()) {
    out.push_back(so_far);
    return;
  }
  const auto below = [&](const std::string& key) { return so_far.empty() ? key : so_far + "." + key; };
  if (keys.front() != "*") return collect(step(value, keys.front()), keys.subspan(1), below(keys.front()), out);
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    collect(value.item(i), keys.subspan(1), below(std::to_string(i)), out);
  }
}

}  // namespace

Value field_at(const Value& object, std::string_view path) {
  if (path.empty()) return {};
  return at(object, keys_of(path));
}

Value with_field_at(const Value& object, std::string_view path, Value value) {
  return path.empty() ? object : with_at(object, keys_of(path), std::move(value));
}

std::vector<std::string> paths_of(const Value& object, std::string_view pattern) {
  std::vector<std::string> out;
  collect(object, keys_of(pattern), "", out);
  return out;
}

std::string pointer_of(std::string_view path) { return pointer(keys_of(path)); }

void FieldPatch::test(std::string_view path) {
  Value value = field_at(object_, path);
  if (!value.is_null()) tests_.push_back(operation("test", keys_of(path), std::move(value)));
}

void FieldPatch::set(std::string_view path, Value value) { set_keys(keys_of(path), std::move(value)); }

void FieldPatch::remove(std::string_view path) { remove_keys(keys_of(path)); }

void FieldPatch::set_annotation(std::string_view name, std::string_view value) {
  set_keys({"metadata", "annotations", std::string(name)}, value);
}

void FieldPatch::remove_annotation(std::string_view name) { remove_keys({"metadata", "annotations", std::string(name)}); }

void FieldPatch::set_keys(const Keys& keys, Value value) {
  if (at(object_, keys) == value) return;
  // Below what is absent everything is made in one go: "add" makes no parents.
  std::size_t there = 0;
  while (there + 1 < keys.size() && !at(object_, std::span(keys).first(there + 1)).is_null()) ++there;
  const std::span<const std::string> outer = std::span(keys).first(there + 1);
  object_ = with_at(object_, keys, std::move(value));
  changes_.push_back(operation("add", outer, at(object_, outer)));
}

void FieldPatch::remove_keys(const Keys& keys) {
  if (at(object_, keys).is_null()) return;
  changes_.push_back(json::object({{"op", "remove"}, {"path", pointer(keys)}}));
  object_ = without_at(object_, keys);
}

Value FieldPatch::build() const {
  std::vector<Value> all = tests_;
  all.insert(all.end(), changes_.begin(), changes_.end());
  return json::array(all);
}

}  // namespace slipway::delivery::rollout
