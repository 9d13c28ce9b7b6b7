// The cells of pods, as kubectl users know them (k8s.io/kubernetes pkg/printers/internalversion).
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/table_cells.h"

namespace slipway::kube {
namespace {

bool is_restartable_init(const Object& pod, std::string_view name) {
  for (const json::Value& container : pod["spec"]["initContainers"].items()) {
    if (container["name"].as_string() == name) return container["restartPolicy"].as_string() == "Always";
  }
  return false;
}

std::string exit_reason(const json::Value& terminated) {
  if (!terminated["reason"].as_string().empty()) return terminated["reason"].str();
  if (terminated["signal"].as_int() != 0) return fmt::format("Signal:{}", terminated["signal"].as_int());
  return fmt::format("ExitCode:{}", terminated["exitCode"].as_int());
}

/// What the three pod columns are made of.
struct PodView {
  std::string status;
  std::int64_t restarts = 0;
  std::int64_t ready = 0;
  std::int64_t total = 0;
  std::optional<Time> last_restart;
};

void note_restart(PodView& view, const json::Value& container) {
  const auto finished = time_of(container["lastState"]["terminated"]["finishedAt"]);
  if (finished && (!view.last_restart || *finished > *view.last_restart)) view.last_restart = finished;
}

/// True while an init container has yet to end: it then speaks for the pod.
bool view_init_containers(const Object& pod, PodView& view, PodView& restartable) {
  const json::Value& statuses = pod["status"]["initContainerStatuses"];
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const json::Value& container = statuses.item(i);
    const json::Value& state = container["state"];
    const bool can_restart = is_restartable_init(pod, container["name"].as_string());
    view.restarts += container["restartCount"].as_int();
    note_restart(view, container);
    if (can_restart) {
      restartable.restarts += container["restartCount"].as_int();
      note_restart(restartable, container);
    }
    if (state.has("terminated") && state["terminated"]["exitCode"].as_int() == 0) continue;
    if (can_restart && container["started"].as_bool()) {
      if (container["ready"].as_bool()) ++view.ready;
      continue;
    }
    const std::string_view waiting = state["waiting"]["reason"].as_string();
    if (state.has("terminated")) {
      view.status = "Init:" + exit_reason(state["terminated"]);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      view.status = fmt::format("Init:{}", waiting);
    } else {
      view.status = fmt::format("Init:{}/{}", i, pod["spec"]["initContainers"].size());
    }
    return true;
  }
  return false;
}

void view_containers(const Object& pod, PodView& view) {
  const auto statuses = pod["status"]["containerStatuses"].items();
  bool has_running = false;
  for (auto at = statuses.rbegin(); at != statuses.rend(); ++at) {
    const json::Value& container = *at;
    const json::Value& state = container["state"];
    view.restarts += container["restartCount"].as_int();
    note_restart(view, container);
    if (!state["waiting"]["reason"].as_string().empty()) {
      view.status = state["waiting"]["reason"].str();
    } else if (state.has("terminated")) {
      view.status = exit_reason(state["terminated"]);
    } else if (container["ready"].as_bool() && state.has("running")) {
      has_running = true;
      ++view.ready;
    }
  }
  if (view.status == "Completed" && has_running) view.status = is_true(pod, "Ready") ? "Running" : "NotReady";
}

PodView view_pod(const Object& pod) {
  PodView view;
  const json::Value& status = pod["status"];
  view.total = static_cast<std::int64_t>(pod["spec"]["containers"].size());
  for (const json::Value& container : pod["spec"]["initContainers"].items()) {
    view.total += container["restartPolicy"].as_string() == "Always" ? 1 : 0;
  }
  view.status = status["reason"].as_string().empty() ? status["phase"].str() : status["reason"].str();
  if (condition(pod, "PodScheduled")["reason"].as_string() == "SchedulingGated") view.status = "SchedulingGated";
  PodView restartable;
  const bool is_initializing = view_init_containers(pod, view, restartable);
  if (!is_initializing || is_true(pod, "Initialized")) {
    view.restarts = restartable.restarts;
    view.last_restart = restartable.last_restart;
    view_containers(pod, view);
  }
  const std::string_view phase = status["phase"].as_string();
  if (is_deleting(pod) && status["reason"].as_string() == "NodeLost") {
    view.status = "Unknown";
  } else if (is_deleting(pod) && phase != "Succeeded" && phase != "Failed") {
    view.status = "Terminating";
  }
  return view;
}

json::Value pod_ready(const Object& pod, Time) {
  const PodView view = view_pod(pod);
  return fmt::format("{}/{}", view.ready, view.total);
}

json::Value pod_status(const Object& pod, Time) { return view_pod(pod).status; }

json::Value pod_restarts(const Object& pod, Time now) {
  const PodView view = view_pod(pod);
  if (view.restarts == 0 || !view.last_restart) return std::to_string(view.restarts);
  return fmt::format("{} ({} ago)", view.restarts, human_duration(now - *view.last_restart));
}

json::Value pod_gates(const Object& pod, Time) {
  const json::Value& gates = pod["spec"]["readinessGates"];
  if (gates.empty()) return "<none>";
  std::int64_t passed = 0;
  for (const json::Value& gate : gates.items()) passed += is_true(pod, gate["conditionType"].as_string()) ? 1 : 0;
  return fmt::format("{}/{}", passed, gates.size());
}

}  // namespace

std::span<const CellRow> pod_cells() {
  static constexpr std::array kRows{CellRow{"@pod.ready", pod_ready}, CellRow{"@pod.status", pod_status},
                                    CellRow{"@pod.restarts", pod_restarts}, CellRow{"@pod.readiness-gates", pod_gates}};
  return kRows;
}

}  // namespace slipway::kube
