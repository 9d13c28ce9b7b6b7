// Batches as Argo Rollouts and OpenKruise count and check them, where they mean the same as ours.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <iostream>

#include "delivery/wave/corpus_test.h"
#include "delivery/wave/roll.h"

namespace slipway::delivery::wave {
namespace {

using json::Value;

/// One batch of `desired` pods of one object that is updated in place, which waits for its pods; that many are new and ready.
/// Whether the batch is available then.
bool is_available(std::int64_t desired, std::int64_t updated, std::int64_t ready, Amount max_unavailable) {
  Settings settings;
  settings.shape = Shape::InPlace;
  RollBatch& batch = settings.batches.emplace_back();
  batch.sizes.amount = Amount{.number = desired};
  batch.max_unavailable = max_unavailable;
  settings.batch_deadline = std::chrono::hours{1};
  SetView view;
  view.id = view.uid = "target";
  view.desired = view.present = view.ready = desired;
  view.updated = updated, view.updated_ready = ready;
  view.asked_new = view.stamped = desired;
  view.stamp = 1;
  view.owner = Owner::Us;
  Record record;
  record.attempt = 1;
  record.rolling = Rolling::RollingInBatches;
  record.batch = BatchState::Verifying;
  record.goals = {desired};
  record.target_size = record.original_size = desired;
  SetRecord& set = record.target.emplace();
  set.id = set.uid = "target";
  set.original = set.before = set.written = desired;
  set.stamp = set.claim = 1, set.is_claimed = true;
  World world;
  world.target = view;
  const Position after = decide(settings, record, world).record.position();
  return after.rolling != Rolling::RollingInBatches || after.batch != BatchState::Verifying;
}

/// What a threshold of pods that must be there leaves out: 90 % of 10 is 1.
Amount all_but(const Value& threshold, std::int64_t desired) {
  const std::int64_t value = threshold["Value"].as_int();
  if (threshold["Type"].as_string() == "Percent") return {.number = 100 - value, .is_percent = true};
  return {.number = value < 0 ? 0 : desired - value};
}

template <class Play>
void play(const std::string& name, const std::string& group_name, Play play_row) {
  const Value file = corpus(name + ".json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0;
  for (const Value& row : group(file, group_name).items()) {
    const bool is_same = play_row(row);
    EXPECT_TRUE(is_same) << json::print(row);
    passed += is_same ? 1 : 0;
    ++all;
  }
  std::cout << "rollouts/" << name << "/" << group_name << " " << passed << "/" << all << "\n";
}

TEST(ForeignCorpus, a_batch_is_available_at_the_threshold_of_argo) {
  play("argo-replicas", "TestAllReplicaProgressThresholdMet", [](const Value& row) {
    const std::int64_t desired = row["desired"].as_int();
    if (row["rs"].is_null()) return !row["want"].as_bool();  // no workload at all: the target is not found
    const std::int64_t ready = row["rs"]["Status"]["AvailableReplicas"].as_int();
    return is_available(desired, desired, ready, all_but(row["threshold"], desired)) == row["want"].as_bool();
  });
}

TEST(ForeignCorpus, a_batch_is_ready_as_in_kruise) {
  play("kruise-rollouts", "TestIsBatchReady", [](const Value& row) {
    const std::int64_t desired = row["desired"].as_int(), updated = row["updated"].as_int();
    const Amount tolerated = parse_amount(row["release"]["failureThreshold"], "").value();
    // Kruise wants one ready pod whatever is tolerated.
    const Amount most{.number = std::min(rounded_up(tolerated, desired), desired - 1)};
    const bool is_ready = is_available(desired, updated, row["updatedReady"].as_int(), most);
    // On purpose: a pod that is still old counts as one that is not ready, as in the OAM rollout; there it is waited for.
    const bool differs = updated < desired && updated >= desired - most.number;
    return is_ready == (row["isReady"].as_bool() || differs);
  });
}

TEST(ForeignCorpus, a_first_batch_is_as_large_as_in_kruise) {
  play("kruise-rollouts", "TestCalculateBatchReplicas", [](const Value& row) {
    const std::vector<Batch> batches = {{.amount = parse_amount(row["batchReplicas"], "").value(), .pods = {}}, {}};
    return goals(batches, 0, row["workloadReplicas"].as_int()).front() == row["expectedReplicas"].as_int();
  });
}

TEST(ForeignCorpus, an_update_in_place_does_not_scale) {
  play("oam-batch-arithmetic", "TestVerifyRolloutBatchReplicaValue4CloneSet", [](const Value& row) {
    Settings settings;
    settings.shape = Shape::InPlace;
    for (const Value& value : row.item(1).items()) {
      settings.batches.emplace_back().sizes.amount = parse_amount(value, "replicas").value();
    }
    const std::int64_t there = row.item(2).as_int();
    return check_settings(settings, there, row.item(0).as_int(there)).empty() == row.item(3).is_null();
  });
}

/// Argo rounds to the split that comes nearest and leaves a pod on each side; a batch of that share is as large there as here,
/// or it is not: no bar.
TEST(ForeignCorpus, shares_are_counted_beside_those_of_argo) {
  const auto compare = [](const std::string& name, const std::string& group_name, auto column) {
    const Value file = corpus(name + ".json");
    if (file.is_null()) GTEST_SKIP() << "no corpus";
    std::size_t all = 0, same = 0;
    for (const Value& row : group(file, group_name).items()) {
      if (column(row, 2, "maxWeight").as_int(100) != 100) continue;
      const Amount share{.number = column(row, 1, "weight").as_int(), .is_percent = true};
      const std::int64_t pods = goals({{.amount = share, .pods = {}}, {}}, 0, column(row, 0, "replicas").as_int()).front();
      same += pods == column(row, 4, "expCanary").as_int() ? 1 : 0;
      ++all;
    }
    std::cout << "no bar: rollouts/" << name << "/" << group_name << " " << same << "/" << all << " as upstream\n";
  };
  compare("argo-replica-grids", "approximateWeightedCanaryStableReplicaCounts",
          [](const Value& row, std::size_t at, const char*) { return row.item(at); });
  compare("argo-replicas", "TestApproximateWeightedNewStableReplicaCounts",
          [](const Value& row, std::size_t, const char* name) { return row[name]; });
}

}  // namespace
}  // namespace slipway::delivery::wave
