#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "control/events.h"
#include "delivery/probe/probe.h"
#include "delivery/rollout/kind.h"
#include "delivery/rollout/pass.h"

namespace slipway::delivery::rollout {

using json::Value;
using kube::Object;
using wave::Effect;
using wave::Shape;

namespace {

constexpr const char* kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

/// By how a size or a number of new pods is written: what the effects that write one come to.
Edit edit_of(const Effect& effect, const RolloutStatus& status) {
  Edit edit;
  const Shape shape = shape_named(status.shape);
  edit.claims = effect.kind == Effect::Kind::Claim;
  edit.stamp = fmt::format("{}:{}", effect.stamp, effect.number);
  edit.whole = status.target_size;
  const bool is_by_size = shape == Shape::Pair || shape == Shape::Scale || effect.kind == Effect::Kind::Resize;
  if (shape == Shape::Replace) return edit;
  if (is_by_size) {
    edit.size = effect.number;
  } else {
    edit.new_pods = effect.number;
  }
  return edit;
}

}  // namespace

Workload* Pass::find_set(const std::string& id) {
  if (target_->id == id) return &*target_;
  const auto found = std::ranges::find(sources_, id, &Workload::id);
  return found == sources_.end() ? nullptr : &*found;
}

Task<Result<void>> Pass::carry_out(std::vector<Effect> effects) {
  std::erase_if(memory_.open, [&](const auto& one) {
    return std::ranges::none_of(effects, [&](const Effect& effect) { return effect.key == one.first; });
  });
  for (const Effect& effect : effects) {
    Result<void> done;
    switch (effect.kind) {
      case Effect::Kind::Claim:
      case Effect::Kind::Renew:
        done = co_await edit(effect.set, edit_of(effect, status_));
        break;
      case Effect::Kind::Resize:
        done = co_await mark_pods(effect);
        if (done) done = co_await edit(effect.set, edit_of(effect, status_));
        break;
      case Effect::Kind::Undo:
        done = co_await undo(effect.set);
        break;
      case Effect::Kind::Release: {
        Edit release;
        release.releases = true;
        release.restores = status_.is_reverting;
        release.is_replaced = is_replaced(effect.set);
        done = co_await edit(effect.set, std::move(release));
        break;
      }
      case Effect::Kind::Remove:
        done = co_await remove_pods(effect.pods);
        break;
      case Effect::Kind::Ask:
        done = co_await ask(effect.key);
        break;
      case Effect::Kind::Shift:
        done = co_await shift_traffic(effect);
        break;
      case Effect::Kind::Restore:
        done = co_await restore_traffic(effect.number);
        break;
    }
    if (!done) co_return fail(std::move(done).error());
  }
  co_return Result<void>{};
}

/// The rollout's pods serve in the place of its own: an application that delivers it must not bring those back.
bool Pass::is_replaced(const std::string& set) {
  const Workload* workload = find_set(set);
  const bool is_source = workload != nullptr && set != target_->id;
  if (!is_source || status_.is_reverting || has_yielded()) return false;
  return is_holder(rollout_) || !kube::label(workload->object, kNameLabel).empty();
}

Task<Result<void>> Pass::edit(std::string set, Edit edit) {
  const Workload* workload = find_set(set);
  if (workload == nullptr || workload->object.is_null() || workload->row == nullptr) co_return Result<void>{};
  const auto snapshot = std::ranges::find(status_.snapshots, set, &Snapshot::id);
  std::vector<std::string> kept;
  const Value patch = patch_of(*workload, edit, rollout_, snapshot == status_.snapshots.end() ? nullptr : &*snapshot, kept);
  if (!kept.empty()) {
    // Told with the next write of the status.
    for (std::string& line : kept) memory_.record.kept_changes.push_back(std::move(line));
    std::ranges::sort(memory_.record.kept_changes);
    const auto doubles = std::ranges::unique(memory_.record.kept_changes);
    memory_.record.kept_changes.erase(doubles.begin(), doubles.end());
  }
  if (patch.empty()) co_return Result<void>{};
  SLIPWAY_CO_TRY(made, co_await patch_workload(*workload, patch));
  if (Workload* written = find_set(set)) written->object = std::move(made);
  co_return Result<void>{};
}

Task<Result<Object>> Pass::patch_workload(Workload workload, Value patch) {
  const auto resource = tools_.workloads.known_resource(workload.kind);
  client::Request request;
  request.verb = client::Verb::Patch;
  request.resource = *resource;
  request.ns = run_.key.ns;
  request.name = kube::name(workload.object);
  request.body = std::move(patch);
  request.patch_type = client::PatchType::Json;
  request.field_manager = kFieldManager;
  SLIPWAY_CO_TRY(reply, co_await author_.call(std::move(request)));
  co_return reply.object;
}

Task<Result<void>> Pass::remove_pods(std::vector<std::string> names) {
  for (const std::string& name : names) {
    const Object pod = tools_.workloads.pod({run_.key.ns, name});
    if (pod.is_null() || kube::is_deleting(pod)) continue;
    client::DeleteQuery query;
    query.uid = kube::uid(pod);
    auto removed = co_await client::remove_exactly(author_, kube::kPods, {run_.key.ns, name}, std::move(query));
    if (!removed) co_return fail(std::move(removed).error());
  }
  co_return Result<void>{};
}

/// The old template comes back, or the old fields; the partition lets the new pods go back to it, and holds as many as there
/// are once none is left. New pods that are not ready serve nothing and go at once: their own controller may wait for them for
/// ever. Where pods are replaced by us the next one goes when all others are ready.
Task<Result<void>> Pass::undo(std::string set) {
  const Workload* workload = find_set(set);
  const auto snapshot = std::ranges::find(status_.snapshots, set, &Snapshot::id);
  if (workload == nullptr || workload->object.is_null() || snapshot == status_.snapshots.end()) co_return Result<void>{};
  const std::vector<Object> pods = pods_with(*workload, snapshot->new_label);
  const Shape shape = shape_named(status_.shape);
  Edit undo;
  undo.undoes = true;
  if (shape == Shape::InPlace && pods.empty()) undo.new_pods = 0;
  if (shape == Shape::Fields && status_.target) undo.stamp = fmt::format("{}:0", status_.target->stamp);
  std::vector<std::string> names;
  for (const Object& pod : pods) {
    if (!kube::is_true(pod, "Ready")) names.emplace_back(kube::name(pod));
  }
  const bool are_all_ready = std::ranges::all_of(workload->pods, [](const Object& pod) { return kube::is_true(pod, "Ready"); });
  if (shape == Shape::Replace && are_all_ready && !pods.empty()) names.emplace_back(kube::name(pods.front()));
  auto undone = co_await edit(set, std::move(undo));
  if (!undone) co_return fail(std::move(undone).error());
  co_return co_await remove_pods(std::move(names));
}

/// The pods that go when the workload shrinks are those whose deletion costs least.
Task<Result<void>> Pass::mark_pods(Effect effect) {
  for (const std::string& name : effect.pods) {
    const Object pod = tools_.workloads.pod({run_.key.ns, name});
    if (pod.is_null() || kube::annotation(pod, kDeletionCost) == "-1000") continue;
    const Value patch = json::object({{"metadata", json::object({{"annotations", json::object({{kDeletionCost, "-1000"}})}})}});
    auto marked = co_await client::merge_patch(author_, kube::kPods, {run_.key.ns, name}, patch, std::string(kFieldManager));
    if (!marked && marked.error().reason != Reason::NotFound) co_return fail(std::move(marked).error());
  }
  co_return Result<void>{};
}

/// Nothing depends on it: what cannot be delivered is logged, and not tried again.
Task<> Pass::notify(std::vector<std::string> news) {
  for (const probe::Notifier& notifier : std::vector<probe::Notifier>(wanted_.plan.notifications)) {
    for (const std::string& line : news) {
      const probe::Notice notice{.name = std::string(kube::name(rollout_)),
                                 .ns = std::string(kube::ns(rollout_)),
                                 .phase = std::string(json::enum_name(status_.rolling)),
                                 .text = line,
                                 .severity = line.starts_with("fails") ? probe::Severity::Error : probe::Severity::Info,
                                 .facts = {}};
      if (notifier.type == "event" || !probe::is_wanted(notifier, notice)) continue;
      auto sent = co_await probe::notify({tools_.env, author_, tools_.http}, notifier, notice);
      if (!sent)
        tools_.env.log.warn("a notification was not delivered", {{"rollout", notice.name}, {"error", sent.error().message}});
    }
  }
}

Task<Result<void>> Pass::tell(std::vector<std::string> news) {
  for (std::string& line : news) {
    const bool is_bad = line.starts_with("fails");
    control::EventText event;
    event.type = is_bad ? "Warning" : "Normal";
    event.reason = is_bad ? "RolloutFailing" : "RolloutProgress";
    event.instance = fmt::format("{}/{}", status_.attempt, line);
    event.message = std::move(line);
    auto told = co_await control::record_event(tools_.env, run_.client, rollout_, std::move(event), std::string(kFieldManager));
    const bool is_going = !told && (told.error().reason == Reason::Forbidden || told.error().reason == Reason::NotFound);
    if (!told && !is_going) co_return fail(std::move(told).error());
  }
  co_return Result<void>{};
}

}  // namespace slipway::delivery::rollout
