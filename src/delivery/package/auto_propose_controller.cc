#include "delivery/package/auto_propose_controller.h"

#include "delivery/package/auto_propose.h"
#include "delivery/package/kind.h"
#include "delivery/package/revision_writes.h"

namespace slipway::delivery::package {
namespace {

using control::Outcome;
using json::Value;

constexpr const char* kAutoProposeManager = "slipway-package-auto-propose";

ProposeView view_of(const StoredRecord& stored, const Now& now) {
  const RevisionRecord& record = stored.record;
  return {.lifecycle = record.lifecycle,
          .is_deleting = kube::is_deleting(stored.object),
          .annotation = std::string(kube::annotation(stored.object, kAutoLifecycle)),
          .missing = unmet(gates_at(record.gates, record.lifecycle), record.conditions, now),
          .render = record.render,
          .is_rejected = is_rejected(record),
          .settled = record.settled};
}

}  // namespace

AutoProposeController::AutoProposeController(const ControllerContext& context, std::shared_ptr<RecordIndex> records)
    : env_(context.env), records_(std::move(records)), wall_(context.env.clock) {}

void AutoProposeController::watch(control::Watches& watches) {
  records_->attach(watches);
  watches.changes(kRecords, [](const Value&, const Value& after) {
    const bool is_asked = is_auto_lifecycle(kube::annotation(after, kAutoLifecycle));
    return is_asked ? std::vector{kube::key_of(after)} : std::vector<kube::ObjectKey>{};
  });
}

Task<Outcome> AutoProposeController::reconcile(control::Reconcile& run) {
  const RecordIndex::Known known = records_->find(run.key);
  if (known == nullptr) co_return Outcome::settled();
  const Now now = wall_.now();
  const ProposeDecision decision = decide_propose(view_of(*known, now), now);
  switch (decision.kind) {
    case ProposeDecision::Kind::NotAsked:
    case ProposeDecision::Kind::Waits:
      co_return Outcome::settled();
    case ProposeDecision::Kind::Rests:
      co_return Outcome::retries_after(std::max<Duration>(*decision.wake - now.time(), std::chrono::milliseconds{1}));
    case ProposeDecision::Kind::Propose:
      break;
  }
  // Of the content that was judged, and of no other.
  const std::string digest = known->record.digest;
  const RevisionChange propose = [digest](const kube::Object& revision) {
    const bool is_same =
        revision["spec"]["lifecycle"].as_string() == "Draft" && revision["status"]["digest"].as_string() == digest;
    return is_same ? with_lifecycle(revision, Lifecycle::Proposed) : revision;
  };
  auto done = co_await change_revision(run.client, run.key, propose, kAutoProposeManager);
  if (!done && done.error().reason == Reason::Invalid) {
    // Its gates have changed since: that change looks at it again.
    env_.log.info("a draft was not proposed", {{"revision", run.key.to_string()}, {"why", done.error().message}});
    co_return Outcome::settled();
  }
  co_return done ? Outcome::settled() : Outcome::failed(std::move(done).error());
}

}  // namespace slipway::delivery::package
