// Broken invariants end the process with the story: what was expected, where. Never for bad input (that is a Status).
#pragma once

#include <string_view>

namespace slipway {

/// Prints expression, place and story on standard error and aborts.
[[noreturn]] void broken_invariant(const char* expression, const char* file, int line, std::string_view story = {});

}  // namespace slipway

#define SLIPWAY_CHECK(condition, ...) \
  ((condition) ? void(0) : ::slipway::broken_invariant(#condition, __FILE__, __LINE__ __VA_OPT__(, ) __VA_ARGS__))
