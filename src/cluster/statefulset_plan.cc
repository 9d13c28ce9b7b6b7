#include "cluster/statefulset_plan.h"

#include <algorithm>
#include <charconv>

#include "cluster/clone_set_facts.h"
#include "cluster/controller_revision.h"
#include "cluster/names.h"
#include "cluster/pod_facts.h"
#include "cluster/statefulset_pod.h"
#include "kube/selector.h"

namespace slipway::cluster {

namespace {

using json::Value;

bool is_ready(const kube::Object& pod) { return pod["status"]["phase"].as_string() == "Running" && is_ready_in_place(pod); }

bool is_healthy(const kube::Object& pod) { return is_ready(pod) && !kube::is_deleting(pod); }

/// The pod of an ordinal; null where it is missing.
struct Slot {
  std::int64_t ordinal = 0;
  kube::Object pod;
};

/// spec with the API's defaults.
struct StatefulSetSpec {
  explicit StatefulSetSpec(const Value& spec)
      : replicas(std::max<std::int64_t>(spec["replicas"].as_int(1), 0)),
        start(spec["ordinals"]["start"].as_int()),
        min_ready(spec["minReadySeconds"].as_int(spec["updateStrategy"]["rollingUpdate"]["minReadySeconds"].as_int())),
        is_ordered(spec["podManagementPolicy"].as_string() != "Parallel"),
        is_rolling(spec["updateStrategy"]["type"].as_string() != "OnDelete"),
        has_partition(spec["updateStrategy"].has("rollingUpdate")),
        partition(is_rolling ? spec["updateStrategy"]["rollingUpdate"]["partition"].as_int() : 0) {}

  bool contains(std::int64_t ordinal) const { return ordinal >= start && ordinal < start + replicas; }

  std::int64_t replicas;
  std::int64_t start;
  std::int64_t min_ready;
  bool is_ordered;
  bool is_rolling;  // else OnDelete
  bool has_partition;
  std::int64_t partition;
};

/// Slots of the ordinals that are asked for, lowest first, and the pods beyond them, highest first.
struct Census {
  std::vector<Slot> slots;
  std::vector<Slot> surplus;
};

Census take_census(const kube::Object& set, const StatefulSetSpec& spec, const std::vector<kube::Object>& pods) {
  Census census;
  for (std::int64_t i = 0; i < spec.replicas; ++i) census.slots.push_back({spec.start + i, {}});
  for (const kube::Object& pod : pods) {
    const auto ordinal = member_ordinal(set, kube::name(pod));
    if (!ordinal) continue;
    if (spec.contains(*ordinal)) {
      census.slots[static_cast<std::size_t>(*ordinal - spec.start)].pod = pod;
    } else {
      census.surplus.push_back({*ordinal, pod});
    }
  }
  std::ranges::sort(census.surplus, std::greater<>{}, &Slot::ordinal);
  return census;
}

class StatefulSetPlanner {
 public:
  StatefulSetPlanner(const StatefulSetView& view, const Now& now)
      : view_(view), set_(view.set), now_(now), spec_(view.set["spec"]), census_(take_census(set_, spec_, view.pods)) {}

  StatefulSetPlan plan();

 private:
  void count();
  /// False: nothing more may happen in this plan.
  bool fill();
  bool fill_slot(const Slot& slot);
  bool create(const Slot& slot);
  bool shrink();
  void update();
  void update_advanced(const AdvancedRollout& rollout);
  void update_pod(const kube::Object& pod, UpdateType policy);
  Value advanced_status(Value status);
  void keep_identity(const Slot& slot);
  void keep_claims(const Slot& slot, bool is_in_range);
  bool is_available(const kube::Object& pod);
  /// Pods that the update has not come to are made of the old template again.
  const kube::Object& revision_for(std::int64_t ordinal) const {
    const std::int64_t old = spec_.has_partition ? spec_.partition : set_["status"]["currentReplicas"].as_int();
    return spec_.is_rolling && ordinal < spec_.start + old ? view_.current : view_.update;
  }

  const StatefulSetView& view_;
  const kube::Object& set_;
  const Now& now_;
  const StatefulSetSpec spec_;
  const Census census_;
  StatefulSetPlan plan_;
  std::optional<std::string> update_failure_;
};

StatefulSetPlan StatefulSetPlanner::plan() {
  count();
  for (const kube::Object& pod : view_.pods) {
    if (view_.advanced && is_active_pod(pod) && in_place_end(pod)) plan_.settle.push_back(pod);
  }
  const bool is_next = fill() && shrink();
  if (is_next && view_.advanced) {
    update_advanced(*view_.advanced);
  } else if (is_next) {
    update();
  }
  if (view_.advanced) {
    Value status = advanced_status(plan_.status.is_null() ? set_["status"] : plan_.status);
    if (status != set_["status"]) plan_.status = std::move(status);
  }
  return std::move(plan_);
}

void StatefulSetPlanner::count() {
  std::int64_t replicas = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
  std::int64_t current = 0;
  std::int64_t updated = 0;
  for (const kube::Object& pod : view_.pods) {
    ++replicas;
    if (is_ready(pod)) {
      ++ready;
      if (is_available(pod)) ++available;
    }
    if (kube::is_deleting(pod)) continue;
    const auto revision = kube::label(pod, kRevisionHash);
    if (revision == kube::name(view_.current)) ++current;
    if (revision == kube::name(view_.update)) ++updated;
  }
  std::string_view current_name = kube::name(view_.current);
  const bool is_complete =
      spec_.is_rolling && updated == spec_.replicas && ready == spec_.replicas && replicas == spec_.replicas;
  if (is_complete) {
    current = updated;
    current_name = kube::name(view_.update);
  }
  const Value& before = set_["status"];
  Value status = before.with("observedGeneration", kube::generation(set_))
                     .with("replicas", replicas)
                     .with("availableReplicas", available)
                     .with("currentRevision", current_name)
                     .with("updateRevision", kube::name(view_.update))
                     .with("collisionCount", before["collisionCount"].as_int());
  const auto set_count = [&](const char* name, std::int64_t count) {
    status = count == 0 ? status.without(name) : status.with(name, count);
  };
  set_count("readyReplicas", ready);
  set_count("currentReplicas", current);
  set_count("updatedReplicas", updated);
  plan_.is_status_first =
      status["currentRevision"] != before["currentRevision"] || status["updateRevision"] != before["updateRevision"];
  if (status != before) plan_.status = std::move(status);
}

bool StatefulSetPlanner::fill() {
  for (const Slot& slot : census_.slots) {
    if (!fill_slot(slot) && spec_.is_ordered) return false;
  }
  return true;
}

/// False: the pod of the slot has yet to become what it should be.
bool StatefulSetPlanner::fill_slot(const Slot& slot) {
  const kube::Object& pod = slot.pod;
  if (pod.is_null()) return create(slot);
  if (is_terminal_pod(pod)) {
    if (!kube::is_deleting(pod)) plan_.remove.push_back(pod);
    return false;
  }
  if (pod["status"]["phase"].as_string() == "Pending" && !kube::is_deleting(pod)) {
    for (kube::Object& claim : make_stateful_claims(set_, slot.ordinal)) {
      if (view_.find_claim(std::string(kube::name(claim))).is_null()) plan_.create_claims.push_back(std::move(claim));
    }
  }
  if (spec_.is_ordered && (!is_healthy(pod) || !is_available(pod))) return false;
  keep_identity(slot);
  keep_claims(slot, true);
  return true;
}

/// Never true: what was just made is not ready.
bool StatefulSetPlanner::create(const Slot& slot) {
  const std::string name = stateful_pod_name(set_, slot.ordinal);
  std::vector<kube::Object> missing;
  for (kube::Object& claim : make_stateful_claims(set_, slot.ordinal)) {
    const kube::Object found = view_.find_claim(std::string(kube::name(claim)));
    if (!found.is_null() && (kube::is_deleting(found) || is_claim_of_gone_pod(found, name))) return false;
    if (found.is_null()) missing.push_back(std::move(claim));
  }
  plan_.create_claims.insert(plan_.create_claims.end(), missing.begin(), missing.end());
  kube::Object pod = make_stateful_pod(set_, revision_for(slot.ordinal), slot.ordinal);
  if (view_.advanced && view_.advanced->policy != UpdateType::ReCreate) pod = with_in_place_gate(pod);
  plan_.create.push_back(std::move(pod));
  return false;
}

/// From the top. Under OrderedReady a pod goes only when it is available, or is itself the first that is not healthy.
bool StatefulSetPlanner::shrink() {
  const auto is_bad = [](const Slot& slot) { return !is_healthy(slot.pod); };
  const bool has_bad_slot = std::ranges::any_of(census_.slots, is_bad);
  const auto lowest_bad = std::find_if(census_.surplus.rbegin(), census_.surplus.rend(), is_bad);
  for (const Slot& slot : census_.surplus) keep_claims(slot, false);
  for (const Slot& slot : census_.surplus) {
    if (kube::is_deleting(slot.pod)) {
      if (spec_.is_ordered) return false;
      continue;
    }
    const bool is_first_bad = !has_bad_slot && lowest_bad != census_.surplus.rend() && lowest_bad->ordinal == slot.ordinal;
    if (spec_.is_ordered && !is_first_bad && (!is_ready(slot.pod) || !is_available(slot.pod))) return false;
    plan_.remove.push_back(slot.pod);
    if (spec_.is_ordered) return false;
  }
  return true;
}

/// One pod at a time, from the top down to the partition.
void StatefulSetPlanner::update() {
  if (!spec_.is_rolling) return;
  for (auto slot = census_.slots.rbegin(); slot != census_.slots.rend(); ++slot) {
    if (slot->ordinal - spec_.start < spec_.partition) return;
    const kube::Object& pod = slot->pod;
    if (pod.is_null()) return;
    const bool is_old = kube::label(pod, kRevisionHash) != kube::name(view_.update);
    if (is_old && !kube::is_deleting(pod)) {
      const bool is_going = std::ranges::any_of(plan_.remove, [&](const kube::Object& one) { return one.is_same(pod); });
      if (!is_going) plan_.remove.push_back(pod);
      return;
    }
    if (!is_healthy(pod) || !is_available(pod)) return;
  }
}

/// From the top down to the partition, while not too many pods are unavailable. One that is unavailable anyway goes at once.
void StatefulSetPlanner::update_advanced(const AdvancedRollout& rollout) {
  if (!spec_.is_rolling || rollout.is_paused || !plan_.settle.empty()) return;
  const auto is_up = [&](const Slot& slot) { return is_healthy(slot.pod) && is_available(slot.pod); };
  std::int64_t unavailable = std::ranges::count_if(census_.slots, [&](const Slot& slot) { return !is_up(slot); });
  for (auto slot = census_.slots.rbegin(); slot != census_.slots.rend(); ++slot) {
    if (slot->ordinal - spec_.start < spec_.partition) return;
    const kube::Object& pod = slot->pod;
    const bool is_updated = pod.is_null() || kube::label(pod, kRevisionHash) == kube::name(view_.update);
    if (is_updated || !is_active_pod(pod)) continue;
    if (is_up(*slot) && unavailable++ >= rollout.max_unavailable) return;
    update_pod(pod, rollout.policy);
  }
}

void StatefulSetPlanner::update_pod(const kube::Object& pod, UpdateType policy) {
  const auto before = std::ranges::find(view_.history, kube::label(pod, kRevisionHash), kube::name);
  if (policy != UpdateType::ReCreate && before != view_.history.end()) {
    const std::string revision(kube::name(view_.update));
    auto next = updated_in_place(pod, revision_template(*before), revision_template(view_.update), revision, now_);
    if (next) {
      plan_.update_in_place.push_back({pod, std::move(*next)});
      return;
    }
  }
  if (policy == UpdateType::InPlaceOnly) {
    update_failure_ = fmt::format("pod {} cannot be updated in place", kube::name(pod));
  } else {
    plan_.remove.push_back(pod);
  }
}

/// What OpenKruise's kind tells beside the counts.
Value StatefulSetPlanner::advanced_status(Value status) {
  std::int64_t ready = 0;
  std::int64_t available = 0;
  for (const kube::Object& pod : view_.pods) {
    if (!is_ready(pod) || kube::label(pod, kRevisionHash) != kube::name(view_.update)) continue;
    ++ready;
    if (is_available(pod)) ++available;
  }
  const auto selector = kube::LabelSelector::from_object(set_["spec"]["selector"]);
  status = status.with("updatedReadyReplicas", ready)
               .with("updatedAvailableReplicas", available)
               .with("labelSelector", selector ? selector->to_string() : "");
  if (!update_failure_) return status.without("conditions");
  const kube::Condition failure{"FailedUpdatePod", "True", "FailedUpdatePod", *update_failure_};
  return status.with("conditions", kube::set_condition(status["conditions"], failure, now_));
}

void StatefulSetPlanner::keep_identity(const Slot& slot) {
  if (kube::is_deleting(slot.pod)) return;
  const std::string name = stateful_pod_name(set_, slot.ordinal);
  const std::string index = std::to_string(slot.ordinal);
  if (kube::label(slot.pod, kPodName) == name && kube::label(slot.pod, kPodIndex) == index) return;
  const Value labels = slot.pod["metadata"]["labels"].with(kPodName, name).with(kPodIndex, index);
  plan_.relabel.push_back(slot.pod.with_path({"metadata", "labels"}, labels));
}

void StatefulSetPlanner::keep_claims(const Slot& slot, bool is_in_range) {
  for (const kube::Object& claim : make_stateful_claims(set_, slot.ordinal)) {
    const kube::Object found = view_.find_claim(std::string(kube::name(claim)));
    if (found.is_null() || kube::is_deleting(found)) continue;
    Value owners = claim_owners(set_, found, slot.pod, is_in_range);
    if (owners != found["metadata"]["ownerReferences"]) plan_.own_claims.push_back({found, std::move(owners)});
  }
}

bool StatefulSetPlanner::is_available(const kube::Object& pod) {
  const auto wait = until_available(pod, spec_.min_ready, now_);
  if (wait && (!plan_.look_again || *wait < *plan_.look_again)) plan_.look_again = wait;
  return is_available_pod(pod, spec_.min_ready, now_);
}

}  // namespace

StatefulSetPlan plan_stateful_set(const StatefulSetView& view, const Now& now) { return StatefulSetPlanner(view, now).plan(); }

std::optional<std::int64_t> member_ordinal(const kube::Object& set, std::string_view pod_name) {
  const std::string_view base = kube::name(set);
  if (!pod_name.starts_with(base) || pod_name.size() < base.size() + 2 || pod_name[base.size()] != '-') return std::nullopt;
  const std::string_view digits = pod_name.substr(base.size() + 1);
  std::int64_t ordinal = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  const bool is_whole = error == std::errc{} && end == digits.data() + digits.size();
  return is_whole && ordinal >= 0 ? std::optional(ordinal) : std::nullopt;
}

std::optional<StatefulWait> stateful_wait(const kube::Object& set, const std::vector<kube::Object>& pods, const Now& now) {
  const StatefulSetSpec spec(set["spec"]);
  const Census census = take_census(set, spec, pods);
  for (const Slot& slot : census.slots) {
    const std::string name = stateful_pod_name(set, slot.ordinal);
    if (slot.pod.is_null()) return StatefulWait{name, "PodMissing"};
    if (kube::is_deleting(slot.pod)) return StatefulWait{name, "PodTerminating"};
    if (!is_ready(slot.pod)) return StatefulWait{name, "PodNotReady"};
    if (!is_available_pod(slot.pod, spec.min_ready, now)) return StatefulWait{name, "PodNotYetAvailable"};
  }
  if (!census.surplus.empty()) return StatefulWait{std::string(kube::name(census.surplus.front().pod)), "PodTerminating"};
  return std::nullopt;
}

}  // namespace slipway::cluster
