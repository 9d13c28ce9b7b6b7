// What admission does with writes of the status of Applications and WorkflowRuns: it records who paused or ended the run,
// clears the pause of a run that has finished, and warns of what has no effect. Pure.
#pragma once

#include <string>
#include <vector>

#include "kube/admission.h"

namespace slipway::delivery::application {

/// Fills suspendedBy and terminatedBy in with the user who asks; nothing else may say who did it. The process itself is asked
/// nothing.
Result<kube::Object> stamp_run(const kube::Object& object, const kube::Object& old, const kube::Asker& asker);

/// Of a run that has finished: a `suspend` that nothing follows, and an empty `workflow`, which a merge patch and an apply
/// leave as it is.
std::vector<std::string> run_warnings(const kube::Object& object, const kube::Object& old);

}  // namespace slipway::delivery::application
