#include "cluster/explain.h"

#include "cluster/deployment_explain.h"
#include "cluster/job_plan.h"
#include "cluster/pod_facts.h"
#include "cluster/policy_explain.h"
#include "cluster/set_explain.h"

namespace slipway::cluster {

namespace {

using control::View;
using control::Wait;
using json::Value;

std::string count(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

Wait wait_for_pod(const kube::Object& pod, const char* reason) {
  Wait wait;
  wait.on = fmt::format("pod {}", kube::name(pod));
  wait.reason = reason;
  wait.since = kube::time_of(pod["status"]["startTime"]);
  wait.next = kube::reference_to(pod);
  return wait;
}

/// The pods that say most about a Job: the running ones, or, where it has failed, the one that failed last.
std::vector<Wait> waits_for_pods(const kube::Object& job, const View& view) {
  std::vector<Wait> waits;
  const kube::Object* last_failure = nullptr;
  const auto pods = view.owned_by(job, kPodKind);
  for (const kube::Object& pod : pods) {
    if (!is_terminal_pod(pod)) {
      waits.push_back(wait_for_pod(pod, "PodNotFinished"));
    } else if (!has_succeeded(pod) && (last_failure == nullptr || finish_time(*last_failure) < finish_time(pod))) {
      last_failure = &pod;
    }
  }
  if (waits.empty() && last_failure != nullptr) waits.push_back(wait_for_pod(*last_failure, "PodFailed"));
  return waits;
}

std::vector<Wait> explain_job(const kube::Object& job, const View& view) {
  std::vector<Wait> waits;
  if (kube::is_true(job, "Complete")) return waits;
  if (const Value& failed = kube::condition(job, "Failed"); kube::is_true(job, "Failed")) {
    waits = waits_for_pods(job, view);
    // Its pods tell more than "BackoffLimitExceeded" does; a deadline is a cause of its own.
    if (!waits.empty() && failed["reason"].as_string() != "DeadlineExceeded") return waits;
    Wait ended{fmt::format("Job {}", kube::name(job)),
               failed["reason"].str(),
               failed["message"].str(),
               kube::time_of(failed["lastTransitionTime"]),
               {},
               {}};
    waits.insert(waits.begin(), std::move(ended));
    return waits;
  }
  if (job["spec"]["suspend"].as_bool()) {
    const Value& suspended = kube::condition(job, "Suspended");
    return {{fmt::format("Job {} to be resumed", kube::name(job)),
             "JobSuspended",
             "set spec.suspend to false to go on",
             kube::time_of(suspended["lastTransitionTime"]),
             {},
             {}}};
  }
  waits = waits_for_pods(job, view);
  const auto failures = static_cast<std::size_t>(job["status"]["failed"].as_int());
  if (failures > 0 && job["status"]["active"].as_int() == 0) {
    waits.insert(waits.begin(), {"the next attempt",
                                 "BackOff",
                                 fmt::format("{} failed; retries come after growing pauses", count(failures, "pod")),
                                 std::nullopt,
                                 {},
                                 {}});
  }
  if (waits.empty())
    waits.push_back({"its first pod", "NoPods", "the Job controller has not made a pod yet", kube::creation_time(job), {}, {}});
  return waits;
}

/// `is_endless`: it is to run for ever, so that it is waited for only until it is ready.
std::optional<Wait> wait_of_container(const Value& status, bool is_endless) {
  const std::string name = fmt::format("container {}", status["name"].as_string());
  if (const Value& waiting = status["state"]["waiting"]; !waiting.is_null()) {
    return Wait{name, waiting["reason"].str(), waiting["message"].str(), std::nullopt, {}, {}};
  }
  if (const Value& running = status["state"]["running"]; !running.is_null()) {
    if (is_endless && status["ready"].as_bool()) return std::nullopt;
    if (is_endless) return Wait{name, "NotReady", "it runs but is not ready", kube::time_of(running["startedAt"]), {}, {}};
    return Wait{name, "Running", "it has not ended yet", kube::time_of(running["startedAt"]), {}, {}};
  }
  const Value& ended = status["state"]["terminated"];
  if (ended.is_null() || ended["exitCode"].as_int() == 0) return std::nullopt;
  const std::string message =
      ended["message"].as_string().empty() ? fmt::format("exit code {}", ended["exitCode"].as_int()) : ended["message"].str();
  return Wait{name, ended["reason"].str(), message, kube::time_of(ended["finishedAt"]), {}, {}};
}

std::vector<Wait> explain_pod(const kube::Object& pod, const View&) {
  std::vector<Wait> waits;
  const Value& status = pod["status"];
  const auto policy = pod["spec"]["restartPolicy"].as_string();
  const bool is_endless = policy != "Never" && policy != "OnFailure";
  if (!status["reason"].as_string().empty()) {
    waits.push_back({fmt::format("pod {}", kube::name(pod)),
                     status["reason"].str(),
                     status["message"].str(),
                     kube::time_of(status["startTime"]),
                     {},
                     {}});
  }
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : status[list].items()) {
      if (auto wait = wait_of_container(container, is_endless)) waits.push_back(std::move(*wait));
    }
  }
  if (const Value& placed = kube::condition(pod, "PodScheduled"); placed["status"].as_string() == "False") {
    waits.push_back({fmt::format("pod {}", kube::name(pod)),
                     placed["reason"].str(),
                     placed["message"].str(),
                     kube::time_of(placed["lastTransitionTime"]),
                     {},
                     {}});
  }
  if (waits.empty() && !is_terminal_pod(pod) && !kube::is_true(pod, "Ready")) {
    waits.push_back({fmt::format("pod {}", kube::name(pod)),
                     "NotStarted",
                     "no pod runtime has taken it up yet; is one running?",
                     kube::creation_time(pod),
                     {},
                     {}});
  }
  return waits;
}

}  // namespace

std::vector<control::ExplainRow> explain_rows() {
  std::vector<control::ExplainRow> rows{control::ExplainRow::without_parts("batch", "Job", explain_job),
                                        control::ExplainRow::without_parts("", "Pod", explain_pod)};
  for (control::ExplainRow& row : workload_explain_rows()) rows.push_back(std::move(row));
  for (control::ExplainRow& row : policy_explain_rows()) rows.push_back(std::move(row));
  for (control::ExplainRow& row : set_explain_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace slipway::cluster
