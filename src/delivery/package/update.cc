#include "delivery/package/update.h"

#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/upstream_name.h"

namespace slipway::delivery::package {
namespace {

/// What the client means the lifecycle to be: what is there, where it did not change what it had read.
Result<std::string> meant_lifecycle(const PutAsk& ask, const std::string& sent) {
  const auto name = [](Lifecycle one) { return std::string(json::enum_name(one)); };
  std::string said = sent.empty() && ask.endpoint == Endpoint::Main ? name(Lifecycle::Draft) : sent;
  if (ask.base.lifecycle == ask.current.lifecycle || said == name(ask.current.lifecycle)) return said;
  if (said == name(ask.base.lifecycle)) return name(ask.current.lifecycle);
  return fail(kube::conflict(
      kRevisions, ask.current.key().object_name(),
      fmt::format("spec.lifecycle was {} and is {} now", name(ask.base.lifecycle), name(ask.current.lifecycle))));
}

Result<void> refuse_while_publishing(const RevisionRecord& record) {
  if (!record.is_publishing()) return {};
  return fail(kube::conflict(kRevisions, record.key().object_name(), "it was approved and is being published"));
}

/// While a person has to decide what counts, nothing is built upon either.
Result<void> refuse_while_drifting(const RevisionRecord& record, const kube::Resource& resource) {
  if (record.drift.empty() || is_published(record.lifecycle)) return {};
  return fail(
      kube::conflict(resource, record.key().object_name(),
                     fmt::format("it was changed in the repository: {}; annotate it with packages.slipway.dev/drift=theirs "
                                 "to take that, or =ours to commit what is here on top of it",
                                 record.drift)));
}

void add_author(RevisionRecord& record, const std::string& user) {
  const auto at = std::ranges::lower_bound(record.authors, user);
  if (at == record.authors.end() || *at != user) record.authors.insert(at, user);
}

std::optional<IntentKind> intent_for(Move move) {
  switch (move) {
    case Move::Stay:
      return std::nullopt;
    case Move::Propose:
      return IntentKind::Propose;
    case Move::Withdraw:
    case Move::Reject:
      return IntentKind::Withdraw;
    case Move::Approve:
      return IntentKind::Approve;
    case Move::ProposeDeletion:
      return IntentKind::ProposeDeletion;
    case Move::Keep:
      return IntentKind::Keep;
  }
  return std::nullopt;
}

void approve(RevisionRecord& record, const PutAsk& ask, const Requester& who) {
  Intent& intent = record.intents.back();
  intent.commit = ask.commit;
  intent.base = ask.branch_commit;
  intent.revision = ask.revision;
  record.approval = ApprovalRecord{.digest = record.digest,
                                   .approver = who.user,
                                   .policies = ask.policies,
                                   .people = ask.people,
                                   .gates = record.gates,
                                   .conditions = record.conditions,
                                   .at = who.now.time()};
}

/// The move is recorded at once; but what is approved is published only when the remote has taken it.
void make_move(Updated& out, const PutAsk& ask, const Place& place, const Requester& who, Lifecycle to) {
  RevisionRecord& record = out.record;
  const std::optional<IntentKind> kind = intent_for(out.move);
  if (!kind) return;
  record.intents.push_back(intent_of(record, *kind, place));
  if (out.move == Move::Propose) add_author(record, who.user);
  if (out.move == Move::Approve) return approve(record, ask, who);
  if (out.move == Move::Propose) record.rejected.clear();
  if (out.move == Move::Reject || out.move == Move::Withdraw) record.rejected = verdict_subject(record);
  record.lifecycle = to;
}

struct Sent {
  RevisionSpec spec{};
  std::optional<Conditions> conditions{};
  bool is_latest = false;
};

Result<Sent> read_sent(const json::Value& object) {
  SLIPWAY_TRY(spec, json::decode<RevisionSpec>(object["spec"], "spec", {.allow_unknown = true}));
  Sent sent{.spec = spec, .is_latest = object["metadata"]["labels"].has(kLatestLabel)};
  if (!object["status"].has("conditions")) return sent;
  const json::Value only = json::object({{"conditions", object["status"]["conditions"]}});
  SLIPWAY_TRY(status, json::decode<RevisionStatus>(only, "status", {.allow_unknown = true}));
  sent.conditions = status.conditions;
  return sent;
}

Status with_name(Status status, const RevisionRecord& record) {
  if (status.reason == Reason::Invalid && status.name.empty()) {
    return kube::invalid(kRevisionKind, record.key().object_name(), std::move(status.causes));
  }
  return status;
}

}  // namespace

Intent intent_of(const RevisionRecord& record, IntentKind kind, const Place& place) {
  return {.kind = kind,
          .repository = record.repository,
          .path = record.path,
          .workspace = record.workspace,
          .folder = place.folder,
          .branch = place.branch,
          .from = record.lifecycle,
          .revision = record.revision,
          .seen = record.commit};
}

Result<Updated> put_revision(const PutAsk& ask, const Place& place, const Requester& who) {
  SLIPWAY_TRY_VOID(refuse_while_publishing(ask.current));
  const auto read = read_sent(ask.sent);
  if (!read) return fail(with_name(read.error(), ask.current));
  const std::string name = ask.current.key().object_name();
  SLIPWAY_TRY(lifecycle, meant_lifecycle(ask, read->spec.lifecycle));

  Updated out{.record = ask.current};
  const ContentView content(ask.current.file_digests, ask.current.digest);
  const Write write{.object = name, .by = who.user, .now = who.now.time(), .content = content};
  if (read->conditions) {
    SLIPWAY_TRY(merged, merge_put(ask.base.conditions, ask.current.conditions, *read->conditions, write));
    out.record.conditions = merged;
  }
  SLIPWAY_TRY(gates, merge_gates(ask.base.gates, ask.current.gates, read->spec.gates, "user:" + who.user, name));
  out.record.gates = gates;

  UpdateAsk update{.from = ask.current.lifecycle, .to = lifecycle, .endpoint = ask.endpoint};
  update.changes = changed_parts(spec_of(ask.base), read->spec);
  if (out.record.conditions != ask.current.conditions) update.changes.insert(Part::Conditions);
  if (read->is_latest != ask.was_latest) update.changes.insert(Part::LatestLabel);
  update.mode = ask.mode;
  update.missing = unmet(out.record.gates, out.record.conditions, who.now);
  update.render = ask.current.render;
  update.render_error = ask.current.render_error;
  UpdateDecision decision;
  if (std::vector<Cause> causes = decide_update(update, decision); !causes.empty()) {
    return fail(kube::invalid(kRevisionKind, name, std::move(causes)));
  }
  const bool has_no_mark = ref_of(ask.current.key(), ask.current.revision, Lifecycle::DeletionProposed, place.folder).empty();
  if (decision.move == Move::ProposeDeletion && has_no_mark) {
    return fail(Reason::NotImplemented,
                fmt::format("branch {:?} is called as a revision is, so that there is no name for the proposal to delete its "
                            "package: remove that with git",
                            place.branch));
  }
  if (decision.move != Move::Stay) SLIPWAY_TRY_VOID(refuse_while_drifting(ask.current, kRevisions));
  out.move = decision.move;
  out.needs_approval_right = decision.needs_approval_right;
  out.warnings = decision.warnings;
  if (out.record.gates != ask.current.gates) out.record.settled = who.now.time();
  if (update.changes.contains(Part::PackageMetadata)) out.record.package_metadata = read->spec.package_metadata;
  make_move(out, ask, place, who, decision.to);
  return out;
}

Result<Updated> put_content(const ContentAsk& ask, const Place& place, const Requester& who) {
  SLIPWAY_TRY_VOID(check_content(ask.current.lifecycle));
  SLIPWAY_TRY_VOID(refuse_while_drifting(ask.current, kResources));
  const std::string name = ask.current.key().object_name();
  if (ask.base.digest != ask.current.digest) {
    return fail(kube::conflict(kResources, name,
                               "the object has been modified; please apply your changes to the latest version and try again"));
  }
  Updated out{.record = ask.current};
  RevisionRecord& record = out.record;
  const bool is_changed = ask.content.digest() != ask.current.digest;
  if (is_changed) record.conditions = reset(ask.current.conditions, kContentChanged, ask.content, who.now.time());
  if (ask.conditions) {
    // The sender's verdicts are about what it sends: those that it changed hold, all others were reset.
    const Write write{.object = name, .by = who.user, .now = who.now.time(), .content = ask.content};
    SLIPWAY_TRY_VOID(merge_put(ask.base.conditions, ask.current.conditions, *ask.conditions, write));
    SLIPWAY_TRY(flipped, merge_put(ask.base.conditions, ask.base.conditions, *ask.conditions, write));
    for (const Condition& one : flipped) {
      const Condition* was = find(ask.base.conditions, one.type);
      if (was == nullptr || *was != one) set_condition(record.conditions, one, write);
    }
    std::erase_if(record.conditions, [&](const Condition& one) {
      return find(ask.base.conditions, one.type) != nullptr && find(flipped, one.type) == nullptr;
    });
  }
  if (ask.gates) {
    const std::string source = "user:" + who.user;
    SLIPWAY_TRY(gates, merge_gates(ask.base.gates, ask.current.gates, gates_of(*ask.gates, source), source, name));
    record.gates = gates;
  }
  record.render = ask.render;
  if (is_changed || record.gates != ask.current.gates) record.settled = who.now.time();
  if (!is_changed) return out;
  record.digest = ask.content.digest();
  record.file_digests = ask.content.file_digests();
  add_author(record, who.user);
  record.intents.push_back(intent_of(record, IntentKind::Save, place));
  record.intents.back().commit = ask.commit;
  record.commit = ask.commit;
  return out;
}

RevisionRecord create_revision(const CreateAsk& ask, const Place& place, const Requester& who) {
  RevisionRecord record{.repository = ask.spec.repository,
                        .path = plain_path(ask.spec.package_name),
                        .workspace = ask.spec.workspace,
                        .tasks = ask.spec.tasks,
                        .package_metadata = ask.spec.package_metadata,
                        .is_deployment = ask.is_deployment,
                        .render = ask.render,
                        .digest = ask.content.digest(),
                        .file_digests = ask.content.file_digests(),
                        .settled = who.now.time(),
                        .authors = {who.user}};
  if (record.tasks.empty()) record.tasks = {RevisionTask{.type = TaskType::Init, .init = InitTask{}}};
  record.upstream_name = upstream_of(record.tasks.front());
  const bool is_clone = record.tasks.front().type == TaskType::Clone;
  record.gates = gates_of(ask.gates, is_clone ? kUpstreamSource : kPackageSource);
  if (ask.source != nullptr) {
    record.gates = is_clone ? cloned(ask.source->gates) : ask.source->gates;
    if (ask.upstream != nullptr) record.gates = upgraded(ask.source->gates, ask.upstream->gates);
    record.conditions = reset(ask.source->conditions, kNewRevision, ask.content, who.now.time());
  }
  const std::string name = record.key().object_name();
  const Write write{.object = name, .by = who.user, .now = who.now.time(), .content = ask.content};
  for (const ReadinessGate& one : ask.spec.gates) add_gate(record.gates, one.type, "user:" + who.user, one.owner);
  for (const Condition& one : ask.conditions) set_condition(record.conditions, one, write);
  record.intents.push_back(intent_of(record, IntentKind::Save, place));
  record.intents.back().commit = ask.commit;
  record.commit = ask.commit;
  return record;
}

RevisionRecord confirmed(const RevisionRecord& record) {
  RevisionRecord out = record;
  if (out.intents.empty()) return out;
  const Intent done = out.intents.front();
  out.intents.erase(out.intents.begin());
  out.not_pushed.clear();
  if (done.kind != IntentKind::Approve) return out;
  out.lifecycle = Lifecycle::Published;
  out.revision = done.revision;
  out.commit = done.commit;
  out.outside.clear();
  return out;
}

}  // namespace slipway::delivery::package
