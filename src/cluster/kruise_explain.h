// Why a CloneSet or an Advanced StatefulSet stands as it does (control/explain.h).
#pragma once

#include <vector>

#include "control/explain.h"

namespace slipway::cluster {

std::vector<control::Wait> explain_kruise_set(const kube::Object& set, const control::View& view);

}  // namespace slipway::cluster
