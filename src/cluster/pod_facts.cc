#include "cluster/pod_facts.h"

#include <algorithm>

namespace slipway::cluster {

bool is_terminal_pod(const kube::Object& pod) {
  const auto phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

bool has_succeeded(const kube::Object& pod) { return pod["status"]["phase"].as_string() == "Succeeded"; }

bool is_active_pod(const kube::Object& pod) { return !is_terminal_pod(pod) && !kube::is_deleting(pod); }

std::optional<Time> ready_since(const kube::Object& pod) {
  if (!kube::is_true(pod, "Ready")) return std::nullopt;
  return kube::time_of(kube::condition(pod, "Ready")["lastTransitionTime"]).value_or(Time{});
}

bool is_available_pod(const kube::Object& pod, std::int64_t min_ready_seconds, const Now& now) {
  return ready_since(pod) && !until_available(pod, min_ready_seconds, now);
}

std::optional<Duration> until_available(const kube::Object& pod, std::int64_t min_ready_seconds, const Now& now) {
  const auto since = ready_since(pod);
  if (!since) return std::nullopt;
  const Duration wait = now.present(*since) + seconds_saturating(min_ready_seconds) - now.time();
  return wait > Duration{0} ? std::optional(wait) : std::nullopt;
}

Time finish_time(const kube::Object& pod) {
  std::optional<Time> last;
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const json::Value& container : pod["status"][list].items()) {
      const auto finished = kube::time_of(container["state"]["terminated"]["finishedAt"]);
      if (finished && (!last || *finished > *last)) last = finished;
    }
  }
  return last ? *last : kube::creation_time(pod).value_or(Time{});
}

std::int64_t restarts(const kube::Object& pod) {
  std::int64_t count = 0;
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const json::Value& container : pod["status"][list].items()) count += container["restartCount"].as_int();
  }
  return count;
}

}  // namespace slipway::cluster
