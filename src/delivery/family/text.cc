#include "delivery/family/text.h"

#include <algorithm>

namespace slipway::delivery {
namespace {

/// Characters as a terminal counts them: bytes that do not continue a UTF-8 sequence.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - width(row[i]) + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

std::string age(const std::optional<Time>& since, Time now) {
  return since ? human_duration(std::max(now - *since, Duration{0})) : "-";
}

std::vector<kube::Object> events_about(std::vector<kube::Object> events, const kube::Object& object) {
  std::erase_if(events, [&](const kube::Object& event) { return event["involvedObject"]["uid"] != object["metadata"]["uid"]; });
  std::ranges::sort(events, {},
                    [](const kube::Object& event) { return std::pair(event["lastTimestamp"].str(), kube::revision(event)); });
  return events;
}

std::string events_table(const std::vector<kube::Object>& events, Time now) {
  std::vector<std::vector<std::string>> table = {{"TYPE", "REASON", "AGE", "FROM", "MESSAGE"}};
  for (const auto& event : events) {
    const auto last = kube::time_of(event["lastTimestamp"]);
    table.push_back({event["type"].str(), event["reason"].str(), age(last, now), event["source"]["component"].str(),
                     one_line(event["message"].str())});
  }
  return aligned(table);
}

}  // namespace slipway::delivery
