#include "store/key_map.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/manual_env.h"

namespace slipway::store {
namespace {

std::string keys_below(const KeyMap& map, std::string_view prefix) {
  std::string text;
  for (auto at = map.lower_bound(prefix); at < map.end_of(prefix); at = map.next(at)) text += map.at(at).key + " ";
  return text;
}

TEST(KeyMap, gives_the_keys_below_a_prefix_in_order) {
  KeyMap map;
  for (const char* key : {"/b/2", "/a/1", "/b/1", "/b", "/c/1", "/b/10", "/b0"}) map.put(key, json::Value(1), 2);
  EXPECT_EQ(keys_below(map, "/b/"), "/b/1 /b/10 /b/2 ");
  EXPECT_EQ(keys_below(map, "/b"), "/b /b/1 /b/10 /b/2 /b0 ");
  EXPECT_EQ(keys_below(map, "/d"), "");
  EXPECT_EQ(keys_below(map, ""), "/a/1 /b /b/1 /b/10 /b/2 /b0 /c/1 ");
}

TEST(KeyMap, a_prefix_may_end_in_the_highest_byte) {
  KeyMap map;
  map.put("a\xff", json::Value(1), 2);
  map.put("a\xff\xff", json::Value(1), 2);
  map.put("b", json::Value(1), 2);
  EXPECT_EQ(map.distance(map.lower_bound("a\xff"), map.end_of("a\xff")), 2u);
  map.put("\xff", json::Value(1), 2);
  EXPECT_EQ(map.end_of("\xff"), map.end());
}

TEST(KeyMap, behaves_as_an_ordered_map_under_random_changes) {
  SeededRandom random(7);
  KeyMap map;
  std::map<std::string, std::int64_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const std::string key = "/k/" + std::to_string(random.next() % 3000);
    if (random.next() % 3 == 0) {
      EXPECT_EQ(map.erase(key), model.erase(key) == 1);
    } else {
      map.put(key, json::Value(step), step);
      model[key] = step;
    }
  }
  ASSERT_EQ(map.size(), model.size());
  auto at = map.lower_bound("");
  for (const auto& [key, value] : model) {
    ASSERT_EQ(map.at(at).key, key);
    ASSERT_EQ(map.at(at).modified, value);
    at = map.next(at);
  }
  EXPECT_EQ(at, map.end());
  for (int probe = 0; probe < 200; ++probe) {
    const std::string prefix = "/k/" + std::to_string(random.next() % 300);
    std::size_t expected = 0;
    for (const auto& [key, value] : model) expected += key.starts_with(prefix) ? 1 : 0;
    EXPECT_EQ(map.distance(map.lower_bound(prefix), map.end_of(prefix)), expected) << prefix;
  }
}

TEST(KeyMap, takes_sorted_items_as_they_are) {
  std::vector<KeyMap::Item> items;
  for (int i = 1000; i < 2000; ++i) items.push_back({"/" + std::to_string(i), json::Value(i), i});
  KeyMap map(std::move(items));
  EXPECT_EQ(map.size(), 1000u);
  EXPECT_EQ(map.find("/1500")->modified, 1500);
  EXPECT_EQ(map.find("/2000"), nullptr);
  EXPECT_EQ(map.distance(map.lower_bound("/1100"), map.end_of("/1")), 900u);
}

}  // namespace
}  // namespace slipway::store
