// Which revision a revision was cloned from or upgraded to: spec.upstreamName of its record. Records from before that field say
// it by their first task only; so that these few are found among all, none of the others leaves the field empty.
#pragma once

#include <string>
#include <string_view>

#include "delivery/package/task.h"
#include "json/value.h"

namespace slipway::delivery::package {

/// Where there is no upstream revision; no revision has that name.
inline constexpr std::string_view kNoUpstream = "-";

/// The revision whose content a new one is made from and keeps as its upstream, else kNoUpstream.
std::string upstream_of(const RevisionTask& task);
/// Of a PackageRecord whose spec.upstreamName is empty: what belongs there. Else "".
std::string missing_upstream(const json::Value& object);

}  // namespace slipway::delivery::package
