#include "cluster/clone_set_plan.h"

#include <algorithm>
#include <cstdlib>

#include "cluster/in_place.h"
#include "cluster/names.h"
#include "cluster/pod_facts.h"
#include "cluster/replica_set_plan.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// Pods created in one go.
constexpr std::int64_t kMaxCloneBurst = 500;

/// Pods of one side, update revision or not.
struct Side {
  std::int64_t all = 0;
  std::int64_t preparing_delete = 0;
  std::int64_t specified = 0;    // of those that do not prepare to be deleted
  std::int64_t unavailable = 0;  // of the rest

  std::int64_t active() const { return all - preparing_delete; }
};

void count(Side& side, const ClonePod& pod) {
  ++side.all;
  if (pod.is_preparing_delete) {
    ++side.preparing_delete;
  } else if (pod.is_specified_to_delete) {
    ++side.specified;
  } else if (!pod.is_available) {
    ++side.unavailable;
  }
}

/// Pods above replicas that replacing marked pods takes, or updating: the greater of the two, since they are done in turn.
/// `old_surplus`, `new_surplus`: pods of each side above what it is to have.
void use_surge(CloneSetDiff& diff, const CloneSetBounds& bounds, const Side& old_side, const Side& new_side,
               std::int64_t old_surplus, std::int64_t new_surplus) {
  const std::int64_t specified = old_side.specified + new_side.specified;
  const std::int64_t unavailable =
      old_side.preparing_delete + new_side.preparing_delete + old_side.unavailable + new_side.unavailable;
  const std::int64_t missing = std::max<std::int64_t>(unavailable + specified - bounds.max_unavailable, 0);
  const std::int64_t for_marked = std::min(missing, specified);
  const std::int64_t for_marked_old = std::max<std::int64_t>(for_marked - new_side.specified, 0);

  std::int64_t for_update = 0;
  std::int64_t for_update_old = 0;
  if ((old_surplus > 0 && new_surplus < 0) || (old_surplus < 0 && new_surplus > 0)) {
    for_update = std::min(std::abs(old_surplus), std::abs(new_surplus));
    if (old_surplus < 0) for_update_old = for_update;
  }
  const bool is_for_marked = for_marked >= for_update;
  diff.surge = std::min(bounds.max_surge, is_for_marked ? for_marked : for_update);
  diff.surge_old = std::min(diff.surge, is_for_marked ? for_marked_old : for_update_old);
}

}  // namespace

CloneSetDiff clone_set_diff(const CloneSetBounds& bounds, std::span<const ClonePod> pods, TurnBack turn_back) {
  CloneSetDiff diff;
  Side old_side;
  Side new_side;
  for (const ClonePod& pod : pods) count(pod.is_updated ? new_side : old_side, pod);
  const auto total = static_cast<std::int64_t>(pods.size());
  const std::int64_t preparing = old_side.preparing_delete + new_side.preparing_delete;
  const std::int64_t unavailable = preparing + old_side.unavailable + new_side.unavailable;
  const std::int64_t specified = old_side.specified + new_side.specified;

  std::int64_t old_surplus = old_side.active() - bounds.partition;
  std::int64_t new_surplus = new_side.active() - (bounds.replicas - bounds.partition);
  if (turn_back == TurnBack::Never) {
    old_surplus = std::max<std::int64_t>(old_surplus, 0);
    new_surplus = std::min<std::int64_t>(new_surplus, 0);
  }
  if (bounds.max_surge > 0) use_surge(diff, bounds, old_side, new_side, old_surplus, new_surplus);

  const std::int64_t present = total - (bounds.excludes_preparing_delete ? preparing : 0);
  const std::int64_t present_old = old_side.all - (bounds.excludes_preparing_delete ? old_side.preparing_delete : 0);
  const std::int64_t wanted = bounds.replicas + diff.surge;
  const std::int64_t wanted_old = bounds.partition + diff.surge_old;
  if (present < wanted) {
    diff.scale_up = wanted - present;
    diff.scale_up_old = std::max<std::int64_t>(wanted_old - present_old, 0);
    const std::int64_t room = std::max<std::int64_t>(bounds.scale_max_unavailable - unavailable, 0);
    diff.scale_up_limit = std::min(diff.scale_up, room);
  }
  if (present - specified > wanted) {
    diff.scale_down = present - specified - wanted;
    diff.scale_down_old = std::max<std::int64_t>(present_old - old_side.specified - wanted_old, 0);
  }
  const std::int64_t spare = bounds.max_unavailable + total - bounds.replicas;
  if (specified > 0 || diff.scale_down > 0) diff.delete_ready_limit = std::max<std::int64_t>(spare - unavailable, 0);

  diff.update = std::abs(old_surplus) <= std::abs(new_surplus) ? old_surplus : -new_surplus;
  if (diff.update != 0) diff.update_max_unavailable = spare;
  return diff;
}

bool CloneSetPlan::has_effects() const {
  return create_old + create_new > 0 || !remove.empty() || !mark.empty() || !update_in_place.empty() || !settle.empty();
}

namespace {

/// A pod and what it counts as.
struct Judged {
  kube::Object pod;
  ClonePod facts;
};

bool is_available(const kube::Object& pod, const CloneSetSpec& spec, const Now& now) {
  return is_ready_in_place(pod) && is_available_pod(pod, spec.min_ready_seconds, now);
}

bool is_of(const kube::Object& pod, const std::string& revision) { return kube::label(pod, kRevisionHash) == revision; }

/// Of the active pods, the least useful first.
std::vector<Judged> judge(const CloneSetSpec& spec, const CloneSetRevisions& revisions, std::vector<kube::Object> active,
                          const Now& now) {
  std::vector<Judged> judged;
  for (kube::Object& pod : in_removal_order(std::move(active), now)) {
    const ClonePod facts{.is_updated = is_of(pod, revisions.update),
                         .is_available = is_available(pod, spec, now),
                         .is_preparing_delete = kube::label(pod, kLifecycle) == kPreparingDelete,
                         .is_specified_to_delete =
                             kube::label(pod, kSpecifiedDelete) == "true" ||
                             std::ranges::find(spec.scale.pods_to_delete, kube::name(pod)) != spec.scale.pods_to_delete.end()};
    judged.push_back({std::move(pod), facts});
  }
  return judged;
}

/// Removes pods that are not available, and as many available ones as `ready_limit` lets go, which it takes from it.
void remove_within(CloneSetPlan& plan, const Judged& one, std::int64_t& ready_limit) {
  if (one.facts.is_available && ready_limit-- <= 0) return;
  plan.remove.push_back(one.pod);
}

/// Makes and removes pods. Those that were marked go before those that are too many.
void plan_scale(CloneSetPlan& plan, const CloneSetDiff& diff, const std::vector<Judged>& pods) {
  if (diff.scale_up > 0) {
    const std::int64_t made = std::min(diff.scale_up_limit, kMaxCloneBurst);
    plan.create_old = std::min(diff.scale_up_old, made);
    plan.create_new = made - plan.create_old;
    return;
  }
  std::int64_t ready_limit = diff.delete_ready_limit;
  bool has_marked = false;
  for (const bool is_updated : {true, false}) {
    for (const Judged& one : pods) {
      if (!one.facts.is_specified_to_delete && !one.facts.is_preparing_delete) continue;
      has_marked = true;
      if (one.facts.is_updated == is_updated) remove_within(plan, one, ready_limit);
    }
  }
  if (has_marked) return;
  std::int64_t old_ones = std::min(diff.scale_down_old, diff.scale_down);
  std::int64_t new_ones = diff.scale_down - old_ones;
  for (const Judged& one : pods) {
    std::int64_t& left = one.facts.is_updated ? new_ones : old_ones;
    if (left-- > 0) remove_within(plan, one, ready_limit);
  }
}

void update_pod(CloneSetPlan& plan, const Judged& one, const CloneSetSpec& spec, const CloneSetRevisions& revisions,
                const std::string& revision, Time now) {
  if (spec.update.type != UpdateType::ReCreate) {
    const auto before = revisions.templates.find(std::string(kube::label(one.pod, kRevisionHash)));
    const auto next = revisions.templates.find(revision);
    if (before != revisions.templates.end() && next != revisions.templates.end()) {
      if (auto updated = updated_in_place(one.pod, before->second, next->second, revision, now)) {
        plan.update_in_place.push_back({one.pod, std::move(*updated)});
        return;
      }
    }
    if (spec.update.type == UpdateType::InPlaceOnly) {
      plan.update_failure = fmt::format("pod {} cannot be updated in place: more than images, labels and annotations differs",
                                        kube::name(one.pod));
      return;
    }
  }
  plan.mark.push_back(one.pod);
}

/// The pods on the wrong revision, the least useful first, as many as the bounds let become unavailable. A pod that is marked
/// already counts as one of them, and as unavailable.
void plan_update(CloneSetPlan& plan, const CloneSetDiff& diff, const std::vector<Judged>& pods, const CloneSetSpec& spec,
                 const CloneSetRevisions& revisions, Time now) {
  const bool is_forward = diff.update > 0;
  std::int64_t left = std::abs(diff.update);
  std::int64_t unavailable = 0;
  for (const Judged& one : pods) {
    if (one.facts.is_specified_to_delete && one.facts.is_updated != is_forward) --left;
    if (!one.facts.is_available || one.facts.is_specified_to_delete) ++unavailable;
  }
  for (const Judged& one : pods) {
    if (left <= 0) return;
    const bool is_candidate =
        one.facts.is_updated != is_forward && !one.facts.is_specified_to_delete && !one.facts.is_preparing_delete;
    if (!is_candidate) continue;
    if (one.facts.is_available && unavailable++ >= diff.update_max_unavailable) return;
    --left;
    update_pod(plan, one, spec, revisions, is_forward ? revisions.update : revisions.current, now);
  }
}

}  // namespace

CloneSetPlan plan_clone_set(const kube::Object& set, const CloneSetSpec& spec, const CloneSetRevisions& revisions,
                            const std::vector<kube::Object>& pods, const Now& now) {
  CloneSetPlan plan;
  if (kube::is_deleting(set)) return plan;
  std::vector<kube::Object> active;
  for (const kube::Object& pod : pods) {
    if (is_terminal_pod(pod) && !kube::is_deleting(pod) && kube::is_true(pod, kDisruptionTarget)) plan.remove.push_back(pod);
    if (!is_active_pod(pod)) continue;
    active.push_back(pod);
    if (in_place_end(pod)) plan.settle.push_back(pod);
    const auto wait = until_available(pod, spec.min_ready_seconds, now);
    if (wait && (!plan.look_again || *wait < *plan.look_again)) plan.look_again = wait;
  }
  const std::vector<Judged> judged = judge(spec, revisions, std::move(active), now);
  std::vector<ClonePod> facts;
  for (const Judged& one : judged) facts.push_back(one.facts);
  const auto turn_back = revisions.current == revisions.update ? TurnBack::Never : TurnBack::Allowed;
  const CloneSetDiff diff = clone_set_diff(bounds_of(set, spec), facts, turn_back);
  plan_scale(plan, diff, judged);
  if (!plan.has_effects() && !spec.update.paused) plan_update(plan, diff, judged, spec, revisions, now);
  return plan;
}

kube::Object make_clone_pod(const kube::Object& set, const CloneSetSpec& spec, const Value& pod_template,
                            const std::string& name, const std::string& revision) {
  const kube::Object pod = make_replica_pod(set.with_path({"spec", "template"}, pod_template), name)
                               .with_path({"metadata", "labels", kRevisionHash}, revision)
                               .with_path({"metadata", "labels", kInstanceId}, name.substr(name.rfind('-') + 1))
                               .with_path({"metadata", "labels", kLifecycle}, kNormal);
  return spec.update.type == UpdateType::ReCreate ? pod : with_in_place_gate(pod);
}

}  // namespace slipway::cluster
