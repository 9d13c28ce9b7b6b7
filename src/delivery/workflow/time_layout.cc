#include "delivery/workflow/time_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "base/text.h"

namespace slipway::delivery::workflow {
namespace {

enum class Part : std::uint8_t {
  Year,
  ShortYear,
  Month,
  MonthName,
  Day,
  Hour,
  HalfHour,
  Minute,
  Second,
  Noon,
  Weekday,
  Zone,
  Fraction
};

/// A word of a layout. `width` is how many characters a number is padded to; 0: names.
struct Word {
  std::string_view text;
  Part part;
  int width = 0;
};

// Longer words before those that they begin with.
constexpr auto kWords = std::to_array<Word>({
    {"2006", Part::Year, 4},
    {"January", Part::MonthName, 9},
    {"Jan", Part::MonthName, 3},
    {"Monday", Part::Weekday, 9},
    {"Mon", Part::Weekday, 3},
    {"MST", Part::Zone, 3},
    {"01", Part::Month, 2},
    {"02", Part::Day, 2},
    {"03", Part::HalfHour, 2},
    {"04", Part::Minute, 2},
    {"05", Part::Second, 2},
    {"06", Part::ShortYear, 2},
    {"15", Part::Hour, 2},
    {"Z07:00", Part::Zone, 6},
    {"-07:00", Part::Zone, 6},
    {"-0700", Part::Zone, 5},
    {"PM", Part::Noon, 2},
    {"pm", Part::Noon, 2},
    {".000000", Part::Fraction, 6},
    {".000", Part::Fraction, 3},
    {"_2", Part::Day, 1},
    {"1", Part::Month, 1},
    {"2", Part::Day, 1},
    {"3", Part::HalfHour, 1},
    {"4", Part::Minute, 1},
    {"5", Part::Second, 1},
});

constexpr std::array<std::string_view, 12> kMonths{"January", "February", "March",     "April",   "May",      "June",
                                                   "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kDays{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

const Word* word_at(std::string_view layout) {
  const auto found = std::ranges::find_if(kWords, [&](const Word& word) { return layout.starts_with(word.text); });
  return found == kWords.end() ? nullptr : &*found;
}

struct Fields {
  int year = 1;
  unsigned month = 1;
  unsigned day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::int64_t micros = 0;
  std::optional<bool> is_afternoon;
  int zone_minutes = 0;
};

/// Takes digits from the front of `text`: as many as `width`, or one or two when that is 1.
std::optional<int> take_number(std::string_view& text, int width) {
  const std::size_t most = width == 1 ? 2 : static_cast<std::size_t>(width);
  std::size_t count = 0;
  int number = 0;
  while (count < most && count < text.size() && is_digit(text[count])) number = number * 10 + (text[count++] - '0');
  if (count == 0 || (width > 1 && count < most)) return std::nullopt;
  text.remove_prefix(count);
  return number;
}

template <std::size_t N>
std::optional<unsigned> take_name(std::string_view& text, const std::array<std::string_view, N>& names, int width) {
  for (unsigned i = 0; i < N; ++i) {
    const std::string_view name = width == 3 ? names[i].substr(0, 3) : names[i];
    if (!text.starts_with(name)) continue;
    text.remove_prefix(name.size());
    return i;
  }
  return std::nullopt;
}

bool take_zone(std::string_view& text, std::string_view word, Fields& fields) {
  if (word == "MST" || (word.front() == 'Z' && text.starts_with("Z"))) {
    text.remove_prefix(std::min<std::size_t>(text.size(), word == "MST" ? 3 : 1));
    return true;
  }
  if (text.empty() || (text.front() != '+' && text.front() != '-')) return false;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  const auto hours = take_number(text, 2);
  if (word.contains(':') && text.starts_with(":")) text.remove_prefix(1);
  const auto minutes = take_number(text, 2);
  if (!hours || !minutes) return false;
  fields.zone_minutes = sign * (*hours * 60 + *minutes);
  return true;
}

bool take_word(std::string_view& text, const Word& word, Fields& fields) {
  if (word.part == Part::MonthName || word.part == Part::Weekday) {
    const auto name = word.part == Part::MonthName ? take_name(text, kMonths, word.width) : take_name(text, kDays, word.width);
    if (name && word.part == Part::MonthName) fields.month = *name + 1;
    return name.has_value();
  }
  if (word.part == Part::Zone) return take_zone(text, word.text, fields);
  if (word.part == Part::Noon) {
    if (text.size() < 2) return false;
    fields.is_afternoon = lower(text.front()) == 'p';
    text.remove_prefix(2);
    return true;
  }
  if (word.part == Part::Fraction && !text.starts_with(".")) return false;
  if (word.part == Part::Fraction) text.remove_prefix(1);
  if (word.text == "_2" && text.starts_with(" ")) text.remove_prefix(1);
  const auto number = take_number(text, word.width);
  if (!number) return false;
  if (word.part == Part::Year) fields.year = *number;
  if (word.part == Part::ShortYear) fields.year = *number + (*number < 69 ? 2000 : 1900);
  if (word.part == Part::Month) fields.month = static_cast<unsigned>(*number);
  if (word.part == Part::Day) fields.day = static_cast<unsigned>(*number);
  if (word.part == Part::Hour || word.part == Part::HalfHour) fields.hour = *number;
  if (word.part == Part::Minute) fields.minute = *number;
  if (word.part == Part::Second) fields.second = *number;
  if (word.part == Part::Fraction) fields.micros = word.width == 3 ? *number * 1'000 : *number;
  return true;
}

std::optional<Time> time_of(Fields fields) {
  using namespace std::chrono;
  const year_month_day date{year{fields.year}, month{fields.month}, day{fields.day}};
  if (!date.ok() || fields.hour > 23 || fields.minute > 59 || fields.second > 59) return std::nullopt;
  if (fields.is_afternoon) fields.hour = fields.hour % 12 + (*fields.is_afternoon ? 12 : 0);
  return Time{sys_days{date}} + hours{fields.hour} + minutes{fields.minute} + seconds{fields.second} +
         microseconds{fields.micros} - minutes{fields.zone_minutes};
}

std::string written(const Word& word, Time time) {
  using namespace std::chrono;
  const sys_days date = floor<days>(time);
  const year_month_day ymd{date};
  const hh_mm_ss clock{time - date};
  const auto hour = clock.hours().count();
  const auto number = [&](auto value) { return fmt::format("{:0{}}", static_cast<std::int64_t>(value), word.width); };
  switch (word.part) {
    case Part::Year:
      return number(static_cast<int>(ymd.year()));
    case Part::ShortYear:
      return number(static_cast<int>(ymd.year()) % 100);
    case Part::Month:
      return number(static_cast<unsigned>(ymd.month()));
    case Part::MonthName:
      return std::string(kMonths[static_cast<unsigned>(ymd.month()) - 1].substr(0, static_cast<std::size_t>(word.width)));
    case Part::Day:
      return word.text == "_2" ? fmt::format("{:2}", static_cast<unsigned>(ymd.day()))
                               : number(static_cast<unsigned>(ymd.day()));
    case Part::Hour:
      return number(hour);
    case Part::HalfHour:
      return number(hour % 12 == 0 ? 12 : hour % 12);
    case Part::Minute:
      return number(clock.minutes().count());
    case Part::Second:
      return number(clock.seconds().count());
    case Part::Noon:
      return hour < 12 ? (word.text == "PM" ? "AM" : "am") : std::string(word.text);
    case Part::Weekday:
      return std::string(kDays[weekday{date}.c_encoding()].substr(0, static_cast<std::size_t>(word.width)));
    case Part::Zone:
      return word.text == "MST" ? "UTC" : word.text.front() == 'Z' ? "Z" : word.text.contains(':') ? "+00:00" : "+0000";
    case Part::Fraction:
      return "." + fmt::format("{:06}", clock.subseconds().count()).substr(0, static_cast<std::size_t>(word.width));
  }
  return "";
}

}  // namespace

Result<Time> parse_with_layout(std::string_view text, std::string_view layout) {
  if (layout.empty()) return parse_rfc3339(text);
  const auto refuse = [&, whole = text] {
    return fail(Reason::BadRequest, fmt::format("cannot parse {} as {}", whole, layout));
  };
  Fields fields;
  for (std::string_view rest = layout; !rest.empty();) {
    if (const Word* word = word_at(rest)) {
      if (!take_word(text, *word, fields)) return refuse();
      rest.remove_prefix(word->text.size());
    } else {
      if (text.empty() || text.front() != rest.front()) return refuse();
      text.remove_prefix(1);
      rest.remove_prefix(1);
    }
  }
  const auto time = time_of(fields);
  if (!text.empty() || !time) return refuse();
  return *time;
}

std::string format_with_layout(Time time, std::string_view layout) {
  if (layout.empty()) return to_rfc3339(time);
  std::string text;
  while (!layout.empty()) {
    const Word* word = word_at(layout);
    text += word != nullptr ? written(*word, time) : std::string(1, layout.front());
    layout.remove_prefix(word != nullptr ? word->text.size() : 1);
  }
  return text;
}

}  // namespace slipway::delivery::workflow
