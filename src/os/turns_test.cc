#include "os/turns.h"

#include <gtest/gtest.h>
#include <time.h>

#include <boost/asio/post.hpp>

#include "os/real_env.h"

namespace slipway::os {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void burn(double seconds) {
  const double until = cpu_seconds() + seconds;
  while (cpu_seconds() < until) {
  }
}

std::uint64_t turns_above(const Histogram& turns, double bound) {
  std::uint64_t count = turns.observations;
  for (std::size_t i = 0; i < Histogram::kBounds.size() && Histogram::kBounds[i] <= bound; ++i) count -= turns.buckets[i];
  return count;
}

Task<> read_metrics(RealEnv& real, std::string& text) {
  const auto stream = real.metrics_stream();
  while (true) {
    auto piece = co_await stream->next();
    if (!piece || !*piece) break;
    text += **piece;
  }
  real.stop();
}

TEST(TurnMeter, a_long_turn_is_seen_among_short_ones) {
  Histogram turns;
  TurnMeter meter(turns);
  for (int i = 0; i < 1000; ++i) meter.end();
  burn(0.012);
  meter.end();
  for (int i = 0; i < 1000; ++i) meter.end();
  EXPECT_EQ(turns.observations, 2001U);
  EXPECT_GE(turns_above(turns, 0.01), 1U);
  EXPECT_GE(turns.sum, 0.012);
}

TEST(TurnMeter, waiting_is_no_work) {
  Histogram turns;
  TurnMeter meter(turns);
  timespec pause{.tv_sec = 0, .tv_nsec = 30'000'000};
  nanosleep(&pause, nullptr);
  meter.end();
  EXPECT_EQ(turns_above(turns, 0.025), 0U);
}

TEST(TurnMeter, the_loop_of_the_machine_shows_its_turns) {
  RealEnv real({.log_level = LogLevel::Error});
  boost::asio::post(real.env().executor, [] { burn(0.006); });
  boost::asio::post(real.env().executor, [&] { real.stop(); });
  real.run();
  std::string text;
  Tasks tasks(real.env());
  tasks.spawn(read_metrics(real, text));
  real.run();
  EXPECT_TRUE(text.contains("# TYPE slipway_logic_turn_seconds histogram")) << text;
  EXPECT_TRUE(text.contains("slipway_logic_turn_seconds_bucket{le=\"0.005\"} 1\n")) << text;
  EXPECT_TRUE(text.contains("slipway_logic_turn_seconds_count 2\n")) << text;
}

}  // namespace
}  // namespace slipway::os
