#include "delivery/family/text.h"

#include <gtest/gtest.h>

namespace slipway::delivery {
namespace {

using kube::Object;

Object event(std::string_view uid, std::string_view reason, std::string_view last, std::string_view revision) {
  return json::object({{"metadata", json::object({{"resourceVersion", revision}})},
                       {"involvedObject", json::object({{"uid", uid}})},
                       {"type", "Normal"},
                       {"reason", reason},
                       {"lastTimestamp", last},
                       {"source", json::object({{"component", "test"}})},
                       {"message", "first\nsecond"}});
}

TEST(Text, aligned_columns_count_characters_and_end_without_spaces) {
  EXPECT_EQ(aligned({{"a", "bb", ""}, {"äöü", "c", "d"}}), "a    bb\näöü  c   d\n");
  EXPECT_EQ(aligned({}), "");
}

TEST(Text, an_age_is_never_negative) {
  const Time now = *parse_rfc3339("2026-01-01T00:01:05Z");
  EXPECT_EQ(age(now - std::chrono::seconds{65}, now), "65s");
  EXPECT_EQ(age(now + std::chrono::seconds{65}, now), "0s");
  EXPECT_EQ(age(std::nullopt, now), "-");
}

TEST(Text, events_of_one_second_come_in_the_order_of_their_revisions) {
  const Object object = json::object({{"metadata", json::object({{"uid", "u"}})}});
  const auto found =
      events_about({event("u", "Later", "2026-01-01T00:00:01Z", "1"), event("u", "Second", "2026-01-01T00:00:00Z", "10"),
                    event("u", "First", "2026-01-01T00:00:00Z", "9"), event("other", "Foreign", "2026-01-01T00:00:00Z", "2")},
                   object);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]["reason"].str(), "First");
  EXPECT_EQ(found[1]["reason"].str(), "Second");
  EXPECT_EQ(found[2]["reason"].str(), "Later");
}

TEST(Text, a_message_of_several_lines_stays_in_its_row) {
  const auto table = events_table({event("u", "Told", "2026-01-01T00:00:00Z", "1")}, *parse_rfc3339("2026-01-01T00:00:03Z"));
  EXPECT_EQ(table,
            "TYPE    REASON  AGE  FROM  MESSAGE\n"
            "Normal  Told    3s   test  first second\n");
}

}  // namespace
}  // namespace slipway::delivery
