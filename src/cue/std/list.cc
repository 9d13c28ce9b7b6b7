// Package list: what the language's own tests need first.
#include "cue/std/packages.h"

namespace slipway::cue {
namespace {

Value concat(Calls& calls, std::span<const Value> args) {
  std::vector<Value> items;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    Value inner = calls.list_item(args[0], i);
    if (inner.is_bottom()) return inner;
    for (std::size_t k = 0; k < calls.list_size(inner); ++k) items.push_back(calls.raw_item(inner, k));
  }
  return calls.make_list(items);
}

Value max_items(Calls& calls, std::span<const Value> args) {
  return Value::of(static_cast<std::int64_t>(calls.list_size(args[0])) <= args[1].integer);
}
Value min_items(Calls& calls, std::span<const Value> args) {
  return Value::of(static_cast<std::int64_t>(calls.list_size(args[0])) >= args[1].integer);
}

Value range(Calls& calls, std::span<const Value> args) {
  std::vector<Value> items;
  Decimal step = to_decimal(args[2]);
  Decimal limit = to_decimal(args[1]);
  if (step.is_zero()) return calls.fail("step must be non zero");
  bool is_whole_type = !is_float(args[0]) && !is_float(args[2]);
  for (Decimal at = to_decimal(args[0]); step.is_negative ? compare(at, limit) > 0 : compare(at, limit) < 0;
       at = add(at, step)) {
    if (items.size() >= 1'000'000) return calls.fail("list too long");
    items.push_back(calls.make_number(at, !is_whole_type));
  }
  return calls.make_list(items);
}

// A high bound of -1, which no program can write, is the end: what x[low:] compiles to.
Value slice(Calls& calls, std::span<const Value> args) {
  auto size = static_cast<std::int64_t>(calls.list_size(args[0]));
  std::int64_t low = args[1].integer;
  std::int64_t high = args[2].integer == -1 ? size : args[2].integer;
  if (low < 0 || high < 0) return calls.fail("negative index");
  if (low > high) return calls.fail("invalid index");
  if (high > size) return calls.fail("slice bounds out of range");
  std::vector<Value> items;
  for (std::int64_t i = low; i < high; ++i) items.push_back(calls.raw_item(args[0], static_cast<std::size_t>(i)));
  return calls.make_list(items);
}

constexpr KindMask kSliceParams[] = {kList, kInt, kInt};
constexpr KindMask kListOnly[] = {kList};
constexpr KindMask kListInt[] = {kList, kInt};
constexpr KindMask kThreeNumbers[] = {kNumber, kNumber, kNumber};

constexpr Builtin kRows[] = {
    {"list", "Concat", kListOnly, kList, concat},
    {"list", "MaxItems", kListInt, kBool, max_items, false, true},
    {"list", "MinItems", kListInt, kBool, min_items, false, true},
    {"list", "Slice", kSliceParams, kList, slice},
    {"list", "Range", kThreeNumbers, kList, range},
};

}  // namespace

std::span<const Builtin> list_rows() { return kRows; }

}  // namespace slipway::cue
