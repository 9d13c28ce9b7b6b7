// How this process keeps memory that was freed. The program is linked with tcmalloc, tests use the C library's allocator: each
// function works with either.
#pragma once

#include <cstddef>

namespace slipway::os {

/// For long-lived processes that read much and keep little: what was freed goes back to the system soon. With glibc also two
/// heaps where it would keep up to eight for a core, and blocks of 64 KiB or more stand for themselves: otherwise, after a list
/// of some thousand objects, several times of what is in use stays resident. To be called before there are threads; does
/// nothing where the memory is kept by neither.
void keep_heap_small();

/// Bytes that were freed and are kept for the next who asks; 0 where that is not known.
std::size_t heap_kept();

/// Gives about `bytes` of them back to the system; a large number takes long (a millisecond for some MiB). With glibc: all.
void give_heap_back(std::size_t bytes);

/// Bytes that were asked for and not given back; 0 where that is not known.
std::size_t heap_in_use();

}  // namespace slipway::os
