// Puts one file into a branch of a repository elsewhere by a commit of its own. May be called again: a branch that has the file
// with this content is left as it is. Others who push at the same time are fetched, and the commit is made again on top.
#pragma once

#include <string>

#include "base/git.h"

namespace slipway::delivery::pipeline {

struct CommitFile {
  GitRemote remote;
  std::string branch;  // "main"; made from `base` when it is absent
  std::string base{};  // branch; empty: `branch` must be there
  std::string path;
  std::string content;
  std::string message;
  GitPerson author;
  int max_pushes = 5;
};

struct CommittedFile {
  GitId commit;  // of the branch's tip where nothing was to be done
  bool is_new = true;
  bool has_branch = true;  // false: the base has the file already, and the branch was not made
};

/// Errors of Git; Conflict when others were faster max_pushes times.
Task<Result<CommittedFile>> commit_file(Git& git, CommitFile wanted);

}  // namespace slipway::delivery::pipeline
