#include "delivery/workflow/variable_path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using json::Value;

std::string deep_path(std::size_t parts) {
  std::string path = "a";
  for (std::size_t i = 1; i < parts; ++i) path += ".a";
  return path;
}

Value numbered(const char* prefix, int count) {
  json::ObjectBuilder object;
  for (int i = 0; i < count; ++i) object.add(fmt::format("{}{}", prefix, i), i);
  return object.build();
}

TEST(VariablePath, has_at_most_a_hundred_parts_and_4096_bytes) {
  EXPECT_EQ(parse_path(deep_path(kMaxPathParts))->size(), kMaxPathParts);
  for (const std::string& path : {deep_path(kMaxPathParts + 1), deep_path(200'000), std::string(kMaxPathBytes + 1, 'a')}) {
    EXPECT_EQ(parse_path(path).error().reason, Reason::Invalid);
    EXPECT_EQ(put(Value(), path, 1, true).error().reason, Reason::Invalid);
    EXPECT_EQ(look_up(json::object({{"a", 1}}), path), nullptr);
  }
  EXPECT_EQ(parse_path("1 + 1").error().reason, Reason::BadRequest);
}

TEST(VariablePath, makes_no_value_that_is_nested_too_deep) {
  Value value = 1;
  std::size_t puts = 0;
  for (; puts < 100; ++puts) {
    auto deeper = put(Value(), deep_path(kMaxPathParts), value, true);
    if (!deeper) break;
    value = std::move(*deeper);
  }
  EXPECT_EQ(puts, 9U);
  EXPECT_TRUE(json::parse(json::print(json::object({{"vars", value}}))).has_value());
}

TEST(VariablePath, makes_at_most_a_thousand_items_on_the_way) {
  const auto list = put(Value::empty_object(), "l[1000]", "x", false);
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_EQ((*list)["l"].size(), 1001U);
  EXPECT_TRUE((*list)["l"].item(999).is_null());
  EXPECT_EQ((*list)["l"].item(1000).str(), "x");
  EXPECT_EQ(put(Value(), "l[1001]", "x", false).error().reason, Reason::BadRequest);
  EXPECT_EQ(put(Value(), "l[600][600]", "x", false).error().reason, Reason::BadRequest);
  EXPECT_EQ(put(Value(), "l[999999]", "x", false).error().reason, Reason::BadRequest);
  // Items that are there are not made.
  EXPECT_EQ((*put(*list, "l[2001]", "y", false))["l"].size(), 2002U);
}

TEST(VariablePath, merges_large_structs) {
  const Value old = json::object({{"q", numbered("b", 100'000)}});
  const auto both = put(old, "q", numbered("a", 100'000), false);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ((*both)["q"].size(), 200'000U);
  EXPECT_EQ((*both)["q"]["a7"].as_int(), 7);
  EXPECT_EQ(put(*both, "q", json::object({{"a7", 7}, {"c", 1}}), false).value()["q"].size(), 200'001U);
  EXPECT_EQ(put(*both, "q", json::object({{"a7", 8}}), false).error().reason, Reason::Conflict);
}

}  // namespace
}  // namespace slipway::delivery::workflow
