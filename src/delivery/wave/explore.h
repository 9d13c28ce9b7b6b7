// Every way a roll can go in a small world: decide() against workloads whose pods become ready one at a time, a provider that
// accepts weights, gates that answer, and at most one disturbance at any point. Each reachable state is looked at once, and
// what must hold (Invariant) is checked there and at every write; from each, with faults over, the end must be reached. Bugs
// can be planted, to see that they are found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delivery/wave/roll.h"

namespace slipway::delivery::wave {

/// What may happen once, at any point.
enum class Disturbance : std::uint8_t {
  None,
  Crash,        // between the record and its effects, or between two effects; what is not durable is lost
  StaleRead,    // workloads are seen as they were at some point, for a while
  Pause,        // and resumed at any point
  Hold,         // the partition is lowered, and raised again at any point
  Resize,       // a workload gets or loses a pod by another writer; Replace: a node comes or goes
  Retarget,     // another target (Pair), another template or other fields
  PodLost,      // a ready pod is no longer
  HookRefused,  // the gate after a batch fails
  Delete,       // of the rollout
};

struct Scenario {
  Shape shape = Shape::Pair;
  Strategy strategy = Strategy::IncreaseFirst;
  std::vector<std::int64_t> sources{};  // their sizes; of the other shapes: of the one workload
  std::vector<std::int64_t> batches{};  // whole numbers
  std::int64_t max_unavailable = 0;
  std::optional<std::int64_t> target_size{};
  bool has_traffic = false;
  OnFailure on_failure = OnFailure::Stop;
  bool reverts_on_delete = false;
  Disturbance disturbance = Disturbance::None;

  std::string text() const;
};

/// A fault of the controller around decide(), or of what decide() is told; each breaks one thing that must hold.
enum class Bug : std::uint8_t {
  None,
  OneTooMany,         // the target gets a pod more than was decided
  SizeOfOldestKept,   // of several sources the oldest is never drained
  PodsCountAsReady,   // pods that are there count as ready
  GoalIsSkipped,      // the count of updated pods runs ahead
  BatchFallsBack,     // a finished batch is run again
  EndIsLeft,          // a finished rollout is begun again
  RecordIsLost,       // the record is not durable before the effects
  StaleWriteWins,     // writes do not test the resourceVersion
  PauseIsUnseen,      //
  PartitionIsUnseen,  //
  NeverReleased,      // workloads stay owned
  WeightAtOnce,       // traffic is given to pods that are not ready
  NoDrain,            // pods go while they have traffic
  RevertIsShort,      // a revert brings back one pod too few
  RevertIsAtOnce,     // a revert forgets the batches
  TargetIsForgotten,  // an abandoned target is no source
  WeightIsDropped,    // weights are not written
};

struct Exploration {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t longest_end = 0;        // steps to the end from a state, at most
  std::vector<std::string> violations;  // the first few: what, and in which state
};

Exploration explore(const Scenario& scenario, Bug bug = Bug::None);

/// All scenarios up to that size: whole-number batches that add up (empty ones too), both strategies, maxUnavailable 0 to 2,
/// all shapes, with and without traffic where they have it; with each disturbance, or with none.
std::vector<Scenario> scenarios(std::int64_t max_size, std::int64_t max_batches, bool is_disturbed);

}  // namespace slipway::delivery::wave
