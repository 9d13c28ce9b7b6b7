#include "server/builtin/cron_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "base/time.h"

namespace slipway::server {

namespace {

struct Field {
  int least = 0;
  int most = 0;
  std::string_view names;  // of three letters each, for the numbers from `least`
};
constexpr std::array kFields{Field{0, 59, ""}, Field{0, 23, ""}, Field{1, 31, ""},
                             Field{1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"}, Field{0, 6, "sunmontuewedthufrisat"}};
constexpr std::array<std::string_view, 7> kMacros{"@yearly", "@annually", "@monthly", "@weekly",
                                                  "@daily",  "@midnight", "@hourly"};

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

std::optional<int> number_of(std::string_view text, const Field& field) {
  const std::string word = lower(text);
  for (std::size_t i = 0; word.size() == 3 && i + 3 <= field.names.size(); i += 3) {
    if (field.names.substr(i, 3) == word) return field.least + static_cast<int>(i / 3);
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string no_number(std::string_view text) {
  return fmt::format("failed to parse int from {0}: strconv.Atoi: parsing \"{0}\": invalid syntax", text);
}

/// One of the parts between commas: "*", "1", "1-5", each with "/step".
std::optional<std::string> part_fault(std::string_view part, const Field& field) {
  const auto by_step = split(part, '/');
  if (by_step.size() > 2) return fmt::format("too many slashes: {}", part);
  const auto bounds = split(by_step[0], '-');
  if (bounds.size() > 2) return fmt::format("too many hyphens: {}", part);
  int first = field.least;
  int last = field.most;
  if (bounds[0] != "*" && bounds[0] != "?") {
    const auto begin = number_of(bounds[0], field);
    if (!begin) return no_number(bounds[0]);
    const auto end = bounds.size() == 2 ? number_of(bounds[1], field) : begin;
    if (!end) return no_number(bounds[1]);
    first = *begin;
    last = bounds.size() == 1 && by_step.size() == 2 ? field.most : *end;
  }
  if (by_step.size() == 2) {
    const auto step = number_of(by_step[1], Field{});
    if (!step) return no_number(by_step[1]);
    if (*step == 0) return fmt::format("step of range should be a positive number: {}", part);
  }
  if (first < field.least) return fmt::format("beginning of range ({}) below minimum ({}): {}", first, field.least, part);
  if (last > field.most) return fmt::format("end of range ({}) above maximum ({}): {}", last, field.most, part);
  if (first > last) return fmt::format("beginning of range ({}) beyond end of range ({}): {}", first, last, part);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> schedule_fault(std::string_view schedule) {
  if (schedule.starts_with('@')) {
    constexpr std::string_view kEvery = "@every ";
    if (std::ranges::find(kMacros, schedule) != kMacros.end()) return std::nullopt;
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
      if (auto fault = part_fault(part, kFields[i])) return fault;
    }
  }
  return std::nullopt;
}

}  // namespace slipway::server
