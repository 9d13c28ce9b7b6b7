// One container of a pod: what of it is judged by itself (k8s.io/kubernetes pkg/apis/core/validation, validateContainer).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/value.h"

namespace slipway::server {

/// Probes: one handler each, numbers that make sense.
void probe_causes(const json::Value& container, const std::string& path, std::vector<Cause>& causes);
/// Hooks: one handler each.
void lifecycle_causes(const json::Value& lifecycle, const std::string& path, std::vector<Cause>& causes);
/// What only a container that keeps running may have.
void init_container_causes(const json::Value& container, const std::string& path, std::vector<Cause>& causes);
/// Ports: numbers, names that are there once.
void container_port_causes(const json::Value& ports, const std::string& path, std::vector<Cause>& causes);
/// Quantities of resources: not below zero, requests not above limits.
void resource_causes(const json::Value& resources, const std::string& path, std::vector<Cause>& causes);
/// envFrom: one source each.
void env_from_causes(const json::Value& sources, const std::string& path, std::vector<Cause>& causes);

}  // namespace slipway::server
