// How an Application is shown to people, and what it waits for. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/explain.h"
#include "delivery/family.h"

namespace slipway::delivery::application {

/// running: success; workflowFailed, workflowTerminated and a spec that cannot be read: failure; else under way. An application
/// that waits for a person has not ended.
std::optional<Verdict> verdict(const kube::Object& application);
std::vector<News> news(const kube::Object& before, const kube::Object& after);
/// One line, and a table of steps and services.
std::string summary(const kube::Object& application, const control::View& view);
std::string describe(const kube::Object& application, const control::View& view, const std::vector<kube::Object>& events);
/// Parts are steps and components.
bool has_part(const kube::Object& application, const std::string& part);
bool is_of_part(const kube::Object& made, const std::string& component);
/// What status.appliedResources tells, by cluster.
std::vector<MadeObject> made(const kube::Object& application);
/// A suspended workflow that no time-out or duration lets go on.
std::optional<Hold> hold(const kube::Object& application);
std::vector<control::ExplainRow> explain_rows();

}  // namespace slipway::delivery::application
