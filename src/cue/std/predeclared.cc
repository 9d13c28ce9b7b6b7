// The functions every program has without importing them.
#include <fmt/format.h>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace predeclared_package {
namespace {

Value len(Calls& calls, std::span<const Value> args) {
  const Value& value = args[0];
  if (value.tag == Value::Tag::String || value.tag == Value::Tag::Bytes) return Value::of_int(value.size);
  std::size_t items = calls.list_size(value);
  return Value::of_int(static_cast<std::int64_t>(items > 0 ? items : calls.member_count(value)));
}

enum class Part : std::uint8_t { Quotient, Remainder };

Value divide_with(Calls& calls, std::span<const Value> args, Division (*divide)(const Decimal&, const Decimal&), Part part) {
  Decimal by = to_decimal(args[1]);
  if (by.is_zero()) return calls.error("division by zero");
  Division result = divide(to_decimal(args[0]), by);
  return calls.make_number(part == Part::Quotient ? result.quotient : result.remainder, false);
}

Value div(Calls& calls, std::span<const Value> args) { return divide_with(calls, args, divide_euclidean, Part::Quotient); }
Value mod(Calls& calls, std::span<const Value> args) { return divide_with(calls, args, divide_euclidean, Part::Remainder); }
Value quo(Calls& calls, std::span<const Value> args) { return divide_with(calls, args, divide_truncated, Part::Quotient); }
Value rem(Calls& calls, std::span<const Value> args) { return divide_with(calls, args, divide_truncated, Part::Remainder); }

Value close_struct(Calls& calls, std::span<const Value> args) { return calls.closed(args[0]); }
Value all(Calls& calls, std::span<const Value> args) { return calls.all_of(args[0]); }
Value any(Calls& calls, std::span<const Value> args) { return calls.any_of(args[0]); }

Value raise(Calls& calls, std::span<const Value> args) {
  bool is_text = args[0].tag == Value::Tag::String || args[0].tag == Value::Tag::Bytes;
  Value text = is_text ? calls.make_string(args[0].str()) : calls.make_string(calls.show(args[0]));
  Value failure = calls.fail(std::string(text.str()));
  Bottom* reason = just_made(failure);
  reason->code = Code::User;
  reason->format = "{0}";
  reason->operands[0] = text;
  reason->is_absent = true;  // shown as it is, without quotes
  return failure;
}

// What matches now, and what may once more is known, against the number wanted.
Value match_n(Calls& calls, std::span<const Value> args) {
  Value data = calls.data_of(args[0]);
  std::int64_t count = 0;
  std::int64_t possible = 0;
  std::vector<Value> why_not;
  for (std::size_t i = 0; i < calls.list_size(args[2]) && calls.spend(1); ++i) {
    Code code = calls.fit(data, calls.raw_item(args[2], i), &why_not);
    count += code == Code::None ? 1 : 0;
    possible += is_incomplete(code) ? 1 : 0;
  }
  auto is_wanted = [&](std::int64_t n) { return !calls.unify(Value::of_int(n), args[1]).is_bottom(); };
  if (is_wanted(count)) return Value::of(true);
  std::string why = fmt::format("{} matched, expected {}", count, calls.show(args[1]));
  for (std::int64_t n = count + 1; n <= count + possible; ++n) {
    if (is_wanted(n)) return calls.incomplete(why, why_not);
  }
  return calls.reject(why, why_not);
}

Value match_if(Calls& calls, std::span<const Value> args) {
  Value data = calls.data_of(args[0]);
  const Value& wanted = calls.fit(data, args[1]) == Code::None ? args[2] : args[3];
  std::vector<Value> why_not;
  Code code = calls.fit(data, wanted, &why_not);
  if (code == Code::None) return Value::of(true);
  return why_not.empty() ? calls.incomplete("invalid value: does not match yet") : calls.reject(why_not[0]);
}

constexpr KindMask kLenParams[] = {kString | kBytes | kList | kStruct};
constexpr KindMask kIntegers[] = {kInt, kInt};
constexpr KindMask kStructParam[] = {kStruct};
constexpr KindMask kListParam[] = {kList};
constexpr KindMask kScalarParam[] = {kString | kBytes | kNumber | kBool};
constexpr KindMask kMatchN[] = {kTop, kInt, kList};
constexpr KindMask kMatchIf[] = {kTop, kTop, kTop, kTop};

constexpr Builtin only_validator(Builtin row) {
  row.is_only_validator = true;
  return row;
}

constexpr Builtin kRows[] = {
    instant({"", "len", kLenParams, kInt, len}),
    {"", "div", kIntegers, kInt, div},
    {"", "mod", kIntegers, kInt, mod},
    {"", "quo", kIntegers, kInt, quo},
    {"", "rem", kIntegers, kInt, rem},
    {"", "close", kStructParam, kStruct, close_struct, true},
    {"", "and", kListParam, kTop, all, true},
    {"", "or", kListParam, kTop, any, true},
    {"", "error", kScalarParam, 0, raise},
    only_validator({"", "matchN", kMatchN, kBool, match_n, true, true}),
    only_validator({"", "matchIf", kMatchIf, kBool, match_if, true, true}),
};

}  // namespace
}  // namespace predeclared_package

std::span<const Builtin> predeclared_rows() { return predeclared_package::kRows; }

}  // namespace slipway::cue
