// JSON pointers (RFC 6901): where a value lies inside another. "/spec/containers/0/image"; "" is the whole; ~1 stands for /, ~0
// for ~. An edit gives a new value and shares what it does not touch.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::json {

/// The decoded parts of a pointer. BadRequest when it neither is empty nor begins with "/", has a bad "~" escape, or more than
/// 1000 parts.
Result<std::vector<std::string>> parse_pointer(std::string_view pointer);
std::string print_pointer(std::span<const std::string> parts);

/// nullptr when there is nothing there. An array index is a number without leading zeros.
const Value* get_at(const Value& document, std::span<const std::string> parts);

/// RFC 6902 "add": sets a member, or inserts an item ("-": last). NotFound when the parent is absent or the index beyond the
/// end; BadRequest when the last part is no index of the array.
Result<Value> add_at(const Value& document, std::span<const std::string> parts, Value value);
/// Replaces what is there. NotFound when nothing is.
Result<Value> replace_at(const Value& document, std::span<const std::string> parts, Value value);
/// NotFound when nothing is there. Removing the whole document gives null.
Result<Value> remove_at(const Value& document, std::span<const std::string> parts);

}  // namespace slipway::json
