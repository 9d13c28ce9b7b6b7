#include "delivery/gate/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
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

constexpr int kMaxCount = 10'000;  // of COUNT and INTERVAL
constexpr days kFarAhead{3660};
constexpr int kMaxJoined = 100;  // windows that overlap or touch
constexpr sys_days kCalendarEnd{std::chrono::year{2250} / 1 / 1};
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

/// The offsets from UTC within two days of a moment. They differ where clocks change; elsewhere local times are in the order of
/// their moments.
struct Offsets {
  Duration least;
  Duration most;
};
Offsets offsets_near(const Zone& zone, Time at) {
  Offsets out{zone.offset_at(at), zone.offset_at(at)};
  for (const int hour : {-48, -24, 24, 48}) {
    const Duration offset = zone.offset_at(at + hours{hour});
    out.least = std::min(out.least, offset);
    out.most = std::max(out.most, offset);
  }
  return out;
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
      out.weekdays_.emplace(*number, static_cast<unsigned>(found - std::begin(kDays)));
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
      if (!number || *number < 1 || *number > kMaxCount) return bad(name, "must be between 1 and 10000");
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
    if (needs_day && out.frequency_ == Frequency::Weekly) out.weekdays_ = {{0, weekday{sys_days{first}}.c_encoding()}};
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
    if (out.count_) out.count_ends_ = out.end_by_count();
    return {};
  }
};

Result<Recurrence> Recurrence::parse(std::string_view text) {
  if (text.size() > kMaxRuleBytes) return bad("RRULE", fmt::format("is longer than {} bytes", kMaxRuleBytes));
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

std::uint32_t Recurrence::days_of(std::chrono::year_month month) const {
  if (!months_.empty() && !months_.contains(static_cast<int>(static_cast<unsigned>(month.month())))) return 0;
  const int length = static_cast<int>(static_cast<unsigned>((month / std::chrono::last).day()));
  auto all = static_cast<std::uint32_t>((std::uint64_t{1} << length) - 1);
  const auto bit = [&](int day) { return day >= 1 && day <= length ? std::uint32_t{1} << (day - 1) : 0U; };
  if (!month_days_.empty()) {
    std::uint32_t named = 0;
    for (const int day : month_days_) named |= bit(day > 0 ? day : length + 1 + day);
    all &= named;
  }
  if (!weekdays_.empty()) {
    std::uint32_t named = 0;
    const unsigned of_first = weekday{sys_days{month / 1}}.c_encoding();
    for (const auto& [ordinal, name] : weekdays_) {
      const int first = 1 + static_cast<int>((name + 7 - of_first) % 7);
      const int last = first + (length - first) / 7 * 7;
      if (ordinal > 0) named |= bit(first + 7 * (ordinal - 1));
      if (ordinal < 0) named |= bit(last + 7 * (ordinal + 1));
      for (int day = first; ordinal == 0 && day <= length; day += 7) named |= bit(day);
    }
    all &= named;
  }
  return all;
}

bool Recurrence::is_in_interval(sys_days day) const {
  const auto first = std::chrono::floor<days>(start_);
  if (interval_ == 1 || frequency_ == Frequency::Hourly) return true;
  const auto monday = [](sys_days of) { return of - days{weekday{of}.iso_encoding() - 1}; };
  std::int64_t steps = (day - first).count();
  if (frequency_ == Frequency::Weekly) steps = (monday(day) - monday(first)).count() / 7;
  if (frequency_ == Frequency::Monthly) steps = month_number(day) - month_number(first);
  if (frequency_ == Frequency::Yearly) steps = month_number(day) / 12 - month_number(first) / 12;
  return steps % interval_ == 0;
}

std::optional<sys_days> Recurrence::day_from(sys_days day, sys_days last) const {
  const year_month_day date{day};
  std::chrono::year_month month{date.year(), date.month()};
  std::uint32_t open = days_of(month) & (~std::uint32_t{0} << (static_cast<unsigned>(date.day()) - 1));
  while (sys_days{month / 1} <= last) {
    for (; open != 0; open &= open - 1) {
      const sys_days found = sys_days{month / 1} + days{std::countr_zero(open)};
      if (found > last) return std::nullopt;
      if (is_in_interval(found)) return found;
    }
    month += std::chrono::months{1};
    open = days_of(month);
  }
  return std::nullopt;
}

std::optional<sys_days> Recurrence::day_until(sys_days day, sys_days first) const {
  const year_month_day date{day};
  std::chrono::year_month month{date.year(), date.month()};
  std::uint32_t open =
      static_cast<std::uint32_t>(days_of(month) & ((std::uint64_t{1} << static_cast<unsigned>(date.day())) - 1));
  while (true) {
    while (open != 0) {
      const int at = 31 - std::countl_zero(open);
      const sys_days found = sys_days{month / 1} + days{at};
      if (found < first) return std::nullopt;
      if (is_in_interval(found)) return found;
      open ^= std::uint32_t{1} << at;
    }
    if (sys_days{month / 1} <= first) return std::nullopt;
    month -= std::chrono::months{1};
    open = days_of(month);
  }
}

std::vector<Time> Recurrence::times_of(sys_days day, int& budget) const {
  std::vector<Time> times;
  const std::int64_t steps = (Time(day) - std::chrono::floor<hours>(start_)) / hours{1};
  for (int hour = 0; hour < 24; ++hour) {
    if (frequency_ == Frequency::Hourly && (steps + hour) % interval_ != 0) continue;
    if (!hours_.empty() && !hours_.contains(hour)) {
      budget -= frequency_ == Frequency::Hourly ? 1 : 0;
      continue;
    }
    for (const int minute : minutes_) {
      const Time at = Time(day) + hours{hour} + minutes{minute};
      if (!has_start_ || at >= std::chrono::floor<minutes>(start_)) times.push_back(at);
    }
  }
  return times;
}

/// Without making them, for days after the first: a rule may count over decades.
std::int64_t Recurrence::count_of(sys_days day) const {
  const auto minutes_of_hour = static_cast<std::int64_t>(minutes_.size());
  if (frequency_ != Frequency::Hourly) return static_cast<std::int64_t>(hours_.size()) * minutes_of_hour;
  const std::int64_t steps = (Time(day) - std::chrono::floor<hours>(start_)) / hours{1};
  std::int64_t count = 0;
  for (int hour = 0; hour < 24; ++hour) {
    const bool is_start = (steps + hour) % interval_ == 0 && (hours_.empty() || hours_.contains(hour));
    count += is_start ? minutes_of_hour : 0;
  }
  return count;
}

std::optional<Time> Recurrence::end_by_count() const {
  const sys_days first = std::chrono::floor<days>(start_);
  std::int64_t left = *count_;
  for (auto day = day_from(first, kCalendarEnd); day; day = day_from(*day + days{1}, kCalendarEnd)) {
    const bool is_counted = *day > first && count_of(*day) < left;
    int unlimited = kMaxCandidates;
    const std::vector<Time> times = is_counted ? std::vector<Time>() : times_of(*day, unlimited);
    const std::int64_t count = is_counted ? count_of(*day) : static_cast<std::int64_t>(times.size());
    if (left <= count) return times[static_cast<std::size_t>(left - 1)];
    left -= count;
  }
  return std::nullopt;
}

Time Recurrence::last_local(const Zone& zone) const {
  if (count_) return count_ends_.value_or(Time::max());
  if (!until_) return Time::max();
  return is_until_utc_ ? *until_ + offsets_near(zone, *until_).most : *until_;
}

Recurrence::Found Recurrence::next(const Zone& zone, Time after, int& budget) const {
  Time first = after + offsets_near(zone, after).least;
  if (has_start_) first = std::max(first, start_ - minutes{1});
  Time last = std::min(last_local(zone), after + kFarAhead + days{1});
  Found found;
  auto at_day = std::chrono::floor<days>(first);
  for (auto day = day_from(at_day, std::chrono::floor<days>(last)); day;
       day = day_from(*day + days{1}, std::chrono::floor<days>(last))) {
    const std::vector<Time> times = times_of(*day, budget);
    for (auto local = std::ranges::upper_bound(times, first); local != times.end() && *local <= last; ++local) {
      if (--budget < 0) return {std::nullopt, false};
      const Time moment = zone.to_utc(*local);
      if (moment <= after || moment >= after + kFarAhead || (is_until_utc_ && moment > *until_)) continue;
      if (!found.start || moment < *found.start) found.start = moment;
      // Only where clocks change can a later local time be an earlier moment.
      last = std::min(last, *found.start + offsets_near(zone, *found.start).most);
    }
    if (budget < 0) return {std::nullopt, false};
  }
  return found;
}

Recurrence::Found Recurrence::last(const Zone& zone, Time after, Time until, int& budget) const {
  Time first = after + offsets_near(zone, after).least;
  if (has_start_) first = std::max(first, start_ - minutes{1});
  const Time last = std::min(last_local(zone), until + offsets_near(zone, until).most);
  Found found;
  for (auto day = day_until(std::chrono::floor<days>(last), std::chrono::floor<days>(first)); day;
       day = day_until(*day - days{1}, std::chrono::floor<days>(first))) {
    const std::vector<Time> times = times_of(*day, budget);
    for (auto local = std::ranges::upper_bound(times, last); local != times.begin();) {
      if (*--local <= first) break;
      if (--budget < 0) return {std::nullopt, false};
      const Time moment = zone.to_utc(*local);
      if (moment <= after || moment > until || (is_until_utc_ && moment > *until_)) continue;
      if (!found.start || moment > *found.start) found.start = moment;
      first = std::max(first, *found.start + offsets_near(zone, *found.start).least - Duration{1});
    }
    if (budget < 0) return {std::nullopt, false};
  }
  return found;
}

WindowView look(const WindowGate& gate, const Zone& zone, Time now) {
  const auto rule = Recurrence::parse(gate.rrule);
  if (!rule) return {{Verdict::Kind::Unknown, fmt::format("rrule: {}", rule.error().message), ""}};
  int budget = kMaxCandidates;
  const auto too_much = [] {
    return WindowView{
        {Verdict::Kind::Unknown,
         fmt::format("rrule: more than {} candidate times would have to be tried; name fewer times of a day, or an "
                     "interval that meets them",
                     kMaxCandidates),
         ""}};
  };
  // Windows that overlap are one: the end moves on while another has begun by then.
  std::optional<Time> end;
  for (int windows = 0; windows < kMaxJoined; ++windows) {
    const Time from = end.value_or(now);
    const auto begun = rule->last(zone, from - gate.duration, from, budget);
    if (!begun.is_complete && !end) return too_much();
    if (!begun.start) break;
    end = *begun.start + gate.duration;
  }
  const bool is_inside = end.has_value();
  std::optional<Time> changes = end;
  if (!is_inside) {
    const auto next = rule->next(zone, now, budget);
    if (!next.is_complete) return too_much();
    changes = next.start;
  }
  const bool is_open = is_inside != gate.is_freeze;
  const std::string when = changes ? shown(zone, *changes) : "";
  if (is_open) return {{Verdict::Kind::Pass, changes ? "open until " + when : "open", ""}, changes};
  return {{Verdict::Kind::Wait, changes ? "opens at " + when : "no window opens within ten years", ""}, changes};
}

}  // namespace slipway::delivery::gate
