#include "os/heap.h"

#include <cstdlib>  // says whether it is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace slipway::os {

void keep_heap_small() {
#ifdef __GLIBC__
  constexpr int kHeaps = 2;
  constexpr int kLargeBlock = 64 << 10;
  constexpr int kFreeAtEnd = 128 << 10;
  mallopt(M_ARENA_MAX, kHeaps);
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  mallopt(M_TRIM_THRESHOLD, kFreeAtEnd);
#endif
}

}  // namespace slipway::os
