// The bare repository of this machine that stands for one (space, URL): its object store holds what was fetched and the commits
// made here. Plain functions, for a lane's thread; nothing here asks the remote. A mirror may be deleted at any time: whatever
// matters is at the remote.
#pragma once

#include <string>

#include "git/handle.h"

namespace slipway::git {

/// "FOLDER/0123…cdef.git", by digest of space and URL.
std::string mirror_folder(const std::string& folder, const GitRemote& remote, const Url& url);
/// Opens it; makes it when it is absent, and again when it cannot be opened (a machine that went down while it was made).
Result<Repository> open_or_make_mirror(const std::string& path);
/// NotFound when nothing was fetched yet. `url` is for the message.
Result<Repository> open_mirror(const std::string& path, const Url& url);
Result<void> remove_mirror(const std::string& path);

Result<std::vector<GitFile>> read_tree(git_repository* mirror, const GitId& commit, const GitTreeQuery& query);
Result<GitId> make_commit(git_repository* mirror, const GitNewCommit& wanted);
Result<GitCommitChanges> read_commit(git_repository* mirror, const GitId& id);
Result<GitCommits> walk(git_repository* mirror, const GitWalk& wanted);
Result<bool> is_ancestor(git_repository* mirror, const GitId& ancestor, const GitId& descendant);

/// True when the message has the line "KEY: VALUE" below its first line; an empty value stands for any.
bool has_trailer(std::string_view message, std::string_view key, std::string_view value);

Result<Commit> find_commit(git_repository* mirror, const GitId& id);

}  // namespace slipway::git
