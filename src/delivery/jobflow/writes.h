// Several writes at once, so that they share a commit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/env.h"

namespace slipway::delivery::jobflow {

/// The field manager of everything the controller writes.
inline std::string field_manager() { return "slipway-workflow"; }

/// A create that was refused so will be refused however often it is tried.
bool is_final(const Status& status);

/// Runs write(0) … write(count - 1), at most `limit` at once, and waits for all that were begun. After a failure no more are
/// begun; the first one is returned. What `write` refers to must outlive the call.
Task<Result<void>> write_all(Env& env, std::size_t count, std::size_t limit,
                             std::function<Task<Result<void>>(std::size_t)> write);

}  // namespace slipway::delivery::jobflow
