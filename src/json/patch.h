// Two kinds of patches: JSON Patch (RFC 6902), a list of operations, and JSON Merge Patch (RFC 7386), where null deletes.
#pragma once

#include "base/status.h"
#include "json/value.h"

namespace slipway::json {

inline constexpr std::size_t kMostPatchOperations = 10'000;                 // as the API server
inline constexpr std::size_t kMostPatchCopiedBytes = std::size_t{3} << 20;  // all "copy" operations together
inline constexpr std::size_t kMostPatchDepth = 1000;                        // of the result, as the JSON reader's

/// Applies the operations in order; either all or none. BadRequest for a malformed patch (before anything is applied),
/// RequestEntityTooLarge beyond the limits, Invalid when an operation fails ("testing path /a: …", "remove operation does not
/// apply: doc is missing path: "/a""), worded as the API server does.
Result<Value> apply_json_patch(const Value& document, const Value& patch);

/// Members of `patch` replace those of `target`, null deletes them, objects are merged deeply. A patch that is no object
/// replaces all.
Value apply_merge_patch(const Value& target, const Value& patch);
/// The smallest patch p with apply_merge_patch(from, p) == to; {} when they are equal. Nulls inside `to` cannot be expressed:
/// they delete.
Value create_merge_patch(const Value& from, const Value& to);

/// As kubectl apply without a schema: sets what differs between `current` and `modified`, deletes what `original` had and
/// `modified` has not, and leaves alone what others added to `current`.
Value create_three_way_merge_patch(const Value& original, const Value& modified, const Value& current);

}  // namespace slipway::json
