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
#include "delivery/package/revision_verbs.h"
#include "delivery/package/wait.h"
#include "json/patch.h"

namespace slipway::delivery::package {
namespace {

using client::PatchType;
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

/// The object that a request means, what its sender had read, and what is there now (of an apply with its conditions).
struct Sent {
  std::optional<StoredRecord> base{};  // nothing: it is the current one
  StoredRecord current{};
  Value object{};

  const StoredRecord& read() const { return base ? *base : current; }
};

Task<Result<Sent>> sent_by_put(ServedContext context, Request request, StoredRecord current) {
  const std::string version = request.body["metadata"]["resourceVersion"].str();
  if (version.empty()) {
    co_return fail(kube::invalid(kRevisionKind, request.name,
                                 {field::invalid("metadata.resourceVersion", "\"\"", "must be specified for an update")}));
  }
  if (version == current.version()) co_return Sent{std::nullopt, std::move(current), request.body};
  SLIPWAY_CO_TRY(base, co_await record_at(context.server, current, version));
  co_return Sent{std::move(base), std::move(current), request.body};
}

Result<Sent> sent_by_patch(const ServedContext& context, const Request& request, StoredRecord current) {
  const Value live = shown_revision(current, context.env.clock.now());
  SLIPWAY_TRY(object, patched(request, live));
  SLIPWAY_TRY_VOID(check_version(request, current, object));
  return Sent{std::nullopt, std::move(current), object};
}

/// An apply of the revision or its status.
bool is_apply_of(const Request& request) {
  return request.verb == Verb::Patch && request.patch_type == PatchType::Apply &&
         (request.subresource.empty() || request.subresource == kStatusEndpoint);
}

/// An applied object without what the endpoint of the status does not look at.
Value only_status(const Value& config) {
  json::ObjectBuilder made;
  for (const char* key : {"apiVersion", "kind", "status"}) {
    if (config.has(key)) made.add(key, config[key]);
  }
  json::ObjectBuilder metadata;
  for (const char* key : {"name", "namespace", "uid", "resourceVersion", "managedFields"}) {
    if (config["metadata"].has(key)) metadata.add(key, config["metadata"][key]);
  }
  return made.add("metadata", metadata.build()).build();
}

Result<void> check_apply(const Request& request, const StoredRecord& current) {
  SLIPWAY_TRY_VOID(check_version(request, current, request.body));
  if (request.body["metadata"].has("managedFields")) return fail(Reason::BadRequest, "metadata.managedFields must be nil");
  return {};
}

/// Puts the conditions that an apply sends into the record, by their owner.
Result<void> apply_conditions(const ServedContext& context, const Request& request, RevisionRecord& record) {
  const Value only = json::object({{"conditions", request.body["status"]["conditions"]}});
  SLIPWAY_TRY(status, json::decode<RevisionStatus>(only, "status", {.allow_unknown = true}));
  if (is_published(record.lifecycle)) {
    return fail(kube::invalid(
        kRevisionKind, request.name,
        {field::forbidden("status.conditions", "conditions of a published revision are those it was approved with")}));
  }
  const std::string manager = request.field_manager.empty() ? request.user_agent : request.field_manager;
  const ContentView content(record.file_digests, record.digest);
  const Write write{.object = request.name,
                    .by = manager,
                    .now = context.env.clock.now(),
                    .content = content,
                    .generation = generation_of(record)};
  SLIPWAY_TRY(merged, merge_apply(record.conditions, status.conditions, write, request.force ? Force::Yes : Force::No));
  SLIPWAY_TRY_VOID(check_owners(record.gates, record.conditions, merged, requester_of(context, request).names(), request.name));
  note_flips(record.notes, record.conditions, merged, manager, write.now);
  record.conditions = std::move(merged);
  return {};
}

/// Whether an apply says nothing but conditions, as most do: then the rest of the object is neither made nor read.
bool has_only_conditions(const Request& request) {
  const bool is_apply = is_apply_of(request) && request.body["status"].has("conditions");
  if (!is_apply) return false;
  const auto is_one_of = [](std::string_view key, std::initializer_list<std::string_view> known) {
    return std::ranges::find(known, key) != known.end();
  };
  for (const auto& [key, value] : request.body.members()) {
    if (!is_one_of(key, {"apiVersion", "kind", "metadata", "status"})) return false;
  }
  for (const auto& [key, value] : request.body["metadata"].members()) {
    if (!is_one_of(key, {"name", "namespace", "uid", "resourceVersion"})) return false;
  }
  return true;
}

Result<void> check_not_publishing(const Request& request, const RevisionRecord& record) {
  if (!record.is_publishing()) return {};
  return fail(kube::conflict(kRevisions, request.name, "it was approved and is being published"));
}

/// The record that an apply of conditions alone makes of the newest one.
Result<Change> with_applied_conditions(const ServedContext& context, const Request& request, StoredRecord newest) {
  SLIPWAY_TRY_VOID(check_apply(request, newest));
  SLIPWAY_TRY_VOID(check_not_publishing(request, newest.record));
  SLIPWAY_TRY_VOID(apply_conditions(context, request, newest.record));
  return Change{.record = std::move(newest.record), .metadata = newest.object["metadata"]};
}

/// Those that are there, with the fields that are sent, and the new ones after them.
Value applied_gates(const Value& now, const Value& sent) {
  const auto is_same = [](const Value& one, const Value& other) { return one["conditionType"] == other["conditionType"]; };
  json::ArrayBuilder gates;
  for (const Value& one : now.items()) {
    Value made = one;
    for (const Value& other : sent.items()) {
      if (!is_same(one, other)) continue;
      for (const auto& [key, value] : other.members()) made = made.with(key, value);
    }
    gates.add(made);
  }
  for (const Value& one : sent.items()) {
    const bool is_there = std::ranges::any_of(now.items(), [&](const Value& other) { return is_same(one, other); });
    if (!is_there) gates.add(one);
  }
  return gates.build();
}

/// What an apply sends is laid over what is there; conditions are merged before.
Result<Sent> sent_by_apply(const ServedContext& context, const Request& request, StoredRecord current) {
  const Value& config = request.body;
  SLIPWAY_TRY_VOID(check_apply(request, current));
  if (config["status"].has("conditions")) SLIPWAY_TRY_VOID(apply_conditions(context, request, current.record));
  Value object = unjudged_revision(current);
  for (const char* map : {"labels", "annotations"}) {
    object = object.with_path({"metadata", map}, merge_members({}, object["metadata"][map], config["metadata"][map]));
  }
  for (const char* list : {"finalizers", "ownerReferences"}) {
    object = object.with_path({"metadata", list}, merge_items({}, object["metadata"][list], config["metadata"][list]));
  }
  for (const auto& [key, value] : config["spec"].members()) {
    const Value& now = object["spec"][key];
    Value wanted = value;
    if (key == "packageMetadata") wanted = json::apply_merge_patch(now, value);
    if (key == "readinessGates") wanted = applied_gates(now, value);
    object = object.with_path({"spec", key}, wanted);
  }
  return Sent{std::nullopt, std::move(current), object};
}

Task<Result<Sent>> sent_of(ServedContext context, Request request, StoredRecord current) {
  if (request.verb == Verb::Update) co_return co_await sent_by_put(context, std::move(request), std::move(current));
  if (request.patch_type == PatchType::Apply) co_return sent_by_apply(context, request, std::move(current));
  co_return sent_by_patch(context, request, std::move(current));
}

/// Of what was sent to the endpoint of the status only its conditions count.
void keep_only_status(Sent& sent) {
  const Value conditions = sent.object["status"]["conditions"];
  sent.object = unjudged_revision(sent.read());
  if (!conditions.is_null()) sent.object = sent.object.with_path({"status", "conditions"}, conditions);
}

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
  const bool is_of_status = request.subresource == kStatusEndpoint;
  if (is_of_status && is_apply_of(request)) request.body = only_status(request.body);
  if (has_only_conditions(request)) co_return with_applied_conditions(context, request, std::move(newest));
  SLIPWAY_CO_TRY(sent, co_await sent_of(context, request, std::move(newest)));
  if (is_of_status) keep_only_status(sent);
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
    ask.mode = open.mode;
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
