#include "delivery/gate/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace slipway::delivery::gate {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;
using std::chrono::weekday;
using std::chrono::year_month_day;

constexpr std::size_t kMostStarts = 10'000;
constexpr days kFarAhead{3660};
constexpr int kMostJoined = 100;  // windows that overlap or touch
constexpr std::string_view kDays[] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};

std::optional<int> whole(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::unexpected<Status> bad(std::string_view part, std::string_view why) {
  return fail(Reason::Invalid, fmt::format("{}: {}", part, why));
}

/// 20260105T093000, a "Z" after it if `is_utc` may say so; or 20260105.
std::optional<Time> date_time(std::string_view text, bool& is_utc) {
  is_utc = text.ends_with('Z');
  if (is_utc) text.remove_suffix(1);
  const bool has_time = text.size() == 15 && text[8] == 'T';
  if (text.size() != 8 && !has_time) return std::nullopt;
  const auto part = [&](std::size_t at, std::size_t size) { return has_time || at < 8 ? whole(text.substr(at, size)) : 0; };
  const auto year = part(0, 4), month = part(4, 2), day = part(6, 2), hour = part(9, 2), minute = part(11, 2),
             second = part(13, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                            std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  return Time(sys_days{date}) + hours{*hour} + minutes{*minute} + std::chrono::seconds{*second};
}

std::int64_t month_number(year_month_day date) {
  return static_cast<int>(date.year()) * 12LL + static_cast<unsigned>(date.month()) - 1;
}

std::string shown(const Zone& zone, Time time) {
  const Time local = time + zone.offset_at(time);
  const auto day = std::chrono::floor<days>(local);
  const year_month_day date{day};
  const auto minute = std::chrono::floor<minutes>(local - day).count();
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} {}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), minute / 60, minute % 60, zone.name());
}

}  // namespace

struct Recurrence::Reader {
  Recurrence out{};

  Result<void> frequency(std::string_view text) {
    constexpr std::pair<std::string_view, Frequency> kRows[] = {{"HOURLY", Frequency::Hourly},
                                                                {"DAILY", Frequency::Daily},
                                                                {"WEEKLY", Frequency::Weekly},
                                                                {"MONTHLY", Frequency::Monthly},
                                                                {"YEARLY", Frequency::Yearly}};
    for (const auto& [name, value] : kRows) {
      if (name != text) continue;
      out.frequency_ = value;
      return {};
    }
    return bad("FREQ", "must be HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY");
  }

  static Result<void> numbers(std::string_view part, std::string_view text, int least, int most, std::set<int>& into) {
    for (const std::string_view one : split(text, ',')) {
      const auto number = whole(one);
      if (!number || *number < least || *number > most || (least < 0 && *number == 0)) {
        return bad(part, fmt::format("{:?} is not between {} and {}", one, least, most));
      }
      into.insert(*number);
    }
    return {};
  }

  Result<void> weekdays(std::string_view text) {
    for (const std::string_view one : split(text, ',')) {
      const std::string_view name = one.substr(one.size() - std::min<std::size_t>(one.size(), 2));
      const auto found = std::ranges::find(kDays, name);
      const std::string_view ordinal = one.substr(0, one.size() - name.size());
      const auto number = ordinal.empty() ? std::optional(0) : whole(ordinal);
      const bool is_ordinal = !ordinal.empty() && (!number || *number == 0 || *number > 5 || *number < -5);
      if (found == std::end(kDays) || is_ordinal) return bad("BYDAY", fmt::format("{:?} is no day such as MO or -1FR", one));
      out.weekdays_.emplace_back(*number, weekday{static_cast<unsigned>(found - std::begin(kDays))});
    }
    return {};
  }

  Result<void> part(std::string_view name, std::string_view text) {
    if (name == "FREQ") return frequency(text);
    if (name == "BYDAY") return weekdays(text);
    if (name == "BYHOUR") return numbers(name, text, 0, 23, out.hours_);
    if (name == "BYMINUTE") return numbers(name, text, 0, 59, out.minutes_);
    if (name == "BYMONTH") return numbers(name, text, 1, 12, out.months_);
    if (name == "BYMONTHDAY") return numbers(name, text, -31, 31, out.month_days_);
    if (name == "INTERVAL" || name == "COUNT") {
      const auto number = whole(text);
      if (!number || *number < 1 || *number > static_cast<int>(kMostStarts)) return bad(name, "must be between 1 and 10000");
      if (name == "INTERVAL") out.interval_ = *number;
      if (name == "COUNT") out.count_ = *number;
      return {};
    }
    if (name == "UNTIL") {
      out.until_ = date_time(text, out.is_until_utc_);
      if (!out.until_) return bad(name, "must be a date and time such as 20261231T235959Z");
      return {};
    }
    if (name == "WKST" && text == "MO") return {};
    return bad(name, "is not supported");
  }

  Result<void> start(std::string_view text) {
    bool is_utc = false;
    const auto at = date_time(text, is_utc);
    const bool is_near = at && *at >= Time{} && *at < Time(sys_days{std::chrono::year{2200} / 1 / 1});
    if (!is_near || is_utc) return bad("DTSTART", "must be a local date and time from 1970 on, such as 20260105T093000");
    out.start_ = *at;
    out.has_start_ = true;
    return {};
  }

  /// What the start says where the rule says nothing.
  Result<void> finish() {
    const year_month_day first{std::chrono::floor<days>(out.start_)};
    const auto minute = std::chrono::floor<minutes>(out.start_ - std::chrono::floor<days>(out.start_)).count();
    if (out.minutes_.empty()) out.minutes_ = {static_cast<int>(minute % 60)};
    if (out.hours_.empty() && out.frequency_ != Frequency::Hourly) out.hours_ = {static_cast<int>(minute / 60)};
    const bool has_day = !out.weekdays_.empty() || !out.month_days_.empty();
    const bool needs_day = out.frequency_ >= Frequency::Weekly && !has_day;
    if (needs_day && !out.has_start_) return bad("BYDAY", "or BYMONTHDAY must say the day where there is no DTSTART");
    if (needs_day && out.frequency_ == Frequency::Weekly) out.weekdays_ = {{0, weekday{sys_days{first}}}};
    if (needs_day && out.frequency_ != Frequency::Weekly)
      out.month_days_ = {static_cast<int>(static_cast<unsigned>(first.day()))};
    if (out.frequency_ == Frequency::Yearly && out.months_.empty()) {
      if (!out.has_start_) return bad("BYMONTH", "must say the month where there is no DTSTART");
      out.months_ = {static_cast<int>(static_cast<unsigned>(first.month()))};
    }
    if (out.count_ && !out.has_start_) return bad("COUNT", "needs DTSTART");
    if (out.count_ && out.until_) return bad("COUNT", "may not be set along with UNTIL");
    const bool has_ordinal = std::ranges::any_of(out.weekdays_, [](const auto& day) { return day.first != 0; });
    if (has_ordinal && out.frequency_ < Frequency::Monthly) return bad("BYDAY", "counts days only in months and years");
    return {};
  }
};

Result<Recurrence> Recurrence::parse(std::string_view text) {
  Reader reader;
  bool has_frequency = false;
  for (const std::string_view raw : split(text, '\n')) {
    std::string_view line = trimmed(raw);
    if (line.empty()) continue;
    if (line.starts_with("DTSTART:")) {
      SLIPWAY_TRY_VOID(reader.start(line.substr(8)));
      continue;
    }
    if (line.starts_with("RRULE:")) line.remove_prefix(6);
    std::set<std::string_view> seen;
    for (const std::string_view pair : split(line, ';')) {
      if (pair.empty()) continue;
      const std::size_t equals = std::min(pair.find('='), pair.size());
      const std::string_view name = pair.substr(0, equals);
      if (equals == pair.size()) return bad(name, "must be followed by \"=\" and a value");
      if (!seen.insert(name).second) return bad(name, "stands there twice");
      has_frequency = has_frequency || name == "FREQ";
      SLIPWAY_TRY_VOID(reader.part(name, pair.substr(equals + 1)));
    }
  }
  if (!has_frequency) return bad("FREQ", "is missing");
  SLIPWAY_TRY_VOID(reader.finish());
  return std::move(reader.out);
}

bool Recurrence::is_in_interval(sys_days day) const {
  const auto first = std::chrono::floor<days>(start_);
  if (interval_ == 1 || frequency_ == Frequency::Hourly) return true;
  const year_month_day date{day};
  const year_month_day from{first};
  const auto monday = [](sys_days of) { return of - days{weekday{of}.iso_encoding() - 1}; };
  std::int64_t steps = (day - first).count();
  if (frequency_ == Frequency::Weekly) steps = (monday(day) - monday(first)).count() / 7;
  if (frequency_ == Frequency::Monthly) steps = month_number(date) - month_number(from);
  if (frequency_ == Frequency::Yearly) steps = static_cast<int>(date.year()) - static_cast<int>(from.year());
  return steps % interval_ == 0;
}

bool Recurrence::is_weekday(year_month_day date) const {
  const weekday day{sys_days{date}};
  const int of_month = static_cast<int>(static_cast<unsigned>(date.day()));
  const int days_of_month = static_cast<int>(static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day()));
  return std::ranges::any_of(weekdays_, [&](const auto& one) {
    const auto& [ordinal, name] = one;
    if (name != day) return false;
    if (ordinal == 0) return true;
    return ordinal > 0 ? (of_month - 1) / 7 + 1 == ordinal : (days_of_month - of_month) / 7 + 1 == -ordinal;
  });
}

bool Recurrence::is_day(sys_days day) const {
  const year_month_day date{day};
  if (!months_.empty() && !months_.contains(static_cast<int>(static_cast<unsigned>(date.month())))) return false;
  if (!month_days_.empty()) {
    const int number = static_cast<int>(static_cast<unsigned>(date.day()));
    const int length = static_cast<int>(static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day()));
    if (!month_days_.contains(number) && !month_days_.contains(number - length - 1)) return false;
  }
  return (weekdays_.empty() || is_weekday(date)) && is_in_interval(day);
}

void Recurrence::add_day(const Zone& zone, sys_days day, std::vector<Time>& out) const {
  if (!is_day(day)) return;
  const std::int64_t first_hour = std::chrono::floor<hours>(start_).time_since_epoch().count();
  for (int hour = 0; hour < 24; ++hour) {
    if (!hours_.empty() && !hours_.contains(hour)) continue;
    const Time local = Time(day) + hours{hour};
    const std::int64_t steps = std::chrono::floor<hours>(local).time_since_epoch().count() - first_hour;
    if (frequency_ == Frequency::Hourly && steps % interval_ != 0) continue;
    for (const int minute : minutes_) {
      const Time at = local + minutes{minute};
      if (has_start_ && at < std::chrono::floor<minutes>(start_)) continue;
      const Time moment = zone.to_utc(at);
      if (until_ && (is_until_utc_ ? moment : at) > *until_) continue;
      out.push_back(moment);
    }
  }
}

std::vector<Time> Recurrence::starts(const Zone& zone, Time from, Time to, std::size_t most) const {
  auto day = std::chrono::floor<days>(from) - days{2};
  if (count_) day = std::chrono::floor<days>(start_);  // they are counted from the first
  if (has_start_) day = std::max(day, std::chrono::floor<days>(start_));
  std::vector<Time> all;
  std::vector<Time> out;
  std::int64_t seen = 0;
  for (; day < to + days{2} && out.size() < most; day += days{1}) {
    all.clear();
    add_day(zone, day, all);
    std::ranges::sort(all);
    for (const Time at : all) {
      if (count_ && ++seen > *count_) return out;
      if (at >= from && at < to) out.push_back(at);
    }
  }
  return out;
}

std::vector<Time> Recurrence::between(const Zone& zone, Time from, Time to) const {
  return starts(zone, from, to, kMostStarts);
}

std::optional<Time> Recurrence::next(const Zone& zone, Time after) const {
  const auto found = starts(zone, after + Duration{1}, after + kFarAhead, 1);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

WindowView look(const WindowGate& gate, const Zone& zone, Time now) {
  const auto rule = Recurrence::parse(gate.rrule);
  if (!rule) return {{Verdict::Kind::Unknown, fmt::format("rrule: {}", rule.error().message), ""}};
  // Windows that overlap are one: the end moves on while another has begun by then.
  std::optional<Time> end;
  for (int windows = 0; windows < kMostJoined; ++windows) {
    const Time from = end.value_or(now);
    const auto begun = rule->between(zone, from - gate.duration + Duration{1}, from + Duration{1});
    if (begun.empty()) break;
    end = begun.back() + gate.duration;
  }
  const bool is_inside = end.has_value();
  const std::optional<Time> changes = is_inside ? end : rule->next(zone, now);
  const bool is_open = is_inside != gate.is_freeze;
  const std::string when = changes ? shown(zone, *changes) : "";
  if (is_open) return {{Verdict::Kind::Pass, changes ? "open until " + when : "open", ""}, changes};
  return {{Verdict::Kind::Wait, changes ? "opens at " + when : "no window opens within ten years", ""}, changes};
}

}  // namespace slipway::delivery::gate
