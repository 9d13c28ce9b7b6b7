// Bringing a version into an environment by git: by a commit on the branch that is deployed, or by a commit on a branch of its
// own, for which the caller opens a pull request (forge.h). Both may be called again after any error, crash or lost answer, by
// any process: the promotion's key, a trailer of its commit (commit.h), says what was done. Pushes are never forced; whoever
// was faster is fetched and the change is made again on top.
#pragma once

#include <string>
#include <vector>

#include "base/git.h"
#include "delivery/pipeline/commit.h"

namespace slipway::delivery::pipeline {

struct GitPromotion {
  GitRemote remote;
  std::string branch;  // that is deployed: "main"
  std::string path{};  // only files below this folder; empty: all
  PromotionText text;  // app, version, key, and whose markers
  GitPerson author;
  int max_pushes = 5;  // tries when others push at the same time
};

struct GitPromoted {
  enum class Outcome : std::uint8_t {
    Committed,   // by this call
    Found,       // the key was there: an earlier call did it, or its pull request was merged
    AlreadySet,  // the deployed branch has the version at every marker; there is nothing to commit
  };
  Outcome outcome = Outcome::Committed;
  /// Has the key as a trailer (a merge commit of a forge may be after it); with AlreadySet the tip of the branch.
  GitId commit;
  bool is_on_branch = false;             // on the deployed branch; else on the promotion's own
  std::vector<MarkedField> fields{};     // set by this call
  std::vector<std::string> foreign_ids;  // commits on the promotion's branch that it did not make: people's
};

/// "promotion-NAMESPACE-PIPELINE-ENVIRONMENT", as Weave's pipeline-controller names it.
std::string promotion_branch(const MarkerKey& marker);

/// Commits on `branch`. Errors of Git; Invalid when no marker is there or one cannot be set (nothing is pushed then); Conflict
/// when others were faster max_pushes times.
Task<Result<GitPromoted>> promote_by_commit(Git& git, GitPromotion promotion);

/// Commits on `own_branch`, made from `branch` when it is absent. What an earlier promotion left there is followed by a merge
/// of `branch` that holds this version; where people have committed to it, their changes stay and this is a commit on top. With
/// Found and is_on_branch the promotion has arrived.
Task<Result<GitPromoted>> promote_by_branch(Git& git, GitPromotion promotion, std::string own_branch);

}  // namespace slipway::delivery::pipeline
