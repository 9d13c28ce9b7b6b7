// What this cluster adds to objects as they are created.
#pragma once

#include <vector>

#include "kube/admission.h"

namespace slipway::cluster {

/// Pods get the name of the one node: in place of a scheduler, and without a write of its own. Claims get kClaimProtection, so
/// that none goes before what is kept for it.
std::vector<kube::AdmissionRow> admission_rows();

}  // namespace slipway::cluster
