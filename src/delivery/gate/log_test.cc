#include "delivery/gate/log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::gate {
namespace {

using namespace std::chrono_literals;
using Kind = Verdict::Kind;

constexpr Time kLogTime{std::chrono::seconds{1'767'225'600}};

std::size_t bytes_of(const std::vector<LogEntry>& log) {
  std::size_t bytes = 2;
  for (const LogEntry& entry : log) bytes += json::print(json::encode(entry)).size() + 1;
  return bytes;
}

/// Asks a metric gate for its numbers, one after the other, and logs each verdict as a caller does.
std::vector<Sample> ask_all(std::vector<LogEntry>& log, const std::string& key, const MetricGate& gate,
                            const std::vector<double>& numbers) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Time at = kLogTime + i * 60s;
    add(samples, judge(gate, {.value = numbers[i]}, at, {}));
    const Verdict verdict = assess(gate, samples);
    append(log, {.at = at, .gate = key, .verdict = verdict.kind, .text = verdict.text, .samples = samples});
  }
  return samples;
}

TEST(GateLog, steps_to_the_same_verdict_are_one_entry) {
  std::vector<LogEntry> log;
  const MetricGate gate{.min = json::Value(99), .count = 5, .failure_limit = 1};
  ask_all(log, "1/0/after/rate", gate, {100, 100, 98, 100, 100});
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].verdict, Kind::Wait);
  EXPECT_EQ(log[0].samples.size(), 3U) << "good ones, a bad one, good ones";
  EXPECT_EQ(log[1].verdict, Kind::Pass);
  EXPECT_EQ(log[1].samples.size(), 1U) << "only what is new";
  EXPECT_EQ(json::decode<LogEntry>(json::encode(log[0])).value(), log[0]);
}

TEST(GateLog, decisions_are_made_again_from_it) {
  GateSpec metric{.name = "rate", .metric = MetricGate{.min = json::Value(99), .count = 2, .failure_limit = 0}};
  GateSpec hook{.name = "smoke", .webhook = WebhookGate{.url = "http://x"}};
  GateSpec people{.name = "go", .approval = ApprovalGate{.count = 1}};
  GateSpec window{.name = "hours", .window = WindowGate{.rrule = "FREQ=DAILY;BYHOUR=9"}};
  std::map<std::string, GateSpec> gates{{"m", metric}, {"h", hook}, {"p", people}, {"w", window}};
  std::vector<LogEntry> log;
  ask_all(log, "m", *metric.metric, {100, 98});
  append(log, {.at = kLogTime, .gate = "h", .verdict = Kind::Wait, .status = 503});
  append(log, {.at = kLogTime, .gate = "h", .verdict = Kind::Fail, .status = 403});
  const Approval ann{.gate = "go", .attempt = 1, .batch = 0, .user = "ann", .at = kLogTime};
  const Approvable what{.gate = "go", .attempt = 1, .batch = 0};
  append(log, {.at = kLogTime, .gate = "p", .verdict = Kind::Wait, .approvable = what});
  append(log, {.at = kLogTime, .gate = "p", .verdict = Kind::Pass, .by = "ann", .approvable = what, .approvals = {ann}});
  append(log, {.at = kLogTime, .gate = "w", .verdict = Kind::Wait});
  append(log, {.at = kLogTime + 9h, .gate = "w", .verdict = Kind::Pass});
  append(log, {.at = kLogTime + 10h, .gate = "w", .verdict = Kind::Wait});
  append(log, {.at = kLogTime + 11h, .gate = "w", .verdict = Kind::Wait, .is_deadline = true});
  const auto replayed = replay(log, gates, {});
  EXPECT_EQ(replayed.size(), log.size());
  for (const Replayed& one : replayed) {
    EXPECT_TRUE(one.is_same()) << one.entry.gate << " at " << to_rfc3339(one.entry.at) << ": " << one.verdict.text;
  }
  gates["m"].metric->min = json::Value(98);
  EXPECT_EQ(replay(log, gates, {}).at(1).verdict.kind, Kind::Pass) << "another limit, another decision";
  gates["w"].on_deadline = "fail";
  EXPECT_EQ(replay(log, gates, {}).back().verdict.kind, Kind::Fail);
}

TEST(GateLog, however_much_is_decided_it_stays_small_and_can_be_replayed) {
  std::map<std::string, GateSpec> gates;
  std::vector<LogEntry> log;
  for (int batch = 0; batch < 100; ++batch) {
    const std::string key = fmt::format("1/{}/after/rate", batch);
    gates[key] = {.name = "rate", .metric = MetricGate{.min = json::Value(99), .count = 6, .failure_limit = batch % 3}};
    ask_all(log, key, *gates[key].metric, {100, 98, 100, 98, 100, 100});
    const std::string hook = fmt::format("1/{}/before/smoke", batch);
    gates[hook] = {.name = "smoke", .webhook = WebhookGate{.url = "http://x"}};
    for (const int status : {503, 200, 503, 200}) {
      append(log, {.at = kLogTime,
                   .gate = hook,
                   .verdict = status == 200 ? Kind::Pass : Kind::Wait,
                   .text = std::string(200, 'x'),
                   .status = status});
    }
    ASSERT_LE(log.size(), kMostLogEntries);
    ASSERT_LE(bytes_of(log), kMostLogBytes);
  }
  EXPECT_EQ(log.back().gate, "1/99/before/smoke");
  EXPECT_GE(log.size(), 20U);
  const auto replayed = replay(log, gates, {});
  EXPECT_EQ(replayed.size(), log.size());
  for (const Replayed& one : replayed) EXPECT_TRUE(one.is_same()) << one.entry.gate << ": " << one.verdict.text;
}

}  // namespace
}  // namespace slipway::delivery::gate
