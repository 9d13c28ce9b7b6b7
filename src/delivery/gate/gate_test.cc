#include "delivery/gate/gate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::gate {
namespace {

std::string faults(const std::string& yaml) {
  const auto value = json::parse_yaml(yaml);
  EXPECT_TRUE(value) << yaml;
  const auto gate = json::decode<GateSpec>(*value, "spec.gates[0]");
  EXPECT_TRUE(gate) << (gate ? "" : gate.error().message);
  std::string out;
  for (const Cause& cause : check(*gate, "spec.gates[0]")) out += fmt::format("{}: {}\n", cause.field, cause.message);
  return out;
}

TEST(Gate, good_ones_have_no_fault) {
  for (const char* yaml : {
           "{name: smoke, at: before, webhook: {url: 'https://x/y', expectedStatus: [200, 404], secretRef: {name: s, key: k}}}",
           "{name: rate, metric: {address: 'http://prom', query: up, min: 99, max: '100'}}",
           "{name: rate, metric: {templateRef: {name: t}, successCondition: 'result[0] > 0.9', failureCondition: 'result[0] < "
           "0.5'}}",
           "{name: rate, metric: {query: up, baselineQuery: up, cel: 'result >= 0.99 && baseline - result < 0.01'}}",
           "{name: go, approval: {count: 2, groups: [ops]}}",
           "{name: hours, at: throughout, window: {rrule: 'FREQ=WEEKLY;BYDAY=MO', timeZone: Europe/Berlin, duration: 8h}}",
       }) {
    EXPECT_EQ(faults(yaml), "") << yaml;
  }
}

struct Row {
  const char* yaml;
  const char* faults;  // each must be in it, in order
};

TEST(Gate, faults_say_where_and_what) {
  const Row kRows[] = {
      {"{name: Smoke, webhook: {url: 'https://x'}}", "spec.gates[0].name: Invalid value: \"Smoke\": must be lower case"},
      {"{name: a}", "spec.gates[0]: Required value: exactly one of webhook, metric, approval and window must be set"},
      {"{name: a, approval: {}, window: {rrule: 'FREQ=HOURLY'}}", "spec.gates[0]: Forbidden: exactly one of"},
      {"{name: a, webhook: {url: 'x/y'}}",
       "spec.gates[0].webhook.url: Invalid value: \"x/y\": must be an http:// or https:// URL"},
      {"{name: a, webhook: {url: 'http://'}}", "spec.gates[0].webhook.url: Invalid value"},
      {"{name: a, webhook: {url: 'http://x', expectedStatus: [20]}}",
       "spec.gates[0].webhook.expectedStatus[0]: Invalid value: 20: must be between 100 and 599"},
      {"{name: a, webhook: {url: 'http://x', secretRef: {name: s}}}", "spec.gates[0].webhook.secretRef.key: Required value"},
      {"{name: a, metric: {min: many}}", "spec.gates[0].metric.min: Invalid value: \"many\": must be a number"},
      {"{name: a, metric: {min: 5, max: 4}}", "spec.gates[0].metric.max: Invalid value: 4: must not be less than min"},
      {"{name: a, metric: {successCondition: 'result >'}}",
       "spec.gates[0].metric.successCondition: Invalid value: \"result >\": the condition ends too early (1:9)"},
      {"{name: a, metric: {cel: 'result >'}}",
       "spec.gates[0].metric.cel: Invalid value: \"result >\": ERROR: <input>:1:9: Syntax error"},
      {"{name: a, metric: {cel: 'rezult > 1.0'}}", "undeclared reference to 'rezult'"},
      {"{name: a, metric: {cel: '1 + 1'}}", "must give a bool, not int"},
      {"{name: a, metric: {cel: 'true', successCondition: 'true'}}",
       "spec.gates[0].metric.cel: Forbidden: may not be set along with"},
      {"{name: a, metric: {baselineQuery: up}}", "spec.gates[0].metric.cel: Required value: only a CEL expression"},
      {"{name: a, metric: {interval: 0s}}", "spec.gates[0].metric.interval: Invalid value: \"0s\": must be positive"},
      {"{name: a, metric: {templateRef: {}, query: up}}",
       "spec.gates[0].metric.templateRef.name: Required value\nspec.gates[0].metric.templateRef: Forbidden"},
      {"{name: a, window: {rrule: 'FREQ=OFTEN'}}",
       "spec.gates[0].window.rrule: Invalid value: \"FREQ=OFTEN\": FREQ: must be HOURLY"},
      {"{name: a, window: {rrule: 'FREQ=HOURLY', timeZone: '../etc/passwd'}}", "spec.gates[0].window.timeZone: Invalid value"},
      {"{name: a, window: {rrule: 'FREQ=HOURLY', timeZone: Mars/Base}}",
       "spec.gates[0].window.timeZone: Invalid value: \"Mars/Base\": must be a name of the time zone database"},
      {"{name: a, window: {rrule: 'FREQ=HOURLY', duration: 0s}}", "spec.gates[0].window.duration: Invalid value"},
      {"{name: a, at: throughout, approval: {}}", "spec.gates[0].at: Invalid value: \"throughout\""},
  };
  for (const Row& row : kRows) {
    const std::string got = faults(row.yaml);
    EXPECT_TRUE(got.contains(row.faults)) << row.yaml << "\n" << got;
  }
}

TEST(Gate, what_happens_at_the_deadline) {
  using Kind = Verdict::Kind;
  GateSpec metric{.metric = MetricGate{}};
  EXPECT_EQ(at_deadline(metric, Kind::NoData), "fail");
  EXPECT_EQ(at_deadline(metric, Kind::Wait), "fail");
  metric.metric->on_no_data = OnNoData::Pass;
  EXPECT_EQ(at_deadline(metric, Kind::NoData), "pass");
  EXPECT_EQ(at_deadline(metric, Kind::Unknown), "fail") << "an error is not a lack of data";
  metric.on_deadline = "hold";
  EXPECT_EQ(at_deadline(metric, Kind::NoData), "pass");
  EXPECT_EQ(at_deadline(metric, Kind::Wait), "hold");
  EXPECT_EQ(at_deadline({.webhook = WebhookGate{}}, Kind::Wait), "fail");
  EXPECT_EQ(at_deadline({.approval = ApprovalGate{}}, Kind::Wait), "hold");
  EXPECT_EQ(at_deadline({.window = WindowGate{}}, Kind::Wait), "hold");
}

}  // namespace
}  // namespace slipway::delivery::gate
