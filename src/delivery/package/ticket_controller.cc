#include "delivery/package/ticket_controller.h"

#include <fmt/format.h>

#include <algorithm>

#include "control/author_right.h"
#include "delivery/package/kind.h"
#include "delivery/package/revision_writes.h"
#include "delivery/package/ticket_answer.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;

constexpr const char* kTicketManager = "slipway-package-tickets";
constexpr std::string_view kSecret = "secret:";

probe::Notice notice_of(const StoredRecord& stored, const ReadinessGate& gate, const kube::Object& repository) {
  const RevisionRecord& record = stored.record;
  probe::Notice notice{.name = stored.key().name,
                       .ns = stored.key().ns,
                       .phase = std::string(json::enum_name(record.lifecycle)),
                       .text = fmt::format("package revision {} waits for {}: {}", stored.key().name, gate.owner, gate.type),
                       .facts = {{"gate", gate.type},
                                 {"owner", gate.owner},
                                 {"repository", record.repository},
                                 {"package", record.path},
                                 {"workspace", record.workspace},
                                 {"digest", record.digest},
                                 {"command", fmt::format("slipway pkg condition set {} {}=True -n {}", stored.key().name,
                                                         gate.type, stored.key().ns)}}};
  if (!answer_secret(repository).empty()) notice.facts.emplace_back("answer", answer_link(repository, stored.key()));
  return notice;
}

/// Most gates name no owner: those records are not even decoded.
bool has_owned_gate(const kube::Object& record) {
  return std::ranges::any_of(record["spec"]["readinessGates"].items(),
                             [](const json::Value& gate) { return !gate["owner"].as_string().empty(); });
}

}  // namespace

std::vector<ReadinessGate> untold_gates(const RevisionRecord& record) {
  std::vector<ReadinessGate> gates;
  if (record.lifecycle != Lifecycle::Draft && record.lifecycle != Lifecycle::Proposed) return gates;
  for (const ReadinessGate& gate : gates_at(record.gates, record.lifecycle)) {
    const Condition* said = find(record.conditions, gate.type);
    const bool is_open = said == nullptr || (said->status == Truth::Unknown && said->reason != kTicketSent);
    if (!gate.owner.empty() && is_open) gates.push_back(gate);
  }
  return gates;
}

std::optional<probe::Notifier> tickets_of(const kube::Object& repository) {
  const std::string_view said = kube::annotation(repository, kTickets);
  if (said.empty()) return std::nullopt;
  probe::Notifier notifier{.type = "webhook"};
  if (said.starts_with(kSecret)) {
    notifier.secret_ref = json::object({{"name", said.substr(kSecret.size())}});
  } else {
    notifier.url = said;
  }
  return notifier;
}

TicketController::TicketController(const ControllerContext& context, std::shared_ptr<RecordIndex> records)
    : env_(context.env),
      http_(context.http),
      acts_as_(context.acts_as),
      records_(std::move(records)),
      wall_(context.env.clock) {}

void TicketController::watch(control::Watches& watches) {
  records_->attach(watches);
  watches.changes(kRecords, [this](const json::Value&, const json::Value& after) {
    const RecordIndex::Known known = has_owned_gate(after) ? records_->find(kube::key_of(after)) : nullptr;
    const bool is_open = known != nullptr && !untold_gates(known->record).empty();
    return is_open ? std::vector{known->key()} : std::vector<kube::ObjectKey>{};
  });
  repositories_ = &watches.changes(kRepositories, [this](const json::Value& before, const json::Value& after) {
    std::vector<kube::ObjectKey> keys;
    if (!tickets_of(after) || kube::annotation(before, kTickets) == kube::annotation(after, kTickets)) return keys;
    for (const RecordIndex::Known& one : records_->of_repository(kube::ns(after), kube::name(after))) {
      if (!untold_gates(one->record).empty()) keys.push_back(one->key());
    }
    return keys;
  });
}

Task<Outcome> TicketController::reconcile(control::Reconcile& run) {
  const RecordIndex::Known known = records_->find(run.key);
  if (known == nullptr || kube::is_deleting(known->object)) co_return Outcome::settled();
  const kube::Object repository = repositories_->get({run.key.ns, known->record.repository});
  const auto notifier = tickets_of(repository);
  const std::vector<ReadinessGate> gates = untold_gates(known->record);
  if (!notifier || gates.empty()) co_return Outcome::settled();
  const Now now = wall_.now();
  const Time due = now.present(known->record.settled) + kTicketRest;
  if (now.time() < due) co_return Outcome::retries_after(std::max<Duration>(due - now.time(), std::chrono::milliseconds{1}));
  const Author author = author_of(repository, acts_as_);
  for (const ReadinessGate& gate : gates) {
    auto told = co_await tell(run, known, *notifier, notice_of(*known, gate, repository), gate, author);
    if (!told && control::lacks_right(told.error(), author.get())) {
      env_.log.warn("a ticket waits for a right of its Repository's author",
                    {{"revision", run.key.to_string()}, {"error", control::lacks_right_text(told.error(), *author)}});
      co_return Outcome::retries_after(control::kAuthorRightPause);
    }
    if (!told) co_return Outcome::failed(std::move(told).error());
  }
  co_return Outcome::settled();
}

/// The Secret with the address is read as the author of the Repository, whose annotation names it.
Task<Result<void>> TicketController::tell(control::Reconcile& run, RecordIndex::Known known, probe::Notifier notifier,
                                          probe::Notice notice, ReadinessGate gate, Author author) {
  SLIPWAY_CO_TRY_VOID(co_await probe::notify({.env = env_, .client = run.as(author), .http = run.outgoing(http_)}, notifier,
                                             std::move(notice)));
  const std::string digest = known->record.digest;
  const Condition sent{.type = gate.type,
                       .status = Truth::Unknown,
                       .reason = std::string(kTicketSent),
                       .message = fmt::format("{} was asked", gate.owner)};
  // What has been said meanwhile stands; another content is told anew.
  const RevisionChange change = [sent, digest](const kube::Object& revision) {
    const json::Value& there = kube::condition(revision, sent.type);
    const bool is_same = revision["status"]["digest"].as_string() == digest;
    const bool is_open = there.is_null() || there["status"].as_string() == "Unknown";
    return is_same && is_open ? with_conditions(revision, {sent}) : revision;
  };
  co_return co_await change_revision(run.client, run.key, change, kTicketManager);
}

}  // namespace slipway::delivery::package
