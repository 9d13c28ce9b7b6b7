// The store with a real commit thread and real files: what the other tests do inline. Run under the thread sanitizer too.
#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

#include "store/store_fixture.h"

namespace slipway::store {
namespace {

using namespace std::chrono_literals;

/// Runs work on a thread of its own; what is done waits in a box until the logic thread empties it.
class ThreadLane : public Lane {
 public:
  ThreadLane() : thread_([this] { run(); }) {}
  ~ThreadLane() override {
    {
      const std::scoped_lock lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void submit(std::move_only_function<void()> work, std::move_only_function<void()> done) override {
    const std::scoped_lock lock(mutex_);
    work_.push_back({std::move(work), std::move(done)});
    ++unfinished_;
    changed_.notify_all();
  }

  /// Posts what is done to the queue; waits for something unless nothing is under way. False then.
  bool collect(RunQueue& queue) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !done_.empty() || unfinished_ == 0; });
    const bool has_any = !done_.empty();
    for (auto& done : std::exchange(done_, {})) queue.post(std::move(done));
    return has_any;
  }

 private:
  struct Job {
    std::move_only_function<void()> work;
    std::move_only_function<void()> done;
  };

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return !work_.empty() || is_ending_; });
      if (work_.empty()) return;
      Job job = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      job.work();
      job.work = nullptr;
      lock.lock();
      done_.push_back(std::move(job.done));
      --unfinished_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> work_;
  std::deque<std::move_only_function<void()>> done_;
  std::size_t unfinished_ = 0;
  bool is_ending_ = false;
  std::thread thread_;
};

class WithThread : public testing::Test {
 protected:
  WithThread() {
    char name[] = "/tmp/slipway-lane-XXXXXX";
    folder_ = mkdtemp(name);
    options_.path = folder_ + "/state.db";
  }
  ~WithThread() override {
    manual_.drop_all();
    store_.reset();
    for (const char* suffix : {"", "-wal", "-shm", "-lock"}) std::remove((options_.path + suffix).c_str());
    rmdir(folder_.c_str());
  }

  /// The Env of the test: that of `manual_`, but for the commit lane.
  Env make_env() {
    Env& env = manual_.env();
    return Env{env.executor, env.clock,     env.random, lane_,   env.compute,
               env.files,    env.processes, nullptr,    env.log, env.metrics};
  }
  void open() {
    auto store = Store::open(env_, options_);
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
  }
  void finish() {
    do {
      manual_.run_until_idle();
    } while (lane_.collect(manual_.queue()));
  }
  void close() {
    manual_.spawn(store_->close());
    finish();
    store_.reset();
  }

  ManualEnv manual_;
  ThreadLane lane_;
  Env env_ = make_env();
  std::string folder_;
  Options options_;
  std::unique_ptr<Store> store_;
};

Task<> append_in_turn(Store& store, std::string key, int count, std::vector<Revision>& revisions) {
  Revision last = 0;
  for (int i = 0; i < count; ++i) {
    std::vector<Write> writes;
    writes.push_back({key, json::object({{"key", key}, {"n", i}, {"revision", store.next_revision()}}), last});
    const auto appended = co_await store.append(std::move(writes));
    EXPECT_TRUE(appended) << appended.error().message;
    last = appended.value_or(0);
    revisions.push_back(last);
  }
}

Task<> count_changes(Watcher& watcher, std::size_t& count, Revision& last) {
  for (;;) {
    const auto changes = co_await watcher.next(16);
    if (!changes) co_return;
    for (const Change& change : *changes) {
      EXPECT_GT(change.revision, last);
      EXPECT_EQ((*change.value)["revision"].as_int(), change.revision);
      last = change.revision;
      ++count;
    }
  }
}

TEST_F(WithThread, many_writers_and_watchers_see_one_order) {
  options_.history_changes = 200;
  open();
  std::vector<Revision> revisions;
  std::size_t seen = 0;
  Revision last = 0;
  const auto watcher = *store_->watch("", 1);
  manual_.spawn(count_changes(*watcher, seen, last));
  for (int writer = 0; writer < 16; ++writer)
    manual_.spawn(append_in_turn(*store_, "/r/g/a/" + std::to_string(writer), 40, revisions));
  finish();
  EXPECT_EQ(revisions.size(), 640u);
  EXPECT_TRUE(std::ranges::is_sorted(revisions));
  EXPECT_EQ(store_->revision(), 641);
  EXPECT_EQ(seen, 640u);
  const std::string state = text_of(store_->range({}));
  close();
  open();
  EXPECT_EQ(text_of(store_->range({})), state);
}

TEST_F(WithThread, reads_go_on_while_a_commit_is_on_its_way) {
  open();
  std::vector<Revision> revisions;
  manual_.spawn(append_in_turn(*store_, "/r/g/a/x", 50, revisions));
  do {
    while (manual_.queue().run_one()) {
      const auto head = store_->get_head("/r/g/a/x");
      const auto durable = store_->get("/r/g/a/x");
      if (durable) EXPECT_LE(durable->modified, head->modified);
      EXPECT_EQ(store_->range({})->revision, store_->revision());
    }
  } while (lane_.collect(manual_.queue()));
  EXPECT_EQ(revisions.size(), 50u);
}

TEST_F(WithThread, a_store_may_be_destroyed_while_its_commit_runs) {
  open();
  std::vector<Revision> revisions;
  for (int writer = 0; writer < 8; ++writer)
    manual_.spawn(append_in_turn(*store_, "/r/g/a/" + std::to_string(writer), 3, revisions));
  while (manual_.queue().run_one()) {
  }
  manual_.drop_all();
  env_.parking.drop_all();
  manual_.drop_all();
  store_.reset();
  finish();
  open();
  EXPECT_EQ(store_->count(""), 8u);
}

}  // namespace
}  // namespace slipway::store
