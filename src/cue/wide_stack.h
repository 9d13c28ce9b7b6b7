// Recursion as deep as its input. What recurses along references or nesting runs on the stack of whoever calls; once it has
// used its share of that, the rest of it runs on a stack of its own, taken from the heap and as large as its pages are touched.
// A call upon a wide stack is a plain call: it returns before its caller goes on, on the same thread, so nothing else sees it:
// no coroutine, no lock, no other thread. Sanitizers are told.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace slipway::cue {

class WideStack {
 public:
  /// The caller's share is used up, of whichever stack this is called on: go on with `call`, or end here when `is_wide`.
  bool is_used_up() { return is_beyond(share_.soft_bytes); }
  /// The rest, meant for work that recurses little by itself, is used up, too.
  bool is_exhausted() { return is_beyond(share_.hard_bytes); }
  /// On a stack of its own already: there is no other.
  bool is_wide() const { return share_.is_wide; }
  /// Calls `what` on a wide stack, and comes back when it is done; what it throws is thrown here. False when there is no memory
  /// for one; `what` is not called then.
  bool call(const std::function<void()>& what);

 private:
  bool is_beyond(std::size_t bytes) {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return share_.begin - here > bytes && !is_another_stack(here);
  }
  bool is_another_stack(std::uintptr_t here);

  struct Share {
    std::uintptr_t begin = 0;
    std::size_t soft_bytes = std::size_t{1} << 20;  // threads have eight times as much
    std::size_t hard_bytes = std::size_t{3} << 20;
    bool is_wide = false;
  };
  Share share_;
  std::unique_ptr<std::byte[]> spare_;  // of an earlier call: what goes to and fro at the end of the share asks once
};

/// For work whose depth is known before it begins. False as `WideStack::call`.
bool on_wide_stack(const std::function<void()>& what);

}  // namespace slipway::cue
