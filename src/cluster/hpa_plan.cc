#include "cluster/hpa_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace slipway::cluster {

namespace {

using json::Value;

constexpr Duration kDownWindow = std::chrono::seconds{300};
constexpr Duration kMemory = std::chrono::hours{1};  // the longest window and period there may be

struct Limits {
  std::int64_t least;
  std::int64_t most;
};

/// A number and why it is that.
struct Decision {
  std::int64_t replicas = 0;
  const char* reason = "DesiredWithinRange";
  const char* message = "the desired count is within the acceptable range";
};

class Conditions {
 public:
  Conditions(Value before, Time now) : all_(std::move(before)), now_(now) {}
  void set(const char* type, bool is_true, const std::string& reason, const std::string& message) {
    all_ = kube::set_condition(all_, {type, is_true ? "True" : "False", reason, message}, now_);
  }
  const Value& all() const { return all_; }

 private:
  Value all_;
  Time now_;
};

Duration window_of(const Value& rules, Duration absent) {
  const Value& window = rules["stabilizationWindowSeconds"];
  return window.is_null() ? absent : seconds_saturating(window.as_int());
}

/// The size that recent recommendations agree on: not above the lowest when it grows, not below the highest when it shrinks.
std::int64_t stabilise(const Value& behavior, const HpaHistory& history, std::int64_t current, std::int64_t desired,
                       Steady moment) {
  std::int64_t up = desired;
  std::int64_t down = desired;
  for (const HpaHistory::Entry& entry : history.recommendations) {
    if (entry.at > moment - window_of(behavior["scaleUp"], Duration{0})) up = std::min(up, entry.count);
    if (entry.at > moment - window_of(behavior["scaleDown"], kDownWindow)) down = std::max(down, entry.count);
  }
  return std::min(std::max(current, up), down);
}

/// How far the policies of one direction let the size go from `current`.
std::int64_t policy_limit(const Value& rules, const HpaHistory& history, std::int64_t current, bool is_up, Steady moment) {
  const std::string_view chosen = rules["selectPolicy"].as_string();
  if (chosen == "Disabled") return current;
  const bool takes_highest = is_up == (chosen != "Min");
  std::optional<std::int64_t> limit;
  for (const Value& policy : rules["policies"].items()) {
    std::int64_t start = current;
    for (const HpaHistory::Entry& change : history.changes) {
      if (change.at > moment - seconds_saturating(policy["periodSeconds"].as_int())) start -= change.count;
    }
    const std::int64_t value = is_up ? policy["value"].as_int() : -policy["value"].as_int();
    const double scaled = static_cast<double>(start) * (1.0 + static_cast<double>(value) / 100.0);
    const bool is_share = policy["type"].as_string() == "Percent";
    const std::int64_t proposed = !is_share ? start + value : static_cast<std::int64_t>(is_up ? std::ceil(scaled) : scaled);
    limit = !limit ? proposed : takes_highest ? std::max(*limit, proposed) : std::min(*limit, proposed);
  }
  return is_up ? std::max(limit.value_or(current), current) : std::min(limit.value_or(current), current);
}

Decision limit_growth(const Value& behavior, const HpaHistory& history, std::int64_t current, std::int64_t desired,
                      Limits limits, Steady moment) {
  const std::int64_t reach = behavior.is_null() ? std::max<std::int64_t>(2 * current, 4)
                                                : policy_limit(behavior["scaleUp"], history, current, true, moment);
  if (desired <= std::min(limits.most, reach)) return {desired};
  if (reach < limits.most) {
    return {reach, "ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate"};
  }
  return {limits.most, "TooManyReplicas", "the desired replica count is more than the maximum replica count"};
}

Decision limit_shrinking(const Value& behavior, const HpaHistory& history, std::int64_t current, std::int64_t desired,
                         Limits limits, Steady moment) {
  const std::int64_t reach = behavior.is_null() ? 0 : policy_limit(behavior["scaleDown"], history, current, false, moment);
  if (desired >= std::max(limits.least, reach)) return {desired};
  if (reach > limits.least) {
    return {reach, "ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate"};
  }
  return {limits.least, "TooFewReplicas", "the desired replica count is less than the minimum replica count"};
}

Decision limited(const Value& behavior, const HpaHistory& history, std::int64_t current, std::int64_t desired, Limits limits,
                 Steady moment) {
  if (desired > current) return limit_growth(behavior, history, current, desired, limits, moment);
  if (desired < current) return limit_shrinking(behavior, history, current, desired, limits, moment);
  if (desired < limits.least)
    return {limits.least, "TooFewReplicas", "the desired replica count is less than the minimum replica count"};
  return {desired};
}

/// The highest proposal of the metrics; nullopt when none can be followed, which the condition then tells.
struct Recommendation {
  std::int64_t replicas = 0;
  std::string metric{};
};
std::optional<Recommendation> recommend(const Value& metrics, const HpaView& view, Conditions& conditions,
                                        json::ArrayBuilder& statuses) {
  std::optional<Recommendation> best;
  std::optional<MetricFault> first_fault;
  if (!view.fault.empty()) first_fault = MetricFault{"InvalidMetrics", view.fault};
  for (const Value& metric : metrics.items()) {
    auto proposal = propose_replicas(metric, view);
    if (!proposal) {
      if (!first_fault) first_fault = std::move(proposal.error());
      continue;
    }
    statuses.add(proposal->status);
    if (!best || proposal->replicas > best->replicas) best = Recommendation{proposal->replicas, proposal->name};
  }
  // With a metric missing the others may only make it grow.
  if (first_fault && (!best || best->replicas < view.spec_replicas)) {
    conditions.set("ScalingActive", false, first_fault->reason,
                   "the HPA was unable to compute the replica count: " + first_fault->message);
    return std::nullopt;
  }
  if (best) {
    conditions.set("ScalingActive", true, "ValidMetricFound",
                   "the HPA was able to successfully calculate a replica count from " + best->metric);
  }
  return best;
}

/// What the metrics lead to; nullopt when they say nothing.
std::optional<std::int64_t> follow_metrics(const kube::Object& hpa, const HpaView& view, Limits limits, HpaPlan& plan,
                                           Conditions& conditions, json::ArrayBuilder& statuses, Steady moment) {
  const Value& behavior = hpa["spec"]["behavior"];
  const std::int64_t current = view.spec_replicas;
  const auto wanted = recommend(hpa["spec"]["metrics"], view, conditions, statuses);
  if (!wanted) return std::nullopt;
  const std::int64_t stable = stabilise(behavior, plan.history, current, wanted->replicas, moment);
  plan.history.recommendations.push_back({moment, wanted->replicas});
  if (stable == wanted->replicas) {
    conditions.set("AbleToScale", true, "ReadyForNewScale", "recommended size matches current size");
  } else if (wanted->replicas >= current) {
    conditions.set("AbleToScale", true, "ScaleUpStabilized",
                   "recent recommendations were lower than current one, applying the lowest recent recommendation");
  } else {
    conditions.set("AbleToScale", true, "ScaleDownStabilized",
                   "recent recommendations were higher than current one, applying the highest recent recommendation");
  }
  const Decision decision = limited(behavior, plan.history, current, stable, limits, moment);
  conditions.set("ScalingLimited", decision.replicas != stable, decision.reason, decision.message);
  plan.reason = wanted->replicas > current ? wanted->metric + " above target" : "All metrics below target";
  return decision.replicas;
}

void forget_old(HpaHistory& history, Steady moment) {
  for (auto* entries : {&history.recommendations, &history.changes}) {
    std::erase_if(*entries, [&](const HpaHistory::Entry& entry) { return entry.at <= moment - kMemory; });
  }
}

}  // namespace

HpaPlan plan_autoscaler(const kube::Object& hpa, const HpaView& view, HpaHistory history, Time now, Steady moment) {
  HpaPlan plan;
  plan.history = std::move(history);
  forget_old(plan.history, moment);
  const Limits limits{hpa["spec"]["minReplicas"].as_int(1), hpa["spec"]["maxReplicas"].as_int()};
  const std::int64_t current = view.spec_replicas;
  if (plan.history.recommendations.empty()) plan.history.recommendations.push_back({moment, current});
  Conditions conditions(hpa["status"]["conditions"], now);
  conditions.set("AbleToScale", true, "SucceededGetScale", "the HPA controller was able to get the target's current scale");
  json::ArrayBuilder statuses;
  std::int64_t desired = current;
  if (current == 0 && limits.least != 0) {
    conditions.set("ScalingActive", false, "ScalingDisabled",
                   "scaling is disabled since the replica count of the target is zero");
  } else if (current > limits.most) {
    desired = limits.most;
    plan.reason = "Current number of replicas above Spec.MaxReplicas";
  } else if (current < limits.least) {
    desired = limits.least;
    plan.reason = "Current number of replicas below Spec.MinReplicas";
  } else {
    desired = follow_metrics(hpa, view, limits, plan, conditions, statuses, moment).value_or(current);
  }
  Value status = hpa["status"].with("observedGeneration", kube::generation(hpa)).with("currentReplicas", current);
  if (desired != current) {
    plan.resize = desired;
    plan.history.changes.push_back({moment, desired - current});
    conditions.set("AbleToScale", true, "SucceededRescale",
                   fmt::format("the HPA controller was able to update the target scale to {}", desired));
    status = status.with("lastScaleTime", to_rfc3339(now));
  }
  if (!statuses.empty()) status = status.with("currentMetrics", statuses.build());
  plan.status = status.with("desiredReplicas", desired).with("conditions", conditions.all());
  return plan;
}

json::Value failed_scale_status(const kube::Object& hpa, const std::string& reason, const std::string& message, Time now) {
  const kube::Condition condition{"AbleToScale", "False", reason, message};
  return hpa["status"].with("conditions", kube::set_condition(hpa["status"]["conditions"], condition, now));
}

}  // namespace slipway::cluster
