// Faults that once ended otherwise than the clean run. Each stays as a case; the story says what was wrong.
#include <gtest/gtest.h>

#include "sim/scenario.h"

namespace slipway::sim {
namespace {

struct Found {
  const char* story;
  const char* scenario;
  /// The operation that the fault struck: the first point whose description begins so.
  const char* what;
  FaultKind kind;
};

constexpr Found kFound[] = {
    {"a Conflict on deleting a Job was taken for \"another Job has its name\", so the Job of a late workflow ran on",
     "deadline", "DELETE jobs.batch", FaultKind::Conflict},
};

TEST(FoundFaults, end_as_the_clean_run_now) {
  const Image image = Image::bootstrapped();
  for (const Found& found : kFound) {
    SCOPED_TRACE(found.story);
    const auto all = scenarios();
    const auto scenario = std::find_if(all.begin(), all.end(), [&](const Scenario& one) { return one.name == found.scenario; });
    ASSERT_NE(scenario, all.end());
    WorldOptions options;
    options.image = &image;
    const Ending clean = play(*scenario, options);
    std::uint64_t struck = 0;
    for (const Point& point : clean.recorded) {
      if (!point.what.starts_with(found.what) || !applies(found.kind, point.moment, point.is_write)) continue;
      options.faults.exact = {{point.index, found.kind}};
      EXPECT_EQ(play(*scenario, options).state, clean.state) << point.what;
      ++struck;
    }
    EXPECT_GT(struck, 0U) << "no operation \"" << found.what << "\" any more: renew the case";
  }
}

}  // namespace
}  // namespace slipway::sim
