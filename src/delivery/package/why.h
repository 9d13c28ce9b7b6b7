// What `why` prints of a PackageRevision: the chain of explain.h over the objects that its gates and conditions speak of, then
// which PackageRollout decides about it and what ApprovalPolicies wait for. `slipway pkg why NAME` and `slipway why
// packagerevision/NAME` are both this.
#pragma once

#include <string>

#include "delivery/family.h"

namespace slipway::delivery::package {

/// `part` is a gate, or "" for the whole. What the user may not see is not told of. BadRequest for an object that is no
/// revision.
Task<Result<std::string>> why_revision(CommandCall call, kube::Object object, std::string part);

}  // namespace slipway::delivery::package
