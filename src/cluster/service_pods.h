// What a Service says about its pods: which it selects, under which addresses and ports they are reached, and how they stand.
// Shared by endpoint_slices.h and endpoints.h, after upstream's two endpoint controllers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

/// Whether controllers keep its endpoints: it has a selector and is not an ExternalName.
bool keeps_endpoints(const kube::Object& service);
bool selects(const kube::Object& service, const kube::Object& pod);
/// Keys by which caches find Services and pods that may belong together without looking at all of a namespace: one for the
/// label of the selector that fewest pods are likely to share (the longest), none without endpoints; and one for each label of
/// a pod. Digests: those that meet are still to be asked by selects().
std::vector<std::string> selector_keys(const kube::Object& service);
std::vector<std::string> label_keys(const kube::Object& pod);
/// clusterIP None.
bool is_headless(const kube::Object& service);

/// A pod with an address that has not ended.
bool has_endpoint(const kube::Object& pod);
/// The pod's address of a family ("IPv4", "IPv6"); empty when it has none.
std::string address_of_family(const kube::Object& pod, std::string_view family);
/// It serves, and is not about to go; publishNotReadyAddresses makes every pod ready.
bool is_ready_endpoint(const kube::Object& service, const kube::Object& pod);
/// The name that DNS gives the pod below the Service; empty when it has none.
std::string endpoint_hostname(const kube::Object& service, const kube::Object& pod);

/// The ports of a Service on one pod, as EndpointPorts of discovery/v1, in the Service's order. A named target port is looked
/// up in the pod's containers; a port that the pod does not have is left out.
json::Value endpoint_ports(const kube::Object& service, const kube::Object& pod);

/// The labels that a Service hands to what is made for it, with service.kubernetes.io/headless where it is.
json::Value labels_for_endpoints(const kube::Object& service);

}  // namespace slipway::cluster
