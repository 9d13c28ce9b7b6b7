// The row of this family (delivery/family.h): Workflows, which are delivered once their graph of Jobs has ended, the step sets
// that keep the statuses of large ones, and CronWorkflows, which start Workflows by the clock.
#pragma once

#include "delivery/family.h"

namespace slipway::delivery::jobflow {

/// Made at the first call.
const Family& family();

/// Delivered, failed or refused, with the condition's words. A rerun that was asked for and has not begun is under way, though
/// the conditions are still those of the run before.
std::optional<Verdict> verdict(const kube::Object& workflow);

/// Steps that changed (those that ended before those that started), a suspension, and for workflows with step sets the
/// failures listed in status and how many steps have ended.
std::vector<News> news(const kube::Object& before, const kube::Object& after);

}  // namespace slipway::delivery::jobflow
