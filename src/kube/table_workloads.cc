// The cells of workloads, and of what scales, guards and records them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/table_cells.h"

namespace slipway::kube {
namespace {

json::Value job_status(const Object& job, Time) {
  for (const std::string_view type : {"Complete", "Failed"}) {
    if (is_true(job, type)) return type;
  }
  if (is_deleting(job)) return "Terminating";
  for (const std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (is_true(job, type)) return type;
  }
  return "Running";
}

json::Value job_completions(const Object& job, Time) {
  const std::int64_t succeeded = job["status"]["succeeded"].as_int();
  const json::Value& completions = job["spec"]["completions"];
  if (!completions.is_null()) return fmt::format("{}/{}", succeeded, completions.as_int());
  const std::int64_t parallelism = job["spec"]["parallelism"].as_int();
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism) : fmt::format("{}/1", succeeded);
}

json::Value job_duration(const Object& job, Time now) {
  const auto start = time_of(job["status"]["startTime"]);
  if (!start) return "";
  return human_duration(time_of(job["status"]["completionTime"]).value_or(now) - *start);
}

json::Value workload_ready(const Object& o, Time) {
  return fmt::format("{}/{}", o["status"]["readyReplicas"].as_int(), o["spec"]["replicas"].as_int());
}

const json::Value& pod_spec(const Object& o) { return o["spec"]["template"]["spec"]; }
json::Value containers(const Object& o, Time) { return joined_members(pod_spec(o)["containers"], "name"); }
json::Value images(const Object& o, Time) { return joined_members(pod_spec(o)["containers"], "image"); }
json::Value selector(const Object& o, Time) { return selector_text(o["spec"]["selector"]); }
json::Value node_selector(const Object& o, Time) { return selector_text(pod_spec(o)["nodeSelector"]); }

json::Value cron_suspend(const Object& o, Time) { return o["spec"]["suspend"].as_bool() ? "True" : "False"; }
json::Value cron_last(const Object& o, Time now) {
  const json::Value& last = o["status"]["lastScheduleTime"];
  return last.is_null() ? "<none>" : since(last, now);
}
json::Value cron_containers(const Object& o, Time now) { return containers(o["spec"]["jobTemplate"], now); }
json::Value cron_images(const Object& o, Time now) { return images(o["spec"]["jobTemplate"], now); }
json::Value cron_selector(const Object& o, Time now) { return selector(o["spec"]["jobTemplate"], now); }

json::Value template_containers(const Object& o, Time) { return joined_members(o["template"]["spec"]["containers"], "name"); }
json::Value template_images(const Object& o, Time) { return joined_members(o["template"]["spec"]["containers"], "image"); }
json::Value template_labels(const Object& o, Time) { return selector_text(o["template"]["metadata"]["labels"]); }

json::Value revision_controller(const Object& o, Time) {
  const json::Value& owner = controller_of(o);
  if (owner.is_null()) return "<none>";
  std::string kind = owner["kind"].str();
  std::ranges::transform(kind, kind.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::string version = owner["apiVersion"].str();
  const std::size_t slash = version.find('/');
  const std::string group = slash == std::string::npos ? "" : "." + version.substr(0, slash);
  return kind + group + "/" + owner["name"].str();
}

// Targets of a HorizontalPodAutoscaler.

/// The status of a metric with the same type and place in the list.
const json::Value& current_of(const Object& hpa, std::size_t index, std::string_view source) {
  return hpa["status"]["currentMetrics"].item(index)[source]["current"];
}

std::string share(const json::Value& percent, std::string_view when_absent) {
  return percent.is_null() ? std::string(when_absent) : fmt::format("{}%", percent.as_int());
}

std::string amount(const json::Value& quantity) {
  if (quantity.is_null()) return "<unknown>";
  return quantity.is_string() ? quantity.str() : fmt::format("{}", quantity.as_int());
}

std::string resource_target(const Object& hpa, std::size_t index, std::string_view source) {
  const json::Value& metric = hpa["spec"]["metrics"].item(index)[source];
  const json::Value& target = metric["target"];
  const json::Value& current = current_of(hpa, index, source);
  if (target.has("averageValue")) {
    return fmt::format("{}: {}/{}", metric["name"].as_string(), amount(current["averageValue"]),
                       amount(target["averageValue"]));
  }
  return fmt::format("{}: {}/{}", metric["name"].as_string(), share(current["averageUtilization"], "<unknown>"),
                     share(target["averageUtilization"], "<auto>"));
}

std::string plain_target(const Object& hpa, std::size_t index, std::string_view source) {
  const json::Value& target = hpa["spec"]["metrics"].item(index)[source]["target"];
  const json::Value& current = current_of(hpa, index, source);
  if (!target.has("averageValue")) return amount(current["value"]) + "/" + amount(target["value"]);
  const std::string text = amount(current["averageValue"]) + "/" + amount(target["averageValue"]);
  return source == "pods" ? text : text + " (avg)";
}

std::string metric_target(const Object& hpa, std::size_t index) {
  const std::string_view type = hpa["spec"]["metrics"].item(index)["type"].as_string();
  if (type == "Resource") return resource_target(hpa, index, "resource");
  if (type == "ContainerResource") return resource_target(hpa, index, "containerResource");
  if (type == "External") return plain_target(hpa, index, "external");
  if (type == "Object") return plain_target(hpa, index, "object");
  if (type == "Pods") return plain_target(hpa, index, "pods");
  return "<unknown type>";
}

json::Value hpa_targets(const Object& hpa, Time) {
  constexpr std::size_t kShown = 2;
  if (const json::Value& percent = hpa["spec"]["targetCPUUtilizationPercentage"]; !percent.is_null()) {  // autoscaling/v1
    return fmt::format("cpu: {}/{}", share(hpa["status"]["currentCPUUtilizationPercentage"], "<unknown>"), share(percent, ""));
  }
  const std::size_t count = hpa["spec"]["metrics"].size();
  if (count == 0) return "<none>";
  std::string out;
  for (std::size_t i = 0; i < std::min(count, kShown); ++i) out += (i == 0 ? "" : ", ") + metric_target(hpa, i);
  if (count > kShown) out += fmt::format(" + {} more...", count - kShown);
  return out;
}

json::Value hpa_reference(const Object& hpa, Time) {
  const json::Value& target = hpa["spec"]["scaleTargetRef"];
  return target["kind"].str() + "/" + target["name"].str();
}

}  // namespace

std::span<const CellRow> workload_cells() {
  static constexpr std::array kRows{CellRow{"@job.status", job_status},
                                    CellRow{"@job.completions", job_completions},
                                    CellRow{"@job.duration", job_duration},
                                    CellRow{"@workload.ready", workload_ready},
                                    CellRow{"@template.containers", containers},
                                    CellRow{"@template.images", images},
                                    CellRow{"@selector", selector},
                                    CellRow{"@daemonset.node-selector", node_selector},
                                    CellRow{"@cronjob.suspend", cron_suspend},
                                    CellRow{"@cronjob.last", cron_last},
                                    CellRow{"@cronjob.containers", cron_containers},
                                    CellRow{"@cronjob.images", cron_images},
                                    CellRow{"@cronjob.selector", cron_selector},
                                    CellRow{"@podtemplate.containers", template_containers},
                                    CellRow{"@podtemplate.images", template_images},
                                    CellRow{"@podtemplate.labels", template_labels},
                                    CellRow{"@revision.controller", revision_controller},
                                    CellRow{"@hpa.targets", hpa_targets},
                                    CellRow{"@hpa.reference", hpa_reference}};
  return kRows;
}

}  // namespace slipway::kube
