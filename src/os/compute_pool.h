// The ComputePool on the machine: threads that are started when there is work
// for them, up to one for each core, and a fair queue before them
// (base/fair_queue.h). A piece of work runs to its end: what may take long ends
// by a budget and a deadline of its own (cue::Limits), so a thread comes back
// in time for the next tenant.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "base/compute_pool.h"
#include "base/fair_queue.h"

namespace slipway::os {

class ThreadPool : public ComputePool {
 public:
  /// `threads`: at most so many; 0 is one for each core.
  explicit ThreadPool(Executor executor, std::size_t threads = 0);
  ~ThreadPool() override { stop(); }

  void submit_for(std::string_view tenant, std::move_only_function<void()> work, std::move_only_function<void()> done) override;
  /// Waits for the work that runs; work not begun is never run, and is
  /// destroyed here. Idempotent.
  void stop();
  /// Threads started so far.
  std::size_t threads() const;

 private:
  struct Item {
    std::move_only_function<void()> work;
    std::move_only_function<void()> done;
  };
  void serve();
  void start_thread();

  Executor executor_;
  const std::size_t most_threads_;
  mutable std::mutex mutex_;
  std::condition_variable has_changed_;
  FairQueue<Item> queue_;
  std::size_t idle_ = 0;  // threads that wait
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace slipway::os
