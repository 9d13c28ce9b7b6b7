#include "delivery/workflow/time_layout.h"

#include <gtest/gtest.h>

namespace slipway::delivery::workflow {
namespace {

struct Case {
  const char* layout;
  const char* text;
};

TEST(TimeLayout, reads_and_writes_what_go_layouts_say) {
  const Time time = parse_rfc3339("2026-02-03T16:05:06Z").value();
  const Case kCases[] = {
      {"", "2026-02-03T16:05:06Z"},
      {"2006-01-02T15:04:05Z07:00", "2026-02-03T16:05:06Z"},
      {"2006-01-02 15:04:05", "2026-02-03 16:05:06"},
      {"Mon Jan _2 15:04:05 2006", "Tue Feb  3 16:05:06 2026"},
      {"Monday, 02-Jan-06 15:04:05 MST", "Tuesday, 03-Feb-26 16:05:06 UTC"},
      {"January 2, 2006 at 3:04:05pm (-0700)", "February 3, 2026 at 4:05:06pm (+0000)"},
  };
  for (const Case& one : kCases) {
    EXPECT_EQ(format_with_layout(time, one.layout), one.text);
    const auto parsed = parse_with_layout(one.text, one.layout);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(*parsed, time) << one.layout;
  }
  EXPECT_EQ(parse_with_layout("2026-02-03 18:05:06 +02:00", "2006-01-02 15:04:05 -07:00").value(), time);
}

TEST(TimeLayout, refuses_other_texts) {
  EXPECT_FALSE(parse_with_layout("2026-2-03", "2006-01-02"));
  EXPECT_FALSE(parse_with_layout("2026-02-30", "2006-01-02"));
  EXPECT_FALSE(parse_with_layout("2026-02-03x", "2006-01-02"));
}

}  // namespace
}  // namespace slipway::delivery::workflow
