#include "delivery/gate/window.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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
      const auto next = rule->next(berlin(), after);
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

}  // namespace
}  // namespace slipway::delivery::gate
