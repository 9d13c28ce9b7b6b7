// Built-in resources that are served in two versions or groups over one store: which one is stored, and the pure functions
// between them. A resource without a row is stored as it is served.
#pragma once

#include "kube/object.h"
#include "kube/resource.h"

namespace slipway::server {

struct Conversion {
  kube::Resource served{};
  kube::Resource stored{};
  /// A stored object as the served version shows it, and the other way. Both set apiVersion; nothing is lost on the way there
  /// and back.
  kube::Object (*from_stored)(const kube::Object& object) = nullptr;
  kube::Object (*to_stored)(const kube::Object& object) = nullptr;
};

/// Null when the resource is stored as it is. Lives for ever.
const Conversion* find_conversion(const kube::Resource& served);

}  // namespace slipway::server
