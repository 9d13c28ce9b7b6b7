// What applications keep in a cluster, by their trackers: for whoever takes a cluster away.
#pragma once

#include <string>
#include <vector>

#include "client/client.h"
#include "delivery/family.h"

namespace slipway::delivery::application {

/// The objects that trackers of the hub record in the cluster, by application and object.
Task<Result<std::vector<Holding>>> held_in(client::Client& hub, std::string cluster);
/// Strikes them from the trackers, so that no deletion waits for them any more. Conflict when a tracker is being changed: to be
/// called again.
Task<Result<void>> forget_cluster(client::Client& hub, std::string cluster);

}  // namespace slipway::delivery::application
