// Foreign decision tables: what Argo's analysis makes of measurements and conditions.
#include "delivery/gate/corpus_test.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/gate/expression.h"
#include "delivery/gate/metric.h"
#include "json/text.h"

namespace slipway::delivery::gate {

namespace {

using json::Value;

/// Plays the cases of a group; `play` gives what is wrong, empty when nothing is. Prints the suite's line.
template <class Play>
void play_group(const std::string& group, Play play) {
  const Value cases = corpus_cases("argo-analysis.json", group);
  if (cases.empty()) GTEST_SKIP() << "no corpus";
  std::size_t passed = 0;
  for (const Value& one : cases.items()) {
    const std::string wrong = play(one);
    EXPECT_EQ(wrong, "") << json::print(one);
    passed += wrong.empty() ? 1 : 0;
  }
  fmt::print("rollouts/argo-analysis/{} {}/{}\n", group, passed, cases.size());
}

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::Pending:
      return "Pending";
    case Phase::Running:
      return "Running";
    case Phase::Successful:
      return "Successful";
    case Phase::Failed:
      return "Failed";
    case Phase::Inconclusive:
      return "Inconclusive";
    case Phase::Error:
      return "Error";
  }
  return "";
}

TEST(GateCorpus, series_of_measurements_are_assessed_as_argo_does) {
  play_group("assessMetricStatus", [](const Value& one) {
    const Value& metric = one["metric"];
    const Value& result = one["result"];
    Limits limits{.failure = metric["failureLimit"].as_int(),
                  .inconclusive = metric["inconclusiveLimit"].as_int(),
                  .consecutive_error = metric["consecutiveErrorLimit"].as_int(4),
                  .consecutive_success = metric["consecutiveSuccessLimit"].as_int()};
    // Argo: without count and interval there is one measurement.
    const std::int64_t count = metric["count"].as_int();
    if (count != 0) limits.count = count;
    if (count == 0 && metric["interval"].as_string().empty()) limits.count = 1;
    const std::string_view last = result["lastMeasurementPhase"].as_string();
    const Tally counts{.count = result["count"].as_int(),
                       .failed = result["failed"].as_int(),
                       .inconclusive = result["inconclusive"].as_int(),
                       .consecutive_success = result["consecutiveSuccess"].as_int(),
                       .consecutive_error = result["consecutiveError"].as_int(),
                       .is_empty = last.empty(),
                       .is_running = last == "Running" || last == "Pending"};
    const Phase phase = assess(limits, counts, one["terminating"].as_bool());
    return name_of(phase) == one["phase"].as_string() ? std::string() : fmt::format("gives {}", name_of(phase));
  });
}

TEST(GateCorpus, conditions_are_evaluated_as_argo_does) {
  play_group("EvalCondition", [](const Value& one) {
    const auto compiled = Expression::compile(one.item(1).as_string());
    const auto answer = compiled ? compiled->test(one.item(0)) : std::unexpected(compiled.error());
    const Value& wanted = one.item(2);
    if (wanted.is_bool()) {
      if (!answer) return "error: " + answer.error();
      return *answer == wanted.as_bool() ? std::string() : fmt::format("gives {}", *answer);
    }
    if (answer) return fmt::format("gives {}", *answer);
    const std::string text = "error: " + answer.error();
    return text.starts_with(wanted.as_string()) ? std::string() : text;
  });
}

TEST(GateCorpus, measurements_are_judged_as_argo_does) {
  play_group("EvaluateResult", [](const Value& one) {
    MetricGate gate;
    gate.success_condition = one.item(1).str();
    gate.failure_condition = one.item(2).str();
    std::string text;
    const Sample::Phase phase = phase_of(gate, {.value = one.item(0)}, text);
    return json::enum_name(phase) == one.item(3).as_string() ? std::string()
                                                             : fmt::format("{}: {}", json::enum_name(phase), text);
  });
}

}  // namespace
}  // namespace slipway::delivery::gate
