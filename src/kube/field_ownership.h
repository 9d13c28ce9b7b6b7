// The two algorithms of server-side apply (structured-merge-diff, merge): what a write does to the fields that managers own.
// Pure functions over a value, a schema node and the rows of managedFields; kube/apply.h puts them to objects.
#pragma once

#include <string_view>

#include "base/status.h"
#include "base/time.h"
#include "json/value.h"
#include "kube/apply.h"
#include "kube/managed_fields.h"
#include "kube/schema_node.h"
#include "kube/typed_merge.h"

namespace slipway::kube {

/// Which fields a write can own at all.
struct OwnableFields {
  FieldSet never{};         // paths without an owner; what is below them may be owned
  FieldSet ignored{};       // paths that this write leaves alone, with all below them
  std::string_view only{};  // if not empty: this field of the root and what is below it

  /// `set` without what this write leaves alone.
  FieldSet in_reach(const FieldSet& set) const;
};

/// A write as ownership sees it.
struct Claim {
  const Writer& writer;
  const OwnableFields& ownable;
  Time now;
  FieldSet may_take{};  // what an applier wins from others without a conflict
};
enum class OnConflict { Refuse, Take };

/// The writer wins what was modified or added, everybody loses what changed. Nothing happens when nothing did.
void own_update(ManagedFields& managed, const SchemaNode* node, const typed::Difference& difference, const Claim& claim);

/// The live value with `config` merged in and what the writer applied before, and no other owns, taken out; `live` itself
/// when nothing changes. `emptied` says what the result has in place of a container from which everything was taken; its owners
/// keep it either way. Conflict with FieldManagerConflict causes when another manager owns what would change, unless it is to
/// be taken; `managed` is then undefined. DIVERGES: an applier that begins to own fields without changing them gets a time
/// (upstream leaves it out).
Result<json::Value> own_apply(ManagedFields& managed, const SchemaNode* node, const json::Value& live,
                              const json::Value& config, const Claim& claim, OnConflict on_conflict, typed::Emptied emptied);

}  // namespace slipway::kube
