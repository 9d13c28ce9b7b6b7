#include "cluster/policy_explain.h"

#include <fmt/format.h>

namespace slipway::cluster {

namespace {

using control::View;
using control::Wait;
using json::Value;

Wait wait_of(const kube::Object& object, const Value& condition, std::string message) {
  return {fmt::format("{} {}", kube::kind(object), kube::name(object)),
          condition["reason"].str(),
          std::move(message),
          kube::time_of(condition["lastTransitionTime"]),
          {},
          {}};
}

/// A budget waits for nothing itself: what it says is why an eviction waits.
std::vector<Wait> explain_budget(const kube::Object& budget, const View&) {
  const Value& status = budget["status"];
  const Value& condition = kube::condition(budget, "DisruptionAllowed");
  if (status["observedGeneration"].as_int() < kube::generation(budget) && condition["reason"].as_string() != "SyncFailed") {
    return {{"the disruption controller",
             "NotObserved",
             "it has not looked at the budget yet",
             kube::creation_time(budget),
             {},
             {}}};
  }
  if (condition.is_null() || condition["status"].as_string() == "True") return {};
  const std::int64_t expected = status["expectedPods"].as_int();
  const std::int64_t desired = status["desiredHealthy"].as_int();
  const std::int64_t healthy = status["currentHealthy"].as_int();
  std::string message = condition["message"].str();
  if (condition["reason"].as_string() == "InsufficientPods" && expected == 0) {
    message = "no pods are counted: none match, or they have no controller that says how many are wanted";
  } else if (condition["reason"].as_string() == "InsufficientPods" && desired >= expected) {
    message =
        fmt::format("it wants {} healthy pods of {}: no pod may ever be evicted; lower minAvailable or raise maxUnavailable",
                    desired, expected);
  } else if (condition["reason"].as_string() == "InsufficientPods") {
    message = fmt::format("it needs {} healthy pods and has {}: pods have to become ready first", desired, healthy);
  }
  return {wait_of(budget, condition, std::move(message))};
}

std::vector<Wait> explain_autoscaler(const kube::Object& hpa, const View& view) {
  std::vector<Wait> waits;
  for (const char* type : {"AbleToScale", "ScalingActive"}) {
    const Value& condition = kube::condition(hpa, type);
    if (condition["status"].as_string() == "False") waits.push_back(wait_of(hpa, condition, condition["message"].str()));
  }
  if (const Value& limited = kube::condition(hpa, "ScalingLimited"); waits.empty() && limited["status"].as_string() == "True") {
    waits.push_back(wait_of(hpa, limited, limited["message"].str()));
  }
  const Value& target = hpa["spec"]["scaleTargetRef"];
  const Value object = view.find(target.with("namespace", kube::ns(hpa)));
  if (waits.empty() && !object.is_null() && hpa["status"]["currentReplicas"] != hpa["status"]["desiredReplicas"]) {
    waits.push_back(
        {fmt::format("{} {}", target["kind"].as_string(), target["name"].as_string()),
         "Rescaling",
         fmt::format("{} of {} replicas", hpa["status"]["currentReplicas"].as_int(), hpa["status"]["desiredReplicas"].as_int()),
         kube::time_of(hpa["status"]["lastScaleTime"]),
         kube::reference_to(object),
         {}});
  }
  return waits;
}

}  // namespace

std::vector<control::ExplainRow> policy_explain_rows() {
  return {control::ExplainRow::without_parts("policy", "PodDisruptionBudget", explain_budget),
          control::ExplainRow::without_parts("autoscaling", "HorizontalPodAutoscaler", explain_autoscaler)};
}

}  // namespace slipway::cluster
