// Lists and maps: size, Kubernetes' lists library, cel-go's lists and sets libraries.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cel/library.h"

namespace slipway::cel {
namespace {

Value size_of(const Call& call) { return make_int(static_cast<std::int64_t>(size(call[0]))); }

Value is_sorted(const Call& call) {
  const Items all = items_of(call[0]);
  call.budget.spend(all.size());
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto order = compare(all[i - 1], all[i]);
    if (!order) return no_overload();
    if (*order > 0) return make_bool(false);
  }
  return make_bool(true);
}

/// Sums by the operator's own overloads, so that overflow is found in one place.
Value sum(const Call& call) {
  const Items all = items_of(call[0]);
  call.budget.spend(all.size());
  if (all.empty()) return make_int(0);
  Value total = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Value pair[] = {total, all[i]};
    bool is_done = false;
    for (const Overload& overload : library().find("_+_")) {
      if (overload.params[0]->kind != pair[0].kind || overload.params[1]->kind != pair[1].kind) continue;
      total = overload.run(Call{pair, call.budget, nullptr});
      is_done = true;
      break;
    }
    if (!is_done || total.is_error()) return is_done ? total : no_overload();
  }
  return total;
}

Value extreme(const Call& call, int wanted) {
  const Items all = items_of(call[0]);
  call.budget.spend(all.size());
  if (all.empty()) return make_error(wanted < 0 ? "min called on empty list" : "max called on empty list");
  const Value* best = &all.front();
  for (const Value& one : all) {
    const auto order = compare(one, *best);
    if (!order) return no_overload();
    if (*order == wanted) best = &one;
  }
  return *best;
}
Value min_of(const Call& call) { return extreme(call, -1); }
Value max_of(const Call& call) { return extreme(call, 1); }

Value index_of_item(const Call& call) {
  const Items all = items_of(call[0]);
  call.budget.spend(all.size());
  const auto found = std::ranges::find_if(all, [&](const Value& one) { return equal(one, call[1], &call.budget); });
  return make_int(found == all.end() ? -1 : found - all.begin());
}
Value last_index_of_item(const Call& call) {
  const Items all = items_of(call[0]);
  call.budget.spend(all.size());
  for (std::size_t i = all.size(); i > 0; --i) {
    if (equal(all[i - 1], call[1], &call.budget)) return make_int(static_cast<std::int64_t>(i) - 1);
  }
  return make_int(-1);
}

Value range_of(const Call& call) {
  const std::int64_t count = std::max<std::int64_t>(call[0].integer, 0);
  if (!call.budget.spend(static_cast<std::uint64_t>(count))) return make_list({});
  Items out;
  out.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) out.push_back(make_int(i));
  return make_list(std::move(out));
}

Value slice_of(const Call& call) {
  const std::int64_t begin = call[1].integer;
  const std::int64_t end = call[2].integer;
  const auto refuse = [&](std::string_view why) {
    return make_error(fmt::format("cannot slice({}, {}), {}", begin, end, why));
  };
  if (begin < 0 || end < 0) return refuse("negative indexes not supported");
  if (begin > end) return refuse("start index must be less than or equal to end index");
  const std::size_t length = size(call[0]);
  if (static_cast<std::uint64_t>(end) > length) return refuse(fmt::format("list is length {}", length));
  call.budget.spend(static_cast<std::uint64_t>(end - begin));
  Items out;
  for (std::int64_t i = begin; i < end; ++i) out.push_back(item(call[0], static_cast<std::size_t>(i)));
  return make_list(std::move(out));
}

/// Puts the items of lists in place of the lists, `depth` levels down. Stops when the budget is exhausted.
void flatten_into(Items& out, const Value& list, std::int64_t depth, Budget& budget) {
  for (Value& one : items_of(list)) {
    if (!budget.spend(1)) return;
    if (depth > 0 && one.is(Kind::List)) {
      flatten_into(out, one, depth - 1, budget);
    } else {
      out.push_back(std::move(one));
    }
  }
}

Value flatten(const Call& call) {
  const std::int64_t depth = call.args.size() == 2 ? call[1].integer : 1;
  if (depth < 0) return make_error("level must be non-negative");
  Items out;
  flatten_into(out, call[0], depth, call.budget);
  return make_list(std::move(out));
}

Value sort(const Call& call) {
  const Items all = items_of(call[0]);
  return sorted_by(all, all, call.budget);
}

Value distinct(const Call& call) {
  Items out;
  for (Value& one : items_of(call[0])) {
    if (!call.budget.spend(out.size() + 1)) break;
    const auto same = [&](const Value& known) { return equal(known, one, &call.budget); };
    if (std::ranges::none_of(out, same)) out.push_back(std::move(one));
  }
  return make_list(std::move(out));
}

Value reverse(const Call& call) {
  Items all = items_of(call[0]);
  call.budget.spend(all.size());
  std::ranges::reverse(all);
  return make_list(std::move(all));
}

bool has_item(const Items& all, const Value& wanted, Budget& budget) {
  return std::ranges::any_of(all, [&](const Value& one) { return equal(one, wanted, &budget); });
}
bool has_all(const Items& all, const Items& wanted, Budget& budget) {
  return std::ranges::all_of(wanted, [&](const Value& one) { return has_item(all, one, budget); });
}
Value set_contains(const Call& call) {
  call.budget.spend(size(call[0]) * size(call[1]));
  return make_bool(has_all(items_of(call[0]), items_of(call[1]), call.budget));
}
Value set_equivalent(const Call& call) {
  call.budget.spend(size(call[0]) * size(call[1]));
  const Items left = items_of(call[0]);
  const Items right = items_of(call[1]);
  return make_bool(has_all(left, right, call.budget) && has_all(right, left, call.budget));
}
Value set_intersects(const Call& call) {
  call.budget.spend(size(call[0]) * size(call[1]));
  const Items left = items_of(call[0]);
  return make_bool(std::ranges::any_of(items_of(call[1]), [&](const Value& one) { return has_item(left, one, call.budget); }));
}

constexpr Row kListRows[] = {
    {"size", "(list(A)) -> int", size_of},
    {"size", "list(A).() -> int", size_of},
    {"size", "(map(A, B)) -> int", size_of},
    {"size", "map(A, B).() -> int", size_of},
    {"isSorted", "list(int).() -> bool", is_sorted},
    {"isSorted", "list(uint).() -> bool", is_sorted},
    {"isSorted", "list(double).() -> bool", is_sorted},
    {"isSorted", "list(bool).() -> bool", is_sorted},
    {"isSorted", "list(string).() -> bool", is_sorted},
    {"isSorted", "list(bytes).() -> bool", is_sorted},
    {"isSorted", "list(timestamp).() -> bool", is_sorted},
    {"isSorted", "list(duration).() -> bool", is_sorted},
    {"sum", "list(int).() -> int", sum},
    {"sum", "list(uint).() -> uint", sum},
    {"sum", "list(double).() -> double", sum},
    {"sum", "list(duration).() -> duration", sum},
    {"min", "list(int).() -> int", min_of},
    {"min", "list(uint).() -> uint", min_of},
    {"min", "list(double).() -> double", min_of},
    {"min", "list(bool).() -> bool", min_of},
    {"min", "list(string).() -> string", min_of},
    {"min", "list(bytes).() -> bytes", min_of},
    {"min", "list(timestamp).() -> timestamp", min_of},
    {"min", "list(duration).() -> duration", min_of},
    {"max", "list(int).() -> int", max_of},
    {"max", "list(uint).() -> uint", max_of},
    {"max", "list(double).() -> double", max_of},
    {"max", "list(bool).() -> bool", max_of},
    {"max", "list(string).() -> string", max_of},
    {"max", "list(bytes).() -> bytes", max_of},
    {"max", "list(timestamp).() -> timestamp", max_of},
    {"max", "list(duration).() -> duration", max_of},
    {"indexOf", "list(A).(A) -> int", index_of_item},
    {"lastIndexOf", "list(A).(A) -> int", last_index_of_item},
    {"lists.range", "(int) -> list(int)", range_of},
    {"slice", "list(A).(int, int) -> list(A)", slice_of},
    {"flatten", "list(list(A)).() -> list(A)", flatten},
    {"flatten", "list(dyn).(int) -> list(dyn)", flatten},
    {"distinct", "list(A).() -> list(A)", distinct},
    {"reverse", "list(A).() -> list(A)", reverse},
    {"sort", "list(int).() -> list(int)", sort},
    {"sort", "list(uint).() -> list(uint)", sort},
    {"sort", "list(double).() -> list(double)", sort},
    {"sort", "list(bool).() -> list(bool)", sort},
    {"sort", "list(string).() -> list(string)", sort},
    {"sort", "list(bytes).() -> list(bytes)", sort},
    {"sort", "list(timestamp).() -> list(timestamp)", sort},
    {"sort", "list(duration).() -> list(duration)", sort},
    {"sets.contains", "(list(A), list(A)) -> bool", set_contains},
    {"sets.equivalent", "(list(A), list(A)) -> bool", set_equivalent},
    {"sets.intersects", "(list(A), list(A)) -> bool", set_intersects},
};

}  // namespace

Value sorted_by(const Items& items, const Items& keys, Budget& budget) {
  for (const Value& key : keys) {
    if (!compare(key, key) && !key.is(Kind::Double)) return make_error("list elements must be comparable");
    if (key.kind != keys.front().kind) return make_error("list elements must have the same type");
  }
  budget.spend(items.size());
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // NaN has no order: it goes last, so that the rest is in order.
  const auto is_less = [&](std::size_t left, std::size_t right) {
    if (const auto known = compare(keys[left], keys[right]); known && *known != 0) return *known < 0;
    const bool has_order = compare(keys[left], keys[left]).has_value();
    return has_order == compare(keys[right], keys[right]).has_value() ? left < right : has_order;
  };
  std::ranges::sort(order, is_less);
  Items out;
  out.reserve(items.size());
  for (const std::size_t index : order) out.push_back(items[index]);
  return make_list(std::move(out));
}

std::span<const Row> list_rows() { return kListRows; }

}  // namespace slipway::cel
