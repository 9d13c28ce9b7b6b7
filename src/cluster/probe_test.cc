#include "cluster/probe.h"

#include <gtest/gtest.h>

#include "json/text.h"
#include "json/text_test.h"

namespace slipway::cluster {
namespace {

using json::Value;
using std::chrono::seconds;

ContainerProbes probes(const std::string& container) { return {yaml("{" + container + "}"), Steady{}, seconds{0}, {}, false}; }

/// Does what is due at each second and answers with '+' or '-'; ready 'r', started 's', to be restarted 'x', else '.'.
std::string course(ContainerProbes& run, const std::string& answers) {
  std::string text;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const std::size_t index : run.take_due(Steady{seconds{static_cast<int>(i)}}, false))
      run.record(index, answers[i] == '+');
    text += run.failed() != nullptr ? 'x' : run.is_ready() ? 'r' : run.is_started() ? 's' : '.';
  }
  return text;
}

struct ProbeRow {
  const char* name;
  const char* container;
  const char* answers;
  const char* expected;
};

TEST(ContainerProbes, steer_by_thresholds_and_times) {
  const ProbeRow rows[] = {
      {"none", "name: c", "---", "rrr"},
      {"ready with the first success", "readinessProbe: {periodSeconds: 1}", "--+", "ssr"},
      {"ready after two successes in a row", "readinessProbe: {periodSeconds: 1, successThreshold: 2}", "+-++", "sssr"},
      {"not ready after three failures in a row", "readinessProbe: {periodSeconds: 1}", "+--+---", "rrrrrrs"},
      {"a period of three seconds", "readinessProbe: {periodSeconds: 3}", "-+++", "sssr"},
      {"after the initial delay", "readinessProbe: {periodSeconds: 1, initialDelaySeconds: 2}", "+++", "ssr"},
      {"restarted after three failures", "livenessProbe: {periodSeconds: 1}", "+--+---+", "rrrrrrxx"},
      {"nothing else while it starts",
       "startupProbe: {periodSeconds: 1, failureThreshold: 9}, livenessProbe: {periodSeconds: 1}", "-----+---", ".....rrrx"},
      {"restarted when it does not start", "startupProbe: {periodSeconds: 1, failureThreshold: 2}", "--", ".x"}};
  for (const ProbeRow& row : rows) {
    ContainerProbes run = probes(row.container);
    EXPECT_EQ(course(run, row.answers), row.expected) << row.name;
  }
}

TEST(ContainerProbes, of_a_pod_that_ends_ask_for_readiness_only) {
  ContainerProbes run = probes("readinessProbe: {periodSeconds: 1}, livenessProbe: {periodSeconds: 1}");
  const auto due = run.take_due(Steady{}, true);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(run.spec(due[0]).kind, ProbeKind::Readiness);
}

TEST(ContainerProbes, keep_what_the_pod_says_of_the_same_run) {
  const Value container = yaml("{startupProbe: {}, readinessProbe: {initialDelaySeconds: 60}}");
  const Value status = yaml("{ready: true, started: true}");
  const ContainerProbes same(container, Steady{}, seconds{50}, status, true);
  EXPECT_TRUE(same.is_ready());
  EXPECT_EQ(same.next(), Steady{seconds{10}});
  EXPECT_FALSE(ContainerProbes(container, Steady{}, seconds{50}, status, false).is_started());
}

}  // namespace
}  // namespace slipway::cluster
