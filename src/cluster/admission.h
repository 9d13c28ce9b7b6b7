// What this cluster adds to objects as they are created.
#pragma once

#include <vector>

#include "kube/admission.h"

namespace slipway::cluster {

/// Pods get the name of the node where there is one: in place of a scheduler, and without a write of its own (where there are
/// more, the pod controller places them). Claims get kClaimProtection, so
/// that none goes before what is kept for it.
std::vector<kube::AdmissionRow> admission_rows();

}  // namespace slipway::cluster
