#include "delivery/pipeline/commit_file.h"

#include <algorithm>

namespace slipway::delivery::pipeline {
namespace {

std::string ref_of(const std::string& branch) { return "refs/heads/" + branch; }

/// Where the commit goes on from: the branch, else its base.
struct Start {
  GitId commit;
  bool is_branch = true;
};

Task<Result<Start>> find_start(Git& git, GitRemote remote, std::string branch, std::string base) {
  auto tip = co_await git.fetch(remote, ref_of(branch));
  if (tip) co_return Start{*tip, true};
  if (tip.error().reason != Reason::NotFound || base.empty()) co_return fail(std::move(tip).error());
  SLIPWAY_CO_TRY(from, co_await git.fetch(remote, ref_of(base)));
  co_return Start{from, false};
}

Task<Result<bool>> has_content(Git& git, GitRemote remote, GitId commit, std::string path, std::string content) {
  GitTreeQuery query;
  query.path = path;
  auto files = co_await git.read_tree(remote, commit, query);
  if (!files && files.error().reason == Reason::NotFound) co_return false;
  if (!files) co_return fail(std::move(files).error());
  co_return std::ranges::any_of(*files, [&](const GitFile& one) { return one.path == path && one.content == content; });
}

}  // namespace

Task<Result<CommittedFile>> commit_file(Git& git, CommitFile wanted) {
  for (int pushed = 1;; ++pushed) {
    SLIPWAY_CO_TRY(start, co_await find_start(git, wanted.remote, wanted.branch, wanted.base));
    SLIPWAY_CO_TRY(is_there, co_await has_content(git, wanted.remote, start.commit, wanted.path, wanted.content));
    if (is_there) co_return CommittedFile{.commit = start.commit, .is_new = false, .has_branch = start.is_branch};
    GitNewCommit commit;
    commit.parents = {start.commit};
    commit.changes = {GitChange{.path = wanted.path, .content = wanted.content}};
    commit.message = wanted.message;
    commit.author = wanted.author;
    SLIPWAY_CO_TRY(made, co_await git.commit(wanted.remote, commit));
    GitRefUpdate update{.ref = ref_of(wanted.branch), .target = made};
    if (start.is_branch) update.expected = start.commit;
    const auto done = co_await git.update_ref(wanted.remote, update);
    if (done) co_return CommittedFile{.commit = made, .is_new = true};
    if (done.error().reason != Reason::Conflict || pushed >= wanted.max_pushes) co_return fail(done.error());
  }
}

}  // namespace slipway::delivery::pipeline
