// The verbs of `slipway rollout` and what admission makes of them, on a whole plane: what they write is what the controller
// heeds.
#include <gtest/gtest.h>

#include "delivery/rollout/actions.h"
#include "rollout_fixture.h"

namespace slipway::rollout_test {
namespace {

using delivery::ActionCall;
using delivery::CommandAnswer;

class Verbs : public RolloutTest {
 public:
  /// `slipway rollout VERB rollouttrait/r …` over a data folder.
  Result<CommandAnswer> run(const std::string& verb, const std::map<std::string, std::string>& options = {}) {
    for (const delivery::Action& action : delivery::rollout::actions()) {
      if (action.verb != "rollout " + verb) continue;
      said_.clear();
      ActionCall call{.env = env_->env(),
                      .client = api_->server(),
                      .resource = kTraits,
                      .key = {"default", "r"},
                      .part = "",
                      .options = options,
                      .say = [this](const std::string& text) {
                        said_ += text;
                        return true;
                      }};
      return env_->run(action.run(std::move(call)));
    }
    return fail(Reason::NotFound, verb);
  }

  void begin(std::string_view plan) {
    deployment("web-v1", 4);
    deployment("web-v2", 0, {"web:2", "slipway.dev/ready-after: 5s"});
    advance(seconds{10});
    rollout("web-v2", {"web-v1"}, plan);
  }

  /// A write of the status as a user whom authentication knows.
  Result<Value> write_status_as(const std::string& user, std::vector<std::string> groups, const Value& object) {
    client::Request request;
    request.verb = client::Verb::Update;
    request.resource = kTraits;
    request.ns = "default";
    request.name = "r";
    request.subresource = "status";
    request.body = object;
    request.user = std::make_shared<kube::UserInfo>(kube::UserInfo{.name = user, .uid = "", .groups = groups, .extra = {}});
    auto reply = env_->run([](client::Client& client, client::Request made) -> Task<Result<Value>> {
      auto answer = co_await client.call(std::move(made));
      if (!answer) co_return fail(std::move(answer).error());
      co_return answer->object;
    }(api_->server(), std::move(request)));
    return reply;
  }

  std::string said_{};
};

TEST_F(Verbs, pause_and_resume_are_fields_of_the_spec) {
  begin("{numBatches: 4}");
  ASSERT_TRUE(until([&] { return status()["currentBatch"].as_int() == 1; }));
  EXPECT_EQ(run("pause")->text, "rollouttrait/r: paused: nothing new is begun\n");
  EXPECT_TRUE(get(kTraits, "r")["spec"]["rolloutPlan"]["paused"].as_bool());
  advance(minutes{5});
  EXPECT_EQ(run("status", {{"wait", "true"}})->exit_code, 3) << "a person is needed";
  EXPECT_EQ(run("resume")->text, "rollouttrait/r: goes on\n");
  EXPECT_TRUE(until_state("rolloutSucceed"));
  const auto end = run("status", {{"wait", "true"}});
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_EQ(end->notes, std::vector<std::string>{"rolloutSucceed: 4 of 4 pods are new, 4 ready"});
  EXPECT_EQ(run("pause").error().message, "rollouttrait/r: it has ended");
}

TEST_F(Verbs, promote_moves_the_partition) {
  begin("{numBatches: 4, batchPartition: 0}");
  ASSERT_TRUE(until([&] { return sizes() == "web-v1 3, web-v2 1"; }));
  advance(minutes{2});
  EXPECT_EQ(run("promote")->text, "rollouttrait/r: batches up to 1 may run\n");
  ASSERT_TRUE(until([&] { return sizes() == "web-v1 2, web-v2 2"; }));
  advance(minutes{2});
  EXPECT_EQ(sizes(), "web-v1 2, web-v2 2");
  EXPECT_EQ(run("promote", {{"full", "true"}})->text, "rollouttrait/r: all batches may run\n");
  EXPECT_TRUE(until_state("rolloutSucceed"));
}

TEST_F(Verbs, abort_leaves_what_there_is_to_onFailure) {
  begin("{numBatches: 4, batchPartition: 1}");
  ASSERT_TRUE(until([&] { return sizes() == "web-v1 2, web-v2 2"; }));
  ASSERT_TRUE(run("abort"));
  EXPECT_TRUE(until_state("rolloutFailed"));
  EXPECT_EQ(sizes(), "web-v1 2, web-v2 2") << "Stop leaves them as they stand";
  EXPECT_EQ(run("status", {{"wait", "true"}})->exit_code, 1);
  EXPECT_EQ(run("abort").error().message, "rollouttrait/r: it has ended: there is nothing to abort");
  EXPECT_TRUE(run("revert").error().message.contains("revertOnDelete"));
}

TEST_F(Verbs, revert_brings_the_old_pods_back) {
  begin("{numBatches: 4, batchPartition: 1}");
  ASSERT_TRUE(until([&] { return sizes() == "web-v1 2, web-v2 2"; }));
  ASSERT_TRUE(run("revert"));
  EXPECT_TRUE(until_state("rolloutFailed"));
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
}

TEST_F(Verbs, retry_is_a_new_attempt) {
  begin("{numBatches: 4, batchPartition: 1}");
  EXPECT_EQ(run("retry").error().message, "rollouttrait/r: it has not failed");
  ASSERT_TRUE(until([&] { return sizes() == "web-v1 2, web-v2 2"; }));
  ASSERT_TRUE(run("abort"));
  ASSERT_TRUE(until_state("rolloutFailed"));
  ASSERT_TRUE(run("retry"));
  EXPECT_TRUE(until([&] { return status()["attempt"].as_int() == 2; }));
  EXPECT_TRUE(run("history")->text.contains("1        Deployment/web-v2  rolloutFailed"));
}

TEST_F(Verbs, approvals_are_stamped_by_admission_and_need_the_right) {
  begin("{rolloutBatches: [{replicas: 1, gates: [{name: go, approval: {}}]}, {}]}");
  ASSERT_TRUE(until([&] { return status()["gates"].size() == 1; })) << json::print_pretty(status());
  const Value asked = get(kTraits, "r");
  const Value forged = asked.with_path(
      {"status", "approvals"},
      json::parse_yaml("[{attempt: 1, batch: 0, gate: go, decision: approve, user: root, time: '2020-01-01T00:00:00Z'}]")
          .value());
  EXPECT_EQ(write_status_as("eve", {"system:authenticated"}, forged).error().reason, Reason::Forbidden);
  const auto written = write_status_as("ann", {"system:masters"}, forged);
  ASSERT_TRUE(written) << written.error().message;
  const Value entry = (*written)["status"]["approvals"].item(0);
  EXPECT_EQ(entry["user"], Value("ann"));
  EXPECT_EQ(entry["groups"], json::array({Value("system:masters")}));
  EXPECT_NE(entry["time"], Value("2020-01-01T00:00:00Z"));
  EXPECT_TRUE(until_state("rolloutSucceed")) << json::print_pretty(status());
}

TEST_F(Verbs, approve_and_reject_decide_the_gates_that_wait) {
  begin(
      "{rolloutBatches: [{replicas: 1, gates: [{name: go, approval: {}}]}, {replicas: 1, gates: [{name: more, approval: {}}]}, "
      "{}]}");
  ASSERT_TRUE(until([&] { return status()["gates"].size() == 1; }));
  EXPECT_EQ(run("approve", {{"gate", "other"}}).error().message, "rollouttrait/r: no approval gate other waits");
  EXPECT_EQ(run("approve")->text, "rollouttrait/r: approved as local\n");
  ASSERT_TRUE(until([&] { return status()["gates"].size() == 2; })) << json::print_pretty(status());
  EXPECT_EQ(run("reject", {{"comment", "not today"}})->text, "rollouttrait/r: rejected as local\n");
  EXPECT_TRUE(until_state("rolloutFailed"));
  EXPECT_TRUE(status()["failure"].as_string().contains("not today")) << json::print_pretty(status());
}

TEST_F(Verbs, a_rejection_fails_its_batch) {
  begin("{rolloutBatches: [{replicas: 2, gates: [{name: go, at: after, approval: {}}]}, {}], onFailure: Revert}");
  ASSERT_TRUE(until([&] { return peek_status()["pause"].as_bool(); }));
  ASSERT_TRUE(run("reject"));
  ASSERT_TRUE(until_state("rolloutFailing"));
  EXPECT_EQ(status()["batchRollingState"].as_string(), "batchVerifyFailed") << json::print(status());
  ASSERT_TRUE(until_state("rolloutFailed"));
  EXPECT_EQ(status()["batchRollingState"].as_string(), "batchVerifyFailed");
  EXPECT_EQ(sizes(), "web-v1 4, web-v2 0");
}

TEST_F(Verbs, promote_in_full_approves_and_asks_other_gates_unless_told_to_skip_them) {
  web_.replies = {{0}};
  begin(
      "{rolloutBatches: [{replicas: 1, gates: [{name: ask, webhook: {url: 'http://nobody.invalid'}}, {name: go, approval: "
      "{}}]}, "
      "{}], batchPartition: 0}");
  ASSERT_TRUE(until([&] { return status()["gates"].size() == 1; }));
  EXPECT_EQ(run("promote", {{"full", "true"}})->text, "rollouttrait/r: all batches may run, 1 approved\n");
  advance(minutes{1});
  EXPECT_EQ(state(), "rollingInBatches") << "the webhook has not passed";
  EXPECT_EQ(run("promote", {{"full", "true"}, {"skip-gates", "true"}})->text,
            "rollouttrait/r: all batches may run, 1 approved, other gates are skipped\n");
  EXPECT_TRUE(until_state("rolloutSucceed")) << json::print_pretty(status());
}

TEST_F(Verbs, replay_decides_the_log_again) {
  begin("{rolloutBatches: [{replicas: 1, gates: [{name: go, approval: {}}]}, {}]}");
  EXPECT_EQ(run("replay")->text, "the log has no decision\n");
  ASSERT_TRUE(until([&] { return status()["gates"].size() == 1; }));
  ASSERT_TRUE(run("approve"));
  ASSERT_TRUE(until_state("rolloutSucceed"));
  const auto same = run("replay");
  EXPECT_EQ(same->exit_code, 0);
  EXPECT_TRUE(same->text.contains("1/0/after/go  Pass     Pass   approved by local")) << same->text;
}

TEST_F(Verbs, watch_tells_what_changes_until_the_end) {
  begin("{numBatches: 2}");
  const auto end = run("watch");
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->exit_code, 0);
  EXPECT_TRUE(said_.contains("attempt 1: Deployment/web-v2\n")) << said_;
}

TEST_F(Verbs, updates_on_the_main_endpoint_follow_the_rules) {
  begin("{numBatches: 4, batchPartition: 1}");
  ASSERT_TRUE(until([&] { return status()["currentBatch"].as_int() == 1; }));
  const auto refused = patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: 0}}}");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::Invalid);
  EXPECT_TRUE(refused.error().message.contains("PartitionOnlyGrows")) << refused.error().message;
  EXPECT_TRUE(patch(kTraits, "r", "{spec: {rolloutPlan: {batchPartition: 3}}}"));
}

}  // namespace
}  // namespace slipway::rollout_test
