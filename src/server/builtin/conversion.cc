#include "server/builtin/conversion.h"

#include <array>
#include <string_view>
#include <vector>

#include "json/text.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

struct Renamed {
  std::string_view stored;
  std::string_view served;
};

/// What core/v1 and events.k8s.io/v1 call the same fields (k8s.io/kubernetes pkg/apis/events/v1/conversion.go).
constexpr std::array kEventFields{
    Renamed{"involvedObject", "regarding"},
    Renamed{"message", "note"},
    Renamed{"reportingComponent", "reportingController"},
    Renamed{"source", "deprecatedSource"},
    Renamed{"firstTimestamp", "deprecatedFirstTimestamp"},
    Renamed{"lastTimestamp", "deprecatedLastTimestamp"},
    Renamed{"count", "deprecatedCount"},
};

Object renamed(const Object& object, std::string_view api_version, std::string_view Renamed::* from,
               std::string_view Renamed::* to) {
  json::ObjectBuilder out(object.size());
  for (const auto [key, value] : object.members()) {
    std::string_view name = key;
    for (const Renamed& row : kEventFields) {
      if (key == row.*from) name = row.*to;
    }
    out.add(name, key == "apiVersion" ? Value(api_version) : value);
  }
  return out.build();
}

Object event_from_core(const Object& event) { return renamed(event, "events.k8s.io/v1", &Renamed::stored, &Renamed::served); }
Object event_to_core(const Object& event) { return renamed(event, "v1", &Renamed::served, &Renamed::stored); }

// HorizontalPodAutoscaler: v1 has one target, the use of CPU; what else v2 says it carries in annotations.
// DIVERGES: the annotations hold the v2 form, upstream's hold the form of v2beta1.
constexpr std::string_view kMetricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics";
constexpr std::string_view kCurrentMetrics = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr std::string_view kConditions = "autoscaling.alpha.kubernetes.io/conditions";
constexpr std::string_view kBehavior = "autoscaling.alpha.kubernetes.io/behavior";

bool is_cpu_use(const Value& metric, std::string_view numbers) {
  return metric["type"].as_string() == "Resource" && metric["resource"]["name"].as_string() == "cpu" &&
         metric["resource"][numbers].has("averageUtilization");
}

/// A list of metrics without the first about the use of CPU, which goes to `percent`.
Value split_metrics(const Value& metrics, std::string_view numbers, Value& percent) {
  json::ArrayBuilder rest;
  for (const Value& metric : metrics.items()) {
    if (percent.is_null() && is_cpu_use(metric, numbers)) {
      percent = metric["resource"][numbers]["averageUtilization"];
    } else {
      rest.add(metric);
    }
  }
  return rest.build();
}

Object annotated(const Object& object, std::string_view key, const Value& value) {
  return value.empty() ? object : object.with_path({"metadata", "annotations", key}, json::print(value));
}

Object autoscaler_to_v1(const Object& stored) {
  Value target;
  Value current;
  const Value metrics = split_metrics(stored["spec"]["metrics"], "target", target);
  const Value current_metrics = split_metrics(stored["status"]["currentMetrics"], "current", current);
  Object out = stored.with("apiVersion", "autoscaling/v1");
  out = annotated(out, kMetricsAnnotation, metrics);
  out = annotated(out, kCurrentMetrics, current_metrics);
  out = annotated(out, kConditions, stored["status"]["conditions"]);
  out = annotated(out, kBehavior, stored["spec"]["behavior"]);
  Value spec = stored["spec"].without("metrics").without("behavior");
  if (!target.is_null()) spec = spec.with("targetCPUUtilizationPercentage", target);
  out = out.with("spec", spec);
  if (!stored.has("status")) return out;
  Value status = stored["status"].without("currentMetrics").without("conditions");
  if (!current.is_null()) status = status.with("currentCPUUtilizationPercentage", current);
  for (const char* count : {"currentReplicas", "desiredReplicas"}) {  // never left out in this version
    if (!status.has(count)) status = status.with(count, 0);
  }
  return out.with("status", status);
}

Value cpu_metric(std::string_view numbers, const Value& percent) {
  Value use = json::object({{"averageUtilization", percent}});
  if (numbers == "target") use = use.with("type", "Utilization");
  return json::object({{"type", "Resource"}, {"resource", json::object({{"name", "cpu"}, {numbers, use}})}});
}

/// What an annotation carries, which goes from `object`; null when there is none or it is no JSON.
Value taken(Object& object, std::string_view key) {
  const std::string text(kube::annotation(object, key));
  if (text.empty()) return {};
  object = object.without_path({"metadata", "annotations", key});
  if (object["metadata"]["annotations"].empty()) object = object.without_path({"metadata", "annotations"});
  auto value = json::parse(text);
  return value ? *value : Value();
}

Value with_first(const Value& first, const Value& rest) {
  json::ArrayBuilder all;
  if (!first.is_null()) all.add(first);
  for (const Value& one : rest.items()) all.add(one);
  return all.build();
}

Object autoscaler_from_v1(const Object& served) {
  Object out = served.with("apiVersion", "autoscaling/v2");
  const Value metrics = taken(out, kMetricsAnnotation);
  const Value current_metrics = taken(out, kCurrentMetrics);
  const Value conditions = taken(out, kConditions);
  const Value behavior = taken(out, kBehavior);
  const Value& target = served["spec"]["targetCPUUtilizationPercentage"];
  Value spec = served["spec"].without("targetCPUUtilizationPercentage");
  const Value all = with_first(target.is_null() ? Value() : cpu_metric("target", target), metrics);
  if (!all.empty()) spec = spec.with("metrics", all);
  if (!behavior.is_null()) spec = spec.with("behavior", behavior);
  out = out.with("spec", spec);
  if (!served.has("status")) return out;
  const Value& current = served["status"]["currentCPUUtilizationPercentage"];
  Value status = served["status"].without("currentCPUUtilizationPercentage");
  const Value now = with_first(current.is_null() ? Value() : cpu_metric("current", current), current_metrics);
  if (!now.empty()) status = status.with("currentMetrics", now);
  if (!conditions.is_null()) status = status.with("conditions", conditions);
  return out.with("status", status);
}

}  // namespace

const Conversion* find_conversion(const kube::Resource& served) {
  static const std::vector<Conversion> kRows{
      {{"events.k8s.io", "v1", "events"}, {"", "v1", "events"}, event_from_core, event_to_core},
      {{"autoscaling", "v1", "horizontalpodautoscalers"},
       {"autoscaling", "v2", "horizontalpodautoscalers"},
       autoscaler_to_v1,
       autoscaler_from_v1}};
  for (const Conversion& row : kRows) {
    if (row.served == served) return &row;
  }
  return nullptr;
}

}  // namespace slipway::server
