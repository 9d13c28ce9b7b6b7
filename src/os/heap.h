// How the C library keeps memory that was freed. As it is by itself, each thread has a heap of its own, up to eight for a core,
// and big blocks are cut from the heap once one of their size was freed: after a list of some thousand objects, which is read
// by one thread and dropped by another, several times of what is in use stays resident.
#pragma once

namespace slipway::os {

/// For long-lived processes that read much and keep little: two heaps, and blocks of 64 KiB or more go back when they are
/// freed. To be called before there are threads; does nothing where the C library is not glibc.
void keep_heap_small();

}  // namespace slipway::os
