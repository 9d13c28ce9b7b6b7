#include "delivery/rollout/traffic_edit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "json/pointer.h"

namespace slipway::delivery::rollout {

namespace {

using json::Value;

std::vector<std::string> parts_of(std::string_view pointer) {
  return json::parse_pointer(pointer).value_or(std::vector<std::string>{});
}

std::vector<std::string_view> views(const std::vector<std::string>& parts) { return {parts.begin(), parts.end()}; }

class Patch {
 public:
  explicit Patch(std::string_view name_path) : name_path_(parts_of(name_path)) {}

  void compare(const Value& before, const Value& after) {
    if (before.is_object() && after.is_object()) {
      compare_members(before, after);
    } else if (before.is_array() && after.is_array() && before.size() == after.size()) {
      compare_items(before, after);
    } else if (before != after) {
      if (before.is_array()) test_name(before.item(0), "0");
      write("replace", after);
    }
  }

  Value build() { return operations_.build(); }
  void test(Value value) { write("test", std::move(value)); }
  std::vector<std::string>& path() { return path_; }

 private:
  void compare_members(const Value& before, const Value& after) {
    for (const auto [key, value] : before.members()) {
      path_.emplace_back(key);
      if (const Value* other = after.find(key)) {
        compare(value, *other);
      } else {
        write("remove", nullptr);
      }
      path_.pop_back();
    }
    for (const auto [key, value] : after.members()) {
      if (before.has(key)) continue;
      path_.emplace_back(key);
      write("add", value);
      path_.pop_back();
    }
  }

  void compare_items(const Value& before, const Value& after) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before.item(i) == after.item(i)) continue;
      test_name(before.item(i), std::to_string(i));
      path_.push_back(std::to_string(i));
      compare(before.item(i), after.item(i));
      path_.pop_back();
    }
  }

  void test_name(const Value& item, const std::string& index) {
    const Value* name = json::get_at(item, name_path_);
    if (name_path_.empty() || name == nullptr) return;
    const std::size_t depth = path_.size();
    path_.push_back(index);
    path_.insert(path_.end(), name_path_.begin(), name_path_.end());
    write("test", *name);
    path_.resize(depth);
  }

  void write(std::string_view operation, Value value) {
    Value written = json::object({{"op", operation}, {"path", json::print_pointer(path_)}});
    operations_.add(operation == "remove" ? written : written.with("value", std::move(value)));
  }

  std::vector<std::string> name_path_;
  std::vector<std::string> path_;
  json::ArrayBuilder operations_;
};

}  // namespace

const Value& value_at(const Value& value, std::string_view pointer) {
  static const Value none;
  const Value* found = json::get_at(value, parts_of(pointer));
  return found == nullptr ? none : *found;
}

Value with_value(const Value& value, std::string_view pointer, Value member) {
  const auto parts = parts_of(pointer);
  return parts.empty() ? member : value.with_path(views(parts), std::move(member));
}

Value without_value(const Value& value, std::string_view pointer) { return value.without_path(views(parts_of(pointer))); }

Value with_annotation(const Value& object, std::string_view key, Value text, bool is_bare) {
  if (!text.is_null()) return object.with_path({"metadata", "annotations", key}, std::move(text));
  if (!object["metadata"]["annotations"].has(key)) return object;
  const Value left = object.without_path({"metadata", "annotations", key});
  return is_bare && left["metadata"]["annotations"].empty() ? left.without_path({"metadata", "annotations"}) : left;
}

bool covers(const Value& actual, const Value& wanted) {
  if (wanted.is_object() && actual.is_object()) {
    return std::ranges::all_of(wanted.members(), [&](const json::MemberView& member) {
      return actual.has(member.key) && covers(actual[member.key], member.value);
    });
  }
  if (!wanted.is_array() || !actual.is_array() || wanted.size() != actual.size()) return actual == wanted;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!covers(actual.item(i), wanted.item(i))) return false;
  }
  return true;
}

Value guarded_patch(const Value& before, const Value& after, std::string_view name_path) {
  if (before == after) return Value::empty_array();
  Patch patch(name_path);
  if (const Value& version = before["metadata"]["resourceVersion"]; !version.is_null()) {
    patch.path() = {"metadata", "resourceVersion"};
    patch.test(version);
    patch.path().clear();
  }
  patch.compare(before, after);
  return patch.build();
}

}  // namespace slipway::delivery::rollout
