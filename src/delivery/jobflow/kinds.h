// What the family brings to a server: its CustomResourceDefinitions, made from the described structs.
#pragma once

#include <string>
#include <vector>

#include "json/value.h"
#include "kube/crd_schema.h"

namespace slipway::delivery::jobflow {

std::vector<kube::CrdSpec> crd_specs();
std::vector<json::Value> custom_resource_definitions();

/// The field tables of docs/workflow.md, as Markdown: one row per field of the described structs. Of a Workflow, and of a
/// CronWorkflow.
std::string field_table();
std::string cron_field_table();

}  // namespace slipway::delivery::jobflow
