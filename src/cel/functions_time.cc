// Parts of timestamps, in UTC or a zone given by its offset, and of durations (cel-spec, "Timezones").
#include <chrono>

#include <fmt/format.h>

#include "cel/library.h"
#include "cel/time_text.h"

namespace slipway::cel {
namespace {

enum class Part { FullYear, Month, DayOfYear, DayOfMonth, Date, DayOfWeek, Hours, Minutes, Seconds };

std::int64_t part_of(std::int64_t local_seconds, Part part) {
  using namespace std::chrono;
  const sys_seconds at{seconds(local_seconds)};
  const auto day_start = floor<days>(at);
  const year_month_day date(day_start);
  const std::int64_t rest = (at - day_start).count();
  switch (part) {
    case Part::FullYear:
      return static_cast<int>(date.year());
    case Part::Month:
      return static_cast<unsigned>(date.month()) - 1;
    case Part::DayOfYear:
      return (day_start - sys_days(date.year() / January / 1)).count();
    case Part::DayOfMonth:
      return static_cast<unsigned>(date.day()) - 1;
    case Part::Date:
      return static_cast<unsigned>(date.day());
    case Part::DayOfWeek:
      return weekday(day_start).c_encoding();
    case Part::Hours:
      return rest / 3600;
    case Part::Minutes:
      return rest / 60 % 60;
    case Part::Seconds:
      return rest % 60;
  }
  return 0;
}

template <Part kPart>
Value part(const Call& call) {
  std::int64_t offset = 0;
  if (call.args.size() == 2) {
    const auto zone = parse_zone(call[1].text());
    if (!zone) return make_error(fmt::format("unknown time zone {}", call[1].text()));
    offset = *zone;
  }
  return make_int(part_of(call[0].integer + offset, kPart));
}
Value milliseconds(const Call& call) {
  if (call.args.size() == 2 && !parse_zone(call[1].text()))
    return make_error(fmt::format("unknown time zone {}", call[1].text()));
  return make_int(call[0].nanos / 1'000'000);
}

template <std::int64_t kUnit>
Value whole(const Call& call) {
  return make_int(call[0].integer / kUnit);
}
Value duration_milliseconds(const Call& call) { return make_int(call[0].integer / 1'000'000 % 1000); }
/// cel-go gives the whole duration, the specification what is left of the second.
Value whole_milliseconds(const Call& call) { return make_int(call[0].integer / 1'000'000); }

constexpr Row kTimeRows[] = {
    {"getFullYear", "timestamp.() -> int", part<Part::FullYear>},
    {"getFullYear", "timestamp.(string) -> int", part<Part::FullYear>},
    {"getMonth", "timestamp.() -> int", part<Part::Month>},
    {"getMonth", "timestamp.(string) -> int", part<Part::Month>},
    {"getDayOfYear", "timestamp.() -> int", part<Part::DayOfYear>},
    {"getDayOfYear", "timestamp.(string) -> int", part<Part::DayOfYear>},
    {"getDayOfMonth", "timestamp.() -> int", part<Part::DayOfMonth>},
    {"getDayOfMonth", "timestamp.(string) -> int", part<Part::DayOfMonth>},
    {"getDate", "timestamp.() -> int", part<Part::Date>},
    {"getDate", "timestamp.(string) -> int", part<Part::Date>},
    {"getDayOfWeek", "timestamp.() -> int", part<Part::DayOfWeek>},
    {"getDayOfWeek", "timestamp.(string) -> int", part<Part::DayOfWeek>},
    {"getHours", "timestamp.() -> int", part<Part::Hours>},
    {"getHours", "timestamp.(string) -> int", part<Part::Hours>},
    {"getHours", "duration.() -> int", whole<3'600'000'000'000>},
    {"getMinutes", "timestamp.() -> int", part<Part::Minutes>},
    {"getMinutes", "timestamp.(string) -> int", part<Part::Minutes>},
    {"getMinutes", "duration.() -> int", whole<60'000'000'000>},
    {"getSeconds", "timestamp.() -> int", part<Part::Seconds>},
    {"getSeconds", "timestamp.(string) -> int", part<Part::Seconds>},
    {"getSeconds", "duration.() -> int", whole<1'000'000'000>},
    {"getMilliseconds", "timestamp.() -> int", milliseconds},
    {"getMilliseconds", "timestamp.(string) -> int", milliseconds},
    {"getMilliseconds", "duration.() -> int", duration_milliseconds},
    {"k8s.getMilliseconds", "timestamp.() -> int", milliseconds},
    {"k8s.getMilliseconds", "timestamp.(string) -> int", milliseconds},
    {"k8s.getMilliseconds", "duration.() -> int", whole_milliseconds},
};

}  // namespace

std::span<const Row> time_rows() { return kTimeRows; }

}  // namespace slipway::cel
