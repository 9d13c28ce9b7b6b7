#include "client/object_packs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "client/object_cache.h"
#include "json/text.h"

namespace slipway::client {
namespace {

using json::Value;

const kube::Resource kThings{"", "v1", "things"};

/// Some 2 KiB of text, in which the name and a number are its own.
Value thing(int number) {
  json::ObjectBuilder labels;
  for (int i = 0; i < 40; ++i) labels.add(fmt::format("example.com/label-{}", i), fmt::format("value {} of all", i * 7919));
  return json::object({{"kind", "Thing"},
                       {"metadata", json::object({{"name", fmt::format("thing-{}", number)}, {"labels", labels.build()}})},
                       {"spec", json::object({{"number", number}, {"share", number / 7.0}})}});
}

TEST(ObjectPacks, packs_what_was_not_used_lately_and_gives_it_back_as_it_was) {
  constexpr int kCount = 200;
  const std::size_t tree_bytes = thing(0).memory_bytes();
  ObjectPacks packs(10 * tree_bytes);
  AlikeObjects& alike = packs.alike(kThings, Form::Whole);
  std::vector<KeptObject> kept(kCount);
  for (int i = 0; i < kCount; ++i) packs.put(alike, kept[static_cast<std::size_t>(i)], thing(i));
  std::size_t trees = 0;
  for (const KeptObject& one : kept) trees += one.tree.is_null() ? 0 : 1;
  EXPECT_GE(trees, 8U);
  EXPECT_LE(trees, 10U);
  ASSERT_TRUE(alike.dictionary);
  EXPECT_LT(kept[180].packed_size, 120U) << "of " << json::print(thing(180)).size();
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(json::print(packs.get(alike, kept[static_cast<std::size_t>(i)])), json::print(thing(i)));
  }
  for (KeptObject& one : kept) packs.drop(one);
}

TEST(ObjectPacks, looking_at_all_makes_none_recent_and_reading_does) {
  ObjectPacks packs(3 * thing(0).memory_bytes());
  AlikeObjects& alike = packs.alike(kThings, Form::Whole);
  std::array<KeptObject, 5> kept;
  for (int i = 0; i < 5; ++i) packs.put(alike, kept.at(static_cast<std::size_t>(i)), thing(i));
  const auto trees = [&] {
    std::string found;
    for (const KeptObject& one : kept) found += one.tree.is_null() ? '-' : '+';
    return found;
  };
  EXPECT_EQ(trees(), "--+++");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(packs.peek(alike, kept.at(static_cast<std::size_t>(i))), thing(i));
  EXPECT_EQ(trees(), "--+++");
  EXPECT_EQ(packs.get(alike, kept[2]), thing(2));
  EXPECT_EQ(packs.get(alike, kept[0]), thing(0));
  EXPECT_EQ(trees(), "+-+-+") << "3 was the oldest, 2 was read again";
  EXPECT_EQ(packs.get(alike, kept[1]), thing(1));
  EXPECT_NE(kept[0].packed, nullptr) << "what was unpacked is dropped at no cost";
  packs.put(alike, kept[0], thing(77));
  EXPECT_EQ(kept[0].packed, nullptr);
  EXPECT_EQ(packs.get(alike, kept[0]), thing(77));
  for (KeptObject& one : kept) packs.drop(one);
}

TEST(ObjectPacks, keeps_the_object_that_was_used_last_however_large_it_is) {
  ObjectPacks packs(100);
  AlikeObjects& alike = packs.alike(kThings, Form::Whole);
  KeptObject large;
  const Value object = json::object({{"data", std::string(5 << 20, 'x')}});
  packs.put(alike, large, object);
  EXPECT_TRUE(large.tree.is_same(object));
  KeptObject other;
  packs.put(alike, other, thing(1));
  EXPECT_TRUE(large.tree.is_null());
  EXPECT_EQ(packs.get(alike, large), object);
  packs.drop(large);
  packs.drop(other);
}

TEST(ObjectCache, leaves_nothing_behind_in_packs_that_others_use) {
  const auto packs = std::make_shared<ObjectPacks>(0);
  auto first = std::make_unique<ObjectCache>(packs, kThings, Form::Whole);
  ObjectCache second(packs, kThings, Form::Whole);
  Value before;
  for (int i = 0; i < 100; ++i) {
    const ObjectKey key{"", fmt::format("thing-{:02}", i)};
    EXPECT_TRUE(first->put(key, thing(i), before));
    EXPECT_TRUE(second.put(key, thing(i), before));
  }
  EXPECT_EQ(second.erase({"", "thing-07"}), thing(7));
  first.reset();
  int seen = 0;
  for (const auto& [key, object] : second.objects()) seen += object["spec"]["number"].as_int() >= 0 ? 1 : 0;
  EXPECT_EQ(seen, 99);
  EXPECT_EQ(second.get({"", "thing-42"}), thing(42));
  EXPECT_TRUE(second.get({"", "thing-07"}).is_null());
}

TEST(ObjectCache, keeps_its_indexes_while_objects_are_packed) {
  ObjectCache cache(std::make_shared<ObjectPacks>(0), kThings, Form::Whole);
  cache.add_index("odd", [](const Value& object) {
    return std::vector<std::string>{object["spec"]["number"].as_int() % 2 == 1 ? "odd" : "even", "all"};
  });
  Value before;
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(cache.put({"ns", fmt::format("thing-{}", i)}, thing(i), before));
  EXPECT_EQ(cache.index("odd", "odd").size(), 5U);
  EXPECT_EQ(cache.index("odd", "all").size(), 10U);
  EXPECT_EQ(cache.index_keys("odd", "odd").front(), (ObjectKey{"ns", "thing-1"}));
  const Value newer = thing(4).with_path({"metadata", "resourceVersion"}, "9");
  EXPECT_TRUE(cache.put({"ns", "thing-3"}, newer, before));
  EXPECT_EQ(before, thing(3));
  EXPECT_FALSE(cache.put({"ns", "thing-3"}, thing(5), before)) << "it is older";
  EXPECT_EQ(cache.index("odd", "odd").size(), 4U);
  EXPECT_EQ(cache.erase({"ns", "thing-3"}), newer);
  EXPECT_EQ(cache.index("odd", "even").size(), 5U);
  EXPECT_EQ(cache.index("odd", "all").size(), 9U);
}

TEST(ObjectCache, keeps_trees_for_who_asks_for_that) {
  auto packs = std::make_shared<ObjectPacks>(1);
  ObjectCache cache(packs, kThings, Form::Whole);
  Value before;
  const auto put = [&](int number) { return cache.put({"", fmt::format("{}", number)}, thing(number), before); };
  for (int i = 0; i < 50; ++i) put(i);
  cache.keep_trees();
  for (int i = 50; i < 60; ++i) put(i);
  for (int i = 0; i < 60; ++i) {
    const ObjectKey key{"", fmt::format("{}", i)};
    EXPECT_EQ(cache.get(key), thing(i));
    EXPECT_TRUE(cache.get(key).is_same(cache.get(key)));
  }
}

TEST(ObjectCache, knows_what_a_list_did_not_show) {
  ObjectCache cache(std::make_shared<ObjectPacks>(0), kThings, Form::Whole);
  Value before;
  for (int i = 0; i < 3; ++i) cache.put({"", fmt::format("thing-{}", i)}, thing(i), before);
  cache.begin_list();
  EXPECT_FALSE(cache.put({"", "thing-1"}, thing(1), before)) << "seen, and no news";
  cache.put({"", "thing-7"}, thing(7), before);
  EXPECT_EQ(cache.unlisted(), (std::vector<ObjectKey>{{"", "thing-0"}, {"", "thing-2"}}));
}

}  // namespace
}  // namespace slipway::client
