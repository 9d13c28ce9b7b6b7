#include "cluster/simulated_runtime.h"

#include <algorithm>

#include "client/backoff.h"
#include "cluster/image_exchange.h"
#include "cluster/names.h"
#include "cluster/pod_status.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr client::Backoff kCrashLoop{std::chrono::seconds{10}, std::chrono::minutes{5}};

/// Runs of at least this length start the back-off anew.
constexpr Duration kStableRun = std::chrono::minutes{10};
constexpr Duration kNodeTolerance = std::chrono::seconds{300};

using Segments = std::vector<PodSegment>;

const PodBehaviour& behaviour_at(const Segments& segments, Time time) {
  const auto after = std::ranges::upper_bound(segments, time, {}, &PodSegment::from);
  return std::prev(after)->behaviour;
}

Time end_of(const Segments& segments, std::size_t index) {
  return index + 1 < segments.size() ? segments[index + 1].from : Time::max();
}

/// One run of the containers (they all run alike).
struct Run {
  std::int64_t restarts = 0;
  Time start;                          // by the wall clock as it is set now
  Time written;                        // as the status says it
  std::optional<ContainerEnd> before;  // how the last one ended
};

Duration pause_after(const ContainerEnd& end, std::int64_t restarts) {
  const bool is_stable = end.started && end.finished && *end.finished - *end.started >= kStableRun;
  return kCrashLoop.after(is_stable ? 0 : static_cast<int>(restarts));
}

bool has_begun(const kube::Object& pod) {
  const Value& status = leading_status(pod);
  return status["state"].has("running") || status["lastState"].has("terminated");
}

/// The run that the pod's status shows, or the first.
Run resume(const kube::Object& pod, Time first_start, const Now& now) {
  const Value& status = leading_status(pod);
  const std::int64_t restarts = status["restartCount"].as_int();
  if (const auto started = kube::time_of(status["state"]["running"]["startedAt"])) {
    return {restarts, now.present(*started), *started, std::nullopt};
  }
  const Value& last = status["lastState"]["terminated"];
  if (const auto finished = kube::time_of(last["finishedAt"])) {
    if (waits_for_image(status)) return {restarts, now.present(*finished), *finished, std::nullopt};
    ContainerEnd end;
    end.exit_code = last["exitCode"].as_int();
    end.started = kube::time_of(last["startedAt"]);
    end.finished = finished;
    const Time start = now.present(*finished) + pause_after(end, restarts);
    return {restarts + 1, start, start, end};
  }
  return {0, now.present(first_start), first_start, std::nullopt};
}

void report_containers(PodReport& report, const kube::Object& pod, const Value& state, const Run& run, Time start) {
  const Value last = run.before ? terminated_state(*run.before) : Value();
  for (const Value& container : pod["spec"]["initContainers"].items()) {
    ContainerEnd end;
    end.started = end.finished = start;
    report.init_containers.push_back(container_status(container, terminated_state(end)));
  }
  for (const Value& container : pod["spec"]["containers"].items()) {
    report.containers.push_back(container_status(container, state, run.restarts, last));
  }
}

PodReport fail_script(const kube::Object& pod, const std::string& error, Time now) {
  PodReport report;
  report.phase = "Failed";
  report.reason = "InvalidAnnotation";
  report.message = error;
  ContainerEnd end{1, 0, "StartError", error, now, now};
  report_containers(report, pod, terminated_state(end), {}, now);
  return report;
}

bool lacks_image(const kube::Object& pod, const PodBehaviour& behaviour) {
  const auto images = pod["spec"]["containers"].items();
  return std::ranges::any_of(images, [&](const Value& one) { return behaviour.is_missing(one["image"].as_string()); });
}

/// When the containers start, which were to start at `first`; nullopt while an image is missing for ever.
std::optional<Time> begin_of(const kube::Object& pod, const Segments& segments, Time first) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const PodBehaviour& behaviour = segments[i].behaviour;
    const Time from = std::max(first, segments[i].from);
    if (from < end_of(segments, i) && !lacks_image(pod, behaviour)) return from + behaviour.start_after;
  }
  return std::nullopt;
}

/// Pending, with the words of the kubelet when an image cannot be had.
PodReport wait_to_start(const kube::Object& pod, const PodBehaviour& behaviour) {
  PodReport report;
  for (const Value& container : pod["spec"]["containers"].items()) {
    const std::string image = container["image"].str();
    const bool is_missing = behaviour.is_missing(image);
    if (is_missing) report.warning = PodWarning{"Failed", fmt::format("Failed to pull image \"{}\": not found", image)};
    report.containers.push_back(container_status(
        container, is_missing ? waiting_state("ImagePullBackOff", fmt::format("Back-off pulling image \"{}\"", image))
                              : waiting_state("ContainerCreating")));
  }
  return report;
}

void look_again_at(PodReport& report, Time time, Time now) {
  if (time > now) report.look_again = std::min(report.look_again.value_or(time - now), time - now);
}

/// Containers that run are not ready before their time.
void judge_readiness(PodReport& report, const PodBehaviour& behaviour, Time start, Time now) {
  if (behaviour.ready_after && behaviour.ready_after->end(start) <= now) return;
  for (Value& container : report.containers) container = container.with("ready", false);
  if (behaviour.ready_after) look_again_at(report, behaviour.ready_after->end(start), now);
}

ContainerRules rules_of(const PodBehaviour& behaviour) {
  const auto ready_at = [after = behaviour.ready_after](Time start) {
    return after ? std::optional(after->end(start)) : std::nullopt;
  };
  return {[&behaviour](std::string_view image) { return behaviour.is_missing(image); }, ready_at};
}

/// When a run that began at `start` ends by itself, and under which behaviour.
struct RunEnd {
  Time time;
  const PodBehaviour* behaviour;
};
std::optional<RunEnd> end_of_run(const Segments& segments, Time start, bool is_kept_up) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const PodBehaviour& behaviour = segments[i].behaviour;
    const Time from = std::max(start, segments[i].from);
    if (from >= end_of(segments, i) || (!behaviour.run_time && is_kept_up)) continue;
    const Time end = std::max(behaviour.run_time.value_or(BehaviourSpan{}).end(start), from);
    if (end < end_of(segments, i)) return RunEnd{end, &behaviour};
  }
  return std::nullopt;
}

ContainerEnd ended_run(const Run& run, const RunEnd& end) {
  const SimulatedExit exit = end.behaviour->exit(run.restarts);
  ContainerEnd ended;
  ended.exit_code = exit.code;
  if (exit.is_oom) ended.reason = "OOMKilled";
  ended.started = run.written;
  ended.finished = end.time;
  return ended;
}

/// The runs of the containers, one after another, until one reaches beyond `now`, which is the clock's or before.
PodReport simulate_runs(const kube::Object& pod, const Segments& segments, Run run, Time first_start, Time now,
                        const Now& clock) {
  const auto policy = pod["spec"]["restartPolicy"].as_string();
  PodReport report;
  report.ip = pod["status"]["podIP"].str();
  for (;;) {
    if (run.start > now) {  // between two runs
      report.phase = "Running";
      report.look_again = run.start - now;
      --run.restarts;
      report_containers(report, pod, waiting_state("CrashLoopBackOff"), run, first_start);
      return report;
    }
    const auto end = end_of_run(segments, run.start, policy != "Never" && policy != "OnFailure");
    if (!end || end->time > now) {
      report.phase = "Running";
      if (end) look_again_at(report, end->time, now);
      report_containers(report, pod, running_state(run.written), run, first_start);
      const PodBehaviour& behaviour = behaviour_at(segments, now);
      judge_readiness(report, behaviour, run.start, now);
      if (has_begun(pod) && !run.before && now == clock.time()) exchange_images(report, pod, rules_of(behaviour), clock);
      return report;
    }
    const ContainerEnd ended = ended_run(run, *end);
    if (policy == "Never" || (policy == "OnFailure" && ended.exit_code == 0)) {
      report.phase = ended.exit_code == 0 ? "Succeeded" : "Failed";
      report_containers(report, pod, terminated_state(ended), run, first_start);
      return report;
    }
    const Time next = end->time + pause_after(ended, run.restarts);
    run = {run.restarts + 1, next, next, ended};
  }
}

/// How long the pod stays bound to a node that does not answer; nullopt: for ever.
std::optional<Duration> node_tolerance(const kube::Object& pod) {
  for (const Value& toleration : pod["spec"]["tolerations"].items()) {
    if (toleration["key"].as_string() != "node.kubernetes.io/unreachable") continue;
    if (toleration["tolerationSeconds"].is_null()) return std::nullopt;
    return seconds_saturating(toleration["tolerationSeconds"].as_int());
  }
  return kNodeTolerance;
}

/// The report of a pod whose node fell silent at `lost`, where it was made for that moment.
void lose_node(PodReport& report, const kube::Object& pod, Time lost, Time now) {
  if (report.phase != "Running" && report.phase != "Pending") return;
  report.is_unreachable = true;
  report.look_again.reset();
  const auto tolerance = node_tolerance(pod);
  if (!tolerance) return;
  look_again_at(report, lost + *tolerance, now);
  if (lost + *tolerance > now) return;
  report.phase = "Failed";
  report.reason = "NodeLost";
  report.message = "the node of the pod has not answered for too long";
  report.is_disrupted = true;
  for (Value& container : report.containers) container = container.with("ready", false);
}

/// When the pod's deletion began: now, unless its timestamp, in whole seconds, says that an earlier process saw it.
Time asked_to_end(const kube::Object& pod, const Now& now) {
  const auto end = kube::time_of(pod["metadata"]["deletionTimestamp"]);
  if (!end) return now.time();
  const Duration grace = seconds_saturating(pod["metadata"]["deletionGracePeriodSeconds"].as_int());
  const Time asked = now.present(*end - grace);
  return asked + std::chrono::seconds{1} < now.time() ? asked : now.time();
}

}  // namespace

PodReport simulate_pod(const kube::Object& pod, Time first_start, const Now& clock, const std::vector<PodRule>& rules) {
  const Segments segments = behaviour_of(pod, rules, clock);
  const PodBehaviour& present = behaviour_at(segments, clock.time());
  if (!present.error.empty()) return fail_script(pod, present.error, clock.time());
  const auto started = kube::time_of(pod["status"]["startTime"]);
  std::optional<Time> lost;
  if (present.node_loss) lost = present.node_loss->end(started ? clock.present(*started) : clock.present(first_start));
  const bool is_lost = lost && *lost <= clock.time();
  const Time now = is_lost ? *lost : clock.time();
  Run run = resume(pod, first_start, clock);
  const bool is_first = !has_begun(pod);
  const auto begin = is_first ? begin_of(pod, segments, run.start) : run.start;
  PodReport report;
  if (!begin || (is_first && *begin > now)) {
    report = wait_to_start(pod, behaviour_at(segments, now));
    if (begin) look_again_at(report, *begin, now);
  } else {
    run.written += *begin - run.start;
    run.start = *begin;
    report = simulate_runs(pod, segments, run, first_start, now, clock);
  }
  if (is_lost) lose_node(report, pod, *lost, clock.time());
  if (lost) look_again_at(report, *lost, now);
  const bool is_over = report.phase == "Succeeded" || report.phase == "Failed";
  const auto change = std::ranges::upper_bound(segments, clock.time(), {}, &PodSegment::from);
  if (!is_over && change != segments.end()) look_again_at(report, change->from, clock.time());
  return report;
}

void SimulatedRuntime::steer(const kube::ObjectKey& key, const kube::Object& config_map) {
  auto rules = parse_pod_rules(config_map);
  if (!rules) env_.log.warn("a script of simulated pods cannot be read", {{"error", rules.error().message}});
  scripts_[key] = rules.value_or(std::vector<PodRule>{});
  if (scripts_[key].empty()) scripts_.erase(key);
}

std::vector<PodRule> SimulatedRuntime::rules() const {
  std::vector<PodRule> all;
  for (const auto& [key, rules] : scripts_) all.insert(all.end(), rules.begin(), rules.end());
  return all;
}

Task<Result<PodReport>> SimulatedRuntime::advance(kube::Object pod) {
  const Now now = wall_.now();
  const std::string uid(kube::uid(pod));
  const Time start = starts_.try_emplace(uid, now.time()).first->second;
  if (const json::Value& address = pod["status"]["podIP"]; !address.is_null()) {
    addresses_.keep(uid, address.as_string());
  } else {
    pod = pod.with_path({"status", "podIP"}, addresses_.take(uid));
  }
  co_return simulate_pod(pod, start, now, rules());
}

/// It goes on as it is for slipway.dev/stop-after, at most for the grace that is left.
Task<Result<PodReport>> SimulatedRuntime::stop(kube::Object pod, Duration grace) {
  const Now now = wall_.now();
  const std::string uid(kube::uid(pod));
  const auto known = starts_.find(uid);
  const bool has_started = known != starts_.end() || !pod["status"]["containerStatuses"].empty();
  const Time start = known != starts_.end() ? known->second : now.time();
  if (has_started) {
    PodReport present = simulate_pod(pod, start, now, rules());
    if (present.phase == "Succeeded" || present.phase == "Failed") co_return present;
    const Segments segments = behaviour_of(pod, rules(), now);
    const Duration needed = std::min(behaviour_at(segments, now).stop_after, grace);
    const Time asked = now.present(stops_.try_emplace(uid, asked_to_end(pod, now)).first->second);
    if (present.phase == "Running" && asked + needed > now.time()) {
      look_again_at(present, asked + needed, now);
      co_return present;
    }
  }
  const Run run = resume(pod, start, now);
  PodReport report;
  report.phase = "Failed";
  Run last;
  last.restarts = run.restarts;
  report_containers(report, pod, terminated_state({kTerminated, 0, "Error", "", run.written, now.time()}), last, start);
  co_return report;
}

Task<Result<void>> SimulatedRuntime::forget(std::string uid) {
  starts_.erase(uid);
  stops_.erase(uid);
  addresses_.release(uid);
  co_return Result<void>{};
}

Task<Result<void>> SimulatedRuntime::forget_all_but(std::set<std::string> uids) {
  for (auto* times : {&starts_, &stops_}) std::erase_if(*times, [&](const auto& entry) { return !uids.contains(entry.first); });
  co_return Result<void>{};
}

Task<Result<std::string>> SimulatedRuntime::logs(kube::Object pod, server::LogQuery query) {
  const Value& ended = pod["status"]["containerStatuses"].item(0)["state"]["terminated"];
  if (ended.is_null()) co_return std::string();
  const std::string text = fmt::format("simulated: exit code {}\n", ended["exitCode"].as_int());
  co_return query.offset >= text.size() ? std::string() : text.substr(query.offset, query.limit);
}

}  // namespace slipway::cluster
