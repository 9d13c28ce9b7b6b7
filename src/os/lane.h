// A Lane with a thread of its own, which starts with the first work. Work runs in the order it came; `done` is posted to the
// executor.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "base/env.h"

namespace slipway::os {

class ThreadLane : public Lane {
 public:
  /// How much of a busy machine the thread gets: Background leaves the logic thread and the commits before it (nice(1), 9).
  enum class Share : std::uint8_t { Full, Background };

  /// `name` is shown by ps and debuggers; 15 characters.
  ThreadLane(Executor executor, std::string name, Share share = Share::Full);
  ~ThreadLane() override { stop(); }

  void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) override;
  /// Waits for the work that runs; work not begun is never run, and is destroyed here. Idempotent.
  void stop();

 private:
  struct Item {
    std::move_only_function<void()> work;
    std::move_only_function<void()> done;
  };
  void start();
  void serve();

  Executor executor_;
  std::string name_;
  Share share_;
  std::mutex mutex_;
  std::condition_variable has_changed_;
  std::deque<Item> items_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace slipway::os
