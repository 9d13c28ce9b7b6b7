// How a change is made, held back, given up and taken back.
#include <gtest/gtest.h>

#include "delivery/pipeline/promote_world_test.h"

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const std::vector<std::string> kChangesLine = {"dev", "staging", "prod"};

void promote_by_pull_requests(PromoteWorld& world) {
  world.in.spec.promotion->strategy = Strategy{};
  world.in.spec.promotion->strategy->pull_request = PullRequest{};
}

ChangeResult push_fails(PromotionEffect::Kind, const KnownPromotion&) {
  return std::unexpected(change_failure(PromotionCause::PushFailed, fail(Reason::Timeout, "no answer").error()));
}

TEST(Promote, a_pull_request_is_withdrawn_for_a_newer_release_unless_it_was_merged) {
  for (const bool is_merged : {false, true}) {
    PromoteWorld world({"dev", "prod"});
    promote_by_pull_requests(world);
    std::vector<std::string> calls;
    world.strategy = [&](PromotionEffect::Kind kind, const KnownPromotion& promotion) -> ChangeResult {
      const bool withdraws = kind == PromotionEffect::Kind::Withdraw;
      calls.push_back(withdraws ? "withdraw" : "bring");
      ChangeState::Stage stage = ChangeState::Stage::Proposed;
      if (withdraws) stage = is_merged ? ChangeState::Stage::Made : ChangeState::Stage::Closed;
      return ChangeState{.stage = stage, .commit = "", .pull_request = "https://forge.test/" + promotion.name};
    };
    world.run();
    world.settle("dev", "1.1.0");
    world.run();
    EXPECT_EQ(world.state("prod", "1.1.0"), "Running PullRequestOpen");
    world.advance(minutes{2});
    world.settle("dev", "1.2.0");
    world.run();
    EXPECT_EQ(world.state("prod", "1.1.0"), is_merged ? "Succeeded Succeeded" : "Superseded NewerRelease");
    EXPECT_EQ(world.state("prod", "1.2.0"), "Running PullRequestOpen");
  }
}

TEST(Promote, a_pull_request_that_was_closed_is_remembered_as_a_no) {
  PromoteWorld world({"dev", "prod"});
  promote_by_pull_requests(world);
  world.strategy = [&](PromotionEffect::Kind, const KnownPromotion&) -> ChangeResult {
    return ChangeState{.stage = ChangeState::Stage::Closed, .commit = "", .pull_request = "https://forge.test/1"};
  };
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Rejected PullRequestClosed");
  EXPECT_EQ(world.find("prod", "1.1.0")->spec.attempt, 1) << "it is not proposed again";
}

TEST(Promote, a_freeze_marks_open_pull_requests_and_takes_the_mark_away) {
  PromoteWorld world({"dev", "prod"});
  promote_by_pull_requests(world);
  std::vector<std::string> calls;
  world.strategy = [&](PromotionEffect::Kind kind, const KnownPromotion&) -> ChangeResult {
    calls.push_back(kind == PromotionEffect::Kind::Look ? "look" : "bring");
    return ChangeState{.stage = ChangeState::Stage::Proposed, .commit = "", .pull_request = "https://forge.test/1"};
  };
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  world.freeze({.from = world.now(), .until = world.now() + hours{1}});
  calls.clear();
  world.step();
  EXPECT_EQ(calls, std::vector<std::string>{"look"});
  const auto decision = decide(world.in);
  ASSERT_EQ(decision.effects.size(), 1U);
  EXPECT_TRUE(decision.effects.front().is_frozen);
  EXPECT_EQ(world.state("prod", "1.1.0"), "Running Frozen");
  world.advance(hours{1});
  calls.clear();
  world.step();
  EXPECT_EQ(calls, std::vector<std::string>{"bring"});
}

TEST(Promote, nothing_is_begun_while_held_frozen_or_suspended) {
  PromoteWorld world({"dev", "prod"});
  world.run();
  world.in.spec.is_suspended = true;
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Suspended");
  world.in.spec.is_suspended = false;
  world.hold("prod");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Held");
  EXPECT_EQ(world.find("prod", "1.1.0")->status.waits_for, (std::vector<Blocker>{{"Hold", "pause"}}));
  world.in.holds.front().spec.until = world.now() + minutes{10};
  world.in.cluster_labels["prod"] = {{{"region", "eu"}}};
  FreezeSpec nightly{.cluster_labels = {{"region", "eu"}}};
  nightly.window = gate::WindowGate{.rrule = "FREQ=DAILY;BYHOUR=10", .time_zone = "UTC", .duration = hours{2}};
  world.freeze(nightly);
  world.run();
  EXPECT_EQ(world.last_next, "2026-03-02T10:10:00Z");
  world.advance(minutes{10});
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Frozen");
  EXPECT_EQ(world.last_next, "2026-03-02T12:00:00Z");
  world.in.zones.clear();
  world.advance(hours{2});
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Frozen") << "a window that cannot be read counts as in force";
  world.in.zones["UTC"] = Zone();
  world.run();
  EXPECT_EQ(world.runs("prod"), "1.1.0");
}

TEST(Promote, a_change_that_failed_is_not_made_in_a_freeze) {
  PromoteWorld world({"dev", "prod"});
  world.strategy = push_fails;
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Running PushFailed");
  EXPECT_EQ(world.find("prod", "1.1.0")->status.tries, 1);
  world.freeze({});
  world.strategy = nullptr;
  world.advance(hours{1});
  world.run();
  EXPECT_TRUE(world.changes.empty());
  world.in.freezes.clear();
  world.run();
  EXPECT_EQ(world.changes, std::vector<std::string>{"prod 1.1.0"});
}

TEST(Promote, a_change_that_failed_is_not_made_once_the_environment_has_gone_on) {
  PromoteWorld world({"dev", "prod"});
  world.strategy = push_fails;
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  world.strategy = nullptr;
  world.settle("prod", "1.2.0");
  world.target("prod", 0).is_ready = false;
  world.target("prod", 0).state = State::Progressing;
  world.count("prod");
  world.advance(hours{1});
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Superseded Overtaken");
  EXPECT_TRUE(world.changes.empty());
}

TEST(Promote, a_rollback_stays_until_it_is_lifted) {
  PromoteWorld world({"dev", "prod"});
  world.run();
  for (const char* version : {"1.1.0", "1.2.0"}) {
    world.advance(minutes{1});
    world.settle("dev", version);
    world.run();
  }
  world.advance(minutes{1});
  world.ask_for("prod", "1.1.0", PromotionAction::Rollback);
  world.run();
  EXPECT_EQ(world.runs("prod"), "1.1.0");
  EXPECT_EQ(world.state("prod", "1.2.0"), "Rejected RolledBack");
  world.advance(minutes{1});
  world.settle("dev", "1.3.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.3.0"), "") << "nothing newer comes by itself";
  world.advance(minutes{1});
  world.say("prod", "1.2.0", "lift");
  world.run();
  EXPECT_EQ(world.runs("prod"), "1.3.0");
}

TEST(Promote, a_rollback_ends_a_promotion_whose_targets_do_not_come_up) {
  PromoteWorld world({"dev", "prod"});
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  world.advance(minutes{1});
  world.follows = false;
  world.settle("dev", "1.2.0");
  world.run();
  for (std::size_t i : {0, 1}) {
    TargetStatus& target = world.target("prod", i);
    target.is_ready = false;
    target.state = State::Progressing;
    target.running.text = target.specified.text = target.attempted.text = "1.2.0";
  }
  world.count("prod");
  world.run();
  EXPECT_EQ(world.state("prod", "1.2.0"), "Settling TargetNotReady");
  world.ask_for("prod", "1.1.0", PromotionAction::Rollback);
  world.follows = true;
  world.run();
  EXPECT_EQ(world.state("prod", "1.2.0"), "Rejected RolledBack");
  EXPECT_EQ(world.runs("prod"), "1.1.0");
}

TEST(Promote, a_revert_by_hand_is_not_undone) {
  PromoteWorld world({"dev", "prod"});
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  world.settle("prod", "1.0.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Rejected ReplacedByLower");
  EXPECT_EQ(world.changes.size(), 1U);
  world.settle("dev", "1.2.0");
  world.run();
  EXPECT_EQ(world.runs("prod"), "1.2.0") << "what comes later is another release";
}

TEST(Promote, what_the_agent_gave_up_is_rejected_until_it_is_there_after_all) {
  PromoteWorld world(kChangesLine);
  world.run();
  world.follows = false;
  world.settle("dev", "1.1.0");
  world.run();
  world.advance(minutes{1});
  world.target("staging", 0).state = State::RolledBack;
  world.target("staging", 0).attempted.text = "1.1.0";
  world.target("staging", 0).since = world.now();
  world.count("staging");
  world.run();
  EXPECT_EQ(world.state("staging", "1.1.0"), "Rejected RolledBackByAgent");
  world.advance(minutes{1});
  world.run();
  EXPECT_EQ(world.changes.size(), 1U) << "it is not proposed again";
  world.committed.clear();
  world.follows = true;
  world.settle("staging", "1.1.0");
  world.run();
  EXPECT_EQ(world.find("staging", "1.1.0")->spec.action, PromotionAction::Observe);
  EXPECT_EQ(world.runs("prod"), "1.1.0") << "once the trouble is over it goes on by itself";
}

TEST(Promote, a_lifted_release_is_not_rejected_for_what_the_agent_did_before) {
  PromoteWorld world({"dev", "prod"});
  world.run();
  world.follows = false;
  world.settle("dev", "1.1.0");
  world.run();
  world.advance(minutes{1});
  for (std::size_t i : {0, 1}) {
    world.target("prod", i).state = State::RolledBack;
    world.target("prod", i).attempted.text = "1.1.0";
    world.target("prod", i).since = world.now();
  }
  world.count("prod");
  world.run();
  world.advance(minutes{1});
  world.say("prod", "1.1.0", "lift");
  world.run();
  EXPECT_EQ(world.find("prod", "1.1.0")->spec.attempt, 2);
  EXPECT_EQ(world.state("prod", "1.1.0"), "Settling AgentGaveUpBefore");
  world.settle("prod", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Succeeded Succeeded");
}

}  // namespace
}  // namespace slipway::delivery::pipeline
