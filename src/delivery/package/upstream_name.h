// Which revision a revision was cloned from or upgraded to: spec.upstreamName of its record. Records from before that field say
// it by their first task only.
#pragma once

#include <string>

#include "delivery/package/task.h"
#include "json/value.h"

namespace slipway::delivery::package {

/// The revision whose content a new one is made from and keeps as its upstream; "" where there is none.
std::string upstream_of(const RevisionTask& task);
/// Of a PackageRecord whose spec.upstreamName is empty and should not be: what belongs there. Else "".
std::string missing_upstream(const json::Value& object);

}  // namespace slipway::delivery::package
