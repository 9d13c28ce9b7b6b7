// The column functions of built-in kinds, by subject: one row per name that kube/builtin_rows.cc uses.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "json/value.h"
#include "kube/object.h"

namespace slipway::kube {

struct CellRow {
  std::string_view name;  // "@pod.status"
  json::Value (*cell)(const Object& object, Time now);
};

std::span<const CellRow> pod_cells();
std::span<const CellRow> workload_cells();  // what makes pods, and what scales it
std::span<const CellRow> network_cells();   // services, endpoints, ingresses, policies
std::span<const CellRow> cluster_cells();   // nodes, volumes, rights and the other records
std::span<const CellRow> event_cells();

/// "5m", or "<unknown>" when there is no such time.
std::string since(const json::Value& stamp, Time now);
/// One member of each item, joined by commas.
std::string joined_members(const json::Value& list, std::string_view key);
/// A LabelSelector object or a plain map of labels, as text; "<none>" when it is empty.
std::string selector_text(const json::Value& selector);
/// "RWO,ROX" of access modes.
std::string access_modes_text(const json::Value& modes);

}  // namespace slipway::kube
