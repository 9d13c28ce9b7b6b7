#include <array>

#include "base/check.h"
#include "delivery/graph/graph.h"

namespace slipway::delivery::graph {
namespace {

constexpr std::array<std::string_view, 9> kPhases = {"Blocked", "Ready",   "Running",     "Suspended", "Succeeded",
                                                     "Failed",  "Skipped", "Unreachable", "Cancelled"};
constexpr std::array<std::string_view, 6> kTriggers = {"AllSucceeded", "AllTerminated", "AllFailed",
                                                       "AnySucceeded", "AnyFailed",     "AllSucceededOrSkipped"};

template <class Enum, std::size_t N>
std::optional<Enum> by_text(const std::array<std::string_view, N>& names, std::string_view text) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Phase phase) { return kPhases[static_cast<std::size_t>(phase)]; }
std::optional<Phase> phase_of(std::string_view text) { return by_text<Phase>(kPhases, text); }
bool is_terminal(Phase phase) { return phase >= Phase::Succeeded; }
std::string_view to_string(Trigger trigger) { return kTriggers[static_cast<std::size_t>(trigger)]; }
std::optional<Trigger> trigger_of(std::string_view text) { return by_text<Trigger>(kTriggers, text); }

}  // namespace slipway::delivery::graph
