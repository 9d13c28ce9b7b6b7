// What the family brings to a server: the CustomResourceDefinitions of its kinds, made from the described structs. Those of
// Weave GitOps keep its columns. What a Release or an Approval says never changes, of a Promotion only the comment and
// skipGates, and a segment of the log only grows: rules in the definitions see to that on any cluster.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "kube/resource.h"

namespace slipway::delivery::pipeline {

std::vector<json::Value> custom_resource_definitions();
/// Of PipelineView (pipeline_views.h): named as the Pipelines are, with their columns.
kube::ResourceType pipeline_view_type();
/// openAPIV3Schema of a Pipeline.
json::Value pipeline_schema();
/// The fields of all kinds, for docs/pipeline.md.
std::string field_table();

}  // namespace slipway::delivery::pipeline
