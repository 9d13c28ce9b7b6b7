#include "delivery/package/rollout_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace slipway::delivery::package {
namespace {

using Kind = RolloutEffect::Kind;
using Phase = RolloutPhase;
using std::chrono::minutes;

constexpr Time kStart = Time(std::chrono::hours{500'000});

gate::GateSpec metric(std::string name, std::string at = "after") {
  return {.name = std::move(name), .at = std::move(at), .metric = gate::MetricGate{.query = "errors"}};
}

PackageRolloutSpec spec_of(std::vector<std::int64_t> percents) {
  PackageRolloutSpec spec{.upstream = {.repo = "bp", .package = "a", .revision = 2}};
  for (const std::int64_t percent : percents) spec.steps.push_back({.percent = percent});
  return spec;
}

std::vector<TargetView> targets(int count, TargetState state = TargetState::Proposed) {
  std::vector<TargetView> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    out.push_back({.id = fmt::format("edge-{}/a", i), .revision = fmt::format("edge-{}.a.v1", i), .state = state});
  }
  return out;
}

std::string shown(const RolloutDecision& decision) {
  constexpr const char* kNames[] = {"Approve", "ReturnToDraft", "BackOut", "ApproveBackOut", "Ask"};
  std::string out(json::enum_name(decision.record.phase));
  out += fmt::format("/{}", decision.record.step);
  for (const RolloutEffect& one : decision.effects)
    out += fmt::format(" {} {}", kNames[static_cast<int>(one.kind)], one.target);
  return out;
}

/// A run in which effects happen at once and the record is always durable.
struct PlayedRun {
  PackageRolloutSpec spec;
  RolloutRecord record{};
  RolloutWorld world{};
  RolloutDecision last{};

  TargetView& at(const std::string& id) { return *std::ranges::find(world.targets, id, &TargetView::id); }
  std::string pass(int minute) {
    world.now = Now(kStart + minutes{minute});
    last = decide(spec, record, world);
    record = last.record;
    for (const RolloutEffect& one : last.effects) {
      if (one.kind == Kind::Approve) at(one.target).state = TargetState::Approved;
      if (one.kind == Kind::ReturnToDraft) at(one.target).state = TargetState::Waiting;
      if (one.kind == Kind::BackOut) at(one.target).back_out = BackOutState::Proposed;
      if (one.kind == Kind::ApproveBackOut) at(one.target).back_out = BackOutState::Done;
    }
    return shown(last);
  }
  void all_healthy() {
    for (TargetView& one : world.targets) {
      if (one.state == TargetState::Approved || one.state == TargetState::Synced) one.state = TargetState::Healthy;
    }
  }
  std::int64_t approved() const {
    return std::ranges::count_if(world.targets, [](const TargetView& one) { return one.is_approved(); });
  }
};

TEST(PackageRollout, a_step_allows_its_part_rounded_up_and_one_at_least) {
  EXPECT_EQ(allowed(1, 1000), 10);
  EXPECT_EQ(allowed(1, 1001), 11);
  EXPECT_EQ(allowed(1, 3), 1);
  EXPECT_EQ(allowed(50, 3), 2);
  EXPECT_EQ(allowed(100, 7), 7);
  EXPECT_EQ(allowed(1, 0), 0);
  EXPECT_EQ(steps_of(spec_of({1, 5})).back().percent, 100);
  EXPECT_EQ(steps_of(spec_of({100})).size(), 1U);
}

TEST(PackageRollout, the_order_is_the_same_for_every_revision_and_pins_come_first) {
  PackageRolloutSpec spec = spec_of({1});
  const auto order = cohort_order(spec, targets(50));
  spec.upstream.revision = 9;
  std::vector<TargetView> turned = targets(50);
  std::ranges::reverse(turned);
  EXPECT_EQ(cohort_order(spec, turned), order);
  EXPECT_NE(order.front(), "edge-0/a");  // not the order of names
  spec.first = {"edge-7/a", "edge-3/a", "gone/a"};
  spec.exclude = {"edge-8/a"};
  const auto pinned = cohort_order(spec, turned);
  EXPECT_EQ(pinned[0], "edge-7/a");
  EXPECT_EQ(pinned[1], "edge-3/a");
  EXPECT_EQ(pinned.size(), 49U);
}

TEST(PackageRollout, the_seeds_story_up_to_the_end) {
  PlayedRun run{.spec = spec_of({1, 5})};
  for (RolloutStep& step : run.spec.steps) step.soak = minutes{30};
  run.spec.steps[0].gates = {metric("errors")};
  run.world.targets = targets(200);
  const auto order = cohort_order(run.spec, run.world.targets);
  EXPECT_EQ(run.pass(0), fmt::format("Progressing/0 Approve {} Approve {}", order[0], order[1]));
  EXPECT_TRUE(run.last.is_urgent);
  EXPECT_EQ(run.pass(1), "Progressing/0");
  EXPECT_EQ(run.last.waits.size(), 1U);
  EXPECT_TRUE(run.last.waits[0].starts_with("2 not healthy yet: ")) << run.last.waits[0];
  for (TargetView& one : run.world.targets) one.text = "nobody reports it";
  run.pass(1);
  EXPECT_TRUE(run.last.waits[0].contains(order[0] + " (nobody reports it)")) << run.last.waits[0];
  run.all_healthy();
  EXPECT_EQ(run.pass(2), "Progressing/0");
  EXPECT_EQ(run.last.waits, std::vector<std::string>{"soak of step 1"});
  EXPECT_EQ(run.last.wake, kStart + minutes{32});
  EXPECT_EQ(run.pass(32), "Progressing/0 Ask 1/0/errors");
  run.world.answers["1/0/errors"] = {.kind = gate::Verdict::Kind::Wait, .text = "2 of 5 samples"};
  EXPECT_EQ(run.pass(33), "Progressing/0 Ask 1/0/errors");
  EXPECT_EQ(run.last.waits, std::vector<std::string>{"gate errors: 2 of 5 samples"});
  run.world.answers["1/0/errors"] = {.kind = gate::Verdict::Kind::Pass};
  EXPECT_EQ(run.pass(34), "Progressing/1");
  run.pass(35);
  EXPECT_EQ(run.approved(), 10);
  run.all_healthy();
  run.pass(36);
  EXPECT_EQ(run.pass(66), "Progressing/2");
  run.pass(67);
  EXPECT_EQ(run.approved(), 200);
  run.all_healthy();
  EXPECT_EQ(run.pass(68), "Completed/2");
  EXPECT_EQ(run.record.order.size(), 200U);
}

TEST(PackageRollout, a_target_that_falls_ill_begins_the_soak_anew) {
  PlayedRun run{.spec = spec_of({50})};
  run.spec.steps[0].soak = minutes{10};
  run.world.targets = targets(2);
  run.pass(0);
  run.all_healthy();
  run.pass(1);
  const std::string id = run.record.order[0];
  run.at(id).state = TargetState::Synced;
  run.pass(5);
  run.all_healthy();
  EXPECT_EQ(run.pass(6), "Progressing/0");
  EXPECT_EQ(run.last.wake, kStart + minutes{16});
}

TEST(PackageRollout, no_data_and_failures_stop_it_and_only_a_person_goes_on) {
  PlayedRun run{.spec = spec_of({10, 50})};
  run.spec.steps[0].gates = {metric("errors")};
  run.world.targets = targets(10);
  run.pass(0);
  run.all_healthy();
  run.pass(1);
  run.world.answers["1/0/errors"] = {.kind = gate::Verdict::Kind::NoData, .text = "nothing was measured"};
  EXPECT_EQ(run.pass(2), "Stopped/0");
  EXPECT_EQ(run.record.reason, "GateFailed");
  EXPECT_EQ(run.record.message, "errors: no data: nothing was measured");
  EXPECT_EQ(run.pass(3), "Stopped/0");
  EXPECT_EQ(run.last.waits,
            std::vector<std::string>{"stopped: errors: no data: nothing was measured; a greater spec.attempt goes on"});
  run.spec.attempt = 2;
  EXPECT_EQ(run.pass(4), "Progressing/0 Ask 2/0/errors");  // the old answer does not count
  run.world.answers["2/0/errors"] = {.kind = gate::Verdict::Kind::Pass};
  run.pass(5);
  run.pass(6);
  EXPECT_EQ(run.approved(), 5);
  run.world.targets[0].state = run.world.targets[0].is_approved() ? TargetState::Failed : run.world.targets[0].state;
  for (TargetView& one : run.world.targets) {
    if (one.state == TargetState::Approved) {
      one.state = TargetState::Failed;
      one.text = "CrashLoopBackOff";
      break;
    }
  }
  EXPECT_TRUE(run.pass(7).starts_with("Stopped/1"));
  EXPECT_EQ(run.record.reason, "TooManyFailures");
}

TEST(PackageRollout, forgiven_failures_do_not_hold_it_up) {
  PlayedRun run{.spec = spec_of({50})};
  run.spec.max_failures = json::Value("50%");
  run.world.targets = targets(4);
  run.pass(0);
  run.at(run.record.order[0]).state = TargetState::Failed;
  run.at(run.record.order[1]).state = TargetState::Healthy;
  EXPECT_EQ(run.pass(1), "Progressing/1");
  run.at(run.record.order[1]).state = TargetState::Failed;
  EXPECT_EQ(run.pass(2), "Stopped/1");
}

TEST(PackageRollout, the_way_back_goes_backwards_through_the_same_gates) {
  PlayedRun run{.spec = spec_of({50})};
  run.spec.on_failure = OnRolloutFailure::BackOut;
  run.world.targets = targets(4);
  run.pass(0);
  const std::vector<std::string> order = run.record.order;
  ASSERT_EQ(order.size(), 2U);
  run.at(order[0]).state = TargetState::Failed;
  EXPECT_EQ(run.pass(1), fmt::format("BackingOut/0 BackOut {} BackOut {}", order[1], order[0]));
  run.at(order[0]).back_out = BackOutState::Waiting;  // a gate of its draft is open
  EXPECT_EQ(run.pass(2), fmt::format("BackingOut/0 ApproveBackOut {}", order[1]));
  EXPECT_EQ(run.last.waits, std::vector<std::string>{fmt::format("the way back of {} is not proposed", order[0])});
  run.at(order[0]).back_out = BackOutState::Proposed;
  run.pass(3);
  EXPECT_EQ(run.pass(4), "BackedOut/0");
  EXPECT_EQ(run.approved(), 2);  // no other was approved meanwhile
}

TEST(PackageRollout, what_has_gone_back_is_over_though_its_repository_goes_and_comes_again) {
  PlayedRun run{.spec = spec_of({50})};
  run.spec.on_failure = OnRolloutFailure::BackOut;
  run.world.targets = targets(2);
  run.pass(0);
  run.at(run.record.order.at(0)).state = TargetState::Failed;
  run.pass(1);
  const std::vector<TargetView> there = run.world.targets;
  run.world.targets.clear();
  EXPECT_EQ(run.pass(2), "BackingOut/0");  // unseen is not done
  EXPECT_EQ(run.last.waits.size(), 1U);
  run.world.targets = there;
  run.pass(3);
  EXPECT_EQ(run.pass(4), "BackedOut/0");
  run.world.targets.clear();
  EXPECT_EQ(run.pass(5), "BackedOut/0");
  run.world.targets = targets(2, TargetState::Healthy);  // read again: the log does not know of the way back any more
  EXPECT_EQ(run.pass(6), "BackedOut/0");
  EXPECT_TRUE(run.last.waits.empty());
}

TEST(PackageRollout, without_its_upstream_revision_it_says_so) {
  PlayedRun run{.spec = spec_of({50})};
  run.world.no_upstream = "package bp/a has no published revision 2";
  EXPECT_EQ(run.pass(0), "Progressing/0");
  EXPECT_EQ(run.last.waits.at(0), run.world.no_upstream);
}

TEST(PackageRollout, a_newer_upstream_ends_it_and_its_open_proposals_go_back) {
  PlayedRun run{.spec = spec_of({50})};
  run.world.targets = targets(4);
  run.pass(0);
  run.world.newest_upstream = 3;
  TargetView& held = *std::ranges::find(run.world.targets, TargetState::Proposed, &TargetView::state);
  held.state = TargetState::Held;
  held.text = "two: 0 of 2 approvals";
  run.pass(1);
  EXPECT_EQ(run.record.phase, Phase::Superseded);
  EXPECT_EQ(run.record.message, "revision 3 is published upstream");
  EXPECT_EQ(std::ranges::count_if(run.last.effects, [](const auto& one) { return one.kind == Kind::ReturnToDraft; }), 2);
  EXPECT_EQ(run.pass(2), "Superseded/0");
  run.spec.upstream.revision = 3;  // begins again, in the same order
  const std::string first = run.record.order[0];
  run.world.targets = targets(4);
  EXPECT_TRUE(run.pass(3).starts_with("Progressing/0 Approve " + first));
}

TEST(PackageRollout, a_proposal_that_policies_hold_waits_for_them_and_not_for_being_proposed) {
  PlayedRun run{.spec = spec_of({50})};
  run.world.targets = targets(2);
  const std::string first = cohort_order(run.spec, run.world.targets)[0];
  run.at(first).state = TargetState::Held;
  run.at(first).text = "two: 0 of 2 approvals";
  EXPECT_EQ(run.pass(0), "Progressing/0");
  EXPECT_EQ(run.last.waits, std::vector<std::string>{"1 held by policies: " + first + " (two: 0 of 2 approvals)"});
  run.at(first).state = TargetState::Proposed;
  EXPECT_EQ(run.pass(1), "Progressing/0 Approve " + first);
}

TEST(PackageRollout, what_is_completed_stays_so_when_a_newer_upstream_comes) {
  PlayedRun run{.spec = spec_of({100})};
  run.world.targets = targets(2);
  run.pass(0);
  run.all_healthy();
  run.pass(1);
  ASSERT_EQ(run.record.phase, Phase::Completed);
  run.world.newest_upstream = 3;
  run.world.targets.push_back({.id = "edge-late/a", .revision = "edge-late.a.v1", .state = TargetState::Proposed});
  EXPECT_EQ(run.pass(2), "Completed/0");  // the late one is the newer revision's affair
  EXPECT_EQ(run.last.waits,
            std::vector<std::string>{"revision 3 is published upstream: what joins late is not approved any more"});
  run.world.newest_upstream = 2;
  EXPECT_EQ(run.pass(3), "Completed/0 Approve edge-late/a");
}

TEST(PackageRollout, what_is_not_proposed_holds_nobody_up_unless_a_step_shows_nothing) {
  PlayedRun run{.spec = spec_of({20, 40})};
  run.world.targets = targets(10);
  const auto order = cohort_order(run.spec, run.world.targets);
  run.at(order[1]).state = TargetState::Waiting;
  run.at(order[1]).text = "ipam is False";
  run.at(order[2]).state = TargetState::Waiting;
  run.at(order[3]).state = TargetState::Waiting;
  run.pass(0);
  EXPECT_EQ(run.last.waits[0], fmt::format("1 not proposed: {} (ipam is False)", order[1]));
  run.all_healthy();
  EXPECT_EQ(run.pass(1), "Progressing/1");  // one of two has shown something
  EXPECT_EQ(run.pass(2), "Progressing/1");  // both of the next two wait
  EXPECT_EQ(run.pass(3), "Progressing/1");
  run.at(order[1]).state = TargetState::Proposed;
  EXPECT_EQ(run.pass(4), "Progressing/1 Approve " + order[1]);
  run.at(order[3]).state = TargetState::Proposed;
  EXPECT_EQ(run.pass(5), "Progressing/1 Approve " + order[3]);
  run.all_healthy();
  EXPECT_EQ(run.pass(6), "Progressing/2");
}

TEST(PackageRollout, a_late_joiner_with_a_small_hash_waits_when_its_place_is_taken) {
  PlayedRun run{.spec = spec_of({10, 100})};
  std::vector<TargetView> all = targets(10);
  const auto order = cohort_order(run.spec, all);
  std::erase_if(all, [&](const TargetView& one) { return one.id == order[0]; });
  run.world.targets = all;
  EXPECT_EQ(run.pass(0), "Progressing/0 Approve " + order[1]);
  run.world.targets.push_back({.id = order[0], .revision = "r", .state = TargetState::Proposed});
  EXPECT_EQ(run.pass(1), "Progressing/0");
  EXPECT_EQ(run.last.waits[0], fmt::format("{} waits for the next step: 1 of 10 may be approved and are", order[0]));
  run.all_healthy();
  run.pass(2);
  run.pass(3);
  EXPECT_EQ(run.approved(), 10);
}

TEST(PackageRollout, what_people_approve_by_hand_counts) {
  PlayedRun run{.spec = spec_of({20})};
  run.world.targets = targets(10);
  const auto order = cohort_order(run.spec, run.world.targets);
  run.at(order[9]).state = TargetState::Approved;
  EXPECT_EQ(run.pass(0), "Progressing/0 Approve " + order[0]);
}

TEST(PackageRollout, a_pause_a_deadline_and_a_gate_before) {
  PlayedRun run{.spec = spec_of({50})};
  run.spec.is_paused = true;
  run.spec.step_deadline_seconds = 600;
  run.spec.steps[0].gates = {metric("quiet", "before"), metric("live", "throughout")};
  run.world.targets = targets(4);
  EXPECT_EQ(run.pass(0), "Progressing/0");
  EXPECT_EQ(run.last.waits, std::vector<std::string>{"paused"});
  run.spec.is_paused = false;
  EXPECT_EQ(run.pass(1), "Progressing/0 Ask 1/0/live Ask 1/0/quiet");
  run.world.answers["1/0/quiet"] = {.kind = gate::Verdict::Kind::Pass};
  run.world.answers["1/0/live"] = {.kind = gate::Verdict::Kind::NoData};
  run.pass(2);
  EXPECT_EQ(run.approved(), 2);  // throughout: only its failing counts
  EXPECT_EQ(run.last.wake, kStart + minutes{10});
  EXPECT_EQ(run.pass(10), "Stopped/0");
  EXPECT_EQ(run.record.reason, "StepDeadline");
}

TEST(PackageRollout, what_is_over_takes_late_joiners_and_is_not_stopped_by_later_trouble) {
  PlayedRun run{.spec = spec_of({100})};
  run.spec.on_failure = OnRolloutFailure::BackOut;
  run.world.targets = targets(2);
  run.pass(0);
  run.all_healthy();
  EXPECT_EQ(run.pass(1), "Completed/0");
  run.world.targets[0].state = TargetState::Failed;
  run.world.targets.push_back({.id = "new/a", .revision = "new.a.v1", .state = TargetState::Proposed});
  EXPECT_EQ(run.pass(2), "Completed/0 Approve new/a");
}

TEST(PackageRollout, specs_are_checked) {
  EXPECT_TRUE(check(spec_of({1, 5, 100})).empty());
  PackageRolloutSpec spec = spec_of({5, 5});
  spec.upstream = {};
  spec.max_failures = json::Value("many");
  spec.steps[1].gates = {metric("g", "pre-traffic")};
  std::vector<std::string> fields;
  for (const Cause& cause : check(spec)) fields.push_back(cause.field);
  EXPECT_EQ(fields, (std::vector<std::string>{"spec.upstream.repo", "spec.upstream.package", "spec.upstream.revision",
                                              "spec.maxFailures", "spec.steps[1].percent", "spec.steps[1].gates[g].at"}));
  spec = spec_of({5});
  spec.max_failures = json::Value("150%");
  spec.steps[0].max_failures = json::Value("100%");
  ASSERT_EQ(check(spec).size(), 1U);
  EXPECT_EQ(check(spec)[0].message, "Invalid value: \"150%\": must not be more than 100%");
}

}  // namespace
}  // namespace slipway::delivery::package
