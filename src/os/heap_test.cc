#include "os/heap.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace slipway::os {
namespace {

/// What the C library has of the system.
std::size_t held_bytes() {
#ifdef __GLIBC__
  const auto info = mallinfo2();
  return info.arena + info.hblkhd;
#else
  return 0;
#endif
}

TEST(Heap, large_blocks_go_back_though_something_small_lies_behind_them) {
  keep_heap_small();
  const std::size_t before = held_bytes();
  // By itself the library cuts blocks from the heap once one of their size has been freed.
  std::make_unique<std::string>(std::size_t{1} << 20U, 'x').reset();
  std::vector<std::string> pages;
  std::vector<std::string> kept;
  for (int i = 0; i < 100; ++i) {
    pages.emplace_back(200'000, 'x');
    kept.emplace_back(2'000, 'x');
  }
  pages.clear();
  EXPECT_LT(held_bytes(), before + (std::size_t{2} << 20U));
  EXPECT_EQ(kept.size(), 100U);
}

TEST(Heap, in_use_is_what_was_asked_for_and_not_given_back) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer's memory is not the C library's";
#endif
  const std::size_t before = heap_in_use();
  auto block = std::make_unique<std::string>(std::size_t{1} << 20U, 'x');
  EXPECT_GE(heap_in_use(), before + (std::size_t{1} << 20U));
  block.reset();
  EXPECT_LT(heap_in_use(), before + (std::size_t{1} << 20U));
}

}  // namespace
}  // namespace slipway::os
