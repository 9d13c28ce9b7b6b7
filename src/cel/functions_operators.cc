// Operators: arithmetic with overflow as an error, comparison across numeric types, indexing, membership.
#include <array>
#include <cmath>

#include "cel/evaluator.h"
#include "cel/library.h"
#include "cel/time_text.h"

namespace slipway::cel {
namespace {

Value overflow() { return make_error("integer overflow"); }
Value unsigned_overflow() { return make_error("unsigned integer overflow"); }

template <auto kBuiltin>
Value checked_int(const Call& call) {
  std::int64_t out = 0;
  return kBuiltin(call[0].integer, call[1].integer, &out) ? overflow() : make_int(out);
}
template <auto kBuiltin>
Value checked_uint(const Call& call) {
  std::uint64_t out = 0;
  return kBuiltin(call[0].natural, call[1].natural, &out) ? unsigned_overflow() : make_uint(out);
}
constexpr auto kAdd = [](auto a, auto b, auto* out) { return __builtin_add_overflow(a, b, out); };
constexpr auto kSub = [](auto a, auto b, auto* out) { return __builtin_sub_overflow(a, b, out); };
constexpr auto kMul = [](auto a, auto b, auto* out) { return __builtin_mul_overflow(a, b, out); };

Value divide_int(const Call& call) {
  if (call[1].integer == 0) return make_error("division by zero");
  if (call[0].integer == INT64_MIN && call[1].integer == -1) return overflow();
  return make_int(call[0].integer / call[1].integer);
}
Value modulo_int(const Call& call) {
  if (call[1].integer == 0) return make_error("modulus by zero");
  if (call[0].integer == INT64_MIN && call[1].integer == -1) return overflow();
  return make_int(call[0].integer % call[1].integer);
}
Value divide_uint(const Call& call) {
  return call[1].natural == 0 ? make_error("division by zero") : make_uint(call[0].natural / call[1].natural);
}
Value modulo_uint(const Call& call) {
  return call[1].natural == 0 ? make_error("modulus by zero") : make_uint(call[0].natural % call[1].natural);
}
Value add_double(const Call& call) { return make_double(call[0].real + call[1].real); }
Value sub_double(const Call& call) { return make_double(call[0].real - call[1].real); }
Value mul_double(const Call& call) { return make_double(call[0].real * call[1].real); }
Value div_double(const Call& call) { return make_double(call[0].real / call[1].real); }
Value negate_int(const Call& call) { return call[0].integer == INT64_MIN ? overflow() : make_int(-call[0].integer); }
Value negate_double(const Call& call) { return make_double(-call[0].real); }
Value logical_not(const Call& call) { return make_bool(!call[0].truth); }

/// A tenth of a unit per byte that is looked at.
bool spend_text(const Call& call, std::size_t bytes) { return call.budget.spend((bytes + 9) / 10); }

Value concat_text(const Call& call) {
  std::string out(call[0].text());
  out += call[1].text();
  spend_text(call, out.size());
  return call[0].is(Kind::String) ? make_string(out) : make_bytes(out);
}

/// For sets the union, for lists with keys the right side's items replace those of the left with the same keys.
Value concat_lists(const Call& call) {
  Items out = items_of(call[0]);
  const Items more = items_of(call[1]);
  call.budget.spend(out.size() + more.size());
  const TypePtr& type = call[0].type;
  if (type == nullptr || type->identity == Identity::Order) {
    out.insert(out.end(), more.begin(), more.end());
    return make_list(std::move(out));
  }
  for (const Value& one : more) {
    const auto is_same = [&](const Value& other) {
      if (type->identity == Identity::Set) return equal(one, other, &call.budget);
      return has_equal_keys(one, other, type->keys);
    };
    const auto place = std::find_if(out.begin(), out.end(), is_same);
    if (place == out.end()) {
      out.push_back(one);
    } else {
      *place = one;
    }
  }
  Value joined = make_list(std::move(out));
  joined.type = type;
  return joined;
}

Value shifted(const Value& time, std::int64_t nanoseconds) {
  const __int128 total = static_cast<__int128>(time.integer) * 1'000'000'000 + time.nanos + nanoseconds;
  __int128 seconds = total / 1'000'000'000;
  auto nanos = static_cast<std::int32_t>(total % 1'000'000'000);
  if (nanos < 0) {
    nanos += 1'000'000'000;
    --seconds;
  }
  if (seconds < kFirstSecond || seconds > kLastSecond) return make_error("timestamp overflow");
  return make_timestamp(static_cast<std::int64_t>(seconds), nanos);
}
Value add_time(const Call& call) {
  return call[0].is(Kind::Timestamp) ? shifted(call[0], call[1].integer) : shifted(call[1], call[0].integer);
}
Value sub_time(const Call& call) {
  if (call[1].integer == INT64_MIN) return make_error("duration overflow");
  return shifted(call[0], -call[1].integer);
}
Value between_times(const Call& call) {
  const __int128 nanos =
      (static_cast<__int128>(call[0].integer) - call[1].integer) * 1'000'000'000 + call[0].nanos - call[1].nanos;
  return nanos > INT64_MAX || nanos < INT64_MIN ? make_error("duration overflow")
                                                : make_duration(static_cast<std::int64_t>(nanos));
}
Value add_durations(const Call& call) {
  std::int64_t out = 0;
  return kAdd(call[0].integer, call[1].integer, &out) ? make_error("duration overflow") : make_duration(out);
}
Value sub_durations(const Call& call) {
  std::int64_t out = 0;
  return kSub(call[0].integer, call[1].integer, &out) ? make_error("duration overflow") : make_duration(out);
}

std::size_t weight(const Value& value) {
  if (value.is(Kind::String) || value.is(Kind::Bytes)) return value.text().size();
  return size(value) * 10;
}
Value equals(const Call& call) {
  spend_text(call, std::min(weight(call[0]), weight(call[1])));
  return make_bool(equal(call[0], call[1], &call.budget));
}
Value differs(const Call& call) {
  spend_text(call, std::min(weight(call[0]), weight(call[1])));
  return make_bool(!equal(call[0], call[1], &call.budget));
}

template <auto kHolds>
Value ordered(const Call& call) {
  spend_text(call, std::min(weight(call[0]), weight(call[1])));
  const auto order = compare(call[0], call[1]);
  return make_bool(order && kHolds(*order));
}
constexpr auto kLess = [](int order) { return order < 0; };
constexpr auto kLessEqual = [](int order) { return order <= 0; };
constexpr auto kGreater = [](int order) { return order > 0; };
constexpr auto kGreaterEqual = [](int order) { return order >= 0; };

Value index(const Call& call) { return element_of(call[0], call[1]); }

Value optional_index(const Call& call) {
  const Value* container = &call[0];
  if (container->is(Kind::Optional)) container = content(*container);
  if (container == nullptr) return optional_value(std::nullopt);
  Value found = element_of(*container, call[1]);
  if (!found.is_error()) return optional_value(std::move(found));
  if (found.text().starts_with("no such key") || found.text().starts_with("index out of bounds"))
    return optional_value(std::nullopt);
  return found;
}

Value is_in_list(const Call& call) {
  const std::size_t count = size(call[1]);
  call.budget.spend(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (equal(call[0], item(call[1], i), &call.budget)) return make_bool(true);
  }
  return make_bool(false);
}
Value is_in_map(const Call& call) { return make_bool(find(call[1], call[0]).has_value()); }

#define SLIPWAY_CEL_ORDER(symbol, holds)                                                                        \
  {symbol, "(bool, bool) -> bool", ordered<holds>}, {symbol, "(int, int) -> bool", ordered<holds>},             \
      {symbol, "(uint, uint) -> bool", ordered<holds>}, {symbol, "(double, double) -> bool", ordered<holds>},   \
      {symbol, "(int, uint) -> bool", ordered<holds>}, {symbol, "(int, double) -> bool", ordered<holds>},       \
      {symbol, "(uint, int) -> bool", ordered<holds>}, {symbol, "(uint, double) -> bool", ordered<holds>},      \
      {symbol, "(double, int) -> bool", ordered<holds>}, {symbol, "(double, uint) -> bool", ordered<holds>},    \
      {symbol, "(string, string) -> bool", ordered<holds>}, {symbol, "(bytes, bytes) -> bool", ordered<holds>}, \
      {symbol, "(timestamp, timestamp) -> bool", ordered<holds>}, {                                             \
    symbol, "(duration, duration) -> bool", ordered<holds>                                                      \
  }

constexpr Row kOperatorRows[] = {
    {"_+_", "(int, int) -> int", checked_int<kAdd>},
    {"_+_", "(uint, uint) -> uint", checked_uint<kAdd>},
    {"_+_", "(double, double) -> double", add_double},
    {"_+_", "(string, string) -> string", concat_text},
    {"_+_", "(bytes, bytes) -> bytes", concat_text},
    {"_+_", "(list(A), list(A)) -> list(A)", concat_lists},
    {"_+_", "(timestamp, duration) -> timestamp", add_time},
    {"_+_", "(duration, timestamp) -> timestamp", add_time},
    {"_+_", "(duration, duration) -> duration", add_durations},
    {"_-_", "(int, int) -> int", checked_int<kSub>},
    {"_-_", "(uint, uint) -> uint", checked_uint<kSub>},
    {"_-_", "(double, double) -> double", sub_double},
    {"_-_", "(timestamp, timestamp) -> duration", between_times},
    {"_-_", "(timestamp, duration) -> timestamp", sub_time},
    {"_-_", "(duration, duration) -> duration", sub_durations},
    {"_*_", "(int, int) -> int", checked_int<kMul>},
    {"_*_", "(uint, uint) -> uint", checked_uint<kMul>},
    {"_*_", "(double, double) -> double", mul_double},
    {"_/_", "(int, int) -> int", divide_int},
    {"_/_", "(uint, uint) -> uint", divide_uint},
    {"_/_", "(double, double) -> double", div_double},
    {"_%_", "(int, int) -> int", modulo_int},
    {"_%_", "(uint, uint) -> uint", modulo_uint},
    {"-_", "(int) -> int", negate_int},
    {"-_", "(double) -> double", negate_double},
    {"!_", "(bool) -> bool", logical_not},
    {"_==_", "(A, A) -> bool", equals},
    {"_!=_", "(A, A) -> bool", differs},
    SLIPWAY_CEL_ORDER("_<_", kLess),
    SLIPWAY_CEL_ORDER("_<=_", kLessEqual),
    SLIPWAY_CEL_ORDER("_>_", kGreater),
    SLIPWAY_CEL_ORDER("_>=_", kGreaterEqual),
    {"_[_]", "(list(A), int) -> A", index},
    {"_[_]", "(list(A), uint) -> A", index},
    {"_[_]", "(list(A), double) -> A", index},
    {"_[_]", "(map(A, B), A) -> B", index},
    {"_[_]", "(optional(list(A)), int) -> optional(A)", optional_index},
    {"_[_]", "(optional(map(A, B)), A) -> optional(B)", optional_index},
    {"_[?_]", "(list(A), int) -> optional(A)", optional_index},
    {"_[?_]", "(map(A, B), A) -> optional(B)", optional_index},
    {"_[?_]", "(optional(list(A)), int) -> optional(A)", optional_index},
    {"_[?_]", "(optional(map(A, B)), A) -> optional(B)", optional_index},
    {"@in", "(A, list(A)) -> bool", is_in_list},
    {"@in", "(A, map(A, B)) -> bool", is_in_map},
};

#undef SLIPWAY_CEL_ORDER

}  // namespace

std::span<const Row> operator_rows() { return kOperatorRows; }

}  // namespace slipway::cel
