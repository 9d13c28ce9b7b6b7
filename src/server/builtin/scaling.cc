// HorizontalPodAutoscaler (autoscaling), PodDisruptionBudget (policy/v1).
#include <fmt/format.h>

#include <array>

#include "base/count.h"
#include "kube/names.h"
#include "kube/selector.h"
#include "server/builtin/defaults.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr int kDefaultUse = 80;  // percent of CPU

Value policy(std::string_view type, int value) {
  return json::object({{"type", type}, {"value", value}, {"periodSeconds", 15}});
}

Value with_rule_defaults(const Value& rules, const Value& defaults) {
  Defaults filled(rules);
  for (const auto [key, value] : defaults.members()) filled.absent(key, value);
  return filled.value();
}

Value with_behavior_defaults(const Value& behavior) {
  static const Value kUp = json::object({{"stabilizationWindowSeconds", 0},
                                         {"selectPolicy", "Max"},
                                         {"policies", json::array({policy("Pods", 4), policy("Percent", 100)})}});
  static const Value kDown = json::object({{"selectPolicy", "Max"}, {"policies", json::array({policy("Percent", 100)})}});
  return Defaults(behavior)
      .absent("scaleUp", Value::empty_object())
      .absent("scaleDown", Value::empty_object())
      .present("scaleUp", [](const Value& rules) { return with_rule_defaults(rules, kUp); })
      .present("scaleDown", [](const Value& rules) { return with_rule_defaults(rules, kDown); })
      .value();
}

Object fill_autoscaler(const Object& object) {
  static const Value kCpu = json::object(
      {{"type", "Resource"},
       {"resource", json::object({{"name", "cpu"},
                                  {"target", json::object({{"type", "Utilization"}, {"averageUtilization", kDefaultUse}})}})}});
  const Value& spec = object["spec"];
  Defaults defaults(spec);
  if (object["apiVersion"].as_string() == "autoscaling/v1") {
    if (kube::annotation(object, "autoscaling.alpha.kubernetes.io/metrics").empty()) {
      defaults.absent("targetCPUUtilizationPercentage", kDefaultUse);
    }
  } else {
    if (spec["metrics"].empty()) defaults = Defaults(spec.with("metrics", json::array({kCpu})));
    defaults.present("behavior", with_behavior_defaults);
  }
  return defaults.value().is_same(spec) ? object : object.with("spec", defaults.value());
}

Object prepare_autoscaler(const Object& object, const Surroundings&) {
  static const Value kNone = json::object({{"currentReplicas", 0}, {"desiredReplicas", 0}});
  return object.with("status", kNone);
}

/// The member that a metric of this type must have.
struct MetricRow {
  std::string_view type;
  std::string_view source;
};
constexpr std::array kMetricRows{MetricRow{"ContainerResource", "containerResource"}, MetricRow{"External", "external"},
                                 MetricRow{"Object", "object"}, MetricRow{"Pods", "pods"}, MetricRow{"Resource", "resource"}};

void metric_causes(const Value& metric, const std::string& path, std::vector<Cause>& causes) {
  static const std::vector<std::string> kTypes{"ContainerResource", "External", "Object", "Pods", "Resource"};
  const Value& type = metric["type"];
  if (type.as_string().empty()) {
    causes.push_back(field::required(path + ".type", "must specify a metric source type"));
    return;
  }
  const auto row = std::ranges::find(kMetricRows, type.as_string(), &MetricRow::type);
  if (row == kMetricRows.end()) {
    causes.push_back(field::not_supported(path + ".type", quoted(type), kTypes));
    return;
  }
  const std::string at = path + "." + std::string(row->source);
  const Value& source = metric[row->source];
  if (source.is_null()) {
    causes.push_back(field::required(at, "must populate information for the given metric source"));
    return;
  }
  const Value& target = source["target"];
  const Value& use = target["averageUtilization"];
  if (!use.is_null() && use.as_int() < 1) {
    causes.push_back(field::invalid(at + ".target.averageUtilization", quoted(use), "must be greater than 0"));
  }
  if (row->type.ends_with("Resource") && use.is_null() && target["averageValue"].is_null()) {
    causes.push_back(
        field::required(at + ".target.averageUtilization", "must set either a target raw value or a target utilization"));
  }
}

void validate_autoscaler(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  const std::int64_t least = spec["minReplicas"].as_int(1);
  const std::int64_t most = spec["maxReplicas"].as_int();
  if (least < 1) {
    causes.push_back(field::invalid("spec.minReplicas", quoted(spec["minReplicas"]), "must be greater than or equal to 1"));
  }
  if (most < 1) {
    causes.push_back(field::invalid("spec.maxReplicas", std::to_string(most), "must be greater than 0"));
  } else if (most < least) {
    causes.push_back(
        field::invalid("spec.maxReplicas", std::to_string(most), "must be greater than or equal to `minReplicas`"));
  }
  for (const char* key : {"kind", "name"}) {
    if (spec["scaleTargetRef"][key].as_string().empty()) {
      causes.push_back(field::required(std::string("spec.scaleTargetRef.") + key));
    }
  }
  if (const Value& use = spec["targetCPUUtilizationPercentage"]; !use.is_null() && use.as_int() < 1) {
    causes.push_back(field::invalid("spec.targetCPUUtilizationPercentage", quoted(use), "must be greater than 0"));
  }
  for (std::size_t i = 0; i < spec["metrics"].size(); ++i) {
    metric_causes(spec["metrics"].item(i), fmt::format("spec.metrics[{}]", i), causes);
  }
}

Object prepare_budget(const Object& object, const Surroundings&) {
  static const Value kNone =
      json::object({{"disruptionsAllowed", 0}, {"currentHealthy", 0}, {"desiredHealthy", 0}, {"expectedPods", 0}});
  return object.with("status", kNone);
}

void amount_causes(const Value& amount, const std::string& path, std::vector<Cause>& causes) {
  if (amount.is_null()) return;
  if (!amount.is_string()) {
    if (amount.as_int() < 0) causes.push_back(field::invalid(path, quoted(amount), "must be greater than or equal to 0"));
    return;
  }
  const std::string shown = fmt::format("intstr.IntOrString{{Type:1, IntVal:0, StrVal:{}}}", quoted(amount));
  const auto faults = kube::percent_faults(amount.as_string());
  for (const std::string& fault : faults) causes.push_back(field::invalid(path, shown, fault));
  if (faults.empty() && leading_count(amount.as_string()) > 100) {
    causes.push_back(field::invalid(path, shown, "must not be greater than 100%"));
  }
}

void validate_budget(const Object& object, const Object& old, std::vector<Cause>& causes) {
  const Value& spec = object["spec"];
  if (spec.is_same(old["spec"])) return;
  if (!spec["minAvailable"].is_null() && !spec["maxUnavailable"].is_null()) {
    causes.push_back(field::invalid("spec", quoted(spec), "minAvailable and maxUnavailable cannot be both set"));
  }
  amount_causes(spec["minAvailable"], "spec.minAvailable", causes);
  amount_causes(spec["maxUnavailable"], "spec.maxUnavailable", causes);
  if (spec["selector"].is_null()) return;
  const auto selector = kube::LabelSelector::from_object(spec["selector"]);
  if (!selector) causes.push_back(field::invalid("spec.selector", quoted(spec["selector"]), selector.error().message));
}

}  // namespace

std::span<const Strategy> scaling_strategies() {
  static constexpr std::array kRows{
      Strategy{.group = "autoscaling",
               .kind = "HorizontalPodAutoscaler",
               .fill_defaults = fill_autoscaler,
               .prepare_create = prepare_autoscaler,
               .validate = validate_autoscaler},
      Strategy{
          .group = "policy", .kind = "PodDisruptionBudget", .prepare_create = prepare_budget, .validate = validate_budget}};
  return kRows;
}

}  // namespace slipway::server
