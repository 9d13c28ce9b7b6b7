#include "os/compute_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <latch>
#include <string>

namespace slipway::os {
namespace {

TEST(ThreadPool, runs_the_tenants_in_turns) {
  boost::asio::io_context loop;
  std::latch has_begun(1);
  std::latch may_end(1);
  std::latch all(6);
  std::string order;                        // of one thread
  ThreadPool pool(loop.get_executor(), 1);  // last: its end waits for work that uses the others
  pool.submit_for(
      "first",
      [&] {
        has_begun.count_down();
        may_end.wait();
      },
      [] {});
  has_begun.wait();
  auto note = [&](char what) {
    return [&, what] {
      order += what;
      all.count_down();
    };
  };
  for (char what : {'a', 'b', 'c', 'd'}) pool.submit_for("busy", note(what), [] {});
  pool.submit_for("other", note('x'), [] {});
  pool.submit_for("third", note('y'), [] {});
  may_end.count_down();
  all.wait();
  EXPECT_EQ(order, "axybcd");
}

TEST(ThreadPool, one_that_is_slow_holds_up_nobody_else) {
  boost::asio::io_context loop;
  std::latch may_end(1);
  std::latch has_run(1);
  ThreadPool pool(loop.get_executor(), 2);
  pool.submit_for("slow", [&] { may_end.wait(); }, [] {});
  pool.submit_for("quick", [&] { has_run.count_down(); }, [] {});
  has_run.wait();  // it would for ever behind the slow one
  may_end.count_down();
}

TEST(ThreadPool, starts_threads_as_there_is_work_for_them) {
  boost::asio::io_context loop;
  std::latch all_run(3);
  ThreadPool pool(loop.get_executor(), 3);
  EXPECT_EQ(pool.threads(), 0u);
  for (int i = 0; i < 3; ++i) pool.submit_for("t", [&] { all_run.arrive_and_wait(); }, [] {});
  all_run.wait();
  EXPECT_EQ(pool.threads(), 3u);
}

TEST(ThreadPool, tells_of_the_end_on_the_executor_and_destroys_the_work_there) {
  boost::asio::io_context loop;
  ThreadPool pool(loop.get_executor(), 2);
  const auto logic_thread = std::this_thread::get_id();
  struct Mark {
    std::thread::id expected;
    std::atomic<int>& ends;
    ~Mark() {
      EXPECT_EQ(std::this_thread::get_id(), expected);
      ++ends;
    }
  };
  std::atomic<int> ends = 0;
  int done = 0;
  for (int i = 0; i < 20; ++i) {
    auto mark = std::make_unique<Mark>(logic_thread, ends);
    pool.submit_for(std::to_string(i % 3), [mark = std::move(mark)] {}, [&] { ++done; });
  }
  const auto guard = boost::asio::make_work_guard(loop);
  while (done < 20) loop.run_one();
  EXPECT_EQ(ends, 20);
}

TEST(ThreadPool, stopping_waits_for_what_runs_and_drops_what_has_not_begun) {
  boost::asio::io_context loop;
  std::latch has_begun(1);
  std::latch may_end(1);
  std::atomic<bool> has_ended = false;
  bool has_run = false;
  ThreadPool pool(loop.get_executor(), 1);
  const auto held = std::make_shared<int>(0);
  pool.submit_for(
      "a",
      [&] {
        has_begun.count_down();
        may_end.wait();
        has_ended = true;
      },
      [] {});
  has_begun.wait();
  pool.submit_for("a", [&has_run, held] { has_run = true; }, [] {});
  EXPECT_EQ(held.use_count(), 2);
  may_end.count_down();
  pool.stop();
  EXPECT_TRUE(has_ended);
  EXPECT_EQ(has_run, held.use_count() == 2);  // it may have begun in between
  pool.submit_for("a", [] { FAIL(); }, [] {});
}

}  // namespace
}  // namespace slipway::os
