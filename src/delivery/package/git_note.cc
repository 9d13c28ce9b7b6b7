#include "delivery/package/git_note.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/text.h"

namespace slipway::delivery::package {
namespace {

std::string stamp_text(Time now) { return to_rfc3339(std::chrono::floor<std::chrono::seconds>(now)); }

}  // namespace

void GitNotes::add(std::string_view key, std::string text) {
  pending.push_back({.key = std::string(key), .text = one_line(std::move(text))});
  ++total;
  if (pending.size() <= kMaxNotes) return;
  pending.erase(pending.begin());
  ++left_out;
}

void GitNotes::clear() {
  pending.clear();
  left_out = 0;
}

void note_flips(GitNotes& notes, const Conditions& before, const Conditions& after, std::string_view by, Time now) {
  for (const Condition& is : after) {
    const Condition* was = find(before, is.type);
    if (was != nullptr && was->status == is.status) continue;
    notes.add(kConditionFlip, fmt::format("{}={} by {} at {}", is.type, json::enum_name(is.status), by, stamp_text(now)));
  }
  for (const Condition& was : before) {
    if (find(after, was.type) != nullptr) continue;
    notes.add(kConditionFlip, fmt::format("{} removed by {} at {}", was.type, by, stamp_text(now)));
  }
}

void note_gates(GitNotes& notes, const Gates& before, const Gates& after, std::string_view by, Time now) {
  for (const ReadinessGate& is : after) {
    if (find(before, is.type) == nullptr) notes.add(kGateAdded, fmt::format("{} by {} at {}", is.type, by, stamp_text(now)));
  }
  for (const ReadinessGate& was : before) {
    if (find(after, was.type) != nullptr) continue;
    notes.add(kGateDropped,
              fmt::format("{} (asked for by {}) by {} at {}", was.type, joined(was.sources, ", "), by, stamp_text(now)));
  }
}

std::string trailers(const GitNotes& notes) {
  std::string text;
  if (notes.left_out > 0) text += fmt::format("Notes-Left-Out: {}\n", notes.left_out);
  for (const GitNote& one : notes.pending) text += fmt::format("{}: {}\n", one.key, one.text);
  return text.empty() ? "" : "\n" + text;
}

}  // namespace slipway::delivery::package
