// What the server refuses beyond the schemas: records are written by the process itself only, policies by their own rules.
#pragma once

#include <vector>

#include "kube/admission.h"

namespace slipway::delivery::package {

std::vector<kube::AdmissionRow> admission_rows();

}  // namespace slipway::delivery::package
