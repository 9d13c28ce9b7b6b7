// Edits of objects by JSON pointer, and what is sent for them: a JSON patch that applies to nothing but the object that was
// read and the entries that were meant.
#pragma once

#include <string_view>

#include "json/value.h"

namespace slipway::delivery::rollout {

/// What is there, or null.
const json::Value& value_at(const json::Value& value, std::string_view pointer);
/// Objects are made on the way. REQUIRES: no index in the pointer.
json::Value with_value(const json::Value& value, std::string_view pointer, json::Value member);
json::Value without_value(const json::Value& value, std::string_view pointer);

/// With an annotation; null takes it away, and with it the annotations when none is left and `is_bare`.
json::Value with_annotation(const json::Value& object, std::string_view key, json::Value text, bool is_bare = false);

/// True when `actual` has all that `wanted` has: a server adds defaults to what it is given.
bool covers(const json::Value& actual, const json::Value& wanted);

/// Tests metadata.resourceVersion, then changes what differs. Before the first change within an item of a list the item's name
/// (at `name_path` within it) is tested; a list that gains or loses items is replaced after the test of its own first item's.
/// An empty array when the two are equal.
json::Value guarded_patch(const json::Value& before, const json::Value& after, std::string_view name_path);

}  // namespace slipway::delivery::rollout
