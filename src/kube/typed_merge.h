// Values under a schema, as server-side apply sees them (structured-merge-diff, typed): which paths a value has, how two values
// differ, how an applied configuration merges into a live value, what is left without some paths. The schema says where paths
// end: a scalar, an atomic map or list, an empty or null container is a leaf. A nullptr node, and whatever lies below a node
// that preserves unknown fields, has the deduced type: maps are granular, lists atomic. Values share what does not change, and
// subtrees that are the same node in both values are never looked into. At the root, null counts as an empty object.
#pragma once

#include <vector>

#include "base/status.h"
#include "json/value.h"
#include "kube/field_set.h"
#include "kube/schema_node.h"

namespace slipway::kube::typed {

/// Paths that are in one value only, or in both with different values. A container that comes or goes is listed with
/// everything below it. Items of a list that share their keys are one path, compared as a whole.
struct Difference {
  FieldSet removed{};
  FieldSet modified{};
  FieldSet added{};

  bool empty() const { return removed.empty() && modified.empty() && added.empty(); }
};

/// Items without the keys that tell them apart are passed over.
Difference compare(const SchemaNode* node, const json::Value& before, const json::Value& after);

/// `live` with what `config` says: its leaves replace, its maps and lists add, nothing is taken away. Members and items both
/// have stand in the order of `config` among each other, what only `live` has keeps its place.
/// REQUIRES: mismatches(node, config) is empty. `live` may hold items with equal keys; configured ones replace them.
json::Value merge(const SchemaNode* node, const json::Value& live, const json::Value& config);

/// Every path of `value`: what compare() says was added when it comes.
FieldSet paths_of(const SchemaNode* node, const json::Value& value);
/// Of the paths that compare() says were added: a lower bound on their text as fieldsV1, for one pass without making them.
/// Members of maps count, what is in lists does not.
std::size_t least_added_bytes(const SchemaNode* node, const json::Value& before, const json::Value& after);
/// What an applier of `value` owns: leaves, items of lists, keys of maps, empty and null maps; not the declared fields around
/// them.
FieldSet fields_of(const SchemaNode* node, const json::Value& value);

/// What becomes of a container that was not empty and has nothing left.
enum class Emptied { Null, Absent };
/// `value` without the members and items in `items`.
json::Value remove_items(const SchemaNode* node, const json::Value& value, const FieldSet& items, Emptied emptied);
/// Whether extracted items of lists bring the fields that are their key.
enum class KeyFields { AsListed, Always };
/// Only the members and items in `items`.
json::Value extract_items(const SchemaNode* node, const json::Value& value, const FieldSet& items, KeyFields keys);

/// `set` with the declared fields that have members below them.
FieldSet with_named_parents(const SchemaNode* node, const FieldSet& set);
/// `set` after a change of the schema: what lies below a map or list that is atomic now becomes that map or list. The other
/// way nothing changes.
FieldSet reconciled(const SchemaNode* node, const FieldSet& set);

enum class Duplicates { Allowed, Refused };
/// Where `value` does not fit: wrong types, undeclared fields, items without keys, and (when refused) items with equal keys.
/// Causes have paths as in fieldsV1 messages, `.spec.ports[name="web"]`.
std::vector<Cause> mismatches(const SchemaNode* node, const json::Value& value, Duplicates duplicates);

}  // namespace slipway::kube::typed
