#include "delivery/application/restart_schedule.h"

#include <algorithm>
#include <string>

namespace slipway::delivery::application {
namespace {

/// As a status keeps it.
Time whole_second(Time time) { return std::chrono::floor<std::chrono::seconds>(time); }

}  // namespace

RestartPlan plan_restart(std::string_view annotation, std::optional<Time> scheduled, const RunEnd& run, Time now) {
  RestartPlan plan{.at = scheduled};
  const auto duration = parse_duration(annotation);
  const auto time = parse_rfc3339(annotation);
  if (annotation == "true" || time) {
    const Time wanted = whole_second(time ? *time : now + std::chrono::seconds{1});
    const bool is_taken = scheduled && (time ? *scheduled == wanted : *scheduled <= wanted);
    if (is_taken) {
      plan.removes_annotation = true;
      return plan;
    }
    plan.at = wanted;
    return plan;
  }
  if (duration && run.is_finished && run.at && (!scheduled || *scheduled <= *run.at)) {
    plan.at = whole_second(*run.at + *duration);
  }
  if (!plan.at || !run.is_finished) return plan;
  const bool is_over = run.at && *plan.at <= *run.at;
  if (is_over) plan.at.reset();
  if (!plan.at || *plan.at > now) return plan;
  plan.restarts = true;
  plan.at.reset();
  return plan;
}

}  // namespace slipway::delivery::application
