// How the numbers of a metric decide: each sample is judged by itself, and the samples so far as a whole, as Argo's analysis
// does it (utils/analysis, assessMetricStatus): errors win over what decides nothing, and that over failures. What a provider
// could not measure (nothing there, too old) is no sample: it is waited for.
// DIVERGES: a metric with no samples never passes by being ended early.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "delivery/gate/gate.h"

namespace slipway::delivery::gate {

/// One measurement and what it came to; or several alike in a row, of which this is the last.
struct Sample {
  enum class Phase : std::uint8_t { Successful, Failed, Inconclusive, Error, NoData };
  Time at{};
  Phase phase = Phase::NoData;
  std::string value{};     // as JSON text, at most 256 bytes
  std::string text{};      // why, at most 256 bytes
  std::int64_t count = 1;  // so many alike in a row

  static void describe(auto& d) {
    d.doc("A measurement and what it came to.");
    d.field("at", &Sample::at, "When it was taken.").required().micro_time();
    d.field("phase", &Sample::phase, "What it came to.").required();
    d.field("value", &Sample::value, "What was measured, as JSON.");
    d.field("text", &Sample::text, "Why it came to that.");
    d.field("count", &Sample::count, "Measurements alike in a row, of which this is the last.");
  }
  bool operator==(const Sample&) const = default;
};
inline auto describe_enum(Sample::Phase) {
  return json::enum_names<Sample::Phase>({{Sample::Phase::Successful, "Successful"},
                                          {Sample::Phase::Failed, "Failed"},
                                          {Sample::Phase::Inconclusive, "Inconclusive"},
                                          {Sample::Phase::Error, "Error"},
                                          {Sample::Phase::NoData, "NoData"}});
}

/// What a provider gave: a number, list or structure as its row defines; null: no data.
struct Measured {
  json::Value value{};
  json::Value baseline{};
  std::optional<Time> newest{};  // of the newest point, where the provider tells
};
/// Judges one measurement. An expression that cannot be evaluated is an Error with its text. NoData: nothing was measured (and
/// no condition asks default() or isNil() about it), NaN that no isNaN() asks about, or only points older than `data_since`
/// or staleAfter.
Sample judge(const MetricGate& gate, const Measured& measured, Time now, Time data_since);
/// The same without a look at what counts as data: ranges and conditions as they are. Argo's EvaluateResult.
Sample::Phase phase_of(const MetricGate& gate, const Measured& measured, std::string& text);

/// Adds a sample, joined with the last one when they are alike. Keeps at most 20 entries: older ones of the same phase become
/// one, so that all counts stay exact.
void add(std::vector<Sample>& samples, Sample sample);

/// What counts of a series of measurements.
struct Tally {
  std::int64_t count = 0;  // successful, failed and inconclusive ones
  std::int64_t failed = 0;
  std::int64_t inconclusive = 0;
  std::int64_t consecutive_success = 0;  // up to the last one
  std::int64_t consecutive_error = 0;
  bool is_empty = true;     // nothing was measured yet
  bool is_running = false;  // a measurement is under way
};
Tally tally(const std::vector<Sample>& samples);

struct Limits {
  std::optional<std::int64_t> count{};  // nullopt: endless
  std::int64_t failure = 0;
  std::int64_t inconclusive = 0;
  std::int64_t consecutive_error = 4;
  std::int64_t consecutive_success = 0;  // 0: none
};
enum class Phase : std::uint8_t { Pending, Running, Successful, Failed, Inconclusive, Error };
/// Argo's assessMetricStatus. `is_ended`: nothing more will be measured; then what has not failed is successful.
Phase assess(const Limits& limits, const Tally& tally, bool is_ended = false);

/// AtCount: passes when `count` samples (absent: one) have decided. Endless: for `throughout`; fails or waits, never passes
/// unless the gate says a count or consecutiveSuccessLimit.
enum class Length : std::uint8_t { AtCount, Endless };
/// The verdict of all samples so far; pure. Inconclusive is Unknown: it does not change any more, the deadline decides.
Verdict assess(const MetricGate& gate, const std::vector<Sample>& samples, Length length = Length::AtCount);

}  // namespace slipway::delivery::gate
