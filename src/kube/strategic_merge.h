// Strategic merge patch (k8s.io/apimachinery/pkg/util/strategicpatch): a merge patch that knows from the schema which lists are
// merged by a key and which are replaced, and that may say more by directives: "$patch" replaces, deletes or merges what it
// stands in, "$setElementOrder/f" orders a list, "$deleteFromPrimitiveList/f" takes scalars out of one, "$retainKeys" names the
// only fields that stay, null deletes. Pure functions; what the schema does not know is merged as objects and replaced as
// lists. DIVERGES: a malformed patch is BadRequest throughout, where upstream answers some with 500.
#pragma once

#include "base/status.h"
#include "json/value.h"
#include "kube/schema_node.h"

namespace slipway::kube {

/// The live object with `patch` merged in: no directives and no nulls of the patch are left. `node` may be nullptr. BadRequest
/// for a malformed patch, Invalid for lists of lists.
Result<json::Value> apply_strategic_merge(const SchemaNode* node, const json::Value& live, const json::Value& patch);

/// The patch that makes `modified` out of `original`; {} when they are equal. BadRequest when items of a merging list lack its
/// key.
Result<json::Value> create_strategic_merge(const SchemaNode* node, const json::Value& original, const json::Value& modified);

/// As kubectl apply: sets what differs between `current` and `modified`, deletes what `original` (the last applied) had and
/// `modified` has not, and leaves alone what others added to `current`.
Result<json::Value> create_three_way_strategic_merge(const SchemaNode* node, const json::Value& original,
                                                     const json::Value& modified, const json::Value& current);

}  // namespace slipway::kube
