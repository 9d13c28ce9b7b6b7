// Rollouts that ask before they go on: hooks, metrics, windows.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

class Gates : public RolloutTest {
 public:
  void begin(std::string_view plan) {
    deployment("web-v1", 4);
    deployment("web-v2", 0, {"web:2"});
    advance(seconds{10});
    rollout("web-v2", {"web-v1"}, plan);
  }
  /// "initialize-rollout initializing": path of the URL and phase in the body of each call.
  std::vector<std::string> calls() const {
    std::vector<std::string> told;
    for (const HttpCall& call : web_.calls) {
      const auto body = json::parse(call.body);
      told.push_back(fmt::format("{} {}", call.url.substr(call.url.rfind('/') + 1), body ? (*body)["phase"].as_string() : ""));
    }
    return told;
  }
};

/// A number as Prometheus answers it; empty: none.
delivery::probe::PaperWeb::Reply vector_of(const std::string& value) {
  const std::string result = value.empty() ? "" : fmt::format(R"({{"metric":{{}},"value":[1767225700,"{}"]}})", value);
  return {200, fmt::format(R"({{"status":"success","data":{{"resultType":"vector","result":[{}]}}}})", result)};
}

std::string hooks() {
  const char* batch =
      "{replicas: 2, batchRolloutWebhooks: [{type: pre-batch-rollout, name: b, url: 'http://hooks/before'}, {type: "
      "post-batch-rollout, name: c, url: 'http://hooks/after'}]}";
  return fmt::format(
      "{{rolloutBatches: [{0}, {0}], rolloutWebhooks: [{{type: initialize-rollout, name: a, url: "
      "'http://hooks/first'}}, {{type: finalize-rollout, name: d, url: 'http://hooks/last'}}]}}",
      batch);
}

TEST_F(Gates, hooks_are_called_once_each_in_order) {
  begin(hooks());
  until_state("rolloutSucceed");
  EXPECT_EQ(calls(), (std::vector<std::string>{"first initializing", "before batchInitializing", "after batchFinalizing",
                                               "before batchInitializing", "after batchFinalizing", "last finalising"}));
}

TEST_F(Gates, people_are_told_and_nothing_waits_for_them) {
  web_.replies = {{200}, {500}, {200}};
  begin("{numBatches: 2, notifications: [{type: slack, url: 'http://chat/told'}]}");
  until_state("rolloutSucceed");
  advance(seconds{1});
  ASSERT_EQ(web_.calls.size(), 3U);
  EXPECT_TRUE(web_.calls.front().body.contains("batch 0 is done: 2 of 4 pods are new")) << web_.calls.front().body;
  EXPECT_TRUE(web_.calls.back().body.contains("Deployment/web-v2 is rolled out")) << web_.calls.back().body;
}

TEST_F(Gates, a_hook_that_rejects_fails_the_rollout) {
  web_.replies = {{200}, {200}, {403}, {200}};
  begin(hooks());
  until_state("rolloutFailed");
  EXPECT_EQ(sizes(), "web-v1 2, web-v2 2");
  EXPECT_EQ(calls().back(), "last rolloutFailing");
  EXPECT_EQ(status()["verdicts"].size(), 4U);
  EXPECT_EQ(status()["batchRollingState"].as_string(), "batchVerifyFailed");
}

TEST_F(Gates, a_hook_that_is_out_of_reach_is_asked_again) {
  web_.replies = {{200}, {0}, {503}, {429}, {200}};
  begin(hooks());
  until_state("rolloutSucceed");
  EXPECT_EQ(calls().size(), 9U);
  const auto key = [](const HttpCall& call) {
    for (const auto& [name, value] : call.headers) {
      if (name == "Idempotency-Key") return value;
    }
    return std::string();
  };
  EXPECT_EQ(key(web_.calls[1]), key(web_.calls[4])) << "one question has one key";
  EXPECT_NE(key(web_.calls[1]), key(web_.calls[5]));
}

TEST_F(Gates, a_metric_out_of_its_range_is_reverted) {
  web_.replies = {vector_of("0.5")};
  begin(
      "{numBatches: 2, onFailure: Revert, gates: [{name: success, metric: {address: 'http://prom', query: up, min: '0.95', "
      "interval: 10s}}]}");
  until_state("rolloutFailed");
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
  EXPECT_NE(status()["failure"].as_string().find("success"), std::string::npos) << status()["failure"].as_string();
}

TEST_F(Gates, a_metric_that_goes_bad_while_the_partition_holds_is_reverted) {
  web_.replies = {vector_of("1")};
  begin(
      "{rolloutBatches: [{replicas: 1}, {}], batchPartition: 0, onFailure: Revert, gates: [{name: thr, at: throughout, metric: "
      "{address: 'http://prom', query: up, min: 0.95, interval: 1s}}]}");
  until_batch(0, "batchReady");
  const std::size_t asked = web_.calls.size();
  advance(minutes{2});
  EXPECT_GE(web_.calls.size(), asked + 100);
  EXPECT_EQ(sizes(), "web-v1 3, web-v2 1");
  web_.replies = {vector_of("0.5")};
  EXPECT_TRUE(until_state("rolloutFailed", minutes{2}));
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
}

TEST_F(Gates, a_metric_without_data_ends_as_on_no_data_says) {
  const std::pair<const char*, const char*> rows[] = {{"metric: {onNoData: pass, ", "rolloutSucceed"},
                                                      {"onDeadline: pass, metric: {onNoData: fail, ", "rolloutFailed"},
                                                      {"metric: {", "rolloutFailed"},
                                                      {"onDeadline: pass, metric: {", "rolloutSucceed"}};
  for (const auto& [said, end] : rows) {
    SCOPED_TRACE(said);
    web_.replies = {vector_of("")};
    begin(
        fmt::format("{{numBatches: 1, gates: [{{name: errors, deadlineSeconds: 5, {} address: 'http://prom', query: up, min: "
                    "'1', interval: 2s}}}}]}}",
                    said));
    until_state(end);
    remove(kTraits, "r");
    for (const char* name : {"web-v1", "web-v2"}) remove(kDeployments, name);
    advance(seconds{30});
  }
}

TEST_F(Gates, a_window_holds_until_it_opens) {
  begin("{numBatches: 2, gates: [{name: night, at: before, window: {rrule: 'FREQ=DAILY;BYHOUR=3;BYMINUTE=0', duration: 1h}}]}");
  advance(minutes{60});
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
  EXPECT_EQ(condition("Holding"), "True Gate");
  until_state("rolloutSucceed", std::chrono::hours{4});
  EXPECT_EQ(to_rfc3339(env_->now()).substr(11, 4), "03:0");
}

/// Who looks is told within seconds what a gate said first; how often it was asked since is told later.
TEST_F(Gates, what_a_gate_says_first_is_told_soon) {
  const std::pair<const char*, const char*> rows[] = {
      {"gates: [{name: ask, at: after, webhook: {url: 'http://hooks/'}}]", "503"},
      {"gates: [{name: ask, at: before, webhook: {url: 'http://hooks/'}}]", "503"},
      {"gates: [{name: ask, at: before, window: {rrule: 'FREQ=DAILY;BYHOUR=3;BYMINUTE=0', duration: 1h}}]", "03:00"},
      {"gates: [{name: ask, at: finalize, webhook: {url: 'http://hooks/', secretRef: {name: none, key: k}}}]", "none"}};
  for (const auto& [gate, text] : rows) {
    SCOPED_TRACE(gate);
    web_.replies = {{503, "busy"}};
    begin(fmt::format("{{numBatches: 1, {}}}", gate));
    const auto said = [&] {
      for (const Value& wait : peek_status()["waits"].items()) {
        if (wait["on"].as_string() == "gate ask" && wait["text"].as_string().contains(text)) return true;
      }
      return false;
    };
    EXPECT_TRUE(until(said, seconds{15})) << json::print_pretty(status()["waits"]);
    remove(kTraits, "r");
    web_.replies = {{200}};
    for (const char* name : {"web-v1", "web-v2"}) remove(kDeployments, name);
    advance(minutes{10});
  }
}

TEST_F(Gates, an_approval_nobody_gives_holds) {
  begin("{numBatches: 2, gates: [{name: go, at: before, approval: {count: 1}}]}");
  advance(minutes{60});
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
  EXPECT_EQ(condition("Holding"), "True Gate");
  const auto revision = kube::revision(get(kTraits, "r"));
  advance(minutes{60});
  EXPECT_EQ(kube::revision(get(kTraits, "r")), revision);
}

}  // namespace
}  // namespace slipway::rollout_test
