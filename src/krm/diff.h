// Unified diffs between two versions of a package, as git prints them without its index lines. Files that are not text are only
// named.
#pragma once

#include <string>
#include <string_view>

#include "krm/package.h"

namespace slipway::krm {

/// "" when they are equal. Three lines around each change.
std::string diff(const Files& before, const Files& after);
/// The hunks of one file; beyond a few thousand changed lines the file is shown as replaced.
std::string diff_text(std::string_view before, std::string_view after);

}  // namespace slipway::krm
