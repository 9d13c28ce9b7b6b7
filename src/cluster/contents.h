// Deleting all objects of a resource, for namespaces and CustomResourceDefinitions that are going.
#pragma once

#include <string>

#include "client/client.h"

namespace slipway::cluster {

/// Deletes every object that is not being deleted yet; `ns` empty: in all namespaces. Gives the objects that are left, as an
/// array. A resource that is not served has none.
Task<Result<json::Value>> empty(client::Client& client, kube::Resource resource, std::string ns);

}  // namespace slipway::cluster
