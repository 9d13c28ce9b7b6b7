// libgit2's objects as owners, and its errors as Statuses. The only text read out of an error message is the HTTP code and what
// a server says about a repository that is not there: libgit2 has no other form for these.
#pragma once

#include <git2.h>

#include <memory>
#include <string>

#include "base/git.h"
#include "git/url.h"

namespace slipway::git {

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <class T, auto Free>
using Handle = std::unique_ptr<T, Freer<Free>>;

using Repository = Handle<git_repository, git_repository_free>;
using Remote = Handle<git_remote, git_remote_free>;
using Object = Handle<git_object, git_object_free>;
using Commit = Handle<git_commit, git_commit_free>;
using Tree = Handle<git_tree, git_tree_free>;
using TreeEntry = Handle<git_tree_entry, git_tree_entry_free>;
using TreeBuilder = Handle<git_treebuilder, git_treebuilder_free>;
using Blob = Handle<git_blob, git_blob_free>;
using Signature = Handle<git_signature, git_signature_free>;
using Walk = Handle<git_revwalk, git_revwalk_free>;
using Odb = Handle<git_odb, git_odb_free>;
using OdbObject = Handle<git_odb_object, git_odb_object_free>;
using Diff = Handle<git_diff, git_diff_free>;
using Reference = Handle<git_reference, git_reference_free>;
using ReferenceIterator = Handle<git_reference_iterator, git_reference_iterator_free>;
using Transaction = Handle<git_transaction, git_transaction_free>;

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
