#include "cluster/pod_status.h"

#include <algorithm>

#include "cluster/names.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// The conditions that others set and that Ready depends on, too.
bool are_gates_open(const kube::Object& pod) {
  const auto gates = pod["spec"]["readinessGates"].items();
  return std::ranges::all_of(gates, [&](const Value& gate) { return kube::is_true(pod, gate["conditionType"].as_string()); });
}

bool is_ready(const PodReport& report) {
  return report.phase == "Running" && std::all_of(report.containers.begin(), report.containers.end(),
                                                  [](const Value& status) { return status["ready"].as_bool(); });
}

Value conditions(const kube::Object& pod, const PodReport& report, Time now) {
  const Value& before = pod["status"]["conditions"];
  const bool is_over = report.phase == "Succeeded" || report.phase == "Failed";
  const std::string contained = is_ready(report) ? "True" : "False";
  const std::string contained_reason = contained == "True"           ? ""
                                       : report.phase == "Succeeded" ? "PodCompleted"
                                       : report.phase == "Failed"    ? "PodFailed"
                                                                     : "ContainersNotReady";
  const bool is_initialized = report.is_initialized || (is_over && report.phase == "Succeeded");
  Value result = kube::set_condition(before, {"PodScheduled", "True", "", ""}, now);
  result = kube::set_condition(
      result, {"Initialized", is_initialized ? "True" : "False", is_initialized ? "" : "ContainersNotInitialized", ""}, now);
  result = kube::set_condition(result, {"ContainersReady", contained, contained_reason, ""}, now);
  const bool is_held = contained == "True" && !are_gates_open(pod);
  const kube::Condition unreachable{"Ready", "False", "NodeNotReady", "Node is not ready"};
  const kube::Condition ready{"Ready", is_held ? "False" : contained, is_held ? "ReadinessGatesNotReady" : contained_reason,
                              ""};
  result = kube::set_condition(result, report.is_unreachable ? unreachable : ready, now);
  if (report.is_disrupted) {
    result = kube::set_condition(result, {std::string(kDisruptionTarget), "True", report.reason, report.message}, now);
  }
  return result;
}

/// An address once given stays, as upstream, so that what has ended still says where it was.
Value with_addresses(Value status, const std::string& ip) {
  const auto set = [&](const char* one, const char* all, const std::string& address) {
    if (address.empty() || status[one].as_string() == address) return;
    status = status.with(one, address).with(all, json::array({json::object({{"ip", address}})}));
  };
  set("hostIP", "hostIPs", kNodeAddress);
  set("podIP", "podIPs", ip);
  return status;
}

}  // namespace

Value waiting_state(const std::string& reason, const std::string& message) {
  Value waiting = json::object({{"reason", reason}});
  if (!message.empty()) waiting = waiting.with("message", message);
  return json::object({{"waiting", waiting}});
}

Value running_state(Time started) {
  return json::object({{"running", json::object({{"startedAt", to_rfc3339_micro(started)}})}});
}

Value terminated_state(const ContainerEnd& end) {
  const std::string reason = !end.reason.empty() ? end.reason : end.exit_code == 0 ? "Completed" : "Error";
  json::ObjectBuilder ended;
  ended.set("exitCode", end.exit_code);
  if (end.signal != 0) ended.set("signal", end.signal);
  ended.set("reason", reason);
  if (!end.message.empty()) ended.set("message", end.message);
  if (end.started) ended.set("startedAt", to_rfc3339_micro(*end.started));
  if (end.finished) ended.set("finishedAt", to_rfc3339_micro(*end.finished));
  return json::object({{"terminated", ended.build()}});
}

Value container_status(const Value& container, Value state, std::int64_t restarts, Value last_state) {
  const bool is_running = state.has("running");
  const bool is_waiting = state.has("waiting");
  const std::string image = container["image"].str();
  return json::object({{"name", container["name"]},
                       {"state", std::move(state)},
                       {"lastState", last_state.is_null() ? Value::empty_object() : std::move(last_state)},
                       {"ready", is_running},
                       {"started", is_running},
                       {"restartCount", restarts},
                       {"image", image},
                       {"imageID", is_waiting ? "" : image}});
}

Value pod_status(const kube::Object& pod, const PodReport& report, Time now) {
  Value status = pod["status"];
  status = status.with("phase", report.phase).with("conditions", conditions(pod, report, now));
  if (!report.reason.empty()) status = status.with("reason", report.reason);
  if (!report.message.empty()) status = status.with("message", report.message);
  if (!status.has("startTime")) status = status.with("startTime", to_rfc3339(now));
  status = with_addresses(std::move(status), report.ip);
  if (!report.init_containers.empty()) {
    status = status.with("initContainerStatuses", json::array(std::span<const Value>(report.init_containers)));
  }
  if (!report.containers.empty()) {
    status = status.with("containerStatuses", json::array(std::span<const Value>(report.containers)));
  }
  return status == pod["status"] ? pod["status"] : status;
}

}  // namespace slipway::cluster
