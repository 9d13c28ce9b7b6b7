#include "delivery/application/progress.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/digest.h"
#include "delivery/application/conditions.h"

namespace slipway::delivery::application {
namespace {

using workflow::RunStatus;
using workflow::SubStepStatus;

template <class Visit>
void each_step(const RunStatus& run, const Visit& visit) {
  for (const workflow::StepStatus& step : run.steps) {
    if (step.sub_steps.empty()) visit(step);
    for (const SubStepStatus& sub : step.sub_steps) visit(sub);
  }
}

std::string seen_of(const ApplicationStatus& status) {
  std::string text = status.workflow->app_revision;
  each_step(*status.workflow, [&](const SubStepStatus& step) {
    text += fmt::format("\n{} {} {} {} {}", step.name, step.phase, step.reason, step.message, step.failures);
  });
  for (const ServiceStatus& service : status.services) {
    text += fmt::format("\n{} {} {} {} {}", service.name, service.ns, service.cluster, service.is_healthy, service.message);
    for (const TraitStatus& trait : service.traits) {
      text += fmt::format(" {} {} {}", trait.type, trait.is_healthy, trait.message);
    }
  }
  return sha256_hex(text);
}

/// The steps and components that are waited for.
std::string waits_of(const ApplicationStatus& status) {
  std::vector<std::string> told;
  const auto add = [&](std::string what, const std::string& why) {
    told.push_back(why.empty() ? std::move(what) : what + ": " + why);
  };
  each_step(*status.workflow, [&](const SubStepStatus& step) {
    if (step.phase == workflow::kRunning || step.phase == workflow::kFailed) add("step " + step.name, step.message);
  });
  for (const ServiceStatus& service : status.services) {
    if (!service.is_healthy) add("component " + service.name, service.message);
  }
  return fmt::format("{}", fmt::join(told, "; "));
}

}  // namespace

std::optional<Duration> judge_progress(Progress& progress, ApplicationStatus& status, Duration deadline, Steady now,
                                       Time time) {
  const bool is_under_way = status.workflow && !status.workflow->is_finished && !status.workflow->is_suspended;
  if (!is_under_way || deadline == Duration{0}) {
    progress = {};
    drop_condition(status, kProgressing);
    return std::nullopt;
  }
  std::string seen = seen_of(status);
  const bool is_first = !progress.since;
  if (is_first || seen != progress.seen) {
    progress = {std::move(seen), now};
    if (is_first && find_condition(status, kProgressing) != nullptr) return std::nullopt;  // as before a restart
    drop_condition(status, kProgressing);
    return deadline;
  }
  const Duration since = now - *progress.since;
  if (since < deadline) return deadline - since;
  if (find_condition(status, kProgressing) == nullptr) {
    set_condition(status, kProgressing, false, kDeadlineExceeded,
                  fmt::format("nothing has changed for {}: {}", slipway::to_string(deadline), waits_of(status)), time);
  }
  return std::nullopt;
}

}  // namespace slipway::delivery::application
