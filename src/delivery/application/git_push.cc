#include "delivery/application/git_push.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace slipway::delivery::application {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 20;

std::string head_of(const std::string& branch) { return "refs/heads/" + branch; }

std::string path_of(const GitPush& push, const std::string& name) {
  return push.folder.empty() ? name : fmt::format("{}/{}", push.folder, name);
}

std::string text_of(const GitPush& push) {
  std::string text = fmt::format("{}\n\n{}: {}\n", push.message, kApplicationTrailer, push.application);
  for (const auto& [name, value] : push.trailers) text += fmt::format("{}: {}\n", name, value);
  return text;
}

/// What is missing at `commit`.
Task<Result<std::vector<GitChange>>> changes_at(Git& git, GitPush push, GitId commit) {
  GitTreeQuery query{.path = push.folder, .suffixes = {".yaml"}, .max_file_bytes = kMaxFileBytes};
  auto files = co_await git.read_tree(push.remote, std::move(commit), std::move(query));
  if (!files && files.error().reason == Reason::NotFound) files = std::vector<GitFile>{};
  SLIPWAY_CO_TRY_VOID(files);
  co_return plan_push(push, *files);
}

/// Commits and moves `branch` from `expected`. Nothing: another push came first.
Task<Result<std::optional<GitPushed>>> push_commit(Git& git, GitPush push, std::string branch, std::optional<GitId> expected,
                                                   std::vector<GitId> parents, std::vector<GitChange> changes) {
  const std::size_t count = changes.size();
  GitNewCommit wanted{.parents = std::move(parents), .changes = std::move(changes), .message = text_of(push)};
  wanted.author = push.author;
  SLIPWAY_CO_TRY(made, co_await git.commit(push.remote, std::move(wanted)));
  const auto moved = co_await git.update_ref(push.remote, {.ref = head_of(branch), .expected = expected, .target = made});
  if (!moved && moved.error().reason == Reason::Conflict) co_return std::nullopt;
  SLIPWAY_CO_TRY_VOID(moved);
  co_return GitPushed{.has_pushed = true, .commit = made, .branch = branch, .changed = count};
}

/// The tip of the deployed branch; nothing in a repository without any branch.
Task<Result<std::optional<GitId>>> base_of(Git& git, GitPush push) {
  auto tip = co_await git.fetch(push.remote, head_of(push.branch));
  if (tip) co_return std::move(*tip);
  if (tip.error().reason != Reason::NotFound || !push.own_branch.empty()) co_return fail(std::move(tip).error());
  SLIPWAY_CO_TRY(all, co_await git.list_refs(push.remote, "refs/heads/"));
  if (!all.refs.empty()) co_return fail(std::move(tip).error());
  co_return std::nullopt;
}

/// What stands on the branch for a pull request beyond the deployed one.
struct OwnBranch {
  std::optional<GitId> tip{};
  bool is_merged = false;  // all of it is on the deployed branch
  bool is_shared = false;  // people have committed to it
};

Task<Result<OwnBranch>> look(Git& git, GitPush push, GitId base) {
  auto tip = co_await git.fetch(push.remote, head_of(push.own_branch));
  if (!tip && tip.error().reason == Reason::NotFound) co_return OwnBranch{};
  SLIPWAY_CO_TRY_VOID(tip);
  OwnBranch own{.tip = *tip};
  SLIPWAY_CO_TRY(is_merged, co_await git.is_ancestor(push.remote, *tip, base));
  own.is_merged = is_merged;
  SLIPWAY_CO_TRY(all, co_await git.walk(push.remote, {.tip = *tip, .base = base}));
  const std::string trailer = fmt::format("\n{}: {}\n", kApplicationTrailer, push.application);
  own.is_shared = std::ranges::any_of(all.commits, [&](const GitCommit& one) { return !one.message.contains(trailer); });
  co_return own;
}

/// One try at the branch for a pull request. The tree is that of the commit's first parent: of the deployed branch, unless
/// people have worked on this one; what an earlier revision left here is then followed by a merge.
Task<Result<std::optional<GitPushed>>> try_own_branch(Git& git, GitPush push, GitId base) {
  SLIPWAY_CO_TRY(own, co_await look(git, push, base));
  const bool is_open = own.tip && !own.is_merged;
  if (is_open) {
    SLIPWAY_CO_TRY(missing, co_await changes_at(git, push, *own.tip));
    if (missing.empty()) co_return GitPushed{.commit = *own.tip, .branch = push.own_branch};
    if (own.is_shared) {
      co_return co_await push_commit(git, push, push.own_branch, own.tip, {*own.tip}, std::move(missing));
    }
  }
  SLIPWAY_CO_TRY(changes, co_await changes_at(git, push, base));
  std::vector<GitId> parents{base};
  if (is_open) parents.push_back(*own.tip);
  co_return co_await push_commit(git, push, push.own_branch, own.tip, std::move(parents), std::move(changes));
}

Task<Result<std::optional<GitPushed>>> try_push(Git& git, GitPush push) {
  SLIPWAY_CO_TRY(base, co_await base_of(git, push));
  std::vector<GitChange> missing;
  std::vector<GitId> parents;
  if (base) {
    SLIPWAY_CO_TRY(found, co_await changes_at(git, push, *base));
    if (found.empty()) co_return GitPushed{.commit = *base, .branch = push.branch};
    if (!push.own_branch.empty()) co_return co_await try_own_branch(git, push, *base);
    missing = std::move(found);
    parents = {*base};
  } else {
    SLIPWAY_CO_TRY(all, plan_push(push, {}));
    missing = std::move(all);
  }
  co_return co_await push_commit(git, push, push.branch, base, std::move(parents), std::move(missing));
}

}  // namespace

Result<std::vector<GitChange>> plan_push(const GitPush& push, const std::vector<GitFile>& there) {
  std::vector<GitChange> changes;
  std::map<std::string, std::string> missing;
  for (const auto& [name, content] : push.files) missing[path_of(push, name)] = content;
  for (const GitFile& file : there) {
    const bool is_own = file.content && file.content->starts_with(push.mark);
    const auto wanted = missing.find(file.path);
    if (wanted == missing.end()) {
      if (is_own) changes.push_back({.path = file.path, .content = {}});
      continue;
    }
    if (!is_own) {
      return fail(Reason::Invalid, fmt::format("{} is there and was not written by Application {}: choose another path",
                                               file.path, push.application));
    }
    if (*file.content == wanted->second) missing.erase(wanted);
  }
  for (const auto& [path, content] : missing) changes.push_back({.path = path, .content = content});
  return changes;
}

Task<Result<GitPushed>> push_files(Git& git, GitPush push) {
  for (int tries = 0; tries < push.max_pushes; ++tries) {
    SLIPWAY_CO_TRY(done, co_await try_push(git, push));
    if (done) co_return std::move(*done);
  }
  co_return fail(Reason::Conflict, fmt::format("others pushed to {} first {} times",
                                               push.own_branch.empty() ? push.branch : push.own_branch, push.max_pushes));
}

}  // namespace slipway::delivery::application
