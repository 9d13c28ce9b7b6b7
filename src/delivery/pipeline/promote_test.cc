// Which release goes where, and in what order.
#include "delivery/pipeline/promote.h"

#include <gtest/gtest.h>

#include "delivery/pipeline/promote_world_test.h"

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::minutes;

const std::vector<std::string> kLine = {"dev", "staging", "prod"};

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

TEST(Promote, what_waits_for_the_end_of_a_freeze_and_comes_by_hand_is_told) {
  PromoteWorld world({"dev", "prod"});
  world.run();
  world.freeze({.environments = {"prod"}, .comment = "holidays"});
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Waiting Frozen");
  world.settle("prod", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Succeeded Succeeded");
  EXPECT_EQ(world.warnings, std::vector<std::string>{"1.1.0 came into prod by hand, in spite of Freeze holidays: holidays"});
}

TEST(Promote, what_somebody_was_asked_to_bring_and_brings_during_a_freeze_is_told) {
  PromoteWorld world({"dev", "prod"});
  world.in.spec.promotion.reset();
  world.run();
  world.settle("dev", "1.1.0");
  world.run();
  EXPECT_EQ(world.state("prod", "1.1.0"), "Running AwaitsChange");
  world.freeze({.environments = {"prod"}, .comment = "holidays"});
  world.settle("prod", "1.1.0");
  world.run();
  EXPECT_EQ(world.warnings, std::vector<std::string>{"1.1.0 came into prod by hand, in spite of Freeze holidays: holidays"});
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

}  // namespace
}  // namespace slipway::delivery::pipeline
