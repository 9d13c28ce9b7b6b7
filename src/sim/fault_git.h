// The controllers' way to git: each operation has its two points (fault.h), then goes to real repositories, which outlive the
// processes as a disk does. The Git behind it must do its work inline (lanes of the controllers' Env), so that virtual time
// stands still meanwhile.
#pragma once

#include <memory>

#include "base/git.h"
#include "sim/machine.h"

namespace slipway::sim {

class FaultGit : public Git {
 public:
  FaultGit(std::unique_ptr<Git> inner, Gate& gate) : inner_(std::move(inner)), gate_(gate) {}

  Task<Result<GitRefs>> list_refs(GitRemote remote, std::string prefix) override;
  Task<Result<GitId>> fetch(GitRemote remote, std::string ref) override;
  Task<Result<std::map<std::string, GitId>>> fetch_all(GitRemote remote, std::string prefix) override;
  Task<Result<void>> update_ref(GitRemote remote, GitRefUpdate update) override;
  Task<Result<std::vector<GitFile>>> read_tree(GitRemote remote, GitId commit, GitTreeQuery query) override;
  Task<Result<GitId>> commit(GitRemote remote, GitNewCommit commit) override;
  Task<Result<GitCommitChanges>> read_commit(GitRemote remote, GitId id) override;
  Task<Result<GitCommits>> walk(GitRemote remote, GitWalk walk) override;
  Task<Result<bool>> is_ancestor(GitRemote remote, GitId ancestor, GitId descendant) override;
  Task<Result<void>> forget(GitRemote remote) override;

 private:
  template <class T>
  Task<Result<T>> cross(std::string what, bool is_write, Task<Result<T>> operation);

  std::unique_ptr<Git> inner_;
  Gate& gate_;
};

}  // namespace slipway::sim
