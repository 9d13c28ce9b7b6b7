#include "cue/std/time_text.h"

#include <fmt/format.h>

namespace slipway::cue {
namespace {

constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400;

// Days since 1970-01-01 of the proleptic Gregorian calendar, and back (H. Hinnant's algorithms).
std::int64_t days_of(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  std::int64_t in_era = year - era * 400;
  std::int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
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
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : text_(text) {}
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
    std::int64_t scale = kNanosecondsPerSecond / 10;
    nanoseconds = 0;
    if (!peek_digit()) return false;
    for (; peek_digit(); text_.remove_prefix(1), scale /= 10) nanoseconds += (text_[0] - '0') * scale;
    return true;
  }

 private:
  std::string_view text_;
};

std::string fraction_text(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "";
  std::string digits = fmt::format("{:09}", nanoseconds);
  while (digits.back() == '0') digits.pop_back();
  return "." + digits;
}

// --- layouts

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
  DayOfYearSpaced,
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
  ZoneHoursZ,
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
                               {"Z07", Part::ZoneHoursZ},
                               {"__2", Part::DayOfYearSpaced},
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

// "Jan" and "Mon" at the start of another word are plain text.
bool goes_on_as_word(std::string_view at, const PartName& name) {
  bool is_short = name.part == Part::Month || name.part == Part::Weekday;
  return is_short && at.size() > name.text.size() && at[name.text.size()] >= 'a' && at[name.text.size()] <= 'z';
}

LayoutPart next_part(std::string_view& layout) {
  for (std::size_t i = 0; i < layout.size(); ++i) {
    std::string_view at = layout.substr(i);
    LayoutPart found;
    for (const PartName& name : kParts) {
      if (at.starts_with(name.text) && !(name.part == Part::DaySpaced && at.starts_with("_2006")) &&
          !goes_on_as_word(at, name)) {
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

bool read_name(TimeReader& in, std::span<const std::string_view> names, std::size_t size, int& index) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!in.skip(size == 0 ? names[i] : names[i].substr(0, size))) continue;
    index = static_cast<int>(i);
    return true;
  }
  return false;
}

bool is_zone_with_z(Part part) { return part == Part::ZoneColonZ || part == Part::ZoneDigitsZ || part == Part::ZoneHoursZ; }

bool read_zone(TimeReader& in, Part part, Moment& m) {
  if (is_zone_with_z(part) && in.skip("Z")) return true;
  bool is_west = in.rest().starts_with('-');
  int hours = 0;
  int minutes = 0;
  if (!in.skip("+") && !in.skip("-")) return false;
  if (!in.number(2, 2, hours)) return false;
  bool has_colon = part == Part::ZoneColon || part == Part::ZoneColonZ;
  if (has_colon && !in.skip(":")) return false;
  if (part != Part::ZoneHours && part != Part::ZoneHoursZ && !in.number(2, 2, minutes)) return false;
  m.offset_minutes = (hours * 60 + minutes) * (is_west ? -1 : 1);
  return hours <= 24 && minutes < 60;
}

// Three or four capital letters, or GMT with hours: no distance is known, so it counts as UTC.
bool read_zone_name(TimeReader& in) {
  std::size_t size = 0;
  while (size < in.rest().size() && size < 5 && in.rest()[size] >= 'A' && in.rest()[size] <= 'Z') ++size;
  return size >= 3 && in.skip_bytes(size);
}

/// What says more about a moment than its fields: AM or PM, and the day counted from the first of January.
struct Extra {
  int half = 0;  // 1 AM, 2 PM
  int year_day = 0;
};

bool read_half(TimeReader& in, bool is_upper, Extra& extra) {
  extra.half = in.skip(is_upper ? "PM" : "pm") ? 2 : in.skip(is_upper ? "AM" : "am") ? 1 : 0;
  return extra.half != 0;
}

bool read_seconds(TimeReader& in, std::size_t least, Moment& m) {
  bool ok = in.number(least, 2, m.second);
  // A fraction may follow even where the layout has none.
  bool has_fraction = in.rest().size() > 1 && in.rest()[0] == '.' && in.rest()[1] >= '0' && in.rest()[1] <= '9';
  return ok && (!has_fraction || in.fraction(m.nanosecond));
}

bool read_part(TimeReader& in, const LayoutPart& part, Moment& m, Extra& extra) {
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
      return in.number(3, 3, extra.year_day) && extra.year_day > 0;
    case Part::DayOfYearSpaced: {
      std::size_t blanks = 0;
      while (blanks < 2 && in.skip(" ")) ++blanks;
      return in.number(3 - blanks, 3 - blanks, extra.year_day) && extra.year_day > 0;
    }
    case Part::Hour:
      return in.number(2, 2, m.hour);
    case Part::Hour12:
    case Part::Hour12Padded:
      return in.number(part.part == Part::Hour12 ? 1 : 2, 2, m.hour) && m.hour <= 12;
    case Part::Minute:
    case Part::MinutePadded:
      return in.number(part.part == Part::Minute ? 1 : 2, 2, m.minute);
    case Part::Second:
    case Part::SecondPadded:
      return read_seconds(in, part.part == Part::Second ? 1 : 2, m);
    case Part::LongYear:
      return in.digits(4, 4, m.year);
    case Part::Year: {
      bool ok = in.digits(2, 2, m.year);
      m.year += m.year >= 69 ? 1900 : 2000;
      return ok;
    }
    case Part::UpperPm:
    case Part::LowerPm:
      return read_half(in, part.part == Part::UpperPm, extra);
    case Part::ZoneName:
      return read_zone_name(in);
    case Part::ZoneColon:
    case Part::ZoneDigits:
    case Part::ZoneHours:
    case Part::ZoneColonZ:
    case Part::ZoneDigitsZ:
    case Part::ZoneHoursZ:
      return read_zone(in, part.part, m);
    case Part::Fraction:
      // Seconds have taken it already.
      return m.nanosecond != 0 || !in.rest().starts_with('.') || in.fraction(m.nanosecond);
  }
  return false;
}

std::string print_zone(Part part, int minutes) {
  if (is_zone_with_z(part) && minutes == 0) return "Z";
  char sign = minutes < 0 ? '-' : '+';
  int size = std::abs(minutes);
  if (part == Part::ZoneHours || part == Part::ZoneHoursZ) return fmt::format("{}{:02}", sign, size / 60);
  bool has_colon = part == Part::ZoneColon || part == Part::ZoneColonZ;
  return fmt::format("{}{:02}{}{:02}", sign, size / 60, has_colon ? ":" : "", size % 60);
}

std::string print_fraction(std::string_view layout, std::int64_t nanosecond) {
  std::string digits = fmt::format("{:09}", nanosecond).substr(0, layout.size() - 1);
  if (layout[1] == '9') {
    while (!digits.empty() && digits.back() == '0') digits.pop_back();
    if (digits.empty()) return "";
  }
  return std::string(1, layout[0]) + digits;
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
    case Part::DayOfYearSpaced:
      return fmt::format("{:3}", days - days_of(m.year, 1, 1) + 1);
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
    case Part::ZoneHoursZ:
      return print_zone(part.part, m.offset_minutes);
    case Part::Fraction:
      return print_fraction(part.text, m.nanosecond);
  }
  return "";
}

}  // namespace

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

// RFC 3339 as Go's time.UnmarshalJSON takes it.
std::optional<Moment> parse_rfc3339(std::string_view text) {
  Moment m;
  TimeReader in(text);
  int zone_hours = 0;
  int zone_minutes = 0;
  bool ok = in.digits(4, 4, m.year) && in.skip("-") && in.number(2, 2, m.month) && in.skip("-") && in.number(2, 2, m.day) &&
            in.skip("T") && in.number(2, 2, m.hour) && in.skip(":") && in.number(2, 2, m.minute) && in.skip(":") &&
            in.number(2, 2, m.second);
  if (ok && (in.rest().starts_with('.') || in.rest().starts_with(','))) ok = in.fraction(m.nanosecond);
  if (ok && !in.skip("Z")) {
    bool is_west = in.rest().starts_with('-');
    ok = (in.skip("+") || in.skip("-")) && in.number(2, 2, zone_hours) && in.skip(":") && in.number(2, 2, zone_minutes) &&
         zone_hours <= 24 && zone_minutes <= 60;
    m.offset_minutes = (zone_hours * 60 + zone_minutes) * (is_west ? -1 : 1);
  }
  if (!ok || !in.done() || !is_valid(m)) return std::nullopt;
  return m;
}

std::string print_rfc3339(const Moment& m) {
  std::string zone = m.offset_minutes == 0 ? "Z"
                                           : fmt::format("{}{:02}:{:02}", m.offset_minutes < 0 ? '-' : '+',
                                                         std::abs(m.offset_minutes) / 60, std::abs(m.offset_minutes) % 60);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}", m.year, m.month, m.day, m.hour, m.minute, m.second,
                     fraction_text(m.nanosecond), zone);
}

std::optional<Moment> parse_layout(std::string_view layout, std::string_view text) {
  Moment m;
  TimeReader in(text);
  Extra extra;
  while (!layout.empty()) {
    if (!read_part(in, next_part(layout), m, extra)) return std::nullopt;
  }
  if (extra.half == 2 && m.hour < 12) m.hour += 12;
  if (extra.half == 1 && m.hour == 12) m.hour = 0;
  if (extra.year_day > 0) {
    Moment day = moment_of((days_of(m.year, 1, 1) + extra.year_day - 1) * kDay, 0);
    if (day.year != m.year) return std::nullopt;
    m.month = day.month;
    m.day = day.day;
  }
  if (!in.done() || !is_valid(m)) return std::nullopt;
  return m;
}

std::string print_layout(std::string_view layout, const Moment& m) {
  std::string out;
  while (!layout.empty()) out += print_part(next_part(layout), m);
  return out;
}

}  // namespace slipway::cue
