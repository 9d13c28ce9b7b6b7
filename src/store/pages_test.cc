#include "store/pages.h"

#include <fmt/format.h>

#include "store/store_fixture.h"

namespace slipway::store {
namespace {

using Strings = std::vector<std::string>;

std::string key(std::string_view name) { return fmt::format("/registry/core/configmaps/{}", name); }

class PagesTest : public StoreTest {
 protected:
  PagesTest() { open(); }

  std::unique_ptr<Pages> pages(RangeQuery query = {}) {
    if (query.prefix.empty()) query.prefix = "/registry/core/configmaps/";
    auto made = store_->pages(std::move(query));
    EXPECT_TRUE(made);
    return std::move(*made);
  }
  /// "a=1" for each entry.
  static Strings text(const Range& piece) {
    Strings out;
    for (const auto& [name, entry] : piece.entries) {
      out.push_back(name.substr(name.rfind('/') + 1) + "=" + json::print(entry.value));
    }
    return out;
  }
  Strings next(Pages& from, std::size_t keys) {
    const auto piece = from.next(keys);
    EXPECT_TRUE(piece) << piece.error().message;
    return piece ? text(*piece) : Strings{};
  }
};

TEST_F(PagesTest, show_one_revision_whatever_is_written_between_two_pieces) {
  for (const char* name : {"b", "d", "f", "h"}) put(key(name), 1);
  const auto reading = pages();
  EXPECT_EQ(next(*reading, 1), Strings{"b=1"});
  put(key("a"), 2);  // before the place of the reading
  put(key("b"), 2);
  put(key("c"), 2);  // beyond it, from here on
  put(key("d"), 2);
  put(key("d"), 3);
  remove(key("f"));
  EXPECT_EQ(next(*reading, 2), (Strings{"d=1", "f=1"}));
  EXPECT_FALSE(reading->is_over());
  remove(key("h"));
  put(key("h"), 9);
  put(key("i"), 2);
  EXPECT_EQ(next(*reading, 5), Strings{"h=1"});
  EXPECT_TRUE(reading->is_over());
}

TEST_F(PagesTest, looks_at_no_more_keys_than_asked_for) {
  for (int i = 0; i < 10; ++i) put(key(fmt::format("k{}", i)), i);
  RangeQuery query;
  std::size_t looked = 0;
  query.wants = [&](std::string_view, const Entry& entry) {
    ++looked;
    return entry.value.as_int() == 7;
  };
  const auto reading = pages(std::move(query));
  EXPECT_EQ(next(*reading, 4), Strings{});
  EXPECT_EQ(looked, 4U);
  EXPECT_EQ(next(*reading, 4), Strings{"k7=7"});
  EXPECT_EQ(looked, 8U);
  EXPECT_FALSE(reading->is_over());
  EXPECT_EQ(next(*reading, 4), Strings{});
  EXPECT_TRUE(reading->is_over());
}

TEST_F(PagesTest, count_their_limit_over_all_pieces) {
  for (int i = 0; i < 6; ++i) put(key(fmt::format("k{}", i)), i);
  RangeQuery query;
  query.limit = 3;
  const auto reading = pages(std::move(query));
  EXPECT_EQ(next(*reading, 2), (Strings{"k0=0", "k1=1"}));
  const auto last = reading->next(2);
  ASSERT_TRUE(last);
  EXPECT_EQ(text(*last), Strings{"k2=2"});
  EXPECT_TRUE(last->has_more);
  EXPECT_EQ(last->remaining, 3);
  EXPECT_TRUE(reading->is_over());
}

TEST_F(PagesTest, expire_when_history_is_gone) {
  put(key("a"), 1);
  put(key("b"), 1);
  const auto reading = pages();
  EXPECT_EQ(next(*reading, 1), Strings{"a=1"});
  ASSERT_TRUE(env_.run(store_->compact(put(key("c"), 1))));
  const auto late = reading->next(1);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().reason, Reason::Expired);
}

TEST_F(PagesTest, agree_with_the_range_in_one_piece_at_every_revision) {
  for (int i = 0; i < 60; ++i) {
    const std::string name = key(fmt::format("k{}", (i * 7) % 11));
    if (i % 5 == 4 && store_->get(name)) {
      remove(name);
    } else {
      put(name, i);
    }
  }
  for (Revision at = 2; at <= store_->revision(); ++at) {
    const auto whole = store_->range({.prefix = key(""), .start = {}, .limit = 0, .at = at});
    ASSERT_TRUE(whole);
    for (const std::size_t keys : {1U, 2U, 3U, 100U}) {
      const auto reading = pages({.prefix = key(""), .start = {}, .limit = 0, .at = at});
      Strings all;
      while (!reading->is_over()) std::ranges::copy(next(*reading, keys), std::back_inserter(all));
      EXPECT_EQ(all, text(*whole)) << at << " by " << keys;
    }
  }
}

TEST_F(PagesTest, a_watcher_passes_many_changes_of_others_in_turns) {
  const Revision from = put(key("mine/a"), 1);
  for (int batch = 0; batch < 10; ++batch) {
    std::vector<Write> writes;
    for (int i = 0; i < 2000; ++i) writes.push_back({key(fmt::format("other/{}-{}", batch, i)), json::Value(i), 0});
    ASSERT_TRUE(append(std::move(writes)));
  }
  const Revision mine = put(key("mine/b"), 1);
  const auto watcher = store_->watch(key("mine/"), from);
  ASSERT_TRUE(watcher);
  const auto before = env_.queue().steps();
  const auto changes = take(**watcher);
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->size(), 1U);
  EXPECT_EQ(changes->front().revision, mine);
  EXPECT_GE(env_.queue().steps() - before, 4U);
  EXPECT_EQ((*watcher)->progress(), mine);
}

}  // namespace
}  // namespace slipway::store
