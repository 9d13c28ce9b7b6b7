#include "pod_player.h"

#include <fmt/format.h>

#include "cluster/pod_status.h"

namespace slipway::workloads_test {

namespace {

using cluster::PodReport;
using json::Value;
using std::chrono::milliseconds;

constexpr std::int64_t kTerminated = 128 + 15;
/// How long a pod takes to start; one after another, as one program played them all. The real Job controller looks at what has
/// happened within a second at once, so pods of Jobs go side by side.
constexpr Duration kStart = milliseconds{120};
constexpr Duration kStagger = milliseconds{25};

Duration duration(const kube::Object& pod, const char* key, Duration otherwise) {
  const auto text = kube::annotation(pod, key);
  return text.empty() ? otherwise : parse_duration(text).value_or(otherwise);
}

std::int64_t number(const kube::Object& pod, const char* key, std::int64_t otherwise) {
  const std::string text(kube::annotation(pod, key));
  return text.empty() ? otherwise : std::stoll(text);
}

std::string index_of(const kube::Object& pod) {
  return std::string(kube::annotation(pod, "batch.kubernetes.io/job-completion-index"));
}

/// Whether the annotation, a list such as "1,3", has the pod's index.
bool lists_index(const kube::Object& pod, const char* key) {
  const std::string list = fmt::format(",{},", kube::annotation(pod, key));
  return !index_of(pod).empty() && list.contains(fmt::format(",{},", index_of(pod)));
}

bool is_never_ready(const kube::Object& pod) {
  if (kube::annotation(pod, "x-never-ready") == "true") return true;
  const auto ordinal = kube::annotation(pod, "x-never-ready-ordinal");
  return !ordinal.empty() && kube::name(pod).ends_with(fmt::format("-{}", ordinal));
}

bool is_job_pod(const kube::Object& pod) {
  const auto policy = pod["spec"]["restartPolicy"].as_string();
  return policy == "Never" || policy == "OnFailure";
}

void add_containers(PodReport& report, const kube::Object& pod, const Value& state, bool is_ready, std::int64_t restarts) {
  for (const Value& container : pod["spec"]["containers"].items()) {
    report.containers.push_back(cluster::container_status(container, state, restarts).with("ready", is_ready));
  }
}

PodReport ended(const kube::Object& pod, std::int64_t code, std::int64_t restarts, Time now) {
  PodReport report;
  report.phase = code == 0 ? "Succeeded" : "Failed";
  cluster::ContainerEnd end;
  end.exit_code = code;
  end.started = end.finished = now;
  add_containers(report, pod, cluster::terminated_state(end), false, restarts);
  return report;
}

}  // namespace

Task<Result<PodReport>> PodPlayer::advance(kube::Object pod) {
  const std::string uid(kube::uid(pod));
  const auto [found, is_new] = runs_.try_emplace(uid);
  Run& run = found->second;
  if (is_new) {
    const Steady soon = env_.clock.steady() + kStart;
    run.started = is_job_pod(pod) ? soon : next_start_ = std::max(next_start_ + kStagger, soon);
  }
  PodReport report;
  if (const Duration left = run.started - env_.clock.steady(); left > Duration{0}) {
    report.look_again = left;
    add_containers(report, pod, cluster::waiting_state("ContainerCreating"), false, 0);
    co_return report;
  }
  report = play(pod, run);
  report.ip = addresses_.take(uid);
  co_return report;
}

Task<Result<PodReport>> PodPlayer::stop(kube::Object pod, Duration) {
  const auto found = runs_.find(std::string(kube::uid(pod)));
  const Time now = env_.clock.now();
  if (found == runs_.end()) co_return ended(pod, kTerminated, 0, now);
  Run& run = found->second;
  if (!run.stopped) run.stopped = env_.clock.steady();
  const Duration left = *run.stopped + duration(pod, "x-grace", milliseconds{150}) - env_.clock.steady();
  if (left <= Duration{0}) co_return ended(pod, kTerminated, run.restarts, now);
  PodReport report = play(pod, run);
  report.look_again = std::min(report.look_again.value_or(left), left);
  co_return report;
}

Task<Result<void>> PodPlayer::forget(std::string uid) {
  runs_.erase(uid);
  addresses_.release(uid);
  co_return Result<void>{};
}

PodReport PodPlayer::play(const kube::Object& pod, Run& run) {
  return is_job_pod(pod) ? play_job(pod, run) : play_service(pod, run);
}

PodReport PodPlayer::play_service(const kube::Object& pod, const Run& run) const {
  PodReport report;
  report.phase = "Running";
  const Duration age = env_.clock.steady() - run.started;
  const Time started = env_.clock.now() - age;
  if (!kube::annotation(pod, "x-exit").empty()) {
    const Duration up = duration(pod, "x-run", milliseconds{300}) - age;
    if (up <= Duration{0}) {
      add_containers(report, pod, cluster::waiting_state("CrashLoopBackOff"), false, 1);
      return report;
    }
    report.look_again = up;
  }
  const Duration left = duration(pod, "x-ready-after", Duration{0}) - age;
  const bool is_ready = !is_never_ready(pod) && left <= Duration{0};
  if (!is_never_ready(pod) && !is_ready) report.look_again = std::min(report.look_again.value_or(left), left);
  add_containers(report, pod, cluster::running_state(started), is_ready, 0);
  return report;
}

/// Containers of OnFailure that failed run again at once, in the same pod.
PodReport PodPlayer::play_job(const kube::Object& pod, Run& run) {
  if (run.exit_code) return ended(pod, *run.exit_code, run.restarts, env_.clock.now());
  const bool is_endless = kube::annotation(pod, "x-run-forever") == "true" || lists_index(pod, "x-run-forever-index");
  const Duration length = duration(pod, "x-run", std::chrono::seconds{1});
  PodReport report;
  report.phase = "Running";
  while (!is_endless && env_.clock.steady() - run.started >= length) {
    const std::int64_t code = next_exit_code(pod);
    if (code == 0 || pod["spec"]["restartPolicy"].as_string() == "Never") {
      run.exit_code = code;
      report = ended(pod, code, run.restarts, env_.clock.now());
      report.is_disrupted = code != 0 && kube::annotation(pod, "x-disruption") == "true";
      return report;
    }
    ++run.restarts;
    run.started += length;
  }
  const Duration age = env_.clock.steady() - run.started;
  if (!is_endless) report.look_again = length - age;
  add_containers(report, pod, cluster::running_state(env_.clock.now() - age), true, run.restarts);
  return report;
}

std::int64_t PodPlayer::next_exit_code(const kube::Object& pod) {
  const bool has_indexes = !kube::annotation(pod, "x-exit-index").empty();
  const std::int64_t code = number(pod, "x-exit", has_indexes ? 1 : 0);
  const std::string job = fmt::format("{}/{}", kube::controller_of(pod)["uid"].as_string(), index_of(pod));
  const std::int64_t earlier = ends_[job]++;
  if (has_indexes && !lists_index(pod, "x-exit-index")) return 0;
  const std::int64_t first = number(pod, "x-exit-first", 0);
  return first > 0 && earlier >= first ? 0 : code;
}

}  // namespace slipway::workloads_test
