// Conditions and gates that others have committed to the Kptfile of a draft or proposal with git, taken into its record as by
// the API: what the commits changed against the Kptfile that they began with is merged by type into what the log has now.
//
// The author of a commit is not verified. So a verdict is recorded as that of "git:EMAIL"; where its gate has an owner, or the
// log was changed to something else meanwhile, the condition becomes Unknown (Imported) and its message says what was
// committed. Gates that commits add are asked for by "git:EMAIL". A commit removes a gate of the package or of commits; others
// stay, and the next commit of the draft writes them back with a trailer Gate-Kept. Pure.
#pragma once

#include <string>
#include <vector>

#include "delivery/package/content.h"
#include "delivery/package/record.h"

namespace slipway::delivery::package {

/// What the Kptfile said after a commit of others.
struct PushedCommit {
  std::string author{};  // e-mail address
  Verdicts said{};
};
/// What the Kptfile said at the commit that the log knew, and after each commit since that changed it, oldest first.
struct PushedVerdicts {
  Verdicts before{};
  std::vector<PushedCommit> commits{};
};

/// `record` with what the commits say. `logged` are its conditions before the pushed content made any of them Unknown, and
/// `content` is the pushed one.
RevisionRecord with_pushed(RevisionRecord record, const PushedVerdicts& pushed, const Conditions& logged,
                           const ContentView& content, Time now);

}  // namespace slipway::delivery::package
