#include "base/time.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace slipway {
namespace {

using namespace std::chrono;

struct CivilTime {
  year_month_day date;
  hh_mm_ss<Duration> time;
};

CivilTime civil(Time time) {
  const auto day = floor<days>(time);
  return {year_month_day{day}, hh_mm_ss<Duration>{time - day}};
}

/// Reads `width` digits at the front of `text` and drops them.
std::optional<int> take_digits(std::string_view& text, std::size_t width) {
  if (text.size() < width) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, width)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(width);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// The fraction after the seconds, in microseconds; further digits are cut off.
std::optional<Duration> take_fraction(std::string_view& text) {
  if (!take(text, ".")) return Duration{0};
  std::int64_t us = 0;
  std::size_t digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), ++digits) {
    if (digits < 6) us = us * 10 + (text.front() - '0');
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 6; ++digits) us *= 10;
  return Duration{us};
}

std::optional<Duration> take_offset(std::string_view& text) {
  if (take(text, "Zz")) return Duration{0};
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '+' ? 1 : -1;
  text.remove_prefix(1);
  const auto hour = take_digits(text, 2);
  if (!hour || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  return sign * (hours{*hour} + minutes{*minute});
}

std::optional<Time> parse_civil(std::string_view text) {
  const auto y = take_digits(text, 4);
  if (!y || !take(text, "-")) return std::nullopt;
  const auto mo = take_digits(text, 2);
  if (!mo || !take(text, "-")) return std::nullopt;
  const auto d = take_digits(text, 2);
  if (!d || !take(text, "Tt ")) return std::nullopt;
  const auto h = take_digits(text, 2);
  if (!h || !take(text, ":")) return std::nullopt;
  const auto mi = take_digits(text, 2);
  if (!mi || !take(text, ":")) return std::nullopt;
  const auto s = take_digits(text, 2);
  if (!s || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
  const auto fraction = take_fraction(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  const year_month_day date{year{*y}, month{static_cast<unsigned>(*mo)}, day{static_cast<unsigned>(*d)}};
  if (!offset || !text.empty() || !date.ok()) return std::nullopt;
  return sys_days{date} + hours{*h} + minutes{*mi} + seconds{*s} + *fraction - *offset;
}

struct Unit {
  std::string_view name;
  double us;
};
constexpr std::array kUnits{Unit{"ns", 1e-3}, Unit{"us", 1},  Unit{"µs", 1},  Unit{"μs", 1},
                            Unit{"ms", 1e3},  Unit{"s", 1e6}, Unit{"m", 6e7}, Unit{"h", 3.6e9}};

/// The unit at the front: the letters up to the next digit or dot.
const Unit* take_unit(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] != '.' && (text[length] < '0' || text[length] > '9')) ++length;
  for (const Unit& unit : kUnits) {
    if (text.substr(0, length) != unit.name) continue;
    text.remove_prefix(length);
    return &unit;
  }
  return nullptr;
}

std::optional<Duration> parse_go_duration(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  take(text, "+-");
  if (text == "0") return Duration{0};
  if (text.empty()) return std::nullopt;
  long double total = 0;
  while (!text.empty()) {
    double amount = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount, std::chars_format::fixed);
    if (error != std::errc{} || text.front() == '-') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const Unit* unit = take_unit(text);
    if (unit == nullptr) return std::nullopt;
    total += static_cast<long double>(amount) * unit->us;
  }
  // Go's limit is 2^63 nanoseconds, about 292 years.
  if (total > 9.2233e15L) return std::nullopt;
  const auto us = static_cast<std::int64_t>(std::llround(total));
  return Duration{negative ? -us : us};
}

}  // namespace

std::string to_rfc3339(Time time) {
  const auto [date, clock] = civil(time);
  const auto year = static_cast<int>(date.year());
  if (year < 0 || year > 9999) {
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", year, static_cast<unsigned>(date.month()),
                       static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(),
                       clock.seconds().count());
  }
  // Objects are full of times: digits are put where they belong, without a format.
  std::string text = "0000-00-00T00:00:00Z";
  const auto put = [&text](std::size_t at, long number) {
    text[at] = static_cast<char>('0' + number / 10);
    text[at + 1] = static_cast<char>('0' + number % 10);
  };
  put(0, year / 100);
  put(2, year % 100);
  put(5, static_cast<unsigned>(date.month()));
  put(8, static_cast<unsigned>(date.day()));
  put(11, clock.hours().count());
  put(14, clock.minutes().count());
  put(17, clock.seconds().count());
  return text;
}

std::string to_rfc3339_micro(Time time) {
  std::string text = to_rfc3339(time);
  text.pop_back();
  return text + fmt::format(".{:06}Z", civil(time).time.subseconds().count());
}

Result<Time> parse_rfc3339(std::string_view text) {
  if (const auto time = parse_civil(text)) return *time;
  return fail(Reason::BadRequest, fmt::format("\"{}\" is not an RFC 3339 time such as 2026-01-02T03:04:05Z", text));
}

Result<Duration> parse_duration(std::string_view text) {
  if (const auto duration = parse_go_duration(text)) return *duration;
  return fail(Reason::BadRequest, fmt::format("\"{}\" is not a duration such as 300ms, 30s or 1h15m", text));
}

std::string to_string(Duration duration) {
  std::int64_t us = duration.count();
  if (us == 0) return "0s";
  std::string out = us < 0 ? "-" : "";
  us = std::abs(us);
  const auto decimal = [](std::int64_t amount, std::int64_t unit) {
    std::string text = fmt::format("{}", amount / unit);
    if (amount % unit == 0) return text;
    std::string fraction = fmt::format("{}", unit + amount % unit).substr(1);
    while (fraction.back() == '0') fraction.pop_back();
    return text + "." + fraction;
  };
  if (us < 1000) return out + fmt::format("{}µs", us);
  if (us < 1000000) return out + decimal(us, 1000) + "ms";
  const std::int64_t whole_minutes = us / 60000000;
  if (whole_minutes >= 60) out += fmt::format("{}h", whole_minutes / 60);
  if (whole_minutes > 0) out += fmt::format("{}m", whole_minutes % 60);
  return out + decimal(us % 60000000, 1000000) + "s";
}

std::string human_duration(Duration duration) {
  const std::int64_t s = duration_cast<seconds>(duration).count();
  if (s < -1) return "<invalid>";
  if (s < 0) return "0s";
  if (s < 120) return fmt::format("{}s", s);
  const std::int64_t m = s / 60;
  const auto two = [](std::int64_t big, std::string_view big_unit, std::int64_t small, std::string_view small_unit) {
    return small == 0 ? fmt::format("{}{}", big, big_unit) : fmt::format("{}{}{}{}", big, big_unit, small, small_unit);
  };
  if (m < 10) return two(m, "m", s % 60, "s");
  if (m < 180) return fmt::format("{}m", m);
  const std::int64_t h = m / 60;
  if (h < 8) return two(h, "h", m % 60, "m");
  if (h < 48) return fmt::format("{}h", h);
  const std::int64_t d = h / 24;
  if (h < 192) return two(d, "d", h % 24, "h");
  if (d < 730) return fmt::format("{}d", d);
  if (d < 2920) return two(d / 365, "y", d % 365, "d");
  return fmt::format("{}y", d / 365);
}

}  // namespace slipway
