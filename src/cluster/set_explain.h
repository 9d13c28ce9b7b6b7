// Why StatefulSets and DaemonSets stand as they do (control/explain.h): a StatefulSet waits for its first pod that is not what
// it should be, a DaemonSet for the pods of nodes.
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::cluster {

std::vector<control::ExplainRow> set_explain_rows();

}  // namespace slipway::cluster
