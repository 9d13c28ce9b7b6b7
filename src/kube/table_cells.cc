// The cells of built-in kinds, as kubectl users know them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kube/selector.h"
#include "kube/table.h"

namespace slipway::kube {
namespace {

std::string since(const json::Value& stamp, Time now) {
  const auto time = time_of(stamp);
  return time ? human_duration(now - *time) : "<unknown>";
}

/// One member of each item, joined by commas.
std::string joined(const json::Value& list, std::string_view key) {
  std::string out;
  for (const json::Value& item : list.items()) out += fmt::format("{}{}", out.empty() ? "" : ",", item[key].as_string());
  return out;
}

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

json::Value template_containers(const Object& o, Time) { return joined(o["spec"]["template"]["spec"]["containers"], "name"); }
json::Value template_images(const Object& o, Time) { return joined(o["spec"]["template"]["spec"]["containers"], "image"); }

json::Value selector(const Object& o, Time) {
  const auto parsed = LabelSelector::from_object(o["spec"]["selector"]);
  if (!parsed) return "<error>";
  const std::string text = parsed->to_string();
  return text.empty() ? "<none>" : text;
}

json::Value config_size(const Object& o, Time) { return static_cast<std::int64_t>(o["data"].size() + o["binaryData"].size()); }

json::Value claim_status(const Object& claim, Time) {
  return is_deleting(claim) ? json::Value("Terminating") : json::Value(claim["status"]["phase"].as_string());
}

json::Value claim_capacity(const Object& claim, Time) {
  if (claim["spec"]["volumeName"].as_string().empty()) return "";
  return claim["status"]["capacity"]["storage"].as_string();
}

json::Value claim_modes(const Object& claim, Time) {
  if (claim["spec"]["volumeName"].as_string().empty()) return "";
  std::string out;
  for (const json::Value& mode : claim["status"]["accessModes"].items()) {
    const std::string_view name = mode.as_string();
    const std::string_view brief = name == "ReadWriteOnce"      ? "RWO"
                                   : name == "ReadOnlyMany"     ? "ROX"
                                   : name == "ReadWriteMany"    ? "RWX"
                                   : name == "ReadWriteOncePod" ? "RWOP"
                                                                : name;
    out += fmt::format("{}{}", out.empty() ? "" : ",", brief);
  }
  return out;
}

json::Value first_seen(const Object& event, Time now) {
  return since(event.has("firstTimestamp") ? event["firstTimestamp"] : event["eventTime"], now);
}

json::Value last_seen(const Object& event, Time now) {
  const std::int64_t count = event.has("series") ? event["series"]["count"].as_int() : event["count"].as_int();
  const json::Value& last = event.has("series")          ? event["series"]["lastObservedTime"]
                            : event.has("lastTimestamp") ? event["lastTimestamp"]
                                                         : event["eventTime"];
  if (count > 1) return fmt::format("{} (x{} over {})", since(last, now), count, first_seen(event, now).as_string());
  return since(last, now);
}

json::Value event_object(const Object& event, Time) {
  std::string kind = event["involvedObject"]["kind"].str();
  std::ranges::transform(kind, kind.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return kind + "/" + event["involvedObject"]["name"].str();
}

json::Value event_source(const Object& event, Time) {
  const json::Value& source = event["source"];
  const std::string_view component =
      source["component"].as_string().empty() ? event["reportingComponent"].as_string() : source["component"].as_string();
  if (source["host"].as_string().empty()) return component;
  return fmt::format("{}, {}", component, source["host"].as_string());
}

json::Value event_message(const Object& event, Time) {
  std::string text = event["message"].str();
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

json::Value event_count(const Object& event, Time) {
  const std::int64_t count = event.has("series") ? event["series"]["count"].as_int() : event["count"].as_int();
  return std::max<std::int64_t>(count, 1);
}

json::Value object_name(const Object& o, Time) { return o["metadata"]["name"]; }
json::Value object_age(const Object& o, Time now) { return since(o["metadata"]["creationTimestamp"], now); }

struct Row {
  std::string_view name;
  json::Value (*cell)(const Object& object, Time now);
};
constexpr std::array kFunctions{
    Row{"@name", object_name},
    Row{"@age", object_age},
    Row{"@pod.ready", pod_ready},
    Row{"@pod.status", pod_status},
    Row{"@pod.restarts", pod_restarts},
    Row{"@pod.readiness-gates", pod_gates},
    Row{"@job.status", job_status},
    Row{"@job.completions", job_completions},
    Row{"@job.duration", job_duration},
    Row{"@template.containers", template_containers},
    Row{"@template.images", template_images},
    Row{"@selector", selector},
    Row{"@config.size", config_size},
    Row{"@claim.status", claim_status},
    Row{"@claim.capacity", claim_capacity},
    Row{"@claim.access-modes", claim_modes},
    Row{"@event.last-seen", last_seen},
    Row{"@event.first-seen", first_seen},
    Row{"@event.object", event_object},
    Row{"@event.source", event_source},
    Row{"@event.message", event_message},
    Row{"@event.count", event_count},
};

/// "@or-none.status.podIP", "@unset.spec.volumeMode": a plain path with a text for what is absent.
json::Value path_or(std::string_view path, const Object& object, std::string_view when_absent) {
  const json::Value* at = &object;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t dot = path.find('.');
    at = &(*at)[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot);
  }
  return at->as_string().empty() ? json::Value(when_absent) : *at;
}

}  // namespace

json::Value builtin_cell(std::string_view function, const Object& object, Time now) {
  constexpr std::string_view kOrNone = "@or-none";
  constexpr std::string_view kUnset = "@unset";
  if (function.starts_with(kOrNone)) return path_or(function.substr(kOrNone.size()), object, "<none>");
  if (function.starts_with(kUnset)) return path_or(function.substr(kUnset.size()), object, "<unset>");
  const auto row = std::ranges::find(kFunctions, function, &Row::name);
  return row == kFunctions.end() ? json::Value() : row->cell(object, now);
}

}  // namespace slipway::kube
