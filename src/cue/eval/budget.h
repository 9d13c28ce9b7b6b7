// What an evaluation may cost: steps, bytes, depth, and how long its caller wants to wait. Steps and bytes are counted, so the
// same input ends at the same place every time; a deadline and a cancellation come from outside and are looked at while steps
// are charged. A Meter is used by one evaluation, on one thread; only the flag of a cancellation may be set by another.
//
//   step    an expression evaluated, a conjunct inserted, a field looked up, an item that a function looks at, or
//           kBytesPerStep (std/registry.h) bytes of a text that it reads or writes
//   bytes   of the arena of the evaluation and of its tables, whether they are of use in the end or not
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace slipway::cue {

/// What an evaluation beyond its budget is told of.
inline constexpr const char* kTooManySteps = "evaluation takes too many steps";
inline constexpr const char* kTooManyBytes = "evaluation takes too much memory";
inline constexpr const char* kTooDeep = "nested too deeply";
inline constexpr const char* kOverdue = "evaluation takes too long";
inline constexpr const char* kCancelled = "evaluation was cancelled";

struct Budget {
  std::uint64_t max_steps = 20'000'000;
  std::size_t max_bytes = std::size_t{512} << 20;
  std::uint32_t max_depth = 50'000;              // vertices evaluated inside each other; 1000 in a short program
  const std::atomic<bool>* cancelled = nullptr;  // outlives the evaluation
  std::function<bool()> is_overdue = {};         // true from the deadline on
};

class Meter {
 public:
  /// Steps between two looks at the deadline and the cancellation: well below a millisecond.
  static constexpr std::uint64_t kStepsPerLook = 1024;

  explicit Meter(Budget budget) : budget_(std::move(budget)) {}

  /// Charges steps. Null while the evaluation may go on with that many bytes taken, else why it ends; once ended by memory, a
  /// deadline or a cancellation it stays so.
  const char* charge(std::uint64_t steps, std::uint64_t bytes) {
    steps_ += steps;
    if (steps_ >= next_look_) look();
    if (ended_ != nullptr) return ended_;
    return steps_ > budget_.max_steps ? kTooManySteps : bytes > budget_.max_bytes ? kTooManyBytes : nullptr;
  }
  /// Charges steps without asking; the next charge tells.
  void add(std::uint64_t steps) { steps_ += steps; }
  /// Whether `more` bytes may be taken beside those that are. False ends the evaluation, with nothing taken.
  bool has_room(std::uint64_t bytes, std::uint64_t more) {
    const bool fits = bytes <= budget_.max_bytes && more <= budget_.max_bytes - bytes;
    if (!fits && ended_ == nullptr) ended_ = kTooManyBytes;
    return fits;
  }

  std::uint64_t steps() const { return steps_; }
  const Budget& limits() const { return budget_; }
  void limit_depth(std::uint32_t depth) { budget_.max_depth = depth; }

 private:
  void look();

  Budget budget_;
  std::uint64_t steps_ = 0;
  std::uint64_t next_look_ = 0;
  const char* ended_ = nullptr;
};

}  // namespace slipway::cue
