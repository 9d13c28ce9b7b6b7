#include "delivery/wave/state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "delivery/wave/corpus_test.h"
#include "delivery/wave/roll.h"

namespace slipway::delivery::wave {
namespace {

template <class E>
E enum_of(const json::Value& name) {
  for (const auto& [value, text] : describe_enum(E{})) {
    if (text == name.as_string()) return static_cast<E>(value);
  }
  ADD_FAILURE() << "no such state: " << name.as_string();
  return E{};
}

Event event_of(const json::Value& name) {
  for (int i = 0; i < 15; ++i) {
    const auto event = static_cast<Event>(i);
    if (name_of(event) == name.as_string()) return event;
  }
  ADD_FAILURE() << "no such event: " << name.as_string();
  return {};
}

Position position_of(const json::Value& row, const char* state, const char* batch, std::int64_t current) {
  return {.rolling = enum_of<Rolling>(row[state]), .batch = enum_of<BatchState>(row[batch]), .current_batch = current};
}

bool is_illegal_there(const json::Value& row) {
  return std::ranges::any_of(row["conditions"].items(), [](const json::Value& condition) {
    return condition["message"].as_string().find("invalid") != std::string_view::npos;
  });
}

/// Legal there only because RollingFinalizedEvent and AllBatchFinishedEvent share one string.
bool is_legal_by_shared_name(Event event, const Position& from) {
  const bool is_rolling = from.rolling == Rolling::RollingInBatches;
  return (event == Event::AllBatchesFinished && !is_rolling) || (event == Event::Finalized && is_rolling);
}

TEST(States, legal_moves_are_as_recorded_and_illegal_ones_change_nothing) {
  const json::Value file = corpus("oam-state-machine.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0, legal = 0, shared = 0;
  for (const json::Value& row : group(file, "StateTransition").items()) {
    ++all;
    const Position from = position_of(row, "state", "batchState", row["currentBatch"]["before"].as_int());
    const Event event = event_of(row["event"]);
    const auto next = after(from, event);
    const bool is_shared = is_legal_by_shared_name(event, from) && !is_illegal_there(row);
    shared += is_shared ? 1 : 0;
    if (is_illegal_there(row) || is_shared) {
      const bool says_why = !next && next.error().reason == Reason::Conflict && next.error().message.contains(name_of(event)) &&
                            next.error().message.contains(row["state"].as_string());
      says_why ? void(++passed) : ADD_FAILURE() << json::print(row);
      continue;
    }
    ++legal;
    const Position wanted = position_of(row, "nextState", "nextBatchState", row["currentBatch"]["after"].as_int());
    next && *next == wanted ? void(++passed) : ADD_FAILURE() << json::print(row);
  }
  std::cout << "rollouts/oam-state-machine " << passed << "/" << all << " (" << legal << " legal, " << shared
            << " only by a shared name)\n";
  EXPECT_EQ(shared, 9u);
}

TEST(States, methods_are_as_recorded) {
  const json::Value file = corpus("oam-state-machine.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0, earlier = 0;
  for (const json::Value& row : group(file, "RolloutRetry/Failed/Failing").items()) {
    ++all;
    const Position from = position_of(row, "state", "batchState", 2);
    const Position wanted = position_of(row, "nextState", "nextBatchState", 2);
    EXPECT_EQ(condition_type(from), row["conditions"].item(0)["type"].as_string());
    const std::string_view method = row["method"].as_string();
    // RolloutRetry moves nothing. RolloutFailed is for what fails before anything was done, RolloutFailing for later: failing()
    // chooses. RolloutFailed of what has begun is not offered.
    const bool is_before =
        from.rolling == Rolling::LocatingTarget || from.rolling == Rolling::VerifyingSpec || from.rolling == Rolling::Failed;
    const bool is_offered = method == "RolloutRetry" || is_before == (method == "RolloutFailed");
    const Position made = method == "RolloutRetry" ? from : failing(from);
    earlier += is_offered ? 0 : 1;
    !is_offered || made == wanted ? void(++passed) : ADD_FAILURE() << json::print(row);
  }
  std::cout << "rollouts/oam-state-machine (methods) " << passed << "/" << all << " (" << earlier
            << " are of the method that failing() does not choose there)\n";
}

TEST(States, every_state_is_left_and_reached_by_the_table) {
  for (const auto& [value, name] : describe_enum(Rolling{})) {
    const auto state = static_cast<Rolling>(value);
    EXPECT_TRUE(std::ranges::any_of(moves(), [&](const Move& move) { return move.from == state; })) << name;
    const bool is_reached = std::ranges::any_of(moves(), [&](const Move& move) { return move.to == state; });
    EXPECT_TRUE(is_reached || failing({.rolling = Rolling::RollingInBatches}).rolling == state) << name;
  }
  EXPECT_TRUE(
      moves_table().contains("| rollingInBatches / batchReady | BatchRolloutApprovedEvent | rollingInBatches / "
                             "batchInitializing, next batch |"));
}

/// A life cycle's row as decide() sees it: revisions are names of targets.
struct Life {
  explicit Life(const json::Value& rollout) {
    const json::Value& spec = rollout["Spec"];
    const json::Value& status = rollout["Status"];
    record.rolling = enum_of<Rolling>(status["RolloutStatus"]["RollingState"]);
    if (const json::Value* size = spec["RolloutPlan"].find("TargetSize")) settings.target_size = size->as_int();
    if (const json::Value* size = status["RolloutStatus"].find("RolloutTargetSize")) record.target_size = size->as_int();
    world.target.emplace().id = spec["TargetRevisionName"].str();
    const json::Value& last = status["LastUpgradedTargetRevision"];
    if (!last.is_null()) record.target.emplace().id = last.str();
  }
  Settings settings;
  Record record;
  World world;
};

TEST(LifeCycle, what_is_over_and_what_asks_for_another_attempt_is_as_recorded) {
  const json::Value file = corpus("oam-lifecycle.json");
  if (file.is_null()) GTEST_SKIP() << "no corpus";
  std::size_t all = 0, passed = 0;
  for (const json::Value& row : group(file, "TestHandleTerminated").items()) {
    const Life life(row["rollout"]);
    const bool is_over = life.record.position().is_end() && !is_modified(life.settings, life.record, life.world);
    ++all;
    is_over == row["want"].as_bool() ? void(++passed) : ADD_FAILURE() << json::print(row);
  }
  for (const json::Value& row : group(file, "Test_isRolloutModified").items()) {
    const Life life(row["rollout"]);
    ++all;
    is_modified(life.settings, life.record, life.world) == row["want"].as_bool() ? void(++passed)
                                                                                 : ADD_FAILURE() << json::print(row);
  }
  for (const json::Value& row : group(file, "Test_TryMovingToNextBatch").items()) {
    const json::Value& status = row["rolloutStatus"];
    Settings settings;
    for (int i = 0; i < 5; ++i) settings.batches.emplace_back().sizes.amount = Amount{.number = 1};
    settings.partition = row["rolloutSpec"]["BatchPartition"].as_int();
    Record record;
    record.rolling = enum_of<Rolling>(status["RollingState"]);
    record.batch = enum_of<BatchState>(status["BatchRollingState"]);
    record.current_batch = status["CurrentBatch"].as_int();
    const bool is_held = record.current_batch >= *settings.partition;
    const auto next = is_held ? record.position() : after(record.position(), Event::BatchApproved).value();
    ++all;
    const bool is_same = next.current_batch == row["wantNextBatch"].as_int() &&
                         json::enum_name(next.batch) == row["wantBatchRollingState"].as_string();
    is_same ? void(++passed) : ADD_FAILURE() << json::print(row);
  }
  std::cout << "rollouts/oam-lifecycle (pure rows) " << passed << "/" << all << "\n";
}

}  // namespace
}  // namespace slipway::delivery::wave
