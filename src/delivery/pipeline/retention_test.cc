#include "delivery/pipeline/retention.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "delivery/pipeline/promote_world_test.h"

namespace slipway::delivery::pipeline {
namespace {

using std::chrono::days;
using std::chrono::hours;

/// Two environments through which 1.1.0, 1.2.0 … went, one a day.
class Retention : public testing::Test {
 protected:
  void deliver(int count) {
    for (int i = 1; i <= count; ++i) {
      world_.settle("dev", version(i));
      world_.run();
      world_.advance(hours{24});
      ASSERT_EQ(world_.runs("prod"), version(i));
    }
  }
  static std::string version(int i) { return fmt::format("1.{}.0", i); }
  std::vector<std::string> retired() {
    std::vector<std::string> versions;
    for (const RetiredRelease& one : retired_releases(world_.in)) {
      const auto at = std::ranges::find(world_.in.releases, one.name, &Known<ReleaseSpec>::name);
      versions.push_back(at->spec.version);
    }
    return versions;
  }

  PromoteWorld world_{{"dev", "prod"}};
};

TEST_F(Retention, young_and_newest_releases_stay) {
  deliver(12);
  EXPECT_EQ(retired(), std::vector<std::string>());
  world_.advance(days{100});
  EXPECT_EQ(retired(), std::vector<std::string>()) << "old, but no more than twenty";
}

TEST_F(Retention, an_old_release_goes_with_its_promotions_and_approvals) {
  deliver(1);
  world_.say("prod", version(1), "approve");
  const std::string release = world_.release(version(1));
  const std::string promotion = world_.find("prod", version(1))->name;
  for (int i = 2; i <= 40; ++i) {
    world_.settle("dev", version(i));
    world_.run();
    world_.advance(hours{24});
  }
  const std::vector<RetiredRelease> gone = retired_releases(world_.in);
  ASSERT_EQ(gone.size(), kMostRetired);
  const auto first = std::ranges::find(gone, release, &RetiredRelease::name);
  ASSERT_NE(first, gone.end());
  EXPECT_NE(std::ranges::find(first->promotions, promotion), first->promotions.end());
  EXPECT_EQ(first->approvals.size(), 1U);
}

TEST_F(Retention, what_was_rejected_is_remembered_until_it_is_lifted) {
  world_.environment("prod").promotion = Promotion{.is_manual = true};
  world_.settle("dev", version(1));
  world_.run();
  world_.say("prod", version(1), "reject");
  world_.run();
  ASSERT_EQ(world_.state("prod", version(1)), "Rejected RefusedByPerson");
  world_.environment("prod").promotion.reset();
  for (int i = 2; i <= 40; ++i) {
    world_.settle("dev", version(i));
    world_.run();
    world_.advance(hours{24});
  }
  const std::vector<std::string> gone = retired();
  EXPECT_FALSE(gone.empty());
  EXPECT_EQ(std::ranges::find(gone, version(1)), gone.end());
}

TEST_F(Retention, what_runs_somewhere_stays) {
  deliver(1);
  world_.hold("prod");
  for (int i = 2; i <= 40; ++i) {
    world_.settle("dev", version(i));
    world_.run();
    world_.advance(hours{24});
  }
  ASSERT_EQ(world_.runs("prod"), version(1));
  const std::vector<std::string> gone = retired();
  EXPECT_EQ(std::ranges::find(gone, version(1)), gone.end());
}

TEST_F(Retention, a_release_that_comes_again_after_it_went_has_another_name) {
  const ReleaseSpec spec{.pipeline = "web", .version = "1.0.0"};
  EXPECT_EQ(release_name("web", "uid", spec), release_name("web", "uid", spec, 0));
  EXPECT_NE(release_name("web", "uid", spec), release_name("web", "uid", spec, 1));
  const auto annotated = [](const char* count) {
    return json::object(
        {{"metadata", json::object({{"annotations", json::object({{std::string(kPruningsAnnotation), count}})}})}});
  };
  EXPECT_EQ(prunings_of(annotated("3")), 3);
  for (const char* wrong : {"", "-1", "x", "3x", "99999999999999999999"}) EXPECT_EQ(prunings_of(annotated(wrong)), 0) << wrong;
}

}  // namespace
}  // namespace slipway::delivery::pipeline
