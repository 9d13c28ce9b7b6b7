#include "git/mirror.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/digest.h"

namespace slipway::git {
namespace {

/// Whether `path` of the commit differs from that of every parent; a first commit: whether it has it.
bool changes_path(git_repository* mirror, git_commit* commit, const std::string& path) {
  const auto entry_in = [&](git_commit* one) -> std::optional<std::pair<GitId, int>> {
    git_tree* tree = nullptr;
    if (git_commit_tree(&tree, one) != 0) return std::nullopt;
    const Tree owned(tree);
    git_tree_entry* entry = nullptr;
    if (git_tree_entry_bypath(&entry, tree, path.c_str()) != 0) return std::nullopt;
    const TreeEntry held(entry);
    return std::pair{to_id(*git_tree_entry_id(entry)), static_cast<int>(git_tree_entry_filemode(entry))};
  };
  const auto here = entry_in(commit);
  const unsigned parents = git_commit_parentcount(commit);
  if (parents == 0) return here.has_value();
  for (unsigned i = 0; i < parents; ++i) {
    git_commit* parent = nullptr;
    if (git_commit_lookup(&parent, mirror, git_commit_parent_id(commit, i)) != 0) continue;
    const Commit owned(parent);
    if (entry_in(parent) == here) return false;
  }
  return true;
}

GitPerson to_person(const git_signature* signature) {
  if (signature == nullptr) return {};
  return {signature->name, signature->email, Time{std::chrono::seconds{signature->when.time}}, signature->when.offset};
}

GitCommit to_commit(git_commit* commit) {
  GitCommit made;
  made.id = to_id(*git_commit_id(commit));
  made.tree = to_id(*git_commit_tree_id(commit));
  for (unsigned i = 0; i < git_commit_parentcount(commit); ++i) made.parents.push_back(to_id(*git_commit_parent_id(commit, i)));
  made.message = git_commit_message_raw(commit);
  made.author = to_person(git_commit_author(commit));
  made.committer = to_person(git_commit_committer(commit));
  return made;
}

}  // namespace

std::string mirror_folder(const std::string& folder, const GitRemote& remote, const Url& url) {
  return fmt::format("{}/{}.git", folder, sha256_hex(fmt::format("{}\n{}", remote.space, url.text())).substr(0, 40));
}

Result<Repository> open_or_make_mirror(const std::string& path) {
  start_library();
  git_repository* opened = nullptr;
  if (git_repository_open_bare(&opened, path.c_str()) == 0) return Repository(opened);
  SLIPWAY_TRY_VOID(remove_mirror(path));
  git_repository_init_options options{};
  git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
  options.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH | GIT_REPOSITORY_INIT_NO_REINIT;
  options.mode = 0700;
  options.initial_head = "none";
  if (const int code = git_repository_init_ext(&opened, path.c_str(), &options); code != 0) {
    return failure(code, fmt::format("make the mirror {}", path));
  }
  return Repository(opened);
}

Result<Repository> open_mirror(const std::string& path, const Url& url) {
  start_library();
  git_repository* opened = nullptr;
  if (git_repository_open_bare(&opened, path.c_str()) == 0) return Repository(opened);
  git_error_clear();
  return fail(Reason::NotFound, fmt::format("git: nothing was fetched from {} yet", url.shown()));
}

Result<void> remove_mirror(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (error) return fail(Reason::ServiceUnavailable, fmt::format("git: remove the mirror {}: {}", path, error.message()));
  return {};
}

Result<Commit> find_commit(git_repository* mirror, const GitId& id) {
  SLIPWAY_TRY(oid, to_oid(id));
  git_commit* found = nullptr;
  if (const int code = git_commit_lookup(&found, mirror, &oid); code != 0) return failure(code, fmt::format("commit {}", id));
  return Commit(found);
}

Result<GitCommitChanges> read_commit(git_repository* mirror, const GitId& id) {
  SLIPWAY_TRY(commit, find_commit(mirror, id));
  GitCommitChanges result{.commit = to_commit(commit.get())};
  git_tree* after = nullptr;
  if (const int code = git_commit_tree(&after, commit.get()); code != 0) return failure(code, fmt::format("tree of {}", id));
  const Tree held_after(after);
  git_tree* before = nullptr;
  if (!result.commit.parents.empty()) {
    SLIPWAY_TRY(parent, find_commit(mirror, result.commit.parents.front()));
    if (const int code = git_commit_tree(&before, parent.get()); code != 0)
      return failure(code, fmt::format("parent of {}", id));
  }
  const Tree held_before(before);
  git_diff_options options{};
  git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
  options.flags = GIT_DIFF_SKIP_BINARY_CHECK;
  git_diff* diff = nullptr;
  if (const int code = git_diff_tree_to_tree(&diff, mirror, before, after, &options); code != 0) {
    return failure(code, fmt::format("changes of {}", id));
  }
  const Diff held_diff(diff);
  const std::size_t count = git_diff_num_deltas(diff);
  result.is_complete = count <= Git::kMaxChangedPaths;
  for (std::size_t i = 0; i < std::min(count, Git::kMaxChangedPaths); ++i) {
    const git_diff_delta* delta = git_diff_get_delta(diff, i);
    result.paths.emplace_back(delta->status == GIT_DELTA_DELETED ? delta->old_file.path : delta->new_file.path);
  }
  std::ranges::sort(result.paths);
  return result;
}

Result<GitCommits> walk(git_repository* mirror, const GitWalk& wanted) {
  if (!wanted.path.empty()) SLIPWAY_TRY_VOID(check_path(wanted.path));
  SLIPWAY_TRY(tip, to_oid(wanted.tip));
  if (auto known = find_commit(mirror, wanted.tip); !known) return fail(std::move(known).error());
  git_revwalk* made = nullptr;
  if (const int code = git_revwalk_new(&made, mirror); code != 0) return failure(code, "walk");
  const Walk walk(made);
  git_revwalk_sorting(made, GIT_SORT_NONE);  // as `git log`: by date as they are met, without reading the whole history first
  git_revwalk_push(made, &tip);
  if (wanted.base) {
    SLIPWAY_TRY(base, find_commit(mirror, *wanted.base));
    git_revwalk_hide(made, git_commit_id(base.get()));
  }
  GitCommits found;
  git_oid at;
  std::size_t seen = 0;
  int code = 0;
  while ((code = git_revwalk_next(&at, made)) == 0) {
    if (seen++ == wanted.max_commits || found.commits.size() == wanted.max_found) {
      found.is_complete = false;
      return found;
    }
    git_commit* commit = nullptr;
    if (const int missing = git_commit_lookup(&commit, mirror, &at); missing != 0) return failure(missing, "walk");
    const Commit held(commit);
    if (!wanted.trailer_key.empty() && !has_trailer(git_commit_message_raw(commit), wanted.trailer_key, wanted.trailer_value)) {
      continue;
    }
    if (!wanted.path.empty() && !changes_path(mirror, commit, wanted.path)) continue;
    found.commits.push_back(to_commit(commit));
  }
  if (code != GIT_ITEROVER) return failure(code, fmt::format("history of {}", wanted.tip));
  return found;
}

bool has_trailer(std::string_view message, std::string_view key, std::string_view value) {
  std::size_t line = message.find('\n');
  while (line != std::string_view::npos) {
    const std::size_t begin = line + 1;
    line = message.find('\n', begin);
    std::string_view text = message.substr(begin, line == std::string_view::npos ? line : line - begin);
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
    if (!text.starts_with(key) || !text.substr(key.size()).starts_with(": ")) continue;
    if (value.empty() || text.substr(key.size() + 2) == value) return true;
  }
  return false;
}

Result<bool> is_ancestor(git_repository* mirror, const GitId& ancestor, const GitId& descendant) {
  SLIPWAY_TRY(above, find_commit(mirror, ancestor));
  SLIPWAY_TRY(below, find_commit(mirror, descendant));
  if (ancestor == descendant) return true;
  const int answer = git_graph_descendant_of(mirror, git_commit_id(below.get()), git_commit_id(above.get()));
  if (answer < 0) return failure(answer, fmt::format("is {} an ancestor of {}", ancestor, descendant));
  return answer == 1;
}

}  // namespace slipway::git
