// A fair share of the logic thread. Everything runs on one executor, so work over many things (a list of 100,000 objects, the
// past of a watch) must stop again and again and let others run. A turn is over after a number of units of work, or after a
// time, whichever comes first; then what has become ready meanwhile runs once before the work goes on:
//
//   Turn turn(env, 512);
//   while (has_more()) {
//     const std::size_t count = do_a_few();
//     if (turn.spend(count)) co_await turn.pass();
//   }
//
// Assumes that the units between two calls of spend() take much less than a turn. In virtual time only units count.
#pragma once

#include <cstddef>

#include "base/env.h"
#include "base/task.h"

namespace slipway {

class Turn {
 public:
  /// So that with four such workloads another request still waits for less than 10 ms.
  static constexpr Duration kLongest = std::chrono::milliseconds{2};

  /// The first turn begins here. `units`: how much may be spent in one. REQUIRES: the Env outlives this.
  Turn(Env& env, std::size_t units) : env_(env), units_(units) { begin(); }

  /// A new turn begins: call it after a wait, whose time is not work.
  void begin();
  /// Counts work that was done; true when the turn is over.
  bool spend(std::size_t units);
  /// Lets all that is ready run, then begins a new turn.
  Task<> pass();

 private:
  Env& env_;
  std::size_t units_;
  std::size_t left_ = 0;
  Steady end_;
};

}  // namespace slipway
