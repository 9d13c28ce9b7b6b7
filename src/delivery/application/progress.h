// Whether a workflow that is under way still gets on. One that has changed nothing for the deadline says so in its condition
// Progressing; it goes on waiting, as what it waits for may still come. What a person is waited for is no lack of progress.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "delivery/application/status.h"

namespace slipway::delivery::application {

inline constexpr const char* kProgressing = "Progressing";
inline constexpr const char* kDeadlineExceeded = "ProgressDeadlineExceeded";

/// What was seen of a run, and since when it is so. Forgotten at a restart of the controller, which gives the run another
/// deadline; a run that has exceeded it says so until it gets on.
struct Progress {
  std::string seen;  // phases and texts of its steps and services
  std::optional<Steady> since;
};

/// Looks at a status after a pass, and sets or drops its condition. When to look again. `deadline` zero: never says anything.
std::optional<Duration> judge_progress(Progress& progress, ApplicationStatus& status, Duration deadline, Steady now, Time time);

}  // namespace slipway::delivery::application
