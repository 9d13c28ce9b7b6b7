// How the numbers of a metric decide: each sample is judged by itself, and the samples so far as a whole, as Argo's analysis
// does it (utils/analysis, assessMetricStatus): errors win over what decides nothing, and that over failures.
// DIVERGES: a metric with no samples never passes by being ended early.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/gate.h"

namespace slipway::delivery::gate {

/// One measurement and what it came to.
struct Sample {
  enum class Phase : std::uint8_t { Successful, Failed, Inconclusive, Error, NoData };
  Time at;
  Phase phase = Phase::NoData;
  std::string value;  // as text, at most 256 bytes
  std::string text;   // why
};

/// What a provider gave: a number, list or structure as its row defines; null: no data.
struct Measured {
  json::Value value;
  json::Value baseline;
  std::optional<Time> newest;  // of the newest point, where the provider tells
};
/// Judges one measurement. An expression that cannot be evaluated is an Error with its text.
Sample judge(const MetricGate& gate, const Measured& measured, Time now, Time data_since);
/// The verdict of all samples so far; pure.
Verdict assess(const MetricGate& gate, const std::vector<Sample>& samples);

}  // namespace slipway::delivery::gate
