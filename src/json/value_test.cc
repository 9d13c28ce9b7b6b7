#include "json/value.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "json/layout.h"

namespace slipway::json {
namespace {

std::string key(int i) { return fmt::format("key-number-{:06}", i); }

TEST(Value, is_null_by_default_and_after_a_move) {
  Value value;
  EXPECT_TRUE(value.is_null());
  value = "a string that is longer than fourteen bytes";
  Value taken = std::move(value);
  EXPECT_TRUE(value.is_null());  // NOLINT: the moved-from state is part of the contract
  EXPECT_EQ(taken.as_string(), "a string that is longer than fourteen bytes");
}

TEST(Value, keeps_scalars_by_type) {
  EXPECT_EQ(Value(true).type(), Type::Bool);
  EXPECT_EQ(Value(7).type(), Type::Int);
  EXPECT_EQ(Value(7u).as_int(), 7);
  EXPECT_EQ(Value(std::size_t{7}).as_int(), 7);
  EXPECT_EQ(Value(-1L).as_int(), -1);
  EXPECT_EQ(Value(1.5).type(), Type::Double);
  EXPECT_EQ(Value(UINT64_MAX).number_text(), "18446744073709551615");
  EXPECT_EQ(Value("x").type(), Type::String);
  EXPECT_EQ(Value(nullptr).type(), Type::Null);
}

TEST(Value, gives_the_fallback_when_the_type_differs) {
  EXPECT_EQ(Value("7").as_int(3), 3);
  EXPECT_EQ(Value(7).as_string(), "");
  EXPECT_TRUE(Value(0).as_bool(true));
  EXPECT_EQ(Value(true).as_double(2.5), 2.5);
  EXPECT_TRUE(Value(1)["a"].is_null());
  EXPECT_TRUE(Value(1).item(0).is_null());
  EXPECT_EQ(Value("abc").size(), 0u);
  EXPECT_EQ(Value(1).members().begin(), Value(1).members().end());
}

TEST(Value, holds_strings_of_every_length) {
  for (std::size_t length = 0; length < 70; ++length) {
    const std::string text(length, 'x');
    EXPECT_EQ(Value(text).as_string(), text);
    EXPECT_EQ(Value(text), Value(text));
    EXPECT_EQ(Value(text).memory_bytes() == 0, length <= 14) << length;
  }
  const std::string zero("a\0b", 3);
  EXPECT_EQ(Value(zero).as_string(), zero);
}

TEST(Value, shares_the_well_known_names) {
  EXPECT_EQ(Value("creationTimestamp").memory_bytes(), 0u);
  EXPECT_EQ(Value("f:creationTimestamp").memory_bytes(), 0u);
  EXPECT_EQ(Value("terminationGracePeriodSeconds").as_string(), "terminationGracePeriodSeconds");
  EXPECT_TRUE(Value("creationTimestamp").is_same(Value("creationTimestamp")));
  EXPECT_GT(Value("creationTimestamq").memory_bytes(), 0u);
}

TEST(Value, empty_containers_need_no_memory) {
  EXPECT_EQ(Value::empty_object().memory_bytes(), 0u);
  EXPECT_TRUE(Value::empty_object().is_object());
  EXPECT_TRUE(Value::empty_array().is_array());
  EXPECT_FALSE(Value::empty_array() == Value::empty_object());
  EXPECT_EQ(object({}), Value::empty_object());
}

TEST(Value, with_sets_in_place_or_last_and_shares_the_rest) {
  const Value inner = object({{"deep", "a string that is longer than fourteen bytes"}});
  const Value before = object({{"a", 1}, {"b", inner}, {"c", 3}});
  const Value after = before.with("a", 9).with("d", 4);
  std::string keys;
  for (auto [name, value] : after.members()) keys += name;
  EXPECT_EQ(keys, "abcd");
  EXPECT_EQ(after["a"].as_int(), 9);
  EXPECT_EQ(before["a"].as_int(), 1);
  EXPECT_EQ(before.size(), 3u);
  EXPECT_TRUE(after["b"].is_same(before["b"]));
  EXPECT_EQ(Value(5).with("a", 1), object({{"a", 1}}));
}

TEST(Value, without_removes_and_leaves_absent_keys_alone) {
  const Value before = object({{"a", 1}, {"b", 2}});
  EXPECT_EQ(before.without("a"), object({{"b", 2}}));
  EXPECT_TRUE(before.without("zz").is_same(before));
  EXPECT_EQ(before.without("a").without("b"), Value::empty_object());
}

TEST(Value, edits_along_a_path) {
  const Value made = Value().with_path({"metadata", "labels", "app"}, "web");
  EXPECT_EQ(made, object({{"metadata", object({{"labels", object({{"app", "web"}})}})}}));
  EXPECT_EQ(made.without_path({"metadata", "labels", "app"}), Value().with_path({"metadata", "labels"}, Value::empty_object()));
  EXPECT_TRUE(made.without_path({"metadata", "nothing", "app"}).is_same(made));
}

TEST(Value, edits_arrays) {
  const Value three = array({1, 2, 3});
  EXPECT_EQ(three.with_item(1, "two"), array({1, "two", 3}));
  EXPECT_EQ(three.without_item(0), array({2, 3}));
  EXPECT_EQ(three.without_item(7), three);
  EXPECT_EQ(three.inserted(0, 0), array({0, 1, 2, 3}));
  EXPECT_EQ(three.appended(4), array({1, 2, 3, 4}));
  EXPECT_EQ(Value().appended(1), array({1}));
}

TEST(Value, compares_deeply_whatever_the_order_of_members) {
  EXPECT_EQ(object({{"a", 1}, {"b", array({true, nullptr})}}), object({{"b", array({true, nullptr})}, {"a", 1}}));
  EXPECT_FALSE(object({{"a", 1}}) == object({{"a", 1}, {"b", 2}}));
  EXPECT_FALSE(object({{"a", 1}}) == object({{"b", 1}}));
  EXPECT_FALSE(array({1, 2}) == array({2, 1}));
  EXPECT_FALSE(Value("1") == Value(1));
  EXPECT_FALSE(Value(0) == Value(false));
}

TEST(Number, is_equal_by_what_it_means) {
  EXPECT_EQ(Value(1), Value(1.0));
  EXPECT_EQ(Value::number("1.0"), Value(1));
  EXPECT_EQ(Value::number("1e3"), Value(1000));
  EXPECT_EQ(Value::number("0.10"), Value(0.1));
  EXPECT_EQ(Value::number("-0"), Value(0));
  EXPECT_EQ(Value::number("100000000000000000000"), Value::number("1E20"));
  EXPECT_FALSE(Value::number("100000000000000000001") == Value::number("100000000000000000000"));
  EXPECT_FALSE(Value(INT64_MAX) == Value(9223372036854775808.0));
  EXPECT_FALSE(Value(1) == Value(1.5));
}

TEST(Number, keeps_its_text) {
  for (const char* text :
       {"0", "-0", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1.0", "1.50", "1e3", "1E+3",
        "0.1", "1e-7", "3.141592653589793238462643383279", "123456789012345678901234567890"}) {
    EXPECT_EQ(Value::number(text).number_text(), text);
  }
  EXPECT_TRUE(Value::number("9223372036854775807").is_int());
  EXPECT_EQ(Value::number("0.1").type(), Type::Double);
  EXPECT_EQ(Value::number("1.50").type(), Type::Number);
}

TEST(Number, writes_doubles_as_go_does) {
  EXPECT_EQ(Value(1.0).number_text(), "1");
  EXPECT_EQ(Value(0.1).number_text(), "0.1");
  EXPECT_EQ(Value(1e20).number_text(), "100000000000000000000");
  EXPECT_EQ(Value(1e21).number_text(), "1e+21");
  EXPECT_EQ(Value(0.000001).number_text(), "0.000001");
  EXPECT_EQ(Value(0.0000001).number_text(), "1e-7");
  EXPECT_EQ(Value(-2.5e-300).number_text(), "-2.5e-300");
}

TEST(Number, reads_whole_numbers_as_int) {
  EXPECT_EQ(Value::number("1.0").as_int(), 1);
  EXPECT_EQ(Value::number("12e2").as_int(), 1200);
  EXPECT_EQ(Value::number("1.5").as_int(-1), -1);
  EXPECT_EQ(Value::number("9223372036854775808").as_int(-1), -1);
  EXPECT_EQ(Value::number("1e999999999999999999999").as_int(-1), -1);
  EXPECT_EQ(Value(3.0).as_int(), 3);
}

TEST(ObjectBuilder, set_replaces_in_place_also_in_big_objects) {
  ObjectBuilder builder;
  for (int i = 0; i < 100; ++i) builder.set(key(i), i);
  for (int i = 0; i < 100; i += 3) builder.set(key(i), -i);
  const Value built = builder.build();
  EXPECT_TRUE(builder.empty());
  ASSERT_EQ(built.size(), 100u);
  int at = 0;
  for (auto [name, value] : built.members()) {
    EXPECT_EQ(name, key(at));
    EXPECT_EQ(value.as_int(), at % 3 == 0 ? -at : at);
    ++at;
  }
}

TEST(BigObject, finds_and_edits_ten_thousand_members) {
  ObjectBuilder builder;
  for (int i = 9999; i >= 0; --i) builder.set(key(i), i);
  Value big = builder.build();
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(big[key(i)].as_int(), i);
  EXPECT_FALSE(big.has("key-number-010000"));
  EXPECT_EQ(big.with("a", 1).without("a"), big);
  EXPECT_EQ(big.with(key(5), "x")[key(5)].as_string(), "x");
  EXPECT_EQ(big.with(key(5), "x").size(), 10000u);
}

TEST(BigObject, keeps_its_index_over_the_threshold_both_ways) {
  Value value = Value::empty_object();
  for (int i = 0; i < 40; ++i) {
    value = value.with(key((i * 7) % 40), i);
    for (int j = 0; j <= i; ++j) ASSERT_EQ(value[key((j * 7) % 40)].as_int(-1), j);
  }
  for (int i = 0; i < 40; ++i) {
    value = value.without(key(i));
    EXPECT_FALSE(value.has(key(i)));
    for (int j = i + 1; j < 40; ++j) ASSERT_TRUE(value.has(key(j)));
  }
  EXPECT_TRUE(value.empty());
}

TEST(DeepValue, is_destroyed_without_deep_recursion) {
  Value value = 1;
  for (int i = 0; i < 1'000'000; ++i) value = i % 2 ? array({value}) : object({{"k", value}});
  EXPECT_EQ(value.depth(), 1'000'000u);
  value = Value();
  EXPECT_TRUE(value.is_null());
}

TEST(SharedValue, is_read_and_dropped_by_several_threads) {
  const Value shared = object({{"list", array({"a string that is longer than fourteen bytes", 2})}});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&shared] {
      for (int n = 0; n < 10000; ++n) {
        Value copy = shared;
        Value edited = copy.with("n", n);
        ASSERT_TRUE(edited["list"].is_same(shared["list"]));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shared.size(), 1u);
}

}  // namespace
}  // namespace slipway::json
