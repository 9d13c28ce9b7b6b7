#include "store/store.h"

#include "store/store_fixture.h"

namespace slipway::store {
namespace {

using namespace std::chrono_literals;

using Appending = StoreTest;
using Ranging = StoreTest;
using Watching = StoreTest;
using Compacting = StoreTest;
using Restarting = StoreTest;

TEST_F(Appending, an_empty_store_is_at_revision_one) {
  Store& store = open();
  EXPECT_EQ(store.revision(), 1);
  EXPECT_EQ(store.next_revision(), 2);
  EXPECT_EQ(store.compacted(), 1);
  EXPECT_EQ(text_of(store.range({})), "");
  EXPECT_EQ(store.range({})->revision, 1);
}

TEST_F(Appending, a_write_is_read_back_with_its_revision) {
  Store& store = open();
  EXPECT_EQ(put("/a", json::object({{"x", 1}})), 2);
  const auto entry = store.get("/a");
  ASSERT_TRUE(entry);
  EXPECT_EQ(json::print(entry->value), R"({"x":1})");
  EXPECT_EQ(entry->modified, 2);
  EXPECT_FALSE(store.get("/b"));
  EXPECT_FALSE(store.get("/"));
}

TEST_F(Appending, an_expectation_that_does_not_hold_is_a_conflict_and_writes_nothing) {
  Store& store = open();
  put("/a", 1);
  const auto created_again = append({{"/a", 2, 0}});
  ASSERT_FALSE(created_again);
  EXPECT_EQ(created_again.error().reason, Reason::Conflict);
  EXPECT_EQ(created_again.error().message, "/a: expected nothing, found revision 2");
  EXPECT_EQ(append({{"/a", 2, 9}}).error().message, "/a: expected revision 9, found revision 2");
  EXPECT_EQ(append({{"/b", 2, 2}}).error().message, "/b: expected revision 2, found nothing");
  EXPECT_EQ(append({{"/b", std::nullopt, 0}}).error().reason, Reason::Conflict);
  EXPECT_EQ(store.revision(), 2);
  EXPECT_EQ(store.next_revision(), 3);
  EXPECT_EQ(text_of(store.range({})), "/a=1@2");
}

TEST_F(Appending, a_batch_is_written_whole_with_consecutive_revisions_or_not_at_all) {
  Store& store = open();
  put("/a", 1);
  EXPECT_EQ(append({{"/b", 2, 0}, {"/a", std::nullopt, 99}}).error().reason, Reason::Conflict);
  EXPECT_FALSE(store.get("/b"));
  EXPECT_FALSE(store.get_head("/b"));
  EXPECT_EQ(*append({{"/b", 2, 0}, {"/a", std::nullopt, 2}, {"/c", 3, 0}}), 5);
  EXPECT_EQ(text_of(store.range({})), "/b=2@3 /c=3@5");
}

TEST_F(Appending, a_batch_may_write_one_key_twice) {
  Store& store = open();
  EXPECT_EQ(*append({{"/a", 1, 0}, {"/a", 2, 2}, {"/a", std::nullopt, 3}, {"/a", 3, 0}}), 5);
  EXPECT_EQ(text_of(store.range({})), "/a=3@5");
}

TEST_F(Appending, head_state_shows_writes_before_they_are_durable_and_reads_do_not) {
  Store& store = open();
  put("/a", 1);
  const auto write = [](Store& to, std::vector<Write> writes) -> Task<> { (void)co_await to.append(std::move(writes)); };
  env_.spawn(write(store, {{"/a", 2, 2}}));
  env_.spawn(write(store, {{"/b", 3, 0}}));
  env_.queue().run_one();
  env_.queue().run_one();
  EXPECT_EQ(json::print(store.get_head("/a")->value), "2");
  EXPECT_EQ(store.get_head("/a")->modified, 3);
  EXPECT_EQ(store.next_revision(), 5);
  EXPECT_EQ(text_of(store.range({})), "/a=1@2");
  EXPECT_EQ(json::print(store.get("/a")->value), "1");
  EXPECT_EQ(store.revision(), 2);
  env_.run_until_idle();
  EXPECT_EQ(text_of(store.range({})), "/a=2@3 /b=3@4");
}

TEST_F(Appending, writers_that_are_ready_together_share_one_commit) {
  Store& store = open();
  const std::uint64_t before = disk_.syncs();
  const auto write = [](Store& to, std::string key) -> Task<> {
    std::vector<Write> writes;
    writes.push_back({key, 1, 0});
    EXPECT_TRUE(co_await to.append(std::move(writes)));
  };
  for (int i = 0; i < 64; ++i) env_.spawn(write(store, "/k" + std::to_string(i)));
  env_.run_until_idle();
  EXPECT_EQ(store.revision(), 65);
  EXPECT_LE(disk_.syncs() - before, 2u) << "one for the group, one for the header of a new write-ahead log";
}

TEST_F(Appending, nothing_to_append_is_done_at_once) {
  Store& store = open();
  put("/a", 1);
  EXPECT_EQ(*append({}), 2);
  EXPECT_EQ(store.revision(), 2);
}

TEST_F(Ranging, a_prefix_takes_what_begins_with_it_in_order) {
  Store& store = open();
  for (const char* key : {"/r/g/b/2", "/r/g/a/1", "/r/g/b/1", "/r/g/bb/1"}) put(key, 1);
  EXPECT_EQ(text_of(store.range({.prefix = "/r/g/b/"})), "/r/g/b/1=1@4 /r/g/b/2=1@2");
  EXPECT_EQ(store.count("/r/g/b/"), 2u);
  EXPECT_EQ(store.count("/r/"), 4u);
  EXPECT_EQ(store.count("/x"), 0u);
}

TEST_F(Ranging, a_limit_leaves_the_rest_for_a_later_start) {
  Store& store = open();
  for (const char* key : {"/a", "/b", "/c", "/d", "/e"}) put(key, 1);
  auto page = *store.range({.prefix = "/", .limit = 2});
  EXPECT_EQ(text_of(page), "/a=1@2 /b=1@3");
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(page.remaining, 3);
  page = *store.range({.prefix = "/", .start = std::string("/b\0", 3), .limit = 3});
  EXPECT_EQ(text_of(page), "/c=1@4 /d=1@5 /e=1@6");
  EXPECT_FALSE(page.has_more);
  EXPECT_EQ(page.remaining, 0);
}

TEST_F(Ranging, a_past_revision_is_read_as_it_was) {
  Store& store = open();
  put("/a", 1);  // 2
  put("/b", 1);  // 3
  put("/a", 2);  // 4
  remove("/b");  // 5
  put("/b", 9);  // 6
  put("/0", 0);  // 7
  remove("/a");  // 8
  EXPECT_EQ(text_of(store.range({.at = 1})), "");
  EXPECT_EQ(text_of(store.range({.at = 3})), "/a=1@2 /b=1@3");
  EXPECT_EQ(text_of(store.range({.at = 4})), "/a=2@4 /b=1@3");
  EXPECT_EQ(text_of(store.range({.at = 5})), "/a=2@4");
  EXPECT_EQ(text_of(store.range({.at = 7})), "/0=0@7 /a=2@4 /b=9@6");
  EXPECT_EQ(text_of(store.range({})), "/0=0@7 /b=9@6");
  EXPECT_EQ(store.range({.at = 5})->revision, 5);
}

TEST_F(Ranging, pages_of_a_past_revision_stay_consistent) {
  Store& store = open();
  for (const char* key : {"/a", "/b", "/c", "/d"}) put(key, 1);  // 2 … 5
  remove("/c");
  put("/bb", 1);
  put("/a", 2);
  put("/e", 2);
  const auto page = *store.range({.prefix = "/", .limit = 1, .at = 5});
  EXPECT_EQ(text_of(page), "/a=1@2");
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(page.remaining, 3);
  const auto rest = *store.range({.prefix = "/", .start = "/b", .at = 5});
  EXPECT_EQ(text_of(rest), "/b=1@3 /c=1@4 /d=1@5");
}

TEST_F(Ranging, every_past_state_of_a_random_history_is_right) {
  SeededRandom random(11);
  open();
  std::vector<std::map<std::string, std::string>> states(2);
  for (int step = 0; step < 300; ++step) {
    const std::string key = "/r/g/k" + std::to_string(random.next() % 3) + "/" + std::to_string(random.next() % 8);
    auto state = states.back();
    if (state.contains(key) && random.next() % 2 == 0) {
      remove(key);
      state.erase(key);
    } else {
      state[key] = std::to_string(step);
      put(key, step);
    }
    states.push_back(std::move(state));
  }
  for (std::size_t at = 1; at < states.size(); ++at) {
    for (const std::string prefix : {"/r/", "/r/g/k1/"}) {
      std::map<std::string, std::string> expected, seen;
      for (const auto& [key, value] : states[at]) {
        if (key.starts_with(prefix)) expected[key] = value;
      }
      const auto all = *store_->range({.prefix = prefix, .at = static_cast<Revision>(at)});
      for (const auto& [key, entry] : all.entries) seen[key] = json::print(entry.value);
      ASSERT_EQ(seen, expected) << "at " << at << " below " << prefix;
      const auto page = *store_->range({.prefix = prefix, .limit = 2, .at = static_cast<Revision>(at)});
      ASSERT_EQ(page.remaining + static_cast<std::int64_t>(page.entries.size()), static_cast<std::int64_t>(expected.size()));
    }
  }
}

TEST_F(Ranging, a_revision_ahead_times_out_with_its_cause) {
  Store& store = open();
  put("/a", 1);
  const auto range = store.range({.at = 3});
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error().reason, Reason::Timeout);
  EXPECT_EQ(range.error().message, "Too large resource version: 3, current: 2");
  ASSERT_EQ(range.error().causes.size(), 1u);
  EXPECT_EQ(range.error().causes[0].reason, "ResourceVersionTooLarge");
}

TEST_F(Watching, changes_come_in_order_with_what_was_before) {
  Store& store = open();
  auto watcher = *store.watch("/r/g/a/", 1);
  put("/r/g/a/x", 1);
  put("/r/g/b/x", 1);
  put("/r/g/a/x", 2);
  remove("/r/g/a/x");
  put("/r/g/a/x", 3);
  EXPECT_EQ(text_of(take(*watcher)), "2:/r/g/a/x=1 4:/r/g/a/x=2<1 5:/r/g/a/x=-<2 6:/r/g/a/x=3");
  EXPECT_EQ(text_of(take(*watcher)), "");
}

TEST_F(Watching, a_watch_begins_after_its_revision) {
  Store& store = open();
  put("/r/g/a/x", 1);
  put("/r/g/a/x", 2);
  put("/r/g/a/x", 3);
  EXPECT_EQ(text_of(take(**store.watch("/r/g/a/", 2))), "3:/r/g/a/x=2<1 4:/r/g/a/x=3<2");
  EXPECT_EQ(text_of(take(**store.watch("/r/g/a/", 4))), "");
  EXPECT_EQ(store.watch("/r/g/a/", 5).error().reason, Reason::Timeout);
}

TEST_F(Watching, any_prefix_sees_exactly_what_begins_with_it) {
  Store& store = open();
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (const char* prefix : {"", "/r/", "/r/g/a", "/r/g/a/ns/", "/r/g/a/ns/x"}) watchers.push_back(*store.watch(prefix, 1));
  append({{"/r/g/a/ns/x", 1, 0}, {"/r/g/ab/ns/x", 2, 0}, {"/s", 3, 0}, {"/r/g/a/other/x", 4, 0}});
  EXPECT_EQ(text_of(take(*watchers[0])), "2:/r/g/a/ns/x=1 3:/r/g/ab/ns/x=2 4:/s=3 5:/r/g/a/other/x=4");
  EXPECT_EQ(text_of(take(*watchers[1])), "2:/r/g/a/ns/x=1 3:/r/g/ab/ns/x=2 5:/r/g/a/other/x=4");
  EXPECT_EQ(text_of(take(*watchers[2])), "2:/r/g/a/ns/x=1 3:/r/g/ab/ns/x=2 5:/r/g/a/other/x=4");
  EXPECT_EQ(text_of(take(*watchers[3])), "2:/r/g/a/ns/x=1");
  EXPECT_EQ(text_of(take(*watchers[4])), "2:/r/g/a/ns/x=1");
}

TEST_F(Watching, a_limit_is_kept_and_nothing_is_lost) {
  Store& store = open();
  auto watcher = *store.watch("/r/g/a/", 1);
  append({{"/r/g/a/1", 1, 0}, {"/r/g/a/2", 2, 0}, {"/r/g/a/3", 3, 0}});
  EXPECT_EQ(text_of(take(*watcher, 2)), "2:/r/g/a/1=1 3:/r/g/a/2=2");
  EXPECT_EQ(watcher->progress(), 3);
  EXPECT_EQ(text_of(take(*watcher, 2)), "4:/r/g/a/3=3");
  EXPECT_EQ(watcher->progress(), 4);
}

TEST_F(Watching, progress_follows_changes_elsewhere) {
  Store& store = open();
  auto watcher = *store.watch("/r/g/a/", 1);
  EXPECT_EQ(watcher->progress(), 1);
  put("/r/g/b/x", 1);
  EXPECT_EQ(watcher->progress(), 2);
  put("/r/g/a/x", 1);
  put("/r/g/b/x", 2);
  EXPECT_EQ(watcher->progress(), 1);
  EXPECT_EQ(text_of(take(*watcher)), "3:/r/g/a/x=1");
  EXPECT_EQ(watcher->progress(), 4);
}

TEST_F(Watching, a_waiting_watcher_is_woken_once_per_commit_and_not_by_other_resources) {
  Store& store = open();
  auto watcher = *store.watch("/r/g/a/", 1);
  int rounds = 0;
  const auto follow = [](Watcher& from, int& count) -> Task<> {
    while (co_await from.next(100)) ++count;
  };
  env_.spawn(follow(*watcher, rounds));
  env_.run_until_idle();
  append({{"/r/g/a/1", 1, 0}, {"/r/g/a/2", 1, 0}, {"/r/g/b/1", 1, 0}});
  env_.run_until_idle();
  EXPECT_EQ(rounds, 1);
  const std::uint64_t parked = env_.env().parking.size();
  put("/r/g/b/2", 1);
  env_.run_until_idle();
  EXPECT_EQ(rounds, 1);
  EXPECT_EQ(env_.env().parking.size(), parked);
  put("/r/g/a/3", 1);
  env_.run_until_idle();
  EXPECT_EQ(rounds, 2);
}

TEST_F(Watching, next_until_gives_nothing_at_its_deadline) {
  Store& store = open();
  auto watcher = *store.watch("/r/g/a/", 1);
  const Steady before = env_.steady();
  EXPECT_EQ(text_of(env_.run(watcher->next_until(10, before + 60s))), "");
  EXPECT_EQ(env_.steady() - before, 60s);
}

TEST_F(Watching, a_slow_reader_is_expired_and_an_idle_one_is_not) {
  options_.history_changes = 4;
  Store& store = open();
  auto slow = *store.watch("/r/g/a/", 1);
  auto idle = *store.watch("/r/g/b/", 1);
  for (int i = 0; i < 6; ++i) put("/r/g/a/x", i);
  EXPECT_EQ(store.compacted(), 3);
  EXPECT_EQ(take(*slow).error().reason, Reason::Expired);
  put("/r/g/b/x", 1);
  EXPECT_EQ(text_of(take(*idle)), "8:/r/g/b/x=1");
  EXPECT_EQ(store.watch("/r/g/a/", 2).error().reason, Reason::Expired);
  EXPECT_TRUE(store.watch("/r/g/a/", 4));
}

TEST_F(Watching, closing_ends_watches_and_refuses_writes_after_what_was_appended) {
  Store& store = open();
  auto watcher = *store.watch("/r/g/a/", 1);
  Result<Revision> appended = 0;
  const auto write = [](Store& to, Result<Revision>& into) -> Task<> {
    std::vector<Write> writes;
    writes.push_back({"/r/g/a/x", 1, 0});
    into = co_await to.append(std::move(writes));
  };
  env_.spawn(write(store, appended));
  env_.queue().run_one();
  env_.run(store.close());
  EXPECT_EQ(*appended, 2);
  EXPECT_EQ(env_.run(watcher->next(1)).error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(append({{"/b", 1, 0}}).error().reason, Reason::ServiceUnavailable);
  EXPECT_EQ(text_of(open().range({})), "/r/g/a/x=1@2");
}

TEST_F(Watching, a_watcher_may_outlive_its_store) {
  auto watcher = *open().watch("/r/g/a/", 1);
  put("/r/g/a/x", 1);
  store_.reset();
  EXPECT_EQ(text_of(take(*watcher)), "2:/r/g/a/x=1");
}

TEST_F(Watching, wait_for_returns_when_the_revision_is_there) {
  Store& store = open();
  EXPECT_TRUE(env_.run(store.wait_for(1, env_.steady())));
  const Steady before = env_.steady();
  EXPECT_FALSE(env_.run(store.wait_for(2, before + 3s)));
  EXPECT_EQ(env_.steady() - before, 3s);
  const auto timer = env_.clock().call_at(env_.steady() + 1s, [&] {
    env_.spawn([](Store& to) -> Task<> {
      std::vector<Write> writes;
      writes.push_back({"/a", 1, 0});
      (void)co_await to.append(std::move(writes));
    }(store));
  });
  EXPECT_TRUE(env_.run(store.wait_for(2, env_.steady() + 3s)));
  EXPECT_EQ(env_.steady() - before, 4s);
}

TEST_F(Compacting, the_past_is_expired_and_the_present_stays) {
  Store& store = open();
  put("/a", 1);
  put("/a", 2);
  put("/b", 1);
  remove("/b");
  EXPECT_TRUE(env_.run(store.compact(4)));
  EXPECT_EQ(store.compacted(), 4);
  EXPECT_EQ(store.range({.at = 3}).error().reason, Reason::Expired);
  EXPECT_EQ(text_of(store.range({.at = 4})), "/a=2@3 /b=1@4");
  EXPECT_EQ(text_of(take(**store.watch("", 4))), "5:/b=-<1");
  EXPECT_EQ(text_of(reopen().range({.at = 4})), "/a=2@3 /b=1@4");
  EXPECT_EQ(store_->compacted(), 4);
}

TEST_F(Compacting, a_revision_is_never_given_twice_even_when_all_rows_are_gone) {
  Store& store = open();
  put("/a", 1);
  remove("/a");
  EXPECT_TRUE(env_.run(store.compact(3)));
  EXPECT_EQ(reopen().revision(), 3);
  EXPECT_EQ(put("/a", 2), 4);
  EXPECT_EQ(text_of(reopen().range({})), "/a=2@4");
}

TEST_F(Compacting, beyond_the_newest_is_refused) {
  Store& store = open();
  EXPECT_EQ(env_.run(store.compact(2)).error().reason, Reason::Timeout);
  EXPECT_TRUE(env_.run(store.compact(1)));
  EXPECT_TRUE(env_.run(store.compact(0)));
}

TEST_F(Compacting, the_window_keeps_memory_and_file_bounded) {
  options_.history_changes = 100;
  open();
  const std::string filling(500, 'x');
  std::size_t after_warm_up = 0;
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 1000; ++i) put("/r/g/a/" + std::to_string(i % 10), json::object({{"n", i}, {"text", filling}}));
    reopen();
    if (round == 2) after_warm_up = disk_.content(kPath).size();
  }
  EXPECT_EQ(store_->revision() - store_->compacted(), 100);
  EXPECT_LE(disk_.content(kPath).size(), after_warm_up * 3 / 2);
  EXPECT_EQ(store_->count(""), 10u);
}

TEST_F(Compacting, the_window_is_bounded_in_bytes_too) {
  options_.history_bytes = 20'000;
  Store& store = open();
  for (int i = 0; i < 100; ++i) put("/a", json::object({{"text", std::string(1000, 'x')}}));
  EXPECT_GT(store.compacted(), 80);
  EXPECT_LT(store.compacted(), 100);
  EXPECT_GT(reopen().compacted(), 80);
}

TEST_F(Restarting, everything_is_as_it_was_and_watches_go_on) {
  open();
  put("/r/g/a/x", json::object({{"n", 1}}));
  put("/r/g/a/y", 1);
  put("/r/g/a/x", json::object({{"n", 2}}));
  remove("/r/g/a/y");
  put("/r/g/a/y", 3);
  const std::string changes = text_of(take(**store_->watch("/r/g/a/", 1)));
  const std::string past = text_of(store_->range({.at = 4}));
  Store& store = reopen();
  EXPECT_EQ(store.revision(), 6);
  EXPECT_EQ(store.next_revision(), 7);
  EXPECT_EQ(store.compacted(), 1);
  EXPECT_EQ(text_of(store.range({})), R"(/r/g/a/x={"n":2}@4 /r/g/a/y=3@6)");
  EXPECT_EQ(text_of(store.range({.at = 4})), past);
  EXPECT_EQ(text_of(take(**store.watch("/r/g/a/", 1))), changes);
  EXPECT_EQ(text_of(take(**store.watch("/r/g/a/", 4))), "5:/r/g/a/y=-<1 6:/r/g/a/y=3");
}

TEST_F(Restarting, unusual_values_come_back_as_they_were) {
  open();
  const auto value = *json::parse(R"({"b":1,"a":[1.50,12345678901234567890,"\u0000é",null,{}],"":true})");
  put("/odd key \xc3\xa9", value);
  EXPECT_EQ(json::print(reopen().get("/odd key \xc3\xa9")->value), json::print(value));
}

TEST_F(Restarting, a_snapshot_starts_any_number_of_worlds) {
  open();
  for (int i = 0; i < 50; ++i) put("/r/g/a/" + std::to_string(i), i);
  env_.run(store_->close());
  const auto snapshot = disk_.snapshot();
  for (int world = 0; world < 3; ++world) {
    MemoryVfs disk;
    disk.restore(snapshot);
    ManualEnv env({.vfs = disk.vfs()});
    auto store = *Store::open(env, {.path = kPath});
    EXPECT_EQ(store->revision(), 51);
    std::vector<Write> writes;
    writes.push_back({"/r/g/a/0", world, 2});
    EXPECT_EQ(*env.run(store->append(std::move(writes))), 52);
  }
  EXPECT_EQ(json::print(open().get("/r/g/a/0")->value), "0");
}

}  // namespace
}  // namespace slipway::store
