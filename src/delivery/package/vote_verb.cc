#include "delivery/package/vote_verb.h"

#include <fmt/format.h>

#include "delivery/package/kind.h"

namespace slipway::delivery::package {
namespace {

using client::Reply;
using json::Value;

Result<void> invalid(const RevisionRecord& record, Cause cause) {
  return fail(kube::invalid(kRevisionKind, record.key().object_name(), {std::move(cause)}));
}

Value newest_of(const Value& votes) {
  Value found;
  for (const Value& one : votes.items()) {
    if (!one.has("time")) found = one;
  }
  return found;
}

/// The object that the request means. An old resourceVersion is a person who has not seen what is there now, unless the vote
/// says which content it is about.
Result<Value> sent_of(const client::Request& request, const StoredRecord& current, const Now& now) {
  Value sent = request.body;
  const bool is_patch = request.verb == client::Verb::Patch;
  if (is_patch && request.patch_type != client::PatchType::Apply) {
    Value live = shown_revision(current, now);
    if (!live["status"].has("votes")) live = live.with_path({"status", "votes"}, json::array({}));
    SLIPWAY_TRY(object, patched(request, live));
    sent = object;
  }
  SLIPWAY_TRY_VOID(check_identity(request, current, sent));
  const bool names_content = !is_patch && newest_of(sent["status"]["votes"]).has("digest");
  if (!names_content) SLIPWAY_TRY_VOID(check_version(request, current, sent));
  return sent;
}

Task<Result<Change>> change_of(client::ServedContext context, client::Request request, StoredRecord current) {
  const Voting who{.user = request.user->name, .groups = request.user->groups, .now = context.env.clock.now()};
  Change change{.record = current.record, .metadata = current.object["metadata"]};
  SLIPWAY_CO_TRY(sent, sent_of(request, current, who.now));
  SLIPWAY_CO_TRY(votes, with_vote(current.record, newest_of(sent["status"]["votes"]), who));
  change.record.votes = std::move(votes);
  co_return change;
}

}  // namespace

Result<std::vector<Vote>> with_vote(const RevisionRecord& record, const Value& sent, const Voting& who) {
  const bool is_proposal =
      !record.is_publishing() && (record.lifecycle == Lifecycle::Proposed || record.lifecycle == Lifecycle::DeletionProposed);
  if (!is_proposal) {
    SLIPWAY_TRY_VOID(invalid(record, field::forbidden("status.votes", "it is no proposal")));
  }
  if (sent.is_null()) SLIPWAY_TRY_VOID(invalid(record, field::required("status.votes", "a vote without a time is a new one")));
  // Without a digest it is about the content as it is.
  const bool is_about_any = sent["digest"].as_string().empty();
  auto read =
      json::decode<Vote>(is_about_any ? sent.with("digest", record.digest) : sent, "status.votes", {.allow_unknown = true});
  if (!read) return fail(kube::invalid(kRevisionKind, record.key().object_name(), read.error().causes));
  Vote vote = *std::move(read);
  if (vote.digest != record.digest) {
    return fail(kube::conflict(kRevisions, record.key().object_name(), "its content has changed since: look at it again"));
  }
  vote.user = who.user;
  vote.groups = who.groups;
  vote.at = who.now;
  std::vector<Vote> votes = record.votes;
  std::erase_if(votes, [&](const Vote& one) { return one.user == who.user; });
  votes.push_back(std::move(vote));
  return votes;
}

Task<Result<Reply>> vote_on(client::ServedContext context, std::shared_ptr<WriterTurns> turns, client::Request request) {
  if (request.user == nullptr) co_return fail(Reason::Forbidden, "a vote is a person's: the process has none");
  const auto change = [context, request](StoredRecord current) { return change_of(context, request, std::move(current)); };
  SLIPWAY_CO_TRY(written, co_await change_record(context, turns, key_of(request), trial_of(request), change));
  co_return Reply{shown_revision(written, context.env.clock.now()), {}, 200};
}

}  // namespace slipway::delivery::package
