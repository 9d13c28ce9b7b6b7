// Edits of immutable values and the builders.
#include <algorithm>
#include <memory>

#include "json/layout.h"
#include "json/value.h"

namespace slipway::json {

std::vector<Value> Layout::pairs(const Value& object, std::size_t room) {
  std::vector<Value> pairs;
  const std::size_t count = object.is_object() ? object.size() : 0;
  pairs.reserve((count + room) * 2);
  for (std::size_t i = 0; i < count; ++i) {
    pairs.push_back(key(object, i));
    pairs.push_back(values(object)[i]);
  }
  return pairs;
}

Value Layout::replaced(const Value& object, std::size_t member, Value value) {
  const std::size_t count = object.size();
  Value made = new_node(object.tag(), count);
  for (std::size_t i = 0; i < count; ++i) new (values(made) + i) Value(i == member ? std::move(value) : values(object)[i]);
  if (is_named(object)) {
    std::memcpy(ids(made), ids(object), count * sizeof(std::uint16_t));
  } else {
    std::uninitialized_copy_n(keys(object), count, keys(made));
    if (count >= kIndexedFrom) std::memcpy(index(made), index(object), count * sizeof(std::uint32_t));
  }
  return made;
}

Value Value::with(std::string_view key, Value value) const {
  const std::size_t count = is_object() ? length() : 0;
  const std::size_t at = count == 0 ? 0 : Layout::find(*this, key);
  if (at < count) return Layout::replaced(*this, at, std::move(value));
  std::vector<Value> pairs = Layout::pairs(*this, 1);
  pairs.emplace_back(key);
  pairs.push_back(std::move(value));
  return Layout::object(pairs);
}

Value Value::without(std::string_view key) const {
  if (!is_object()) return empty_object();
  const std::size_t at = length() == 0 ? 0 : Layout::find(*this, key);
  if (at == length()) return *this;
  std::vector<Value> pairs = Layout::pairs(*this);
  const auto gone = pairs.begin() + static_cast<std::ptrdiff_t>(2 * at);
  pairs.erase(gone, gone + 2);
  return Layout::object(pairs);
}

Value Value::with_path(std::span<const std::string_view> path, Value value) const {
  if (path.empty()) return value;
  return with(path[0], (*this)[path[0]].with_path(path.subspan(1), std::move(value)));
}

Value Value::without_path(std::span<const std::string_view> path) const {
  if (path.empty()) return {};
  const Value* member = find(path[0]);
  if (member == nullptr) return *this;
  if (path.size() == 1) return without(path[0]);
  Value changed = member->without_path(path.subspan(1));
  return changed.is_same(*member) ? *this : with(path[0], std::move(changed));
}

Value Value::with_item(std::size_t index, Value value) const {
  std::vector<Value> changed(items().begin(), items().end());
  if (index < changed.size()) {
    changed[index] = std::move(value);
  } else {
    changed.push_back(std::move(value));
  }
  return Layout::array(changed);
}

Value Value::without_item(std::size_t index) const {
  std::vector<Value> rest(items().begin(), items().end());
  if (index < rest.size()) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
  return Layout::array(rest);
}

Value Value::inserted(std::size_t index, Value value) const {
  std::vector<Value> longer;
  longer.reserve(size() + 1);
  longer.assign(items().begin(), items().end());
  longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(std::min(index, longer.size())), std::move(value));
  return Layout::array(longer);
}

// Builders.

ObjectBuilder::ObjectBuilder(const Value& from) : pairs_(Layout::pairs(from)) {}

ObjectBuilder& ObjectBuilder::set(std::string_view key, Value value) {
  if (pairs_.size() >= 2 * Layout::kIndexedFrom) {
    may_repeat_ = true;
    return add(key, std::move(value));
  }
  for (std::size_t i = 0; i < pairs_.size(); i += 2) {
    if (pairs_[i].as_string() != key) continue;
    pairs_[i + 1] = std::move(value);
    return *this;
  }
  return add(key, std::move(value));
}

ObjectBuilder& ObjectBuilder::add(std::string_view key, Value value) {
  pairs_.emplace_back(key);
  pairs_.push_back(std::move(value));
  return *this;
}

namespace {

// Keeps the first place and the last value of each key.
void join_repeated(std::vector<Value>& pairs) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < pairs.size(); i += 2) order.push_back(i);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    auto left = pairs[a].as_string();
    auto right = pairs[b].as_string();
    return Layout::key_less(left, right) || (a < b && left == right);
  });
  std::vector<bool> gone(pairs.size());
  for (std::size_t i = 0, first = 0; i < order.size(); ++i) {
    if (!Layout::same_text(pairs[order[first]], pairs[order[i]])) first = i;
    if (first == i) continue;
    pairs[order[first] + 1] = pairs[order[i] + 1];
    gone[order[i]] = gone[order[i] + 1] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) pairs[kept] = std::move(pairs[i]);
    ++kept;
  }
  pairs.resize(kept);
}

}  // namespace

Value ObjectBuilder::build() {
  if (may_repeat_) join_repeated(pairs_);
  Value object = Layout::object(pairs_);
  pairs_.clear();
  may_repeat_ = false;
  return object;
}

Value ArrayBuilder::build() {
  Value array = Layout::array(items_);
  items_.clear();
  return array;
}

Value object(std::initializer_list<std::pair<std::string_view, Value>> members) {
  ObjectBuilder builder(members.size());
  for (const auto& [key, value] : members) builder.set(key, value);
  return builder.build();
}

Value array(std::initializer_list<Value> items) { return array(std::span<const Value>(items.begin(), items.size())); }

Value array(std::span<const Value> items) {
  std::vector<Value> copy(items.begin(), items.end());
  return Layout::array(copy);
}

Value array(std::span<const std::string> items) {
  std::vector<Value> copy(items.begin(), items.end());
  return Layout::array(copy);
}

}  // namespace slipway::json
