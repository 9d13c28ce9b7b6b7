// The package on the repository's branch, which the placeholder revision follows: whether it still is as the log has it, and
// the commit that removes its folder. Removing it is an intent like any other (intent.h): the commit is made in the mirror when
// it is decided, pushed and found again after a crash; what others have put on the branch stays.
#pragma once

#include <optional>
#include <string>

#include "delivery/package/record.h"
#include "delivery/package/repository_access.h"

namespace slipway::delivery::package {

/// The package at `tip` against what it is at the commit `seen`; nothing of its content is read. A commit `seen` that is gone,
/// as after a forced push, is Other.
Task<Result<OnBranch>> package_on_branch(Git& git, OpenRepository repository, std::string path, GitId seen, GitId tip);

/// The commit on top of `intent.base` that removes the package: the same one whenever it is made.
Task<Result<GitId>> commit_removal(Git& git, OpenRepository repository, Intent intent);

/// The intent of deleting a placeholder, with its commit; without one where the branch has no such package any more.
/// Conflict when the package has changed there since the log has looked.
Task<Result<Intent>> removal_of(Git& git, OpenRepository repository, RevisionRecord record, std::string user, Time now);

}  // namespace slipway::delivery::package
