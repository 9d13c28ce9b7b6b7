#include "delivery/application/settings.h"

#include <gtest/gtest.h>

namespace slipway::delivery::application {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

TEST(Settings, are_as_documented_when_nothing_is_given) {
  const auto settings = read_settings({{"apply-mode", ""}, {"step-parallelism", ""}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->engine.max_wait, seconds{60});
  EXPECT_EQ(settings->engine.max_failures, 10);
  EXPECT_EQ(settings->engine.parallel_steps, 16U);
  EXPECT_FALSE(settings->engine.suspends_on_failure);
  EXPECT_EQ(settings->progress_deadline, minutes{10});
  EXPECT_EQ(settings->apply_mode, ApplyMode::ServerSide);
}

TEST(Settings, are_read) {
  const auto settings = read_settings({{"max-workflow-wait-backoff-time", "5m"},
                                       {"max-workflow-step-error-retry-times", "0"},
                                       {"suspend-on-failure", "true"},
                                       {"step-parallelism", "1"},
                                       {"progress-deadline", "0s"},
                                       {"apply-mode", "three-way"},
                                       {"definition-namespace", "platform"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->engine.max_wait, minutes{5});
  EXPECT_EQ(settings->engine.max_failures, 0);
  EXPECT_EQ(settings->engine.parallel_steps, 1U);
  EXPECT_TRUE(settings->engine.suspends_on_failure);
  EXPECT_EQ(settings->progress_deadline, Duration{0});
  EXPECT_EQ(settings->apply_mode, ApplyMode::ThreeWay);
  EXPECT_EQ(settings->definition_namespace, "platform");
}

TEST(Settings, wrong_ones_are_named_with_what_they_take) {
  const std::pair<std::map<std::string, std::string>, const char*> rows[] = {
      {{{"max-workflow-wait-backoff-time", "soon"}},
       R"(--max-workflow-wait-backoff-time: "soon" is no duration of at least 1 s such as 90s or 10m)"},
      {{{"max-workflow-wait-backoff-time", "1ms"}},
       R"(--max-workflow-wait-backoff-time: "1ms" is no duration of at least 1 s such as 90s or 10m)"},
      {{{"max-workflow-step-error-retry-times", "-1"}},
       R"(--max-workflow-step-error-retry-times: "-1" is no whole number from 0 to 10000)"},
      {{{"step-parallelism", "0"}}, R"(--step-parallelism: "0" is no whole number from 1 to 10000)"},
      {{{"step-parallelism", "2x"}}, R"(--step-parallelism: "2x" is no whole number from 1 to 10000)"},
      {{{"progress-deadline", "-1m"}}, R"(--progress-deadline: "-1m" is no duration of at least 0 s such as 90s or 10m)"},
      {{{"apply-mode", "replace"}}, R"(--apply-mode: "replace" is neither server-side nor three-way)"},
      {{{"definition-namespace", "Vela/System"}}, R"(--definition-namespace: "Vela/System" is no name of a namespace)"},
  };
  for (const auto& [options, message] : rows) {
    const auto settings = read_settings(options);
    ASSERT_FALSE(settings) << message;
    EXPECT_EQ(settings.error().reason, Reason::BadRequest);
    EXPECT_EQ(settings.error().message, message);
  }
}

}  // namespace
}  // namespace slipway::delivery::application
