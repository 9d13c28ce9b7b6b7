#include "sim/fault_git.h"

#include <fmt/format.h>

namespace slipway::sim {

template <class T>
Task<Result<T>> FaultGit::cross(std::string what, bool is_write, Task<Result<T>> operation) {
  const std::string text = fmt::format("GIT {}", what);
  if (!gate_.pass(Moment::BeforeSend, text, is_write))
    co_return fail(Reason::ServiceUnavailable, "git: injected: no connection");
  Result<T> answer = co_await std::move(operation);
  if (!gate_.pass(Moment::AfterEffect, text, is_write)) co_return fail(Reason::Timeout, "git: injected: no answer");
  co_return answer;
}

Task<Result<GitRefs>> FaultGit::list_refs(GitRemote remote, std::string prefix) {
  co_return co_await cross<GitRefs>("list", false, inner_->list_refs(std::move(remote), std::move(prefix)));
}

Task<Result<GitId>> FaultGit::fetch(GitRemote remote, std::string ref) {
  co_return co_await cross<GitId>(fmt::format("fetch {}", ref), false, inner_->fetch(std::move(remote), ref));
}

Task<Result<std::map<std::string, GitId>>> FaultGit::fetch_all(GitRemote remote, std::string prefix) {
  co_return co_await cross<std::map<std::string, GitId>>(fmt::format("fetch {}*", prefix), false,
                                                         inner_->fetch_all(std::move(remote), prefix));
}

Task<Result<void>> FaultGit::update_ref(GitRemote remote, GitRefUpdate update) {
  const std::string what = fmt::format("push {}", update.ref);
  co_return co_await cross<void>(what, true, inner_->update_ref(std::move(remote), std::move(update)));
}

// What only asks the mirror on the same machine has no network that could fail and leaves nothing that matters: it passes.
Task<Result<std::vector<GitFile>>> FaultGit::read_tree(GitRemote remote, GitId commit, GitTreeQuery query) {
  return inner_->read_tree(std::move(remote), std::move(commit), std::move(query));
}

Task<Result<GitId>> FaultGit::commit(GitRemote remote, GitNewCommit commit) {
  co_return co_await cross<GitId>("commit", true, inner_->commit(std::move(remote), std::move(commit)));
}

Task<Result<GitCommitChanges>> FaultGit::read_commit(GitRemote remote, GitId id) {
  return inner_->read_commit(std::move(remote), std::move(id));
}

Task<Result<GitCommits>> FaultGit::walk(GitRemote remote, GitWalk walk) {
  return inner_->walk(std::move(remote), std::move(walk));
}

Task<Result<bool>> FaultGit::is_ancestor(GitRemote remote, GitId ancestor, GitId descendant) {
  return inner_->is_ancestor(std::move(remote), std::move(ancestor), std::move(descendant));
}

Task<Result<void>> FaultGit::forget(GitRemote remote) { return inner_->forget(std::move(remote)); }

}  // namespace slipway::sim
