// What a pod's spec and a pod template's share: defaults and validation (k8s.io/kubernetes pkg/apis/core).
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::server {

/// A PodSpec with the defaults that depend on other fields (the schema has the rest); the same value when nothing was missing.
json::Value with_pod_defaults(const json::Value& spec);

/// Every fault of a PodSpec at `path` ("spec", "spec.template.spec").
void pod_spec_causes(const json::Value& spec, const std::string& path, std::vector<Cause>& causes);

/// status.qosClass of a pod with this spec.
std::string_view qos_class(const json::Value& spec);

}  // namespace slipway::server
