// Reading and writing fields of objects by paths of keys with dots between them ("spec.updateStrategy.partition"; a number is
// the index of an item of a list), and the JSON patch that makes an object what an edited copy of it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "kube/object.h"

namespace slipway::delivery::rollout {

/// Null when absent, and for an empty path.
json::Value field_at(const json::Value& object, std::string_view path);
/// Objects around it are made where they are absent; the object itself for an empty path.
json::Value with_field_at(const json::Value& object, std::string_view path, json::Value value);
/// The paths that `pattern` stands for in the object: `*` is every item of a list. Those whose field is absent are left out.
std::vector<std::string> paths_of(const json::Value& object, std::string_view pattern);
/// A JSON pointer, keys escaped: "/spec/replicas".
std::string pointer_of(std::string_view path);

/// Collects the operations of a JSON patch. Tests stand before what is changed, so that a patch whose object is another by now
/// fails whole.
class FieldPatch {
 public:
  explicit FieldPatch(kube::Object object) : object_(std::move(object)) {}

  /// The field is what it is in the object. Nothing for an absent one.
  void test(std::string_view path);
  /// Makes the objects around it where they are absent; nothing when it is so already.
  void set(std::string_view path, json::Value value);
  /// Nothing when it is absent.
  void remove(std::string_view path);
  void set_annotation(std::string_view name, std::string_view value);
  void remove_annotation(std::string_view name);

  bool changes_something() const { return !changes_.empty(); }
  json::Value build() const;

 private:
  void set_keys(const std::vector<std::string>& keys, json::Value value);
  void remove_keys(const std::vector<std::string>& keys);

  kube::Object object_;  // as it will be
  std::vector<json::Value> tests_{};
  std::vector<json::Value> changes_{};
};

}  // namespace slipway::delivery::rollout
