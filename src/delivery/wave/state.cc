#include "delivery/wave/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace slipway::delivery::wave {
namespace {

using enum Rolling;
using B = BatchState;
constexpr auto kAny = std::nullopt;

// Rows of an event that is legal in several states name each: the table is what is drawn in the documents. No `to_batch`: the
// sub-state stays.
constexpr Move kMoves[] = {
    {Event::TargetLocated, LocatingTarget, kAny, VerifyingSpec},
    {Event::SpecVerified, VerifyingSpec, kAny, Initializing},
    {Event::Initialized, Initializing, kAny, RollingInBatches, B::Initializing},
    {Event::BatchInitialized, RollingInBatches, B::Initializing, RollingInBatches, B::InRolling},
    {Event::BatchRolled, RollingInBatches, B::InRolling, RollingInBatches, B::Verifying},
    {Event::BatchAvailable, RollingInBatches, B::Verifying, RollingInBatches, B::Finalizing},
    {Event::BatchFinished, RollingInBatches, B::Finalizing, RollingInBatches, B::Ready},
    {.event = Event::BatchApproved,
     .from = RollingInBatches,
     .from_batch = B::Ready,
     .to = RollingInBatches,
     .to_batch = B::Initializing,
     .next_batch = true},
    {Event::AllBatchesFinished, RollingInBatches, B::Finalizing, Finalising, B::Ready},
    {Event::BatchFailed, RollingInBatches, kAny, Failed, B::VerifyFailed},
    {Event::Finalized, Finalising, kAny, Succeeded},
    {Event::Finalized, Failing, kAny, Failed},
    {Event::Finalized, Deleting, kAny, Failed},
    {.event = Event::Finalized, .from = Abandoning, .to = LocatingTarget, .to_batch = B::Initializing, .begins_anew = true},
    {.event = Event::Modified, .from = Succeeded, .to = LocatingTarget, .to_batch = B::Initializing, .begins_anew = true},
    {.event = Event::Modified, .from = Failed, .to = LocatingTarget, .to_batch = B::Initializing, .begins_anew = true},
    {Event::Modified, LocatingTarget, kAny, Abandoning, B::Initializing},
    {Event::Modified, VerifyingSpec, kAny, Abandoning, B::Initializing},
    {Event::Modified, Initializing, kAny, Abandoning, B::Initializing},
    {Event::Modified, RollingInBatches, kAny, Abandoning, B::Initializing},
    {Event::Modified, Finalising, kAny, Abandoning, B::Initializing},
    {Event::Modified, Failing, kAny, Abandoning, B::Initializing},
    {Event::Modified, Abandoning, kAny, Abandoning, B::Initializing},
    {Event::Deleted, LocatingTarget, kAny, Deleting, B::Initializing},
    {Event::Deleted, VerifyingSpec, kAny, Deleting, B::Initializing},
    {Event::Deleted, Initializing, kAny, Deleting, B::Initializing},
    {Event::Deleted, RollingInBatches, kAny, Deleting, B::Initializing},
    {Event::Deleted, Finalising, kAny, Deleting, B::Initializing},
    {Event::Deleted, Failing, kAny, Deleting, B::Initializing},
    {Event::Deleted, Abandoning, kAny, Deleting, B::Initializing},
    {Event::Deleted, Deleting, kAny, Deleting, B::Initializing},
};

// In the order of Event.
constexpr std::array<std::string_view, 15> kEventNames = {
    "AppLocatedEvent",       "RollingSpecVerifiedEvent", "RollingInitializedEvent",      "InitializedOneBatchEvent",
    "RolloutOneBatchEvent",  "OneBatchAvailableEvent",   "FinishedOneBatchEvent",        "BatchRolloutApprovedEvent",
    "AllBatchFinishedEvent", "BatchRolloutFailedEvent",  "RollingFinalizedEvent",        "RollingModifiedEvent",
    "RollingDeletedEvent",   "RollingFailedEvent",       "RollingRetriableFailureEvent",
};

std::string state_text(const Position& position) {
  std::string text(json::enum_name(position.rolling));
  if (position.rolling == RollingInBatches) text += fmt::format("/{}", json::enum_name(position.batch));
  return text;
}

std::string_view batch_condition(BatchState batch) {
  switch (batch) {
    case B::Initializing:
      return "BatchInitializing";
    case B::InRolling:
      return "RolloutInProgress";
    case B::Verifying:
      return "BatchVerifying";
    case B::VerifyFailed:
      return "BatchRolloutFailed";
    case B::Finalizing:
      return "BatchFinalizing";
    case B::Ready:
      return "BatchReady";
  }
  return "";
}

}  // namespace

std::string_view name_of(Event event) { return kEventNames[static_cast<std::size_t>(event)]; }

std::span<const Move> moves() { return kMoves; }

Result<Position> after(Position position, Event event) {
  // As upstream: wherever a rollout is, its target has been located; that is no move.
  if (event == Event::TargetLocated && position.rolling != LocatingTarget) return position;
  const auto* move = std::ranges::find_if(kMoves, [&](const Move& row) {
    return row.event == event && row.from == position.rolling && (!row.from_batch || *row.from_batch == position.batch);
  });
  if (move == std::end(kMoves)) {
    return fail(Reason::Conflict, fmt::format("{} is not legal in state {}", name_of(event), state_text(position)));
  }
  return Position{.rolling = move->to,
                  .batch = move->to_batch.value_or(position.batch),
                  .current_batch = move->begins_anew ? 0 : position.current_batch + (move->next_batch ? 1 : 0)};
}

Position failing(Position position) {
  switch (position.rolling) {
    case LocatingTarget:
    case VerifyingSpec:
    case Failed:
      position.rolling = Failed;
      return position;
    case Initializing:
    case RollingInBatches:
    case Finalising:
    case Failing:
    case Succeeded:
    case Abandoning:
    case Deleting:
      break;
  }
  return {.rolling = Failing, .batch = B::Initializing, .current_batch = position.current_batch};
}

Position batch_failing(Position position) {
  const bool is_in_batch = position.rolling == RollingInBatches;
  Position next = failing(position);
  if (is_in_batch) next.batch = B::VerifyFailed;
  return next;
}

std::string_view condition_type(const Position& position) {
  switch (position.rolling) {
    case LocatingTarget:
      return kFailedCondition;  // as upstream, which has no condition for it
    case VerifyingSpec:
      return "RolloutSpecVerifying";
    case Initializing:
      return "RolloutInitializing";
    case RollingInBatches:
      return batch_condition(position.batch);
    case Finalising:
      return "RolloutFinalizing";
    case Failing:
      return "RolloutFailing";
    case Succeeded:
      return "RolloutSucceed";
    case Abandoning:
      return "RolloutAbandoning";
    case Deleting:
      return "RolloutDeleting";
    case Failed:
      return kFailedCondition;
  }
  return "";
}

std::string moves_table() {
  std::string table = "| From | Event | To |\n|---|---|---|\n";
  for (const Move& move : kMoves) {
    std::string from(json::enum_name(move.from)), to(json::enum_name(move.to));
    if (move.from_batch) from += fmt::format(" / {}", json::enum_name(*move.from_batch));
    if (move.to == RollingInBatches && move.to_batch) to += fmt::format(" / {}", json::enum_name(*move.to_batch));
    if (move.event == Event::BatchFailed) to = "rolloutFailing / batchVerifyFailed, then rolloutFailed";
    if (move.next_batch) to += ", next batch";
    if (move.begins_anew) to += ", a new attempt";
    table += fmt::format("| {} | {} | {} |\n", from, name_of(move.event), to);
  }
  for (const Rolling from : {VerifyingSpec, RollingInBatches}) {
    const Position failed = failing({.rolling = from});
    const char* which =
        from == VerifyingSpec ? "locatingTargetApp, verifyingSpec" : "initializing, rollingInBatches, finalising";
    table += fmt::format("| {} | another failure | {} |\n", which, json::enum_name(failed.rolling));
  }
  return table;
}

}  // namespace slipway::delivery::wave
