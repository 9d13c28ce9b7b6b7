// Which paths a file of a package may have.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace slipway::krm {

/// Whether it stays below the package's folder, and out of what Git keeps there: no part is empty, ".", ".." or ".git".
inline bool is_file_path(std::string_view path) {
  return std::ranges::none_of(split(path, '/'), [](std::string_view part) {
    return part.empty() || part == "." || part == ".." || lower(part) == ".git";
  });
}

}  // namespace slipway::krm
