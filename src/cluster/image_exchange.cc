#include "cluster/image_exchange.h"

#include <algorithm>

#include "cluster/pod_status.h"

namespace slipway::cluster {

namespace {

using json::Value;

/// How the container stands that is to run `container`, and stood as `old`.
Value next_status(const Value& container, const Value& old, bool is_missing, Time now) {
  const std::int64_t restarts = old["restartCount"].as_int();
  Value last = old["lastState"];
  if (const Value& running = old["state"]["running"]; !running.is_null()) {
    ContainerEnd end{.exit_code = kTerminated};
    end.started = kube::time_of(running["startedAt"]);
    end.finished = now;
    last = terminated_state(end);
  }
  if (!is_missing) return container_status(container, running_state(now), restarts + 1, std::move(last));
  const std::string message = fmt::format("Back-off pulling image \"{}\"", container["image"].as_string());
  return container_status(container, waiting_state("ImagePullBackOff", message), restarts, std::move(last));
}

}  // namespace

void exchange_images(PodReport& report, const kube::Object& pod, const ContainerRules& rules, const Now& now) {
  const auto before = pod["status"]["containerStatuses"].items();
  const auto containers = pod["spec"]["containers"].items();
  for (std::size_t i = 0; i < std::min({report.containers.size(), before.size(), containers.size()}); ++i) {
    const std::string image = containers[i]["image"].str();
    const bool is_missing = rules.is_missing(image);
    const bool is_same = before[i]["image"].as_string() == image && (is_missing || !waits_for_image(before[i]));
    if (!is_same && is_missing) {
      report.warning = PodWarning{"Failed", fmt::format("Failed to pull image \"{}\": not found", image)};
    }
    Value& status = report.containers[i];
    status = is_same ? before[i] : next_status(containers[i], before[i], is_missing, now);
    const auto started = kube::time_of(status["state"]["running"]["startedAt"]);
    const auto ready = started ? rules.ready_at(now.present(*started)) : std::nullopt;
    status = status.with("ready", ready && *ready <= now.time());
    if (!ready || *ready <= now.time()) continue;
    report.look_again = std::min(report.look_again.value_or(*ready - now.time()), *ready - now.time());
  }
}

const Value& leading_status(const kube::Object& pod) {
  const Value& statuses = pod["status"]["containerStatuses"];
  const auto all = statuses.items();
  const auto running = std::ranges::find_if(all, [](const Value& status) { return status["state"].has("running"); });
  return running != all.end() ? *running : statuses.item(0);
}

bool waits_for_image(const Value& status) {
  return status["state"]["waiting"]["reason"].as_string() == "ImagePullBackOff" && status["lastState"].has("terminated");
}

}  // namespace slipway::cluster
