// The strategies commit and pull-request, over git_promotion.h and forge.h. Both find what was done by the promotion's key.
#pragma once

#include "delivery/pipeline/change.h"
#include "delivery/pipeline/forge.h"
#include "delivery/pipeline/git_promotion.h"

namespace slipway::delivery::pipeline {

/// Commits to the branch itself. Kind Withdraw and Look change nothing.
Task<ChangeResult> change_by_commit(ChangeTools tools, PromotionEffect::Kind kind, ChangeOrder order);
/// Bring: a commit on the promotion's own branch and a pull request for it, or what became of it. Look: only what became of it;
/// while frozen its commit gets a failing status, after that a passing one. Withdraw: closes it, unless it was merged.
Task<ChangeResult> change_by_pull_request(ChangeTools tools, PromotionEffect::Kind kind, ChangeOrder order);
/// The same once Secret and settings are read.
Task<ChangeResult> propose(Git& git, Forge& forge, GitPromotion promotion, PromotionEffect::Kind kind, ChangeOrder order);

}  // namespace slipway::delivery::pipeline
