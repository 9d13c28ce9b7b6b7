#include "delivery/gate/metric.h"

#include <gtest/gtest.h>

#include <limits>

#include "json/text.h"

namespace slipway::delivery::gate {
namespace {

using namespace std::chrono_literals;
using json::Value;
using enum Sample::Phase;

constexpr Time kNow{std::chrono::seconds{1'767'225'600}};

Sample sample(Sample::Phase phase, std::int64_t count = 1) { return {.at = kNow, .phase = phase, .count = count}; }

struct RangeRow {
  const char* min;
  const char* max;
  const char* value;
  Sample::Phase phase;
  const char* text;
};

TEST(GateMetric, ranges_take_numbers_and_texts_of_numbers) {
  const RangeRow kRows[] = {
      {"99", "", "99", Successful, ""},
      {"\"99.5\"", "", "99.4", Failed, "99.4 is not at least 99.5"},
      {"", "500", "500.5", Failed, "500.5 is not at most 500"},
      {"1", "2", "\"1.5\"", Successful, ""},
      {"1", "2", "[1, 1.5, 2]", Successful, ""},
      {"1", "2", "[1, 3]", Failed, "3 is not at most 2"},
      {"1", "2", "[]", Failed, "[] does not meet the range"},
      {"1", "", "\"fast\"", Error, "\"fast\" is no number"},
      {"1", "", "{}", Error, "{} is no number"},
      {"\"one\"", "", "1", Error, "\"one\" is no number"},
  };
  for (const RangeRow& row : kRows) {
    MetricGate gate;
    if (*row.min != 0) gate.min = json::parse(row.min).value();
    if (*row.max != 0) gate.max = json::parse(row.max).value();
    const Sample judged = judge(gate, {.value = json::parse(row.value).value()}, kNow, {});
    EXPECT_EQ(judged.phase, row.phase) << row.value;
    EXPECT_EQ(judged.text, row.text) << row.value;
  }
}

TEST(GateMetric, a_range_and_a_condition_must_both_hold) {
  MetricGate gate{.min = Value(1), .success_condition = "result < 5"};
  EXPECT_EQ(judge(gate, {.value = 3}, kNow, {}).phase, Successful);
  EXPECT_EQ(judge(gate, {.value = 0}, kNow, {}).phase, Failed);
  EXPECT_EQ(judge(gate, {.value = 7}, kNow, {}).text, "7 does not meet result < 5");
}

TEST(GateMetric, cel_sees_numbers_as_doubles) {
  MetricGate gate{.cel = "result >= 0.99 && baseline - result < 0.01"};
  EXPECT_EQ(judge(gate, {.value = 1, .baseline = 1}, kNow, {}).phase, Successful);
  EXPECT_EQ(judge(gate, {.value = 0.99, .baseline = 1.0}, kNow, {}).phase, Failed);
  EXPECT_EQ(judge(gate, {.value = "x", .baseline = 1}, kNow, {}).phase, Error);
  gate.cel = "result.all(x, x < 5.0)";
  EXPECT_EQ(judge(gate, {.value = json::array({1, 2})}, kNow, {}).phase, Successful);
  gate.cel = "result.a.b == 'c'";
  EXPECT_EQ(judge(gate, {.value = json::parse(R"({"a":{"b":"c"}})").value()}, kNow, {}).phase, Successful);
}

struct NoDataRow {
  MetricGate gate;
  Measured measured;
  Sample::Phase phase;
};

TEST(GateMetric, what_is_no_data_never_passes_by_itself) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const NoDataRow kRows[] = {
      {{.success_condition = "result > 1"}, {}, NoData},
      {{.success_condition = "default(result, 2) > 1"}, {}, Successful},
      {{.success_condition = "isNil(result) || result > 1"}, {}, Successful},
      {{.min = Value(1)}, {}, NoData},
      {{.cel = "result > 1.0"}, {}, NoData},
      {{}, {}, NoData},
      {{.min = Value(1)}, {.value = nan}, NoData},
      {{.success_condition = "isNaN(result) || result > 1"}, {.value = nan}, Successful},
      {{.cel = "result > baseline", .baseline_query = "x"}, {.value = 1}, NoData},
      {{.min = Value(1)}, {.value = 2, .newest = kNow - 10min}, NoData},
      {{.min = Value(1)}, {.value = 2, .newest = kNow - 4min}, Successful},
      {{.min = Value(1), .stale_after = Duration(3min)}, {.value = 2, .newest = kNow - 4min}, NoData},
  };
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    const NoDataRow& row = kRows[i];
    const Sample judged = judge(row.gate, row.measured, kNow, kNow - 5min);
    EXPECT_EQ(judged.phase, row.phase) << "row " << i << ": " << judged.text;
  }
  EXPECT_EQ(judge({.min = Value(1)}, {.value = 2, .newest = kNow - 10min}, kNow, kNow - 5min).text,
            "the newest number is of 2025-12-31T23:50:00Z, before the start at 2025-12-31T23:55:00Z");
}

TEST(GateMetric, a_truth_needs_no_condition) {
  EXPECT_EQ(judge({}, {.value = true}, kNow, {}).phase, Successful);
  EXPECT_EQ(judge({}, {.value = false}, kNow, {}).phase, Failed);
}

TEST(GateMetric, samples_are_kept_short_whatever_comes) {
  const Sample judged = judge({}, {.value = std::string(300, 'x') + std::string("ü")}, kNow, {});
  EXPECT_LE(judged.value.size(), 256U);
  EXPECT_TRUE(judged.value.ends_with("…"));
}

TEST(GateMetric, series_are_short_and_their_counts_exact) {
  std::vector<Sample> samples;
  Tally whole{.is_empty = false};
  for (int i = 0; i < 1000; ++i) {
    constexpr Sample::Phase kPhases[] = {Successful, Failed, Successful, Inconclusive, Error, NoData};
    const Sample::Phase phase = i < 997 ? kPhases[i * 7 % 6] : Successful;
    add(samples, sample(phase));
    whole.count += phase != Error && phase != NoData ? 1 : 0;
    whole.failed += phase == Failed ? 1 : 0;
    whole.inconclusive += phase == Inconclusive ? 1 : 0;
  }
  EXPECT_LE(samples.size(), 20U);
  const Tally got = tally(samples);
  EXPECT_EQ(got.count, whole.count);
  EXPECT_EQ(got.failed, whole.failed);
  EXPECT_EQ(got.inconclusive, whole.inconclusive);
  EXPECT_EQ(got.consecutive_success, 4);
  EXPECT_EQ(json::decode<Sample>(json::encode(samples.back())).value(), samples.back());
}

TEST(GateMetric, what_is_joined_never_lengthens_the_last_run) {
  std::vector<Sample> samples;
  add(samples, sample(Error));
  for (int i = 0; i < 19; ++i) add(samples, sample(i % 2 == 0 ? Successful : Failed));
  add(samples, sample(Error));
  EXPECT_LE(samples.size(), 20U);
  EXPECT_EQ(tally(samples).consecutive_error, 1);
}

struct SeriesRow {
  const char* what;
  MetricGate gate;
  std::vector<Sample> samples;
  Length length;
  Verdict::Kind kind;
};

TEST(GateMetric, what_a_series_comes_to) {
  using enum Verdict::Kind;
  using Series = std::vector<Sample>;
  const auto kAt = Length::AtCount;
  const auto kEndless = Length::Endless;
  const SeriesRow kRows[] = {
      {"nothing yet", {}, {}, kAt, Verdict::Kind::NoData},
      {"one good one is enough", {}, {sample(Successful)}, kAt, Pass},
      {"too few", {.count = 3}, {sample(Successful, 2)}, kAt, Wait},
      {"enough", {.count = 3}, {sample(Successful, 3)}, kAt, Pass},
      {"no data is not counted",
       {.count = 2},
       Series{sample(Successful), sample(Sample::Phase::NoData, 9)},
       kAt,
       Verdict::Kind::NoData},
      {"one failed", {.count = 3}, {sample(Failed)}, kAt, Fail},
      {"one is forgiven", {.count = 3, .failure_limit = 1}, Series{sample(Failed), sample(Successful, 2)}, kAt, Pass},
      {"two are not", {.count = 3, .failure_limit = 1}, {sample(Failed, 2)}, kAt, Fail},
      {"any number is", {.count = 3, .failure_limit = -1}, {sample(Failed, 3)}, kAt, Pass},
      {"undecided", {.count = 3}, {sample(Inconclusive)}, kAt, Unknown},
      {"errors are retried", {}, {sample(Error, 4)}, kAt, Unknown},
      {"but not for ever", {}, {sample(Error, 5)}, kAt, Fail},
      {"errors between", {.count = 2}, Series{sample(Error, 4), sample(Successful), sample(Error, 4)}, kAt, Unknown},
      {"passes early", {.count = 9, .consecutive_success_limit = 2}, {sample(Successful, 2)}, kAt, Pass},
      {"endless does not pass", {}, {sample(Successful, 50)}, kEndless, Wait},
      {"endless fails", {}, Series{sample(Successful, 50), sample(Failed)}, kEndless, Fail},
      {"endless with a count", {.count = 3}, {sample(Successful, 3)}, kEndless, Pass},
  };
  for (const SeriesRow& row : kRows) {
    const Verdict verdict = assess(row.gate, row.samples, row.length);
    EXPECT_EQ(verdict.kind, row.kind) << row.what << ": " << verdict.text;
  }
}

TEST(GateMetric, a_better_sample_never_turns_a_pass_into_a_failure) {
  constexpr Sample::Phase kPhases[] = {Successful, Failed, Inconclusive, Error, Sample::Phase::NoData};
  for (int code = 0; code < 5 * 5 * 5 * 5; ++code) {
    for (const std::int64_t limit : {-1, 0, 1}) {
      const MetricGate gate{.count = 2, .failure_limit = limit, .inconclusive_limit = 1, .consecutive_error_limit = 1};
      std::vector<Sample> samples;
      for (int i = 0, rest = code; i < 4; ++i, rest /= 5) add(samples, sample(kPhases[rest % 5]));
      const Verdict before = assess(gate, samples);
      add(samples, sample(Successful));
      if (before.kind == Verdict::Kind::Pass) EXPECT_EQ(assess(gate, samples).kind, Verdict::Kind::Pass) << code;
    }
  }
}

}  // namespace
}  // namespace slipway::delivery::gate
