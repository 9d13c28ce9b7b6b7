// propose, approve, reject, propose-delete, delete: of revisions by name, or of all that a selector takes.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/commands.h"
#include "delivery/package/kind.h"
#include "delivery/package/review.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

const CommandOption kSelectorOption{.name = "selector", .help = "-l: those with these labels, in place of names"};
const CommandOption kOfRepositoryOption{.name = "repository", .help = "with --selector: only of this Repository"};

/// A verb over revisions.
struct LifecycleVerb {
  std::string name{};                // "propose"
  std::string done{};                // "proposed"
  std::vector<Lifecycle> applies{};  // of which a selector takes those in it
};

bool fits(const LifecycleVerb& verb, const ShownRevision& one) {
  return one.spec.revision >= 0 && std::ranges::find(verb.applies, one.lifecycle()) != verb.applies.end();
}

/// Those that were named, or that the selector takes and that the verb may mean.
Task<Result<std::vector<ShownRevision>>> asked_for(CommandCall call, LifecycleVerb verb) {
  const std::string selector = option(call, "selector");
  std::vector<ShownRevision> all;
  if (call.words.empty() == selector.empty()) {
    co_return fail(Reason::BadRequest,
                   fmt::format("usage: slipway pkg {0} REVISION…, or slipway pkg {0} -l SELECTOR", verb.name));
  }
  for (const std::string& word : call.words) {
    SLIPWAY_CO_TRY(one, co_await fetch_revision(*call.client, call.ns, plain_name(word)));
    all.push_back(std::move(one));
  }
  if (selector.empty()) co_return all;
  const std::string repository = option(call, "repository");
  const std::string fields = repository.empty() ? "" : "spec.repository=" + repository;
  SLIPWAY_CO_TRY(found, co_await fetch_revisions(*call.client, call.ns, fields, selector));
  std::ranges::copy_if(found, std::back_inserter(all), [&](const ShownRevision& one) { return fits(verb, one); });
  co_return all;
}

Task<Result<client::Reply>> move_to(client::Client& client, ShownRevision revision, Lifecycle to, std::string subresource) {
  const kube::Object object = revision.object.with_path({"spec", "lifecycle"}, Value(json::enum_name(to)));
  co_return co_await put_revision_object(client, object, std::move(subresource));
}

/// What is printed of one.
std::string done_of(const LifecycleVerb& verb, const ShownRevision& one) {
  const bool is_kept = verb.name == "reject" && one.lifecycle() == Lifecycle::DeletionProposed;
  return is_kept ? "no longer proposed for deletion" : verb.done;
}

/// The answer without an object: there was nothing to do, as the warnings say.
using MoveOne = std::function<Task<Result<client::Reply>>(client::Client& client, ShownRevision revision)>;

/// Each of them; what one refuses does not keep the others from it.
Task<Result<CommandAnswer>> each(client::Client& client, std::vector<ShownRevision> revisions, LifecycleVerb verb,
                                 MoveOne move) {
  CommandAnswer made;
  if (revisions.empty()) made.notes.push_back(fmt::format("there is nothing to {}", verb.name));
  for (const ShownRevision& one : revisions) {
    const auto reply = co_await move(client, one);
    if (reply) {
      if (!reply->object.is_null()) made.text += fmt::format("{} {}\n", one.name(), done_of(verb, one));
      for (const std::string& warning : reply->warnings) {
        made.notes.push_back(fmt::format("{}{}: {}", reply->object.is_null() ? "" : "warning: ", one.name(), warning));
      }
      continue;
    }
    made.exit_code = 1;
    made.notes.push_back(fmt::format("{} failed ({})", one.name(), reply.error().message));
  }
  co_return made;
}

/// The one move of a verb for all that were asked for.
CommandRun mover(LifecycleVerb verb, MoveOne move) {
  return [verb, move](CommandCall call) -> Task<Result<CommandAnswer>> {
    client::Client& client = *call.client;
    SLIPWAY_CO_TRY(revisions, co_await asked_for(std::move(call), verb));
    co_return co_await each(client, std::move(revisions), verb, move);
  };
}

Task<Result<client::Reply>> propose_one(client::Client& client, ShownRevision revision) {
  co_return co_await move_to(client, std::move(revision), Lifecycle::Proposed, "");
}

/// Who may not decide may have a vote, for policies of people. `refused` is the answer where that is not allowed either.
Task<Result<client::Reply>> vote_on(client::Client& client, ShownRevision revision, std::string decision,
                                    Result<client::Reply> refused) {
  const Value vote = json::object({{"digest", Value(revision.status.digest)}, {"decision", Value(decision)}});
  const kube::Object object = revision.object.with_path({"status", "votes"}, json::array({vote}));
  const auto voted = co_await put_revision_object(client, object, std::string(kVotes));
  if (!voted && voted.error().reason == Reason::Forbidden) co_return refused;
  if (!voted) co_return voted;
  co_return client::Reply{.object = {},
                          .warnings = {fmt::format("your vote ({}) is noted, for ApprovalPolicies that ask people", decision)}};
}

Task<Result<client::Reply>> reject_one(client::Client& client, ShownRevision revision) {
  if (revision.lifecycle() == Lifecycle::DeletionProposed) {
    co_return co_await move_to(client, std::move(revision), Lifecycle::Published, "");
  }
  if (revision.lifecycle() != Lifecycle::Proposed) {
    co_return fail(Reason::BadRequest,
                   fmt::format("cannot reject {} with lifecycle '{}'", revision.name(), revision.spec.lifecycle));
  }
  auto rejected = co_await move_to(client, revision, Lifecycle::Draft, std::string(kApproval));
  if (rejected || rejected.error().reason != Reason::Forbidden) co_return rejected;
  co_return co_await vote_on(client, std::move(revision), "reject", std::move(rejected));
}

Task<Result<client::Reply>> propose_deletion_of_one(client::Client& client, ShownRevision revision) {
  if (revision.lifecycle() == Lifecycle::DeletionProposed) {
    co_return client::Reply{.object = {}, .warnings = {"it is already proposed for deletion"}};
  }
  if (revision.lifecycle() != Lifecycle::Published) {
    co_return fail(
        Reason::BadRequest,
        fmt::format("can only propose published packages for deletion; package {} is not published", revision.name()));
  }
  co_return co_await move_to(client, std::move(revision), Lifecycle::DeletionProposed, "");
}

Task<Result<client::Reply>> delete_one(client::Client& client, ShownRevision revision) {
  SLIPWAY_CO_TRY(gone, co_await client::remove(client, kRevisions, kube::key_of(revision.object)));
  co_return client::Reply{.object = gone.is_null() ? revision.object : gone, .warnings = {}};
}

/// What is approved is what was reviewed: a proposal with another content by now is left.
Task<Result<client::Reply>> approve_one(client::Client& client, ShownRevision revision) {
  if (revision.lifecycle() == Lifecycle::DeletionProposed) {
    co_return fail(Reason::BadRequest, fmt::format("{0} is proposed to be deleted: `slipway pkg delete {0}` deletes it, "
                                                   "`slipway pkg reject {0}` keeps it",
                                                   revision.name()));
  }
  SLIPWAY_CO_TRY(now, co_await fetch_revision(client, std::string(kube::ns(revision.object)), revision.name()));
  if (now.status.digest != revision.status.digest) {
    co_return fail(Reason::Conflict, "its content was changed since it was looked at: look again");
  }
  auto approved = co_await move_to(client, now, Lifecycle::Published, std::string(kApproval));
  const bool may_not = !approved && approved.error().reason == Reason::Forbidden && now.lifecycle() == Lifecycle::Proposed;
  if (!may_not) co_return approved;
  co_return co_await vote_on(client, std::move(now), "approve", std::move(approved));
}

const LifecycleVerb& approve_verb() {
  static const LifecycleVerb verb{.name = "approve", .done = "approved", .applies = {Lifecycle::Proposed}};
  return verb;
}

Task<Result<std::vector<ReviewGroup>>> groups_of(client::Client& client, std::string ns, std::vector<ShownRevision> revisions) {
  std::vector<Review> reviews;
  for (const ShownRevision& one : revisions) {
    SLIPWAY_CO_TRY(review, co_await review_of(client, ns, one));
    reviews.push_back(std::move(review));
  }
  co_return grouped(std::move(reviews));
}

Result<std::vector<ShownRevision>> of_groups(const std::vector<ReviewGroup>& groups, const std::vector<std::string>& wanted) {
  std::vector<ShownRevision> all;
  for (const std::string& id : wanted) {
    const auto group = std::ranges::find(groups, id, &ReviewGroup::id);
    if (group == groups.end()) {
      return fail(Reason::NotFound, fmt::format("no group is called {}: the proposals have changed since, look again", id));
    }
    for (const Review& one : group->members) all.push_back(one.revision);
  }
  return all;
}

/// Named revisions are approved. What a selector takes is shown in groups of equal diffs, and approved by group or as a whole.
Task<Result<CommandAnswer>> approve(CommandCall call) {
  client::Client& client = *call.client;
  const bool is_bulk = !option(call, "selector").empty();
  const std::vector<std::string> wanted = lines_of(call, "group");
  if (!is_bulk && (!wanted.empty() || has_flag(call, "all"))) {
    co_return fail(Reason::BadRequest, "--group and --all belong to -l SELECTOR");
  }
  const std::string ns = call.ns;
  const bool takes_all = has_flag(call, "all");
  SLIPWAY_CO_TRY(revisions, co_await asked_for(std::move(call), approve_verb()));
  if (!is_bulk || takes_all || revisions.empty()) {
    co_return co_await each(client, std::move(revisions), approve_verb(), approve_one);
  }
  SLIPWAY_CO_TRY(groups, co_await groups_of(client, ns, std::move(revisions)));
  if (wanted.empty()) {
    co_return CommandAnswer{.text = groups_text(groups),
                            .notes = {"nothing is approved yet: add --group ID for what you agree with, or --all"}};
  }
  SLIPWAY_CO_TRY(chosen, of_groups(groups, wanted));
  co_return co_await each(client, std::move(chosen), approve_verb(), approve_one);
}

Command row_of(LifecycleVerb verb, std::string help, MoveOne move) {
  return changing({.verb = "pkg " + verb.name,
                   .help = std::move(help),
                   .words_name = "[REVISION]",
                   .words_help = "revisions",
                   .options = {kSelectorOption, kOfRepositoryOption}},
                  mover(verb, std::move(move)));
}

}  // namespace

std::vector<Command> lifecycle_commands() {
  return {row_of({.name = "propose", .done = "proposed", .applies = {Lifecycle::Draft}},
                 "propose drafts: they are complete, and can be approved", propose_one),
          changing({.verb = "pkg approve",
                    .help = "approve proposals: their content is published; with -l, shown first in groups of equal diffs",
                    .words_name = "[REVISION]",
                    .words_help = "revisions",
                    .options = {kSelectorOption,
                                kOfRepositoryOption,
                                {.name = "group", .help = "with -l: approve this group", .is_repeated = true},
                                {.name = "all", .help = "with -l: approve all of them", .is_flag = true}}},
                   approve),
          row_of({.name = "reject",
                  .done = "no longer proposed for approval",
                  .applies = {Lifecycle::Proposed, Lifecycle::DeletionProposed}},
                 "turn proposals back into drafts, and keep what is proposed to be deleted", reject_one),
          row_of({.name = "propose-delete", .done = "proposed for deletion", .applies = {Lifecycle::Published}},
                 "propose that published revisions are deleted", propose_deletion_of_one),
          row_of({.name = "delete", .done = "deleted", .applies = {Lifecycle::Draft, Lifecycle::DeletionProposed}},
                 "delete drafts, proposals, and what is proposed to be deleted", delete_one)};
}

}  // namespace slipway::delivery::package
