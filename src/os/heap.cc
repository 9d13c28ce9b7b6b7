#include "os/heap.h"

#include <gperftools/malloc_extension_c.h>

#include <cstdlib>  // says whether it is glibc

#ifdef __GLIBC__
#include <malloc.h>
#endif

// Null in programs that are not linked with tcmalloc.
extern "C" {
[[gnu::weak]] int MallocExtension_GetNumericProperty(const char* property, size_t* value);
[[gnu::weak]] int MallocExtension_SetNumericProperty(const char* property, size_t value);
[[gnu::weak]] void MallocExtension_ReleaseToSystem(size_t num_bytes);
}

namespace slipway::os {

void keep_heap_small() {
  if (MallocExtension_SetNumericProperty != nullptr) {
    constexpr std::size_t kThreadCaches = std::size_t{2} << 20U;
    MallocExtension_SetNumericProperty("tcmalloc.aggressive_memory_decommit", 1);
    MallocExtension_SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", kThreadCaches);
    return;
  }
#ifdef __GLIBC__
  constexpr int kHeaps = 2;
  constexpr int kLargeBlock = 64 << 10;
  constexpr int kFreeAtEnd = 128 << 10;
  mallopt(M_ARENA_MAX, kHeaps);
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  mallopt(M_TRIM_THRESHOLD, kFreeAtEnd);
#endif
}

std::size_t heap_kept() {
  std::size_t bytes = 0;
  if (MallocExtension_GetNumericProperty != nullptr) {
    MallocExtension_GetNumericProperty("tcmalloc.pageheap_free_bytes", &bytes);
    return bytes;
  }
#ifdef __GLIBC__
  bytes = mallinfo2().fordblks;
#endif
  return bytes;
}

void give_heap_back(std::size_t bytes) {
  if (MallocExtension_ReleaseToSystem != nullptr) {
    MallocExtension_ReleaseToSystem(bytes);
    return;
  }
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

std::size_t heap_in_use() {
  std::size_t bytes = 0;
  if (MallocExtension_GetNumericProperty != nullptr) {
    MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes);
    return bytes;
  }
#ifdef __GLIBC__
  const auto info = mallinfo2();
  bytes = info.uordblks + info.hblkhd;
#endif
  return bytes;
}

}  // namespace slipway::os
