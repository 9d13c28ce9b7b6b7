#include "cluster/deployment_plan.h"

#include <algorithm>
#include <cmath>

#include "cluster/deployment_facts.h"
#include "cluster/deployment_status.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// Characters of the annotation revision-history.
constexpr std::size_t kMaxHistory = 2000;

/// A ReplicaSet and what the plan makes of it.
struct SetState {
  kube::Object object;
  std::int64_t before = 0;  // spec.replicas
  std::int64_t size = 0;    // as planned
  Value annotations;        // to write
  bool sets_min_ready = false;

  std::int64_t available() const { return std::min(object["status"]["availableReplicas"].as_int(), size); }
};

class RolloutPlanner {
 public:
  RolloutPlanner(const kube::Object& deployment, const std::vector<kube::Object>& sets,
                 const std::function<bool(const kube::Object& set)>& has_pods, const Now& now)
      : deployment_(deployment.with("status", paused_status(deployment, now))),
        had_status_(deployment["status"]),
        spec_(deployment),
        has_pods_(has_pods),
        now_(now) {
    for (const kube::Object& set : sets) {
      const std::int64_t size = set["spec"]["replicas"].as_int(1);
      sets_.push_back({set, size, size, {}, false});
    }
    std::sort(sets_.begin(), sets_.end(),
              [](const SetState& left, const SetState& right) { return is_older(left.object, right.object); });
    for (SetState& set : sets_) {
      const bool is_new =
          new_ == nullptr && are_equal_templates(set.object["spec"]["template"], deployment["spec"]["template"]);
      if (is_new) new_ = &set;
    }
  }

  RolloutPlan plan();

 private:
  void sync_revision();
  void roll();
  void recreate();
  void create_new_set(std::int64_t size);
  void grow_new_set();
  void shrink_old_sets();
  void scale_as_asked();
  void scale_in_proportion();
  std::int64_t share_of(const SetState& set, std::int64_t to_add, std::int64_t added) const;
  bool is_being_scaled() const;
  bool is_saturated() const;
  void clean_history();
  void scale_to(SetState& set, std::int64_t size);
  void finish(bool judges_progress);

  /// Every set but the new one, oldest first.
  std::vector<SetState*> old_sets() {
    std::vector<SetState*> old;
    for (SetState& set : sets_) {
      if (&set != new_) old.push_back(&set);
    }
    return old;
  }
  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const SetState& set : sets_) sum += set.size;
    return sum;
  }

  /// Pods that there are or will be.
  std::int64_t occupied() const {
    std::int64_t sum = 0;
    for (const SetState& set : sets_) sum += std::max(set.size, set.object["status"]["replicas"].as_int());
    return sum;
  }

  const kube::Object deployment_;  // its status with what pausing changes
  const Value had_status_;
  const DeploymentSpec spec_;
  const std::function<bool(const kube::Object& set)>& has_pods_;
  const Now now_;
  std::vector<SetState> sets_;
  SetState* new_ = nullptr;
  RolloutPlan plan_;
};

RolloutPlan RolloutPlanner::plan() {
  if (kube::is_deleting(deployment_)) {
    finish(false);
    return std::move(plan_);
  }
  sync_revision();
  if (spec_.is_paused || is_being_scaled()) {
    scale_as_asked();
    if (spec_.is_paused) clean_history();
    finish(false);
  } else {
    spec_.is_rolling ? roll() : recreate();
    finish(true);
  }
  return std::move(plan_);
}

/// The new set has the highest revision; a set that becomes new again (a rollback) keeps its old ones as history.
void RolloutPlanner::sync_revision() {
  std::int64_t highest = 0;
  for (const SetState* old : old_sets()) highest = std::max(highest, number_annotation(old->object, kRevision));
  if (new_ == nullptr) return;
  const std::int64_t present = number_annotation(new_->object, kRevision);
  const Value& annotations = new_->object["metadata"]["annotations"];
  const auto set_if_new = [&](std::string_view key, const Value& value) {
    if (annotations[key] != value) new_->annotations = new_->annotations.with(key, value);
  };
  const Value inherited = inherited_annotations(deployment_);
  for (const auto& [key, value] : inherited.members()) set_if_new(key, value);
  if (present <= highest) {
    set_if_new(kRevision, std::to_string(highest + 1));
    if (annotations.has(kRevision)) {
      std::string history = annotations[kRevisionHistory].str();
      history += (history.empty() ? "" : ",") + std::to_string(present);
      while (history.size() > kMaxHistory) history.erase(0, history.find(',') + 1);
      set_if_new(kRevisionHistory, history);
    }
  }
  new_->sets_min_ready = new_->object["spec"]["minReadySeconds"].as_int() != spec_.min_ready_seconds;
  plan_.revision = std::to_string(std::max(present, highest + 1));
}

void RolloutPlanner::roll() {
  if (new_ == nullptr) {
    return create_new_set(std::min(std::max<std::int64_t>(spec_.max_replicas() - occupied(), 0), spec_.replicas));
  }
  const std::int64_t before = new_->size;
  grow_new_set();
  if (new_->size != before) return;
  shrink_old_sets();
  if (is_complete_rollout(deployment_, deployment_["status"])) clean_history();
}

void RolloutPlanner::recreate() {
  bool is_clear = true;
  for (SetState* old : old_sets()) {
    if (old->size > 0) {
      scale_to(*old, 0);
      is_clear = false;
    }
  }
  for (const SetState* old : old_sets()) is_clear = is_clear && !has_pods_(old->object);
  if (!is_clear) return;
  if (new_ == nullptr) return create_new_set(spec_.replicas);
  if (new_->size != spec_.replicas) return scale_to(*new_, spec_.replicas);
  if (is_complete_rollout(deployment_, deployment_["status"])) clean_history();
}

void RolloutPlanner::create_new_set(std::int64_t size) {
  std::int64_t highest = 0;
  for (const SetState& set : sets_) highest = std::max(highest, number_annotation(set.object, kRevision));
  plan_.revision = std::to_string(highest + 1);
  kube::Object made = make_replica_set(deployment_);
  const Value annotations = made["metadata"]["annotations"]
                                .with(kRevision, plan_.revision)
                                .with(kDesiredReplicas, std::to_string(spec_.replicas))
                                .with(kMaxReplicas, std::to_string(spec_.max_replicas()));
  plan_.create = made.with_path({"metadata", "annotations"}, annotations).with_path({"spec", "replicas"}, size);
  if (size == 0) return;
  plan_.events.push_back({"Normal", "ScalingReplicaSet",
                          fmt::format("Scaled up replica set {} from 0 to {}", kube::name(plan_.create), size),
                          fmt::format("{}/created", kube::name(plan_.create))});
}

void RolloutPlanner::grow_new_set() {
  if (new_->size > spec_.replicas) return scale_to(*new_, spec_.replicas);
  const std::int64_t room = spec_.max_replicas() - occupied();
  if (room > 0) scale_to(*new_, new_->size + std::min(room, spec_.replicas - new_->size));
}

/// First what is broken anyway, then as many as the new set has made superfluous. Oldest sets first.
void RolloutPlanner::shrink_old_sets() {
  const std::int64_t new_unavailable = new_->size - new_->available();
  const std::int64_t most = total() - spec_.min_available() - new_unavailable;
  if (most <= 0) return;
  std::int64_t removed = 0;
  for (SetState* old : old_sets()) {
    const std::int64_t unhealthy = std::min(most - removed, old->size - old->available());
    if (unhealthy <= 0) continue;
    scale_to(*old, old->size - unhealthy);
    removed += unhealthy;
  }
  std::int64_t available = 0;
  for (const SetState& set : sets_) available += set.available();
  std::int64_t spare = available - spec_.min_available();
  for (SetState* old : old_sets()) {
    const std::int64_t fewer = std::min(old->size, spare);
    if (fewer <= 0) continue;
    scale_to(*old, old->size - fewer);
    spare -= fewer;
  }
}

/// spec.replicas has changed since the sets were sized. What is being deleted is not asked.
bool RolloutPlanner::is_being_scaled() const {
  return std::any_of(sets_.begin(), sets_.end(), [&](const SetState& set) {
    return set.before > 0 && set.object["metadata"]["annotations"].has(kDesiredReplicas) &&
           number_annotation(set.object, kDesiredReplicas) != spec_.replicas;
  });
}

bool RolloutPlanner::is_saturated() const {
  return new_ != nullptr && new_->size == spec_.replicas && new_->available() == spec_.replicas &&
         number_annotation(new_->object, kDesiredReplicas) == spec_.replicas;
}

void RolloutPlanner::scale_as_asked() {
  if (sets_.empty()) return;
  std::vector<SetState*> active;
  for (SetState& set : sets_) {
    if (set.size > 0) active.push_back(&set);
  }
  if (active.size() <= 1) {
    SetState* only = !active.empty() ? active.front() : new_ != nullptr ? new_ : &sets_.back();
    return scale_to(*only, spec_.replicas);
  }
  if (is_saturated()) {
    for (SetState* old : old_sets()) {
      if (old->size > 0) scale_to(*old, 0);
    }
  } else if (spec_.is_rolling) {
    scale_in_proportion();
  }
}

/// Large sets first; among equal ones the newer grows and the older shrinks first. What rounding leaves goes to the first.
void RolloutPlanner::scale_in_proportion() {
  std::vector<SetState*> active;
  for (SetState& set : sets_) {
    if (set.size > 0) active.push_back(&set);
  }
  const std::int64_t allowed = spec_.replicas > 0 ? spec_.max_replicas() : 0;
  const std::int64_t to_add = allowed - total();
  std::sort(active.begin(), active.end(), [&](const SetState* left, const SetState* right) {
    if (left->size != right->size) return left->size > right->size;
    return to_add > 0 ? is_older(right->object, left->object) : is_older(left->object, right->object);
  });
  std::vector<std::int64_t> sizes;
  std::int64_t added = 0;
  for (const SetState* set : active) {
    const std::int64_t share = to_add == 0 ? 0 : share_of(*set, to_add, added);
    sizes.push_back(set->size + share);
    added += share;
  }
  if (to_add != 0) sizes.front() = std::max<std::int64_t>(sizes.front() + to_add - added, 0);
  for (std::size_t i = 0; i < active.size(); ++i) scale_to(*active[i], sizes[i]);
}

std::int64_t RolloutPlanner::share_of(const SetState& set, std::int64_t to_add, std::int64_t added) const {
  const std::int64_t left = to_add - added;
  if (left == 0) return 0;
  std::int64_t share = -set.size;
  if (spec_.replicas > 0) {
    std::int64_t before = number_annotation(set.object, kMaxReplicas);
    if (before == 0) before = deployment_["status"]["replicas"].as_int();
    if (before == 0) return 0;
    const double size = static_cast<double>(set.size * spec_.max_replicas()) / static_cast<double>(before);
    share = static_cast<std::int64_t>(std::lround(size)) - set.size;
  }
  return to_add > 0 ? std::min(share, left) : std::max(share, left);
}

/// Oldest revisions first; a set that has, or may still have, pods stays.
void RolloutPlanner::clean_history() {
  if (!spec_.history_limit) return;
  std::vector<const SetState*> old;
  for (const SetState* set : old_sets()) {
    if (!kube::is_deleting(set->object)) old.push_back(set);
  }
  const std::int64_t surplus = static_cast<std::int64_t>(old.size()) - *spec_.history_limit;
  if (surplus <= 0) return;
  std::sort(old.begin(), old.end(), [](const SetState* left, const SetState* right) {
    const std::int64_t left_revision = number_annotation(left->object, kRevision);
    const std::int64_t right_revision = number_annotation(right->object, kRevision);
    return left_revision != right_revision ? left_revision < right_revision : is_older(left->object, right->object);
  });
  old.resize(static_cast<std::size_t>(surplus));
  for (const SetState* set : old) {
    const Value& status = set->object["status"];
    const bool is_seen = status["observedGeneration"].as_int() >= kube::generation(set->object);
    if (status["replicas"].as_int() == 0 && set->size == 0 && is_seen) plan_.remove.push_back(set->object);
  }
}

/// The annotations tell later plans what the size was a share of.
void RolloutPlanner::scale_to(SetState& set, std::int64_t size) {
  const auto note = [&](std::string_view key, std::int64_t number) {
    if (number_annotation(set.object, key) != number) set.annotations = set.annotations.with(key, std::to_string(number));
  };
  note(kDesiredReplicas, spec_.replicas);
  note(kMaxReplicas, spec_.max_replicas());
  if (set.size == size) return;
  plan_.events.push_back({"Normal", "ScalingReplicaSet",
                          fmt::format("Scaled {} replica set {} from {} to {}", size > set.size ? "up" : "down",
                                      kube::name(set.object), set.size, size),
                          fmt::format("{}/{}/{}", kube::name(set.object), kube::revision(set.object), size)});
  set.size = size;
}

void RolloutPlanner::finish(bool judges_progress) {
  RolloutCensus census;
  for (SetState& set : sets_) {
    census.sets.push_back(set.object);
    Value patch;
    if (!set.annotations.empty()) patch = patch.with_path({"metadata", "annotations"}, set.annotations);
    if (set.size != set.before) patch = patch.with_path({"spec", "replicas"}, set.size);
    if (set.sets_min_ready) patch = patch.with_path({"spec", "minReadySeconds"}, spec_.min_ready_seconds);
    if (!patch.is_null()) plan_.changes.push_back({set.object, std::move(patch)});
  }
  census.wanted = total();
  if (new_ != nullptr) census.new_set = std::string(kube::name(new_->object));
  if (!plan_.create.is_null()) {
    census.new_set = std::string(kube::name(plan_.create));
    census.was_created = true;
    census.wanted += plan_.create["spec"]["replicas"].as_int();
  }
  const Value status = judges_progress ? rollout_status(deployment_, census, now_) : counted_status(deployment_, census, now_);
  if (status != had_status_) plan_.status = status;
  if (judges_progress) plan_.look_again = until_deadline(deployment_, status, now_);
  if (kube::annotation(deployment_, kRevision) == plan_.revision) plan_.revision.clear();
}

}  // namespace

RolloutPlan plan_rollout(const kube::Object& deployment, const std::vector<kube::Object>& sets,
                         const std::function<bool(const kube::Object& set)>& has_pods, const Now& now) {
  return RolloutPlanner(deployment, sets, has_pods, now).plan();
}

const kube::Object* find_new_set(const kube::Object& deployment, const std::vector<kube::Object>& sets) {
  const kube::Object* oldest = nullptr;
  for (const kube::Object& set : sets) {
    if (!are_equal_templates(set["spec"]["template"], deployment["spec"]["template"])) continue;
    if (oldest == nullptr || is_older(set, *oldest)) oldest = &set;
  }
  return oldest;
}

}  // namespace slipway::cluster
