#include "os/compute_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <boost/asio/post.hpp>

namespace slipway::os {

ThreadPool::ThreadPool(Executor executor, std::size_t threads)
    : executor_(std::move(executor)),
      most_threads_(threads != 0 ? threads : std::max<std::size_t>(std::thread::hardware_concurrency(), 1)) {}

void ThreadPool::submit_for(std::string_view tenant, std::move_only_function<void()> work,
                            std::move_only_function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return;
    queue_.push(tenant, {std::move(work), std::move(done)});
    if (idle_ < queue_.size() && threads_.size() < most_threads_) start_thread();
  }
  has_changed_.notify_one();
}

// Signals belong to the logic thread; a thread inherits the mask of its maker.
void ThreadPool::start_thread() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  threads_.emplace_back([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  has_changed_.notify_all();
  for (std::thread& one : threads_) {  // none is started any more
    if (one.joinable()) one.join();
  }
  while (!queue_.empty()) queue_.pop();
}

std::size_t ThreadPool::threads() const {
  const std::lock_guard lock(mutex_);
  return threads_.size();
}

void ThreadPool::serve() {
  pthread_setname_np(pthread_self(), "slipway-compute");
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    has_changed_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
    --idle_;
    if (is_stopping_) return;
    Item item = queue_.pop();
    lock.unlock();
    item.work();
    // The work may hold things of the logic thread, so it is destroyed there,
    // together with `done`.
    boost::asio::post(executor_, [item = std::move(item)]() mutable { item.done(); });
    lock.lock();
  }
}

}  // namespace slipway::os
