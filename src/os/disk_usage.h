// How much a folder holds, as `du` counts: blocks taken by everything below it, on its file system. Links are not followed; a
// file with several names counts at each of them. Costs a look at every file. Only POSIX calls.
#pragma once

#include <cstdint>
#include <string>

namespace slipway::os {

/// In bytes. What cannot be seen, and what goes meanwhile, counts nothing.
std::int64_t disk_usage(const std::string& folder);

}  // namespace slipway::os
