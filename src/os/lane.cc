#include "os/lane.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/post.hpp>

namespace slipway::os {
namespace {

constexpr int kBackgroundNiceness = 9;

}  // namespace

ThreadLane::ThreadLane(Executor executor, std::string name, Share share)
    : executor_(std::move(executor)), name_(std::move(name)), share_(share) {}

void ThreadLane::submit(std::move_only_function<void()> work, std::move_only_function<void()> done) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopping_) return;
    items_.push_back({std::move(work), std::move(done)});
    if (!thread_.joinable()) start();
  }
  has_changed_.notify_one();
}

void ThreadLane::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  has_changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  items_.clear();
}

void ThreadLane::start() {
  // Signals belong to the logic thread; a thread inherits the mask of its maker.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadLane::serve() {
  pthread_setname_np(pthread_self(), name_.c_str());
  if (share_ == Share::Background) {
    const auto self = static_cast<id_t>(gettid());
    setpriority(PRIO_PROCESS, self, std::max(getpriority(PRIO_PROCESS, self), kBackgroundNiceness));
  }
  std::unique_lock lock(mutex_);
  while (true) {
    has_changed_.wait(lock, [this] { return is_stopping_ || !items_.empty(); });
    if (is_stopping_) return;
    Item item = std::move(items_.front());
    items_.pop_front();
    lock.unlock();
    item.work();
    // The work may hold things of the logic thread, so it is destroyed there, together with `done`.
    boost::asio::post(executor_, [item = std::move(item)]() mutable { item.done(); });
    lock.lock();
  }
}

}  // namespace slipway::os
