#include "delivery/pipeline/promote.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "delivery/pipeline/promote_world_test.h"

namespace slipway::delivery::pipeline {
namespace {

using gate::Verdict;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const std::vector<std::string> kLine = {"dev", "staging", "prod"};

gate::GateSpec approval(const std::string& name, std::int64_t count = 1, bool by_author = true) {
  gate::GateSpec made;
  made.name = name;
  made.at = "before";
  made.approval = gate::ApprovalGate{.count = count, .users = {}, .groups = {}, .by_author = by_author};
  return made;
}

gate::GateSpec webhook(const std::string& name, const std::string& at) {
  gate::GateSpec made;
  made.name = name;
  made.at = at;
  made.webhook = gate::WebhookGate{};
  made.webhook->url = "http://tests.test/";
  return made;
}

TEST(Promote, goes_through_the_line_one_environment_after_the_other) {
  PromoteWorld world(kLine);
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.changes, (std::vector<std::string>{"staging 1.1.0", "prod 1.1.0"}));
  EXPECT_EQ(world.state("staging", "1.1.0"), "Succeeded Succeeded");
  EXPECT_EQ(world.state("prod", "1.1.0"), "Succeeded Succeeded");
  EXPECT_EQ(world.runs("prod"), "1.1.0");
  EXPECT_FALSE(world.step()) << "nothing more is decided";
}

TEST(Promote, a_release_is_made_once_of_what_settled_in_the_first_environment) {
  PromoteWorld world(kLine);
  world.settle("dev", "1.1.0+a1e7a997235b", "sha256:a1e7a997235b0000");
  world.target("dev", 0).images = {"web:1.1.0@sha256:1"};
  world.run();
  ASSERT_EQ(world.in.releases.size(), 1U);
  const ReleaseSpec& made = world.in.releases.front().spec;
  EXPECT_EQ(made.version, "1.1.0");
  EXPECT_EQ(made.digest, "sha256:a1e7a997235b0000");
  EXPECT_EQ(made.environment, "dev");
  EXPECT_EQ(made.images, std::vector<std::string>{"web:1.1.0@sha256:1"});
}

TEST(Promote, waits_for_all_targets_of_the_environment_before) {
  PromoteWorld world(kLine);
  world.run();
  world.settle("dev", "1.1.0");
  world.target("dev", 1).running.text = "1.0.0";
  world.count("dev");
  world.run();
  EXPECT_EQ(world.state("staging", "1.1.0"), "");
  world.settle("dev", "1.1.0");
  world.target("dev", 0).is_ready = false;
  world.target("dev", 0).state = State::Progressing;
  world.count("dev");
  world.run();
  EXPECT_TRUE(world.changes.empty());
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.changes.front(), "staging 1.1.0");
}

TEST(Promote, environments_that_come_together_get_only_consistent_sets) {
  PromoteWorld world({"a", "b", "prod"});
  world.environment("b").depends_on = std::vector<std::string>{};
  world.environment("prod").depends_on = std::vector<std::string>{"a", "b"};
  world.run();
  world.settle("a", "1.1.0");
  world.run();
  world.settle("b", "1.2.0");
  world.run();
  EXPECT_TRUE(world.changes.empty());
  world.settle("a", "1.2.0");
  world.run();
  EXPECT_EQ(world.changes, std::vector<std::string>{"prod 1.2.0"});
}

TEST(Promote, never_goes_backwards) {
  PromoteWorld world(kLine);
  world.settle("staging", "1.5.0");
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_TRUE(world.changes.empty());
  world.ask_for("staging", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("staging", "1.1.0"), "Superseded Overtaken") << "not by a person's promotion either";
  EXPECT_TRUE(world.changes.empty());
}

TEST(Promote, the_same_version_with_other_content_is_drift) {
  PromoteWorld world(kLine);
  world.settle("dev", "1.0.0", "sha256:aaaaaaaaaaaa");
  world.settle("staging", "1.0.0", "sha256:bbbbbbbbbbbb");
  world.settle("prod", "1.0.0", "sha256:bbbbbbbbbbbb");
  world.run();
  EXPECT_TRUE(world.in.promotions.empty());
}

TEST(Promote, a_straggler_does_not_stop_the_line_unseen) {
  PromoteWorld world(kLine);
  world.follows = false;
  world.run();
  world.settle("dev", "1.1.0");
  world.target("staging", 0).running.text = "1.1.0";
  world.count("staging");
  world.run();
  EXPECT_EQ(world.changes, std::vector<std::string>{"staging 1.1.0"}) << "the change is made for the one that is behind";
  world.target("staging", 1).state = State::Progressing;
  world.target("staging", 1).text = "pods are not ready";
  world.count("staging");
  world.run();
  EXPECT_EQ(world.state("staging", "1.1.0"), "Settling TargetNotReady");
  EXPECT_NE(world.find("staging", "1.1.0")->status.text.find("staging1/web"), std::string::npos)
      << world.find("staging", "1.1.0")->status.text;
}

TEST(Promote, versions_of_images_are_compared_by_their_tags) {
  PromoteWorld world({"dev", "prod"});
  world.settle("dev", "proxy:2, web:1.0.0");
  world.settle("prod", "proxy:2, web:1.0.0");
  world.run();
  world.settle("dev", "proxy:2, web:1.1.0");
  world.run();
  EXPECT_EQ(world.changes, std::vector<std::string>{"prod proxy:2, web:1.1.0"});
  world.settle("prod", "proxy:2, web:2.0.0");
  world.settle("dev", "proxy:2, web:1.2.0");
  world.run();
  EXPECT_EQ(world.changes.size(), 1U);
}

TEST(Promote, commits_are_ordered_by_when_they_were_first_seen) {
  PromoteWorld world({"dev", "prod"});
  world.settle("dev", "main@sha1:1111111111111111111111111111111111111111");
  world.settle("prod", "main@sha1:0000000000000000000000000000000000000000");
  world.run();
  EXPECT_EQ(world.in.promotions.front().status.reason, "OrderUnknown") << "what prod runs was never seen before";
  world.say("prod", "main@sha1:1111111111111111111111111111111111111111", "approve");
  world.run();
  EXPECT_EQ(world.runs("prod"), "main@sha1:1111111111111111111111111111111111111111");
  world.advance(minutes{1});
  world.settle("dev", "main@sha1:2222222222222222222222222222222222222222");
  world.run();
  EXPECT_EQ(world.runs("prod"), "main@sha1:2222222222222222222222222222222222222222");
}

TEST(Promote, manual_waits_for_an_approval_of_this_release) {
  PromoteWorld world({"dev", "prod"});
  world.environment("prod").promotion = world.in.spec.promotion;
  world.environment("prod").promotion->is_manual = true;
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting ApprovalMissing");
  world.say("prod", "1.1.0", "approve");
  world.hold("prod");
  world.run();
  world.settle("dev", "1.2.0");
  world.advance(minutes{1});
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Superseded NewerRelease");
  world.in.holds.clear();
  world.run();
  EXPECT_EQ(world.state("prod", "1.2.0"), "Waiting ApprovalMissing") << "the yes was to another release";
  EXPECT_TRUE(world.changes.empty());
}

TEST(Promote, approvals_count_people_and_not_the_author) {
  PromoteWorld world({"dev", "prod"});
  world.environment("prod").gates = {approval("two", 2, false)};
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting ApproverUnknown") << "who wrote it is not known";
  world.in.releases.back().spec.author = "ann";
  world.say("prod", "1.1.0", "approve", "ann");
  world.say("prod", "1.1.0", "approve", "bob");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting ApprovalMissing");
  world.say("prod", "1.1.0", "approve", "bob");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting ApprovalMissing") << "one person counts once";
  world.in.acts_as = ActsAs::Controller;
  world.say("prod", "1.1.0", "approve", "cem");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting ApproverUnknown") << "nothing says that users are who they say";
  world.in.acts_as = ActsAs::User;
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Succeeded Succeeded");
  EXPECT_EQ(world.find("prod", "1.1.0")->status.verdicts.size(), 1U);
}

TEST(Promote, approvals_before_a_lift_count_no_more) {
  PromoteWorld world({"dev", "prod"});
  world.environment("prod").gates = {approval("go")};
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  world.say("prod", "1.1.0", "approve", "ann");
  world.say("prod", "1.1.0", "reject", "bob");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Rejected RefusedByPerson");
  world.advance(minutes{1});
  world.say("prod", "1.1.0", "lift", "bob");
  world.run();
  EXPECT_EQ(world.find("prod", "1.1.0")->spec.attempt, 2);
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting ApprovalMissing");
  world.say("prod", "1.1.0", "approve", "ann");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Succeeded Succeeded");
}

TEST(Promote, one_lift_lifts_one_rejection) {
  PromoteWorld world({"dev", "prod"});
  world.environment("prod").gates = {webhook("tests", "before")};
  world.gate_answers = [](const KnownPromotion&, const std::string&) { return Verdict{Verdict::Kind::Fail, "broken", ""}; };
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Rejected GateFailed");
  world.advance(minutes{1});
  world.say("prod", "1.1.0", "lift");
  world.run();
  EXPECT_EQ(world.find("prod", "1.1.0")->spec.attempt, 2);
  EXPECT_EQ(world.state("prod", "1.1.0"), "Rejected GateFailed");
  EXPECT_TRUE(world.changes.empty());
}

TEST(Promote, gates_after_hold_the_release_in_its_environment) {
  PromoteWorld world(kLine);
  world.environment("dev").gates = {webhook("smoke", "after")};
  world.environment("staging").gates = {webhook("tests", "after")};
  Verdict::Kind smoke = Verdict::Kind::Wait;
  Verdict::Kind tests = Verdict::Kind::Unknown;
  world.gate_answers = [&](const KnownPromotion&, const std::string& gate) {
    return Verdict{gate == "smoke" ? smoke : tests, "", ""};
  };
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("dev", "1.1.0"), "Settling GatePending") << "the first environment has a promotion for its gates";
  EXPECT_TRUE(world.changes.empty());
  smoke = Verdict::Kind::Pass;
  world.advance(minutes{1});
  world.run();
  EXPECT_EQ(world.changes, std::vector<std::string>{"staging 1.1.0"});
  EXPECT_EQ(world.state("staging", "1.1.0"), "Settling GateUnknown");
  tests = Verdict::Kind::Fail;
  world.advance(minutes{1});
  world.run();
  EXPECT_EQ(world.state("staging", "1.1.0"), "Rejected GateFailed");
  EXPECT_EQ(world.runs("prod"), "1.0.0");
  EXPECT_EQ(world.changes.size(), 1U);
}

TEST(Promote, soak_counts_from_when_all_are_ready_without_a_break) {
  PromoteWorld world({"dev", "prod"});
  world.environment("dev").soak = hours{1};
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("dev", "1.1.0"), "Settling Soaking");
  EXPECT_EQ(world.last_next, "2026-03-02T11:00:00Z");
  world.advance(minutes{59});
  world.target("dev", 0).is_ready = false;
  world.target("dev", 0).state = State::Progressing;
  world.count("dev");
  world.run();
  EXPECT_EQ(world.state("dev", "1.1.0"), "Settling TargetNotReady");
  world.settle("dev", "1.1.0");
  world.run();
  world.advance(minutes{59});
  world.run();
  EXPECT_EQ(world.state("dev", "1.1.0"), "Settling Soaking");
  world.advance(minutes{1});
  world.run();
  EXPECT_EQ(world.runs("prod"), "1.1.0");
}

TEST(Promote, a_newer_release_takes_the_place_of_one_that_waits_and_not_of_one_that_runs) {
  PromoteWorld world({"dev", "prod"});
  world.follows = false;
  world.hold();
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Held");
  world.settle("dev", "1.2.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Superseded NewerRelease");
  world.in.holds.clear();
  world.run();
  EXPECT_EQ(world.state("prod", "1.2.0"), "Settling TargetNotReady");
  world.settle("dev", "1.3.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.2.0"), "Settling TargetNotReady");
  EXPECT_EQ(world.state("prod", "1.3.0"), "");
  world.follow();
  world.run();
  EXPECT_EQ(world.changes, (std::vector<std::string>{"prod 1.2.0", "prod 1.3.0"}));
}

TEST(Promote, a_change_that_nobody_takes_up_gives_way_to_a_newer_release_after_ten_minutes) {
  PromoteWorld world({"dev", "prod"});
  world.follows = false;
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  world.settle("dev", "1.2.0");
  world.advance(minutes{9});
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Settling TargetNotReady");
  EXPECT_EQ(world.last_next, "2026-03-02T10:10:00Z");
  world.advance(minutes{1});
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Superseded NewerRelease");
  EXPECT_EQ(world.changes.back(), "prod 1.2.0");
}

TEST(Promote, a_pull_request_is_withdrawn_for_a_newer_release_unless_it_was_merged) {
  for (const bool is_merged : {false, true}) {
    PromoteWorld world({"dev", "prod"});
    world.in.spec.promotion->strategy = Strategy{};
    world.in.spec.promotion->strategy->pull_request = PullRequest{};
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
  world.in.spec.promotion->strategy = Strategy{};
  world.in.spec.promotion->strategy->pull_request = PullRequest{};
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
  world.in.spec.promotion->strategy = Strategy{};
  world.in.spec.promotion->strategy->pull_request = PullRequest{};
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
  world.in.zones["UTC"] = gate::Zone();
  world.run();
  EXPECT_EQ(world.runs("prod"), "1.1.0");
}

TEST(Promote, a_change_that_failed_is_not_made_in_a_freeze) {
  PromoteWorld world({"dev", "prod"});
  world.strategy = [&](PromotionEffect::Kind, const KnownPromotion&) -> ChangeResult {
    return std::unexpected(change_failure(PromotionCause::PushFailed, fail(Reason::Timeout, "no answer").error()));
  };
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
  world.strategy = [&](PromotionEffect::Kind, const KnownPromotion&) -> ChangeResult {
    return std::unexpected(change_failure(PromotionCause::PushFailed, fail(Reason::Timeout, "no answer").error()));
  };
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
  PromoteWorld world(kLine);
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

TEST(Promote, what_came_by_hand_is_remembered_and_told_in_a_freeze) {
  PromoteWorld world({"dev", "prod"});
  world.run();
  world.freeze({.environments = {"prod"}, .comment = "holidays"});
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Frozen");
  world.settle("dev", "1.2.0");
  world.settle("prod", "1.2.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.2.0"), "Succeeded Succeeded");
  EXPECT_TRUE(world.changes.empty());
  EXPECT_EQ(world.state("prod", "1.1.0"), "Superseded Overtaken");
  ASSERT_EQ(world.warnings.size(), 1U);
  EXPECT_EQ(world.warnings.front(), "1.2.0 came into prod by hand, in spite of Freeze holidays: holidays");
}

TEST(Promote, without_a_strategy_it_waits_for_somebody) {
  PromoteWorld world({"dev", "prod"});
  world.in.spec.promotion.reset();
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Running AwaitsChange");
  world.settle("dev", "1.2.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Superseded NewerRelease");
  world.settle("prod", "1.2.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.2.0"), "Succeeded Succeeded");
}

TEST(Promote, a_person_may_skip_gates_and_not_holds) {
  PromoteWorld world({"dev", "prod"});
  world.environment("prod").gates = {webhook("tests", "before"), approval("go")};
  world.hold();
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  world.advance(minutes{1});
  world.ask_for("prod", "1.1.0", PromotionAction::Promote, true);
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Held");
  world.in.holds.clear();
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting ApprovalMissing");
  world.say("prod", "1.1.0", "approve");
  world.run();
  EXPECT_EQ(world.runs("prod"), "1.1.0");
}

TEST(Promote, deadlines_of_gates_fail_pass_or_hold) {
  for (const auto& [action, state] : {std::pair{"fail", "Rejected DeadlineFailed"}, std::pair{"pass", "Succeeded Succeeded"},
                                      std::pair{"hold", "Waiting DeadlineHolds"}}) {
    PromoteWorld world({"dev", "prod"});
    world.environment("prod").gates = {webhook("tests", "before")};
    world.environment("prod").gates.front().deadline_seconds = 60;
    world.environment("prod").gates.front().on_deadline = action;
    world.run();
    world.settle("dev", "1.1.0");
    world.run();
    world.advance(seconds{60});
    world.run();
    EXPECT_EQ(world.state("prod", "1.1.0"), state);
  }
}

}  // namespace
}  // namespace slipway::delivery::pipeline
