#include "delivery/gate/window.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <set>

namespace slipway::delivery::gate {
namespace {

using namespace std::chrono_literals;

Zone berlin() { return Zone::from_rule("Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3").value(); }
Time at(std::string_view text) { return parse_rfc3339(text).value(); }

struct ZoneRow {
  const char* rule;
  const char* time;
  Duration offset;
};

TEST(GateZone, rules_give_offsets) {
  const ZoneRow kRows[] = {
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T00:59:59Z", 1h},   {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 2h},
      {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T00:59:59Z", 2h},   {"CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 1h},
      {"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T06:59:59Z", -5h},      {"EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -4h},
      {"NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-01-01T00:00:00Z", 13h},  // summer around the new year
      {"NZST-12NZDT,M9.5.0,M4.1.0/3", "2026-06-01T00:00:00Z", 12h}, {"<+0545>-5:45", "2026-06-01T00:00:00Z", 5h + 45min},
      {"IST-2IDT,M3.4.4/26,M10.5.0", "2026-03-27T00:00:00Z", 3h},  // a time beyond the day
      {"XXX3YYY,J60/0,J300/0", "2028-03-01T02:59:59Z", -3h},       // J60 is 1 March, also in leap years
      {"XXX3YYY,J60/0,J300/0", "2028-03-01T03:00:00Z", -2h},        {"UTC0", "2026-06-01T00:00:00Z", 0h},
  };
  for (const ZoneRow& row : kRows) {
    const auto zone = Zone::from_rule("x", row.rule);
    ASSERT_TRUE(zone) << row.rule;
    EXPECT_EQ(zone->offset_at(at(row.time)), row.offset) << row.rule << " " << row.time;
  }
  for (const char* bad :
       {"", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.0,M10.5.0x", "<+03-3"}) {
    EXPECT_FALSE(Zone::from_rule("x", bad)) << bad;
  }
}

TEST(GateZone, local_times_that_are_skipped_or_twice) {
  EXPECT_EQ(berlin().to_utc(at("2026-03-29T02:30:00Z")), at("2026-03-29T01:30:00Z")) << "skipped: read as if it were winter";
  EXPECT_EQ(berlin().to_utc(at("2026-10-25T02:30:00Z")), at("2026-10-25T00:30:00Z")) << "twice: the first";
  EXPECT_EQ(berlin().to_utc(at("2026-07-01T12:00:00Z")), at("2026-07-01T10:00:00Z"));
}

/// A TZif file of version 2 with two changes and a rule.
std::string tzif(std::string_view footer) {
  const auto number = [](std::int64_t value, int bytes) {
    std::string out;
    for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFF);
    return out;
  };
  const auto header = [&](int times, int types) {
    return std::string("TZif2") + std::string(15, '\0') + number(0, 4) + number(0, 4) + number(0, 4) + number(times, 4) +
           number(types, 4) + number(4, 4);
  };
  const auto type = [&](int offset) { return number(offset, 4) + number(0, 2); };
  std::string out = header(0, 1) + type(0) + std::string("LMT\0", 4);
  out += header(2, 3) + number(0, 8) + number(1000, 8) + std::string("\1\2", 2);
  out += type(600) + type(3600) + type(7200) + std::string("LMT\0", 4);
  return out + "\n" + std::string(footer) + "\n";
}

TEST(GateZone, zone_files_are_read) {
  const auto zone = Zone::parse("x", tzif("CET-1"));
  ASSERT_TRUE(zone) << zone.error().message;
  EXPECT_EQ(zone->offset_at(Time(-1s)), 10min);
  EXPECT_EQ(zone->offset_at(Time(0s)), 1h);
  EXPECT_EQ(zone->offset_at(Time(999s)), 1h);
  EXPECT_EQ(zone->offset_at(Time(1000s)), 1h) << "after the last change the rule counts";
  EXPECT_EQ(Zone::parse("x", tzif(""))->offset_at(Time(1000s)), 2h) << "without a rule the last change";
  const std::string whole = tzif("CET-1");
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    (void)Zone::parse("x", whole.substr(0, size));  // whatever is cut off, nothing is read beyond the end
  }
  EXPECT_FALSE(Zone::parse("x", "no zone"));
}

struct RuleRow {
  const char* rule;
  const char* from;
  std::vector<const char*> starts;
};

TEST(GateWindow, rules_give_starts) {
  const RuleRow kRows[] = {
      {"FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=9;BYMINUTE=0",
       "2026-01-01T00:00:00Z",
       {"2026-01-05T08:00:00Z", "2026-01-06T08:00:00Z", "2026-01-12T08:00:00Z"}},
      {"RRULE:FREQ=DAILY;BYHOUR=9,17;BYMINUTE=30",
       "2026-07-01T08:00:00Z",
       {"2026-07-01T15:30:00Z", "2026-07-02T07:30:00Z", "2026-07-02T15:30:00Z"}},
      {"FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
       "2026-03-28T00:00:00Z",
       {"2026-03-28T01:30:00Z", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"}},
      {"FREQ=MONTHLY;BYDAY=2TU",
       "2026-01-01T00:00:00Z",
       {"2026-01-12T23:00:00Z", "2026-02-09T23:00:00Z", "2026-03-09T23:00:00Z"}},
      {"FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=12", "2026-01-01T00:00:00Z", {"2026-01-30T11:00:00Z", "2026-02-27T11:00:00Z"}},
      {"FREQ=MONTHLY;BYMONTHDAY=-1,15", "2026-02-01T00:00:00Z", {"2026-02-14T23:00:00Z", "2026-02-27T23:00:00Z"}},
      {"FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR", "2026-01-01T00:00:00Z", {"2026-02-12T23:00:00Z", "2026-03-12T23:00:00Z"}},
      {"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", "2026-01-01T00:00:00Z", {"2028-02-28T23:00:00Z"}},
      {"FREQ=HOURLY;INTERVAL=6;BYMINUTE=15", "2026-01-01T00:00:00Z", {"2026-01-01T05:15:00Z", "2026-01-01T11:15:00Z"}},
      {"DTSTART:20260105T093000\nRRULE:FREQ=WEEKLY;INTERVAL=2",
       "2026-01-01T00:00:00Z",
       {"2026-01-05T08:30:00Z", "2026-01-19T08:30:00Z", "2026-02-02T08:30:00Z"}},
      {"DTSTART:20260101T100000\nFREQ=DAILY;COUNT=3",
       "2026-01-02T00:00:00Z",
       {"2026-01-02T09:00:00Z", "2026-01-03T09:00:00Z", ""}},
      {"FREQ=DAILY;UNTIL=20260102T120000Z", "2026-01-01T00:00:00Z", {"2026-01-01T23:00:00Z", ""}},
      {"DTSTART:20260131T000000\nFREQ=MONTHLY", "2026-02-01T00:00:00Z", {"2026-03-30T22:00:00Z", "2026-05-30T22:00:00Z"}},
  };
  for (const RuleRow& row : kRows) {
    const auto rule = Recurrence::parse(row.rule);
    ASSERT_TRUE(rule) << row.rule << ": " << rule.error().message;
    Time after = at(row.from);
    for (const char* wanted : row.starts) {
      int budget = kMaxCandidates;
      const auto next = rule->next(berlin(), after, budget).start;
      EXPECT_EQ(next ? to_rfc3339(*next) : "", wanted) << row.rule;
      after = next.value_or(after);
    }
  }
}

TEST(GateWindow, rules_that_cannot_be_read_name_the_part) {
  const std::pair<const char*, const char*> kRows[] = {
      {"", "FREQ: is missing"},
      {"BYDAY=MO", "FREQ: is missing"},
      {"FREQ=SECONDLY", "FREQ: must be HOURLY, DAILY, WEEKLY, MONTHLY or YEARLY"},
      {"FREQ=DAILY;BYHOUR=24", "BYHOUR: \"24\" is not between 0 and 23"},
      {"FREQ=WEEKLY;BYDAY=XX", "BYDAY: \"XX\" is no day such as MO or -1FR"},
      {"FREQ=WEEKLY;BYDAY=1MO", "BYDAY: counts days only in months and years"},
      {"FREQ=WEEKLY", "BYDAY: or BYMONTHDAY must say the day where there is no DTSTART"},
      {"FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY: \"0\" is not between -31 and 31"},
      {"FREQ=DAILY;BYSETPOS=1", "BYSETPOS: is not supported"},
      {"FREQ=DAILY;COUNT=3", "COUNT: needs DTSTART"},
      {"DTSTART:19690101\nFREQ=DAILY", "DTSTART: must be a local date and time from 1970 on, such as 20260105T093000"},
      {"FREQ=DAILY;UNTIL=tomorrow", "UNTIL: must be a date and time such as 20261231T235959Z"},
      {"FREQ=DAILY;FREQ=DAILY", "FREQ: stands there twice"},
      {"FREQ=DAILY;BYHOUR", "BYHOUR: must be followed by \"=\" and a value"},
      {"FREQ=DAILY;INTERVAL=0", "INTERVAL: must be between 1 and 10000"},
  };
  for (const auto& [rule, text] : kRows) {
    const auto parsed = Recurrence::parse(rule);
    EXPECT_EQ(parsed ? "" : parsed.error().message, text) << rule;
  }
}

struct LookRow {
  bool is_freeze;
  const char* now;
  Verdict::Kind kind;
  const char* text;
};

TEST(GateWindow, open_inside_and_closed_outside_or_the_other_way_round) {
  using enum Verdict::Kind;
  const LookRow kRows[] = {
      {false, "2026-01-05T07:59:59Z", Wait, "opens at 2026-01-05 09:00 Europe/Berlin"},
      {false, "2026-01-05T08:00:00Z", Pass, "open until 2026-01-05 11:00 Europe/Berlin"},
      {false, "2026-01-05T09:59:59Z", Pass, "open until 2026-01-05 11:00 Europe/Berlin"},
      {false, "2026-01-05T10:00:00Z", Wait, "opens at 2026-01-12 09:00 Europe/Berlin"},
      {true, "2026-01-05T07:59:59Z", Pass, "open until 2026-01-05 09:00 Europe/Berlin"},
      {true, "2026-01-05T08:00:00Z", Wait, "opens at 2026-01-05 11:00 Europe/Berlin"},
  };
  for (const LookRow& row : kRows) {
    const WindowGate gate{
        .rrule = "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9", .time_zone = "Europe/Berlin", .duration = 2h, .is_freeze = row.is_freeze};
    const WindowView view = look(gate, berlin(), at(row.now));
    EXPECT_EQ(view.verdict.kind, row.kind) << row.now;
    EXPECT_EQ(view.verdict.text, row.text) << row.now;
  }
}

TEST(GateWindow, windows_that_overlap_are_one) {
  const WindowGate gate{.rrule = "FREQ=DAILY;BYHOUR=9,10,11", .duration = 90min};
  EXPECT_EQ(look(gate, Zone(), at("2026-01-05T09:10:00Z")).verdict.text, "open until 2026-01-05 12:30 UTC");
  const WindowGate always{.rrule = "FREQ=HOURLY", .duration = 1h};
  EXPECT_EQ(look(always, Zone(), at("2026-01-05T09:10:00Z")).verdict.kind, Verdict::Kind::Pass);
  const WindowGate never{.rrule = "FREQ=DAILY;UNTIL=20200101T000000Z"};
  EXPECT_EQ(look(never, Zone(), at("2026-01-05T09:10:00Z")).verdict.text, "no window opens within ten years");
  EXPECT_FALSE(look(never, Zone(), at("2026-01-05T09:10:00Z")).changes);
}

/// A rule as its parts, and what it means by the letter: every minute of every day is asked.
struct Parts {
  std::string frequency;
  int interval = 1;
  std::vector<std::pair<int, int>> weekdays{};  // ordinal, day from Sunday
  std::vector<int> month_days{};
  std::vector<int> months{};
  std::vector<int> hours{};
  std::vector<int> minutes{0};
  Time start{};
  bool has_start = false;
  std::optional<int> count{};
  std::optional<Time> until{};
  bool is_until_utc = false;

  static std::string list(const char* name, const std::vector<int>& numbers) {
    return numbers.empty() ? "" : fmt::format(";{}={}", name, fmt::join(numbers, ","));
  }
  static std::string compact(Time time) {
    std::string text = to_rfc3339(time);
    std::erase_if(text, [](char c) { return c == '-' || c == ':' || c == 'Z'; });
    return text;
  }
  std::string text() const {
    constexpr const char* kNames[] = {"SU", "MO", "TU", "WE", "TH", "FR", "SA"};
    std::string days;
    for (const auto& [ordinal, day] : weekdays) {
      days += fmt::format("{}{}{}", days.empty() ? ";BYDAY=" : ",", ordinal == 0 ? "" : std::to_string(ordinal), kNames[day]);
    }
    return (has_start ? fmt::format("DTSTART:{}\n", compact(start)) : "") +
           fmt::format("FREQ={};INTERVAL={}", frequency, interval) + days + list("BYMONTHDAY", month_days) +
           list("BYMONTH", months) + list("BYHOUR", hours) + list("BYMINUTE", minutes) +
           (count ? fmt::format(";COUNT={}", *count) : "") +
           (until ? fmt::format(";UNTIL={}{}", compact(*until), is_until_utc ? "Z" : "") : "");
  }

  static bool is_in(const std::vector<int>& numbers, int number) {
    return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
  }
  bool is_day(std::chrono::sys_days day) const {
    const std::chrono::year_month_day date{day};
    const int number = static_cast<int>(static_cast<unsigned>(date.day()));
    const int length = static_cast<int>(static_cast<unsigned>((date.year() / date.month() / std::chrono::last).day()));
    const int month = static_cast<int>(static_cast<unsigned>(date.month()));
    if (!is_in(months, month)) return false;
    const bool is_named = is_in(month_days, number) || is_in(month_days, number - length - 1);
    if (!month_days.empty() && !is_named) return false;
    const auto fits = [&](const std::pair<int, int>& one) {
      if (static_cast<int>(std::chrono::weekday{day}.c_encoding()) != one.second) return false;
      return one.first == 0 || one.first == (number - 1) / 7 + 1 || one.first == -((length - number) / 7 + 1);
    };
    if (!weekdays.empty() && std::ranges::none_of(weekdays, fits)) return false;
    const auto first = std::chrono::floor<std::chrono::days>(start);
    const std::chrono::year_month_day from{first};
    const auto monday = [](std::chrono::sys_days of) {
      return of - std::chrono::days{std::chrono::weekday{of}.iso_encoding() - 1};
    };
    std::int64_t steps = 0;
    if (frequency == "DAILY") steps = (day - first).count();
    if (frequency == "WEEKLY") steps = (monday(day) - monday(first)).count() / 7;
    const int years = static_cast<int>(date.year()) - static_cast<int>(from.year());
    if (frequency == "MONTHLY") steps = years * 12 + month - static_cast<int>(static_cast<unsigned>(from.month()));
    if (frequency == "YEARLY") steps = years;
    return steps % interval == 0;
  }
  /// All starts from DTSTART (or the year before 2026) to the end of 2027, ascending.
  std::vector<Time> starts(const Zone& zone) const {
    std::vector<Time> out;
    int counted = 0;
    const auto begin = std::chrono::floor<std::chrono::days>(has_start ? start : at("2025-01-01T00:00:00Z"));
    for (auto day = begin; day < std::chrono::sys_days{std::chrono::year{2028} / 1 / 1}; day += std::chrono::days{1}) {
      if (!is_day(day)) continue;
      for (int hour = 0; hour < 24; ++hour) {
        const Time whole = Time(day) + std::chrono::hours{hour};
        if (!is_in(hours, hour)) continue;
        if (frequency == "HOURLY" && (whole - std::chrono::floor<std::chrono::hours>(start)) / 1h % interval != 0) continue;
        for (const int minute : minutes) {
          const Time local = whole + std::chrono::minutes{minute};
          if (has_start && local < start) continue;
          if (count && ++counted > *count) continue;
          const Time moment = zone.to_utc(local);
          if (until && (is_until_utc ? moment : local) > *until) continue;
          out.push_back(moment);
        }
      }
    }
    std::ranges::sort(out);
    return out;
  }
};

Parts random_parts(std::mt19937& random) {
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  const auto some = [&](int from, int to) {
    std::set<int> numbers;
    for (int i = 0; i < 1 + below(3); ++i) numbers.insert(from + below(to - from + 1));
    return std::vector<int>(numbers.begin(), numbers.end());
  };
  constexpr const char* kFrequencies[] = {"HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"};
  Parts parts{.frequency = kFrequencies[below(5)], .interval = 1 + below(4)};
  const bool may_count_days = parts.frequency == "MONTHLY" || parts.frequency == "YEARLY";
  if (below(2) == 0) {
    for (int i = 0; i < 1 + below(3); ++i) {
      const int ordinal = may_count_days && below(2) == 0 ? (below(2) == 0 ? 1 + below(5) : -1 - below(5)) : 0;
      parts.weekdays.emplace_back(ordinal, below(7));
    }
  }
  if (parts.weekdays.empty() || below(3) == 0) {
    parts.month_days = some(1, 31);
    if (below(2) == 0) parts.month_days.push_back(-1 - below(31));
  }
  if (parts.frequency == "YEARLY" || below(3) == 0) parts.months = some(1, 12);
  if (parts.frequency != "HOURLY" || below(2) == 0) parts.hours = some(0, 5);
  parts.minutes = some(0, 59);
  if (below(2) == 0) {
    parts.has_start = true;
    parts.start = at("2025-06-01T00:00:00Z") + std::chrono::minutes{below(60 * 24 * 400)};
    if (below(2) == 0) parts.count = 1 + below(40);
  }
  if (!parts.count && below(3) == 0) {
    parts.until = at("2025-09-01T00:00:00Z") + std::chrono::minutes{below(60 * 24 * 500)};
    parts.is_until_utc = below(2) == 0;
  }
  return parts;
}

TEST(GateWindow, a_search_finds_what_the_definition_gives) {
  std::mt19937 random(24);
  const Zone kZones[] = {Zone(), berlin(), Zone::from_rule("Pacific/Auckland", "NZST-12NZDT,M9.5.0,M4.1.0/3").value()};
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    const Parts parts = random_parts(random);
    const Zone& zone = kZones[random() % 3];
    const auto rule = Recurrence::parse(parts.text());
    ASSERT_TRUE(rule) << parts.text() << ": " << rule.error().message;
    const std::vector<Time> starts = parts.starts(zone);
    for (int look = 0; look < 40; ++look) {
      // Every other look is at the hours in which clocks change, or at a start itself.
      Time now = at("2025-07-01T00:00:00Z") + std::chrono::minutes{random() % (60 * 24 * 540)};
      if (look % 4 == 1) now = at("2026-03-29T00:00:00Z") + std::chrono::minutes{random() % 180};
      if (look % 4 == 2) now = at("2026-10-25T00:00:00Z") + std::chrono::minutes{random() % 180};
      if (look % 4 == 3 && !starts.empty()) now = starts[random() % starts.size()];
      const auto after = std::ranges::upper_bound(starts, now);
      int budget = kMaxCandidates;
      const auto next = rule->next(zone, now, budget);
      ASSERT_TRUE(next.is_complete || after == starts.end()) << parts.text();
      if (after != starts.end()) {
        ASSERT_EQ(next.start, *after) << parts.text() << "\n" << zone.name() << " after " << to_rfc3339(now);
        ++found;
      } else {
        ASSERT_TRUE(!next.start || *next.start > at("2027-12-30T00:00:00Z")) << parts.text();
      }
      const Time from = now - std::chrono::hours{1 + random() % 2000};
      const bool has_last = after != starts.begin() && *std::prev(after) > from;
      budget = kMaxCandidates;
      const auto last = rule->last(zone, from, now, budget);
      ASSERT_TRUE(last.is_complete) << parts.text();
      if (from > at("2025-01-03T00:00:00Z")) {
        ASSERT_EQ(last.start, has_last ? std::optional(*std::prev(after)) : std::nullopt)
            << parts.text() << "\n"
            << zone.name() << " from " << to_rfc3339(from) << " until " << to_rfc3339(now);
      }
    }
  }
  EXPECT_GT(found, 5'000);
}

std::string every_minute() {
  std::string list;
  for (int minute = 0; minute < 60; ++minute) list += (minute == 0 ? "" : ",") + std::to_string(minute);
  return list;
}

TEST(GateWindow, no_rule_takes_more_candidates_than_one_look_may_try) {
  const Time now = at("2026-11-27T12:00:00Z");
  struct Row {
    std::string rule;
    std::string text;
  };
  const std::string kTooMany =
      "rrule: more than 2000 candidate times would have to be tried; name fewer times of a day, or an interval that meets them";
  const Row kRows[] = {
      {"FREQ=HOURLY;BYMINUTE=" + every_minute() + ";UNTIL=20200101T000000Z", "no window opens within ten years"},
      {"FREQ=HOURLY;BYMINUTE=" + every_minute() + ";UNTIL=20200101T000000", "no window opens within ten years"},
      {"DTSTART:20200101\nFREQ=HOURLY;BYMINUTE=" + every_minute() + ";COUNT=10000", "no window opens within ten years"},
      {"DTSTART:20200101\nFREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=10000", "no window opens within ten years"},
      {"DTSTART:19700101\nFREQ=HOURLY;INTERVAL=24;BYHOUR=5;COUNT=10000", kTooMany},
      {"DTSTART:19700101\nFREQ=DAILY;COUNT=10000", "no window opens within ten years"},
      {"FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30;BYMINUTE=" + every_minute(), "no window opens within ten years"},
      {"FREQ=HOURLY;BYMONTH=6;BYMINUTE=" + every_minute(), "opens at 2027-06-01 00:00 Europe/Berlin"},
      {"FREQ=HOURLY;INTERVAL=10000;BYMINUTE=" + every_minute(), "opens at 2027-01-15 08:00 Europe/Berlin"},
      {"FREQ=DAILY;INTERVAL=10000;BYHOUR=1", "no window opens within ten years"},
      {"FREQ=HOURLY;INTERVAL=24;BYHOUR=5", kTooMany},
      {"FREQ=DAILY;BYDAY=" + std::string(5'000, ','), "rrule: RRULE: is longer than 4096 bytes"},
  };
  for (const Row& row : kRows) {
    for (const Duration duration : {Duration(1h), Duration(8700h)}) {
      const WindowGate gate{.rrule = row.rule, .time_zone = "Europe/Berlin", .duration = duration};
      const std::clock_t begin = std::clock();
      const WindowView view = look(gate, berlin(), now);
      const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      if (duration == Duration(1h)) EXPECT_EQ(view.verdict.text, row.text) << row.rule;
      // Seconds of CPU: without the limits a look took ten of them in a build without optimisation.
      EXPECT_LT(seconds, 2) << row.rule;
    }
  }
}

}  // namespace
}  // namespace slipway::delivery::gate
