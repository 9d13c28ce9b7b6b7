// The EndpointSlices of a Service (discovery.k8s.io/v1) as a pure plan: pods with the same ports share slices of at most 100
// endpoints, an endpoint stays in the slice it is in, and a change of one pod changes one slice. A Service without pods has one
// empty slice. After upstream's staging/src/k8s.io/endpointslice.
//
// DIVERGES: names are not random, so that a controller that died after creating a slice meets it again. Ports are listed in the
// Service's order, upstream's in the order of their hashes. No topology hints, no last-change-trigger-time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kube/object.h"

namespace slipway::cluster {

inline const kube::Resource kEndpointSlices{"discovery.k8s.io", "v1", "endpointslices"};
inline constexpr std::string_view kServiceName = "kubernetes.io/service-name";
inline constexpr std::size_t kMostEndpointsOfSlice = 100;

/// What is to be written; all empty when the slices are as they should be.
struct SlicePlan {
  std::vector<kube::Object> create;
  std::vector<kube::Object> update;
  std::vector<kube::Object> remove;
};

/// What the plan asks of the namespace and the nodes.
struct SliceView {
  std::vector<kube::Object> pods;    // of the namespace
  std::vector<kube::Object> slices;  // with the Service's name as kServiceName
  std::function<bool(const std::string& name)> is_taken;
  std::function<kube::Object(std::string_view name)> node;  // null when absent
};

/// REQUIRES: keeps_endpoints(service).
SlicePlan plan_slices(const kube::Object& service, const SliceView& view);

}  // namespace slipway::cluster
