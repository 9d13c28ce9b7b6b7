// libgit2's objects as owners, and its errors as Statuses. The only text read out of an error message is the HTTP code and what
// a server says about a repository that is not there: libgit2 has no other form for these.
#pragma once

#include <git2.h>

#include <memory>
#include <string>

#include "base/git.h"
#include "git/owned.h"
#include "git/url.h"

namespace slipway::git {

using Repository = Owned<git_repository, git_repository_free>;
using Remote = Owned<git_remote, git_remote_free>;
using Object = Owned<git_object, git_object_free>;
using Commit = Owned<git_commit, git_commit_free>;
using Tree = Owned<git_tree, git_tree_free>;
using TreeEntry = Owned<git_tree_entry, git_tree_entry_free>;
using TreeBuilder = Owned<git_treebuilder, git_treebuilder_free>;
using Blob = Owned<git_blob, git_blob_free>;
using Signature = Owned<git_signature, git_signature_free>;
using Walk = Owned<git_revwalk, git_revwalk_free>;
using Odb = Owned<git_odb, git_odb_free>;
using OdbObject = Owned<git_odb_object, git_odb_object_free>;
using Diff = Owned<git_diff, git_diff_free>;
using Reference = Owned<git_reference, git_reference_free>;
using ReferenceIterator = Owned<git_reference_iterator, git_reference_iterator_free>;
using Transaction = Owned<git_transaction, git_transaction_free>;

/// Starts libgit2, once per process: no configuration of machine or user, files synced, checksums verified, sockets with a
/// deadline (git/socket_stream.h).
void start_library();

/// The Status of the library's last error on this thread. `what` says what was tried: "fetch refs/heads/main of URL".
std::unexpected<Status> failure(int code, const std::string& what);

inline GitId to_id(const git_oid& oid) {
  char text[GIT_OID_HEXSZ + 1];
  git_oid_tostr(text, sizeof text, &oid);
  return text;
}

/// BadRequest when malformed.
Result<git_oid> to_oid(std::string_view id);

}  // namespace slipway::git
