// How values of built-in kinds are stored: as encoding/json writes them after Go's structs have read them. Times and quantities
// have one text per value, and a field with omitempty that holds the zero value of a plain type is left out; pointers keep it.
// Which fields those are is said by the schema (x-slipway-omits-zero, read from k8s.io/api by tools/type_facts).
#pragma once

#include "json/value.h"
#include "kube/schema_node.h"

namespace slipway::kube {

/// The scalar as it is stored in a field of that form; what the form cannot read stays, to be refused by validation.
json::Value in_stored_form(const json::Value& value, SchemaNode::StoredForm form);
/// Whether the field of `node` is left out with that value. A value of another type never is.
bool is_omitted(const json::Value& value, const SchemaNode& node);

}  // namespace slipway::kube
