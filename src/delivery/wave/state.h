// The states of a roll, with the names of the OAM rollout on the wire (pkg/controller/common/rollout of KubeVela 1.2), and the
// one table of the moves that are legal. An event that is not legal changes nothing.
// DIVERGES: there an illegal event fails the rollout, and two events share one name, so each is taken for the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/codec.h"

namespace slipway::delivery::wave {

enum class Rolling : std::uint8_t {
  LocatingTarget,
  VerifyingSpec,
  Initializing,
  RollingInBatches,
  Finalising,
  Failing,
  Succeeded,   // an end
  Abandoning,  // makes room for another target
  Deleting,
  Failed,  // an end
};
inline auto describe_enum(Rolling) {
  return json::enum_names<Rolling>({{Rolling::LocatingTarget, "locatingTargetApp"},
                                    {Rolling::VerifyingSpec, "verifyingSpec"},
                                    {Rolling::Initializing, "initializing"},
                                    {Rolling::RollingInBatches, "rollingInBatches"},
                                    {Rolling::Finalising, "finalising"},
                                    {Rolling::Failing, "rolloutFailing"},
                                    {Rolling::Succeeded, "rolloutSucceed"},
                                    {Rolling::Abandoning, "rolloutAbandoning"},
                                    {Rolling::Abandoning, "rolloutAbandoned"},  // read only
                                    {Rolling::Deleting, "RolloutDeletingState"},
                                    {Rolling::Failed, "rolloutFailed"}});
}

/// Where the current batch is. Means something while Rolling::RollingInBatches only.
enum class BatchState : std::uint8_t { Initializing, InRolling, Verifying, VerifyFailed, Finalizing, Ready };
inline auto describe_enum(BatchState) {
  return json::enum_names<BatchState>({{BatchState::Initializing, "batchInitializing"},
                                       {BatchState::InRolling, "batchInRolling"},
                                       {BatchState::Verifying, "batchVerifying"},
                                       {BatchState::VerifyFailed, "batchVerifyFailed"},
                                       {BatchState::Finalizing, "batchFinalizing"},
                                       {BatchState::Ready, "batchReady"}});
}

enum class Event : std::uint8_t {
  TargetLocated,
  SpecVerified,
  Initialized,
  BatchInitialized,
  BatchRolled,
  BatchAvailable,
  BatchFinished,
  BatchApproved,
  AllBatchesFinished,
  BatchFailed,
  Finalized,
  Modified,
  Deleted,
  Failed,
  RetriableFailure,
};
/// As upstream names it ("RollingSpecVerifiedEvent").
std::string_view name_of(Event event);

struct Position {
  Rolling rolling = Rolling::LocatingTarget;
  BatchState batch = BatchState::Initializing;
  std::int64_t current_batch = 0;

  bool operator==(const Position&) const = default;
  bool is_end() const { return rolling == Rolling::Succeeded || rolling == Rolling::Failed; }
};

/// A row of the table: an event, where it is legal, where it leads.
struct Move {
  Event event;
  Rolling from;
  std::optional<BatchState> from_batch{};  // nullopt: whatever it is
  Rolling to;
  std::optional<BatchState> to_batch{};  // nullopt: it stays
  bool begins_anew = false;              // the attempt's counters are forgotten
  bool next_batch = false;
};
std::span<const Move> moves();
/// The table in Markdown, for docs/rollout.md.
std::string moves_table();
/// Conflict, with the event and the state in its message, when the move is not legal.
Result<Position> after(Position position, Event event);
/// An error before anything was initialized ends in Failed at once; later, what was begun is wound up first (Failing).
Position failing(Position position);
/// The same for what a batch fails by, a gate or a deadline: BatchFailed by way of Failing, as finalize hooks come first.
Position batch_failing(Position position);
/// True at the end of an attempt that has failed.
inline constexpr std::string_view kFailedCondition = "RolloutFailed";
/// The condition that is in question in a state ("RolloutInProgress", "BatchVerifying", …).
std::string_view condition_type(const Position& position);

}  // namespace slipway::delivery::wave
