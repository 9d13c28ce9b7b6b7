// Package list.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace list_package {
namespace {

using Args = std::span<const Value>;

constexpr std::size_t kMaxItems = 1'000'000;

std::int64_t size_of(Calls& calls, const Value& list) { return static_cast<std::int64_t>(calls.list_size(list)); }

/// Items as they are, from `begin` up to `end`. Charged, and with room for a list of them; empty when the budget has ended.
std::vector<Value> raw_items(Calls& calls, const Value& list, std::size_t begin, std::size_t end) {
  std::vector<Value> items;
  if (!calls.spend(end - begin) || !calls.has_room((end - begin) * kItemBytes)) return items;
  items.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) items.push_back(calls.raw_item(list, i));
  return items;
}
std::vector<Value> raw_items(Calls& calls, const Value& list) { return raw_items(calls, list, 0, calls.list_size(list)); }

/// A list of those, unless there was no room for them: `wanted` says how many there should be.
Value list_of(Calls& calls, std::span<const Value> items, std::size_t wanted) {
  return items.size() == wanted ? calls.make_list(items) : calls.ended();
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
    if (items.size() + calls.list_size(inner) > kMaxItems) return calls.fail("list too long");
    if (!calls.has_room((items.size() + calls.list_size(inner)) * kItemBytes)) return calls.ended();
    for (const Value& item : raw_items(calls, inner)) items.push_back(item);
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
  auto items = raw_items(calls, args[0], static_cast<std::size_t>(low), static_cast<std::size_t>(high));
  return list_of(calls, items, static_cast<std::size_t>(high - low));
}

Value drop(Calls& calls, Args args) {
  std::int64_t count = to_int(args[1]);
  if (count < 0) return calls.fail("negative index");
  const std::size_t size = calls.list_size(args[0]);
  const std::size_t begin = std::min(static_cast<std::size_t>(count), size);
  return list_of(calls, raw_items(calls, args[0], begin, size), size - begin);
}

Value take(Calls& calls, Args args) {
  std::int64_t count = to_int(args[1]);
  if (count < 0) return calls.fail("negative index");
  const std::size_t end = std::min(static_cast<std::size_t>(count), calls.list_size(args[0]));
  return list_of(calls, raw_items(calls, args[0], 0, end), end);
}

Value repeat(Calls& calls, Args args) {
  std::int64_t times = to_int(args[1]);
  if (times < 0) return calls.fail("negative count");
  auto limit = static_cast<std::int64_t>(kMaxItems);
  if (times > limit) return calls.fail(fmt::format("count {} exceeds limit of {}", times, limit));
  const std::size_t size = static_cast<std::size_t>(times) * calls.list_size(args[0]);
  if (size > 4 * kMaxItems) return calls.fail("list too long");
  if (!calls.has_room(size * kItemBytes)) return calls.ended();
  auto items = raw_items(calls, args[0]);
  std::vector<Value> out;
  out.reserve(size);
  for (std::int64_t i = 0; i < times; ++i) out.insert(out.end(), items.begin(), items.end());
  return calls.make_list(out);
}

Value reverse(Calls& calls, Args args) {
  auto items = raw_items(calls, args[0]);
  std::reverse(items.begin(), items.end());
  return list_of(calls, items, calls.list_size(args[0]));
}

bool flatten(Calls& calls, const Value& list, std::int64_t depth, std::vector<Value>& out, Value& error) {
  // The same list may stand in it many times.
  if (!calls.spend(calls.list_size(list)) || !calls.has_room((out.size() + calls.list_size(list)) * kItemBytes)) {
    error = calls.ended();
    return false;
  }
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

// How many steps of an int lead from one to the other. None when there are too many, or one of them is none.
std::optional<std::uint64_t> int_steps(const Value& start, const Value& limit, const Value& step) {
  if (start.tag != Value::Tag::Int || limit.tag != Value::Tag::Int || step.tag != Value::Tag::Int) return {};
  const __int128 way = static_cast<__int128>(limit.integer) - start.integer;
  const __int128 count = (way + step.integer - (step.integer > 0 ? 1 : -1)) / step.integer;
  return count <= static_cast<__int128>(kMaxItems) ? std::optional(static_cast<std::uint64_t>(count)) : std::nullopt;
}

Value range(Calls& calls, Args args) {
  Decimal start = to_decimal(args[0]);
  Decimal limit = to_decimal(args[1]);
  Decimal step = to_decimal(args[2]);
  if (step.is_zero()) return calls.fail("step must be non zero");
  if (!step.is_negative && compare(start, limit) > 0) return calls.fail("end must be greater than start when step is positive");
  if (step.is_negative && compare(start, limit) < 0) return calls.fail("end must be less than start when step is negative");
  std::vector<Value> items;
  if (auto count = int_steps(args[0], args[1], args[2])) {
    if (!calls.has_room(*count * kItemBytes)) return calls.ended();
    items.reserve(*count);
    for (std::uint64_t i = 0; i < *count; ++i)
      items.push_back(Value::of_int(static_cast<std::int64_t>(args[0].integer + static_cast<__int128>(i) * args[2].integer)));
    return calls.make_list(items);
  }
  for (Decimal at = start; step.is_negative ? compare(at, limit) > 0 : compare(at, limit) < 0; at = add(at, step)) {
    if (items.size() >= kMaxItems) return calls.fail("list too long");
    if (!calls.spend(1) || !calls.has_room(items.size() * kItemBytes)) return calls.ended();
    items.push_back(make_reduced(calls, at));
  }
  return calls.make_list(items);
}

// --- numbers

bool decimals_of(Calls& calls, const Value& list, std::vector<Decimal>& out, Value& error) {
  std::vector<Value> numbers;
  if (!numbers_of(calls, list, numbers, error)) return false;
  if (!calls.has_room(numbers.size() * (sizeof(Value) + sizeof(Decimal)))) {
    error = calls.ended();
    return false;
  }
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

// What sorting that many items costs without a comparator of the program: eight comparisons are a step.
std::uint64_t sorting_steps(std::size_t items) { return items * static_cast<std::uint64_t>(std::bit_width(items)) / 8; }

bool is_less_scalar(const Value& a, const Value& b) {
  if (a.tag == Value::Tag::String) return a.str() < b.str();
  if (a.tag == Value::Tag::Int && b.tag == Value::Tag::Int) return a.integer < b.integer;
  return compare(to_decimal(a), to_decimal(b)) < 0;
}

/// Sorts numbers or texts by themselves. False when they are neither, or some are of one kind and some of the other.
bool sort_scalars(Calls& calls, const Value& list, int order, std::vector<Value>& items) {
  struct Keyed {
    Value key;
    Value item;
    std::size_t place;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    keyed.push_back({calls.list_item(list, i), items[i], i});
    const Value& key = keyed.back().key;
    const bool is_text = key.tag == Value::Tag::String;
    if ((!is_text && !key.is_number()) || is_text != (keyed.front().key.tag == Value::Tag::String)) return false;
  }
  std::sort(keyed.begin(), keyed.end(), [order](const Keyed& a, const Keyed& b) {
    if (order > 0 ? is_less_scalar(a.key, b.key) : is_less_scalar(b.key, a.key)) return true;
    return a.place < b.place && !(order > 0 ? is_less_scalar(b.key, a.key) : is_less_scalar(a.key, b.key));
  });
  std::ranges::transform(keyed, items.begin(), &Keyed::item);
  return true;
}

Value sort(Calls& calls, Args args) {
  if (kinds_of(args[1]) != kStruct) return no_comparator(calls);
  auto items = raw_items(calls, args[0]);
  const bool has_room = calls.has_room(items.size() * (kItemBytes + 4 * sizeof(Value)));
  if (items.size() != calls.list_size(args[0]) || !has_room || !calls.spend(sorting_steps(items.size()))) return calls.ended();
  const int order = calls.natural_order(args[1]);
  if (order != 0 && sort_scalars(calls, args[0], order, items)) return calls.make_list(items);
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
  if (items.size() != calls.list_size(args[0])) return calls.ended();
  (void)calls.natural_order(args[1]);
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
  if (!calls.spend(sorting_steps(texts.size()))) return calls.ended();
  std::sort(texts.begin(), texts.end());
  return make_texts(calls, texts);
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
  const auto left = calls.members(a);
  const auto right = calls.members(b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (!is_alike(calls, left[i].value, right[i].value)) return false;
  }
  return true;
}

Value contains(Calls& calls, Args args) {
  for (std::size_t i = 0; i < calls.list_size(args[0]) && calls.spend(1); ++i) {
    Value item = calls.list_item(args[0], i);
    if (item.is_bottom() && !is_incomplete(item.bottom->code)) return item;
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
  const auto members = calls.members(value);
  return std::ranges::all_of(members, [&](const Calls::Member& one) { return is_final(calls, one.value); });
}

// Equal items are one group, found by their hash. Of a group the first item counts, and the first that can become no other.
struct EqualItems {
  Value item;
  std::size_t first;
  bool is_looked_at = false;  // first_final is known
  std::optional<std::size_t> first_final = {};
};

std::string equal_at(std::size_t a, std::size_t b) { return fmt::format("equal values at position {} and {}", a, b); }

Value unique_items(Calls& calls, Args args) {
  std::unordered_multimap<std::uint64_t, EqualItems> groups;  // only looked up in
  constexpr std::uint64_t kGroupBytes = 96;
  std::string open;
  for (std::size_t i = 0; i < calls.list_size(args[0]); ++i) {
    if (!calls.has_room((groups.size() + 1) * kGroupBytes)) return calls.ended();
    Value item = calls.list_item(args[0], i);
    if (item.is_bottom()) item = calls.raw_item(args[0], i);
    const std::uint64_t hash = calls.hash_of(item);
    EqualItems* group = nullptr;
    for (auto [at, end] = groups.equal_range(hash); at != end && group == nullptr; ++at) {
      if (!calls.spend(1)) return calls.ended();
      if (calls.is_equal(at->second.item, item)) group = &at->second;
    }
    if (group == nullptr) {
      groups.emplace(hash, EqualItems{item, i});
      continue;
    }
    if (!std::exchange(group->is_looked_at, true) && is_final(calls, group->item)) group->first_final = group->first;
    if (open.empty()) open = equal_at(group->first, i);
    if (!is_final(calls, item)) continue;
    if (group->first_final) return calls.reject(equal_at(*group->first_final, i));
    group->first_final = i;
  }
  if (!calls.spend(0)) return calls.ended();
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
}  // namespace list_package

std::span<const Builtin> list_rows() { return list_package::kRows; }

}  // namespace slipway::cue
