// What is asked of remotes, as plain functions for a lane's thread. Remotes on the network speak git's protocol, in which the
// remote compares the old id; libgit2's own push into a local repository overwrites, so local ones are changed here: objects
// are copied, then the reference is compared and set under its lock file (the same lock that the git program takes). References
// of local ones are read here as well: libgit2's transport reads all of them, and their objects, whichever is asked for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "git/handle.h"
#include "git/socket_stream.h"

namespace slipway::git {

/// Where an operation runs and what bounds it.
struct Place {
  git_repository* mirror;
  const GitRemote& remote;
  const Url& url;
  Attempt& attempt;
  std::uint64_t max_pack_bytes;
};

Result<GitRefs> list_refs(const Place& place, const std::string& prefix);
Result<GitId> fetch(const Place& place, const std::string& ref);
Result<std::map<std::string, GitId>> fetch_all(const Place& place, const std::string& prefix);
Result<void> update_ref(const Place& place, const GitRefUpdate& update);
/// What list_refs() and fetch() ask of a repository on this machine.
Result<GitRefs> list_local_refs(const Url& url, std::string_view prefix);
Result<std::optional<GitId>> find_local_ref(const Url& url, const std::string& ref);
/// update_ref() of a repository on this machine. Forbidden when the branch is checked out there.
Result<void> update_local_ref(const Place& place, const GitRefUpdate& update);

/// "refs/heads/main of URL is at ID, not at ID"; empty ids say "absent".
std::unexpected<Status> moved(const Url& url, const GitRefUpdate& update, const std::optional<GitId>& found);

}  // namespace slipway::git
