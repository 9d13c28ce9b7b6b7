// Promotions as users meet them: over the API alone, with people, gates and crashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "landscape.h"
#include "promotion_fixture.h"

namespace slipway::pipeline_test {
namespace {

using namespace delivery::pipeline;
using Strings = std::vector<std::string>;

class Promotions : public PromotionTest {
 public:
  std::string said(const std::string& name, const std::string& environment, const std::string& version,
                   const std::string& decision, const std::string& gate = "") {
    return fmt::format(
        "{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Approval, metadata: {{name: {}}}, spec: {{pipeline: web, "
        "environment: {}, release: {}, decision: {}{}}}}}",
        name, environment, release(version), decision, gate.empty() ? "" : ", gate: " + gate);
  }
};

TEST_F(Promotions, story_5_a_version_goes_through_the_environments_by_itself) {
  pipeline();
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(changes_.made, (Strings{"staging 1.1.0", "prod 1.1.0"}));
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
  const Value made = promotion("prod", "1.1.0");
  EXPECT_EQ(made["status"]["strategy"].as_string(), "commit");
  EXPECT_EQ(made["status"]["commit"].str(), "c-" + std::string(kube::name(made)));
  EXPECT_EQ(kube::controller_of(made)["name"].as_string(), "web");
  EXPECT_EQ(events("PromotionSucceeded").size(), 4U) << "two of 1.0.0, which was there, and two of 1.1.0";
}

TEST_F(Promotions, a_restart_at_any_second_makes_no_second_change) {
  pipeline();
  settle("dev", "1.1.0");
  for (int i = 0; i < 12; ++i) {
    restart();
    advance(std::chrono::milliseconds{300});
    follow();
  }
  run();
  EXPECT_EQ(changes_.made, (Strings{"staging 1.1.0", "prod 1.1.0"}));
  EXPECT_EQ(list(kReleases).size(), 2U);
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(Promotions, story_8_a_push_that_fails_is_tried_again) {
  pipeline();
  bool is_down = true;
  changes_.instead = [&](PromotionEffect::Kind, const ChangeOrder&) -> std::optional<ChangeResult> {
    if (!is_down) return std::nullopt;
    return ChangeResult(std::unexpected(
        change_failure(PromotionCause::PushFailed, fail(Reason::ServiceUnavailable, "no route to git.test").error())));
  };
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Running PushFailed");
  EXPECT_EQ(promotion("staging", "1.1.0")["status"]["message"].as_string(), "no route to git.test");
  EXPECT_LE(changes_.calls.size(), 4U) << "with growing pauses";
  is_down = false;
  advance(minutes{1});
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(Promotions, two_people_have_to_approve_and_their_names_are_stamped) {
  pipeline("",
           "gates: [{name: two, at: before, approval: {count: 2}}], "
           "promotion: {strategy: {commit: {url: 'https://git.test/c.git', baseBranch: main}}}");
  pipeline("promotion: {strategy: {commit: {url: 'https://git.test/c.git', baseBranch: main}}}",
           "gates: [{name: two, at: before, approval: {count: 2}}]");
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting ApprovalMissing");
  apply_as("ann", said("a", "prod", "1.1.0", "approve"));
  apply_as("ann", said("b", "prod", "1.1.0", "approve", "two"));
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting ApprovalMissing") << "one person counts once";
  apply_as("bob", said("c", "prod", "1.1.0", "approve"));
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
  EXPECT_EQ(promotion("prod", "1.1.0")["status"]["verdicts"].item(0)["by"].as_string(), "ann, bob");
}

TEST_F(Promotions, a_no_is_remembered_until_it_is_lifted) {
  pipeline("promotion: {manual: true, strategy: {commit: {url: 'https://git.test/c.git', baseBranch: main}}}");
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Waiting ApprovalMissing");
  apply_as("ann", said("refuse", "staging", "1.1.0", "reject"));
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Rejected RefusedByPerson");
  advance(hours{1});
  EXPECT_TRUE(changes_.made.empty());
  apply_as("bob", said("again", "staging", "1.1.0", "lift"));
  run();
  EXPECT_EQ(promotion("staging", "1.1.0")["spec"]["attempt"].as_int(), 2);
  apply_as("ann", said("agree", "staging", "1.1.0", "approve"));
  run();
  EXPECT_EQ(changes_.made, Strings{"staging 1.1.0"});
}

TEST_F(Promotions, story_10_holds_stop_what_has_not_begun) {
  pipeline();
  apply_as("olga",
           "{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Hold, metadata: {name: pause}, spec: {pipeline: web, "
           "environments: [prod], comment: databases move}}");
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Succeeded Succeeded");
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting Held");
  EXPECT_EQ(promotion("prod", "1.1.0")["status"]["message"].as_string(), "Hold pause by olga: databases move");
  remove(kHolds, "pause");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(Promotions, a_freeze_ends_by_itself) {
  pipeline();
  apply(
      fmt::format("{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Freeze, metadata: {{name: night}}, spec: "
                  "{{environments: [prod], until: '{}'}}}}",
                  to_rfc3339(env_->now() + minutes{10})));
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting Frozen");
  advance(minutes{10});
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(Promotions, a_gate_that_refuses_rejects_and_one_that_is_out_of_reach_waits) {
  pipeline("", "");
  pipeline("promotion: {strategy: {commit: {url: 'https://git.test/c.git', baseBranch: main}}}",
           "gates: [{name: tests, at: before, webhook: {url: 'http://tests.test/run'}}]");
  web_.replies = {{0}};
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Waiting GateUnknown");
  web_.replies = {{503}, {200}};
  advance(minutes{2});
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
  web_.replies = {{403, "too slow"}};
  settle("dev", "1.2.0");
  run();
  EXPECT_EQ(state("prod", "1.2.0"), "Rejected GateFailed");
  EXPECT_EQ(runs_["prod"], "1.1.0");
}

TEST_F(Promotions, what_an_earlier_process_saw_promotes_nothing) {
  viewed_ = std::make_shared<ViewedPipelines>();
  restart();
  pipeline();
  settle("dev", "1.1.0");
  advance(minutes{5});
  EXPECT_TRUE(list(kReleases).empty());
  const auto seen = [&] {
    auto stored = env_->run(client::get(api_->server(), kPipelines, {"default", "web"}));
    ASSERT_TRUE(stored);
    viewed_->add(*stored);
  };
  seen();
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
  viewed_ = std::make_shared<ViewedPipelines>();
  settle("dev", "1.2.0");
  restart();
  settle("staging", "1.2.0");
  advance(minutes{5});
  EXPECT_EQ(changes_.made.size(), 3U) << "staging has had 1.2.0 since before the restart; prod waits";
  seen();
  run();
  EXPECT_EQ(state("prod", "1.2.0"), "Succeeded Succeeded");
}

TEST_F(Promotions, pipelines_that_go_on_at_once_ask_their_gates_once) {
  constexpr int kMany = 12;
  apply("{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Freeze, metadata: {name: all}, spec: {comment: all}}");
  pipeline("promotion: {strategy: {commit: {url: 'https://git.test/c.git', baseBranch: main}}}",
           "gates: [{name: tests, at: before, webhook: {url: 'http://tests.test/run'}}]");
  settle("staging", "1.1.0");
  settle("dev", "1.1.0");
  const auto stored = [&](const std::string& name) {
    auto found = env_->run(client::get(api_->server(), kPipelines, {"default", name}));
    return found ? *found : Value();
  };
  const Value first = stored("web");
  for (int i = 1; i < kMany; ++i) {
    const std::string name = fmt::format("web-{}", i);
    apply(json::print(json::object({{"apiVersion", first["apiVersion"]},
                                    {"kind", first["kind"]},
                                    {"metadata", json::object({{"name", name}})},
                                    {"spec", first["spec"]}})));
    const Value status = first["status"].with("observedGeneration", 1);
    const Value object = stored(name).with("status", status);
    ASSERT_TRUE(env_->run(client::update_status(api_->server(), kPipelines, object, "tester")));
  }
  advance(seconds{10});
  EXPECT_TRUE(web_.calls.empty());
  remove(kFreezes, "all");
  advance(seconds{30});
  EXPECT_EQ(web_.calls.size(), kMany);
}

TEST_F(Promotions, soak_time_is_waited_for) {
  pipeline("promotion: {strategy: {commit: {url: 'https://git.test/c.git', baseBranch: main}}}", "soak: 30m");
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("prod", "1.1.0"), "Settling Soaking");
  advance(minutes{31});
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
}

TEST_F(Promotions, a_notification_is_one_event_with_environment_and_version) {
  pipeline("promotion: {strategy: {notification: {}}}");
  settle("dev", "1.1.0");
  run();
  restart();
  run();
  EXPECT_EQ(events("Promote"), Strings{"Normal staging 1.1.0: Promote pipeline default/web to staging with version 1.1.0"});
  EXPECT_EQ(state("staging", "1.1.0"), "Running AwaitsChange");
  settle("staging", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Succeeded Succeeded");
  EXPECT_EQ(events("Promote").size(), 2U);
}

TEST_F(Promotions, a_rollback_by_a_person_is_not_undone) {
  pipeline();
  settle("dev", "1.1.0");
  run();
  advance(minutes{1});
  apply_as("olga",
           fmt::format("{{apiVersion: pipelines.slipway.dev/v1alpha1, kind: Promotion, metadata: {{name: back}}, spec: "
                       "{{pipeline: web, environment: prod, release: {}, attempt: 2, action: rollback, comment: errors}}}}",
                       release("1.0.0")));
  run();
  EXPECT_EQ(changes_.made.back(), "prod 1.0.0");
  EXPECT_EQ(state("prod", "1.1.0"), "Rejected RolledBack");
  EXPECT_EQ(promotion("prod", "1.1.0")["status"]["message"].as_string(), "rolled back to 1.0.0 by olga: errors");
  settle("dev", "1.2.0");
  run();
  EXPECT_EQ(changes_.made.back(), "staging 1.2.0") << "nothing comes into prod by itself";
  EXPECT_EQ(runs_["prod"], "1.0.0");
}

TEST_F(Promotions, story_6_a_commit_to_a_bare_repository_is_made_once_whatever_dies) {
  changes_.is_on_paper = false;
  Repository repository(folder_ / "config.git");
  const auto field = [](std::string_view environment, std::string_view version) {
    return fmt::format("version: {} # {{\"$promotion\": \"default:web:{}\"}}\n", version, environment);
  };
  repository.commit({{"staging/web.yaml", field("staging", "1.0.0")}, {"prod/web.yaml", field("prod", "1.0.0")}}, "first");
  pipeline(fmt::format("promotion: {{strategy: {{commit: {{url: '{}', baseBranch: main}}}}}}", repository.path()));
  settle("dev", "1.1.0");
  for (int i = 0; i < 12; ++i) {
    restart();
    advance(std::chrono::milliseconds{i < 6 ? 100 : 500});
    for (const char* environment : {"staging", "prod"}) {
      const bool is_new = repository.file(fmt::format("{}/web.yaml", environment)) == field(environment, "1.1.0");
      if (is_new && runs_[environment] != "1.1.0") settle(environment, "1.1.0");
    }
  }
  run();
  EXPECT_EQ(repository.log("%s"), (Strings{"first", "promote web 1.1.0 to staging", "promote web 1.1.0 to prod"}));
  EXPECT_EQ(state("prod", "1.1.0"), "Succeeded Succeeded");
  const Value made = promotion("prod", "1.1.0");
  EXPECT_EQ(made["status"]["commit"].str(), repository.log("%H").back());
  EXPECT_EQ(repository.log("%(trailers:key=Slipway-Promotion,valueonly,separator=)").back(), kube::name(made));
}

TEST_F(Promotions, strategies_that_are_not_there_say_so) {
  changes_.instead = [](PromotionEffect::Kind, const ChangeOrder&) -> std::optional<ChangeResult> {
    return ChangeResult(
        std::unexpected(change_failure(PromotionCause::ForgeFailed, fail(Reason::NotImplemented, "azure-devops").error())));
  };
  pipeline("promotion: {strategy: {pull-request: {type: azure-devops, url: 'https://forge.test/a.git', baseBranch: main}}}");
  settle("dev", "1.1.0");
  run();
  EXPECT_EQ(state("staging", "1.1.0"), "Running StrategyNotImplemented");
}

}  // namespace
}  // namespace slipway::pipeline_test
