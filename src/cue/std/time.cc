// Package time: instants as RFC 3339 texts, durations as Go writes them. Nothing here reads a clock.
#include <fmt/format.h>

#include <optional>

#include "cue/std/packages.h"

namespace slipway::cue {
namespace {

using Args = std::span<const Value>;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400;

/// A moment as it was written: local fields and the distance from UTC.
struct Moment {
  std::int64_t year = 0;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t nanosecond = 0;
  int offset_minutes = 0;
};

// Days since 1970-01-01 of the proleptic Gregorian calendar, and back (H. Hinnant's algorithms).
std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  std::int64_t in_era = year - era * 400;
  std::int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

Moment moment_of(std::int64_t seconds, std::int64_t nanoseconds) {
  std::int64_t days = seconds / kDay - (seconds % kDay < 0 ? 1 : 0);
  std::int64_t rest = seconds - days * kDay;
  std::int64_t z = days + 719468;
  std::int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  std::int64_t in_era = z - era * 146097;
  std::int64_t year_in_era = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
  std::int64_t in_year = in_era - (365 * year_in_era + year_in_era / 4 - year_in_era / 100);
  std::int64_t shifted = (5 * in_year + 2) / 153;
  Moment m;
  m.day = static_cast<int>(in_year - (153 * shifted + 2) / 5 + 1);
  m.month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  m.year = year_in_era + era * 400 + (m.month <= 2 ? 1 : 0);
  m.hour = static_cast<int>(rest / 3600);
  m.minute = static_cast<int>(rest / 60 % 60);
  m.second = static_cast<int>(rest % 60);
  m.nanosecond = nanoseconds;
  return m;
}

std::int64_t seconds_of(const Moment& m) {
  return days_of(m.year, m.month, m.day) * kDay + m.hour * 3600 + m.minute * 60 + m.second - m.offset_minutes * 60;
}

int days_in_month(std::int64_t year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && is_leap ? 29 : kDays[month - 1];
}

bool is_valid(const Moment& m) {
  return m.month >= 1 && m.month <= 12 && m.day >= 1 && m.day <= days_in_month(m.year, m.month) && m.hour <= 23 &&
         m.minute <= 59 && m.second <= 59;
}

/// Reads from the front of a text.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool done() const { return text_.empty(); }
  std::string_view rest() const { return text_; }
  bool skip(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  bool skip_bytes(std::size_t count) {
    if (count > text_.size()) return false;
    text_.remove_prefix(count);
    return true;
  }
  bool peek_digit() const { return !text_.empty() && text_[0] >= '0' && text_[0] <= '9'; }
  /// Between `least` and `most` digits.
  bool digits(std::size_t least, std::size_t most, std::int64_t& out) {
    std::size_t size = 0;
    out = 0;
    while (size < most && size < text_.size() && text_[size] >= '0' && text_[size] <= '9')
      out = out * 10 + (text_[size++] - '0');
    text_.remove_prefix(size);
    return size >= least && size > 0;
  }
  bool number(std::size_t least, std::size_t most, int& out) {
    std::int64_t value = 0;
    if (!digits(least, most, value)) return false;
    out = static_cast<int>(value);
    return true;
  }
  /// ".123" or ",123": any number of digits, nine of which count.
  bool fraction(std::int64_t& nanoseconds) {
    if (!skip(".") && !skip(",")) return false;
    std::int64_t scale = kSecond / 10;
    nanoseconds = 0;
    if (!peek_digit()) return false;
    for (; peek_digit(); text_.remove_prefix(1), scale /= 10) nanoseconds += (text_[0] - '0') * scale;
    return true;
  }

 private:
  std::string_view text_;
};

// RFC 3339 as Go's time.UnmarshalJSON takes it.
std::optional<Moment> parse_rfc3339(std::string_view text) {
  Moment m;
  Reader in(text);
  int zone_hours = 0;
  int zone_minutes = 0;
  bool ok = in.digits(4, 4, m.year) && in.skip("-") && in.number(2, 2, m.month) && in.skip("-") && in.number(2, 2, m.day) &&
            in.skip("T") && in.number(2, 2, m.hour) && in.skip(":") && in.number(2, 2, m.minute) && in.skip(":") &&
            in.number(2, 2, m.second);
  if (ok && in.rest().starts_with('.')) ok = in.fraction(m.nanosecond);
  if (ok && !in.skip("Z")) {
    bool is_west = in.rest().starts_with('-');
    ok = (in.skip("+") || in.skip("-")) && in.number(2, 2, zone_hours) && in.skip(":") && in.number(2, 2, zone_minutes) &&
         zone_hours <= 23 && zone_minutes <= 59;
    m.offset_minutes = (zone_hours * 60 + zone_minutes) * (is_west ? -1 : 1);
  }
  if (!ok || !in.done() || !is_valid(m)) return std::nullopt;
  return m;
}

std::string fraction_text(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "";
  std::string digits = fmt::format("{:09}", nanoseconds);
  while (digits.back() == '0') digits.pop_back();
  return "." + digits;
}

std::string print_rfc3339(const Moment& m) {
  std::string zone = m.offset_minutes == 0 ? "Z"
                                           : fmt::format("{}{:02}:{:02}", m.offset_minutes < 0 ? '-' : '+',
                                                         std::abs(m.offset_minutes) / 60, std::abs(m.offset_minutes) % 60);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}", m.year, m.month, m.day, m.hour, m.minute, m.second,
                     fraction_text(m.nanosecond), zone);
}

// --- layouts: the reference time Mon Jan 2 15:04:05 MST 2006 spells the form

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
constexpr std::string_view kWeekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

enum class Part : std::uint8_t {
  Text,
  LongMonth,
  Month,
  MonthNumber,
  MonthPadded,
  LongWeekday,
  Weekday,
  Day,
  DaySpaced,
  DayPadded,
  DayOfYear,
  Hour,
  Hour12,
  Hour12Padded,
  Minute,
  MinutePadded,
  Second,
  SecondPadded,
  LongYear,
  Year,
  UpperPm,
  LowerPm,
  ZoneName,
  ZoneColon,
  ZoneDigits,
  ZoneHours,
  ZoneColonZ,
  ZoneDigitsZ,
  Fraction,
};

struct PartName {
  std::string_view text;
  Part part;
};
// Longer ones first where one begins another.
constexpr PartName kParts[] = {{"January", Part::LongMonth},
                               {"Jan", Part::Month},
                               {"Monday", Part::LongWeekday},
                               {"Mon", Part::Weekday},
                               {"MST", Part::ZoneName},
                               {"2006", Part::LongYear},
                               {"-07:00", Part::ZoneColon},
                               {"-0700", Part::ZoneDigits},
                               {"-07", Part::ZoneHours},
                               {"Z07:00", Part::ZoneColonZ},
                               {"Z0700", Part::ZoneDigitsZ},
                               {"002", Part::DayOfYear},
                               {"01", Part::MonthPadded},
                               {"02", Part::DayPadded},
                               {"03", Part::Hour12Padded},
                               {"04", Part::MinutePadded},
                               {"05", Part::SecondPadded},
                               {"06", Part::Year},
                               {"15", Part::Hour},
                               {"1", Part::MonthNumber},
                               {"_2", Part::DaySpaced},
                               {"2", Part::Day},
                               {"3", Part::Hour12},
                               {"4", Part::Minute},
                               {"5", Part::Second},
                               {"PM", Part::UpperPm},
                               {"pm", Part::LowerPm}};

/// The next part of a layout, taken from its front; a run of plain bytes is one Text part.
struct LayoutPart {
  Part part = Part::Text;
  std::string_view text;
};

LayoutPart next_part(std::string_view& layout) {
  for (std::size_t i = 0; i < layout.size(); ++i) {
    std::string_view at = layout.substr(i);
    LayoutPart found;
    for (const PartName& name : kParts) {
      if (at.starts_with(name.text) && !(name.part == Part::DaySpaced && at.starts_with("_2006"))) {
        found = {name.part, at.substr(0, name.text.size())};
        break;
      }
    }
    bool is_dot = (at[0] == '.' || at[0] == ',') && at.size() > 1 && (at[1] == '0' || at[1] == '9');
    if (is_dot) {
      std::size_t end = at.find_first_not_of(at[1], 1);
      if (end == std::string_view::npos) end = at.size();
      bool goes_on = end < at.size() && at[end] >= '0' && at[end] <= '9';
      if (!goes_on) found = {Part::Fraction, at.substr(0, end)};
    }
    if (found.part == Part::Text) continue;
    if (i > 0) found = {Part::Text, layout.substr(0, i)};
    layout.remove_prefix(found.text.size());
    return found;
  }
  LayoutPart rest{Part::Text, layout};
  layout = {};
  return rest;
}

bool read_name(Reader& in, std::span<const std::string_view> names, std::size_t size, int& index) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!in.skip(size == 0 ? names[i] : names[i].substr(0, size))) continue;
    index = static_cast<int>(i);
    return true;
  }
  return false;
}

bool read_zone(Reader& in, Part part, Moment& m) {
  if ((part == Part::ZoneColonZ || part == Part::ZoneDigitsZ) && in.skip("Z")) return true;
  bool is_west = in.rest().starts_with('-');
  int hours = 0;
  int minutes = 0;
  if (!in.skip("+") && !in.skip("-")) return false;
  if (!in.number(2, 2, hours)) return false;
  bool has_colon = part == Part::ZoneColon || part == Part::ZoneColonZ;
  if (has_colon && !in.skip(":")) return false;
  if (part != Part::ZoneHours && !in.number(2, 2, minutes)) return false;
  m.offset_minutes = (hours * 60 + minutes) * (is_west ? -1 : 1);
  return hours <= 24 && minutes < 60;
}

// Three or four capital letters, or GMT with hours: no distance is known, so it counts as UTC.
bool read_zone_name(Reader& in) {
  std::size_t size = 0;
  while (size < in.rest().size() && size < 5 && in.rest()[size] >= 'A' && in.rest()[size] <= 'Z') ++size;
  return size >= 3 && in.skip_bytes(size);
}

bool read_part(Reader& in, const LayoutPart& part, Moment& m, int& half) {
  int ignored = 0;
  switch (part.part) {
    case Part::Text:
      return in.skip(part.text);
    case Part::LongMonth:
    case Part::Month: {
      bool ok = read_name(in, kMonths, part.part == Part::Month ? 3 : 0, m.month);
      ++m.month;
      return ok;
    }
    case Part::LongWeekday:
      return read_name(in, kWeekdays, 0, ignored);
    case Part::Weekday:
      return read_name(in, kWeekdays, 3, ignored);
    case Part::MonthNumber:
      return in.number(1, 2, m.month);
    case Part::MonthPadded:
      return in.number(2, 2, m.month);
    case Part::DaySpaced:
      in.skip(" ");
      return in.number(1, 2, m.day);
    case Part::Day:
      return in.number(1, 2, m.day);
    case Part::DayPadded:
      return in.number(2, 2, m.day);
    case Part::DayOfYear:
      return in.number(3, 3, ignored);
    case Part::Hour:
      return in.number(2, 2, m.hour);
    case Part::Hour12:
    case Part::Hour12Padded:
      return in.number(part.part == Part::Hour12 ? 1 : 2, 2, m.hour) && m.hour <= 12;
    case Part::Minute:
    case Part::MinutePadded:
      return in.number(part.part == Part::Minute ? 1 : 2, 2, m.minute);
    case Part::Second:
    case Part::SecondPadded: {
      bool ok = in.number(part.part == Part::Second ? 1 : 2, 2, m.second);
      // A fraction may follow even where the layout has none.
      bool has_fraction = in.rest().size() > 1 && in.rest()[0] == '.' && in.rest()[1] >= '0' && in.rest()[1] <= '9';
      return ok && (!has_fraction || in.fraction(m.nanosecond));
    }
    case Part::LongYear:
      return in.digits(4, 4, m.year);
    case Part::Year: {
      bool ok = in.digits(2, 2, m.year);
      m.year += m.year >= 69 ? 1900 : 2000;
      return ok;
    }
    case Part::UpperPm:
    case Part::LowerPm: {
      bool is_upper = part.part == Part::UpperPm;
      half = in.skip(is_upper ? "PM" : "pm") ? 2 : in.skip(is_upper ? "AM" : "am") ? 1 : 0;
      return half != 0;
    }
    case Part::ZoneName:
      return read_zone_name(in);
    case Part::ZoneColon:
    case Part::ZoneDigits:
    case Part::ZoneHours:
    case Part::ZoneColonZ:
    case Part::ZoneDigitsZ:
      return read_zone(in, part.part, m);
    case Part::Fraction:
      // Seconds have taken it already.
      return m.nanosecond != 0 || !in.rest().starts_with('.') || in.fraction(m.nanosecond);
  }
  return false;
}

std::optional<Moment> parse_layout(std::string_view layout, std::string_view text) {
  Moment m;
  Reader in(text);
  int half = 0;
  while (!layout.empty()) {
    if (!read_part(in, next_part(layout), m, half)) return std::nullopt;
  }
  if (half == 2 && m.hour < 12) m.hour += 12;
  if (half == 1 && m.hour == 12) m.hour = 0;
  if (!in.done() || !is_valid(m)) return std::nullopt;
  return m;
}

std::string print_zone(Part part, int minutes) {
  if ((part == Part::ZoneColonZ || part == Part::ZoneDigitsZ) && minutes == 0) return "Z";
  char sign = minutes < 0 ? '-' : '+';
  int size = std::abs(minutes);
  if (part == Part::ZoneHours) return fmt::format("{}{:02}", sign, size / 60);
  bool has_colon = part == Part::ZoneColon || part == Part::ZoneColonZ;
  return fmt::format("{}{:02}{}{:02}", sign, size / 60, has_colon ? ":" : "", size % 60);
}

std::string print_part(const LayoutPart& part, const Moment& m) {
  int hour12 = m.hour % 12 == 0 ? 12 : m.hour % 12;
  std::int64_t days = days_of(m.year, m.month, m.day);
  auto weekday = static_cast<std::size_t>(((days + 4) % 7 + 7) % 7);
  switch (part.part) {
    case Part::Text:
      return std::string(part.text);
    case Part::LongMonth:
      return std::string(kMonths[m.month - 1]);
    case Part::Month:
      return std::string(kMonths[m.month - 1].substr(0, 3));
    case Part::LongWeekday:
      return std::string(kWeekdays[weekday]);
    case Part::Weekday:
      return std::string(kWeekdays[weekday].substr(0, 3));
    case Part::MonthNumber:
      return std::to_string(m.month);
    case Part::MonthPadded:
      return fmt::format("{:02}", m.month);
    case Part::Day:
      return std::to_string(m.day);
    case Part::DaySpaced:
      return fmt::format("{:2}", m.day);
    case Part::DayPadded:
      return fmt::format("{:02}", m.day);
    case Part::DayOfYear:
      return fmt::format("{:03}", days - days_of(m.year, 1, 1) + 1);
    case Part::Hour:
      return fmt::format("{:02}", m.hour);
    case Part::Hour12:
      return std::to_string(hour12);
    case Part::Hour12Padded:
      return fmt::format("{:02}", hour12);
    case Part::Minute:
      return std::to_string(m.minute);
    case Part::MinutePadded:
      return fmt::format("{:02}", m.minute);
    case Part::Second:
      return std::to_string(m.second);
    case Part::SecondPadded:
      return fmt::format("{:02}", m.second);
    case Part::LongYear:
      return fmt::format("{:04}", m.year);
    case Part::Year:
      return fmt::format("{:02}", m.year % 100);
    case Part::UpperPm:
      return m.hour >= 12 ? "PM" : "AM";
    case Part::LowerPm:
      return m.hour >= 12 ? "pm" : "am";
    case Part::ZoneName:
      return m.offset_minutes == 0
                 ? "UTC"
                 : print_zone(m.offset_minutes % 60 == 0 ? Part::ZoneHours : Part::ZoneDigits, m.offset_minutes);
    case Part::ZoneColon:
    case Part::ZoneDigits:
    case Part::ZoneHours:
    case Part::ZoneColonZ:
    case Part::ZoneDigitsZ:
      return print_zone(part.part, m.offset_minutes);
    case Part::Fraction: {
      std::string digits = fmt::format("{:09}", m.nanosecond).substr(0, part.text.size() - 1);
      if (part.text[1] == '9') {
        while (!digits.empty() && digits.back() == '0') digits.pop_back();
        if (digits.empty()) return "";
      }
      return std::string(1, part.text[0]) + digits;
    }
  }
  return "";
}

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
  std::string out;
  for (std::string_view layout = args[0].str(); !layout.empty();) out += print_part(next_part(layout), *m);
  return calls.make_string(out);
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

std::span<const Builtin> time_rows() { return kRows; }

}  // namespace slipway::cue
