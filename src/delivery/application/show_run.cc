#include "delivery/application/show_run.h"

#include <fmt/format.h>

#include "delivery/application/kind.h"
#include "delivery/application/show_steps.h"
#include "delivery/application/workflow_run.h"
#include "delivery/family/text.h"

namespace slipway::delivery::application {
namespace {

std::string phase_of(const kube::Object& run) {
  const std::string phase = run["status"]["status"].str();
  return phase.empty() ? workflow::kInitializing : phase;
}

/// Why it cannot begin; empty when it can.
std::string obstacle_of(const kube::Object& run) {
  const Value& condition = kube::condition(run, kRunCondition);
  return condition["status"].as_string() == "False" ? condition["message"].str() : "";
}

}  // namespace

std::optional<Verdict> run_verdict(const kube::Object& run) {
  const std::string phase = phase_of(run);
  if (!run["status"]["finished"].as_bool()) return std::nullopt;
  if (phase == workflow::kSucceeded) return Verdict{true, phase};
  return Verdict{false, fmt::format("{}: {}", phase, failed_step(run["status"]))};
}

std::vector<News> run_news(const kube::Object& before, const kube::Object& after) {
  std::vector<News> told = step_news(before["status"], after["status"]);
  const std::string obstacle = obstacle_of(after);
  if (!obstacle.empty() && obstacle != obstacle_of(before)) told.push_back({.part = "", .text = obstacle});
  const std::string phase = after["status"]["status"].str();
  if (!phase.empty() && phase != before["status"]["status"].as_string()) told.push_back({.part = "", .text = phase});
  return told;
}

std::string run_summary(const kube::Object& run, const control::View& view) {
  std::string line = fmt::format("workflowrun {}/{}: {}", kube::ns(run), kube::name(run), phase_of(run));
  if (const std::string obstacle = obstacle_of(run); !obstacle.empty()) line += " (" + one_line(obstacle) + ")";
  if (const std::string message = run["status"]["message"].str(); !message.empty()) line += " (" + one_line(message) + ")";
  line += fmt::format(", age {}\n", age(kube::creation_time(run), view.now()));
  return line + steps_table(run["status"]);
}

std::string run_describe(const kube::Object& run, const control::View& view, const std::vector<kube::Object>& events) {
  std::string out = run_summary(run, view);
  const Value& status = run["status"];
  std::vector<std::vector<std::string>> facts;
  facts.push_back(
      {"mode", fmt::format("{} (sub-steps {})", status["mode"]["steps"].as_string(), status["mode"]["subSteps"].as_string())});
  if (const std::string name = run["spec"]["workflowRef"].str(); !name.empty()) facts.push_back({"workflow", name});
  if (const std::string name = status["contextBackend"]["name"].str(); !name.empty()) facts.push_back({"variables", name});
  for (const char* time : {"startTime", "endTime"}) {
    if (const std::string text = status[time].str(); !text.empty()) facts.push_back({time, text});
  }
  out += "\n" + aligned(facts);
  if (!events.empty()) out += "\n" + events_table(events, view.now());
  return out;
}

std::optional<Hold> run_hold(const kube::Object& run) {
  if (run["status"]["status"].as_string() != workflow::kSuspending) return std::nullopt;
  return hold_of(run["status"], run["spec"]["workflowSpec"]["steps"]);
}

bool run_has_part(const kube::Object& run, const std::string& step) { return has_step(run["status"], step); }

std::vector<control::Wait> explain_run(const kube::Object& run, const control::View&) {
  if (const std::string obstacle = obstacle_of(run); !obstacle.empty()) {
    const Value& condition = kube::condition(run, kRunCondition);
    return {{.on = "its workflow",
             .reason = condition["reason"].str(),
             .message = obstacle,
             .since = kube::time_of(condition["lastTransitionTime"]),
             .next = {},
             .part = ""}};
  }
  return waits_of_steps(run["status"],
                        fmt::format("slipway workflow resume workflowrun/{} -n {}", kube::name(run), kube::ns(run)));
}

}  // namespace slipway::delivery::application
