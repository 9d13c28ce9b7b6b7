#include "base/zone.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/env.h"
#include "base/text.h"

namespace slipway {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::sys_days;

constexpr std::size_t kHeader = 44;

/// The big-endian number of `size` bytes at an offset; 0 beyond the end.
std::int64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  if (at + size > bytes.size()) return 0;
  std::uint64_t out = 0;
  for (const char c : bytes.substr(at, size)) out = out << 8 | static_cast<unsigned char>(c);
  return size == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(out)) : static_cast<std::int64_t>(out);
}

/// The counts of a header, in its order.
struct Counts {
  std::size_t ut = 0, standard = 0, leaps = 0, times = 0, types = 0, chars = 0;

  std::size_t body_bytes(std::size_t time_bytes) const {
    return times * time_bytes + times + types * 6 + chars + leaps * (time_bytes + 4) + standard + ut;
  }
};
Counts counts_at(std::string_view bytes, std::size_t at) {
  const auto get = [&](std::size_t i) {
    return static_cast<std::size_t>(std::max<std::int64_t>(number_at(bytes, at + 20 + 4 * i, 4), 0));
  };
  return {get(0), get(1), get(2), get(3), get(4), get(5)};
}

/// Reads a POSIX TZ rule from its start; what is left stands in `text`.
struct RuleReader {
  std::string_view text;
  bool is_ok = true;

  bool take(char c) {
    if (!text.starts_with(c)) return false;
    text.remove_prefix(1);
    return true;
  }
  int number() {
    if (text.empty() || !is_digit(text[0])) is_ok = false;
    int out = 0;
    for (; !text.empty() && is_digit(text[0]) && out < 1000; text.remove_prefix(1)) out = out * 10 + (text[0] - '0');
    return out;
  }
  void name() {
    if (take('<')) {
      const std::size_t end = text.find('>');
      is_ok = is_ok && end != std::string_view::npos;
      if (is_ok) text.remove_prefix(end + 1);
      return;
    }
    const std::size_t end = std::min(text.find_first_of("+-0123456789,"), text.size());
    is_ok = is_ok && end >= 3;
    text.remove_prefix(end);
  }
  /// [+-]hh[:mm[:ss]]
  Duration time() {
    const bool is_negative = take('-');
    if (!is_negative) take('+');
    Duration out = hours{number()};
    if (take(':')) out += std::chrono::minutes{number()};
    if (take(':')) out += seconds{number()};
    return is_negative ? -out : out;
  }
  YearlyChange change() {
    YearlyChange out;
    if (take('M')) {
      out.month = number();
      is_ok = take('.') && is_ok;
      out.week = number();
      is_ok = take('.') && is_ok;
      out.day = number();
      is_ok = is_ok && out.month >= 1 && out.month <= 12 && out.week >= 1 && out.week <= 5 && out.day <= 6;
    } else {
      out.form = take('J') ? YearlyChange::Form::DayWithoutLeap : YearlyChange::Form::DayOfYear;
      out.day = number();
      is_ok = is_ok && out.day <= 366;
    }
    if (take('/')) out.time = time();
    return out;
  }
};

/// The local moment of the change in a year, read in the offset before it.
Time local_change(const YearlyChange& change, std::chrono::year year) {
  const sys_days first{year / 1 / 1};
  switch (change.form) {
    case YearlyChange::Form::DayOfYear:
      return first + days{change.day} + change.time;
    case YearlyChange::Form::DayWithoutLeap: {
      const bool is_after_leap_day = year.is_leap() && change.day >= 60;
      return first + days{change.day - 1 + (is_after_leap_day ? 1 : 0)} + change.time;
    }
    case YearlyChange::Form::MonthWeekDay:
      break;
  }
  const std::chrono::month month{static_cast<unsigned>(change.month)};
  const std::chrono::weekday day{static_cast<unsigned>(change.day)};
  const sys_days at = change.week == 5 ? sys_days{year / month / day[std::chrono::last]}
                                       : sys_days{year / month / day[static_cast<unsigned>(change.week)]};
  return at + change.time;
}

}  // namespace

Result<Zone> Zone::parse(std::string name, std::string_view bytes) {
  const auto bad = [&](std::string_view why) { return fail(Reason::BadRequest, fmt::format("time zone {}: {}", name, why)); };
  if (!bytes.starts_with("TZif") || bytes.size() < kHeader || bytes[4] < '2')
    return bad("not a TZif file of version 2 or later");
  const std::size_t second = kHeader + counts_at(bytes, 0).body_bytes(4);
  if (!bytes.substr(std::min(second, bytes.size())).starts_with("TZif")) return bad("it is cut short");
  const Counts counts = counts_at(bytes, second);
  const std::size_t times = second + kHeader;
  const std::size_t indexes = times + counts.times * 8;
  const std::size_t types = indexes + counts.times;
  const std::size_t footer = times + counts.body_bytes(8);
  if (footer >= bytes.size() || counts.types == 0) return bad("it is cut short");
  Zone zone;
  zone.name_ = name;
  zone.first_ = seconds{number_at(bytes, types, 4)};
  for (std::size_t i = 0; i < counts.times; ++i) {
    const auto type = static_cast<std::size_t>(static_cast<unsigned char>(bytes[indexes + i]));
    if (type >= counts.types) return bad("it is damaged");
    zone.changes_.push_back(
        {Time(seconds_saturating(number_at(bytes, times + 8 * i, 8))), seconds{number_at(bytes, types + 6 * type, 4)}});
  }
  const std::string_view rule = trimmed(bytes.substr(footer));
  if (rule.empty()) {
    zone.standard_ = zone.changes_.empty() ? zone.first_ : zone.changes_.back().offset;
    return zone;
  }
  SLIPWAY_TRY_VOID(zone.read_rule(rule));
  return zone;
}

Result<Zone> Zone::from_rule(std::string name, std::string_view rule) {
  Zone zone;
  zone.name_ = std::move(name);
  SLIPWAY_TRY_VOID(zone.read_rule(rule));
  return zone;
}

Result<void> Zone::read_rule(std::string_view rule) {
  RuleReader reader{rule};
  reader.name();
  standard_ = -reader.time();
  if (!reader.text.empty()) {
    reader.name();
    summer_ = standard_ + hours{1};
    if (!reader.text.empty() && !reader.text.starts_with(',')) summer_ = -reader.time();
    reader.is_ok = reader.take(',') && reader.is_ok;
    to_summer_ = reader.change();
    reader.is_ok = reader.take(',') && reader.is_ok;
    to_standard_ = reader.change();
  }
  if (!reader.is_ok || !reader.text.empty()) {
    return fail(Reason::BadRequest, fmt::format("time zone {}: the rule {:?} cannot be read", name_, rule));
  }
  if (changes_.empty()) first_ = standard_;
  return {};
}

Duration Zone::offset_at(Time time) const {
  const auto next = std::ranges::upper_bound(changes_, time, {}, &Change::at);
  if (next != changes_.end()) return next == changes_.begin() ? first_ : std::prev(next)->offset;
  if (!summer_) return standard_;
  const auto year = std::chrono::year_month_day{std::chrono::floor<days>(time + standard_)}.year();
  const Time begin = local_change(to_summer_, year) - standard_;
  const Time end = local_change(to_standard_, year) - *summer_;
  const bool is_summer = begin < end ? time >= begin && time < end : time >= begin || time < end;
  return is_summer ? *summer_ : standard_;
}

Time Zone::to_utc(Time local) const {
  const Duration before = offset_at(local - hours{24});
  const Duration after = offset_at(local + hours{24});
  // Where clocks go back, the larger offset comes first and gives the earlier moment.
  for (const Duration offset : {std::max(before, after), std::min(before, after)}) {
    if (offset_at(local - offset) == offset) return local - offset;
  }
  return local - before;
}

Result<Zone> load_zone(Files& files, const std::string& name) {
  if (name == "UTC") return Zone();
  if (name.empty() || name.starts_with('/') || name.contains("..")) {
    return fail(Reason::Invalid, fmt::format("{:?} is no time zone such as Europe/Berlin", name));
  }
  auto bytes = files.read("/usr/share/zoneinfo/" + name);
  if (!bytes) {
    return fail(Reason::NotFound, fmt::format("there is no time zone {} on this machine; install the package tzdata", name));
  }
  return Zone::parse(name, *bytes);
}

}  // namespace slipway
