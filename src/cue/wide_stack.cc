#include "cue/wide_stack.h"

#include <ucontext.h>

#include <exception>
#include <new>
#include <utility>

#if __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define SLIPWAY_TELLS_SANITIZER 1
#else
#define SLIPWAY_TELLS_SANITIZER 0
#endif

namespace slipway::cue {

namespace {

#if __has_feature(thread_sanitizer)
// It keeps a list of 65,536 calls per thread and looks at no limit.
constexpr std::size_t kWideBytes = std::size_t{6} << 20;
#else
// Ten thousand levels of an evaluation fit, under the address sanitizer, too. Pages that are not touched cost nothing.
constexpr std::size_t kWideBytes = std::size_t{256} << 20;
#endif

struct StackCrossing {
  const std::function<void()>& what;
  ucontext_t back = {};
  ucontext_t there = {};
  std::exception_ptr thrown = {};
  const void* caller_stack = nullptr;
  std::size_t caller_size = 0;
};

void leave([[maybe_unused]] void** kept, [[maybe_unused]] const void* stack, [[maybe_unused]] std::size_t size) {
#if SLIPWAY_TELLS_SANITIZER
  __sanitizer_start_switch_fiber(kept, stack, size);
#endif
}
void arrive([[maybe_unused]] void* kept, [[maybe_unused]] const void** stack, [[maybe_unused]] std::size_t* size) {
#if SLIPWAY_TELLS_SANITIZER
  __sanitizer_finish_switch_fiber(kept, stack, size);
#endif
}

// makecontext passes ints: the address in two halves.
void enter(unsigned high, unsigned low) {
  auto& crossing = *reinterpret_cast<StackCrossing*>(static_cast<std::uintptr_t>(high) << 32 | low);
  arrive(nullptr, &crossing.caller_stack, &crossing.caller_size);
  try {
    crossing.what();
  } catch (...) {  // no unwinder finds its way from one stack to another: it goes on over there
    crossing.thrown = std::current_exception();
  }
  leave(nullptr, crossing.caller_stack, crossing.caller_size);
  setcontext(&crossing.back);
}

}  // namespace

// The first question, one from further up, or from where no recursion gets to without having been asked on its way: a thread or
// coroutine that took over, or the wide stack of another evaluation.
bool WideStack::is_another_stack(std::uintptr_t here) {
  constexpr std::size_t kStride = std::size_t{256} << 10;
  const bool is_further = !share_.is_wide && (here > share_.begin || share_.begin - here > share_.hard_bytes + kStride);
  if (is_further) share_.begin = here;
  return is_further;
}

bool WideStack::call(const std::function<void()>& what) {
  std::unique_ptr<std::byte[]> stack = std::move(spare_);
  if (stack == nullptr) stack.reset(new (std::nothrow) std::byte[kWideBytes]);
  if (stack == nullptr) return false;
  StackCrossing crossing{what};
  getcontext(&crossing.there);
  crossing.there.uc_stack.ss_sp = stack.get();
  crossing.there.uc_stack.ss_size = kWideBytes;
  crossing.there.uc_link = nullptr;
  const auto address = reinterpret_cast<std::uintptr_t>(&crossing);
  makecontext(&crossing.there, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  const Share outer = std::exchange(share_, {.begin = reinterpret_cast<std::uintptr_t>(stack.get()) + kWideBytes,
                                             .soft_bytes = kWideBytes - (std::size_t{2} << 20),
                                             .hard_bytes = kWideBytes - (std::size_t{512} << 10),
                                             .is_wide = true});
  void* kept = nullptr;
  leave(&kept, stack.get(), kWideBytes);
  swapcontext(&crossing.back, &crossing.there);
  arrive(kept, nullptr, nullptr);
  share_ = outer;
  spare_ = std::move(stack);
  if (crossing.thrown) std::rethrow_exception(crossing.thrown);
  return true;
}

bool on_wide_stack(const std::function<void()>& what) {
  WideStack stack;
  return stack.call(what);
}

#undef SLIPWAY_TELLS_SANITIZER

}  // namespace slipway::cue
