#include "delivery/package/outside_changes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/branch_package.h"
#include "delivery/package/content.h"

namespace slipway::delivery::package {
namespace {

/// Commits of the branch that are looked at for the last publication.
constexpr int kMostCommits = 1'000;
constexpr std::size_t kMostNamed = 10;

bool publishes(const GitCommit& commit, const std::string& folder) {
  if (commit.parents.size() < 2 && !commit.message.starts_with("Approve ")) return false;
  return std::ranges::any_of(notes_of(commit.message), [&](const CommitNote& note) {
    return note.package == folder && !note.revision.empty() && note.revision != "0";
  });
}

/// The last commit on the branch that published the package; "" where there is none.
Task<Result<GitId>> last_publication(Git& git, OpenRepository repository, std::string folder, GitId tip) {
  for (int i = 0; i < kMostCommits; ++i) {
    auto read = co_await git.read_commit(repository.remote, tip);
    if (!read && read.error().reason == Reason::NotFound) break;
    if (!read) co_return fail(std::move(read).error());
    if (publishes(read->commit, folder)) co_return tip;
    if (read->commit.parents.empty()) break;
    tip = read->commit.parents.front();
  }
  co_return GitId{};
}

Task<Result<std::map<std::string, std::string>>> digests_at(Git& git, GitRemote remote, std::string folder, GitId commit) {
  if (commit.empty()) co_return std::map<std::string, std::string>{};
  auto content = co_await read_content(git, std::move(remote), std::move(folder), std::move(commit));
  if (!content && content.error().reason == Reason::NotFound) co_return std::map<std::string, std::string>{};
  if (!content) co_return fail(std::move(content).error());
  co_return ContentView(content->files).file_digests();
}

}  // namespace

Task<Result<OutsideChanges>> outside_changes(Git& git, OpenRepository repository, std::string path, GitId tip,
                                             std::vector<GitId> published) {
  const std::string folder = repository.folder_of(path);
  std::erase(published, "");
  for (const GitId& one : published) {
    SLIPWAY_CO_TRY(there, co_await package_on_branch(git, repository, path, one, tip));
    if (there != OnBranch::Other) co_return OutsideChanges{};
  }
  SLIPWAY_CO_TRY(now, co_await digests_at(git, repository.remote, folder, tip));
  if (now.empty()) co_return OutsideChanges{};
  SLIPWAY_CO_TRY(last, co_await last_publication(git, repository, folder, tip));
  if (last.empty() && !published.empty()) last = published.front();
  SLIPWAY_CO_TRY(was, co_await digests_at(git, repository.remote, folder, last));
  OutsideChanges changes;
  for (const auto& [file, digest] : now) {
    const auto before = was.find(file);
    if (before == was.end() || before->second != digest) changes.emplace(file, digest);
  }
  for (const auto& [file, digest] : was) {
    if (!now.contains(file)) changes.emplace(file, "");
  }
  co_return changes;
}

std::vector<std::string> undone_by(const OutsideChanges& outside, const std::map<std::string, std::string>& file_digests) {
  std::vector<std::string> files;
  for (const auto& [file, digest] : outside) {
    const auto ours = file_digests.find(file);
    if ((ours == file_digests.end() ? "" : ours->second) != digest) files.push_back(file);
  }
  return files;
}

bool publishes_over(const json::Value& object) { return kube::annotation(object, kDriftAnnotation) == "ours"; }

std::string outside_text(const RevisionRecord& record, const std::vector<std::string>& files) {
  if (files.empty()) return "";
  std::vector<std::string> named(files.begin(),
                                 files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), kMostNamed)));
  if (files.size() > kMostNamed) named.push_back(fmt::format("{} more", files.size() - kMostNamed));
  return fmt::format(
      "the repository's branch has changes by others that publishing would undo, in {0}: take them over into the draft "
      "(slipway pkg pull of the package's revision -1 shows them), or annotate {1} with packages.slipway.dev/drift=ours to "
      "publish over them",
      joined(named, ", "), record.key().object_name());
}

std::string outside_text(const RevisionRecord& record) {
  if (is_published(record.lifecycle)) return "";
  return outside_text(record, undone_by(record.outside, record.file_digests));
}

}  // namespace slipway::delivery::package
