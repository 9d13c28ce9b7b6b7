// What the name of an API group says of who defines its kinds.
#pragma once

#include <string_view>

namespace slipway::kube {

/// Whether a group is Kubernetes' own: those without a dot ("", "apps"), and those below k8s.io, which are protected for it
/// (KEP-1111).
inline bool is_kubernetes_group(std::string_view group) {
  return group.find('.') == std::string_view::npos || group.ends_with(".k8s.io");
}

}  // namespace slipway::kube
