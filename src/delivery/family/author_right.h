// What a controller does while the author of an object lacks a right: it waits with the cause AuthorLacksRight, uses up no
// retry, and tries again soon, since nothing wakes it when the right returns. Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/time.h"
#include "kube/user.h"

namespace slipway::delivery {

inline constexpr std::string_view kAuthorLacksRight = "AuthorLacksRight";
inline constexpr Duration kAuthorRightPause = std::chrono::seconds{30};

/// Whether an API server has refused something for a right that `author` lacks. False for a null author, and for the refusal of
/// another server: that of a git remote names no kind.
bool lacks_right(const Status& error, const kube::UserInfo* author);

/// The refusal, as whom the object acts, and what to do.
std::string lacks_right_text(const Status& error, const kube::UserInfo& author);

}  // namespace slipway::delivery
