// PUT and PATCH of a PackageRevision and of its approval, and DELETE.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/package/auto_propose.h"
#include "delivery/package/branch_package.h"
#include "delivery/package/exported.h"
#include "delivery/package/kind.h"
#include "delivery/package/metadata_merge.h"
#include "delivery/package/outside_changes.h"
#include "delivery/package/revision_request.h"
#include "delivery/package/revision_verbs.h"
#include "delivery/package/wait.h"

namespace slipway::delivery::package {
namespace {

using client::Reply;
using client::Request;
using client::ServedContext;
using client::Verb;
using json::Value;

/// What a request turned out to be, for its answer.
struct Written {
  Move move = Move::Stay;
  std::vector<std::string> warnings{};
};

/// Values of the annotation that no controller looks at.
std::vector<std::string> annotation_warnings(const Value& sent, const Value& current) {
  const std::string_view said = kube::annotation(sent, kAutoLifecycle);
  const bool is_known = said.empty() || is_auto_lifecycle(said) || lower(said) == "false";
  if (is_known || kube::annotation(current, kAutoLifecycle) == said) return {};
  return {fmt::format("metadata.annotations[{}]: {:?} is not \"true\": the revision is not proposed by itself", kAutoLifecycle,
                      said)};
}

/// The commit of an approval, and the number that it tries.
struct Prepared {
  std::string commit{};
  std::string branch_commit{};
  std::int64_t revision = 0;
};
Task<Result<Prepared>> prepare_approval(ServedContext context, OpenRepository repository, StoredRecord current, Requester who) {
  SLIPWAY_CO_TRY(git, git_of(context.env));
  SLIPWAY_CO_TRY(tip, co_await branch_tip(*git, repository));
  const RevisionRecord& record = current.record;
  SLIPWAY_CO_TRY(siblings,
                 co_await list_existing(context.server, current.key().ns,
                                        fmt::format("spec.repository={},spec.packageName={}", record.repository, record.path)));
  std::vector<std::int64_t> published;
  published.reserve(siblings.size());
  for (const Existing& one : siblings) published.push_back(one.revision);
  if (tip && !publishes_over(current.object)) {
    const auto newest = std::ranges::max_element(siblings, {}, &Existing::revision);
    GitId left;
    if (newest != siblings.end() && newest->revision > 0) {
      SLIPWAY_CO_TRY(last, co_await get_record(context.server, {current.key().ns, newest->name}));
      left = last.record.commit;
    }
    SLIPWAY_CO_TRY(outside, co_await outside_changes(*git, repository, record.path, *tip, {left}));
    const std::string undoes = outside_text(record, undone_by(outside, record.file_digests));
    if (!undoes.empty()) co_return fail(kube::conflict(kRevisions, current.key().name, undoes));
  }
  Prepared prepared{.branch_commit = tip.value_or(""), .revision = next_revision(published)};
  PublishCommit wanted{.tip = tip, .record = record, .revision = prepared.revision, .user = who.user, .now = who.now.time()};
  SLIPWAY_CO_TRY(made, co_await commit_published(*git, std::move(repository), std::move(wanted)));
  prepared.commit = made;
  co_return prepared;
}

/// What an approval of one of our own controllers goes back to.
void read_reasons(const Value& reasons, PutAsk& ask) {
  for (const Value& one : reasons["policyNames"].items()) ask.policies.push_back(one.str());
  for (const Value& one : reasons["people"].items()) ask.people.push_back(one.str());
}

Result<void> check_drift_annotation(const std::string& name, const Value& sent, const Value& current) {
  const std::string_view said = kube::annotation(sent, kDriftAnnotation);
  if (said.empty() || said == "theirs" || said == "ours" || kube::annotation(current, kDriftAnnotation) == said) return {};
  return fail(kube::invalid(kRevisionKind, name,
                            {field::not_supported(fmt::format("metadata.annotations[{}]", kDriftAnnotation),
                                                  fmt::format("{:?}", said), {"theirs", "ours"})}));
}

bool has_content_to_export(const RevisionRecord& was, const Updated& made) {
  if (made.record.lifecycle != Lifecycle::Draft && made.move != Move::Propose) return false;
  return made.move == Move::Propose || made.record.gates != was.gates;
}

/// The record that a request makes of the newest one.
Task<Result<Change>> change_of(ServedContext context, Request request, StoredRecord newest, std::shared_ptr<Written> told) {
  SLIPWAY_CO_TRY_VOID(check_identity(request, newest, request.body));
  if (request.subresource == kStatusEndpoint && is_apply_of(request)) request.body = only_status(request.body);
  if (has_only_conditions(request)) co_return with_applied_conditions(context, request, std::move(newest));
  SLIPWAY_CO_TRY(sent, co_await sent_of(context, request, std::move(newest)));
  const StoredRecord& current = sent.current;
  SLIPWAY_CO_TRY_VOID(check_drift_annotation(request.name, sent.object, current.object));
  const Requester who = requester_of(context, request);
  const bool is_approval = request.subresource == kApproval;
  const StoredRecord& read = sent.read();
  PutAsk ask{.base = read.record,
             .current = current.record,
             .sent = sent.object,
             .endpoint = is_approval ? Endpoint::Approval : Endpoint::Main,
             .was_latest = read.is_latest()};
  if (request.user == nullptr) read_reasons(sent.object["status"]["approval"], ask);
  const bool is_moved = sent.object["spec"]["lifecycle"].as_string() != json::enum_name(current.record.lifecycle);
  const bool has_other_gates = sent.object["spec"]["readinessGates"].size() != current.record.gates.size();
  OpenRepository repository;
  if (is_moved || is_approval || has_other_gates) {
    SLIPWAY_CO_TRY(open, co_await open_repository(context.server, request.ns, current.record.repository));
    repository = open;
    ask.mode = gate_mode_of(open, current.object);
  }
  if (needs_gate_right(ask, who)) {
    SLIPWAY_CO_TRY(may, co_await may_approve(context, request.user, current.key()));
    if (may) ask.gate_right = GateRight::Any;
  }
  auto made = put_revision(ask, repository.place, who);
  if (!made) co_return fail(std::move(made).error());
  if (made->needs_approval_right) {
    SLIPWAY_CO_TRY_VOID(co_await require_approval_right(context, request.user, current.key()));
  }
  if (made->move == Move::Approve) {
    StoredRecord judged = current;
    judged.record.conditions = made->record.conditions;
    SLIPWAY_CO_TRY(prepared, co_await prepare_approval(context, repository, std::move(judged), who));
    ask.commit = prepared.commit;
    ask.branch_commit = prepared.branch_commit;
    ask.revision = prepared.revision;
    made = put_revision(ask, repository.place, who);
    if (!made) co_return fail(std::move(made).error());
  }
  if (has_content_to_export(current.record, *made)) {
    if (repository.name.empty()) {
      SLIPWAY_CO_TRY(open, co_await open_repository(context.server, request.ns, current.record.repository));
      repository = open;
    }
    SLIPWAY_CO_TRY(caught_up, co_await exported(context.env, repository, made->record, who.user));
    made->record = caught_up;
  }
  told->move = made->move;
  told->warnings = made->warnings;
  for (std::string& one : annotation_warnings(sent.object, current.object)) told->warnings.push_back(std::move(one));
  const Value& written = sent.object["metadata"];
  const Value base = shown_metadata(read);
  const Value now = shown_metadata(current);
  Change change{.record = std::move(made->record), .metadata = merge_metadata(base, current.object["metadata"], written)};
  change.record.owners = merge_items(base["ownerReferences"], now["ownerReferences"], written["ownerReferences"]);
  if (change.record.owners.empty()) change.record.owners = {};
  co_return change;
}

Task<Result<Reply>> create_by_apply(ServedContext context, Request request) {
  request.verb = Verb::Create;
  request.name.clear();
  co_return co_await create_one(context, std::move(request));
}

bool is_going(const RevisionRecord& record) {
  return !record.intents.empty() && record.intents.back().kind == IntentKind::Delete;
}

Result<void> check_preconditions(const Request& request, const StoredRecord& current) {
  const Value& wanted = request.body["preconditions"];
  const std::string_view uid = wanted["uid"].as_string();
  const std::string_view version = wanted["resourceVersion"].as_string();
  if (!uid.empty()) SLIPWAY_TRY_VOID(check_identity(request, current, json::object({{"metadata", wanted}})));
  if (version.empty() || version == current.version()) return {};
  return fail(kube::conflict(kRevisions, request.name,
                             fmt::format("Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in object "
                                         "meta: {}",
                                         version, current.version())));
}

/// The decision is the intent: with it the record stays until its references are gone from the repository.
Task<Result<Change>> deletion_of(ServedContext context, Request request, StoredRecord current) {
  SLIPWAY_CO_TRY_VOID(check_preconditions(request, current));
  const RevisionRecord& record = current.record;
  Change change{.record = record, .metadata = current.object["metadata"]};
  if (is_going(record)) co_return change;
  SLIPWAY_CO_TRY_VOID(check_not_publishing(request, record));
  SLIPWAY_CO_TRY(dependents, co_await dependents_of(context.server, key_of(request)));
  SLIPWAY_CO_TRY_VOID(check_delete(request.name, record.lifecycle, dependents));
  const auto repository = co_await open_repository(context.server, request.ns, record.repository);
  if (!repository && repository.error().reason != Reason::NotFound) co_return fail(repository.error());
  Intent intent = intent_of(record, IntentKind::Delete, repository ? repository->place : Place{});
  if (record.revision == kPlaceholder && repository) {
    SLIPWAY_CO_TRY(git, git_of(context.env));
    const Requester who = requester_of(context, request);
    SLIPWAY_CO_TRY(removal, co_await removal_of(*git, *repository, record, who.user, who.now.time()));
    intent = removal;
  }
  change.record.intents.push_back(std::move(intent));
  change.metadata = kube::with_finalizer(current.object, kGitFinalizer)["metadata"];
  co_return change;
}

}  // namespace

Task<Result<Reply>> write_revision(ServedContext context, std::shared_ptr<WriterTurns> turns, Request request) {
  const auto told = std::make_shared<Written>();
  const auto change = [context, request, told](StoredRecord current) {
    return change_of(context, request, std::move(current), told);
  };
  auto written = co_await change_record(context, turns, key_of(request), trial_of(request), change);
  const bool is_apply = is_apply_of(request) && request.subresource.empty();
  if (!written && written.error().reason == Reason::NotFound && is_apply) {
    co_return co_await create_by_apply(context, std::move(request));
  }
  if (!written) co_return fail(std::move(written).error());
  if (told->move == Move::Approve && !request.dry_run) {
    SLIPWAY_CO_TRY(published, co_await wait_published(context, std::move(*written)));
    *written = published;
  }
  co_return Reply{shown_revision(*written, context.env.clock.now()), told->warnings, 200};
}

Task<Result<Reply>> delete_revision(ServedContext context, std::shared_ptr<WriterTurns> turns, Request request) {
  if (!request.body["dryRun"].empty()) request.dry_run = true;
  const auto change = [context, request](StoredRecord current) { return deletion_of(context, request, std::move(current)); };
  SLIPWAY_CO_TRY(written, co_await change_record(context, turns, key_of(request), trial_of(request), change));
  if (!request.dry_run) {
    client::DeleteQuery query;
    query.uid = written.uid();
    auto marked = co_await client::remove(context.server, kRecords, written.key(), std::move(query));
    if (!marked && marked.error().reason != Reason::NotFound) co_return fail(std::move(marked).error());
    co_await wait_gone(context, written);
  }
  co_return Reply{shown_revision(written, context.env.clock.now()), {}, 200};
}

}  // namespace slipway::delivery::package
