#include "cue/wide_stack.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "cue/cue.h"

namespace slipway::cue {
namespace {

#if __has_feature(thread_sanitizer)  // its stacks are small
constexpr int kDeep = 3000;
constexpr int kLong = 1000;
#else
constexpr int kDeep = 50'000;
constexpr int kLong = 5000;
#endif

// Keeps a kilobyte of each level alive.
std::size_t sum_down(WideStack& stack, std::size_t levels, bool& went_over) {
  std::size_t result = 0;
  if (stack.is_used_up() && !stack.is_wide()) {
    went_over = true;
    EXPECT_TRUE(stack.call([&] { result = sum_down(stack, levels, went_over); }));
    return result;
  }
  volatile std::size_t kept[128] = {levels};
  if (levels == 0 || stack.is_exhausted()) return 0;
  result = 1 + sum_down(stack, levels - 1, went_over);
  return result + (kept[0] - levels);
}

TEST(WideStack, takes_what_a_thread_has_no_room_for) {
  WideStack stack;
  bool went_over = false;
  EXPECT_EQ(sum_down(stack, 100, went_over), 100u);
  EXPECT_FALSE(went_over);
  EXPECT_EQ(sum_down(stack, kDeep, went_over), static_cast<std::size_t>(kDeep));
  EXPECT_TRUE(went_over);
  EXPECT_FALSE(stack.is_wide());
}

TEST(WideStack, ends_too) {
  WideStack stack;
  bool went_over = false;
  EXPECT_LT(sum_down(stack, 10'000'000, went_over), 10'000'000u);
}

TEST(WideStack, lets_through_what_is_thrown) {
  WideStack stack;
  EXPECT_THROW(stack.call([] { throw std::runtime_error("over there"); }), std::runtime_error);
  EXPECT_FALSE(stack.is_wide());
}

// One after another, never two at a time.
TEST(WideStack, knows_when_another_thread_goes_on) {
  std::string text = "a0: 1\n";
  for (int i = kLong; i > 0; --i) text += "a" + std::to_string(i) + ": a" + std::to_string(i - 1) + " + 1\n";
  auto program = compile({{"x.cue", text + "l: [for x in [1] {x}]\n"}});
  ASSERT_TRUE(program.has_value());
  for (int round = 0; round < 3; ++round) {
    Cursor root;
    std::thread([&] { root = evaluate(*program); }).join();
    std::thread([&] { EXPECT_TRUE(root.validate(Demand::Concrete).empty()); }).join();
    EXPECT_EQ(root.field("a" + std::to_string(kLong)).as_int(), kLong + 1);
  }
}

}  // namespace
}  // namespace slipway::cue
