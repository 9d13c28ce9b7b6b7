// The revisions of an application on the command line: listed, compared with each other, and brought back.
#pragma once

#include <vector>

#include "delivery/family.h"

namespace slipway::delivery::application {

/// list, diff and rollback.
std::vector<Action> revision_actions();

/// Writes the spec (and the publish version) of an earlier revision into the application: the one that the option `revision`
/// names (`web-v2`, `v2` or `2`), else the last one before the present that was delivered. Refuses while the workflow runs.
Task<Result<CommandAnswer>> roll_back(ActionCall call);

}  // namespace slipway::delivery::application
