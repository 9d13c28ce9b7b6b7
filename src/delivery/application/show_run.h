// How a WorkflowRun is shown to people, and what it waits for. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/explain.h"
#include "delivery/family.h"

namespace slipway::delivery::application {

/// succeeded: success; failed, terminated: failure. A run that waits for a person, or for a Workflow or definition that is
/// missing, has not ended.
std::optional<Verdict> run_verdict(const kube::Object& run);
std::vector<News> run_news(const kube::Object& before, const kube::Object& after);
std::string run_summary(const kube::Object& run, const control::View& view);
std::string run_describe(const kube::Object& run, const control::View& view, const std::vector<kube::Object>& events);
std::optional<Hold> run_hold(const kube::Object& run);
bool run_has_part(const kube::Object& run, const std::string& step);
std::vector<control::Wait> explain_run(const kube::Object& run, const control::View& view);

}  // namespace slipway::delivery::application
