#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace slipway {

void broken_invariant(const char* expression, const char* file, int line, std::string_view story) {
  std::fprintf(stderr, "slipway: broken invariant at %s:%d: %s%s%.*s\n", file, line, expression, story.empty() ? "" : ": ",
               static_cast<int>(story.size()), story.data());
  std::abort();
}

}  // namespace slipway
