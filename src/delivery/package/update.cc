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

struct SentChange {
  RevisionSpec spec{};
  std::optional<Conditions> conditions{};
  bool is_latest = false;
};

Result<SentChange> read_sent(const json::Value& object) {
  SLIPWAY_TRY(spec, json::decode<RevisionSpec>(object["spec"], "spec", {.allow_unknown = true}));
  SentChange sent{.spec = spec, .is_latest = object["metadata"]["labels"].has(kLatestLabel)};
  if (!object["status"].has("conditions")) return sent;
  const json::Value only = json::object({{"conditions", object["status"]["conditions"]}});
  SLIPWAY_TRY(status, json::decode<RevisionStatus>(only, "status", {.allow_unknown = true}));
  sent.conditions = status.conditions;
  return sent;
}

/// Notes what the writer said and asked for since `conditions` and `gates`; what others had said about a gate that got an owner
/// is asked again.
void note_changes(RevisionRecord& record, const Conditions& conditions, const Gates& gates, const Requester& who) {
  note_flips(record.notes, conditions, record.conditions, who.user, who.now.time());
  note_gates(record.notes, gates, record.gates, who.user, who.now.time());
  record.conditions = asked_again(std::move(record.conditions), gates, record.gates, who.names(), who.now.time());
}

Status with_name(Status status, const RevisionRecord& record) {
  if (status.reason == Reason::Invalid && status.name.empty()) {
    return kube::invalid(kRevisionKind, record.key().object_name(), std::move(status.causes));
  }
  return status;
}

/// Of the Kptfile, or of the revision that it goes on from.
Gates inherited_gates(const CreateAsk& ask) {
  const bool is_clone = !ask.spec.tasks.empty() && ask.spec.tasks.front().type == TaskType::Clone;
  if (ask.source == nullptr) return gates_of(ask.gates, is_clone ? kUpstreamSource : kPackageSource);
  if (ask.upstream != nullptr) {
    const Gates old = ask.old_upstream == nullptr ? Gates{} : ask.old_upstream->gates;
    return upgraded(ask.source->gates, old, ask.upstream->gates);
  }
  return is_clone ? cloned(ask.source->gates) : ask.source->gates;
}

}  // namespace

OwnerNames Requester::names() const {
  OwnerNames made{.names = groups, .is_program = is_program};
  made.names.push_back(user);
  return made;
}

GateWriter Requester::gate_writer(GateRight right) const {
  return {.source = std::string(kUserSource) + user, .names = names().names, .right = right};
}

bool needs_gate_right(const PutAsk& ask, const Requester& who) {
  const auto sent = ask.sent["spec"]["readinessGates"].items();
  const bool is_as_read = std::ranges::equal(
      sent, ask.base.gates, [](const json::Value& one, const ReadinessGate& gate) { return one == json::encode(gate); });
  if (is_as_read) return false;
  const auto read = read_sent(ask.sent);
  return read && needs_any_right(ask.base.gates, ask.current.gates, read->spec.gates, who.gate_writer(GateRight::Own));
}

bool needs_gate_right(const ContentAsk& ask, const Requester& who) {
  if (!ask.gates) return false;
  const GateWriter writer = who.gate_writer(GateRight::Own);
  return needs_any_right(ask.base.gates, ask.current.gates, gates_of(*ask.gates, writer.source), writer);
}

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
  const Write write{
      .object = name, .by = who.user, .now = who.now.time(), .content = content, .generation = generation_of(ask.current)};
  if (read->conditions) {
    SLIPWAY_TRY(merged, merge_put(ask.base.conditions, ask.current.conditions, *read->conditions, write));
    out.record.conditions = merged;
  }
  SLIPWAY_TRY(gates, merge_gates(ask.base.gates, ask.current.gates, read->spec.gates, who.gate_writer(ask.gate_right), name));
  out.record.gates = gates;
  SLIPWAY_TRY_VOID(check_owners(gates, ask.current.conditions, out.record.conditions, who.names(), name));
  note_changes(out.record, ask.current.conditions, ask.current.gates, who);

  UpdateAsk update{.from = ask.current.lifecycle, .to = lifecycle, .endpoint = ask.endpoint};
  update.changes = changed_parts(spec_of(ask.base), read->spec);
  if (out.record.conditions != ask.current.conditions) update.changes.insert(Part::Conditions);
  if (read->is_latest != ask.was_latest) update.changes.insert(Part::LatestLabel);
  update.mode = ask.mode;
  update.missing = unmet(gates_at(out.record.gates, ask.current.lifecycle), out.record.conditions, who.now);
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
  const Conditions were = record.conditions;
  if (ask.conditions) {
    // The sender's verdicts are about what it sends: those that it changed hold, all others were reset.
    const std::int64_t generation = generation_of(ask.current) + (is_changed ? 1 : 0);
    const Write write{.object = name, .by = who.user, .now = who.now.time(), .content = ask.content, .generation = generation};
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
    const GateWriter writer = who.gate_writer(ask.gate_right);
    SLIPWAY_TRY(gates, merge_gates(ask.base.gates, ask.current.gates, gates_of(*ask.gates, writer.source), writer, name));
    record.gates = gates;
  }
  SLIPWAY_TRY_VOID(check_owners(record.gates, were, record.conditions, who.names(), name));
  note_changes(record, were, ask.current.gates, who);
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

Result<Gates> check_new(const CreateAsk& ask, const Requester& who) {
  const std::string name =
      RevisionKey{{ask.spec.repository, plain_path(ask.spec.package_name)}, ask.spec.workspace}.object_name();
  const Gates were = inherited_gates(ask);
  Gates sent = were;
  std::erase_if(sent, [&](const ReadinessGate& one) { return find(ask.spec.gates, one.type) != nullptr; });
  for (const ReadinessGate& one : ask.spec.gates) {
    if (find(sent, one.type) == nullptr) sent.push_back(one);
  }
  SLIPWAY_TRY(gates, merge_gates(were, were, sent, who.gate_writer(ask.gate_right), name));
  for (const ReadinessGate& one : ask.spec.gates) {
    if (find(gates, one.type) != nullptr) add_gate(gates, one.type, who.gate_writer(ask.gate_right).source);
  }
  SLIPWAY_TRY_VOID(check_owners(gates, {}, ask.conditions, who.names(), name));
  return gates;
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
  if (ask.source != nullptr) {
    record.conditions = reset(ask.source->conditions, kNewRevision, ask.content, who.now.time());
  }
  const std::string name = record.key().object_name();
  const Write write{.object = name, .by = who.user, .now = who.now.time(), .content = ask.content, .generation = 1};
  const Gates were = inherited_gates(ask);
  record.gates = check_new(ask, who).value_or(were);
  for (const Condition& one : ask.conditions) set_condition(record.conditions, one, write);
  record.conditions = asked_again(std::move(record.conditions), were, record.gates, who.names(), who.now.time());
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
  out.notes.clear();
  return out;
}

}  // namespace slipway::delivery::package
