// Package time: instants as RFC 3339 texts, durations as Go writes them. Nothing here reads a clock.
#include <fmt/format.h>

#include <optional>

#include "cue/std/packages.h"
#include "cue/std/time_text.h"

namespace slipway::cue {
namespace time_package {
namespace {

using Args = std::span<const Value>;

constexpr std::int64_t kSecond = 1'000'000'000;

// --- durations, in nanoseconds

struct Unit {
  std::string_view name;
  std::int64_t size;
};
constexpr Unit kUnits[] = {{"ns", 1},         {"us", 1000},   {"µs", 1000},        {"μs", 1000},
                           {"ms", 1'000'000}, {"s", kSecond}, {"m", 60 * kSecond}, {"h", 3600 * kSecond}};

std::optional<std::int64_t> parse_duration(std::string_view text) {
  bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  Decimal total;
  while (!text.empty()) {
    std::size_t size = std::min(text.find_first_not_of("0123456789."), text.size());
    auto number = parse_decimal(text.substr(0, size));
    if (!number || size == 0) return std::nullopt;
    text.remove_prefix(size);
    std::size_t end = std::min(text.find_first_of("0123456789."), text.size());
    const Unit* unit = nullptr;
    for (const Unit& one : kUnits) {
      if (text.substr(0, end) == one.name) unit = &one;
    }
    if (unit == nullptr) return std::nullopt;
    text.remove_prefix(end);
    total = add(total, multiply(*number, decimal_of(unit->size)));
  }
  auto out = to_int64(truncate(total));
  if (!out) return std::nullopt;
  return is_negative ? -*out : *out;
}

std::string print_duration(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  std::string sign = nanoseconds < 0 ? "-" : "";
  std::uint64_t left = nanoseconds < 0 ? ~static_cast<std::uint64_t>(nanoseconds) + 1 : static_cast<std::uint64_t>(nanoseconds);
  auto with_fraction = [](std::uint64_t value, std::uint64_t unit, int digits) {
    std::string fraction = fmt::format("{:0{}}", value % unit, digits);
    while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
    return fmt::format("{}{}{}", value / unit, fraction.empty() ? "" : ".", fraction);
  };
  if (left < 1000) return fmt::format("{}{}ns", sign, left);
  if (left < 1'000'000) return sign + with_fraction(left, 1000, 3) + "µs";
  if (left < kSecond) return sign + with_fraction(left, 1'000'000, 6) + "ms";
  std::uint64_t seconds = left / kSecond;
  std::string out = sign;
  if (seconds >= 3600) out += fmt::format("{}h", seconds / 3600);
  if (seconds >= 60) out += fmt::format("{}m", seconds / 60 % 60);
  return out + with_fraction(left - seconds / 60 * 60 * kSecond, kSecond, 9) + "s";
}

// --- the functions

Value invalid_time(Calls& calls, const Value& text) { return calls.fail(fmt::format("invalid time {}", calls.show(text))); }

Value is_time(Calls& calls, Args args) { return parse_rfc3339(args[0].str()) ? Value::of(true) : invalid_time(calls, args[0]); }

Value is_format(Calls& calls, Args args) {
  if (parse_layout(args[1].str(), args[0].str())) return Value::of(true);
  return calls.fail(fmt::format("invalid time {}", calls.show(args[0])));
}

Value format_string(Calls& calls, Args args) {
  auto m = parse_rfc3339(args[1].str());
  if (!m) return invalid_time(calls, args[1]);
  return calls.make_string(print_layout(args[0].str(), *m));
}

Value parse(Calls& calls, Args args) {
  auto m = parse_layout(args[0].str(), args[1].str());
  if (!m) return calls.fail(fmt::format("parsing time {} as {}: cannot parse", calls.show(args[1]), calls.show(args[0])));
  return calls.make_string(print_rfc3339(moment_of(seconds_of(*m), m->nanosecond)));
}

Value unix_time(Calls& calls, Args args) {
  std::int64_t seconds = to_int(args[0]);
  std::int64_t nanoseconds = to_int(args[1]);
  if (std::abs(seconds) > 400'000'000'000) return calls.fail("time out of range");
  seconds += nanoseconds / kSecond;
  nanoseconds %= kSecond;
  if (nanoseconds < 0) {
    nanoseconds += kSecond;
    --seconds;
  }
  return calls.make_string(print_rfc3339(moment_of(seconds, nanoseconds)));
}

Value to_unix(Calls& calls, Args args) {
  auto m = parse_rfc3339(args[0].str());
  return m ? Value::of_int(seconds_of(*m)) : invalid_time(calls, args[0]);
}

Value to_unix_nano(Calls& calls, Args args) {
  auto m = parse_rfc3339(args[0].str());
  if (!m) return invalid_time(calls, args[0]);
  Decimal total = add(multiply(decimal_of(seconds_of(*m)), decimal_of(kSecond)), decimal_of(m->nanosecond));
  return calls.make_number(total, false);
}

Value split(Calls& calls, Args args) {
  auto m = parse_rfc3339(args[0].str());
  if (!m) return invalid_time(calls, args[0]);
  Calls::Member members[] = {{"year", Value::of_int(m->year)},
                             {"month", Value::of_int(m->month)},
                             {"day", Value::of_int(m->day)},
                             {"hour", Value::of_int(m->hour)},
                             {"minute", Value::of_int(m->minute)},
                             {"second", Value::of_int(m->second)},
                             {"nanosecond", Value::of_int(m->nanosecond)}};
  return calls.make_struct(members);
}

Value invalid_duration(Calls& calls, const Value& text) {
  return calls.fail(fmt::format("time: invalid duration {}", calls.show(text)));
}
Value is_duration(Calls& calls, Args args) {
  return parse_duration(args[0].str()) ? Value::of(true) : invalid_duration(calls, args[0]);
}
Value duration_value(Calls& calls, Args args) {
  auto nanoseconds = parse_duration(args[0].str());
  return nanoseconds ? Value::of_int(*nanoseconds) : invalid_duration(calls, args[0]);
}
Value format_duration(Calls& calls, Args args) { return calls.make_string(print_duration(to_int(args[0]))); }

constexpr auto& kText = kParams<kString>;
constexpr auto& kTwo = kParams<kString, kString>;

constexpr Builtin constant(std::string_view name, std::string_view text) {
  return {"time", name, {}, kTop, nullptr, false, false, text};
}

constexpr Builtin kRows[] = {
    {"time", "Time", kText, kBool, is_time, false, true},
    {"time", "Format", kTwo, kTop, is_format, false, true},
    {"time", "FormatString", kTwo, kString, format_string},
    {"time", "Parse", kTwo, kString, parse},
    {"time", "Unix", kParams<kInt, kInt>, kString, unix_time},
    {"time", "ToUnix", kText, kInt, to_unix},
    {"time", "ToUnixNano", kText, kInt, to_unix_nano},
    {"time", "Split", kText, kStruct, split},
    {"time", "Duration", kText, kBool, is_duration, false, true},
    {"time", "ParseDuration", kText, kInt, duration_value},
    {"time", "FormatDuration", kParams<kInt>, kString, format_duration},
    constant("Nanosecond", "1"),
    constant("Microsecond", "1000"),
    constant("Millisecond", "1000000"),
    constant("Second", "1000000000"),
    constant("Minute", "60000000000"),
    constant("Hour", "3600000000000"),
    constant("January", "1"),
    constant("February", "2"),
    constant("March", "3"),
    constant("April", "4"),
    constant("May", "5"),
    constant("June", "6"),
    constant("July", "7"),
    constant("August", "8"),
    constant("September", "9"),
    constant("October", "10"),
    constant("November", "11"),
    constant("December", "12"),
    constant("Sunday", "0"),
    constant("Monday", "1"),
    constant("Tuesday", "2"),
    constant("Wednesday", "3"),
    constant("Thursday", "4"),
    constant("Friday", "5"),
    constant("Saturday", "6"),
    constant("ANSIC", "\"Mon Jan _2 15:04:05 2006\""),
    constant("UnixDate", "\"Mon Jan _2 15:04:05 MST 2006\""),
    constant("RubyDate", "\"Mon Jan 02 15:04:05 -0700 2006\""),
    constant("RFC822", "\"02 Jan 06 15:04 MST\""),
    constant("RFC822Z", "\"02 Jan 06 15:04 -0700\""),
    constant("RFC850", "\"Monday, 02-Jan-06 15:04:05 MST\""),
    constant("RFC1123", "\"Mon, 02 Jan 2006 15:04:05 MST\""),
    constant("RFC1123Z", "\"Mon, 02 Jan 2006 15:04:05 -0700\""),
    constant("RFC3339", "\"2006-01-02T15:04:05Z07:00\""),
    constant("RFC3339Nano", "\"2006-01-02T15:04:05.999999999Z07:00\""),
    constant("RFC3339Date", "\"2006-01-02\""),
    constant("Kitchen", "\"3:04PM\""),
    constant("Kitchen24", "\"15:04\""),
};

}  // namespace
}  // namespace time_package

std::span<const Builtin> time_rows() { return time_package::kRows; }

}  // namespace slipway::cue
