// How the steps of a run are shown to people, of an Application's (status.workflow) as of a WorkflowRun's (status): `run` is
// that object of the status. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/explain.h"
#include "delivery/family.h"

namespace slipway::delivery::application {

/// STEP, TYPE, PHASE with a line for each step and sub-step; empty without steps.
std::string steps_table(const json::Value& run);
/// A line for each step that stands otherwise than before.
std::vector<News> step_news(const json::Value& before, const json::Value& after);
/// "step NAME: MESSAGE" of the first failed step, else the run's own message.
std::string failed_step(const json::Value& run);
bool has_step(const json::Value& run, const std::string& name);
/// A suspended run of which no step runs, and which no duration or time-out in the spec's `steps` lets go on.
std::optional<Hold> hold_of(const json::Value& run, const json::Value& steps);
/// What the open steps wait for, each with the object to look at next. `resume` is the command that resumes the run.
std::vector<control::Wait> waits_of_steps(const json::Value& run, const std::string& resume);

}  // namespace slipway::delivery::application
