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

/// Bytes that were asked for and not given back; 0 where that is not known.
std::size_t heap_in_use();

}  // namespace slipway::os
