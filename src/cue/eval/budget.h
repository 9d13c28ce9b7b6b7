// What an evaluation may cost before it ends with an error at the path it is at.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slipway::cue {

/// What an evaluation beyond its budget is told of.
inline constexpr const char* kTooManySteps = "evaluation takes too many steps";
inline constexpr const char* kTooDeep = "nested too deeply";

struct Budget {
  std::uint64_t max_steps = 20'000'000;
  std::size_t max_bytes = std::size_t{512} << 20;
  std::uint32_t max_depth = 50'000;  // vertices evaluated inside each other; 1000 in a short program
};

}  // namespace slipway::cue
