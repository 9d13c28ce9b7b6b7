#include "cluster/simulated_runtime.h"

#include <charconv>

#include "client/backoff.h"
#include "cluster/image_exchange.h"
#include "cluster/names.h"
#include "cluster/pod_status.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr client::Backoff kCrashLoop{std::chrono::seconds{10}, std::chrono::minutes{5}};
constexpr std::int64_t kTerminated = 128 + 15;

/// What the annotations ask for.
struct Script {
  std::optional<Duration> run_time;
  std::vector<std::int64_t> exit_codes;
  std::int64_t attempt = 0;
  std::optional<Duration> ready_after = Duration{0};  // nullopt: never
  std::string missing_images;
  std::string error;

  bool is_missing(std::string_view image) const {
    std::string_view rest = missing_images;
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      if (item == image) return true;
    }
    return false;
  }

  std::int64_t exit_code(std::int64_t restarts) const {
    if (exit_codes.empty()) return 0;
    const auto at = static_cast<std::size_t>(std::max<std::int64_t>(attempt + restarts, 0));
    return exit_codes[std::min(at, exit_codes.size() - 1)];
  }
};

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Script read_script(const kube::Object& pod) {
  Script script;
  if (const auto text = kube::annotation(pod, kRunTime); !text.empty()) {
    const auto duration = parse_duration(text);
    if (!duration || *duration < Duration{0}) {
      script.error = fmt::format("annotation {}: not a duration such as 12.5s: {}", kRunTime, text);
    } else {
      script.run_time = *duration;
    }
  }
  if (const auto text = kube::annotation(pod, kReadyAfter); text == "never") {
    script.ready_after.reset();
  } else if (!text.empty()) {
    const auto duration = parse_duration(text);
    if (!duration || *duration < Duration{0}) {
      script.error = fmt::format("annotation {}: neither \"never\" nor a duration such as 12.5s: {}", kReadyAfter, text);
    } else {
      script.ready_after = *duration;
    }
  }
  script.missing_images = std::string(kube::annotation(pod, kMissingImages));
  std::string_view codes = kube::annotation(pod, kExitCode);
  while (!codes.empty()) {
    const std::string_view item = codes.substr(0, codes.find(','));
    codes.remove_prefix(std::min(codes.size(), item.size() + 1));
    const auto code = whole(item);
    if (!code || *code < 0 || *code > 255) {
      script.error = fmt::format("annotation {}: not an exit code from 0 to 255: {}", kExitCode, item);
    } else {
      script.exit_codes.push_back(*code);
    }
  }
  script.attempt = whole(kube::annotation(pod, kAttempt)).value_or(0);
  return script;
}

/// One run of the containers (they all run alike).
struct Run {
  std::int64_t restarts = 0;
  Time start;                          // by the wall clock as it is set now
  Time written;                        // as the status says it
  std::optional<ContainerEnd> before;  // how the last one ended
};

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
    const Time start = now.present(*finished) + kCrashLoop.after(static_cast<int>(restarts));
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

bool has_begun(const kube::Object& pod) {
  const Value& status = leading_status(pod);
  return status["state"].has("running") || status["lastState"].has("terminated");
}

/// Pending for ever, with the words of the kubelet, when an image cannot be had.
std::optional<PodReport> wait_for_images(const kube::Object& pod, const Script& script) {
  if (has_begun(pod)) return std::nullopt;
  std::string missing;
  PodReport report;
  for (const Value& container : pod["spec"]["containers"].items()) {
    const std::string image = container["image"].str();
    const bool is_missing = script.is_missing(image);
    if (is_missing) missing = image;
    report.containers.push_back(container_status(
        container, is_missing ? waiting_state("ImagePullBackOff", fmt::format("Back-off pulling image \"{}\"", image))
                              : waiting_state("ContainerCreating")));
  }
  if (missing.empty()) return std::nullopt;
  report.warning = PodWarning{"Failed", fmt::format("Failed to pull image \"{}\": not found", missing)};
  return report;
}

/// Containers that run are not ready before their time.
void judge_readiness(PodReport& report, const Script& script, Time start, Time now) {
  if (script.ready_after && start + *script.ready_after <= now) return;
  for (Value& container : report.containers) container = container.with("ready", false);
  if (!script.ready_after) return;
  const Duration wait = start + *script.ready_after - now;
  report.look_again = std::min(report.look_again.value_or(wait), wait);
}

ContainerRules rules_of(const Script& script) {
  const auto ready_at = [after = script.ready_after](Time start) {
    return after ? std::optional(start + *after) : std::nullopt;
  };
  return {[&script](std::string_view image) { return script.is_missing(image); }, ready_at};
}

}  // namespace

PodReport simulate_pod(const kube::Object& pod, Time first_start, const Now& clock) {
  const Time now = clock.time();
  const Script script = read_script(pod);
  if (!script.error.empty()) return fail_script(pod, script.error, now);
  if (auto report = wait_for_images(pod, script)) return std::move(*report);
  const auto policy = pod["spec"]["restartPolicy"].as_string();
  const bool is_endless = !script.run_time && policy != "Never" && policy != "OnFailure";
  PodReport report;
  report.ip = pod["status"]["podIP"].str();
  Run run = resume(pod, first_start, clock);
  for (;;) {
    if (run.start > now) {  // between two runs
      report.phase = "Running";
      report.look_again = run.start - now;
      --run.restarts;
      report_containers(report, pod, waiting_state("CrashLoopBackOff"), run, first_start);
      return report;
    }
    const Time finish = run.start + script.run_time.value_or(Duration{0});
    if (is_endless || finish > now) {
      report.phase = "Running";
      if (!is_endless) report.look_again = finish - now;
      report_containers(report, pod, running_state(run.written), run, first_start);
      judge_readiness(report, script, run.start, now);
      if (has_begun(pod) && !run.before) exchange_images(report, pod, rules_of(script), clock);
      return report;
    }
    ContainerEnd end;
    end.exit_code = script.exit_code(run.restarts);
    end.started = run.written;
    end.finished = finish;
    if (policy == "Never" || (policy == "OnFailure" && end.exit_code == 0)) {
      report.phase = end.exit_code == 0 ? "Succeeded" : "Failed";
      report_containers(report, pod, terminated_state(end), run, first_start);
      return report;
    }
    const Time next = finish + kCrashLoop.after(static_cast<int>(run.restarts));
    run = {run.restarts + 1, next, next, end};
  }
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
  co_return simulate_pod(pod, start, now);
}

Task<Result<PodReport>> SimulatedRuntime::stop(kube::Object pod, Duration) {
  const Now now = wall_.now();
  const auto known = starts_.find(std::string(kube::uid(pod)));
  const bool has_started = known != starts_.end() || !pod["status"]["containerStatuses"].empty();
  const Time start = known != starts_.end() ? known->second : now.time();
  if (has_started) {
    PodReport ended = simulate_pod(pod, start, now);
    if (ended.phase == "Succeeded" || ended.phase == "Failed") co_return ended;
  }
  PodReport report;
  report.phase = "Failed";
  ContainerEnd end{kTerminated, 0, "Error", "", resume(pod, start, now).written, now.time()};
  Run run;
  run.restarts = resume(pod, start, now).restarts;
  report_containers(report, pod, terminated_state(end), run, start);
  co_return report;
}

Task<Result<void>> SimulatedRuntime::forget(std::string uid) {
  starts_.erase(uid);
  addresses_.release(uid);
  co_return Result<void>{};
}

Task<Result<void>> SimulatedRuntime::forget_all_but(std::set<std::string> uids) {
  std::erase_if(starts_, [&](const auto& entry) { return !uids.contains(entry.first); });
  co_return Result<void>{};
}

Task<Result<std::string>> SimulatedRuntime::logs(kube::Object pod, server::LogQuery query) {
  const Value& ended = pod["status"]["containerStatuses"].item(0)["state"]["terminated"];
  if (ended.is_null()) co_return std::string();
  const std::string text = fmt::format("simulated: exit code {}\n", ended["exitCode"].as_int());
  co_return query.offset >= text.size() ? std::string() : text.substr(query.offset, query.limit);
}

}  // namespace slipway::cluster
