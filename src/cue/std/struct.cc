// Package struct.
#include <fmt/format.h>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace struct_package {
namespace {

Value min_fields(Calls& calls, std::span<const Value> args) {
  auto size = static_cast<std::int64_t>(calls.member_count(args[0]));
  std::int64_t limit = to_int(args[1]);
  if (size >= limit) return Value::of(true);
  std::string why = fmt::format("len(fields) < MinFields({}) ({} < {})", limit, size, limit);
  std::int64_t possible = size + static_cast<std::int64_t>(calls.optional_count(args[0]));
  return calls.may_grow(args[0]) || possible >= limit ? calls.incomplete(why) : calls.reject(why);
}

Value max_fields(Calls& calls, std::span<const Value> args) {
  auto size = static_cast<std::int64_t>(calls.member_count(args[0]));
  std::int64_t limit = to_int(args[1]);
  if (size <= limit) return Value::of(true);
  return calls.reject(fmt::format("len(fields) > MaxFields({}) ({} > {})", limit, size, limit));
}

constexpr auto& kStructInt = kParams<kStruct, kInt>;

constexpr Builtin kRows[] = {
    {"struct", "MinFields", kStructInt, kBool, min_fields, false, true},
    {"struct", "MaxFields", kStructInt, kBool, max_fields, false, true},
};

}  // namespace
}  // namespace struct_package

std::span<const Builtin> struct_rows() { return struct_package::kRows; }

}  // namespace slipway::cue
