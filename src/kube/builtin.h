// The built-in kinds: what the server serves without any CRD. Their schemas come from builtin_schema.inc, which
// tools/gen_builtin.cc makes; they are compiled once per process and shared by all planes. Columns whose json_path begins with
// '@' are functions of kube/table.h. Fields are stored as after a round trip through Go's structs (kube/stored_form.h).
// DIVERGES: the round trip adds nothing: fields that Go always writes (creationTimestamp: null in templates) are there when
// they are sent.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kube/resource.h"

namespace slipway::kube {

/// Every kind of kube/builtin_rows.cc.
const std::vector<ResourceType>& builtin_types();
/// The schema of a type by its short name ("core.v1.PodTemplateSpec", "batch.v1.JobSpec"); nullptr when there is none. Lives
/// for ever.
const SchemaNode* builtin_node(std::string_view name);
/// The field tables as data, type name to schema, references as {"$ref": "core.v1.PodSpec"}. Read anew by each call (a
/// millisecond or two), as they are not needed for long.
json::Value builtin_tables();

}  // namespace slipway::kube
