// Files of one Application brought into a branch of a git repository: what it made before and makes no more is removed, what
// belongs to others is left alone, and nothing is pushed when the branch says it already. So it may be called again after any
// error, crash or lost answer. Pushes are never forced; whoever was faster is fetched and the commit is made again on top.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/git.h"

namespace slipway::delivery::application {

/// The trailer of its commits; the value is NAMESPACE/NAME of the Application.
inline constexpr const char* kApplicationTrailer = "Slipway-Application";

struct GitPush {
  GitRemote remote{};
  std::string branch{};      // "main"
  std::string own_branch{};  // for a pull request: the commit goes here, on top of `branch`; empty: to `branch`
  std::string folder{};      // the files' folder; empty: the root
  std::map<std::string, std::string>
      files{};                // all that there are to be, by their path below `folder`; each begins with `mark`
  std::string mark{};         // the first line of a file of this Application, with its newline
  std::string application{};  // NAMESPACE/NAME
  std::string message{};      // without trailers
  std::map<std::string, std::string> trailers{};  // beside that of the application
  GitPerson author{};
  int max_pushes = 5;  // tries when others push at the same time
};

struct GitPushed {
  bool has_pushed = false;  // by this call
  GitId commit;             // that has the files: the new one, or the tip that was found
  std::string branch;       // on which it is
  std::size_t changed = 0;  // files
};

/// What turns `there` (files below the folder, as read) into push.files. Invalid when a file that is to be written is there
/// without the mark.
Result<std::vector<GitChange>> plan_push(const GitPush& push, const std::vector<GitFile>& there);

/// Errors of Git; Conflict when others were faster max_pushes times; those of plan_push(). The first commit of a repository
/// that has no branch at all makes the branch; otherwise NotFound when `branch` is not there.
Task<Result<GitPushed>> push_files(Git& git, GitPush push);

}  // namespace slipway::delivery::application
