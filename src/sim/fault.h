// Faults and the points at which they strike. Every operation that a controller asks of its Client has two points: before it is
// sent, and after it has taken effect. A plan says which fault strikes at which point; a clean run counts the points, so that a
// test can strike at each of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"

namespace slipway::sim {

enum class Moment : std::uint8_t { BeforeSend, AfterEffect };

enum class FaultKind : std::uint8_t {
  None,
  CrashControllers,  // the controllers' process is killed and started again a second later
  CrashServer,       // the server's process is killed (what was not synced may be lost) and started again a second later
  CrashBoth,
  LostAnswer,   // AfterEffect: the caller gets a Timeout though the write has happened
  Unavailable,  // BeforeSend: refused, nothing happens
  Conflict,     // BeforeSend, writes only: as if another writer had been faster
  CutWatches,   // every watch of the controllers ends with an error
  StaleCache,   // the controllers get no watch events for five seconds
  DiskFails,    // the next write to the disk fails once
  DiskFull,     // the disk is full for five seconds
  // The wall clock of the machine is set, for all its processes. Never among the random faults: together with a crash of
  // the controllers their knowledge of the step is lost, and times in objects are taken as they stand.
  WallForwardHour,
  WallBackHour,
  WallForwardDay,
  WallBackDay,
};
std::string_view to_string(FaultKind kind);
/// By how much a fault of the wall clock sets it; nothing for other faults.
std::optional<Duration> wall_step(FaultKind kind);
/// Whether the fault can strike at this moment (of a write, or of a read).
bool applies(FaultKind kind, Moment moment, bool is_write);

/// An operation at one of its moments, as the trace and the counts show it.
struct Point {
  std::uint64_t index = 0;  // from 0, in the order of the run
  Moment moment = Moment::BeforeSend;
  std::string who;   // the controller ("slipway-job")
  std::string what;  // "CREATE jobs.batch default/x"
  bool is_write = false;
};

struct Fault {
  std::uint64_t point = 0;
  FaultKind kind = FaultKind::None;
};

/// Which fault strikes where. Exact faults by point, and random ones with a probability per point.
struct FaultPlan {
  std::vector<Fault> exact;
  double random_rate = 0;          // probability that a fitting random fault strikes at a point
  std::uint64_t seed = 1;          // of the random ones
  std::uint64_t random_limit = 8;  // at most so many of them, so that every run ends

  std::string to_string() const;
};

/// Decides at each point; remembers the points it saw.
class FaultInjector {
 public:
  explicit FaultInjector(FaultPlan plan);

  FaultKind at(Moment moment, std::string_view who, std::string_view what, bool is_write);
  std::uint64_t points() const { return next_; }
  const std::map<std::string, std::uint64_t>& points_by_controller() const { return by_controller_; }
  /// Points seen, only when recording.
  const std::vector<Point>& recorded() const { return recorded_; }
  void record() { is_recording_ = true; }
  const std::vector<Fault>& struck() const { return struck_; }

 private:
  FaultKind random_fault(Moment moment, bool is_write);

  FaultPlan plan_;
  std::map<std::uint64_t, FaultKind> exact_;
  std::uint64_t random_state_;
  std::uint64_t next_ = 0;
  std::map<std::string, std::uint64_t> by_controller_;
  std::vector<Point> recorded_;
  std::vector<Fault> struck_;
  bool is_recording_ = false;
};

}  // namespace slipway::sim
