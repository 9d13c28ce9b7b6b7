// How revisions, repositories and rollouts of packages are shown to people, from the objects alone. Rows of the functions of a
// KindRow, and the tables of `slipway pkg`.
#pragma once

#include <string>
#include <vector>

#include "delivery/family.h"
#include "delivery/package/commands.h"

namespace slipway::delivery::package {

std::string revision_summary(const kube::Object& object, const control::View& view);
std::string describe_revision(const kube::Object& object, const control::View& view, const std::vector<kube::Object>& events);
/// What a PackageRollout says that it waits for, or why it stands.
std::string rollout_waits(const kube::Object& object);
std::string rollout_summary(const kube::Object& object, const control::View& view);

/// TYPE, STATUS, GATE, REASON, OWNER, AGE, MESSAGE: conditions, then gates that have no condition.
std::string condition_table(const ShownRevision& revision, Time now);
/// OWNER, WAITS FOR, REVISION, LIFECYCLE, AGE, MESSAGE: gates that are not met, by who has to see to them, and proposals that
/// are ready by who approves them. `owner` narrows to one, "" is all.
std::string inbox_table(const std::vector<ShownRevision>& revisions, const std::string& owner, Time now);

}  // namespace slipway::delivery::package
