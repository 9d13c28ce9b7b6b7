#include "delivery/package/sync_schedule.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

#include "base/text.h"

namespace slipway::delivery::package {
namespace {

struct Bounds {
  int least;
  int most;
};
/// 7 is Sunday too.
constexpr std::array<Bounds, 5> kBounds{{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}};
constexpr int kMostDays = 5 * 366;

struct Name {
  std::string_view name;
  std::string_view line;
};
constexpr Name kNames[] = {{"@hourly", "0 * * * *"}, {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
                           {"@weekly", "0 0 * * 0"}, {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}};

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "1-5/2", "*/10", "3": sets the bits; false for what is none of these.
bool add_part(std::string_view part, Bounds bounds, std::bitset<64>& field) {
  const std::size_t slash = part.find('/');
  const std::string_view range = part.substr(0, slash);
  const std::optional<int> step = slash == std::string_view::npos ? std::optional(1) : number(part.substr(slash + 1));
  const std::size_t dash = range.find('-');
  std::optional<int> from = bounds.least;
  std::optional<int> to = bounds.most;
  if (range != "*") {
    from = number(range.substr(0, dash));
    if (dash != std::string_view::npos) {
      to = number(range.substr(dash + 1));
    } else if (slash == std::string_view::npos) {
      to = from;
    }
  }
  if (!from || !to || !step || *step < 1 || *from < bounds.least || *to > bounds.most || *from > *to) return false;
  for (int value = *from; value <= *to; value += *step) field.set(static_cast<std::size_t>(value));
  return true;
}

}  // namespace

Result<SyncSchedule> SyncSchedule::parse(std::string_view text) {
  std::string_view line = trimmed(text);
  for (const Name& one : kNames) {
    if (line == one.name) line = one.line;
  }
  std::vector<std::string_view> words;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  const auto bad = [&](std::string_view why) {
    return fail(Reason::BadRequest, fmt::format("spec.sync.schedule {:?}: {}", text, why));
  };
  if (words.size() != kBounds.size()) return bad("five fields are needed: minute, hour, day, month, day of the week");
  SyncSchedule made;
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view part : split(words[i], ',')) {
      if (!add_part(part, kBounds[i], made.fields_[i])) return bad(fmt::format("{:?} cannot be read", part));
    }
  }
  if (made.fields_[4].test(7)) made.fields_[4].set(0);
  made.has_any_day_ = words[2].starts_with('*');
  made.has_any_weekday_ = words[4].starts_with('*');
  return made;
}

bool SyncSchedule::has_day(std::chrono::year_month_day day) const {
  if (!fields_[3].test(static_cast<unsigned>(day.month()))) return false;
  const bool is_day = fields_[2].test(static_cast<unsigned>(day.day()));
  const bool is_weekday = fields_[4].test(std::chrono::weekday{std::chrono::sys_days{day}}.c_encoding());
  return has_any_day_ || has_any_weekday_ ? is_day && is_weekday : is_day || is_weekday;
}

std::optional<Time> SyncSchedule::next(Time after) const {
  using std::chrono::days;
  using std::chrono::minutes;
  const auto begin = std::chrono::floor<minutes>(after) + minutes{1};
  const auto first_day = std::chrono::floor<days>(begin);
  for (int i = 0; i < kMostDays; ++i) {
    const auto day = first_day + days{i};
    if (!has_day(std::chrono::year_month_day{day})) continue;
    for (auto at = i == 0 ? begin : std::chrono::time_point_cast<minutes>(day); at < day + days{1}; at += minutes{1}) {
      const auto of_day = (at - day) / minutes{1};
      const bool is_hour = fields_[1].test(static_cast<std::size_t>(of_day / 60));
      if (is_hour && fields_[0].test(static_cast<std::size_t>(of_day % 60))) return Time{at};
    }
  }
  return std::nullopt;
}

}  // namespace slipway::delivery::package
