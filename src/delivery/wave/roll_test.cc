#include "delivery/wave/roll.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway::delivery::wave {
namespace {

using Kind = Effect::Kind;
using std::chrono::seconds;

SetView set_of(const std::string& id, std::int64_t size) {
  SetView view;
  view.id = view.uid = id;
  view.desired = view.present = view.ready = size;
  return view;
}

RollBatch batch_of(std::int64_t pods) {
  RollBatch batch;
  batch.sizes.amount = Amount{.number = pods};
  return batch;
}

/// A world in which workloads follow at once and every gate passes, unless a test says otherwise. It counts what is written.
class Stage {
 public:
  Stage(Shape shape, std::vector<SetView> sources, SetView target) {
    settings.shape = shape;
    world.sources = std::move(sources);
    world.target = std::move(target);
    world.target_revision = "new";
  }

  Decision pass() {
    Decision decision = decide(settings, record, world);
    records_ += decision.is_urgent ? 1 : 0;
    record = decision.record;
    world.answers.clear();
    for (const Effect& effect : decision.effects) carry_out(effect);
    return decision;
  }

  /// Until nothing changes any more, time included.
  Decision run() {
    for (int i = 0; i < 500; ++i) {
      const Record before = record;
      Decision decision = pass();
      if (decision.effects.empty() && record == before) {
        if (!decision.wake || record.position().is_end() || !follows_time) return decision;
        world.now = *decision.wake;
      }
    }
    ADD_FAILURE() << "it does not come to rest";
    return {};
  }

  SetView& set(const std::string& id) {
    if (world.target->id == id) return *world.target;
    return *std::ranges::find(world.sources, id, &SetView::id);
  }

  Settings settings;
  World world;
  Record record;
  bool pods_become_ready = true, follows_time = false;
  GateAnswer answer{.kind = GateAnswer::Kind::Pass};
  std::int64_t records_ = 0, resizes_ = 0;
  std::vector<Effect> done;  // all effects

 private:
  void carry_out(const Effect& effect) {
    done.push_back(effect);
    if (effect.kind == Kind::Ask) world.answers[effect.key] = answer;
    if (effect.kind == Kind::Shift) world.traffic = {.weight = effect.number, .is_accepted = true};
    if (effect.kind == Kind::Restore) world.traffic.is_restored = true;
    if (effect.set.empty() || effect.kind == Kind::Shift) return;
    SetView& view = set(effect.set);
    if (effect.kind == Kind::Release) view.owner = Owner::Nobody, view.stamp = view.stamped = 0;
    if (effect.kind == Kind::Undo) view.asked_new = view.updated = view.updated_ready = 0;
    if (effect.kind == Kind::Remove) {
      for (const std::string& pod : effect.pods) std::erase(view.old_pods, pod);
      view.updated = view.updated_ready = view.desired - static_cast<std::int64_t>(view.old_pods.size());
    }
    if (effect.kind != Kind::Claim && effect.kind != Kind::Resize && effect.kind != Kind::Renew) return;
    view.owner = Owner::Us, view.stamp = effect.stamp, view.stamped = effect.number;
    const bool is_size = settings.shape == Shape::Pair || settings.shape == Shape::Scale || effect.kind == Kind::Resize;
    resizes_ += effect.kind == Kind::Claim ? 0 : 1;
    if (is_size) {
      view.present = view.desired = effect.number;
      view.ready = pods_become_ready ? view.present : std::min(view.ready, view.present);
    } else {
      view.asked_new = effect.number;
      view.updated = effect.number;
      if (pods_become_ready) view.updated_ready = view.updated;
    }
  }
};

Stage pair_of(std::int64_t size, std::vector<std::int64_t> batches) {
  Stage stage(Shape::Pair, {set_of("old", size)}, set_of("new", 0));
  for (const std::int64_t pods : batches) stage.settings.batches.push_back(batch_of(pods));
  return stage;
}

bool waits_for(const Decision& decision, std::string_view on) {
  return std::ranges::any_of(decision.waits, [&](const Waiting& wait) { return wait.on == on; });
}

TEST(Roll, new_pods_count_before_they_are_ready_but_not_beyond_the_batch) {
  Stage stage(Shape::Pair, {set_of("old", 10)}, set_of("new", 0));
  stage.settings.batches = {batch_of(3), batch_of(7)};
  stage.pods_become_ready = false;
  stage.run();
  EXPECT_EQ(stage.record.upgraded, 0) << "none is there yet";
  stage.world.target->present = stage.world.target->updated = 2;
  stage.world.target->ready = 1;
  const Decision decision = stage.pass();
  EXPECT_EQ(decision.record.upgraded, 2);
  EXPECT_EQ(decision.record.upgraded_ready, 1);
  EXPECT_FALSE(decision.is_urgent) << "a count is written with what comes next";
  stage.world.target->updated = 4;
  EXPECT_EQ(stage.pass().record.upgraded, 3);
}

TEST(Roll, a_batch_costs_two_records_and_one_write_per_workload) {
  Stage stage = pair_of(10, {2, 2, 2, 2, 2});
  stage.settings.batches[0].gates = {{.name = "smoke"}};
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
  EXPECT_EQ(stage.set("new").desired, 10);
  EXPECT_EQ(stage.set("old").desired, 0);
  EXPECT_EQ(stage.resizes_, 10);
  EXPECT_LE(stage.records_, 2 * 5 + 3);  // the claim, the release, the end
}

TEST(Roll, a_target_size_above_the_sources_gives_the_target_the_difference_first) {
  Stage stage = pair_of(4, {3, 3});
  stage.settings.target_size = 6;
  stage.settings.partition = 0;
  stage.run();
  EXPECT_EQ(stage.set("new").desired, 3);
  EXPECT_EQ(stage.set("old").desired, 3);
  stage.settings.partition = std::nullopt;
  stage.run();
  EXPECT_EQ(stage.set("new").desired, 6);
}

TEST(Roll, sources_are_drained_the_oldest_first) {
  Stage stage(Shape::Pair, {set_of("oldest", 2), set_of("older", 2)}, set_of("new", 0));
  stage.settings.batches = {batch_of(3), batch_of(1)};
  stage.settings.partition = 0;
  stage.run();
  EXPECT_EQ(stage.set("oldest").desired, 0);
  EXPECT_EQ(stage.set("older").desired, 1);
}

TEST(Roll, waits_for_a_target_that_is_absent_and_for_a_status_that_is_old) {
  Stage stage = pair_of(2, {1, 1});
  stage.world.target->uid.clear();
  stage.world.target_id = "Deployment/new";
  const Decision absent = stage.run();
  ASSERT_TRUE(waits_for(absent, "target"));
  EXPECT_EQ(absent.waits.front().text, "Deployment/new cannot be found");
  EXPECT_TRUE(stage.done.empty());
  stage.world.target->uid = "new";
  stage.settings.partition = 0;
  stage.run();
  stage.settings.partition = std::nullopt;
  stage.world.target->is_current = false;
  EXPECT_TRUE(waits_for(stage.run(), "status of new"));
  EXPECT_EQ(stage.set("old").desired, 1);
}

TEST(Roll, refuses_a_workload_that_has_another_owner_without_a_write) {
  Stage stage = pair_of(2, {2});
  stage.set("old").owner = Owner::Other;
  stage.set("old").owner_name = "RolloutTrait/other";
  const Decision decision = stage.run();
  ASSERT_TRUE(waits_for(decision, "owner of old"));
  EXPECT_EQ(decision.waits.front().text, "old belongs to RolloutTrait/other");
  EXPECT_TRUE(stage.done.empty());
}

TEST(Roll, a_bad_plan_fails_before_anything_is_written) {
  Stage stage = pair_of(5, {2, 2});
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_EQ(stage.record.failure, "rolloutBatches: the batches make 4 pods, but 5 are to change");
  EXPECT_TRUE(stage.done.empty());
}

TEST(Roll, a_finished_rollout_acts_again_only_on_another_target_or_size_or_a_retry) {
  Stage stage = pair_of(2, {2});
  stage.run();
  stage.done.clear();
  stage.set("new").desired = 5;
  stage.run();
  EXPECT_TRUE(stage.done.empty());
  stage.world.retries = true;
  stage.pass();
  EXPECT_EQ(stage.record.attempt, 2);
}

TEST(Roll, a_revert_of_a_retry_undoes_the_attempt_before_too) {
  Stage stage = pair_of(4, {2, 2});
  stage.settings.partition = 0;
  stage.run();
  stage.world.aborts = true;
  stage.run();
  ASSERT_EQ(stage.record.rolling, Rolling::Failed);
  ASSERT_EQ(stage.set("old").desired, 2);
  stage.world.aborts = false;
  stage.world.retries = true;
  stage.pass();
  stage.world.retries = false;
  stage.run();
  stage.world.reverts = true;
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_EQ(stage.set("old").desired, 4);
  EXPECT_EQ(stage.set("new").desired, 0);
}

TEST(Roll, a_gate_throughout_is_asked_while_the_rollout_is_held) {
  const auto is_asked = [](const Decision& decision) {
    return std::ranges::any_of(decision.effects, [](const Effect& effect) { return effect.key == "-/throughout/errors"; });
  };
  for (const bool is_paused : {false, true}) {
    Stage stage = pair_of(4, {2, 2});
    stage.settings.gates = {{.name = "errors", .at = Moment::Throughout}};
    stage.settings.on_failure = OnFailure::Revert;
    stage.settings.partition = 0;
    stage.answer.kind = GateAnswer::Kind::Wait;
    for (int i = 0; i < 20; ++i) stage.pass();
    ASSERT_EQ(stage.record.batch, BatchState::Ready);
    stage.settings.is_paused = is_paused;
    EXPECT_TRUE(is_asked(stage.pass()));
    EXPECT_TRUE(waits_for(stage.pass(), is_paused ? "pause" : "partition 0"));
    stage.answer = {.kind = GateAnswer::Kind::Fail, .text = "too many"};
    stage.pass();
    const Decision failing = stage.pass();
    EXPECT_EQ(stage.record.failure, "gate errors failed: too many");
    EXPECT_EQ(waits_for(failing, "pause"), is_paused) << "a revert begins when the pause is over";
    stage.settings.is_paused = false;
    for (int i = 0; i < 20; ++i) stage.pass();
    EXPECT_EQ(stage.record.rolling, Rolling::Failed);
    EXPECT_EQ(stage.set("old").desired, 4);
  }
}

TEST(Roll, a_deadline_without_data_is_decided_by_its_own_rule) {
  struct Row {
    OnDeadline on_deadline;
    std::optional<OnDeadline> on_no_data;
    bool has_no_data;
    std::string_view state;
  };
  const Row rows[] = {
      {OnDeadline::Fail, OnDeadline::Pass, true, "Passed"},  {OnDeadline::Pass, OnDeadline::Fail, true, "Failed"},
      {OnDeadline::Fail, OnDeadline::Pass, false, "Failed"}, {OnDeadline::Pass, OnDeadline::Fail, false, "Passed"},
      {OnDeadline::Pass, std::nullopt, true, "Passed"},
  };
  for (const Row& row : rows) {
    Stage stage = pair_of(2, {2});
    stage.settings.batches[0].gates = {{.name = "errors",
                                        .needs_new_pods = true,
                                        .deadline = seconds{5},
                                        .on_deadline = row.on_deadline,
                                        .on_no_data = row.on_no_data}};
    stage.answer = {.kind = GateAnswer::Kind::Wait, .text = "there is no data", .has_no_data = row.has_no_data};
    for (int i = 0; i < 20; ++i) stage.pass();
    ASSERT_EQ(stage.record.gates.back().state, "Asked");
    stage.world.answers.clear();  // the last answer is recorded
    stage.world.now = Time{seconds{6}};
    stage.pass();
    const auto gate = std::ranges::find(stage.record.gates, "0/after/errors", &GateRecord::key);
    EXPECT_EQ(gate->state, row.state);
  }
}

TEST(Roll, a_size_that_somebody_else_sets_is_put_back_once) {
  Stage stage = pair_of(4, {2, 2});
  stage.settings.target_size = 4;
  stage.settings.partition = 0;
  stage.run();
  stage.settings.partition = std::nullopt;
  stage.pods_become_ready = false;
  stage.run();
  ASSERT_EQ(stage.set("new").desired, 4);
  stage.set("old").desired = 5, stage.set("old").resized_by = "horizontal-pod-autoscaler";
  stage.run();
  EXPECT_EQ(stage.set("old").desired, 2);
  stage.set("old").desired = 5;
  const Decision decision = stage.run();
  ASSERT_TRUE(waits_for(decision, "SizeContested"));
  EXPECT_EQ(decision.waits.front().text, "horizontal-pod-autoscaler has set old to 5 pods again, though targetSize is given");
  EXPECT_EQ(stage.set("old").desired, 5);
}

TEST(Roll, an_outside_resize_moves_the_whole_where_no_size_is_given) {
  Stage stage = pair_of(4, {2, 2});
  stage.settings.partition = 0;
  stage.run();
  stage.settings.partition = std::nullopt;
  stage.set("old").desired = stage.set("old").present = stage.set("old").ready = 5;
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
  EXPECT_EQ(stage.record.target_size, 7);
  EXPECT_EQ(stage.set("new").desired, 7);
}

TEST(Roll, a_lowered_partition_holds_and_does_not_fail) {
  Stage stage = pair_of(3, {1, 1, 1});
  stage.settings.partition = 1;
  stage.run();
  stage.settings.partition = 0;
  stage.done.clear();
  EXPECT_TRUE(waits_for(stage.run(), "partition 0"));
  EXPECT_TRUE(stage.done.empty());
  EXPECT_EQ(stage.record.rolling, Rolling::RollingInBatches);
}

TEST(Roll, pods_that_do_not_become_ready_fail_the_batch_and_a_pause_does_not_count) {
  Stage stage = pair_of(2, {2});
  stage.pods_become_ready = false;
  stage.run();
  stage.world.target->trouble = "pod new-x: ImagePullBackOff";
  stage.settings.is_paused = true;
  stage.world.now = stage.world.now.time() + seconds{1000};
  stage.run();
  stage.settings.is_paused = false;
  EXPECT_EQ(stage.run().waits.back().text, "0 of 2 new pods are ready; pod new-x: ImagePullBackOff");
  EXPECT_EQ(stage.record.rolling, Rolling::RollingInBatches);
  stage.world.now = stage.world.now.time() + seconds{600};
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_EQ(stage.record.failure, "batch 0 took too long: 0 of 2 new pods are ready; pod new-x: ImagePullBackOff");
  EXPECT_EQ(stage.set("new").desired, 2);  // Stop: sizes as they stand
  EXPECT_EQ(stage.set("new").owner, Owner::Nobody);
}

TEST(Roll, a_failure_is_reverted_to_the_original_sizes_and_weights) {
  Stage stage = pair_of(4, {2, 2});
  stage.settings.has_traffic = true;
  stage.settings.on_failure = OnFailure::Revert;
  stage.settings.partition = 0;
  stage.follows_time = true;
  stage.run();
  ASSERT_EQ(stage.world.traffic.weight, 50);
  stage.world.aborts = true;
  stage.settings.partition = std::nullopt;
  stage.pass();
  stage.world.aborts = false;
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_TRUE(stage.record.is_reverting);
  EXPECT_EQ(stage.set("old").desired, 4);
  EXPECT_EQ(stage.set("new").desired, 0);
  EXPECT_EQ(stage.world.traffic.weight, 0);
  const auto first_of = [&](std::string_view id, std::int64_t number) {
    return std::ranges::find_if(stage.done,
                                [&](const Effect& e) { return e.kind == Kind::Resize && e.set == id && e.number == number; });
  };
  EXPECT_LT(first_of("old", 4), first_of("new", 0));
}

TEST(Roll, a_revert_undoes_batch_after_batch) {
  using Steps = std::vector<std::pair<std::string, std::int64_t>>;
  const auto steps_of = [](Strategy strategy) {
    Stage stage = pair_of(4, {1, 1, 2});
    stage.settings.strategy = strategy;
    stage.settings.on_failure = OnFailure::Revert;
    stage.settings.batches.back().gates = {{.name = "look"}};
    stage.answer = {.kind = GateAnswer::Kind::Wait};
    for (int i = 0; i < 50; ++i) stage.pass();
    stage.done.clear();
    stage.world.aborts = true;
    stage.pass();
    stage.world.aborts = false;
    stage.run();
    EXPECT_EQ(stage.record.rolling, Rolling::Failed);
    Steps steps;
    for (const Effect& effect : stage.done) {
      if (effect.kind == Kind::Resize) steps.emplace_back(effect.set, effect.number);
    }
    return steps;
  };
  const Steps increase = {{"old", 2}, {"new", 2}, {"old", 3}, {"new", 1}, {"old", 4}, {"new", 0}};
  EXPECT_EQ(steps_of(Strategy::IncreaseFirst), increase);
  const Steps decrease = {{"new", 2}, {"old", 2}, {"new", 1}, {"old", 3}, {"new", 0}, {"old", 4}};
  EXPECT_EQ(steps_of(Strategy::DecreaseFirst), decrease);
}

TEST(Roll, a_failed_rollout_that_is_deleted_is_reverted_then) {
  Stage stage = pair_of(4, {2, 2});
  stage.settings.reverts_on_delete = true;
  stage.settings.batches[0].gates = {{.name = "smoke"}};
  stage.answer = {.kind = GateAnswer::Kind::Fail, .text = "no"};
  stage.run();
  ASSERT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_EQ(stage.record.failure, "gate smoke of batch 0 failed: no");
  EXPECT_EQ(stage.set("old").desired, 2);
  stage.world.is_deleted = true;
  stage.run();
  EXPECT_EQ(stage.set("old").desired, 4);
  EXPECT_EQ(stage.set("new").desired, 0);
  EXPECT_EQ(stage.set("old").owner, Owner::Nobody);
}

TEST(Roll, traffic_leaves_before_the_last_old_pods_when_they_go_first) {
  Stage stage = pair_of(3, {3});
  stage.settings.strategy = Strategy::DecreaseFirst;
  stage.settings.has_traffic = true;
  stage.follows_time = true;
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
  std::vector<std::pair<std::string, std::int64_t>> steps;
  for (const Effect& effect : stage.done) {
    if (effect.kind == Kind::Resize || (effect.kind == Kind::Shift && effect.number > 0)) {
      steps.emplace_back(effect.kind == Kind::Shift ? "weight" : effect.set, effect.number);
    }
  }
  const std::vector<std::pair<std::string, std::int64_t>> wanted = {
      {"old", 1}, {"new", 2}, {"weight", 100}, {"old", 0}, {"new", 3}};
  EXPECT_EQ(steps, wanted);
}

TEST(Roll, instance_interval_spreads_the_starts) {
  Stage stage = pair_of(3, {3});
  stage.settings.batches[0].instance_interval = seconds{5};
  stage.follows_time = true;
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
  EXPECT_EQ(stage.world.now.time(), Time{} + seconds{10});
}

/// Three batches of one pod, a minute apart.
class Spread : public testing::Test {
 public:
  Spread() {
    for (RollBatch& batch : stage_.settings.batches) batch.instance_interval = seconds{60};
  }
  /// Until the new set has so many pods: when that was decided by a clock that jumps from wake to wake.
  Time until_size(std::int64_t size) {
    for (int i = 0; i < 100 && stage_.set("new").desired < size; ++i) {
      const Record before = stage_.record;
      const Decision decision = stage_.pass();
      if (decision.is_urgent) durable_ = decision.record;
      if (!decision.effects.empty() || !(stage_.record == before)) continue;
      if (!decision.wake) break;
      stage_.world.now = *decision.wake;
    }
    EXPECT_EQ(stage_.set("new").desired, size);
    return stage_.world.now;
  }
  void crash() { stage_.record = durable_; }

 protected:
  Stage stage_ = pair_of(3, {1, 1, 1});
  Record durable_;
};

TEST_F(Spread, a_batch_costs_two_records) {
  stage_.follows_time = true;
  stage_.run();
  EXPECT_EQ(stage_.record.rolling, Rolling::Succeeded);
  EXPECT_EQ(stage_.world.now.time(), Time{} + seconds{120});
  EXPECT_LE(stage_.records_, 2 * 3 + 3);  // the claim, the release, the end
}

TEST_F(Spread, a_start_that_was_not_recorded_counts_when_it_is_seen) {
  until_size(1);
  EXPECT_EQ(until_size(2), Time{} + seconds{60});
  crash();
  stage_.world.now = stage_.world.now.time() + seconds{5};
  EXPECT_EQ(until_size(3), Time{} + seconds{125});
}

TEST_F(Spread, a_planned_start_is_written_once_after_a_crash_before_it) {
  until_size(1);
  while (!stage_.pass().wake) durable_ = stage_.record;
  ASSERT_TRUE(stage_.record.is_start_planned);
  durable_ = stage_.record;
  crash();
  EXPECT_EQ(until_size(2), Time{} + seconds{60});
  EXPECT_EQ(stage_.set("new").desired, 2);
}

TEST_F(Spread, nothing_that_was_planned_is_written_during_a_pause) {
  until_size(1);
  while (!stage_.record.is_start_planned) stage_.pass();
  stage_.settings.is_paused = true;
  stage_.world.now = stage_.world.now.time() + seconds{300};
  EXPECT_TRUE(stage_.pass().effects.empty());
  stage_.settings.is_paused = false;
  EXPECT_EQ(until_size(2), Time{} + seconds{300});
}

TEST_F(Spread, gates_are_asked_throughout_the_interval_and_may_fail_it) {
  stage_.settings.gates = {{.name = "errors", .at = Moment::Throughout}};
  stage_.settings.on_failure = OnFailure::Revert;
  until_size(1);
  while (!stage_.record.is_start_planned) stage_.pass();
  stage_.answer.kind = GateAnswer::Kind::Fail;
  stage_.run();
  EXPECT_EQ(stage_.record.rolling, Rolling::Failed);
  EXPECT_EQ(stage_.set("new").desired, 0);
  EXPECT_EQ(stage_.set("old").desired, 3);
}

TEST(Roll, a_retry_does_not_ask_for_pods_that_have_gone_already) {
  Stage stage = pair_of(4, {1, 3});
  stage.settings.batches[0].sizes = {.amount = {}, .pods = {"old-b"}};
  stage.world.absent_pods = {"old-b"};
  EXPECT_TRUE(waits_for(stage.run(), "podList"));
  EXPECT_EQ(stage.set("new").desired, 0);
  stage.world.absent_pods.clear();
  stage.settings.partition = 0;
  stage.run();
  stage.world.absent_pods = {"old-b"};
  stage.world.aborts = true;
  stage.run();
  stage.world.aborts = false;
  stage.world.retries = true;
  stage.pass();
  stage.world.retries = false;
  stage.settings.partition = std::nullopt;
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
}

TEST(Roll, a_pod_list_names_the_pods_that_go) {
  Stage stage = pair_of(3, {});
  stage.settings.batches = {RollBatch{.sizes = {.amount = {}, .pods = {"old-b"}}}, RollBatch{}};
  stage.settings.partition = 0;
  stage.run();
  const auto shrink =
      std::ranges::find_if(stage.done, [](const Effect& e) { return e.kind == Kind::Resize && e.set == "old"; });
  ASSERT_NE(shrink, stage.done.end());
  EXPECT_EQ(shrink->number, 2);
  EXPECT_EQ(shrink->pods, std::vector<std::string>{"old-b"});
}

TEST(InPlace, raises_the_number_of_new_pods_to_each_goal) {
  Stage stage(Shape::InPlace, {}, set_of("set", 10));
  stage.settings.batches = {batch_of(1), batch_of(2), batch_of(7)};
  stage.settings.partition = 1;
  stage.run();
  EXPECT_EQ(stage.set("set").asked_new, 3);
  stage.settings.partition = std::nullopt;
  stage.run();
  EXPECT_EQ(stage.set("set").asked_new, 10);
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
}

TEST(InPlace, what_a_revert_puts_back_is_no_other_target) {
  Stage stage(Shape::InPlace, {}, set_of("set", 4));
  stage.settings.batches = {batch_of(2), batch_of(2)};
  stage.settings.on_failure = OnFailure::Revert;
  stage.settings.partition = 0;
  stage.run();
  stage.world.aborts = true;
  stage.pass();
  stage.world.aborts = false;
  stage.world.target_revision = "old";
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_EQ(stage.set("set").updated, 0);
  EXPECT_EQ(stage.record.attempt, 1);
}

TEST(Replace, removes_named_pods_first_and_as_many_as_the_batch_has) {
  Stage stage(Shape::Replace, {}, set_of("daemons", 3));
  stage.set("daemons").old_pods = {"a", "b", "c"};
  stage.settings.batches = {RollBatch{.sizes = {.amount = {}, .pods = {"c"}}}, RollBatch{}};
  stage.settings.partition = 0;
  stage.run();
  EXPECT_EQ(stage.set("daemons").old_pods, (std::vector<std::string>{"a", "b"}));
  stage.settings.partition = std::nullopt;
  stage.run();
  EXPECT_TRUE(stage.set("daemons").old_pods.empty());
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
}

TEST(Fields, are_written_and_no_sizes) {
  Stage stage(Shape::Fields, {}, set_of("hpa", 10));
  stage.settings.batches = {batch_of(4), batch_of(6)};
  std::vector<std::string> texts;
  for (int i = 0; i < 10; ++i) {
    for (const Waiting& wait : stage.pass().waits) texts.push_back(wait.text);
  }
  EXPECT_TRUE(std::ranges::find(texts, "fields are being written") != texts.end());
  EXPECT_TRUE(std::ranges::find(texts, "sizes are being written") == texts.end());
}

TEST(Fields, go_to_each_goal_and_have_nothing_to_be_ready) {
  Stage stage(Shape::Fields, {}, set_of("hpa", 10));
  stage.settings.num_batches = 2;
  stage.settings.partition = 0;
  stage.run();
  EXPECT_EQ(stage.set("hpa").asked_new, 5);
  stage.settings.partition = std::nullopt;
  stage.run();
  EXPECT_EQ(stage.set("hpa").asked_new, 10);
}

TEST(Scale, goes_up_and_down_by_the_batches) {
  for (const auto& [from, middle, to] : {std::tuple(2, 4, 8), std::tuple(8, 6, 2)}) {
    Stage stage(Shape::Scale, {}, set_of("web", from));
    stage.settings.target_size = to;
    stage.settings.batches = {batch_of(2), batch_of(4)};
    stage.settings.partition = 0;
    stage.run();
    EXPECT_EQ(stage.set("web").desired, middle);
    stage.settings.partition = std::nullopt;
    stage.run();
    EXPECT_EQ(stage.set("web").desired, to);
    EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
  }
}

TEST(Gates, are_asked_in_order_at_their_moments_and_once_passed_not_again) {
  Stage stage = pair_of(2, {1, 1});
  stage.settings.gates = {{.name = "init", .at = Moment::Initialize}, {.name = "end", .at = Moment::Finalize}};
  for (RollBatch& batch : stage.settings.batches) {
    batch.gates = {{.name = "b", .at = Moment::AfterBatch}, {.name = "a", .at = Moment::BeforeBatch}};
    batch.gates.push_back({.name = "t", .at = Moment::BeforeTraffic});
  }
  stage.run();
  std::vector<std::string> keys;
  for (const Effect& effect : stage.done) {
    if (effect.kind == Kind::Ask) keys.push_back(effect.key);
  }
  const std::vector<std::string> wanted = {"-/initialize/init", "0/before/a",      "0/pre-traffic/t", "0/after/b",
                                           "1/before/a",        "1/pre-traffic/t", "1/after/b",       "-/finalize/end"};
  EXPECT_EQ(keys, wanted);
}

TEST(Gates, a_deadline_holds_fails_or_passes) {
  for (const auto& [on_deadline, wanted] :
       {std::pair(OnDeadline::Hold, Rolling::RollingInBatches), std::pair(OnDeadline::Fail, Rolling::Failed),
        std::pair(OnDeadline::Pass, Rolling::Succeeded)}) {
    Stage stage = pair_of(1, {1});
    stage.settings.batches[0].gates = {{.name = "slow", .deadline = seconds{60}, .on_deadline = on_deadline}};
    stage.answer = {.kind = GateAnswer::Kind::Wait, .text = "not yet"};
    for (int i = 0; i < 5; ++i) stage.pass();
    EXPECT_EQ(stage.record.rolling, Rolling::RollingInBatches);
    stage.world.now = stage.world.now.time() + seconds{60};
    for (int i = 0; i < 5; ++i) stage.pass();
    EXPECT_EQ(stage.record.rolling, wanted);
  }
}

TEST(Gates, that_judge_new_pods_are_skipped_where_a_batch_adds_none) {
  Stage stage = pair_of(2, {0, 2});
  stage.settings.batches[0].gates = {{.name = "metric", .needs_new_pods = true}, {.name = "hook"}};
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
  ASSERT_EQ(stage.record.gates.size(), 2u);
  EXPECT_EQ(stage.record.gates[0].state, "Skipped");
  EXPECT_EQ(stage.record.gates[0].text, "batch 0 adds no pod that could be judged");
  EXPECT_EQ(stage.record.gates[1].state, "Passed");
}

TEST(Gates, throughout_only_a_failure_counts) {
  Stage stage = pair_of(2, {1, 1});
  stage.settings.gates = {{.name = "errors", .at = Moment::Throughout}};
  stage.pods_become_ready = false;
  for (int i = 0; i < 6; ++i) stage.pass();
  EXPECT_EQ(stage.record.rolling, Rolling::RollingInBatches);
  stage.world.answers["-/throughout/errors"] = {.kind = GateAnswer::Kind::Fail, .text = "3 % errors"};
  stage.pass();
  EXPECT_EQ(stage.record.failure, "gate errors failed: 3 % errors");
}

TEST(Gates, a_refused_hook_of_the_end_does_not_keep_workloads) {
  Stage stage = pair_of(1, {1});
  stage.settings.gates = {{.name = "end", .at = Moment::Finalize}};
  stage.answer = {.kind = GateAnswer::Kind::Fail, .text = "no"};
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_EQ(stage.set("new").owner, Owner::Nobody);
}

TEST(CheckSettings, refuses_what_cannot_be_kept) {
  Settings settings;
  settings.batches = {batch_of(1)};
  settings.shape = Shape::InPlace;
  EXPECT_EQ(check_settings(settings, 3, 2).front(),
            "targetSize 2 differs from the workload's size 3: a rollout in place does not scale");
  settings = {};
  settings.strategy = Strategy::DecreaseFirst, settings.has_traffic = true, settings.num_batches = 1;
  EXPECT_EQ(check_settings(settings, 0, 1).size(), 1u);
  EXPECT_TRUE(check_settings(settings, 0, 2).empty());
}

TEST(Roll, the_size_that_an_attempt_begins_with_is_that_of_the_whole) {
  Stage stage = pair_of(3, {1, 4});
  stage.settings.first_size = 5;
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
  EXPECT_EQ(stage.set("new").desired, 5);
  EXPECT_EQ(stage.set("old").desired, 0);
}

TEST(Roll, what_yields_gives_everything_back_as_it_stands_but_for_the_pods_of_its_batch) {
  for (const OnFailure on_failure : {OnFailure::Stop, OnFailure::Revert}) {
    Stage stage = pair_of(4, {2, 2});
    stage.settings.on_failure = on_failure;
    stage.settings.partition = 0;
    stage.run();
    stage.settings.partition.reset();
    stage.pods_become_ready = false;
    stage.run();
    EXPECT_EQ(stage.set("old").desired + stage.set("new").desired, 6) << "the second batch has come";
    stage.world.yields_to = "a-v4";
    stage.settings.leaves_whole = true;
    stage.pass();
    stage.world.yields_to.clear();
    stage.run();
    EXPECT_EQ(stage.record.rolling, Rolling::Failed);
    EXPECT_EQ(stage.record.failure, "a-v4 delivers the component now");
    EXPECT_EQ(stage.set("old").desired, 2);
    EXPECT_EQ(stage.set("new").desired, 2);
    EXPECT_EQ(stage.set("old").owner, Owner::Nobody);
    EXPECT_EQ(stage.set("new").owner, Owner::Nobody);
  }
}

/// Batches of whole numbers were made for the size before: they are followed as far as they reach, up and down.
TEST(Roll, goes_to_another_size_by_batches_that_were_made_for_the_one_before) {
  for (const std::int64_t size : {3, 7, 12}) {
    Stage stage = pair_of(6, {2, 4});
    stage.settings.target_size = 6;
    stage.run();
    EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
    stage.settings.target_size = size;
    stage.run();
    EXPECT_EQ(stage.record.rolling, Rolling::Succeeded) << stage.record.failure;
    EXPECT_EQ(stage.set("new").desired, size);
    stage.settings.shape = Shape::Scale;  // what it replaced is gone by now
    stage.world.sources.clear();
    stage.settings.target_size = 8;
    stage.run();
    EXPECT_EQ(stage.record.rolling, Rolling::Succeeded) << stage.record.failure;
    EXPECT_EQ(stage.set("new").desired, 8);
  }
}

TEST(Roll, begins_no_attempt_while_it_is_held_back) {
  Stage stage = pair_of(4, {2, 2});
  stage.world.held_back = "Application a delivers a-v2 itself";
  const Decision decision = stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::LocatingTarget);
  EXPECT_EQ(stage.record.attempt, 0);
  ASSERT_EQ(decision.waits.size(), 1U);
  EXPECT_EQ(decision.waits[0].on, "application");
  stage.world.held_back.clear();
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Succeeded);
}

TEST(Roll, what_reverts_stops_that_when_it_is_to_yield) {
  Stage stage = pair_of(4, {2, 2});
  stage.settings.on_failure = OnFailure::Revert;
  stage.settings.partition = 0;
  stage.run();
  stage.pods_become_ready = false;
  stage.world.reverts = true;
  stage.pass();
  stage.world.reverts = false;
  stage.world.yields_to = "a-v4";
  stage.settings.leaves_whole = true;
  stage.pass();
  stage.world.yields_to.clear();
  stage.run();
  EXPECT_EQ(stage.record.rolling, Rolling::Failed);
  EXPECT_FALSE(stage.record.is_reverting);
  EXPECT_EQ(stage.set("old").owner, Owner::Nobody);
}

}  // namespace
}  // namespace slipway::delivery::wave
