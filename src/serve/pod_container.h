// The container that a request about a pod means (k8s.io/kubernetes pkg/registry/core/pod/strategy.go).
#pragma once

#include <string>

#include "kube/object.h"

namespace slipway::serve {

/// `wanted` checked to be one of the pod's, or its only container. BadRequest, with those there are.
Result<std::string> container_of(const kube::Object& pod, const std::string& wanted);
/// Its entry in status.containerStatuses or initContainerStatuses; null without one. Valid while `pod` is.
const json::Value& container_status(const kube::Object& pod, std::string_view container);

}  // namespace slipway::serve
