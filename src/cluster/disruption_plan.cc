#include "cluster/disruption_plan.h"

#include <algorithm>

#include "cluster/deployment_facts.h"
#include "control/object_writes.h"
#include "kube/selector.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr const char* kCondition = "DisruptionAllowed";
/// An evicted pod that is still there then has escaped its eviction.
constexpr Duration kDeletionTimeout = std::chrono::minutes{2};

struct Count {
  std::int64_t expected = 0;
  std::int64_t desired = 0;
};

Count count_of(const Value& spec, std::int64_t pods, std::int64_t wanted) {
  if (const Value& most = spec["maxUnavailable"]; !most.is_null()) {
    return {wanted, std::max<std::int64_t>(wanted - resolve_share(most, wanted, true), 0)};
  }
  const Value& least = spec["minAvailable"];
  if (least.is_null()) return {};
  return least.is_string() ? Count{wanted, resolve_share(least, wanted, true)} : Count{pods, least.as_int()};
}

/// metav1.Condition always has a message.
Value with_messages(const Value& status) {
  json::ArrayBuilder conditions;
  for (const Value& one : status["conditions"].items()) conditions.add(one.has("message") ? one : one.with("message", ""));
  return status.with("conditions", conditions.build());
}

}  // namespace

bool counts_wanted_pods(const kube::Object& budget) {
  const Value& spec = budget["spec"];
  return !spec["maxUnavailable"].is_null() || spec["minAvailable"].is_string();
}

bool is_budget_of(const kube::Object& budget, const kube::Object& pod) {
  const auto selector = kube::LabelSelector::from_object(budget["spec"]["selector"]);
  return selector && selector->matches(pod["metadata"]["labels"]);
}

DisruptionPlan plan_disruption(const kube::Object& budget, const std::vector<kube::Object>& pods, std::int64_t wanted,
                               const Now& now) {
  DisruptionPlan plan;
  json::ObjectBuilder disrupted;
  std::int64_t healthy = 0;
  for (const Value& pod : pods) {
    if (kube::is_deleting(pod)) continue;
    const Value& granted = budget["status"]["disruptedPods"][kube::name(pod)];
    if (const auto since = kube::time_of(granted); since && now.present(*since) + kDeletionTimeout > now.time()) {
      const Duration rest = now.present(*since) + kDeletionTimeout - now.time();
      plan.look_again = std::min(plan.look_again.value_or(rest), rest);
      disrupted.set(kube::name(pod), granted);
    } else if (kube::is_true(pod, "Ready")) {
      ++healthy;
    }
  }
  const Count count = count_of(budget["spec"], static_cast<std::int64_t>(pods.size()), wanted);
  const std::int64_t allowed = count.expected > 0 ? std::max<std::int64_t>(healthy - count.desired, 0) : 0;
  Value status = budget["status"].without("disruptedPods");
  if (!disrupted.empty()) status = status.with("disruptedPods", disrupted.build());
  status = status.with("disruptionsAllowed", allowed)
               .with("currentHealthy", healthy)
               .with("desiredHealthy", count.desired)
               .with("expectedPods", count.expected);
  const kube::Condition condition{kCondition, allowed > 0 ? "True" : "False",
                                  allowed > 0 ? "SufficientPods" : "InsufficientPods", ""};
  plan.status = with_messages(control::observed_status(budget, status, {condition}, now));
  return plan;
}

json::Value failed_budget_status(const kube::Object& budget, const std::string& message, Time now) {
  const Value& status = budget["status"];
  return status.with("disruptionsAllowed", 0)
      .with("conditions", kube::set_condition(status["conditions"], {kCondition, "False", "SyncFailed", message}, now));
}

std::string unmanaged_pods_message(const kube::Object& budget) {
  const Value& selector = budget["spec"]["selector"];
  std::vector<std::string> labels;
  for (const auto [key, value] : selector["matchLabels"].members()) {
    labels.push_back(fmt::format("{}: {},", key, value.as_string()));
  }
  std::ranges::sort(labels);
  std::string expressions;
  for (const Value& expression : selector["matchExpressions"].items()) {
    std::vector<std::string_view> values;
    for (const Value& value : expression["values"].items()) values.push_back(value.as_string());
    expressions += fmt::format("LabelSelectorRequirement{{Key:{},Operator:{},Values:[{}],}},", expression["key"].as_string(),
                               expression["operator"].as_string(), fmt::join(values, " "));
  }
  return fmt::format(
      "Pods selected by this PodDisruptionBudget (selector: &LabelSelector{{MatchLabels:map[string]string{{{}}},"
      "MatchExpressions:[]LabelSelectorRequirement{{{}}},}}) were found to be unmanaged. As a result, the status of the PDB "
      "cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set "
      "\".spec.minAvailable\" field of the PDB to an integer value.",
      fmt::join(labels, ""), expressions);
}

}  // namespace slipway::cluster
