// The story of seed 002 (kptdev/kpt#3455): many actors bring packages to ready, they are proposed by themselves, and approved a
// few percent at a time over clusters that say what they have.
#include <fmt/format.h>

#include "rollout_fixture.h"

namespace slipway::package_test {
namespace {

using namespace delivery::package;

constexpr int kCells = 21;  // the least of which 5 % are two
std::string budget(std::string_view at) {
  return fmt::format("{{name: errors, at: {}, metric: {{address: 'http://prometheus.test', query: errors, max: 1}}}}", at);
}

TEST_F(Fleet, from_a_blueprint_to_all_cells_one_percent_and_five_percent_first) {
  fleet(kCells);
  blueprint(1, "one");
  const std::string late = cell(7);
  const std::string asked = cell(9);
  no_address_ = {late};
  no_person_ = {asked};
  follow(1);
  errors("0.1");
  rollout(1, fmt::format("{{steps: [{{percent: 1, soak: 6m, gates: [{}]}}, {{percent: 5, soak: 2m, gates: [{}]}}]}}",
                         budget("after"), budget("throughout")));
  ASSERT_TRUE(ticks_until([&] { return revisions("Proposed").size() + static_cast<std::size_t>(approved(1)) == kCells - 2; }))
      << revisions("Proposed").size();
  for (const std::string& one : {late, asked}) EXPECT_EQ(lifecycle(one + ".web.packagevariant-1"), "Draft");
  EXPECT_EQ(revision(late + ".web.packagevariant-1")["status"]["ready"].as_string(), "1/2");

  ASSERT_TRUE(ticks_until([&] { return approved(1) == 1; })) << json::print(status());
  ASSERT_TRUE(ticks_until([&] { return status()["healthy"].as_int() == 1; })) << json::print(status());
  EXPECT_EQ(running().size(), 1u);
  const Steady healthy = env_->steady();
  ASSERT_TRUE(ticks_until([&] { return approved(1) == 2; })) << json::print(status());
  EXPECT_GE(env_->steady() - healthy, minutes{5}) << "a tick is 10 s";
  no_address_.clear();
  no_person_.clear();
  ASSERT_TRUE(ticks_until([&] { return phase() == "Completed"; })) << json::print(status());
  EXPECT_EQ(approved(1), kCells);
  EXPECT_EQ(running().size(), std::size_t{kCells});
  EXPECT_TRUE(running().contains(late + " one"));
}

TEST_F(Fleet, an_error_budget_stops_it_and_the_next_revision_begins_anew) {
  fleet(9);  // 25 % are three, rounded up
  blueprint(1, "one");
  follow(1);
  rollout(1, "{steps: [{percent: 100}]}");
  ASSERT_TRUE(ticks_until([&] { return phase() == "Completed"; })) << json::print(status());
  blueprint(2, "two");
  follow(2);
  errors("0.1");
  rollout(2, fmt::format("{{onFailure: BackOut, steps: [{{percent: 5}}, {{percent: 25, soak: 3m, gates: [{}]}}]}}",
                         budget("throughout")));
  ASSERT_TRUE(ticks_until([&] { return approved(2) == 3; })) << json::print(status());
  errors("12");
  ASSERT_TRUE(ticks_until([&] { return phase() == "BackingOut" || phase() == "BackedOut"; })) << json::print(status());
  EXPECT_EQ(status()["reason"].as_string(), "GateFailed");
  ASSERT_TRUE(ticks_until([&] { return phase() == "BackedOut"; })) << json::print(status());
  EXPECT_EQ(approved(2), 3);
  EXPECT_TRUE(ticks_until([&] {
    const auto now = running();
    return std::ranges::all_of(now, [](const std::string& one) { return one.ends_with(" one"); });
  })) << "the cells have what they had before";

  blueprint(3, "three");
  ASSERT_TRUE(ticks_until([&] { return revisions("Proposed").empty(); })) << "open proposals of the older one are drafts again";
  tick();
  EXPECT_TRUE(revisions("Proposed").empty()) << "and stay so";
  follow(3);
  rollout(3, "{steps: [{percent: 5}, {percent: 100}]}");
  ASSERT_TRUE(ticks_until([&] { return phase() == "Completed"; })) << json::print(status());
  EXPECT_EQ(approved(3), 9);
  EXPECT_EQ(approved(2), 3) << "what was not approved then never is";
}

TEST_F(Fleet, the_bound_holds_when_the_process_dies_every_few_seconds) {
  fleet(6);
  blueprint(1, "one");
  follow(1);
  rollout(1, "{steps: [{percent: 10}, {percent: 50}, {percent: 100}]}");
  int deaths = 0;
  ASSERT_TRUE(ticks_until([&] {
    advance(seconds{1 + (deaths * 7) % 5});
    restart();
    ++deaths;
    return phase() == "Completed" || deaths > 120;
  }));
  EXPECT_EQ(phase(), "Completed") << json::print(status());
  EXPECT_EQ(approved(1), 6);
  EXPECT_GT(deaths, 5);
}

}  // namespace
}  // namespace slipway::package_test
