// When the workflow of an Application is started again without a change of its spec: the annotation
// app.oam.dev/restart-workflow is "true" (now), a time (RFC 3339) or a duration (again and again, that long after each end).
// Pure; what is planned stands in status.workflowRestartScheduledAt before the annotation of a single restart is taken away, so
// that it happens once.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace slipway::delivery::application {

/// How the workflow stands.
struct RunEnd {
  bool is_finished = false;
  std::optional<Time> at{};
};

struct RestartPlan {
  std::optional<Time> at{};         // what the status says from now on
  bool removes_annotation = false;  // it has been taken into the status: nothing else is to be done now
  bool restarts = false;            // now

  bool operator==(const RestartPlan&) const = default;
};

/// `scheduled` is what the status says now. A workflow that is under way is not restarted; one that ended after the scheduled
/// time has had its restart. A text that is none of the three plans nothing.
RestartPlan plan_restart(std::string_view annotation, std::optional<Time> scheduled, const RunEnd& run, Time now);

}  // namespace slipway::delivery::application
