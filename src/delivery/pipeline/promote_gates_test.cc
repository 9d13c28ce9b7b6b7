// What a promotion waits for: approvals, gates, deadlines and the soak.
#include <gtest/gtest.h>

#include "delivery/pipeline/promote_world_test.h"

namespace slipway::delivery::pipeline {
namespace {

using gate::Verdict;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const std::vector<std::string> kGatesLine = {"dev", "staging", "prod"};

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

TEST(Promote, a_gate_that_is_taken_away_is_waited_for_no_more) {
  PromoteWorld world({"dev", "prod"});
  world.environment("prod").gates = {approval("two", 2)};
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  ASSERT_EQ(world.state("prod", "1.1.0"), "Waiting ApprovalMissing");
  const auto gates = [&] { return world.in.promotions.back().status.gates.size(); };
  ASSERT_EQ(gates(), 1U);
  world.environment("prod").gates.clear();
  world.run();
  EXPECT_EQ(world.changes.back(), "prod 1.1.0");
  EXPECT_EQ(gates(), 0U);
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
  PromoteWorld world(kGatesLine);
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
