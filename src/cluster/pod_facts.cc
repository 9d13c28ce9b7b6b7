#include "cluster/pod_facts.h"

#include <algorithm>

namespace slipway::cluster {

bool is_terminal_pod(const kube::Object& pod) {
  const auto phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

bool has_succeeded(const kube::Object& pod) { return pod["status"]["phase"].as_string() == "Succeeded"; }

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
