// Edits of immutable values and the builders.
#include <algorithm>

#include "json/layout.h"
#include "json/value.h"

namespace slipway::json {

Value Value::with(std::string_view key, Value value) const {
  const std::size_t count = is_object() ? length() : 0;
  const std::size_t at = count == 0 ? 0 : Layout::find(*this, key);
  Node* node = Layout::new_node(Tag::Object, at < count ? count : count + 1);
  Member* to = Layout::members(node);
  const Member* from = count == 0 ? nullptr : Layout::members(*this);
  for (std::size_t i = 0; i < count; ++i) {
    new (to + i) Member{from[i].key, i == at ? std::move(value) : from[i].value};
  }
  if (at == count) new (to + count) Member{Value(key), std::move(value)};
  if (node->size < Layout::kIndexedFrom) return Layout::object_of(node);
  if (count < Layout::kIndexedFrom) {
    Layout::fill_index(node);
    return Layout::object_of(node);
  }
  const std::uint32_t* old = Layout::index(this->node());
  std::uint32_t* index = Layout::index(node);
  const std::uint32_t* place = old + count;
  if (at == count) {
    auto less = [from](std::string_view wanted, std::uint32_t number) {
      return Layout::key_less(wanted, from[number].key.as_string());
    };
    place = std::upper_bound(old, old + count, key, less);
  }
  index = std::copy(old, place, index);
  if (at == count) *index++ = static_cast<std::uint32_t>(count);
  std::copy(place, old + count, index);
  return Layout::object_of(node);
}

Value Value::without(std::string_view key) const {
  if (!is_object()) return empty_object();
  const std::size_t at = Layout::find(*this, key);
  if (at == length()) return *this;
  std::vector<Member> rest;
  rest.reserve(length() - 1);
  const Member* from = Layout::members(*this);
  for (std::size_t i = 0; i < length(); ++i) {
    if (i != at) rest.push_back(from[i]);
  }
  return Layout::object(rest);
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

ObjectBuilder::ObjectBuilder(const Value& from) {
  members_.reserve(from.members().size());
  if (from.is_object() && from.size() > 0) members_.assign(Layout::members(from), Layout::members(from) + from.size());
}

ObjectBuilder& ObjectBuilder::set(std::string_view key, Value value) {
  if (members_.size() < Layout::kIndexedFrom) {
    for (Member& member : members_) {
      if (member.key.as_string() != key) continue;
      member.value = std::move(value);
      return *this;
    }
  } else {
    may_repeat_ = true;
  }
  return add(key, std::move(value));
}

ObjectBuilder& ObjectBuilder::add(std::string_view key, Value value) {
  members_.push_back({Value(key), std::move(value)});
  return *this;
}

namespace {

// Keeps the first place and the last value of each key.
void join_repeated(std::vector<Member>& members) {
  std::vector<std::uint32_t> order(members.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    auto left = members[a].key.as_string();
    auto right = members[b].key.as_string();
    return Layout::key_less(left, right) || (a < b && left == right);
  });
  std::vector<bool> gone(members.size());
  for (std::size_t i = 0, first = 0; i < order.size(); ++i) {
    if (!Layout::same_text(members[order[first]].key, members[order[i]].key)) first = i;
    if (first == i) continue;
    members[order[first]].value = members[order[i]].value;
    gone[order[i]] = true;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) members[kept] = std::move(members[i]);
    ++kept;
  }
  members.resize(kept);
}

}  // namespace

Value ObjectBuilder::build() {
  if (may_repeat_) join_repeated(members_);
  Value object = Layout::object(std::span<Member>(members_));
  members_.clear();
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
