// Lets few lists be under way at once, in the order in which they were asked for. After a start some thousand lists of some
// hundred clusters are wanted: asked for all at once their answers would lie in memory together, and the logic thread would
// read them for many seconds before it came to anything else, the renewal of a lease for one. A server that does not answer
// holds its turn for a moment only.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>

#include "base/env.h"

namespace slipway::delivery::pipeline {

class ListTurns : public std::enable_shared_from_this<ListTurns> {
 public:
  static constexpr std::size_t kAtOnce = 64;
  static constexpr Duration kPatience = std::chrono::seconds{1};

  explicit ListTurns(Env& env) : env_(env) {}

  /// A turn, until it is destroyed or kPatience has passed.
  class Held {
   public:
    explicit Held(std::shared_ptr<ListTurns> of);
    ~Held() { end(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

   private:
    void end();
    std::shared_ptr<ListTurns> of_;  // null after the end
    std::unique_ptr<Timer> patience_;
  };
  Task<std::unique_ptr<Held>> next();
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  Env& env_;
  std::size_t held_ = 0;
  std::deque<std::shared_ptr<Signal>> waiting_{};
};

}  // namespace slipway::delivery::pipeline
