#include "cluster/process_report.h"

#include <algorithm>

#include "cluster/names.h"
#include "cluster/pod_status.h"

namespace slipway::cluster {

namespace {

using json::Value;

std::optional<Time> time_of(std::int64_t microseconds) {
  if (microseconds == 0) return std::nullopt;
  return Time{Duration{microseconds}};
}

Value terminated(const PodExit& exit) {
  ContainerEnd end;
  end.exit_code = exit.exit_code;
  end.signal = exit.signal_number;
  end.reason = exit.reason;
  end.message = exit.message;
  end.started = time_of(exit.started_us);
  end.finished = time_of(exit.finished_us);
  return terminated_state(end);
}

Value state_of(const PodContainerState& state) {
  switch (state.phase) {
    case PodContainerPhase::Waiting:
      return waiting_state(state.waiting_reason.empty() ? "ContainerCreating" : state.waiting_reason);
    case PodContainerPhase::Running:
      return running_state(time_of(state.started_us).value_or(Time{}));
    case PodContainerPhase::Terminated:
      return terminated(state.exit);
  }
  return {};
}

Value status_of(const Value& container, const PodState& state, bool is_init) {
  for (const PodContainerState& found : state.containers) {
    if (found.is_init != is_init || found.name != container["name"].as_string()) continue;
    const Value last = found.last_exit ? terminated(*found.last_exit) : Value();
    return container_status(container, state_of(found), found.restarts, last);
  }
  return container_status(container, waiting_state("ContainerCreating"));
}

std::string phase_text(PodPhase phase) { return phase == PodPhase::Lost ? "Failed" : std::string(to_string(phase)); }

}  // namespace

PodReport report_of(const kube::Object& pod, const PodState& state, const std::string& address) {
  PodReport report;
  report.phase = phase_text(state.phase);
  report.message = state.message;
  report.is_initialized = state.phase != PodPhase::Pending;
  report.ip = address;
  for (const PodContainerState& container : state.containers) {
    const bool is_done = container.phase == PodContainerPhase::Terminated && container.exit.exit_code == 0;
    if (container.is_init && !is_done) report.is_initialized = false;
  }
  for (const Value& container : pod["spec"]["initContainers"].items()) {
    report.init_containers.push_back(status_of(container, state, true));
  }
  for (const Value& container : pod["spec"]["containers"].items()) {
    report.containers.push_back(status_of(container, state, false));
  }
  if (state.phase == PodPhase::Lost) {
    report.is_disrupted = true;
    report.reason = kSupervisorLost;
    report.message = "the process that watched over the pod was killed; what was left of the pod has been ended";
  } else if (is_final(state.phase) && !state.reason.empty()) {
    report.reason = state.reason;
  } else if (is_final(state.phase) && state.is_stopping && !kube::is_deleting(pod)) {
    // Even with exit code 0: what is told to stop in the middle of its work has not done it.
    report.phase = "Failed";
    report.is_disrupted = true;
    report.reason = kStoppedWithSlipway;
    report.message = "the pod was stopped from outside, with Slipway";
    for (Value& status : report.containers) {
      // Tables show a container's reason before that of the pod.
      if (status["state"]["terminated"]["reason"].as_string() == "Completed")
        status = status.with_path({"state", "terminated", "reason"}, report.reason);
    }
  }
  return report;
}

PodReport waiting_report(const kube::Object& pod, const std::string& reason, const std::string& message,
                         const std::string& container) {
  PodReport report;
  report.is_initialized = pod["spec"]["initContainers"].empty();
  const auto add = [&](const char* list, std::vector<Value>& into) {
    for (const Value& spec : pod["spec"][list].items()) {
      const bool is_meant = container.empty() || spec["name"].as_string() == container;
      into.push_back(container_status(spec, is_meant ? waiting_state(reason, message) : waiting_state("PodInitializing")));
    }
  };
  add("initContainers", report.init_containers);
  add("containers", report.containers);
  return report;
}

PodReport failed_report(const kube::Object& pod, const std::string& reason, const std::string& message) {
  PodReport report = waiting_report(pod, "ContainerCreating");
  report.phase = "Failed";
  report.reason = reason;
  report.message = message;
  report.containers.clear();
  ContainerEnd end;
  end.exit_code = 128;
  end.reason = reason;
  end.message = message;
  for (const Value& spec : pod["spec"]["containers"].items()) {
    report.containers.push_back(container_status(spec, terminated_state(end)));
  }
  return report;
}

}  // namespace slipway::cluster
