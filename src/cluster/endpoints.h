// The Endpoints object of a Service (v1), as a pure function: one subset for each set of ports, addresses in order, at most
// 1,000 of them. After upstream's endpoint controller.
#pragma once

#include "kube/object.h"

namespace slipway::cluster {

inline const kube::Resource kEndpoints{"", "v1", "endpoints"};
inline constexpr std::size_t kMostAddresses = 1000;

/// `before` with what the Service and the pods of its namespace say; the same value when nothing changes. A null `before` is a
/// new object. REQUIRES: keeps_endpoints(service).
kube::Object endpoints_object(const kube::Object& service, const std::vector<kube::Object>& pods, const kube::Object& before);
/// Whether the controller made it.
bool is_kept_by_controller(const kube::Object& endpoints);

}  // namespace slipway::cluster
