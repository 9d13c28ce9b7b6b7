#include "os/heap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
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

std::size_t resident_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
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

TEST(Heap, what_was_freed_is_given_back_when_asked) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer's memory is not the C library's";
#endif
  std::vector<std::string> small;
  for (int i = 0; i < 40'000; ++i) small.emplace_back(1'000, 'x');
  const auto pin = std::make_unique<std::string>(1'000, 'x');  // keeps the library from giving the end of its heap back
  const std::size_t kept = heap_kept();
  small.clear();
  small.shrink_to_fit();
  ASSERT_GT(heap_kept(), kept + (std::size_t{20} << 20U)) << "small blocks stay with the process";
  const std::size_t before = resident_bytes();
  give_heap_back(std::size_t{64} << 20U);
  EXPECT_LT(resident_bytes() + (std::size_t{20} << 20U), before);
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
