// What the family brings to a server: the kinds that it answers for, with Porch's table columns, and definitions of those that
// are objects.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "kube/resource.h"

namespace slipway::delivery::package {

/// PackageRevision, PackageRevisionResources and PorchPackage with columns and selectable fields; READY is ours, the last one.
kube::ResourceType revision_type();
kube::ResourceType resources_type();
kube::ResourceType package_type();
/// openAPIV3Schema of each, for documents.
json::Value revision_schema();
json::Value resources_schema();
json::Value package_schema();

/// CustomResourceDefinitions of all kinds that are objects, with Porch's rules of Repository in CEL.
std::vector<json::Value> definitions();
/// Those that a server gets: these and the log's own, PackageRecord.
std::vector<json::Value> installed_definitions();

/// The fields of all kinds, for docs/package.md.
std::string field_table();

}  // namespace slipway::delivery::package
