#include "delivery/pipeline/git_promotion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace slipway::delivery::pipeline {
namespace {

using PromotedOutcome = GitPromoted::Outcome;

std::string head_of(const std::string& branch) { return fmt::format("refs/heads/{}", branch); }

std::unexpected<Status> invalid(const GitPromotion& promotion, std::string why) {
  return fail(Reason::Invalid, fmt::format("{} on {}: {}", promotion.text.subject(), promotion.branch, why));
}

/// The promotion's commit in the history of `tip`.
Task<Result<std::optional<GitId>>> find_commit(Git& git, GitPromotion promotion, GitId tip) {
  GitWalk walk{.tip = std::move(tip),
               .trailer_key = std::string(kPromotionTrailer),
               .trailer_value = promotion.text.key,
               .max_found = 1};
  SLIPWAY_CO_TRY(found, co_await git.walk(std::move(promotion.remote), std::move(walk)));
  if (found.commits.empty()) co_return std::nullopt;
  co_return found.commits.front().id;
}

/// The files of `commit` with the version at every marker. Invalid when there is none or one cannot be set.
Task<Result<MarkedEdit>> edit(Git& git, GitPromotion promotion, GitId commit) {
  GitTreeQuery query{.path = promotion.path, .suffixes = {".yaml", ".yml"}, .containing = promotion.text.marker.to_string()};
  SLIPWAY_CO_TRY(files, co_await git.read_tree(promotion.remote, std::move(commit), std::move(query)));
  MarkedEdit made = set_marked_fields(files, promotion.text.marker, promotion.text.version);
  if (!made.problems.empty()) co_return invalid(promotion, joined(made.problems, "; "));
  if (made.has_marker()) co_return made;
  co_return invalid(
      promotion, fmt::format("no field carries the comment # {{\"$promotion\": \"{}\"}}", promotion.text.marker.to_string()));
}

Task<Result<GitId>> commit(Git& git, GitPromotion promotion, std::vector<GitId> parents, std::vector<GitChange> changes) {
  GitNewCommit wanted{.parents = std::move(parents), .changes = std::move(changes)};
  wanted.message = promotion.text.message();
  wanted.author = promotion.author;
  return git.commit(std::move(promotion.remote), std::move(wanted));
}

/// One try. Nothing: another push came in between.
Task<Result<std::optional<GitPromoted>>> try_commit(Git& git, GitPromotion promotion) {
  const std::string ref = head_of(promotion.branch);
  SLIPWAY_CO_TRY(base, co_await git.fetch(promotion.remote, ref));
  SLIPWAY_CO_TRY(before, co_await find_commit(git, promotion, base));
  if (before)
    co_return GitPromoted{.outcome = PromotedOutcome::Found, .commit = *before, .is_on_branch = true, .foreign_ids = {}};
  SLIPWAY_CO_TRY(edited, co_await edit(git, promotion, base));
  if (edited.changes.empty()) {
    co_return GitPromoted{.outcome = PromotedOutcome::AlreadySet, .commit = base, .is_on_branch = true, .foreign_ids = {}};
  }
  SLIPWAY_CO_TRY(made, co_await commit(git, promotion, {base}, std::move(edited.changes)));
  const auto pushed = co_await git.update_ref(promotion.remote, {.ref = ref, .expected = base, .target = made});
  if (!pushed && pushed.error().reason == Reason::Conflict) co_return std::nullopt;
  SLIPWAY_CO_TRY_VOID(pushed);
  co_return GitPromoted{.outcome = PromotedOutcome::Committed,
                        .commit = made,
                        .is_on_branch = true,
                        .fields = std::move(edited.set),
                        .foreign_ids = {}};
}

/// What stands on the promotion's own branch beyond the deployed one.
struct OwnBranch {
  std::optional<GitId> tip{};
  bool is_merged = false;        // all of it is on the deployed branch
  std::vector<GitId> foreign{};  // commits without the trailer of any promotion
  std::string newest_key{};      // of the newest commit with one
  GitId newest{};
};

Task<Result<OwnBranch>> look(Git& git, GitPromotion promotion, std::string own_branch, GitId base) {
  auto tip = co_await git.fetch(promotion.remote, head_of(own_branch));
  if (!tip && tip.error().reason == Reason::NotFound) co_return OwnBranch{};
  SLIPWAY_CO_TRY_VOID(tip);
  OwnBranch found{.tip = *tip};
  SLIPWAY_CO_TRY(is_merged, co_await git.is_ancestor(promotion.remote, *tip, base));
  found.is_merged = is_merged;
  SLIPWAY_CO_TRY(own, co_await git.walk(promotion.remote, {.tip = *tip, .base = base}));
  for (const GitCommit& one : own.commits) {
    const std::string key = trailer_of(one.message, kPromotionTrailer);
    if (key.empty()) found.foreign.push_back(one.id);
    if (key.empty() || !found.newest_key.empty()) continue;
    found.newest_key = key;
    found.newest = one.id;
  }
  co_return found;
}

Task<Result<std::optional<GitPromoted>>> try_branch(Git& git, GitPromotion promotion, std::string own_branch) {
  SLIPWAY_CO_TRY(base, co_await git.fetch(promotion.remote, head_of(promotion.branch)));
  SLIPWAY_CO_TRY(arrived, co_await find_commit(git, promotion, base));
  if (arrived)
    co_return GitPromoted{.outcome = PromotedOutcome::Found, .commit = *arrived, .is_on_branch = true, .foreign_ids = {}};
  SLIPWAY_CO_TRY(own, co_await look(git, promotion, own_branch, base));
  if (own.tip && own.newest_key == promotion.text.key) {
    co_return GitPromoted{.outcome = PromotedOutcome::Found, .commit = own.newest, .foreign_ids = std::move(own.foreign)};
  }
  SLIPWAY_CO_TRY(on_base, co_await edit(git, promotion, base));
  if (on_base.changes.empty()) {
    co_return GitPromoted{.outcome = PromotedOutcome::AlreadySet, .commit = base, .is_on_branch = true, .foreign_ids = {}};
  }
  // The tree is that of the first parent: the deployed branch's, unless people have worked on the promotion's.
  const bool is_shared = own.tip && !own.is_merged && !own.foreign.empty();
  std::vector<GitId> parents{is_shared ? *own.tip : base};
  if (own.tip && !own.is_merged && !is_shared) parents.push_back(*own.tip);
  MarkedEdit edited = std::move(on_base);
  if (is_shared) {
    SLIPWAY_CO_TRY(on_own, co_await edit(git, promotion, *own.tip));
    edited = std::move(on_own);
  }
  SLIPWAY_CO_TRY(made, co_await commit(git, promotion, std::move(parents), std::move(edited.changes)));
  const auto pushed =
      co_await git.update_ref(promotion.remote, {.ref = head_of(own_branch), .expected = own.tip, .target = made});
  if (!pushed && pushed.error().reason == Reason::Conflict) co_return std::nullopt;
  SLIPWAY_CO_TRY_VOID(pushed);
  co_return GitPromoted{.outcome = PromotedOutcome::Committed,
                        .commit = made,
                        .fields = std::move(edited.set),
                        .foreign_ids = std::move(own.foreign)};
}

std::unexpected<Status> always_late(const GitPromotion& promotion) {
  return fail(Reason::Conflict, fmt::format("{} on {}: others pushed first {} times", promotion.text.subject(),
                                            promotion.branch, promotion.max_pushes));
}

}  // namespace

std::string promotion_branch(const MarkerKey& marker) {
  return fmt::format("promotion-{}-{}-{}", marker.ns, marker.pipeline, marker.environment);
}

Task<Result<GitPromoted>> promote_by_commit(Git& git, GitPromotion promotion) {
  for (int tries = 0; tries < promotion.max_pushes; ++tries) {
    SLIPWAY_CO_TRY(done, co_await try_commit(git, promotion));
    if (done) co_return std::move(*done);
  }
  co_return always_late(promotion);
}

Task<Result<GitPromoted>> promote_by_branch(Git& git, GitPromotion promotion, std::string own_branch) {
  for (int tries = 0; tries < promotion.max_pushes; ++tries) {
    SLIPWAY_CO_TRY(done, co_await try_branch(git, promotion, own_branch));
    if (done) co_return std::move(*done);
  }
  co_return always_late(promotion);
}

}  // namespace slipway::delivery::pipeline
