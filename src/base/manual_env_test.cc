#include "base/manual_env.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace slipway {
namespace {

using namespace std::chrono_literals;

struct Notes {
  std::vector<std::string> lines;
};

Task<> note_after(Env& env, Duration wait, std::string text, Notes& notes) {
  co_await sleep_for(env, wait);
  notes.lines.push_back(text);
}

TEST(ManualEnv, a_task_returns_its_value_and_time_moves_to_its_timers) {
  ManualEnv manual;
  const auto work = [](Env& env) -> Task<int> {
    co_await sleep_for(env, 10min);
    co_return 7;
  };
  EXPECT_EQ(manual.run(work(manual)), 7);
  EXPECT_EQ(manual.now() - VirtualClock::kStart, 10min);
}

TEST(ManualEnv, advance_runs_what_falls_due_and_no_more) {
  ManualEnv manual;
  Notes notes;
  manual.spawn(note_after(manual, 2s, "two", notes));
  manual.spawn(note_after(manual, 1s, "one", notes));
  manual.spawn(note_after(manual, 3s, "three", notes));
  manual.advance(2s);
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(manual.now() - VirtualClock::kStart, 2s);
}

TEST(ManualEnv, timers_of_one_moment_keep_their_order_under_any_pick) {
  ManualEnv manual;
  manual.queue().set_pick([](std::size_t ready) { return ready - 1; });
  std::vector<int> order;
  std::vector<std::unique_ptr<Timer>> timers;
  for (int i = 0; i < 4; ++i)
    timers.push_back(manual.clock().call_at(manual.steady() + 1s, [&order, i] { order.push_back(i); }));
  timers.erase(timers.begin() + 1);
  manual.advance(1s);
  EXPECT_EQ(order, (std::vector<int>{0, 2, 3}));
}

TEST(ManualEnv, pick_chooses_among_what_is_ready) {
  ManualEnv manual;
  Notes notes;
  manual.queue().set_pick([](std::size_t ready) { return ready - 1; });
  for (const char* text : {"a", "b", "c"}) manual.queue().post([&notes, text] { notes.lines.emplace_back(text); });
  manual.run_until_idle();
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"c", "b", "a"}));
}

TEST(ManualEnv, a_signal_wakes_and_a_deadline_ends_a_wait) {
  ManualEnv manual;
  Signal signal(manual);
  EXPECT_FALSE(manual.run(signal.wait_until(manual.steady() + 5s)));
  const auto timer = manual.clock().call_at(manual.steady() + 1s, [&] { signal.notify(); });
  EXPECT_TRUE(manual.run(signal.wait_until(manual.steady() + 5s)));
  EXPECT_EQ(manual.now() - VirtualClock::kStart, 6s);
}

TEST(ManualEnv, a_step_of_the_wall_clock_ends_no_wait_early_and_none_late) {
  for (const Duration step : {Duration{-1h}, Duration{24h}}) {
    ManualEnv manual;
    const Steady begin = manual.steady();
    const auto timer = manual.clock().call_at(begin + 1s, [&] { manual.clock().step_wall(step); });
    manual.run(sleep_for(manual, 5s));
    EXPECT_EQ(manual.steady() - begin, 5s);
    EXPECT_EQ(manual.now(), VirtualClock::kStart + 5s + step);
  }
}

TEST(ManualEnv, drop_all_destroys_frames_with_their_locals) {
  ManualEnv manual;
  struct Guard {
    int& deaths;
    ~Guard() { ++deaths; }
  };
  int deaths = 0;
  Signal never(manual);
  const auto wait = [](Signal& signal, int& count) -> Task<> {
    Guard guard{count};
    co_await signal.wait();
  };
  manual.spawn(wait(never, deaths));
  manual.spawn(wait(never, deaths));
  manual.run_until_idle();
  EXPECT_EQ(deaths, 0);
  manual.drop_all();
  EXPECT_EQ(deaths, 2);
}

TEST(ManualEnv, work_on_a_lane_is_done_before_its_waiter_goes_on) {
  ManualEnv manual;
  int done = 0;
  const auto work = [](Env& env, int& count) -> Task<int> {
    co_await run_on(env, env.compute, [&count] { ++count; });
    co_return count;
  };
  EXPECT_EQ(manual.run(work(manual, done)), 1);
}

TEST(ManualEnv, a_tasks_group_joins_its_children) {
  ManualEnv manual;
  Notes notes;
  const auto work = [](Env& env, Notes& into) -> Task<> {
    Tasks tasks(env);
    tasks.spawn(note_after(env, 2s, "late", into));
    tasks.spawn(note_after(env, 1s, "early", into));
    co_await tasks.join();
    into.lines.push_back("joined");
  };
  manual.run(work(manual, notes));
  EXPECT_EQ(notes.lines, (std::vector<std::string>{"early", "late", "joined"}));
}

TEST(SeededRandom, the_same_seed_gives_the_same_numbers) {
  SeededRandom one(42), two(42), three(43);
  const auto first = one.next();
  EXPECT_EQ(first, two.next());
  EXPECT_NE(first, three.next());
}

TEST(MemoryFiles, a_file_needs_its_folder_and_is_listed_in_it) {
  MemoryFiles files;
  EXPECT_EQ(files.write("/data/a", "x", 0600).error().reason, Reason::NotFound);
  ASSERT_TRUE(files.make_folders("/data/deep"));
  ASSERT_TRUE(files.write("/data/b", "xy", 0600));
  ASSERT_TRUE(files.write("/data//./a", "x", 0640));
  ASSERT_TRUE(files.write("/data/deep/c", "z", 0640));
  EXPECT_EQ(*files.list("/data"), (std::vector<std::string>{"a", "b", "deep"}));
  EXPECT_EQ(*files.list("/"), (std::vector<std::string>{"data"}));
  EXPECT_EQ(*files.read_from("/data/b", 1, 10), "y");
  EXPECT_EQ(files.mode("/data/a"), 0640u);
}

TEST(MemoryFiles, links_are_followed_when_reading_and_removed_as_links) {
  MemoryFiles files;
  ASSERT_TRUE(files.make_folders("/volumes/v1"));
  ASSERT_TRUE(files.make_folders("/pod"));
  ASSERT_TRUE(files.symlink("/volumes/v1", "/pod/config"));
  ASSERT_TRUE(files.write("/pod/config/key", "value", 0600));
  EXPECT_EQ(*files.read("/volumes/v1/key"), "value");
  ASSERT_TRUE(files.remove_all("/pod"));
  EXPECT_FALSE(files.exists("/pod/config/key"));
  EXPECT_EQ(*files.read("/volumes/v1/key"), "value");
}

TEST(MemoryFiles, a_full_disk_refuses_and_changes_nothing) {
  MemoryFiles files;
  files.set_capacity(4);
  ASSERT_TRUE(files.write("a", "1234", 0600));
  const auto refused = files.write("a", "12345", 0600);
  EXPECT_EQ(refused.error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(refused.error().message, "disk full: a");
  EXPECT_EQ(*files.read("a"), "1234");
  ASSERT_TRUE(files.remove_all("a"));
  EXPECT_TRUE(files.write("b", "1234", 0600));
}

}  // namespace
}  // namespace slipway
