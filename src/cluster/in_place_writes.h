// The writes of an update in place (in_place.h), each exact and fit to be made again after a crash.
#pragma once

#include "client/client.h"
#include "cluster/in_place.h"

namespace slipway::cluster {

/// Writes `change.next`; before containers may restart, the pod's gate is closed.
Task<Result<void>> change_pod(client::Client& client, PodChange change, Time now, std::string manager);
/// Opens the gate of a pod and says that its life cycle is Normal, where in_place_end() says so.
Task<Result<void>> settle_pod(client::Client& client, kube::Object pod, Time now, std::string manager);

/// One label or annotation (`map`: "labels", "annotations") of this very object. Conflict when it has changed since.
Task<Result<kube::Object>> patch_metadata(client::Client& client, kube::Resource resource, kube::Object object, std::string map,
                                          std::string key, std::string value, std::string manager);

}  // namespace slipway::cluster
