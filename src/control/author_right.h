// Recognises that a request failed because the author of an object lacks a right. The controller then waits with the cause
// AuthorLacksRight, uses up no retry, and tries again after kAuthorRightPause, since no watch tells it when the right returns.
// Pure.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/time.h"
#include "kube/user.h"

namespace slipway::control {

inline constexpr std::string_view kAuthorLacksRight = "AuthorLacksRight";
inline constexpr Duration kAuthorRightPause = std::chrono::seconds{30};

/// True if an API server refused a request because `author` lacks a right. False for a null author, and for a refusal by
/// another server, such as a git remote, whose Status has no kind.
bool lacks_right(const Status& error, const kube::UserInfo* author);

/// Returns the message for users: the refusal, the author, and what to do.
std::string lacks_right_text(const Status& error, const kube::UserInfo& author);

}  // namespace slipway::control
