// Under which resource an external object's kind is served: a table of built-in kinds, else the CustomResourceDefinitions.
#pragma once

#include <optional>

#include "client/client.h"
#include "kube/resource.h"

namespace slipway::delivery::jobflow {

/// Nullopt when the kind is not known, or not served in that version.
Task<Result<std::optional<kube::Resource>>> find_resource(client::Client& client, kube::GroupVersionKind kind);

}  // namespace slipway::delivery::jobflow
