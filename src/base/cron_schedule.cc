#include "base/cron_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <vector>

#include "base/count.h"
#include "base/text.h"
#include "base/time.h"

namespace slipway {

namespace {

struct Field {
  int least = 0;
  int most = 0;
  std::string_view names;  // of three letters each, for the numbers from `least`
};
constexpr std::array kFields{Field{0, 59, ""}, Field{0, 23, ""}, Field{1, 31, ""},
                             Field{1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"}, Field{0, 6, "sunmontuewedthufrisat"}};
struct Macro {
  std::string_view name;
  std::string_view fields;
};
constexpr std::array kMacros{Macro{"@yearly", "0 0 1 1 *"}, Macro{"@annually", "0 0 1 1 *"}, Macro{"@monthly", "0 0 1 * *"},
                             Macro{"@weekly", "0 0 * * 0"}, Macro{"@daily", "0 0 * * *"},    Macro{"@midnight", "0 0 * * *"},
                             Macro{"@hourly", "0 * * * *"}};
constexpr std::string_view kEvery = "@every ";
constexpr int kMostDays = 5 * 366;

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

/// Numbers beyond what any field takes count as the first one that none does.
constexpr std::int64_t kBeyondAll = 1000;

std::optional<int> number_of(std::string_view text, const Field& field) {
  const std::string word = lower(text);
  for (std::size_t i = 0; word.size() == 3 && i + 3 <= field.names.size(); i += 3) {
    if (field.names.substr(i, 3) == word) return field.least + static_cast<int>(i / 3);
  }
  const bool is_number = !text.empty() && std::ranges::all_of(text, is_digit);
  return is_number ? std::optional(static_cast<int>(std::min(leading_count(text), kBeyondAll))) : std::nullopt;
}

std::string no_number(std::string_view text) {
  return fmt::format("failed to parse int from {0}: strconv.Atoi: parsing \"{0}\": invalid syntax", text);
}

/// One of the parts between commas: "*", "1", "1-5", each with "/step".
struct Part {
  int first = 0;
  int last = 0;
  int step = 1;
  bool is_any = false;  // "*"
};

std::expected<Part, std::string> part_of(std::string_view text, const Field& field) {
  const auto fault = [](std::string told) { return std::unexpected(std::move(told)); };
  const auto by_step = split(text, '/');
  if (by_step.size() > 2) return fault(fmt::format("too many slashes: {}", text));
  const auto bounds = split(by_step[0], '-');
  if (bounds.size() > 2) return fault(fmt::format("too many hyphens: {}", text));
  Part part{.first = field.least, .last = field.most, .is_any = bounds[0] == "*" || bounds[0] == "?"};
  if (!part.is_any) {
    const auto begin = number_of(bounds[0], field);
    if (!begin) return fault(no_number(bounds[0]));
    const auto end = bounds.size() == 2 ? number_of(bounds[1], field) : begin;
    if (!end) return fault(no_number(bounds[1]));
    part.first = *begin;
    part.last = bounds.size() == 1 && by_step.size() == 2 ? field.most : *end;
  }
  if (by_step.size() == 2) {
    const auto step = number_of(by_step[1], Field{});
    if (!step) return fault(no_number(by_step[1]));
    if (*step == 0) return fault(fmt::format("step of range should be a positive number: {}", text));
    part.step = std::min(*step, field.most + 1);  // beyond the field only its beginning is due
  }
  const auto [first, last, step, is_any] = part;
  if (first < field.least)
    return fault(fmt::format("beginning of range ({}) below minimum ({}): {}", first, field.least, text));
  if (last > field.most) return fault(fmt::format("end of range ({}) above maximum ({}): {}", last, field.most, text));
  if (first > last) return fault(fmt::format("beginning of range ({}) beyond end of range ({}): {}", first, last, text));
  return part;
}

}  // namespace

std::optional<std::string> schedule_fault(std::string_view schedule) {
  if (schedule.size() > kMaxScheduleBytes) return fmt::format("longer than {} bytes", kMaxScheduleBytes);
  if (schedule.starts_with('@')) {
    if (std::ranges::find(kMacros, schedule, &Macro::name) != kMacros.end()) return std::nullopt;
    if (!schedule.starts_with(kEvery)) return fmt::format("unrecognized descriptor: {}", schedule);
    if (parse_duration(schedule.substr(kEvery.size()))) return std::nullopt;
    return fmt::format("failed to parse duration {}", schedule);
  }
  const auto fields = words(schedule);
  if (fields.size() != kFields.size()) {
    return fmt::format("expected exactly {} fields, found {}: [{}]", kFields.size(), fields.size(), fmt::join(fields, " "));
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (const std::string_view part : split(fields[i], ',')) {
      if (const auto read = part_of(part, kFields[i]); !read) return read.error();
    }
  }
  return std::nullopt;
}

CronSchedule::CronSchedule(std::string_view schedule) {
  if (schedule_fault(schedule)) return;
  if (schedule.starts_with(kEvery)) {
    const Duration every = parse_duration(schedule.substr(kEvery.size())).value_or(Duration{0});
    every_ = std::max<Duration>(std::chrono::floor<std::chrono::seconds>(every), std::chrono::seconds{1});
    return;
  }
  const auto macro = std::ranges::find(kMacros, schedule, &Macro::name);
  const auto fields = words(macro == kMacros.end() ? schedule : macro->fields);
  std::array<bool, kFields.size()> is_any{};
  for (std::size_t i = 0; i < kFields.size(); ++i) {
    for (const std::string_view text : split(fields[i], ',')) {
      const Part part = part_of(text, kFields[i]).value();
      for (int number = part.first; number <= part.last; number += part.step) due_[i] |= std::uint64_t{1} << number;
      is_any[i] |= part.is_any && part.step == 1;
    }
  }
  is_either_day_ = !is_any[2] && !is_any[4];
}

bool CronSchedule::is_due_on(std::chrono::sys_days day) const {
  const auto has = [&](std::size_t field, unsigned number) { return (due_[field] >> number & 1) != 0; };
  const std::chrono::year_month_day date{day};
  if (!has(3, static_cast<unsigned>(date.month()))) return false;
  const bool is_day_of_month = has(2, static_cast<unsigned>(date.day()));
  const bool is_day_of_week = has(4, std::chrono::weekday{day}.c_encoding());
  return is_either_day_ ? is_day_of_month || is_day_of_week : is_day_of_month && is_day_of_week;
}

bool CronSchedule::is_due_at(int minute_of_day) const {
  return (due_[0] >> minute_of_day % 60 & 1) != 0 && (due_[1] >> minute_of_day / 60 & 1) != 0;
}

/// The first moment after `after` at which clocks show a time of this day that is due.
std::optional<Time> CronSchedule::next_on(std::chrono::sys_days day, Time after, const Zone& zone) const {
  using std::chrono::hours;
  using std::chrono::minutes;
  if (!is_due_on(day)) return std::nullopt;
  const Duration before = zone.offset_at(day - hours{24});
  const Duration later = zone.offset_at(day + hours{48});
  const Duration passed = after + std::min(before, later) - day;
  std::optional<Time> first;
  for (auto minute = std::max<std::int64_t>(passed / minutes{1}, 0); minute < 24 * 60; ++minute) {
    if (!is_due_at(static_cast<int>(minute))) continue;
    for (const Duration offset : {std::max(before, later), std::min(before, later)}) {
      const Time when = day + minutes{minute} - offset;
      if (when <= after || (before != later && zone.offset_at(when) != offset)) continue;
      if (!first || when < *first) first = when;
    }
    if (first && before == later) return first;  // else clocks that go back show a later text at an earlier moment
  }
  return first;
}

std::optional<Time> CronSchedule::next(Time after, const Zone& zone) const {
  using std::chrono::days;
  using std::chrono::floor;
  if (every_) {
    if (after > Time::max() - *every_) return std::nullopt;
    return floor<std::chrono::seconds>(after) + *every_;
  }
  // Clocks that go back at midnight show the day before again.
  auto day = floor<days>(after + zone.offset_at(after)) - days{1};
  for (int i = 0; i < kMostDays; ++i, day += days{1}) {
    const auto found = next_on(day, after, zone);
    if (!found) continue;
    const auto next_day = next_on(day + days{1}, after, zone);
    return next_day ? std::min(*found, *next_day) : found;
  }
  return std::nullopt;
}

CronSchedule::Missed CronSchedule::missed(Time after, Time until, int max_count, const Zone& zone) const {
  Missed missed;
  const auto is_due = [&](Time from) {
    const auto due = next(from, zone);
    return due && *due <= until;
  };
  for (auto due = next(after, zone); due && *due <= until; due = next(*due, zone)) {
    missed.last = due;
    if (++missed.count > max_count) break;
  }
  if (missed.count <= max_count) return missed;
  if (every_) {
    missed.last = *missed.last + (until - *missed.last) / *every_ * *every_;
    return missed;
  }
  // What comes due after a moment comes later the later the moment is: the last one is found by halving.
  Time low = *missed.last;
  for (Time high = until; high - low > std::chrono::minutes{1};) {
    const Time middle = low + (high - low) / 2;
    (is_due(middle) ? low : high) = middle;
  }
  for (auto due = next(low, zone); due && *due <= until; due = next(*due, zone)) missed.last = due;
  return missed;
}

}  // namespace slipway
