// Recognises that a request failed because the author of an object lacks a right. The controller then waits with the cause
// AuthorLacksRight, uses up no retry, and tries again after kAuthorRightPause, since no watch tells it when the right returns.
// The unknown author has no rights; the cause is AuthorUnknown then.
// Also asks an API server whether an author has a right, for cases where a refusal alone is ambiguous.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/time.h"
#include "client/client.h"
#include "kube/user.h"

namespace slipway::control {

inline constexpr std::string_view kAuthorLacksRight = "AuthorLacksRight";
inline constexpr std::string_view kAuthorUnknown = "AuthorUnknown";
inline constexpr Duration kAuthorRightPause = std::chrono::seconds{30};

/// The name of the author of objects that were stored before authors were recorded (plane/authors.h).
inline constexpr std::string_view kUnknownAuthor = "system:unknown-author";
inline bool is_unknown(const kube::UserInfo& author) { return author.name == kUnknownAuthor; }
/// kAuthorUnknown or kAuthorLacksRight.
std::string lacks_right_cause(const kube::UserInfo& author);

/// True if an API server refused a request because `author` lacks a right. False for a null author, and for a refusal by
/// another server, such as a git remote, whose Status has no kind.
bool lacks_right(const Status& error, const kube::UserInfo* author);

/// Returns the message for users: the refusal, the author, and what to do.
std::string lacks_right_text(const Status& error, const kube::UserInfo& author);

/// A right that is asked about: `verb` on `resource` (or its subresource) with the name and namespace of `key`.
struct NeededRight {
  std::string verb{};
  kube::Resource resource{};
  std::string subresource{};
  kube::ObjectKey key{};
};
/// The rules of all rights that `user` has in a namespace (SelfSubjectRulesReview), as one text that can be kept. Empty for a
/// null user, if the review fails, and above kMaxRulesText.
Task<std::string> rules_text(client::Client& process, std::shared_ptr<const kube::UserInfo> user, std::string ns);
inline constexpr std::size_t kMaxRulesText = std::size_t{32} << 10;
/// Whether the rules in such a text grant a right, whatever its namespace. A text that cannot be read grants nothing.
bool rules_grant(std::string_view text, const NeededRight& right);

/// Asks the API server, as the process, whether the user has the right. True without a request for a null user, the process.
Task<Result<bool>> has_right(client::Client& process, std::shared_ptr<const kube::UserInfo> user, NeededRight right);
/// Forbidden, with the API server's message, if has_right() is false.
Task<Result<void>> require_right(client::Client& process, std::shared_ptr<const kube::UserInfo> user, NeededRight right);

}  // namespace slipway::control
