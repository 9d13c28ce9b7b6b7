#include "cluster/deployment_status.h"

#include <algorithm>

namespace slipway::cluster {

namespace {

using json::Value;

constexpr const char* kProgressing = "Progressing";
constexpr const char* kFailure = "ReplicaFailure";
constexpr const char* kAvailableReason = "NewReplicaSetAvailable";
constexpr const char* kTimedOutReason = "ProgressDeadlineExceeded";

const Value& find_condition(const Value& status, std::string_view type) {
  static const Value kNone;
  for (const Value& condition : status["conditions"].items()) {
    if (condition["type"].as_string() == type) return condition;
  }
  return kNone;
}

/// Nothing changes when status and reason are the present ones, unless it `notes_progress`: lastUpdateTime moves then.
Value with_condition(const Value& status, const kube::Condition& condition, Time now, bool notes_progress = false) {
  const Value& before = find_condition(status, condition.type);
  const bool is_same_status = before["status"].as_string() == condition.status;
  if (is_same_status && before["reason"].as_string() == condition.reason && !notes_progress) return status;
  const std::string stamp = to_rfc3339(now);
  const Value made = json::object({{"type", condition.type},
                                   {"status", condition.status},
                                   {"lastUpdateTime", stamp},
                                   {"lastTransitionTime", is_same_status ? before["lastTransitionTime"] : Value(stamp)},
                                   {"reason", condition.reason},
                                   {"message", condition.message}});
  const Value rest = kube::without_condition(status, condition.type);
  return rest.with("conditions", rest["conditions"].appended(made));
}

std::int64_t sum(const std::vector<kube::Object>& sets, const char* count) {
  std::int64_t total = 0;
  for (const kube::Object& set : sets) total += set["status"][count].as_int();
  return total;
}

std::int64_t old_replicas(const Value& status) { return status["replicas"].as_int() - status["updatedReplicas"].as_int(); }

bool has_progressed(const Value& before, const Value& after) {
  const auto grew = [&](const char* count) { return after[count].as_int() > before[count].as_int(); };
  return grew("updatedReplicas") || grew("readyReplicas") || grew("availableReplicas") ||
         old_replicas(after) < old_replicas(before);
}

std::string subject(const kube::Object& deployment, const RolloutCensus& census) {
  return census.new_set.empty() ? fmt::format("Deployment \"{}\"", kube::name(deployment))
                                : fmt::format("ReplicaSet \"{}\"", census.new_set);
}

bool is_too_late(const Value& status, Duration deadline, const Now& now) {
  const Value& condition = find_condition(status, kProgressing);
  if (condition.is_null()) return false;
  const auto reason = condition["reason"].as_string();
  if (reason == kAvailableReason) return false;
  if (reason == kTimedOutReason) return true;
  return now.present(kube::time_of(condition["lastUpdateTime"]).value_or(now)) + deadline < now.time();
}

Value judge_progress(const kube::Object& deployment, const RolloutCensus& census, Value status, const Now& now) {
  const DeploymentSpec spec(deployment);
  if (!spec.progress_deadline) return kube::without_condition(status, kProgressing);
  if (census.was_created) {
    status = with_condition(
        status, {kProgressing, "True", "NewReplicaSetCreated", fmt::format("Created new replica set \"{}\"", census.new_set)},
        now);
  } else if (!census.new_set.empty() && find_condition(status, kProgressing).is_null()) {
    status = with_condition(
        status, {kProgressing, "True", "FoundNewReplicaSet", fmt::format("Found new replica set \"{}\"", census.new_set)}, now);
  }
  const Value before = deployment["status"];
  const bool is_known_complete = status["replicas"].as_int() == status["updatedReplicas"].as_int() &&
                                 find_condition(before, kProgressing)["reason"].as_string() == kAvailableReason;
  if (is_known_complete) return status;
  const std::string what = subject(deployment, census);
  if (is_complete_rollout(deployment, status)) {
    return with_condition(status, {kProgressing, "True", kAvailableReason, what + " has successfully progressed."}, now);
  }
  if (has_progressed(before, status)) {
    return with_condition(status, {kProgressing, "True", "ReplicaSetUpdated", what + " is progressing."}, now, true);
  }
  if (is_too_late(status, *spec.progress_deadline, now)) {
    return with_condition(status, {kProgressing, "False", kTimedOutReason, what + " has timed out progressing."}, now);
  }
  return status;
}

/// The failure of the new set, or else of any other.
Value take_over_failure(const RolloutCensus& census, const Value& status, Time now) {
  const Value* failure = nullptr;
  for (const kube::Object& set : census.sets) {
    const Value& found = kube::condition(set, kFailure);
    if (!found.is_null() && (failure == nullptr || kube::name(set) == census.new_set)) failure = &found;
  }
  if (failure == nullptr) return kube::without_condition(status, kFailure);
  const Value& found = *failure;
  return with_condition(status, {kFailure, found["status"].str(), found["reason"].str(), found["message"].str()}, now);
}

}  // namespace

Value counted_status(const kube::Object& deployment, const RolloutCensus& census, Time now) {
  const DeploymentSpec spec(deployment);
  std::vector<kube::Object> updated = census.sets;
  std::erase_if(updated, [&](const kube::Object& set) { return kube::name(set) != census.new_set; });
  const std::int64_t available = sum(census.sets, "availableReplicas");
  Value status = deployment["status"].with("observedGeneration", kube::generation(deployment));
  const auto set_count = [&](const char* name, std::int64_t count) {
    status = count == 0 ? status.without(name) : status.with(name, count);
  };
  set_count("replicas", sum(census.sets, "replicas"));
  set_count("updatedReplicas", sum(updated, "replicas"));
  set_count("readyReplicas", sum(census.sets, "readyReplicas"));
  set_count("availableReplicas", available);
  set_count("unavailableReplicas", std::max<std::int64_t>(census.wanted - available, 0));
  if (available >= spec.min_available()) {
    return with_condition(status, {"Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."},
                          now);
  }
  return with_condition(
      status, {"Available", "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."}, now);
}

Value rollout_status(const kube::Object& deployment, const RolloutCensus& census, const Now& now) {
  const Value counted = counted_status(deployment, census, now);
  return take_over_failure(census, judge_progress(deployment, census, counted, now), now);
}

Value paused_status(const kube::Object& deployment, Time now) {
  const DeploymentSpec spec(deployment);
  const Value& status = deployment["status"];
  const auto reason = find_condition(status, kProgressing)["reason"].as_string();
  if (!spec.progress_deadline || reason == kTimedOutReason) return status;
  if (spec.is_paused && reason != "DeploymentPaused") {
    return with_condition(status, {kProgressing, "Unknown", "DeploymentPaused", "Deployment is paused"}, now);
  }
  if (!spec.is_paused && reason == "DeploymentPaused") {
    return with_condition(status, {kProgressing, "Unknown", "DeploymentResumed", "Deployment is resumed"}, now);
  }
  return status;
}

Value create_failure_status(const kube::Object& deployment, std::string_view set, const std::string& message, Time now) {
  const Value& before = deployment["status"];
  const Value after = with_condition(before,
                                     {kProgressing, "False", "ReplicaSetCreateError",
                                      fmt::format("Failed to create new replica set \"{}\": {}", set, message)},
                                     now);
  return after == before ? Value() : after;
}

std::optional<Duration> until_deadline(const kube::Object& deployment, const Value& status, const Now& now) {
  const DeploymentSpec spec(deployment);
  const Value& condition = find_condition(status, kProgressing);
  if (!spec.progress_deadline || condition.is_null() || condition["reason"].as_string() == kTimedOutReason) return std::nullopt;
  if (is_complete_rollout(deployment, status)) return std::nullopt;
  const Time updated = now.present(kube::time_of(condition["lastUpdateTime"]).value_or(now));
  return std::max<Duration>(updated + *spec.progress_deadline - now.time(), Duration{0}) + std::chrono::seconds{1};
}

bool is_complete_rollout(const kube::Object& deployment, const Value& status) {
  const std::int64_t wanted = DeploymentSpec(deployment).replicas;
  return status["updatedReplicas"].as_int() == wanted && status["replicas"].as_int() == wanted &&
         status["availableReplicas"].as_int() == wanted &&
         status["observedGeneration"].as_int() >= kube::generation(deployment);
}

}  // namespace slipway::cluster
