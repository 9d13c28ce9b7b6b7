#include "delivery/package/branch_package.h"

#include <fmt/format.h>

#include "delivery/package/kind.h"
#include "delivery/package/update.h"

namespace slipway::delivery::package {
namespace {

/// Names, modes and ids of all files; nothing where there is no such folder, or no such commit.
Task<Result<std::optional<std::string>>> listing(Git& git, GitRemote remote, std::string folder, GitId commit) {
  GitTreeQuery query{.path = std::move(folder), .max_file_bytes = 0};
  const auto files = co_await git.read_tree(std::move(remote), std::move(commit), std::move(query));
  if (!files && files.error().reason == Reason::NotFound) co_return std::nullopt;
  if (!files) co_return fail(files.error());
  std::string text;
  for (const GitFile& one : *files) text += fmt::format("{} {} {}\n", one.path, static_cast<int>(one.mode), one.id);
  co_return text;
}

}  // namespace

Task<Result<OnBranch>> package_on_branch(Git& git, OpenRepository repository, std::string path, GitId seen, GitId tip) {
  const std::string folder = repository.folder_of(path);
  SLIPWAY_CO_TRY(now, co_await listing(git, repository.remote, folder, std::move(tip)));
  if (!now) co_return OnBranch::Gone;
  SLIPWAY_CO_TRY(was, co_await listing(git, repository.remote, folder, std::move(seen)));
  co_return was == now ? OnBranch::AsSeen : OnBranch::Other;
}

Task<Result<GitId>> commit_removal(Git& git, OpenRepository repository, Intent intent) {
  GitNewCommit made{.parents = {intent.base},
                    .changes = {{.path = repository.folder_of(intent.path), .content = std::nullopt}},
                    .message = commit_message(intent),
                    .author = repository.signer(intent.user, intent.at.value_or(Time{}))};
  co_return co_await git.commit(repository.remote, std::move(made));
}

Task<Result<Intent>> removal_of(Git& git, OpenRepository repository, RevisionRecord record, std::string user, Time now) {
  Intent intent = intent_of(record, IntentKind::Delete, repository.place);
  intent.user = std::move(user);
  intent.at = std::chrono::floor<std::chrono::seconds>(now);
  auto tip = co_await git.fetch(repository.remote, repository.branch_ref());
  if (!tip && tip.error().reason == Reason::NotFound) co_return intent;
  if (!tip) co_return fail(std::move(tip).error());
  SLIPWAY_CO_TRY(there, co_await package_on_branch(git, repository, record.path, record.commit, *tip));
  if (there == OnBranch::Gone) co_return intent;
  if (there == OnBranch::Other) {
    co_return fail(
        kube::conflict(kRevisions, record.key().object_name(),
                       fmt::format("the package has changed on branch {} since: look at it again", repository.place.branch)));
  }
  intent.base = *tip;
  SLIPWAY_CO_TRY(commit, co_await commit_removal(git, std::move(repository), intent));
  intent.commit = commit;
  co_return intent;
}

}  // namespace slipway::delivery::package
