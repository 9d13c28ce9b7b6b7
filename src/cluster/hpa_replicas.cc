#include "cluster/hpa_replicas.h"

#include <fmt/format.h>

#include <cmath>

#include "kube/quantity.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr double kTolerance = 0.1;

bool is_tolerated(double ratio) { return ratio >= 1.0 - kTolerance && ratio <= 1.0 + kTolerance; }

std::int64_t ceiling(double value) { return static_cast<std::int64_t>(std::ceil(value)); }

std::string quantity(std::int64_t millis) { return kube::Quantity::of_nanos(__int128{millis} * 1'000'000).to_string(); }

std::int64_t millis_of(const Value& text) {
  const auto parsed = kube::Quantity::parse(text.is_number() ? text.number_text() : text.str());
  return parsed ? parsed->millis() : 0;
}

/// How the target's pods count for a metric.
struct Pods {
  std::vector<Value> measured{};
  std::int64_t unready = 0;
};

Pods group(const std::vector<Value>& pods, bool is_cpu) {
  Pods found;
  for (const Value& pod : pods) {
    const std::string_view phase = pod["status"]["phase"].as_string();
    if (kube::is_deleting(pod) || phase == "Failed" || phase == "Succeeded") continue;
    if (phase == "Pending" || (is_cpu && !kube::is_true(pod, "Ready"))) {
      ++found.unready;
    } else {
      found.measured.push_back(pod);
    }
  }
  return found;
}

/// The pods that grow or shrink by a ratio that all measured ones have.
std::int64_t replicas_for(double ratio, const Pods& pods, std::int64_t current) {
  const auto measured = static_cast<double>(pods.measured.size());
  if (pods.unready == 0 || ratio <= 1.0) return is_tolerated(ratio) ? current : ceiling(ratio * measured);
  const double all = measured + static_cast<double>(pods.unready);
  const double spread = ratio * measured / all;
  if (is_tolerated(spread) || spread < 1.0) return current;
  return std::max(ceiling(spread * all), current);
}

std::unexpected<MetricFault> fault(std::string_view type, std::string message) {
  return std::unexpected(MetricFault{fmt::format("FailedGet{}Metric", type), std::move(message)});
}

std::string not_scripted(std::string_view name) {
  return fmt::format("no value for {} is there: name it in the annotation {} of the autoscaler or of its target", name,
                     kMetrics);
}

std::int64_t per_pod(const ScriptedValue& value, const Pods& pods) {
  return value.is_shared ? value.millis / static_cast<std::int64_t>(pods.measured.size()) : value.millis;
}

/// The sum of what a container, or all of them, ask for, over the measured pods, in thousandths.
std::expected<std::int64_t, std::string> requests_of(const Pods& pods, const std::string& resource,
                                                     std::string_view container) {
  std::int64_t sum = 0;
  for (const Value& pod : pods.measured) {
    for (const Value& one : pod["spec"]["containers"].items()) {
      if (!container.empty() && one["name"].as_string() != container) continue;
      const Value& request = one["resources"]["requests"][resource];
      if (request.is_null()) {
        return std::unexpected(fmt::format("missing request for {} in container {} of Pod {}", resource,
                                           one["name"].as_string(), kube::name(pod)));
      }
      sum += millis_of(request);
    }
  }
  return sum;
}

/// Resource and ContainerResource.
std::expected<MetricProposal, MetricFault> propose_resource(const std::string& type, const Value& source, const HpaView& view) {
  const std::string resource = source["name"].str();
  const std::string container = source["container"].str();
  const std::string name = container.empty() ? resource : container + "/" + resource;
  const Value& target = source["target"];
  const bool is_share = !target["averageUtilization"].is_null();
  const std::string doing = fmt::format("failed to get {} {}: ", resource, is_share ? "utilization" : "usage");
  const Pods pods = group(view.pods, resource == "cpu");
  const auto value = view.metrics.find(name);
  if (value == view.metrics.end()) return fault(type, doing + not_scripted(name));
  if (pods.measured.empty()) return fault(type, doing + "did not receive metrics for targeted pods (pods might be unready)");
  const auto count = static_cast<std::int64_t>(pods.measured.size());
  std::int64_t usage = per_pod(value->second, pods);  // of one pod
  std::int64_t share = 0;                             // in percent
  const auto requests = requests_of(pods, resource, container);
  if (value->second.is_percent) {
    share = usage / 1000;
    usage = requests ? share * *requests / count / 100 : 0;
  } else if (is_share && (!requests || *requests == 0)) {
    return fault(type, doing + (requests ? "no requests" : requests.error()));
  } else if (is_share) {
    share = usage * count * 100 / *requests;
  }
  json::ObjectBuilder current;
  if (is_share) current.set("averageUtilization", share);
  current.set("averageValue", quantity(usage));
  const double ratio =
      is_share ? static_cast<double>(share) / target["averageUtilization"].as_double(1)
               : static_cast<double>(usage) / static_cast<double>(std::max<std::int64_t>(millis_of(target["averageValue"]), 1));
  const std::string field = type == "Resource" ? "resource" : "containerResource";
  Value shown = json::object({{"name", resource}, {"current", current.build()}});
  if (!container.empty()) shown = shown.with("container", container);
  return MetricProposal{replicas_for(ratio, pods, view.spec_replicas),
                        fmt::format("{} {}{}", resource, container.empty() ? "resource" : "container resource",
                                    is_share ? " utilization (percentage of request)" : ""),
                        json::object({{"type", type}, {field, shown}})};
}

std::expected<MetricProposal, MetricFault> propose_pods(const Value& source, const HpaView& view) {
  const std::string name = source["metric"]["name"].str();
  const Pods pods = group(view.pods, false);
  const auto value = view.metrics.find(name);
  if (value == view.metrics.end()) return fault("Pods", fmt::format("unable to get metric {}: {}", name, not_scripted(name)));
  if (pods.measured.empty()) return fault("Pods", "did not receive metrics for targeted pods (pods might be unready)");
  const std::int64_t usage = per_pod(value->second, pods);
  const std::int64_t wanted = std::max<std::int64_t>(millis_of(source["target"]["averageValue"]), 1);
  const Value shown =
      json::object({{"metric", source["metric"]}, {"current", json::object({{"averageValue", quantity(usage)}})}});
  return MetricProposal{replicas_for(static_cast<double>(usage) / static_cast<double>(wanted), pods, view.spec_replicas),
                        "pods metric " + name, json::object({{"type", "Pods"}, {"pods", shown}})};
}

/// Object and External: one number, compared as a whole or shared by the replicas.
std::expected<MetricProposal, MetricFault> propose_total(const std::string& type, const Value& source, const HpaView& view) {
  const std::string name = source["metric"]["name"].str();
  const auto value = view.metrics.find(name);
  if (value == view.metrics.end()) return fault(type, fmt::format("unable to get metric {}: {}", name, not_scripted(name)));
  const auto total = static_cast<double>(value->second.millis);
  const Value& target = source["target"];
  const bool is_shared = target["value"].is_null();
  const auto wanted = static_cast<double>(std::max<std::int64_t>(millis_of(target[is_shared ? "averageValue" : "value"]), 1));
  std::int64_t replicas = view.spec_replicas;
  std::int64_t shown = value->second.millis;
  if (is_shared) {
    const std::int64_t now = std::max<std::int64_t>(view.status_replicas, 1);
    replicas = view.status_replicas;
    if (!is_tolerated(total / (wanted * static_cast<double>(now)))) replicas = ceiling(total / wanted);
    shown /= now;
  } else if (!is_tolerated(total / wanted)) {
    const auto is_ready = [](const Value& pod) { return kube::is_true(pod, "Ready") && !kube::is_deleting(pod); };
    replicas = ceiling(total / wanted * static_cast<double>(std::ranges::count_if(view.pods, is_ready)));
  }
  Value status = json::object(
      {{"metric", source["metric"]}, {"current", json::object({{is_shared ? "averageValue" : "value", quantity(shown)}})}});
  if (type == "Object") status = status.with("describedObject", source["describedObject"]);
  const std::string field = type == "Object" ? "object" : "external";
  const std::string told = type == "Object" ? source["describedObject"]["kind"].str() + " metric " : "external metric ";
  return MetricProposal{replicas, told + name, json::object({{"type", type}, {field, status}})};
}

}  // namespace

std::expected<MetricProposal, MetricFault> propose_replicas(const json::Value& metric, const HpaView& view) {
  const std::string type = metric["type"].str();
  if (type == "Resource") return propose_resource(type, metric["resource"], view);
  if (type == "ContainerResource") return propose_resource(type, metric["containerResource"], view);
  if (type == "Pods") return propose_pods(metric["pods"], view);
  if (type == "Object") return propose_total(type, metric["object"], view);
  if (type == "External") return propose_total(type, metric["external"], view);
  return std::unexpected(MetricFault{"InvalidMetricSourceType", fmt::format("unknown metric source type \"{}\"", type)});
}

}  // namespace slipway::cluster
