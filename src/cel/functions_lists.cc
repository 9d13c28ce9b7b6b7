// Lists and maps: size, Kubernetes' lists library and cel-go's sets library.
#include <algorithm>

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

constexpr Row kRows[] = {
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
    {"sets.contains", "(list(A), list(A)) -> bool", set_contains},
    {"sets.equivalent", "(list(A), list(A)) -> bool", set_equivalent},
    {"sets.intersects", "(list(A), list(A)) -> bool", set_intersects},
};

}  // namespace

std::span<const Row> list_rows() { return kRows; }

}  // namespace slipway::cel
