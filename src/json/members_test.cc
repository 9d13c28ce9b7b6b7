#include "json/members.h"

#include <gtest/gtest.h>

#include "json/text.h"

namespace slipway::json {
namespace {

Value value_of(const char* text) { return parse(text).value(); }

TEST(Members, are_set_over_those_of_another_object) {
  EXPECT_EQ(print(with_members(value_of(R"({"a":1,"b":2})"), value_of(R"({"c":3,"a":4})"))), R"({"a":4,"b":2,"c":3})");
  EXPECT_EQ(print(with_members(Value(), value_of(R"({"c":3})"))), R"({"c":3})");
  EXPECT_EQ(print(with_members(value_of(R"({"a":1})"), Value())), R"({"a":1})");
}

TEST(Members, are_kept_by_their_keys) {
  EXPECT_EQ(print(members_where(value_of(R"({"ab":1,"b":2,"ac":3})"), [](std::string_view key) { return key[0] == 'a'; })),
            R"({"ab":1,"ac":3})");
}

TEST(Members, of_sets_of_fields_are_united) {
  EXPECT_EQ(field_union(value_of(R"({"f:a":{},"f:b":{"f:c":{}}})"), value_of(R"({"f:b":{"f:d":{}},"f:e":{}})")),
            value_of(R"({"f:a":{},"f:b":{"f:c":{},"f:d":{}},"f:e":{}})"));
}

TEST(Members, of_large_objects_are_set_in_one_pass) {
  ObjectBuilder old_members;
  ObjectBuilder new_members;
  for (int i = 0; i < 200'000; ++i) {
    old_members.add("a" + std::to_string(i), i);
    new_members.add("b" + std::to_string(i), i);
  }
  const Value base = old_members.build();
  const Value more = new_members.build();
  EXPECT_EQ(with_members(base, more).size(), 400'000U);
  EXPECT_EQ(field_union(base, more).size(), 400'000U);
}

}  // namespace
}  // namespace slipway::json
