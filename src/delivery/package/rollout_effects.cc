// What a rollout does: approves, returns to draft, drafts the way back, asks gates. The rest of the controller is
// rollout_controller.cc.
#include <fmt/format.h>

#include <algorithm>

#include "delivery/package/kind.h"
#include "delivery/package/revision_writes.h"
#include "delivery/package/rollout_controller.h"
#include "delivery/package/rollout_world.h"
#include "delivery/package/variant_plan.h"
#include "delivery/probe/window.h"

namespace slipway::delivery::package {
namespace {

using json::Value;
using EffectKind = RolloutEffect::Kind;
using Known = RecordIndex::Known;

constexpr Duration kAskPause = std::chrono::seconds{10};

/// Only what is a proposal still: a person may have been faster.
RevisionChange moved(Lifecycle to, std::string rollout) {
  return [to, rollout](const kube::Object& revision) {
    if (revision["spec"]["lifecycle"].as_string() != "Proposed") return revision;
    const kube::Object made = with_lifecycle(revision, to);
    return to == Lifecycle::Published ? with_reasons(made, {rollout}, {}) : made;
  };
}

kube::Object not_by_itself(const kube::Object& revision) {
  if (kube::annotation(revision, kAutoLifecycle) != "true") return revision;
  return revision.with_path({"metadata", "annotations", kAutoLifecycle}, "superseded");
}

const gate::GateSpec* find_gate(const PackageRolloutSpec& spec, const RolloutRecord& record, const std::string& key) {
  for (const RolloutStep& step : spec.steps) {
    const auto number = &step - spec.steps.data();
    if (number != record.step) continue;
    for (const gate::GateSpec& gate : step.gates) {
      if (gate_key(record.attempt, record.step, gate.name) == key) return &gate;
    }
  }
  return nullptr;
}

/// What has not passed by its deadline.
gate::Verdict judged_at_deadline(const gate::GateSpec& gate, gate::Verdict verdict, Duration age) {
  using Verdict = gate::Verdict::Kind;
  const bool is_open = verdict.kind != Verdict::Pass && verdict.kind != Verdict::Fail;
  if (!is_open || !gate.deadline_seconds || age < seconds_saturating(*gate.deadline_seconds)) return verdict;
  const std::string_view then = gate::at_deadline(gate, verdict.kind);
  if (then == "pass") verdict.kind = Verdict::Pass;
  if (then == "fail") verdict.kind = Verdict::Fail;
  if (then != "hold") verdict.text = "at its deadline: " + verdict.text;
  return verdict;
}

}  // namespace

/// Approvals are written by the process, since only it may say by which rollout; the rights are the author's.
Task<Result<void>> RolloutController::check_rights(control::Reconcile& run, Rollout rollout, RolloutDecision decision) {
  const Author author = author_of(rollout.object, acts_as_);
  for (const RolloutEffect& effect : decision.effects) {
    if (author == nullptr || effect.kind == EffectKind::Ask) continue;
    const bool creates = effect.kind == EffectKind::BackOut;
    NeededRight right{creates ? "create" : "update", kRevisions, creates ? "" : std::string(kApproval), {run.key.ns, ""}};
    SLIPWAY_CO_TRY(has_all, co_await has_right(run.client, author, right));
    if (has_all) continue;
    right.key.name = effect.revision;
    SLIPWAY_CO_TRY_VOID(co_await require_right(run.client, author, right));
  }
  co_return Result<void>{};
}

Task<Result<void>> RolloutController::carry_out(control::Reconcile& run, Rollout rollout, RolloutDecision decision) {
  rollout.record = decision.record;
  Result<void> first;
  for (const RolloutEffect& effect : decision.effects) {
    auto done = co_await carry_out_one(run, rollout, effect);
    if (done) continue;
    env_.log.warn("a rollout could not do what it decided",
                  {{"rollout", run.key.to_string()}, {"target", effect.target}, {"error", done.error().message}});
    if (first) first = std::move(done);
  }
  co_return first;
}

Task<Result<void>> RolloutController::carry_out_one(control::Reconcile& run, Rollout rollout, RolloutEffect effect) {
  const Key revision{run.key.ns, effect.revision};
  const std::string reason = fmt::format("rollout:{}@{}", run.key.name, kube::generation(rollout.object));
  switch (effect.kind) {
    case EffectKind::Approve:
      co_return co_await approve_revision(run.client, revision, moved(Lifecycle::Published, reason), kRolloutManager);
    case EffectKind::ReturnToDraft:
      // First, so that it is not proposed by itself again.
      SLIPWAY_CO_TRY_VOID(co_await change_revision(run.client, revision, not_by_itself, kRolloutManager));
      co_return co_await approve_revision(run.client, revision, moved(Lifecycle::Draft, reason), kRolloutManager);
    case EffectKind::BackOut:
      co_return co_await back_out(run, std::move(rollout), std::move(effect.target), std::move(effect.revision));
    case EffectKind::ApproveBackOut: {
      const Known made = back_out_of(of_target(rollout, effect.target), effect.revision);
      if (made == nullptr) co_return Result<void>{};
      co_return co_await approve_revision(run.client, made->key(), moved(Lifecycle::Published, reason), kRolloutManager);
    }
    case EffectKind::Ask:
      co_return co_await ask(run, std::move(rollout), std::move(effect.target));
  }
  co_return Result<void>{};
}

std::vector<Known> RolloutController::of_target(const Rollout& rollout, const std::string& target) const {
  const std::size_t slash = target.find('/');
  return records_->of_package(kube::ns(rollout.object), {target.substr(0, slash), target.substr(slash + 1)});
}

/// A new revision with the content from before. It goes through the same gates: where the revision that it takes back was
/// proposed by itself, so is it.
Task<Result<void>> RolloutController::back_out(control::Reconcile& run, Rollout rollout, std::string target,
                                               std::string revision) {
  const std::vector<Known> there = of_target(rollout, target);
  const Known approved = records_->find({run.key.ns, revision});
  if (approved == nullptr || back_out_of(there, revision) != nullptr) co_return Result<void>{};
  const Known older = before(there, *approved);
  client::Client& author = run.as(author_of(rollout.object, acts_as_));
  if (older == nullptr) {
    co_return co_await change_revision(
        author, {run.key.ns, revision},
        [](const kube::Object& one) {
          const bool is_published = one["spec"]["lifecycle"].as_string() == "Published";
          return is_published ? with_lifecycle(one, Lifecycle::DeletionProposed) : one;
        },
        kRolloutManager);
  }
  std::vector<std::string> workspaces;
  for (const Known& one : there) workspaces.push_back(one->record.workspace);
  const RevisionSpec draft{.package_name = approved->record.path,
                           .repository = approved->record.repository,
                           .workspace = next_workspace("backout-", workspaces),
                           .lifecycle = std::string(json::enum_name(Lifecycle::Draft)),
                           .tasks = {{.type = TaskType::Edit, .edit = EditTask{.source = NameRef{older->key().name}}}}};
  Value annotations = json::object({{kBackOutOf, revision}});
  if (const auto asked = kube::annotation(approved->object, kAutoLifecycle); !asked.empty())
    annotations = annotations.with(kAutoLifecycle, asked);
  Value metadata = json::object({{"namespace", run.key.ns}, {"annotations", annotations}});
  if (const Value& labels = approved->object["metadata"]["labels"].without(kLatestLabel); !labels.empty())
    metadata = metadata.with("labels", labels);
  // Those who see to its gates begin when its content is there, as with any draft.
  Condition whole = drafted("");
  whole.message = fmt::format("the content is that of {}, which rollout {} goes back to", older->key().name, run.key.name);
  const Value object = json::object({{"apiVersion", kRevisionKind.api_version()},
                                     {"kind", kRevisionKind.kind},
                                     {"metadata", metadata},
                                     {"spec", json::encode(draft)},
                                     {"status", json::object({{"conditions", json::array({json::encode(whole)})}})}});
  auto made = co_await client::create(author, kRevisions, object, kRolloutManager);
  if (!made && made.error().reason != Reason::AlreadyExists) co_return fail(std::move(made).error());
  co_return Result<void>{};
}

Task<Result<void>> RolloutController::ask(control::Reconcile& run, Rollout rollout, std::string key) {
  const gate::GateSpec* found = find_gate(rollout.spec, rollout.record, key);
  if (found == nullptr) co_return Result<void>{};
  const gate::GateSpec gate = *found;
  const std::string uid(kube::uid(rollout.object));
  const Now now = wall_.now();
  const Time begun = rollout.record.step_since.value_or(now.time());
  Asked known = asked_[uid].try_emplace(key, Asked{.since = gate.at == "after" ? now.time() : begun}).first->second;
  if (known.next && now.time() < now.present(*known.next)) co_return Result<void>{};
  probe::Answer answer;
  if (gate.window) {
    answer = probe::look_at(*gate.window, env_);
  } else {
    probe::Question question{.gate = gate,
                             .key = fmt::format("{}/{}", uid, key),
                             .name = run.key.name,
                             .ns = run.key.ns,
                             .phase = std::string(json::enum_name(rollout.record.phase)),
                             .variables = {{"target", rollout.spec.upstream.package},
                                           {"revision", std::to_string(rollout.spec.upstream.revision)},
                                           {"step", std::to_string(rollout.record.step + 1)}},
                             .owner = kube::owner_reference(rollout.object),
                             .since = known.since,
                             .data_since = begun,
                             .tries = known.tries,
                             .samples = known.samples};
    answer = co_await probe::ask({env_, run.as(author_of(rollout.object, acts_as_)), run.outgoing(http_)}, std::move(question));
  }
  known.verdict = judged_at_deadline(gate, answer.verdict, now.time() - now.present(known.since));
  known.samples = std::move(answer.samples);
  ++known.tries;
  using Verdict = gate::Verdict::Kind;
  const bool is_open = known.verdict.kind == Verdict::Wait || known.verdict.kind == Verdict::Unknown || answer.ask_again ||
                       gate.at == "throughout";
  known.next.reset();
  if (is_open) known.next = wall_.now().time() + answer.ask_again.value_or(kAskPause);
  asked_[uid][key] = std::move(known);
  co_return Result<void>{};
}

}  // namespace slipway::delivery::package
