#include "git/handle.h"

#include <fmt/format.h>

#include <array>
#include <mutex>

#include "base/check.h"
#include "base/count.h"
#include "base/http_reason.h"
#include "base/text.h"
#include "git/socket_stream.h"

namespace slipway::git {
namespace {

int http_status_in(std::string_view message) {
  constexpr std::string_view kMark = "unexpected http status code: ";
  const auto at = message.find(kMark);
  return at == std::string_view::npos ? 0 : static_cast<int>(leading_count(message.substr(at + kMark.size(), 3)));
}

/// What servers answer over ssh and the local transport for a repository that is not there.
bool says_absent(std::string_view message) {
  for (const std::string_view text : {"not found", "does not appear to be a git repository", "does not exist",
                                      "could not find repository", "failed to resolve path", "o such file or directory"}) {
    if (message.contains(text)) return true;
  }
  return false;
}

Reason reason_of(int code, int klass, std::string_view message) {
  if (const int status = http_status_in(message); status != 0) {
    if (status == 413) return Reason::RequestEntityTooLarge;
    return status < 300 ? Reason::ServiceUnavailable : reason_of_http(status);
  }
  switch (code) {
    case GIT_ENOTFOUND:
      return Reason::NotFound;
    case GIT_EEXISTS:
    case GIT_ENONFASTFORWARD:
    case GIT_ELOCKED:
    case GIT_EMODIFIED:
      return Reason::Conflict;
    case GIT_EINVALIDSPEC:
    case GIT_EAMBIGUOUS:
      return Reason::BadRequest;
    case GIT_EAUTH:
    case GIT_ECERTIFICATE:
      return Reason::Unauthorized;
    case GIT_EOWNER:
      return Reason::Forbidden;
    default:
      break;
  }
  const bool is_network = klass == GIT_ERROR_NET || klass == GIT_ERROR_HTTP || klass == GIT_ERROR_SSH || klass == GIT_ERROR_SSL;
  if ((is_network || klass == GIT_ERROR_OS || klass == GIT_ERROR_REPOSITORY) && says_absent(message)) return Reason::NotFound;
  if (is_network && message.contains("redirect")) return Reason::BadRequest;
  if (klass == GIT_ERROR_SSH && message.contains("authenticat")) return Reason::Unauthorized;
  if (is_network) return Reason::ServiceUnavailable;
  return klass == GIT_ERROR_OS ? Reason::ServiceUnavailable : Reason::InternalError;
}

}  // namespace

void start_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    SLIPWAY_CHECK(git_libgit2_init() > 0, "libgit2 does not start");
    for (const int level :
         {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL}) {
      git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
    }
    git_libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, "");
    git_libgit2_opts(GIT_OPT_SET_USER_AGENT, "slipway");
    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
    register_socket_stream();
  });
}

std::unexpected<Status> failure(int code, const std::string& what) {
  const git_error* last = git_error_last();
  const std::string message = last != nullptr && last->message != nullptr ? last->message : fmt::format("error {}", code);
  const Reason reason = reason_of(code, last == nullptr ? 0 : last->klass, message);
  git_error_clear();
  return fail(reason, fmt::format("git: {}: {}", what, message));
}

Result<git_oid> to_oid(std::string_view id) {
  SLIPWAY_TRY_VOID(check_id(id));
  git_oid oid;
  git_oid_fromstrn(&oid, id.data(), id.size());
  return oid;
}

}  // namespace slipway::git
