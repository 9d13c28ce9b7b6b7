// Deleting all objects of a resource, for namespaces and CustomResourceDefinitions that are going.
#pragma once

#include <string>

#include "client/client.h"

namespace slipway::cluster {

/// Deletes every object that is not being deleted yet; `ns` empty: in all namespaces. True when nothing is left. A resource
/// that is not served has nothing.
Task<Result<bool>> empty(client::Client& client, kube::Resource resource, std::string ns);

}  // namespace slipway::cluster
