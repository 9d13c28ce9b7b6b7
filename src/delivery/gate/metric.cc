#include "delivery/gate/metric.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <expected>

#include "cel/program.h"
#include "delivery/gate/condition.h"
#include "json/text.h"

namespace slipway::delivery::gate {
namespace {

using json::Value;

constexpr std::size_t kMostBytes = 256;
constexpr std::size_t kMostEntries = 20;
constexpr std::uint64_t kCelBudget = 1'000'000;

std::string shown(const Value& value) {
  return value.type() == json::Type::Double && !std::isfinite(value.as_double()) ? fmt::format("{}", value.as_double())
                                                                                 : json::print(value);
}

using Truth = std::expected<bool, std::string>;

/// Whether each number lies in the range; `text` names the first that does not.
Truth is_in_range(const MetricGate& gate, const Value& value, std::string& text) {
  if (value.is_array()) {
    for (const Value& item : value.items()) {
      auto fits = is_in_range(gate, item, text);
      if (!fits || !*fits) return fits;
    }
    return !value.empty();
  }
  const auto number = number_of(value);
  if (!number) return std::unexpected(fmt::format("{} is no number", shown(value)));
  for (const auto& [bound, is_least] : {std::pair{gate.min, true}, std::pair{gate.max, false}}) {
    if (!bound) continue;
    const auto limit = number_of(*bound);
    if (!limit) return std::unexpected(fmt::format("{} is no number", shown(*bound)));
    if (is_least ? *number >= *limit : *number <= *limit) continue;
    text = fmt::format("{} is not {} {}", *number, is_least ? "at least" : "at most", *limit);
    return false;
  }
  return true;
}

/// Numbers become doubles, so that arithmetic between them is defined.
cel::Value for_cel(const Value& value) {
  if (value.is_number()) return cel::make_double(value.as_double());
  if (!value.is_array()) return cel::from_json(value, nullptr);
  cel::Items items;
  for (const Value& item : value.items()) items.push_back(for_cel(item));
  return cel::make_list(std::move(items));
}

Truth holds_cel(const std::string& text, const Measured& measured) {
  auto program = compile_cel(text);
  if (!program) return std::unexpected(program.error());
  cel::Budget budget(kCelBudget);
  const cel::Value value =
      (*program)->run({{"result", for_cel(measured.value)}, {"baseline", for_cel(measured.baseline)}}, budget);
  if (value.is_error()) return std::unexpected(std::string(value.text()));
  if (!value.is_true() && !value.is_false()) return std::unexpected("the expression gives no bool");
  return value.is_true();
}

Truth holds(const std::string& condition, const Value& value) {
  auto compiled = Expression::compile(condition);
  if (!compiled) return std::unexpected(compiled.error());
  return compiled->test(value);
}

/// Both conditions are compiled before one decides: a bad one is an error whatever the other says.
Sample::Phase by_conditions(const MetricGate& gate, const Value& value, std::string& text) {
  Truth success = true;
  Truth failure = false;
  if (!gate.success_condition.empty()) success = holds(gate.success_condition, value);
  if (success && !gate.failure_condition.empty()) failure = holds(gate.failure_condition, value);
  if (!success || !failure) {
    text = !success ? success.error() : failure.error();
    return Sample::Phase::Error;
  }
  if (*failure) {
    text = fmt::format("{} meets {}", shown(value), gate.failure_condition);
    return Sample::Phase::Failed;
  }
  if (*success && !gate.success_condition.empty()) return Sample::Phase::Successful;
  if (gate.success_condition.empty()) return Sample::Phase::Successful;
  text = fmt::format("{} does not meet {}", shown(value), gate.success_condition);
  return gate.failure_condition.empty() ? Sample::Phase::Failed : Sample::Phase::Inconclusive;
}

/// Whether a condition deals itself with what the function is about.
bool asks(const MetricGate& gate, std::string_view function) {
  for (const std::string& condition : {gate.success_condition, gate.failure_condition}) {
    if (condition.empty()) continue;
    const auto compiled = Expression::compile(condition);
    if (compiled && compiled->calls(function)) return true;
  }
  return false;
}

std::string why_no_data(const MetricGate& gate, const Measured& measured, Time now, Time data_since) {
  if (measured.value.is_null() && !asks(gate, "default") && !asks(gate, "isNil")) return "there is no data";
  if (measured.value.type() == json::Type::Double && std::isnan(measured.value.as_double()) && !asks(gate, "isNaN")) {
    return "there is no data: NaN";
  }
  const bool needs_baseline = !gate.cel.empty() && !gate.baseline_query.empty();
  if (needs_baseline && measured.baseline.is_null()) return "there is no data of the old version";
  if (!measured.newest) return "";
  if (*measured.newest < data_since) {
    return fmt::format("the newest number is of {}, before the start at {}", to_rfc3339(*measured.newest),
                       to_rfc3339(data_since));
  }
  if (gate.stale_after && *measured.newest < now - *gate.stale_after) {
    return fmt::format("the newest number is of {}, more than {} ago", to_rfc3339(*measured.newest),
                       to_string(*gate.stale_after));
  }
  return "";
}

bool is_alike(const Sample& a, const Sample& b) { return a.phase == b.phase; }

/// Joins the two oldest entries of one phase; the last entry, whose run counts, is left alone.
void join_oldest(std::vector<Sample>& samples) {
  for (std::size_t i = 0; i + 1 < samples.size(); ++i) {
    for (std::size_t j = i + 1; j + 1 < samples.size(); ++j) {
      if (!is_alike(samples[i], samples[j])) continue;
      samples[j].count += samples[i].count;
      samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }
}

}  // namespace

Sample::Phase phase_of(const MetricGate& gate, const Measured& measured, std::string& text) {
  const auto decide = [&](const Truth& truth, std::string_view otherwise) {
    if (!truth) text = truth.error();
    if (truth && !*truth && text.empty()) text = fmt::format("{} does not meet {}", shown(measured.value), otherwise);
    return !truth ? Sample::Phase::Error : *truth ? Sample::Phase::Successful : Sample::Phase::Failed;
  };
  if (gate.min || gate.max) {
    const auto phase = decide(is_in_range(gate, measured.value, text), "the range");
    if (phase != Sample::Phase::Successful) return phase;
  }
  if (!gate.cel.empty()) return decide(holds_cel(gate.cel, measured), gate.cel);
  const bool has_condition = !gate.success_condition.empty() || !gate.failure_condition.empty();
  if (!has_condition && measured.value.is_bool()) return decide(measured.value.as_bool(), "what is asked");
  return by_conditions(gate, measured.value, text);
}

Sample judge(const MetricGate& gate, const Measured& measured, Time now, Time data_since) {
  Sample sample{.at = now};
  if (!measured.value.is_null()) sample.value = cut(shown(measured.value), kMostBytes);
  std::string text = why_no_data(gate, measured, now, data_since);
  if (text.empty()) sample.phase = phase_of(gate, measured, text);
  sample.text = cut(std::move(text), kMostBytes);
  return sample;
}

void add(std::vector<Sample>& samples, Sample sample) {
  if (!samples.empty() && is_alike(samples.back(), sample)) {
    sample.count += samples.back().count;
    samples.back() = std::move(sample);
    return;
  }
  samples.push_back(std::move(sample));
  if (samples.size() > kMostEntries) join_oldest(samples);
}

Tally tally(const std::vector<Sample>& samples) {
  Tally out;
  for (const Sample& sample : samples) {
    const bool is_decided = sample.phase != Sample::Phase::Error && sample.phase != Sample::Phase::NoData;
    out.is_empty = out.is_empty && sample.phase == Sample::Phase::NoData;
    if (is_decided) out.count += sample.count;
    if (sample.phase == Sample::Phase::Failed) out.failed += sample.count;
    if (sample.phase == Sample::Phase::Inconclusive) out.inconclusive += sample.count;
    out.consecutive_success = sample.phase == Sample::Phase::Successful ? sample.count : 0;
    out.consecutive_error = sample.phase == Sample::Phase::Error ? sample.count : 0;
  }
  return out;
}

Phase assess(const Limits& limits, const Tally& tally, bool is_ended) {
  if (tally.is_empty) return is_ended ? Phase::Successful : Phase::Pending;
  if (tally.is_running) return Phase::Running;
  if (tally.consecutive_error > limits.consecutive_error) return Phase::Error;
  if (tally.inconclusive > limits.inconclusive) return Phase::Inconclusive;
  const bool limits_failures = limits.failure >= 0;
  if (limits_failures && tally.failed > limits.failure) return Phase::Failed;
  if (limits.consecutive_success > 0 && tally.consecutive_success >= limits.consecutive_success) return Phase::Successful;
  if (limits.count && tally.count >= *limits.count) {
    if (limits.consecutive_success == 0) return Phase::Successful;
    return limits_failures ? Phase::Inconclusive : Phase::Failed;
  }
  return is_ended ? Phase::Successful : Phase::Running;
}

Verdict assess(const MetricGate& gate, const std::vector<Sample>& samples, Length length) {
  const Limits limits{.count = gate.count || length == Length::Endless ? gate.count : std::optional<std::int64_t>(1),
                      .failure = gate.failure_limit,
                      .inconclusive = gate.inconclusive_limit,
                      .consecutive_error = gate.consecutive_error_limit,
                      .consecutive_success = gate.consecutive_success_limit.value_or(0)};
  const Tally counts = tally(samples);
  const std::string last = samples.empty() ? "nothing was measured yet" : samples.back().text;
  switch (assess(limits, counts, false)) {
    case Phase::Successful:
      return {Verdict::Kind::Pass, fmt::format("{} samples decided; the last: {}", counts.count, samples.back().value), ""};
    case Phase::Failed:
      return {Verdict::Kind::Fail, fmt::format("{} of {} samples failed: {}", counts.failed, counts.count, last), ""};
    case Phase::Error:
      return {Verdict::Kind::Fail, fmt::format("{} errors in a row: {}", counts.consecutive_error, last), ""};
    case Phase::Inconclusive:
      return {Verdict::Kind::Unknown, fmt::format("inconclusive after {} samples: {}", counts.count, last), ""};
    case Phase::Pending:
    case Phase::Running:
      break;
  }
  const bool has_last = !samples.empty();
  if (has_last && samples.back().phase == Sample::Phase::Error) return {Verdict::Kind::Unknown, last, ""};
  if (counts.is_empty || (has_last && samples.back().phase == Sample::Phase::NoData)) return {Verdict::Kind::NoData, last, ""};
  const std::string of = limits.count ? fmt::format(" of {}", *limits.count) : "";
  return {Verdict::Kind::Wait, fmt::format("{}{} samples, {} failed", counts.count, of, counts.failed), ""};
}

}  // namespace slipway::delivery::gate
