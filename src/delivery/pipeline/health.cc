#include "delivery/pipeline/health.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::delivery::pipeline {
namespace {

using json::Value;
using kube::Object;

HealthVerdict healthy() { return {}; }
HealthVerdict progressing(std::string text) { return {.health = Health::Progressing, .text = std::move(text)}; }
HealthVerdict unhealthy(std::string text) { return {.health = Health::Unhealthy, .text = std::move(text)}; }

/// "Reason: message" of a condition.
std::string why(const Value& condition) {
  return fmt::format("{}: {}", condition["reason"].as_string(), condition["message"].as_string());
}

/// Progressing "3 of 5 pods are ready" while `have` is less than `wanted`.
HealthVerdict counted(std::int64_t have, std::int64_t wanted, std::string_view what) {
  return have >= wanted ? healthy() : progressing(fmt::format("{} of {} {}", have, wanted, what));
}

HealthVerdict first_of(std::initializer_list<HealthVerdict> verdicts) {
  const auto found = std::ranges::find_if(verdicts, [](const HealthVerdict& one) { return one.health != Health::Healthy; });
  return found == verdicts.end() ? healthy() : *found;
}

HealthVerdict deployment(const Object& object) {
  const Value& status = object["status"];
  const Value& going = kube::condition(object, "Progressing");
  if (going["reason"].as_string() == "ProgressDeadlineExceeded") return unhealthy(why(going));
  if (kube::is_true(object, "ReplicaFailure")) return unhealthy(why(kube::condition(object, "ReplicaFailure")));
  const std::int64_t wanted = object["spec"]["replicas"].as_int(1);
  const std::int64_t updated = status["updatedReplicas"].as_int();
  if (const std::int64_t old = status["replicas"].as_int() - updated; old > 0)
    return progressing(fmt::format("{} old pods are left", old));
  return first_of(
      {counted(updated, wanted, "pods are new"), counted(status["availableReplicas"].as_int(), wanted, "pods are available")});
}

HealthVerdict stateful_set(const Object& object) {
  const Value& status = object["status"];
  const std::int64_t wanted = object["spec"]["replicas"].as_int(1);
  const Value& strategy = object["spec"]["updateStrategy"];
  const bool is_by_hand = strategy["type"].as_string() == "OnDelete";
  const std::int64_t kept = strategy["rollingUpdate"]["partition"].as_int();
  const bool is_one_revision = status["updateRevision"] == status["currentRevision"];
  const std::int64_t updated = is_one_revision ? status["replicas"].as_int() : status["updatedReplicas"].as_int();
  return first_of({counted(status["readyReplicas"].as_int(), wanted, "pods are ready"),
                   is_by_hand ? healthy() : counted(updated, std::max<std::int64_t>(0, wanted - kept), "pods are new")});
}

HealthVerdict daemon_set(const Object& object) {
  const Value& status = object["status"];
  const std::int64_t wanted = status["desiredNumberScheduled"].as_int();
  const bool is_by_hand = object["spec"]["updateStrategy"]["type"].as_string() == "OnDelete";
  return first_of({is_by_hand ? healthy() : counted(status["updatedNumberScheduled"].as_int(), wanted, "pods are new"),
                   counted(status["numberAvailable"].as_int(), wanted, "pods are available")});
}

HealthVerdict replica_set(const Object& object) {
  if (kube::is_true(object, "ReplicaFailure")) return unhealthy(why(kube::condition(object, "ReplicaFailure")));
  return counted(object["status"]["availableReplicas"].as_int(), object["spec"]["replicas"].as_int(1), "pods are available");
}

HealthVerdict job(const Object& object) {
  if (kube::is_true(object, "Failed")) return unhealthy(why(kube::condition(object, "Failed")));
  if (kube::is_true(object, "Complete")) return healthy();
  return progressing(kube::is_true(object, "Suspended") ? "it is suspended" : "it has not ended");
}

/// A container that waits for one of these does not come up by waiting.
bool is_stuck(std::string_view reason) {
  return reason.ends_with("BackOff") || reason.starts_with("Err") || reason == "InvalidImageName" ||
         reason == "CreateContainerConfigError" || reason == "CreateContainerError" || reason == "RunContainerError";
}

HealthVerdict pod_health(const Object& object) {
  const Value& status = object["status"];
  const std::string_view phase = status["phase"].as_string();
  if (phase == "Succeeded") return healthy();
  if (phase == "Failed") return unhealthy(status["message"].as_string().empty() ? "it failed" : status["message"].str());
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : status[list].items()) {
      const Value& waiting = container["state"]["waiting"];
      if (is_stuck(waiting["reason"].as_string())) return unhealthy(why(waiting));
    }
  }
  if (phase != "Running") return progressing(fmt::format("it is {}", phase.empty() ? "new" : phase));
  return kube::is_true(object, "Ready") ? healthy() : progressing("it is not ready");
}

HealthVerdict claim(const Object& object) {
  const std::string_view phase = object["status"]["phase"].as_string();
  if (phase == "Bound") return healthy();
  return phase == "Lost" ? unhealthy("its volume is gone") : progressing("it is not bound");
}

HealthVerdict ingress(const Object& object) {
  return object["status"]["loadBalancer"]["ingress"].empty() ? progressing("it has no address") : healthy();
}

HealthVerdict service(const Object& object) {
  return object["spec"]["type"].as_string() == "LoadBalancer" ? ingress(object) : healthy();
}

HealthVerdict autoscaler(const Object& object) {
  for (const char* type : {"AbleToScale", "ScalingActive"}) {
    const Value& one = kube::condition(object, type);
    const bool is_switched_off = one["reason"].as_string() == "ScalingDisabled";
    if (one["status"].as_string() == "False" && !is_switched_off) return unhealthy(why(one));
  }
  const Value& status = object["status"];
  const std::int64_t now = status["currentReplicas"].as_int();
  const std::int64_t wanted = status["desiredReplicas"].as_int();
  return now == wanted ? healthy() : progressing(fmt::format("from {} to {} pods", now, wanted));
}

HealthVerdict by_conditions(const Object& object) {
  if (kube::is_true(object, "Stalled")) return unhealthy(why(kube::condition(object, "Stalled")));
  if (kube::is_true(object, "Reconciling")) return progressing(why(kube::condition(object, "Reconciling")));
  const Value& ready = kube::condition(object, "Ready");
  if (ready["status"].as_string() == "False") return unhealthy(why(ready));
  return ready["status"].as_string() == "Unknown" ? progressing(why(ready)) : healthy();
}

struct Row {
  std::string_view group;
  std::string_view kind;
  HealthVerdict (*judge)(const Object& object);
};

constexpr Row kHealthRows[] = {
    {"apps", "Deployment", deployment},
    {"apps", "StatefulSet", stateful_set},
    {"apps", "DaemonSet", daemon_set},
    {"apps", "ReplicaSet", replica_set},
    {"batch", "Job", job},
    {"", "Pod", pod_health},
    {"", "PersistentVolumeClaim", claim},
    {"", "Service", service},
    {"networking.k8s.io", "Ingress", ingress},
    {"autoscaling", "HorizontalPodAutoscaler", autoscaler},
};

}  // namespace

std::string_view group_of(const Object& object) {
  const std::string_view version = object["apiVersion"].as_string();
  const auto slash = version.find('/');
  return slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
}

bool is_observed(const Object& object) {
  const Value& seen = object["status"]["observedGeneration"];
  return seen.is_null() || seen.as_int() >= kube::generation(object);
}

HealthVerdict health_of(const Object& object) {
  if (kube::is_deleting(object)) return progressing("it is being deleted");
  if (!is_observed(object)) return progressing("its controller has not seen the newest generation");
  const auto row = std::ranges::find_if(
      kHealthRows, [&](const Row& one) { return one.group == group_of(object) && one.kind == kube::kind(object); });
  return row == std::end(kHealthRows) ? by_conditions(object) : row->judge(object);
}

}  // namespace slipway::delivery::pipeline
