// PUT and PATCH of packagerevisions/NAME/votes: a person says yes or no to a proposal.
#pragma once

#include <memory>

#include "client/served.h"
#include "delivery/package/serving.h"

namespace slipway::delivery::package {

/// Who votes, and about what.
struct Voting {
  std::string user{};
  std::vector<std::string> groups{};
  Time now{};
};
/// The votes with the one that was sent, stamped; an earlier one of the same person is replaced. Invalid: the revision is no
/// proposal, or the decision is none. Conflict: the vote is about another content than the present one; without a digest it is
/// about that.
Result<std::vector<Vote>> with_vote(const RevisionRecord& record, const json::Value& sent, const Voting& who);

/// What is sent, or what a patch makes of the revision, is one of which only the last of status.votes without a time is read:
/// {decision, comment, digest}. Conflict for an old resourceVersion, unless a PUT names the digest. Forbidden for the process
/// itself.
Task<Result<client::Reply>> vote_on(client::ServedContext context, std::shared_ptr<WriterTurns> turns, client::Request request);

}  // namespace slipway::delivery::package
