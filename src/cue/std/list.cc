// Package list.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace {

using Args = std::span<const Value>;

constexpr std::size_t kMaxItems = 1'000'000;

std::int64_t size_of(Calls& calls, const Value& list) { return static_cast<std::int64_t>(calls.list_size(list)); }

std::vector<Value> raw_items(Calls& calls, const Value& list) {
  std::vector<Value> items;
  for (std::size_t i = 0; i < calls.list_size(list); ++i) items.push_back(calls.raw_item(list, i));
  return items;
}

bool is_list(const Value& value) { return value.is_vertex() && kinds_of(value) == kList; }

// --- parts

Value concat(Calls& calls, Args args) {
  std::vector<Value> items;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    Value inner = calls.list_item(args[0], i);
    if (inner.is_bottom()) {
      // Not known yet; but what can be no list is wrong already.
      Value raw = calls.raw_item(args[0], i);
      bool may_be_list = !is_incomplete(inner.bottom->code) || kinds_of(raw) == 0 || (kinds_of(raw) & kList) != 0;
      if (may_be_list) return inner;
      inner = raw;
    }
    if (!is_list(inner)) {
      return calls.fail(fmt::format("cannot use value {} (type {}) as list", calls.show(inner), kind_name(inner)));
    }
    for (const Value& item : raw_items(calls, inner)) items.push_back(item);
    if (items.size() > kMaxItems) return calls.fail("list too long");
  }
  return calls.make_list(items);
}

// A high bound of the least number is the end: what x[low:] compiles to.
Value slice(Calls& calls, Args args) {
  std::int64_t size = size_of(calls, args[0]);
  std::int64_t low = to_int(args[1]);
  std::int64_t high = args[2].tag == Value::Tag::Int && args[2].integer == INT64_MIN ? size : to_int(args[2]);
  if (low < 0 || high < 0) return calls.fail("negative index");
  if (low > high) return calls.fail(fmt::format("invalid index: {} > {}", low, high));
  if (low > size || high > size) return calls.fail("slice bounds out of range");
  auto items = raw_items(calls, args[0]);
  return calls.make_list(std::span(items).subspan(static_cast<std::size_t>(low), static_cast<std::size_t>(high - low)));
}

Value drop(Calls& calls, Args args) {
  std::int64_t count = to_int(args[1]);
  if (count < 0) return calls.fail("negative index");
  auto items = raw_items(calls, args[0]);
  return calls.make_list(std::span(items).subspan(std::min(static_cast<std::size_t>(count), items.size())));
}

Value take(Calls& calls, Args args) {
  std::int64_t count = to_int(args[1]);
  if (count < 0) return calls.fail("negative index");
  auto items = raw_items(calls, args[0]);
  return calls.make_list(std::span(items).first(std::min(static_cast<std::size_t>(count), items.size())));
}

Value repeat(Calls& calls, Args args) {
  std::int64_t times = to_int(args[1]);
  if (times < 0) return calls.fail("negative count");
  auto limit = static_cast<std::int64_t>(kMaxItems);
  if (times > limit) return calls.fail(fmt::format("count {} exceeds limit of {}", times, limit));
  auto items = raw_items(calls, args[0]);
  if (static_cast<std::size_t>(times) * items.size() > 4 * kMaxItems) return calls.fail("list too long");
  std::vector<Value> out;
  for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), items.begin(), items.end());
  return calls.make_list(out);
}

Value reverse(Calls& calls, Args args) {
  auto items = raw_items(calls, args[0]);
  std::reverse(items.begin(), items.end());
  return calls.make_list(items);
}

bool flatten(Calls& calls, const Value& list, std::int64_t depth, std::vector<Value>& out, Value& error) {
  for (std::size_t i = 0; i < calls.list_size(list); ++i) {
    Value item = calls.raw_item(list, i);
    Value value = depth == 0 ? item : calls.list_item(list, i);
    if (depth != 0 && is_list(value)) {
      if (!flatten(calls, value, depth - 1, out, error)) return false;
      continue;
    }
    if (value.is_bottom() && depth != 0 && value.bottom->code == Code::Eval) {
      error = value;
      return false;
    }
    out.push_back(item);
  }
  return true;
}

Value flatten_n(Calls& calls, Args args) {
  if (!is_list(args[0])) {
    return calls.fail(fmt::format("cannot use value {} (type {}) as list", calls.show(args[0]), kind_name(args[0])));
  }
  std::vector<Value> out;
  Value error;
  if (!flatten(calls, args[0], to_int(args[1]), out, error)) return error;
  return calls.make_list(out);
}

Value range(Calls& calls, Args args) {
  Decimal start = to_decimal(args[0]);
  Decimal limit = to_decimal(args[1]);
  Decimal step = to_decimal(args[2]);
  if (step.is_zero()) return calls.fail("step must be non zero");
  if (!step.is_negative && compare(start, limit) > 0) return calls.fail("end must be greater than start when step is positive");
  if (step.is_negative && compare(start, limit) < 0) return calls.fail("end must be less than start when step is negative");
  std::vector<Value> items;
  for (Decimal at = start; step.is_negative ? compare(at, limit) > 0 : compare(at, limit) < 0; at = add(at, step)) {
    if (items.size() >= kMaxItems) return calls.fail("list too long");
    items.push_back(make_reduced(calls, at));
  }
  return calls.make_list(items);
}

// --- numbers

bool decimals_of(Calls& calls, const Value& list, std::vector<Decimal>& out, Value& error) {
  std::vector<Value> numbers;
  if (!numbers_of(calls, list, numbers, error)) return false;
  for (const Value& one : numbers) out.push_back(to_decimal(one));
  return true;
}

Value sum(Calls& calls, Args args) {
  std::vector<Decimal> numbers;
  Value error;
  if (!decimals_of(calls, args[0], numbers, error)) return error;
  Decimal total;
  for (const Decimal& one : numbers) total = add(total, one);
  return make_reduced(calls, total);
}

Value product(Calls& calls, Args args) {
  std::vector<Decimal> numbers;
  Value error;
  if (!decimals_of(calls, args[0], numbers, error)) return error;
  Decimal total = decimal_of(1);
  for (const Decimal& one : numbers) total = multiply(total, one);
  return make_reduced(calls, total);
}

Value average(Calls& calls, Args args) {
  std::vector<Decimal> numbers;
  Value error;
  if (!decimals_of(calls, args[0], numbers, error)) return error;
  if (numbers.empty()) return calls.fail("empty list");
  Decimal total;
  for (const Decimal& one : numbers) total = add(total, one);
  return make_reduced(calls, divide(total, decimal_of(static_cast<std::int64_t>(numbers.size()))));
}

Value extreme(Calls& calls, Args args, int sign) {
  std::vector<Decimal> numbers;
  Value error;
  if (!decimals_of(calls, args[0], numbers, error)) return error;
  if (numbers.empty()) return calls.fail("empty list");
  const Decimal* best = &numbers[0];
  for (const Decimal& one : numbers) {
    if (sign * compare(one, *best) > 0) best = &one;
  }
  return make_reduced(calls, *best);
}
Value maximum(Calls& calls, Args args) { return extreme(calls, args, 1); }
Value minimum(Calls& calls, Args args) { return extreme(calls, args, -1); }

// --- order

// A merge sort: whatever a comparator of the program answers, it ends and stays inside.
void merge_sort(std::span<Value> items, const std::function<bool(const Value&, const Value&)>& is_less) {
  if (items.size() < 2) return;
  std::size_t half = items.size() / 2;
  merge_sort(items.first(half), is_less);
  merge_sort(items.subspan(half), is_less);
  std::vector<Value> left(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(half));
  std::size_t l = 0;
  std::size_t r = half;
  for (Value& to : items) {
    if (l == left.size()) return;
    bool takes_right = r < items.size() && is_less(items[r], left[l]);
    to = takes_right ? items[r++] : left[l++];
  }
}

Value no_comparator(Calls& calls) { return calls.fail("field not found: less"); }

Value sort(Calls& calls, Args args) {
  if (kinds_of(args[1]) != kStruct) return no_comparator(calls);
  auto items = raw_items(calls, args[0]);
  Value error;
  merge_sort(items, [&](const Value& x, const Value& y) {
    if (error.is_bottom()) return false;
    Value less = calls.compare_with(args[1], x, y);
    if (less.is_bottom()) error = less;
    return less.tag == Value::Tag::Bool && less.boolean;
  });
  return error.is_bottom() ? error : calls.make_list(items);
}

Value is_sorted(Calls& calls, Args args) {
  if (kinds_of(args[1]) != kStruct) return no_comparator(calls);
  auto items = raw_items(calls, args[0]);
  for (std::size_t i = 1; i < items.size(); ++i) {
    Value less = calls.compare_with(args[1], items[i], items[i - 1]);
    if (less.is_bottom()) return less;
    if (less.tag == Value::Tag::Bool && less.boolean) return Value::of(false);
  }
  return Value::of(true);
}

Value sort_strings(Calls& calls, Args args) {
  std::vector<std::string_view> texts;
  Value error;
  if (!texts_of(calls, args[0], texts, error)) return error;
  std::sort(texts.begin(), texts.end());
  std::vector<std::string> sorted(texts.begin(), texts.end());
  return make_texts(calls, sorted);
}
Value is_sorted_strings(Calls& calls, Args args) {
  std::vector<std::string_view> texts;
  Value error;
  if (!texts_of(calls, args[0], texts, error)) return error;
  return Value::of(std::is_sorted(texts.begin(), texts.end()));
}

// --- judging

// 1 and 1.0 are different items.
bool is_alike(Calls& calls, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return is_float(a) == is_float(b);
  if (!a.is_vertex() || !b.is_vertex()) return true;
  for (std::size_t i = 0; i < std::min(calls.list_size(a), calls.list_size(b)); ++i) {
    if (!is_alike(calls, calls.list_item(a, i), calls.list_item(b, i))) return false;
  }
  for (std::size_t i = 0; i < std::min(calls.member_count(a), calls.member_count(b)); ++i) {
    if (!is_alike(calls, calls.member(a, i).value, calls.member(b, i).value)) return false;
  }
  return true;
}

Value contains(Calls& calls, Args args) {
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    Value item = calls.list_item(args[0], i);
    if (!item.is_bottom() && is_alike(calls, item, args[1]) && calls.is_equal(item, args[1])) return Value::of(true);
  }
  return Value::of(false);
}

Value max_items(Calls& calls, Args args) {
  std::int64_t size = size_of(calls, args[0]);
  std::int64_t limit = to_int(args[1]);
  if (size <= limit) return Value::of(true);
  return calls.reject(fmt::format("len(list) > MaxItems({}) ({} > {})", limit, size, limit));
}

Value min_items(Calls& calls, Args args) {
  std::int64_t size = size_of(calls, args[0]);
  std::int64_t limit = to_int(args[1]);
  if (size >= limit) return Value::of(true);
  std::string why = fmt::format("len(list) < MinItems({}) ({} < {})", limit, size, limit);
  return calls.may_grow(args[0]) ? calls.incomplete(why) : calls.reject(why);
}

// Whether two equal items may still become different: something in them has no value yet, or may get fields.
bool is_final(Calls& calls, const Value& value) {
  if (value.is_concrete_scalar()) return true;
  if (!value.is_vertex()) return false;
  if (calls.may_grow(value) || calls.optional_count(value) > 0) return false;
  for (std::size_t i = 0; i < calls.list_size(value); ++i) {
    if (!is_final(calls, calls.list_item(value, i))) return false;
  }
  for (std::size_t i = 0; i < calls.member_count(value); ++i) {
    if (!is_final(calls, calls.member(value, i).value)) return false;
  }
  return true;
}

Value unique_items(Calls& calls, Args args) {
  std::vector<Value> items;
  std::string open;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    Value item = calls.list_item(args[0], i);
    if (item.is_bottom()) item = calls.raw_item(args[0], i);
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (!calls.is_equal(items[k], item)) continue;
      std::string why = fmt::format("equal values at position {} and {}", k, i);
      if (is_final(calls, items[k]) && is_final(calls, item)) return calls.reject(why);
      if (open.empty()) open = why;
    }
    items.push_back(item);
  }
  return open.empty() ? Value::of(true) : calls.incomplete(open);
}

// The number of items that the schema accepts, itself to be accepted by a number or bound.
Value match_n(Calls& calls, Args args) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i)
    count += calls.check(calls.raw_item(args[0], i), args[2], Calls::Wanted::Values).is_bottom() ? 0 : 1;
  Value verdict = calls.unify(Value::of_int(count), args[1]);
  if (!verdict.is_bottom()) return Value::of(true);
  std::string why = fmt::format("number of matched elements is {}: does not satisfy {}", count, calls.show(args[1]));
  bool is_number = (kinds_of(args[1]) & kInt) != 0;
  return is_number && calls.may_grow(args[0]) ? calls.incomplete(why) : calls.reject(why);
}

constexpr auto& kOne = kParams<kList>;
constexpr auto& kListInt = kParams<kList, kInt>;
constexpr auto& kSorting = kParams<kList, kTop>;
constexpr KindMask kAny = kTop;

constexpr Builtin kRows[] = {
    {"list", "Concat", kOne, kList, concat},
    {"list", "Slice", kParams<kList, kInt, kInt>, kList, slice},
    {"list", "Drop", kListInt, kList, drop},
    {"list", "Take", kListInt, kList, take},
    {"list", "Repeat", kListInt, kList, repeat},
    {"list", "Reverse", kOne, kList, reverse},
    {"list", "FlattenN", kParams<kAny, kInt>, kList, flatten_n},
    {"list", "Range", kParams<kNumber, kNumber, kNumber>, kList, range},
    {"list", "Sum", kOne, kNumber, sum},
    {"list", "Product", kOne, kNumber, product},
    {"list", "Avg", kOne, kNumber, average},
    {"list", "Max", kOne, kNumber, maximum},
    {"list", "Min", kOne, kNumber, minimum},
    {"list", "Sort", kSorting, kList, sort},
    {"list", "SortStable", kSorting, kList, sort},
    {"list", "SortStrings", kOne, kList, sort_strings},
    {"list", "IsSorted", kSorting, kBool, is_sorted},
    {"list", "IsSortedStrings", kOne, kBool, is_sorted_strings},
    {"list", "Contains", kParams<kList, kAny>, kBool, contains},
    {"list", "MaxItems", kListInt, kBool, max_items, false, true},
    {"list", "MinItems", kListInt, kBool, min_items, false, true},
    {"list", "UniqueItems", kOne, kBool, unique_items, false, true},
    {"list", "MatchN", kParams<kList, kAny, kAny>, kBool, match_n, true, true},
    {"list", "Comparer", {}, kStruct, nullptr, false, false, "{T: _, x: T, y: T, less: bool}"},
    {"list", "Ascending", {}, kStruct, nullptr, false, false, "{T: number | string, x: T, y: T, less: x < y}"},
    {"list", "Descending", {}, kStruct, nullptr, false, false, "{T: number | string, x: T, y: T, less: x > y}"},
};

}  // namespace

std::span<const Builtin> list_rows() { return kRows; }

}  // namespace slipway::cue
